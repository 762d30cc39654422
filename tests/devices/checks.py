"""Estimators on arrays that NumPy cannot read: the answer is NumPy's, and it lies where the rows lie.

    python tests/devices/checks.py            # on every device that PyTorch, CuPy and JAX see here

Prints a line for each check and exits with 1 if one fails. `test_devices.py` runs the same checks without a GPU.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from functools import partial

import numpy as np
from sklearn.base import clone

from learnt import metrics
from learnt.cluster import KMeans
from learnt.covariance import OAS, EmpiricalCovariance, GraphicalLasso, LedoitWolf, ShrunkCovariance
from learnt.decomposition import PCA
from learnt.engine.arrays import device_of, to_numpy
from learnt.engine.estimator import acceptable, takes_of, target_of, trial_of
from learnt.erm import ERMClassifier, ERMRegressor
from learnt.linear_model import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
    TotalLeastSquares,
    TweedieRegressor,
)
from learnt.model_selection import cross_val_score
from learnt.naive_bayes import GaussianNB
from learnt.persistence._registry import estimators
from learnt.preprocessing import StandardScaler

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4)) + [0.0, 5.0, 0.0, 0.0]
NUMBERS = np.exp(0.2 * X @ [1.0, 2.0, 0.0, -1.0] - 2) + RNG.uniform(0.5, 1, size=600)
LABELS = (X @ [1.0, 2.0, 0.0, -1.0] + RNG.logistic(size=600) > 10).astype(np.int64)
WEIGHTS = RNG.uniform(0.5, 2, size=600)
MODELS = {
    "ARDRegression": ARDRegression(tol=1e-10),
    "BayesianLinearRegression": BayesianLinearRegression(),
    "BayesianRidge": BayesianRidge(tol=1e-10),
    "ERMClassifier": ERMClassifier("log", alpha=0.01),
    "ERMRegressor": ERMRegressor("huber", alpha=0.01),
    "GammaRegressor": GammaRegressor(tol=1e-10),
    "GaussianNB": GaussianNB(),
    "KMeans": KMeans(3, init=X[:3], n_init=1, tol=0),
    "LinearRegression": LinearRegression(),
    "LogisticRegression": LogisticRegression(tol=1e-10),
    "PCA": PCA(2),
    "PoissonRegressor": PoissonRegressor(tol=1e-10),
    "Ridge": Ridge(),
    "RidgeCV": RidgeCV(),
    "StandardScaler": StandardScaler(),
    "TotalLeastSquares": TotalLeastSquares(),
    "TweedieRegressor": TweedieRegressor(power=1.5, tol=1e-10),
}
ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples")


def target_named(name):
    return LABELS if name in ("ERMClassifier", "GaussianNB", "LogisticRegression") else NUMBERS


def fresh(name):
    return clone(MODELS[name])


def same(there, here, place=None):
    """The same numbers, and, where a place is given, on the device of its arrays."""
    if place is not None:
        assert type(there) is type(place(np.zeros(1))), f"{type(there)} came back"
        assert device_of(there) == device_of(place(np.zeros(1))), f"it lies on {device_of(there)}"
    np.testing.assert_allclose(to_numpy(there), to_numpy(here), rtol=1e-5, atol=1e-6)


def answers(name, place):
    """Every method, of rows on the device and in NumPy, by models fitted on either."""
    here = fresh(name).fit(X, target_named(name))
    there = fresh(name).fit(place(X), place(target_named(name)))
    for method in ANSWERS:
        if hasattr(here, method):
            expected = getattr(here, method)(X)
            same(getattr(there, method)(place(X)), expected, place)
            same(getattr(here, method)(place(X)), expected, place)
            found = getattr(there, method)(X)
            assert isinstance(found, np.ndarray), f"{method} of NumPy rows is a {type(found)}"
            same(found, expected)


def weights(name, place):
    """Weights on the device, which PCA has none of."""
    if name == "PCA":
        return
    method = "predict" if hasattr(MODELS[name], "predict") else "transform"
    here = fresh(name).fit(X, target_named(name), sample_weight=WEIGHTS)
    there = fresh(name).fit(place(X), place(target_named(name)), sample_weight=place(WEIGHTS))
    same(getattr(there, method)(place(X)), getattr(here, method)(X), place)


def scores(name, place):
    """`score`, with and without weights, of rows in either place, by models fitted in either."""
    if not hasattr(MODELS[name], "score"):
        return
    y = target_named(name)
    here, there = fresh(name).fit(X, y), fresh(name).fit(place(X), place(y))
    expected = here.score(X, y)
    for model in (here, there):
        for found in (model.score(place(X), place(y)), model.score(X, y)):
            assert isinstance(found, float), f"score is a {type(found)}"
            same(found, expected)
    if name != "PCA":
        same(there.score(place(X), place(y), sample_weight=place(WEIGHTS)), here.score(X, y, sample_weight=WEIGHTS))


def folds(name, place):
    """`cross_val_score`."""
    if hasattr(MODELS[name], "score"):
        found = cross_val_score(fresh(name), place(X), place(target_named(name)), cv=3)
        same(found, cross_val_score(fresh(name), X, target_named(name), cv=3))


def inference(name, place):
    """The summary and intervals, where there are such."""
    if not hasattr(MODELS[name], "summary"):
        return
    here = fresh(name).fit(X, NUMBERS)
    there = fresh(name).fit(place(X), place(NUMBERS))
    same(there.summary().stderr, here.summary().stderr)
    same(there.summary(place(X), place(NUMBERS)).p, here.summary().p)
    assert str(there.summary()) == str(here.summary())
    for found, expected in zip(there.predict_interval(place(X)), here.predict_interval(X)):
        same(found, expected, place)
    for found, expected in zip(there.predict_interval(X), here.predict_interval(X)):
        same(found, expected)


def not_finite(name, place):
    """A bad cell is named."""
    if name == "StandardScaler":  # which leaves NaN out
        return
    bad = X.copy()
    bad[17, 2] = np.nan
    try:
        fresh(name).fit(place(bad), place(target_named(name)))
    except ValueError as error:
        assert "NaN at row 17, column 2" in str(error), error
    else:
        raise AssertionError("NaN was taken")


def fitted_in_numpy_only(place):
    """Models without a fit on devices predict and score rows there, or say that they do not."""
    model = Lasso(0.1).fit(X, NUMBERS)
    same(model.predict(place(X)), model.predict(X), place)
    same(model.score(place(X), place(NUMBERS)), model.score(X, NUMBERS))


TAKEN = ("predict_proba", "decision_function", "predict", "transform", "mahalanobis", "score_samples")


def takes_tensors():
    """The names of all estimators that declare that they take arrays on a device."""
    return [name for name, cls in _public().items() if takes_of(_quick(cls)).tensors]


def _public():
    return {name.rpartition(".")[2]: cls for name, cls in estimators().items()}


def _quick(cls):
    return cls(**trial_of(cls).settings())


def collinear(name, dtype):
    """400 rows in three groups with a column twice and one in other units, and a y of the right kind, for any model."""
    model = _quick(_public()[name])
    n = min(400, trial_of(type(model)).most_rows or 400)
    rng, group = np.random.default_rng(0), np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 6.0 * np.eye(3, 4)[group]
    X = acceptable(np.column_stack([X, X[:, 0], 100.0 * X[:, 1]]), model).astype(dtype)
    if target_of(model) == "classes":
        return model, X, group
    y = (X @ np.arange(1.0, X.shape[1] + 1) / X.std() + rng.normal(size=n)).astype(dtype)
    tags = model.__sklearn_tags__().target_tags
    y = np.exp(y / 20) if tags.positive_only else y
    return model, X, y if tags.single_output else np.column_stack([y, -y])


def any_model(name, dtype, place):
    """Collinear columns in either precision: NumPy's answer where the rows lie, or one sentence of ours."""
    model, X, y = collinear(name, dtype)
    # Sums in single precision, where the kernels or products of a device are: half the digits.
    tolerance = 1e-5 if dtype == np.float64 else 2e-2
    try:
        here = clone(model).fit(X, y)
        there = clone(model).fit(place(X), place(y))
    except ValueError as error:
        assert "positive definite" in str(error) or "covariance" in str(error), error
        return
    for method in TAKEN:
        if hasattr(here, method):
            found, expected = getattr(there, method)(place(X)), getattr(here, method)(X)
            assert device_of(found) == device_of(place(X)), f"{method} lies on {device_of(found)}"
            if name not in UNDETERMINED:
                np.testing.assert_allclose(to_numpy(found), expected, atol=tolerance * np.abs(expected).max())


