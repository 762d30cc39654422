"""Every public estimator, found by walking the package: scikit-learn's checks and ours."""

import inspect
import os
import re
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import learnt
from learnt.engine.estimator import acceptable, takes_of, target_of, trial_of
from learnt.engine.threads import set_threads
from learnt.persistence._registry import estimators

# Public name -> class. `tests/persistence/test_models.py` holds this to be all that are public.
ESTIMATORS = {name.rpartition(".")[2]: cls for name, cls in estimators().items()}


def make(name):
    return ESTIMATORS[name](**trial_of(ESTIMATORS[name]).settings())


def started(name, X):
    """The model as it is compared: begun at the same rows, where it begins at random ones."""
    start = trial_of(ESTIMATORS[name]).start
    return make(name).set_params(**(start(X) if start else {}))


TENSORS = [name for name in ESTIMATORS if takes_of(make(name)).tensors]
LAZY = [name for name in ESTIMATORS if takes_of(make(name)).lazy]
STOCHASTIC = [name for name in ESTIMATORS if not trial_of(ESTIMATORS[name]).weight_repeats]
ORDERLESS = [name for name in ESTIMATORS if trial_of(ESTIMATORS[name]).any_order]


def problem(name, n=400, d=5, seed=0):
    """X and a y of the right kind, with three well-separated groups so that nothing hangs on rounding."""
    n = min(n, trial_of(ESTIMATORS[name]).most_rows or n)
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    X = acceptable(rng.normal(size=(n, d)) + 6.0 * np.eye(3, d)[group], make(name))
    if target_of(make(name)) == "classes":
        return X, np.array(["ant", "bee", "cat"])[group]
    y = X @ np.arange(1.0, X.shape[1] + 1) + rng.normal(size=n)
    if make(name).__sklearn_tags__().target_tags.positive_only:
        return X, np.exp(y / 20)
    if not make(name).__sklearn_tags__().target_tags.single_output:
        return X, np.column_stack([y, -y])
    return X, y


def fitted(name, X, y, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name).fit(X, y, **fit)


def output(model, X):
    """What the model says about X, as numbers."""
    for method in ("predict_proba", "decision_function", "predict", "transform"):
        if hasattr(model, method):
            answer = getattr(model, method)(X)
            answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
            return np.searchsorted(model.classes_, answer) if answer.dtype.kind == "U" else answer
    if hasattr(model, "labels_"):  # clusters of the rows it was fitted to, and of no others
        return np.asarray(model.labels_)
    if hasattr(model, "row_labels_"):
        return np.asarray(model.row_labels_)
    if hasattr(model, "embedding_"):  # a map of those rows
        return np.asarray(model.embedding_)
    if hasattr(model, "score_samples"):
        return np.asarray(model.score_samples(X))
    if hasattr(model, "kneighbors"):
        return np.asarray(model.kneighbors(X)[0])
    if hasattr(model, "mahalanobis"):
        return np.asarray(model.mahalanobis(X))
    raise AssertionError(f"{model} has no output")


def state(model):
    """All fitted arrays and numbers."""
    return {k: v for k, v in vars(model).items() if k.endswith("_") and isinstance(v, np.ndarray | float | int)}


