"""Linear and quadratic discriminants: scikit-learn, the three derivations, kinds of rows, singular covariances."""

import array_api_strict as xp
import dask.array as da
import numpy as np
import polars as pl
import pytest
import torch
from scipy.linalg import LinAlgWarning
from sklearn import discriminant_analysis as sklearns
from sklearn.base import clone
from sklearn.covariance import OAS

import learnt
from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.engine.arrays import to_numpy
from learnt.naive_bayes import GaussianNB

# Moments to 1e-13, systems of condition below 1e4, scores of some hundreds.
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def make(n=400, d=5, k=3, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) * (1 + 0.3 * y[:, None])
    return X + 1.5 * rng.normal(size=(k, d))[y] + offset, y, rng.integers(1, 4, n).astype(float)


LINEAR = [
    {},
    {"priors": [0.2, 0.3, 0.5], "store_covariance": True},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.2, "priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen", "covariance_estimator": OAS()},
]
QUADRATIC = [
    {},
    {"reg_param": 0.2, "store_covariance": True},
    {"priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.4},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
@pytest.mark.parametrize("case", range(9))
@pytest.mark.parametrize("k", [2, 3])
def test_agrees_with_scikit_learn(name, case, k):
    cases = LINEAR if name.startswith("Linear") else QUADRATIC
    settings = dict(cases[case % len(cases)])
    if "priors" in settings and k == 2:
        settings["priors"] = [0.3, 0.7]
    X, y, _ = make(k=k)
    labels = np.array(["low", "mid", "top"])[y]
    ours = globals()[name](**settings).fit(X, labels)
    theirs = getattr(sklearns, name)(**settings).fit(X, labels)
    for attribute in ("means_", "priors_", "covariance_", "coef_", "intercept_", "explained_variance_ratio_"):
        assert hasattr(ours, attribute) == hasattr(theirs, attribute), attribute
        if hasattr(theirs, attribute):
            np.testing.assert_allclose(getattr(ours, attribute), getattr(theirs, attribute), **CLOSE, err_msg=attribute)
    for method in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), **CLOSE)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), **CLOSE)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(ours, "scalings_") and name.startswith("Linear"):
        found, expected = ours.transform(X), theirs.transform(X)
        np.testing.assert_allclose(np.abs(found), np.abs(expected), **CLOSE)  # directions have no sign
    if name.startswith("Quadratic"):
        np.testing.assert_allclose(ours.scalings_, theirs.scalings_, **CLOSE)