# Where a column is there twice, their latent variables or noise are decided by rounding.
UNDETERMINED = ("FactorAnalysis",)


def covariances_on_the_device(place):
    """What a covariance learnt lies where the rows were."""
    for model in (EmpiricalCovariance(), ShrunkCovariance(), LedoitWolf(), OAS(), GraphicalLasso(0.1)):
        there, here = clone(model).fit(place(X)), clone(model).fit(X)
        for name in ("location_", "covariance_", "precision_"):
            same(getattr(there, name), getattr(here, name), place)
        same(there.get_precision(), here.get_precision(), place)
        assert abs(there.error_norm(np.eye(4)) - here.error_norm(np.eye(4))) < 1e-9
        assert abs(there.score(place(X)) - here.score(X)) < 1e-9


def scaled_in_place(place):
    """`copy=False` writes over the rows where they lie; arrays of JAX cannot be written to."""
    rows = place(X.copy())
    model = StandardScaler(copy=False).fit(rows)
    found = model.transform(rows)
    same(found, StandardScaler().fit_transform(X), place)
    if not type(rows).__module__.startswith("jax"):
        assert found is rows
        same(model.inverse_transform(rows), X, place)


def clusters_scored(place):
    """Scores of clusters by their rows, of labels beside the rows or in NumPy."""
    labels = KMeans(4, n_init=1, random_state=0).fit_predict(X)
    rows = np.concatenate([X, X[:1] + 100.0])  # the last is alone in its cluster
    labels = np.append(labels, 9)
    for name in ("calinski_harabasz_score", "davies_bouldin_score", "silhouette_score"):
        expected = getattr(metrics, name)(rows, labels)
        for given in (labels, place(labels)):
            assert abs(getattr(metrics, name)(place(rows), given) - expected) < 1e-9 * abs(expected)
    for metric in ("euclidean", "manhattan"):
        same(
            metrics.silhouette_samples(place(rows), place(labels), metric=metric),
            metrics.silhouette_samples(rows, labels, metric=metric),
            place,
        )
    some = {"sample_size": 300, "random_state": 0}
    same(metrics.silhouette_score(place(rows), labels, **some), metrics.silhouette_score(rows, labels, **some))