def assert_same_state(a, b, **tolerance):
    assert state(a).keys() == state(b).keys()
    for key, value in state(a).items():
        other = state(b)[key]
        if tolerance and np.asarray(value).dtype.kind == "f":
            np.testing.assert_allclose(other, value, err_msg=key, **tolerance)
        else:
            np.testing.assert_array_equal(other, value, err_msg=key)


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def test_what_was_public_once_is_found():
    """Every class that a golden file names, so that none is lost to the laws of this file."""
    golden = (Path(__file__).parent / "persistence" / "golden").glob("*/*.learnt")
    named = {found for path in golden for found in re.findall(rb"learnt\.(\w+)\.([A-Z]\w+)", path.read_bytes())}
    parts = {"CFTree", "ImputerTriplet"}  # of models
    once = {name.decode() for room, name in named if room != b"forestry"} - parts
    assert len(once) >= 79
    assert once <= ESTIMATORS.keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_checks(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(make(name), on_fail=None)
    wrong = [(r["check_name"], r["status"], str(r["exception"])[:200]) for r in results if r["status"] != "passed"]
    # What scikit-learn leaves out: a check that needs a variable set before SciPy is imported, and those of methods
    # that the estimator does not have.
    left_out = [w for w in wrong if w[1] == "skipped" and ("SCIPY_ARRAY_API" in w[2] or "does not have a" in w[2])]
    if name in STOCHASTIC:
        left_out += [w for w in wrong if w[0].startswith("check_sample_weight_equivalence")]
    exempt = trial_of(ESTIMATORS[name]).exempt
    assert {w[0] for w in wrong} >= set(exempt)  # none is let off what it would pass
    assert [w for w in wrong if w not in left_out and w[0] not in exempt] == []
    if make(name).__sklearn_tags__().input_tags.two_d_array:  # most checks have tables of several columns
        assert len(results) > 30


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_clone_and_repr(name):
    model = make(name)
    again = clone(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert repr(again) == repr(model)
    assert type(model)(**model.get_params(deep=False)).get_params().keys() == model.get_params().keys()
    assert eval(repr(model), dict(ESTIMATORS)).get_params().keys() == model.get_params().keys()


@pytest.mark.long
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_thread_count_changes_a_bit(name):
    X, y = problem(name, n=20000)
    models = []
    for count in (1, 2, 5):
        set_threads(count)
        models.append(fitted(name, X, y))
        models[-1].output = output(models[-1], X[:3000])
    for other in models[1:]:
        assert_same_state(models[0], other)
        np.testing.assert_array_equal(models[0].output, other.output)


@pytest.mark.parametrize("name", ORDERLESS)
def test_row_order_does_not_matter(name):
    X, y = problem(name)
    order = np.random.default_rng(1).permutation(len(X))
    model = started(name, X)
    one, other = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_allclose(output(one, X), output(other, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_float32_is_close(name):
    X, y = problem(name)
    model = started(name, X)
    narrow = clone(model).fit(X.astype(np.float32), y if y.dtype.kind == "U" else y.astype(np.float32))
    np.testing.assert_allclose(
        output(narrow, X.astype(np.float32)), output(clone(model).fit(X, y), X), rtol=2e-3, atol=2e-3
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_data_frames_of_every_library(name):
    X, y = problem(name)
    columns = ["a b", "ü", "x[0]", "<b>", "e"][: X.shape[1]]
    frames = [
        pd.DataFrame(X, columns=columns),
        pl.DataFrame(X, schema=columns),
        pa.table(dict(zip(columns, X.T, strict=True))),
    ]
    outputs = []
    for frame in frames:
        model = fitted(name, frame, y)
        if model.__sklearn_tags__().input_tags.two_d_array:  # one column has no other to be confused with
            assert list(model.feature_names_in_) == columns
        outputs.append(output(model, frame))
    for other in outputs[1:]:
        np.testing.assert_array_equal(other, outputs[0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_read_only_memory_map(name, tmp_path):
    X, y = problem(name)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same_state(fitted(name, X, y), fitted(name, mapped, y))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_order_of_bytes_changes_no_bit(name):
    """Files from elsewhere (FITS, netCDF) come in the other order; so may rows, targets and weights."""
    X, y = problem(name)
    weights = 1.0 + np.arange(len(X)) % 3
    fit = {"sample_weight": weights} if "sample_weight" in inspect.signature(ESTIMATORS[name].fit).parameters else {}

    def swapped(array):
        return array.astype(array.dtype.newbyteorder())

    kinds = [X, np.round(X).astype(np.int32)] if X.dtype.kind == "f" else [X]
    for rows in [*kinds, X.astype(np.float32)]:
        model = fitted(name, rows, y, **fit)
        other = fitted(name, swapped(rows), swapped(y), **{key: swapped(value) for key, value in fit.items()})
        assert_same_state(model, other)
        assert all(np.asarray(value).dtype.isnative for value in state(other).values())
        np.testing.assert_array_equal(output(other, swapped(rows)), output(model, rows))


OVERWRITING = {"copy", "copy_X", "copy_x", "copy_X_train"}  # parameters that let data be overwritten if they are False
CONTINUED = [
    name
    for name, kind in ESTIMATORS.items()
    if hasattr(kind, "partial_fit") or (OVERWRITING | {"warm_start"}) & inspect.signature(kind).parameters.keys()
]


@pytest.mark.long
@pytest.mark.parametrize("name", CONTINUED)
def test_memory_maps_are_never_written_to(name, tmp_path):
    """Data that may be overwritten, and a model that is fitted further: a write would end the process."""
    X, y = problem(name, n=60)

    def mapped(thing):
        path = tmp_path / str(len(list(tmp_path.iterdir())))  # a file of its own, for the others are still open
        joblib.dump(thing, path)
        return joblib.load(path, mmap_mode="r")

    model = make(name)
    changes = {key: key == "warm_start" for key in model.get_params() if key in OVERWRITING | {"warm_start"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(**changes).fit(mapped(X), mapped(y))
        before = output(model, X)
        again = mapped(model)
        if "warm_start" in changes:
            again.fit(X, y)
        if hasattr(again, "partial_fit"):
            again.partial_fit(mapped(X), mapped(y))
    np.testing.assert_array_equal(output(model, X), before)


@pytest.mark.parametrize("name", LAZY)
@pytest.mark.parametrize("chunks", [400, 130])
def test_a_cluster_gives_the_same(name, chunks):
    import dask.array as da

    X, y = problem(name)
    model = started(name, X)
    local = clone(model).fit(X, y)
    spread = clone(model).fit(da.from_array(X, chunks=(chunks, 5)), da.from_array(y, chunks=chunks))
    np.testing.assert_allclose(output(spread, X), output(local, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_gives_the_same(name):
    import torch

    X, y = problem(name)
    codes = np.unique(y, return_inverse=True)[1] if y.dtype.kind == "U" else y
    model = started(name, X)
    local = clone(model).fit(X, codes)
    there = clone(model).fit(torch.tensor(X), torch.tensor(codes))
    methods = ("predict_proba", "decision_function", "predict", "transform", "mahalanobis")
    method = next(m for m in methods if hasattr(there, m))
    result = getattr(there, method)(torch.tensor(X))
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(result.numpy(), output(local, X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in TENSORS or name not in LAZY])
def test_what_cannot_run_on_a_device_is_refused(name):
    import dask.array as da
    import torch

    X, y = problem(name)
    others = {} if name in TENSORS else {"tensor": torch.tensor(X)}
    others |= {} if name in LAZY else {"dask": da.from_array(X, chunks=100)}
    for other in others.values():
        with pytest.raises((TypeError, ValueError)) as caught:
            make(name).fit(other, y)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_save_and_load(name, tmp_path):
    X, y = problem(name)
    model = fitted(name, X, y)
    learnt.save(model, tmp_path / "model.learnt")
    again = learnt.load(tmp_path / "model.learnt")
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert_same_state(model, again)
    np.testing.assert_array_equal(output(again, X), output(model, X))
    learnt.save(again, tmp_path / "again.learnt")
    assert (tmp_path / "again.learnt").read_bytes() == (tmp_path / "model.learnt").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_threads_fit_at_once(name):
    X, y = problem(name, n=3000)
    expected = fitted(name, X, y)
    found = []

    def work():
        found.extend(make(name).fit(X, y) for _ in range(3))

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
    assert len(found) == 6
    for model in found:
        assert_same_state(expected, model)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, kind in ESTIMATORS.items()
        if "sample_weight" in inspect.signature(kind.fit).parameters and name not in STOCHASTIC
    ],
)
def test_a_weight_is_a_number_of_rows(name):
    X, y = problem(name)
    counts = np.random.default_rng(2).integers(0, 3, size=len(X))
    model = started(name, X)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0))
    np.testing.assert_allclose(output(weighted, X), output(repeated, X), rtol=1e-5, atol=1e-6)


BAD = {
    "empty": lambda X, y: (X[:0], y[:0]),
    "no columns": lambda X, y: (X[:, :0], y),
    "one dimension": lambda X, y: (X[:, 0], y),
    "NaN": lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X), y),
    "infinity": lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.inf, X), y),
    "strings": lambda X, y: (np.array([["a"] * X.shape[1]] * len(X)), y),
    "complex": lambda X, y: (X + 1j, y),
    "lengths": lambda X, y: (X, y[:-1]),
    "NaN in y": lambda X, y: (
        X,
        np.array([None, *y[1:]], dtype=object) if y.dtype.kind == "U" else np.r_[np.nan * y[:1], y[1:]],
    ),
}


def takes(name, problem_kind):
    """Whether the estimator can do something sensible with this, and so does."""
    model = make(name)
    tags = model.__sklearn_tags__()
    if problem_kind == "one dimension" and tags.input_tags.one_d_array:
        return True
    if problem_kind in ("NaN", "infinity"):
        return tags.input_tags.allow_nan or tags.no_validation
    if problem_kind in ("strings", "complex", "one dimension", "no columns"):
        return tags.no_validation or tags.input_tags.string
    if problem_kind in ("lengths", "NaN in y"):
        return not (is_classifier(model) or is_regressor(model))
    return False


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_input_gets_one_sentence(name):
    kinds = [kind for kind in BAD if not takes(name, kind)]
    assert "empty" in kinds
    for kind in kinds:
        X, y = BAD[kind](*problem(name, n=30))
        try:
            make(name).fit(X, y)
        except (ValueError, TypeError) as error:
            message = str(error)
        else:
            pytest.fail(f"{kind} is taken")
        assert "\n" not in message, (kind, message)
        assert 10 < len(message) < 300, (kind, message)


def asked(name):
    """The method that new rows are given to; None where clusters are of the fitted rows alone."""
    return next(
        (m for m in ("predict", "transform", "kneighbors", "score_samples", "mahalanobis") if hasattr(make(name), m)),
        None,
    )


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if asked(name)])
def test_wrong_width_and_unfitted_get_one_sentence(name):
    X, y = problem(name, n=60)
    model, method = make(name), asked(name)
    if model.__sklearn_tags__().requires_fit:
        with pytest.raises(NotFittedError) as caught:
            getattr(model, method)(X)
        assert "\n" not in str(caught.value)
    model.fit(X, y)
    tags = model.__sklearn_tags__()
    if not tags.input_tags.two_d_array:
        with pytest.raises(ValueError, match="2d array with 1 feature"):
            getattr(model, method)(np.c_[X, X])
    elif not tags.no_validation:
        with pytest.raises(ValueError, match=r"X has 4 features, but \w+ is expecting 5 features") as wide:
            getattr(model, method)(X[:, :4])
        assert "\n" not in str(wide.value)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if is_classifier(make(name))])
