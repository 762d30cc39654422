"""Generalised linear models: against scikit-learn and statsmodels, by properties, and on bad data."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from learnt.linear_model.glm._family import Family

CASES = [
    ("PoissonRegressor", {}),
    ("GammaRegressor", {}),
    ("TweedieRegressor", {"power": 0}),
    ("TweedieRegressor", {"power": 1.5}),
    ("TweedieRegressor", {"power": 3}),
    ("TweedieRegressor", {"power": 0, "link": "log"}),
    ("TweedieRegressor", {"power": 1.9, "link": "log"}),
]


def data(n=300, d=4, seed=0, zeros=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    mean = np.exp(X @ rng.normal(size=d) / np.sqrt(d) + 0.3)
    y = rng.gamma(5.0, mean / 5.0)
    return X, np.where(rng.random(n) < 0.2, 0.0, y) if zeros else y


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("log", [True, False])
def test_slopes_and_curves_are_derivatives(power, log):
    family = Family(power, log)
    rng = np.random.default_rng(0)
    for y, score in zip(rng.gamma(2.0, size=6), rng.uniform(0.3, 2.0, size=6), strict=True):
        y, score = np.array([y]), np.array([score])
        h = 1e-5
        slope = (family.value(y, score + h) - family.value(y, score - h)) / (2 * h)
        curve = (family.gradient(y, score + h) - family.gradient(y, score - h)) / (2 * h)
        np.testing.assert_allclose(family.gradient(y, score), slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(family.curvature(y, score), curve, rtol=1e-6, atol=1e-6)
        mean = family.mean(score)
        expected = family.curvature(mean, score)
        np.testing.assert_allclose(family.expected_curvature(y, score), expected, rtol=1e-12)
        # Half the deviance and the loss differ by what depends on y alone.
        other = score + 0.1
        half = 0.5 * (family.deviance(y, family.mean(other)) - family.deviance(y, mean))
        np.testing.assert_allclose(half, family.value(y, other) - family.value(y, score), atol=1e-12)


@pytest.mark.parametrize(("name", "params"), CASES)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learn(name, params, alpha, fit_intercept):
    X, y = data()
    w = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    setting = {"alpha": alpha, "fit_intercept": fit_intercept, "tol": 1e-10, **params}
    ours = getattr(learnt.linear_model, name)(**setting).fit(X, y, sample_weight=w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(peers, name)(max_iter=5000, **setting).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)
    np.testing.assert_allclose(ours.score(X, y, w), theirs.score(X, y, w), rtol=1e-6)


def test_equals_statsmodels():
    import statsmodels.api as sm

    X, y = data(zeros=True)
    counts = np.floor(y)
    ours = PoissonRegressor(alpha=0, tol=1e-10).fit(X, counts)
    theirs = sm.GLM(counts, sm.add_constant(X), family=sm.families.Poisson()).fit(tol=1e-12)
    np.testing.assert_allclose(np.r_[ours.intercept_, ours.coef_], theirs.params, rtol=1e-8)


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_identity_link(power):
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, size=(300, 3))
    y = rng.gamma(4.0, (1 + X @ [1.0, 2.0, 0.5]) / 4.0)
    setting = {"power": power, "link": "identity", "alpha": 0.01, "tol": 1e-9}
    ours = TweedieRegressor(**setting).fit(X, y)
    theirs = peers.TweedieRegressor(max_iter=5000, **setting).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    with pytest.raises(ValueError, match="without an intercept"):
        TweedieRegressor(fit_intercept=False, **setting).fit(X, y)


def test_a_sample_leads_to_the_same_minimum():
    X, y = data(n=40000, d=6)
    ours = PoissonRegressor(alpha=1e-3, tol=1e-8).fit(X, y)
    theirs = peers.PoissonRegressor(alpha=1e-3, tol=1e-9, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    again = PoissonRegressor(alpha=1e-3, warm_start=True)
    again.coef_, again.intercept_ = ours.coef_, ours.intercept_
    assert again.fit(X, y).n_iter_ <= 1


def test_fewer_rows_than_columns():
    X, y = data(n=40, d=200)
    ours = PoissonRegressor(alpha=0.1, tol=1e-9).fit(X, y)
    theirs = peers.PoissonRegressor(alpha=0.1, tol=1e-7, max_iter=10000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    thin = PoissonRegressor(alpha=0.1, tol=1e-9).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, ours.coef_, rtol=1e-6, atol=1e-8)


def test_repeated_rows_have_the_shortest_solution():
    X, y = data(n=4, d=12)
    twice = PoissonRegressor(alpha=0, fit_intercept=False, tol=1e-12).fit(np.r_[X, X], np.r_[y, y])
    np.testing.assert_allclose(twice.coef_, np.linalg.pinv(X) @ np.log(y), rtol=1e-8)


def test_wide_sparse_table():
    rng = np.random.default_rng(0)
    X = sparse.random_array((2500, 2300), density=0.01, rng=rng, format="csr")
    y = rng.poisson(np.exp(np.asarray(X[:, :20].sum(axis=1)).ravel())).astype(float)
    ours = PoissonRegressor(alpha=0.01, tol=1e-6, max_iter=1000).fit(X, y)
    theirs = peers.PoissonRegressor(alpha=0.01, tol=1e-6, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3)


def test_every_storage_gives_the_same(tmp_path):
    import dask.array as da
    import polars as pl
    import torch

    X, y = data(n=2000, zeros=True)
    here = TweedieRegressor(power=1.5, alpha=0.1, tol=1e-9).fit(X, y)
    pl.DataFrame(np.c_[X, y], schema=[*"abcd", "y"]).write_parquet(tmp_path / "t.parquet")
    table = learnt.scan(tmp_path / "t.parquet")
    places = [
        (table.drop("y"), table["y"]),
        (da.from_array(X, chunks=(700, 4)), da.from_array(y, chunks=700)),
        (torch.tensor(X), torch.tensor(y)),
    ]
    for there in places:
        model = TweedieRegressor(power=1.5, alpha=0.1, tol=1e-9).fit(*there)
        np.testing.assert_allclose(np.asarray(model.coef_), here.coef_, rtol=1e-7)
        np.testing.assert_allclose(model.score(*there), here.score(X, y), rtol=1e-7)
        np.testing.assert_allclose(np.asarray(model.predict(there[0])), here.predict(X), rtol=1e-7)


def test_huge_scales_and_means():
    X, y = data()
    plain = PoissonRegressor(alpha=0, tol=1e-9).fit(X, y)
    for scale, shift in ((1e7, 0.0), (1e-7, 0.0), (1.0, 1e6)):
        model = PoissonRegressor(alpha=0, tol=1e-9).fit(X * scale + shift, y)
        np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-5)
        np.testing.assert_allclose(model.predict(X * scale + shift), plain.predict(X), rtol=1e-5)


def test_collinear_and_constant_columns():
    X, y = data()
    plain = PoissonRegressor(alpha=0, tol=1e-8).fit(X, y)
    twice = PoissonRegressor(alpha=0, tol=1e-8).fit(np.c_[X, X[:, :1], np.ones(len(X))], y)
    np.testing.assert_allclose(twice.predict(np.c_[X, X[:, :1], np.ones(len(X))]), plain.predict(X), rtol=1e-5)
    np.testing.assert_allclose(twice.coef_[0], twice.coef_[4], rtol=1e-4)  # the shortest of all solutions


def test_all_zero_counts():
    X, _ = data()
    with pytest.warns(ConvergenceWarning, match="All y are zero"):
        model = PoissonRegressor().fit(X, np.zeros(len(X)))
    assert np.all(model.predict(X) < 1e-30)


@pytest.mark.parametrize(("model", "y"), [(PoissonRegressor(), -1.0), (GammaRegressor(), 0.0)])
def test_targets_that_cannot_be(model, y):
    X, good = data()
    good[3] = y
    with pytest.raises(ValueError, match="out of the valid range of the loss") as caught:
        model.fit(X, good)
    assert "\n" not in str(caught.value)


def test_zero_weights_are_rows_left_out():
    X, y = data()
    X[0] = 1e300  # would overflow if it were looked at
    w = np.r_[0.0, np.ones(len(X) - 1)]
    ours = PoissonRegressor(tol=1e-9).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, PoissonRegressor(tol=1e-9).fit(X[1:], y[1:]).coef_, rtol=1e-6)


def test_too_few_iterations_report_the_distance():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=r"above its minimum .*raise max_iter"):
        PoissonRegressor(max_iter=1, alpha=0, tol=1e-9).fit(X, y)


@pytest.mark.parametrize(
    "params", [{"alpha": -1}, {"max_iter": 0}, {"tol": 0}, {"solver": "sag"}, {"power": "x"}, {"link": "logit"}]
)
def test_bad_parameters(params):
    X, y = data(n=20)
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of TweedieRegressor"):
        TweedieRegressor(**params).fit(X, y)