CHECKS = (answers, weights, scores, folds, inference, not_finite)


def memory_of_validation(torch):
    """A fit of 1 GiB takes a quarter of it more at most: validation makes no array as large as X."""
    rows = torch.zeros((1 << 20, 128), dtype=torch.float64, device="cuda")
    rows.normal_()
    y = rows[:, 0].clone()
    LinearRegression().fit(rows[:1000], y[:1000])
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    from learnt.engine.validation import check_fit

    check_fit(LinearRegression(), rows, y, target="number", foreign=True)
    taken = (torch.cuda.max_memory_allocated() - before) / (rows.numel() * 8)
    assert taken < 0.25, f"validation took {taken:.2f} times the size of X"


def recorded_steps(torch):
    """Networks trained by recorded steps reach the loss that a CPU reaches, for every kind of network."""
    from learnt.neural_network import Augment, Conv, ConvNetClassifier, Dense, MaxPool, MLPClassifier, MLPRegressor
    from learnt.neural_network.training import _loop, _recorded

    made = []

    def spy(*given):
        made.append(_recorded.recorded(*given))
        return made[-1]

    images = RNG.normal(size=(600, 8, 8))
    kept = {"max_iter": 30, "n_iter_no_change": 30, "random_state": 0, "tol": 0.0}
    cases = [
        (MLPClassifier((20, 20), **kept), X, LABELS),
        (MLPClassifier((20,), solver="sgd", batch_norm=True, early_stopping=True, **kept), X, LABELS),
        (MLPRegressor(hidden_layer_sizes=(20,), **kept), X, NUMBERS),
        (ConvNetClassifier([Conv(8, 3), MaxPool(2), Dense(16)], **kept), images, LABELS),
    ]
    draws = [  # at random in every step
        (MLPClassifier((20, 20), dropout=0.3, **kept), X, LABELS),
        (ConvNetClassifier(**kept), images, LABELS),  # whose layers drop units
        (
            ConvNetClassifier([Conv(8, 3), Dense(16)], augment=Augment(1, True, 10, 0.1, 0.1, 0.1), **kept),
            images,
            LABELS,
        ),
    ]
    _loop.recorded = spy
    try:
        for model, rows, y in cases:
            on_gpu = model.set_params(device="cuda").fit(rows, y).loss_curve_
            assert made.pop() is not None, f"{model} was not recorded"
            on_cpu = model.set_params(device="cpu").fit(rows, y).loss_curve_
            # float32, and TF32 in convolutions: what rounding does grows from step to step
            np.testing.assert_allclose(on_gpu[:5], on_cpu[:5], rtol=0.02)
        for model, rows, y in draws:
            _loop.recorded = spy
            replayed = model.set_params(device="cuda").fit(rows, y).loss_curve_
            assert made.pop() is not None, f"{model} was not recorded"
            _loop.recorded = lambda *given: None
            np.testing.assert_allclose(replayed[:5], model.fit(rows, y).loss_curve_[:5], rtol=0.02)  # the same draws
    finally:
        _loop.recorded = _recorded.recorded


