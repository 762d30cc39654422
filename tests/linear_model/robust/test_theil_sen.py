"""Theil–Sen: scikit-learn's subsets and median, and what a median withstands."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import linear_model as oracle
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import LinearRegression, TheilSenRegressor
from learnt.linear_model.robust._spatial_median import spatial_median
from learnt.linear_model.robust._theil_sen import least_squares_each


def polluted(n=60, d=2, share=0.15, seed=0):
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(n, d)), rng.normal(size=d)
    y = X @ coef + 2.0 + 0.1 * rng.normal(size=n)
    y[rng.permutation(n)[: int(share * n)]] += 30.0
    return X, y, coef


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("more", [{}, {"n_subsamples": 10}, {"max_subpopulation": 100}, {"tol": 1e-8}], ids=str)
def test_equals_scikit_learns(d, fit_intercept, more):
    X, y, _ = polluted(d=d)
    settings = {"random_state": 0, "max_subpopulation": 1000, "fit_intercept": fit_intercept, **more}
    ours, theirs = TheilSenRegressor(**settings).fit(X, y), oracle.TheilSenRegressor(**settings).fit(X, y)
    # planes through nearly dependent rows have few digits, and no weight in the median
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
    assert ours.n_subpopulation_ == theirs.n_subpopulation_
    assert ours.breakdown_ == pytest.approx(theirs.breakdown_)


def test_withstands_outliers_and_finds_exact_lines():
    X, y, coef = polluted(n=200, share=0.2)
    model = TheilSenRegressor(random_state=0).fit(X, y)
    assert np.abs(model.coef_ - coef).max() < 0.2
    assert abs(model.intercept_ - 2.0) < 0.3 < abs(LinearRegression().fit(X, y).intercept_ - 2.0)
    exact = TheilSenRegressor(random_state=0, tol=1e-12).fit(X, X @ coef + 1.0)
    np.testing.assert_allclose(exact.coef_, coef, rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 2), (41, 3), (7, 5)])
def test_the_spatial_median_has_the_least_sum_of_distances(shape):
    points = np.random.default_rng(0).normal(size=shape) ** 3

    def total(x):
        return np.linalg.norm(points - x, axis=1).sum()

    found, _, converged = spatial_median(points, 10_000, 1e-10)
    best = minimize(total, points.mean(axis=0), method="Nelder-Mead", options={"xatol": 1e-10, "maxiter": 20_000})
    assert converged
    assert total(found) <= best.fun * (1 + 1e-9)
    many_here = np.vstack([points, np.repeat(points[:1], len(points), axis=0)])  # half of them at one point
    np.testing.assert_allclose(spatial_median(many_here, 10_000, 1e-10)[0], points[0], atol=1e-7)


@pytest.mark.parametrize("shape", [(5, 3, 3), (5, 6, 3), (5, 2, 3)])
def test_least_squares_of_each_is_that_of_one(shape):
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=shape), rng.normal(size=shape[:2])
    A[1, 1] = A[1, 0]  # one is singular
    found = least_squares_each(A, y)
    for k in range(5):
        np.testing.assert_allclose(found[k], np.linalg.lstsq(A[k], y[k], rcond=None)[0], rtol=1e-9, atol=1e-12)


def test_few_rows_and_what_is_wrong():
    X, y, _ = polluted(n=4, d=6)
    ours, theirs = TheilSenRegressor().fit(X, y), oracle.TheilSenRegressor().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    X, y, _ = polluted()
    for settings, words in [
        ({"n_subsamples": 100}, "n_subsamples > n_samples"),
        ({"n_subsamples": 2}, "n_features"),
        ({"max_subpopulation": 0}, "max_subpopulation"),
        ({"tol": -1.0}, "tol"),
    ]:
        with pytest.raises(ValueError, match=words):
            TheilSenRegressor(**settings).fit(X, y)
    with pytest.raises(ValueError, match="n_subsamples != n_samples"):
        TheilSenRegressor(n_subsamples=1).fit(np.ones((2, 4)), [1.0, 2.0])
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations"):
        TheilSenRegressor(max_iter=1, random_state=0, tol=0.0).fit(X, y)