@pytest.mark.parametrize("k", [2, 3])
def test_three_derivations_agree_on_balanced_classes(k):
    X, y, _ = make(n=300, k=k)
    models = [LinearDiscriminantAnalysis(s).fit(X, y) for s in ("gaussian", "fisher", "least_squares", "lsqr")]
    for model in models[1:]:
        np.testing.assert_allclose(model.predict_proba(X), models[0].predict_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("derivation", ["gaussian", "fisher", "least-squares"])
def test_a_derivation_takes_the_place_of_the_solver(derivation):
    X, y, _ = make(n=100, k=3)
    model = LinearDiscriminantAnalysis(derivation=derivation, shrinkage=0.1).fit(X, y)
    same = LinearDiscriminantAnalysis(derivation.replace("-", "_"), shrinkage=0.1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert hasattr(model, "scalings_") == (derivation == "fisher")
    with pytest.raises(ValueError, match="'derivation' parameter of LinearDiscriminantAnalysis must be"):
        LinearDiscriminantAnalysis(derivation="bayes").fit(X, y)


def test_least_squares_is_the_regression_on_plus_and_minus_one():
    rng = np.random.default_rng(0)
    X, y, _ = make(n=300, k=2)
    keep = (y == 0) | (rng.random(300) < 0.3)  # unequal classes, where the derivations part
    X, y = X[keep], y[keep]
    model = LinearDiscriminantAnalysis("least_squares").fit(X, y)
    A = np.column_stack([X, np.ones(len(X))])
    coefficients = np.linalg.lstsq(A, 2.0 * y - 1.0)[0]
    fitted = A @ coefficients
    scores = model.decision_function(X)
    ratio = scores / fitted
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-7)
    assert ratio[0] > 0
    gaussian = LinearDiscriminantAnalysis("gaussian").fit(X, y)
    np.testing.assert_allclose(model.coef_, gaussian.coef_, rtol=1e-8)  # one direction, another offset
    assert abs(model.intercept_[0] - gaussian.intercept_[0]) > 0.01


def test_fishers_direction_maximises_his_criterion():
    X, y, _ = make(n=300, k=2)
    model = LinearDiscriminantAnalysis("fisher").fit(X, y)

    def criterion(w):
        a, b = X[y == 0] @ w, X[y == 1] @ w
        return (a.mean() - b.mean()) ** 2 / (a.var() + b.var())

    best = criterion(model.scalings_[:, 0])
    rng = np.random.default_rng(0)
    assert all(criterion(model.scalings_[:, 0] + 0.1 * rng.normal(size=5)) <= best for _ in range(50))


def test_diagonal_quadratic_is_gaussian_naive_bayes():
    """Features made uncorrelated within each class: then the full covariances are diagonal."""
    rng = np.random.default_rng(0)
    parts = []
    for c in range(2):
        Z = rng.normal(size=(200, 3))
        Z -= Z.mean(axis=0)
        parts.append(np.linalg.qr(Z)[0] * np.sqrt(200) * [1.0, 2.0, 0.5 + c] + [c, 0, 0])
    X, y = np.concatenate(parts), np.repeat([0, 1], 200)
    expected = GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis("eigen", "auto"),
        LinearDiscriminantAnalysis("least_squares"),
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    ],
    ids=repr,
)
def test_every_kind_of_rows_gives_the_same(model, tmp_path):
    X, y, w = make(n=1500)
    expected = clone(model).fit(X, y, w)
    pl.DataFrame(X, schema=list("abcde")).with_columns(y=pl.Series(y)).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    kinds = {
        "repeated": (X.repeat(w.astype(int), axis=0), y.repeat(w.astype(int)), None),
        "dask": tuple(da.from_array(part, chunks=(400, *part.shape[1:])) for part in (X, y, w)),
        "torch": (torch.tensor(X), torch.tensor(y), torch.tensor(w)),
        "device": tuple(xp.asarray(part, device=xp.Device("device1")) for part in (X, y, w)),
        "file": (table.drop("y"), table["y"], w),
    }
    for kind, (A, b, v) in kinds.items():
        there = clone(model).fit(A, b, v)
        np.testing.assert_allclose(there.means_, expected.means_, rtol=1e-10, err_msg=kind)
        if kind != "file":  # whose columns have names
            np.testing.assert_allclose(there.predict_proba(X), expected.predict_proba(X), rtol=1e-7, atol=1e-10)
        if kind != "repeated":
            np.testing.assert_allclose(
                to_numpy(there.predict_proba(A)), expected.predict_proba(X), rtol=1e-7, atol=1e-10
            )
            np.testing.assert_array_equal(to_numpy(there.predict(A)), expected.predict(X))
    if hasattr(expected, "scalings_") and isinstance(model, LinearDiscriminantAnalysis):
        np.testing.assert_allclose(to_numpy(expected.transform(torch.tensor(X))), expected.transform(X), rtol=1e-9)
        np.testing.assert_allclose(expected.transform(table.drop("y")).to_numpy(), expected.transform(X), rtol=1e-9)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()], ids=repr)
def test_digits_survive_far_from_zero(model):
    X, y, _ = make()
    near = model.fit(X, y).predict_proba(X)
    # Cells near 1e6 are rounded to 1e-10, which is 1e-10 of their deviation; scores of hundreds make it 1e-7.
    np.testing.assert_allclose(model.fit(X + 1e6, y).predict_proba(X + 1e6), near, rtol=1e-4, atol=1e-7)


def test_a_class_without_weight_in_blocks_is_left_out():
    X, y, _ = make()
    w = (y != 1).astype(float)
    lazy = [da.from_array(part, chunks=(100, *part.shape[1:])) for part in (X, y, w)]
    for model in (LinearDiscriminantAnalysis("eigen", "auto"), QuadraticDiscriminantAnalysis()):
        few = model.fit(X[y != 1], y[y != 1])
        expected = few.predict_proba(X)
        found = model.fit(*lazy)
        assert found.classes_.tolist() == [0, 2]
        np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-7, atol=1e-12)