def places():
    """name -> what puts a NumPy array on the device, for every library that sees one."""
    found = {}
    try:
        import torch

        if torch.cuda.is_available():
            found["torch on cuda"] = partial(torch.asarray, device="cuda")
    except ImportError:
        pass
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            found["cupy"] = cupy.asarray
    except Exception:  # no CuPy, or no driver behind it
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "cpu":
            found["jax"] = jax.numpy.asarray
    except ImportError:
        pass
    return found


def main():
    # JAX would take three quarters of the memory at once.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    warnings.simplefilter("ignore")
    tasks = {}
    for where, place in places().items():
        for name in MODELS:
            tasks |= {f"{where}: {name}: {check.__name__}": partial(check, name, place) for check in CHECKS}
        for check in (fitted_in_numpy_only, covariances_on_the_device, scaled_in_place, clusters_scored):
            tasks[f"{where}: {check.__name__}"] = partial(check, place)
        for name in takes_tensors():
            for dtype in (np.float64, np.float32):
                tasks[f"{where}: {name}: any_model {dtype.__name__}"] = partial(any_model, name, dtype, place)
        if where.startswith("torch"):
            import torch

            tasks[f"{where}: memory_of_validation"] = partial(memory_of_validation, torch)
            tasks[f"{where}: recorded_steps"] = partial(recorded_steps, torch)
    if not tasks:
        print("no device was found", file=sys.stderr)
        return 2
    failed = 0
    for title, task in tasks.items():
        try:
            task()
            print(f"ok     {title}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {title}: {traceback.format_exc(limit=-3)}", flush=True)
    print(f"{len(tasks) - failed} of {len(tasks)} checks passed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
