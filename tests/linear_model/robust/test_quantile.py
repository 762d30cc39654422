"""QuantileRegressor: against scikit-learn's linear programme and statsmodels, by optimality, and on bad data."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model import QuantileRegressor


def data(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 1.0 + rng.standard_t(3, size=n) * (1 + np.abs(X[:, 0]))


def objective(model, X, y, w=None):
    e, q = y - X @ model.coef_ - model.intercept_, model.quantile
    return np.average(np.where(e > 0, q * e, (q - 1) * e), weights=w) + model.alpha * np.abs(model.coef_).sum()


@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.8])
@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_as_good_as_the_linear_programme(quantile, alpha, fit_intercept):
    X, y = data()
    w = np.random.default_rng(1).uniform(0.1, 2.0, size=len(X))
    setting = {"quantile": quantile, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = QuantileRegressor(**setting).fit(X, y, sample_weight=w)
    theirs = peers.QuantileRegressor(**setting).fit(X, y, sample_weight=w)
    assert objective(ours, X, y, w) <= objective(theirs, X, y, w) * (1 + 1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-12)
    assert 0 <= ours.gap_ <= 1e-9 * objective(ours, X, y, w)


def test_equals_statsmodels():
    import statsmodels.api as sm

    X, y = data(n=400)
    ours = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    theirs = sm.QuantReg(y, sm.add_constant(X)).fit(q=0.3, p_tol=1e-10, max_iter=5000)
    np.testing.assert_allclose(np.r_[ours.intercept_, ours.coef_], theirs.params, rtol=1e-4, atol=1e-4)


def test_a_vertex_fits_as_many_rows_exactly_as_it_has_coefficients():
    X, y = data(n=3000, d=8)
    model = QuantileRegressor(alpha=0).fit(X, y)
    assert np.sum(np.abs(y - model.predict(X)) < 1e-9) == 9
    share = np.mean(y <= model.predict(X) + 1e-9)
    assert 0.5 <= share <= 0.5 + 9 / 3000


def test_a_lone_constant_is_the_quantile():
    y = np.random.default_rng(0).normal(size=101)
    for q in (0.1, 0.5, 0.77):
        model = QuantileRegressor(quantile=q).fit(np.zeros((101, 1)), y)
        assert model.coef_[0] == 0
        np.testing.assert_allclose(model.intercept_, np.quantile(y, q, method="inverted_cdf"), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_more_columns_than_rows(alpha):
    X, y = data(n=30, d=60)
    ours = QuantileRegressor(alpha=alpha).fit(X, y)
    theirs = peers.QuantileRegressor(alpha=alpha).fit(X, y)
    assert objective(ours, X, y) <= objective(theirs, X, y) + 1e-9


def test_huge_scales():
    X, y = data()
    plain = QuantileRegressor(alpha=0).fit(X, y)
    for scale, unit, shift in ((1e8, 1.0, 0.0), (1.0, 1e-9, 0.0), (1.0, 1e9, 1e5)):
        model = QuantileRegressor(alpha=0).fit(X * scale + shift, y * unit)
        np.testing.assert_allclose(model.coef_, plain.coef_ * unit / scale, rtol=1e-5)


def test_collinear_and_constant_columns_and_zero_targets():
    X, y = data()
    more = np.c_[X, X[:, 0], np.ones(len(X))]
    ours, plain = QuantileRegressor(alpha=0).fit(more, y), QuantileRegressor(alpha=0).fit(X, y)
    np.testing.assert_allclose(objective(ours, more, y), objective(plain, X, y), rtol=1e-8)
    zero = QuantileRegressor(alpha=0).fit(X, np.zeros(len(X)))
    np.testing.assert_allclose(zero.predict(X), 0.0, atol=1e-12)
    exact = QuantileRegressor(alpha=0, quantile=0.2).fit(X, X @ np.arange(5.0))
    np.testing.assert_allclose(exact.coef_, np.arange(5.0), atol=1e-7)


def test_zero_weights_are_rows_left_out():
    X, y = data()
    w = np.ones(len(X))
    w[:50] = 0
    ours = QuantileRegressor(alpha=0.01).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, QuantileRegressor(alpha=0.01).fit(X[50:], y[50:]).coef_, rtol=1e-9)


@pytest.mark.parametrize("solver", ["highs", "highs-ds", "highs-ipm"])
def test_sparse_and_every_solver(solver):
    X, y = data()
    X[np.abs(X) < 0.5] = 0
    dense = QuantileRegressor(alpha=0.02).fit(X, y)
    thin = QuantileRegressor(alpha=0.02, solver=solver).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)


def test_a_linear_programme_that_fails_raises():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="Linear programming for QuantileRegressor did not succeed"):
        QuantileRegressor(solver_options={"maxiter": 1}).fit(X, y)


@pytest.mark.parametrize(
    "params", [{"quantile": 0}, {"quantile": 1}, {"alpha": -1}, {"solver": "simplex"}, {"solver_options": 3}]
)
def test_bad_parameters(params):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of QuantileRegressor"):
        QuantileRegressor(**params).fit(*data(n=20))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_unit_of_x_only_changes_that_of_the_coefficients(scale):
    X, y = data(n=80)
    plain = QuantileRegressor(quantile=0.3, alpha=0.0).fit(X, y)
    moved = QuantileRegressor(quantile=0.3, alpha=0.0).fit(X * scale, y)
    np.testing.assert_allclose(moved.coef_ * scale, plain.coef_, rtol=1e-6, atol=1e-9)


def test_a_penalty_beyond_all_loss_leaves_a_column_out():
    """In tiny units a coefficient would have to be so large that the penalty is more than the loss of all rows."""
    X, y = data(n=80)
    model = QuantileRegressor(quantile=0.5, alpha=0.01).fit(X * 1e-150, y)
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert np.mean(y <= model.intercept_) == pytest.approx(0.5, abs=1 / 80)


def test_columns_that_nearly_depend_on_each_other():
    """Two time stamps without an intercept: their difference counts, which is a hundred-millionth of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + 1e8
    y = 0.5 * (X[:, 0] - X[:, 1]) + 0.3 * rng.normal(size=150)
    params = {"alpha": 0.01, "fit_intercept": False}
    model, peer = (make(**params).fit(X, y) for make in (QuantileRegressor, peers.QuantileRegressor))

    def objective(coef):
        return 0.5 * np.abs(y - X @ coef).mean() + 0.01 * np.abs(coef).sum()

    assert objective(model.coef_) <= objective(peer.coef_) * (1 + 1e-6)
    wide = QuantileRegressor(alpha=0.01).fit(rng.normal(size=(30, 60)), rng.normal(size=30))
    assert wide.gap_ < 1e-9