def test_one_class(name):
    X, _ = problem(name, n=30)
    try:
        model = make(name).fit(X, np.ones(30, dtype=int))
    except ValueError as error:
        assert "class" in str(error)
        assert "\n" not in str(error)
    else:
        np.testing.assert_array_equal(model.predict(X), np.ones(30))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_row(name):
    X, y = problem(name, n=30)
    try:
        found = output(fitted(name, X[:1], y[:1]), X[:1])
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(found.astype(float)).all()


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if make(n).__sklearn_tags__().input_tags.sparse])
def test_sparse_equals_dense(name):
    X, y = problem(name)
    X[np.abs(X) < 0.5] = 0
    model = started(name, X).set_params(**trial_of(ESTIMATORS[name]).sparse)
    dense, thin = clone(model).fit(X, y), clone(model).fit(sparse.csr_array(X), y)
    found = output(thin, X)
    np.testing.assert_allclose(found, output(dense, X), rtol=1e-5, atol=1e-6)


PARTS = 4
PLAIN = """
    import importlib.util, sys, warnings
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("checks", sys.argv[1])
    checks = importlib.util.module_from_spec(spec); spec.loader.exec_module(checks)
    import numpy as np
    np.savez(sys.argv[2], **{name: checks.plain_output(name) for name in sys.argv[3:]})
"""


def plain_output(name):
    X, y = problem(name, n=120)
    model = fitted(name, X, y)
    return np.sort(model.cluster_centers_, axis=0) if name == "KMeans" else output(model, X)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_everything_runs_as_plain_python(part, tmp_path):
    """Compilation switched off: slow, and the same answers."""
    names = list(ESTIMATORS)[part::PARTS]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PLAIN), __file__, tmp_path / "plain.npz", *names],
        env={**os.environ, "LEARNT_COMPILE": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "plain.npz") as found:
        assert set(found) == set(names)
        for name in names:
            np.testing.assert_allclose(found[name], plain_output(name), rtol=1e-6, atol=1e-8, err_msg=name)