def test_units_of_features_decide_nothing():
    """scikit-learn calls these covariances singular because the numbers are small."""
    X, y, _ = make()
    expected = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    small = X * [1e-5, 1.0, 1e3, 1e-9, 1.0]
    found = QuadraticDiscriminantAnalysis().fit(small, y).predict_proba(small)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)
    with pytest.raises(np.linalg.LinAlgError):
        sklearns.QuadraticDiscriminantAnalysis().fit(small, y)


@pytest.mark.parametrize("what", ["constant", "dependent", "few rows"])
@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(solver="eigen"),
        LinearDiscriminantAnalysis("eigen"),
        LinearDiscriminantAnalysis("gaussian"),
        LinearDiscriminantAnalysis("fisher"),
        LinearDiscriminantAnalysis("least_squares"),
    ],
    ids=repr,
)
def test_singular_covariances_are_regularised_with_a_warning(what, model):
    X, y, _ = make(n=300)
    if what == "constant":
        X[:, 1] = 7.0
    elif what == "dependent":
        X[:, 1] = X[:, 0] - X[:, 2]
    else:
        X, y = X[:9], y[:9]
        X = np.column_stack([X, X**2])
    with pytest.warns(LinAlgWarning, match="is not full rank .* was added to its diagonal") as caught:
        model.fit(X, y)
    assert "\n" not in str(caught[0].message)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.6
    if what == "constant":  # which has nothing to say
        others = np.delete(X, 1, axis=1)
        expected = type(model)(**model.get_params()).fit(others, y).predict_proba(others)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-2)


def test_svd_leaves_out_directions_without_variance():
    X, y, _ = make()
    expected = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    more = np.column_stack([X, np.full(len(X), 3.0), X[:, 0] + X[:, 1]])
    np.testing.assert_allclose(
        LinearDiscriminantAnalysis().fit(more, y).predict_proba(more), expected, rtol=1e-6, atol=1e-9
    )


def test_classes_that_are_single_points_are_separated():
    X, y = np.repeat([[0.0, 0.0], [3.0, 1.0]], 4, axis=0), np.repeat([0, 1], 4)
    np.testing.assert_array_equal(LinearDiscriminantAnalysis().fit(X, y).predict([[0.4, 0.0], [2.9, 1.0]]), [0, 1])


def test_a_class_with_one_row():
    X, y, _ = make()
    y = np.where(np.arange(len(y)) == 7, 9, y)
    assert 9 in LinearDiscriminantAnalysis().fit(X, y).classes_
    with pytest.raises(ValueError, match=r"only 1 sample in class 9, .* take LinearDiscriminantAnalysis") as caught:
        QuadraticDiscriminantAnalysis().fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: LinearDiscriminantAnalysis().fit(X, 0 * y), "number of classes has to be greater than one"),
        (lambda X, y: LinearDiscriminantAnalysis().fit(X[:3], y[:3]), "number of samples must be more than the number"),
        (lambda X, y: LinearDiscriminantAnalysis().fit(X[:1], y[:1]), "number of classes has to be greater than one"),
        (lambda X, y: LinearDiscriminantAnalysis("best").fit(X, y), "'solver' parameter"),
        (lambda X, y: LinearDiscriminantAnalysis(n_components=3).fit(X, y), "n_components cannot be larger"),
        (lambda X, y: LinearDiscriminantAnalysis("lsqr", 2.0).fit(X, y), "'shrinkage' parameter"),
        (lambda X, y: LinearDiscriminantAnalysis(priors=[1.0]).fit(X, y), "priors has 1 numbers and there are 3"),
        (lambda X, y: LinearDiscriminantAnalysis(priors=[-1.0, 1, 1]).fit(X, y), "priors must be non-negative"),
        (lambda X, y: LinearDiscriminantAnalysis("gaussian").fit(X, y).transform(X), "transform not implemented"),
        (lambda X, y: QuadraticDiscriminantAnalysis(reg_param=2).fit(X, y), "'reg_param' parameter"),
        (lambda X, y: QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(X, y), "shrinkage not supported with 'svd'"),
        (
            lambda X, y: LinearDiscriminantAnalysis("lsqr", covariance_estimator=OAS()).fit(da.from_array(X), y),
            "needs all rows in memory",
        ),
    ],
)
def test_refusals_are_one_sentence(call, message):
    X, y, _ = make()
    with pytest.raises((ValueError, NotImplementedError), match=message) as caught:
        call(X, y)
    assert "\n" not in str(caught.value)
