"""HuberRegressor: against scikit-learn, by its objective, and on bad data."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.rows import as_rows
from learnt.linear_model import HuberRegressor, LinearRegression
from learnt.linear_model.robust._huber import _Huber, _start
from learnt.linear_model.robust._huber_scale import _next, _ScaleMinimum, scale_by_scale


def data(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 2.0 + 0.5 * rng.normal(size=n)
    wild = rng.random(n) < 0.1
    y[wild] += rng.normal(size=wild.sum()) * 30
    return X, y


def objective(model, X, y, w=1.0):
    error, sigma, epsilon = np.abs(y - X @ model.coef_ - model.intercept_), model.scale_, model.epsilon
    z = error / sigma
    loss = np.where(z <= epsilon, z**2, 2 * epsilon * z - epsilon**2)
    return np.sum(w * sigma * (1 + loss)) + model.alpha * model.coef_ @ model.coef_


@pytest.mark.parametrize("curvature", ["own", "expected"])
def test_gradient_and_curvature_are_derivatives(curvature):
    X, y = data(n=40, d=2)
    w = np.random.default_rng(1).uniform(size=40)
    start, unit = _start(as_rows(X, y, w), True)
    problem = _Huber(as_rows(X, y, w), 1.35, 0.3, True, unit)
    point = start + [0.3, -0.2, 0.1, 0.0]
    at = problem.at(point, curvature)
    for j, h in enumerate(1e-6 * np.eye(4)):
        up, down = problem.at(point + h), problem.at(point - h)
        np.testing.assert_allclose(at.gradient[j], (up.value - down.value) / 2e-6, rtol=1e-5, atol=1e-8)
        if curvature == "own":
            slope = (up.gradient - down.gradient) / 2e-6
            np.testing.assert_allclose(at.curvature[j], slope, rtol=1e-4, atol=1e-6)
    assert np.linalg.eigvalsh(at.curvature).min() > 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("epsilon", [1.01, 1.35, 3.0])
def test_equals_scikit_learn(fit_intercept, alpha, epsilon):
    X, y = data()
    w = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    setting = {"fit_intercept": fit_intercept, "alpha": alpha, "epsilon": epsilon}
    ours = HuberRegressor(**setting, tol=1e-8).fit(X, y, sample_weight=w)
    theirs = peers.HuberRegressor(**setting, tol=1e-7, max_iter=10000).fit(X, y, sample_weight=w)
    assert objective(ours, X, y, w) <= objective(theirs, X, y, w) * (1 + 1e-9)
    if epsilon > 1.1:  # near 1 the scale has hardly a minimum
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-3)
        np.testing.assert_array_equal(ours.outliers_, theirs.outliers_)


def test_default_tolerance_is_as_good():
    for seed in range(3):
        X, y = data(n=2000, seed=seed)
        assert objective(HuberRegressor().fit(X, y), X, y) <= objective(
            peers.HuberRegressor(max_iter=1000).fit(X, y), X, y
        ) * (1 + 1e-8)


def test_a_sample_leads_to_the_same_minimum():
    X, y = data(n=40000)
    ours = HuberRegressor(tol=1e-9).fit(X, y)
    theirs = peers.HuberRegressor(tol=1e-8, max_iter=1000).fit(X, y)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-10)
    again = HuberRegressor(warm_start=True).set_params(warm_start=True)
    again.coef_, again.intercept_, again.scale_ = ours.coef_, ours.intercept_, ours.scale_
    assert again.fit(X, y).n_iter_ <= 2


@pytest.mark.parametrize(("slope", "low", "high"), [(-1e-20, 0.1, np.inf), (1e-20, 0.0, 0.1)])
def test_a_step_of_the_scale_below_its_rounding_stays(slope, low, high):
    """Neither to infinity nor to 0, the ends of what is known of it."""
    point = np.ones(2)
    here = _ScaleMinimum(point, 1.0, 1, True, slope, 1.0, np.ones(2), 1e-11)
    found, sigma = _next(here, 0.1, low, high)
    assert sigma == 0.1
    np.testing.assert_array_equal(found, point)


@pytest.mark.parametrize("seed", range(4))
def test_scale_by_scale_with_a_tolerance_below_rounding_ends_at_the_minimum(seed):
    X, y = data(n=100, d=3, seed=seed)
    start, unit = _start(as_rows(X, y), True)
    problem = _Huber(as_rows(X, y), 1.35, 1e-4, True, unit)
    start[-1] = 0.01 if seed % 2 else 3.0
    found = scale_by_scale(problem, start, 1e-12, 500)
    assert found.converged
    size = np.abs(X).max() + 1.0  # the gradient is a mean of terms of at most 2ε(|x| + 1), each known to a few eps
    slope = problem.at(np.append(found.coef, found.intercept)).gradient
    assert np.abs(slope).max() <= 100 * len(X) * np.finfo(float).eps * 2 * 1.35 * size


def test_a_huge_epsilon_is_least_squares():
    X, y = data()
    ours = HuberRegressor(epsilon=1e3, alpha=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.scale_, np.sqrt(np.mean((y - ours.predict(X)) ** 2)), rtol=1e-5)
    assert not ours.outliers_.any()


def test_units_do_not_matter():
    X, y = data()
    plain = HuberRegressor(alpha=0).fit(X, y)
    for unit in (1e-9, 1e9):
        model = HuberRegressor(alpha=0).fit(X * 1e5, y * unit)
        np.testing.assert_allclose(model.coef_, plain.coef_ * unit / 1e5, rtol=1e-4)
        np.testing.assert_allclose(model.scale_, plain.scale_ * unit, rtol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(30, 80), (500, 2100)])
def test_more_columns_than_rows_and_wide_sparse(shape):
    rng = np.random.default_rng(0)
    X = sparse.random_array(shape, density=0.05, rng=rng, format="csr")
    y = np.asarray(X[:, :10].sum(axis=1)).ravel() + rng.normal(size=shape[0])
    ours = HuberRegressor(alpha=1.0, max_iter=1000).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.HuberRegressor(alpha=1.0, max_iter=3000, tol=1e-6).fit(X, y)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-6)


@pytest.mark.parametrize("y", ["exact", "zero", "constant"])
def test_exact_fits(y):
    X, _ = data()
    y = {"exact": X @ np.arange(5.0) + 1, "zero": np.zeros(len(X)), "constant": np.full(len(X), 7.0)}[y]
    model = HuberRegressor(alpha=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    assert 0 < model.scale_ < 1e-6


def test_collinear_and_constant_columns():
    X, y = data()
    plain = HuberRegressor(alpha=0).fit(X, y)
    more = np.c_[X, X[:, 0], np.ones(len(X))]
    np.testing.assert_allclose(
        HuberRegressor(alpha=0).fit(more, y).predict(more), plain.predict(X), rtol=1e-3, atol=1e-3
    )


def test_too_few_iterations_report_the_distance():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="of itself above its minimum; raise max_iter"):
        HuberRegressor(max_iter=1).fit(X, y)


@pytest.mark.parametrize("params", [{"epsilon": 0.9}, {"alpha": -1}, {"max_iter": -1}, {"tol": -1}])
def test_bad_parameters(params):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of HuberRegressor"):
        HuberRegressor(**params).fit(*data(n=20))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_unit_of_x_only_changes_that_of_the_coefficients(scale):
    X, y = data(n=60)
    plain = HuberRegressor(alpha=0.0, tol=1e-9).fit(X, y)
    moved = HuberRegressor(alpha=0.0, tol=1e-9).fit(X * scale, y)
    np.testing.assert_allclose(moved.coef_ * scale, plain.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(moved.scale_, plain.scale_, rtol=1e-4)


def test_columns_far_from_zero_lose_no_digits():
    """1e8 + x holds x to 1.5e-8: that is all that may be lost. As sparse rows too, of which no cell is 0."""
    X, y = data(n=60)
    plain = HuberRegressor(tol=1e-9).fit(X, y)
    for far in (X + 1e8, sparse.csr_array(X + 1e8)):
        moved = HuberRegressor(tol=1e-9).fit(far, y)
        np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(moved.scale_, plain.scale_, rtol=1e-5)
        again = HuberRegressor(tol=1e-9, warm_start=True).fit(far, y).fit(far, y)
        np.testing.assert_allclose(again.coef_, plain.coef_, rtol=1e-5, atol=1e-6)


def test_a_single_row_is_met_exactly():
    model = HuberRegressor().fit([[1e8]], [-0.2])
    assert model.predict([[1e8]]) == pytest.approx([-0.2], abs=1e-9)
    assert model.scale_ < 1e-9


def test_columns_far_from_zero_without_an_intercept():
    """They are nearly multiples of each other, and what they differ in still counts."""
    X, y = data(n=60)
    X, y = X + 1e8, y - y.mean()
    model, peer = (make(fit_intercept=False).fit(X, y) for make in (HuberRegressor, peers.HuberRegressor))

    def objective(found):
        z = np.abs(y - X @ found.coef_) / found.scale_
        loss = np.where(z <= 1.35, z**2, 2.7 * z - 1.35**2)
        return (found.scale_ * (1.0 + loss)).sum() + 1e-4 * (found.coef_**2).sum()

    assert objective(model) <= objective(peer) * (1 + 1e-6)
