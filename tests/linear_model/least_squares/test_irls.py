"""IterativelyReweightedLeastSquares: its fixed point, what it gains over least squares, and bad data."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import IterativelyReweightedLeastSquares, LinearRegression


def data(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    noise = np.exp(2.0 * X[:, 0])
    return X, X @ np.arange(1.0, d + 1) + 1.0 + noise * rng.normal(size=n), noise


def test_the_fixed_point_is_weighted_least_squares_with_its_own_variances():
    X, y, _ = data()
    model = IterativelyReweightedLeastSquares(tol=1e-12, max_iter=1000).fit(X, y)
    again = LinearRegression().fit(X, y, sample_weight=1.0 / model.variance_)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-8)
    error = y - model.predict(X)
    # It minimises Σ log(e² + δ²): the gradient is 0.
    np.testing.assert_allclose(X.T @ (error / model.variance_) / len(X), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.ptp(model.variance_ - error**2), 0.0, atol=1e-9)


@pytest.mark.parametrize("variance", ["residual", "features"])
def test_nearer_to_the_truth_than_least_squares(variance):
    ours, plain, best = [], [], []
    for seed in range(25):
        X, y, noise = data(seed=seed)
        for errors, model, w in (
            (ours, IterativelyReweightedLeastSquares(variance=variance, max_iter=500), None),
            (plain, LinearRegression(), None),
            (best, LinearRegression(), noise**-2.0),
        ):
            errors.append(model.fit(X, y, sample_weight=w).coef_ - [1.0, 2.0, 3.0])
    ours, plain, best = (np.sqrt(np.mean(np.square(e))) for e in (ours, plain, best))
    assert ours < 0.8 * plain
    if variance == "features":
        assert ours < 1.25 * best


def test_a_function_of_the_user():
    X, y, noise = data()
    model = IterativelyReweightedLeastSquares(variance=lambda X, mean, e: np.exp(4.0 * X[:, 0])).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y, sample_weight=noise**-2.0).coef_, rtol=1e-9)
    assert model.n_iter_ == 3
    for wrong in (lambda X, m, e: e, lambda X, m, e: np.ones(3), lambda X, m, e: np.full(len(e), np.nan)):
        with pytest.raises(ValueError, match="must return 400 finite numbers above 0"):
            IterativelyReweightedLeastSquares(variance=wrong).fit(X, y)


def test_outliers_hardly_count():
    X, y, _ = data()
    clean = IterativelyReweightedLeastSquares().fit(X[10:], y[10:]).coef_
    y[:10] = 1e6
    np.testing.assert_allclose(IterativelyReweightedLeastSquares().fit(X, y).coef_, clean, atol=0.2)


@pytest.mark.parametrize("variance", ["residual", "features"])
def test_bad_data(variance):
    X, y, _ = data()
    model = IterativelyReweightedLeastSquares(variance=variance, max_iter=500)
    exact = X @ np.arange(3.0)
    np.testing.assert_allclose(model.fit(X, exact).predict(X), exact, atol=1e-9)
    np.testing.assert_allclose(model.fit(X, np.zeros(len(X))).predict(X), 0.0, atol=1e-12)
    more = np.c_[X, X[:, 0], np.ones(len(X))]
    np.testing.assert_allclose(model.fit(more, y).predict(more), model.fit(X, y).predict(X), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.fit(X, y * 1e9).coef_, model.fit(X, y).coef_ * 1e9, rtol=1e-5)
    w = np.r_[np.zeros(100), np.ones(300)]
    np.testing.assert_allclose(model.fit(X, y, sample_weight=w).coef_, model.fit(X[100:], y[100:]).coef_, rtol=1e-5)
    wide = model.fit(X[:2], y[:2])
    np.testing.assert_allclose(wide.predict(X[:2]), y[:2], rtol=1e-6)


def test_too_few_rounds_warn():
    X, y, _ = data()
    with pytest.warns(ConvergenceWarning, match="predictions still changed by"):
        IterativelyReweightedLeastSquares(max_iter=2).fit(X, y)


@pytest.mark.parametrize("params", [{"variance": "other"}, {"floor": 0}, {"max_iter": 0}, {"tol": -1}])
def test_bad_parameters(params):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter"):
        IterativelyReweightedLeastSquares(**params).fit(*data()[:2])
