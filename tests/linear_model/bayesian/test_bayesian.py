"""Bayesian linear regression: closed forms, scikit-learn, the evidence by its definition, and bad data."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.rows import as_rows
from learnt.linear_model import ARDRegression, BayesianLinearRegression, BayesianRidge, Ridge
from learnt.linear_model.bayesian._spectrum import ColumnSpectrum, RowSpectrum, spectrum


def data(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + 3.0
    return X, X @ np.where(np.arange(d) % 2, 1.0, 0.0) + 2.0 + rng.normal(size=n)


def test_a_start_of_no_precision_comes_to_the_same_maximum():
    X, y = data()
    coefs = [BayesianRidge(alpha_init=start, tol=1e-10).fit(X, y).coef_ for start in (0.0, None)]
    np.testing.assert_allclose(*coefs, rtol=1e-6)


@pytest.mark.parametrize("shape", [(80, 5), (20, 40), (30, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_bayesian_ridge_equals_scikit_learn(shape, fit_intercept, weighted):
    X, y = data(*shape)
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X)) if weighted else None
    setting = {"fit_intercept": fit_intercept, "compute_score": True, "tol": 1e-8, "max_iter": 2000}
    ours = BayesianRidge(**setting).fit(X, y, sample_weight=w)
    theirs = peers.BayesianRidge(**setting).fit(X, y, sample_weight=w)
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "X_offset_"):
        # Fewer rows than columns leave hardly any residual, and α hangs on its digits.
        tolerance = {"rtol": 1e-5, "atol": 1e-8} if shape == (80, 5) else {"rtol": 1e-3, "atol": 1e-4}
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), err_msg=name, **tolerance)
    np.testing.assert_allclose(ours.scores_[-1], theirs.scores_[-1], rtol=1e-6)
    for mine, yours in zip(ours.predict(X, return_std=True), theirs.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_rows_and_columns_have_the_same_spectrum(fit_intercept, weighted, mean):
    """Both are (ZᵀZ + ratio I)⁻¹ ZᵀT and (α ZᵀZ + λI)⁻¹ to rounding: 1e-16 of the largest number squared, by n."""
    X, y = data(20, 40)
    X[:, 3] = X[:, 2]
    X += mean * fit_intercept  # without an intercept a large mean is one column more to explain by
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=20) if weighted else np.ones(20)
    rows = as_rows(X, y, w if weighted else None)
    root = np.sqrt(w)[:, None]
    center = w / w.sum() * fit_intercept
    Z, T = root * (X - center @ X), root[:, 0] * (y - center @ y)
    mean_of = np.linalg.solve(Z.T @ Z + 0.3 * np.eye(40), Z.T @ T)
    covariance = np.linalg.inv(2.0 * Z.T @ Z + 0.6 * np.eye(40))
    assert isinstance(spectrum(rows, fit_intercept), RowSpectrum)
    for found in (RowSpectrum(rows, fit_intercept), ColumnSpectrum(rows, fit_intercept)):
        coef = found.mean(0.3)
        np.testing.assert_allclose(coef, mean_of, atol=1e-6)
        np.testing.assert_allclose(found.covariance(2.0, 0.6), covariance, atol=1e-6)
        np.testing.assert_allclose(found.residual(0.3, coef), np.sum((T - Z @ mean_of) ** 2), rtol=1e-4)
        np.testing.assert_allclose(found.y_variance, np.cov(y, aweights=w, ddof=0), rtol=1e-9)
        np.testing.assert_allclose(found.intercept(coef), [center @ y - center @ X @ coef], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(80, 5), (120, 40)])
def test_ard_equals_scikit_learn(shape):
    X, y = data(*shape)
    setting = {"compute_score": True, "tol": 1e-4}
    ours, theirs = ARDRegression(**setting).fit(X, y), peers.ARDRegression(**setting).fit(X, y)
    assert ours.n_iter_ == theirs.n_iter_
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-4)
    np.testing.assert_allclose(ours.predict(X, True)[1], theirs.predict(X, True)[1], rtol=1e-5)


def test_ard_drops_everything_where_nothing_helps():
    X, _ = data()
    model = ARDRegression(threshold_lambda=1e-8).fit(X, np.ones(len(X)) + 1e-3 * X[:, 0])
    assert np.all(model.coef_ == 0)
    assert model.sigma_.shape == (0, 0)
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def test_posterior_is_the_closed_form():
    X, y = data()
    m, S = np.arange(5.0), np.diag([1.0, 2.0, 3.0, 4.0, 5.0]) + 0.5
    model = BayesianLinearRegression(
        noise_variance=2.0, prior_variance=0.7, prior_mean=m, prior_shape=S, fit_intercept=False
    ).fit(X, y)
    precision = X.T @ X / 2.0 + np.linalg.inv(0.7 * S)
    V = np.linalg.inv(precision)
    np.testing.assert_allclose(model.covariance_, V, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, V @ (X.T @ y / 2.0 + np.linalg.inv(0.7 * S) @ m), rtol=1e-9)
    evidence = stats.multivariate_normal(X @ m, 2.0 * np.eye(len(X)) + 0.7 * X @ S @ X.T).logpdf(y)
    np.testing.assert_allclose(model.log_evidence_, evidence, rtol=1e-9)
    np.testing.assert_allclose(model.effective_dimension_, np.trace(V @ X.T @ X) / 2.0, rtol=1e-9)
    mean, deviation = model.predict(X[:3], return_std=True)
    np.testing.assert_allclose(deviation, np.sqrt(2.0 + np.diag(X[:3] @ V @ X[:3].T)), rtol=1e-9)
    np.testing.assert_allclose(mean, X[:3] @ model.coef_)


def test_the_mean_is_ridge():
    """λ = σ²/(nτ²) of the averaged loss, α = nλ of the summed one."""
    X, y = data()
    noise, prior = 3.0, 0.2
    lam = noise / (len(X) * prior)
    ours = BayesianLinearRegression(noise_variance=noise, prior_variance=prior).fit(X, y)
    ridge = Ridge(alpha=len(X) * lam).fit(X, y)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, ridge.intercept_, rtol=1e-9)


@pytest.mark.parametrize("shape", [(80, 5), (60, 30)])
def test_the_evidence_version_is_bayesian_ridge(shape):
    X, y = data(*shape)
    none = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    ours = BayesianLinearRegression().fit(X, y)
    theirs = peers.BayesianRidge(tol=1e-12, max_iter=20000, compute_score=True, **none).fit(X, y)
    assert ours.log_evidence_ >= theirs.scores_[-1] - 1e-8
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(1 / ours.noise_variance_, theirs.alpha_, rtol=1e-4)
    np.testing.assert_allclose(1 / ours.prior_variance_, theirs.lambda_, rtol=1e-4)
    np.testing.assert_allclose(ours.covariance_, theirs.sigma_, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("given", [{"noise_variance": 1.3}, {"prior_variance": 0.4}, {}])
def test_what_is_not_given_maximises_the_evidence(given):
    X, y = data()
    model = BayesianLinearRegression(**given).fit(X, y)
    best = {"noise_variance": model.noise_variance_, "prior_variance": model.prior_variance_}
    for name in best.keys() - given.keys():
        for factor in (0.9, 1.1):
            other = BayesianLinearRegression(**{**best, name: best[name] * factor}).fit(X, y)
            assert other.log_evidence_ < model.log_evidence_


def test_draws_have_the_posterior_s_moments():
    X, y = data()
    model = BayesianLinearRegression().fit(X, y)
    draws = model.sample_coefficients(20000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), model.coef_, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), model.covariance_, atol=2e-3)


def test_predictive_deviations_are_calibrated():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        b = rng.normal(size=4)
        X, new = rng.normal(size=(25, 4)), rng.normal(size=(10, 4))
        mean, deviation = (
            BayesianLinearRegression(noise_variance=0.25, prior_variance=1.0, fit_intercept=False)
            .fit(X, X @ b + 0.5 * rng.normal(size=25))
            .predict(new, return_std=True)
        )
        held.append(np.abs(new @ b + 0.5 * rng.normal(size=10) - mean) < 1.6449 * deviation)
    assert 0.88 < np.mean(held) < 0.92


@pytest.mark.parametrize("cls", [BayesianRidge, ARDRegression, BayesianLinearRegression])
def test_bad_data(cls):
    X, y = data()
    collinear = np.c_[X, X[:, 0], np.ones(len(X))]
    assert np.isfinite(cls().fit(collinear, y).predict(collinear)).all()
    np.testing.assert_allclose(cls().fit(X, np.zeros(len(X))).predict(X), 0.0, atol=1e-8)
    exact = cls().fit(X, X @ np.arange(5.0))
    np.testing.assert_allclose(exact.predict(X), X @ np.arange(5.0), rtol=1e-4, atol=1e-3)
    huge = cls(**({"threshold_lambda": 1e20} if cls is ARDRegression else {})).fit(X * 1e6, y)
    np.testing.assert_allclose(huge.predict(X * 1e6), cls().fit(X, y).predict(X), rtol=0.05, atol=0.2)
    w = np.r_[np.zeros(20), np.ones(60)]
    np.testing.assert_allclose(cls().fit(X, y, sample_weight=w).coef_, cls().fit(X[20:], y[20:]).coef_, rtol=1e-6)


def test_more_columns_than_rows():
    X, y = data(20, 40)
    for model in (BayesianLinearRegression(), ARDRegression(), BayesianLinearRegression(prior_variance=1.0)):
        mean, deviation = model.fit(X, y).predict(X, return_std=True)
        assert np.corrcoef(mean, y)[0, 1] > 0.95
        assert np.all(deviation > 0)


def test_too_few_iterations_warn():
    X, y = data()
    for cls in (BayesianRidge, ARDRegression):
        with pytest.warns(ConvergenceWarning, match="coefficients still changed by .* raise max_iter"):
            cls(max_iter=2, tol=1e-12).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"noise_variance": 0}, "The 'noise_variance' parameter"),
        ({"prior_variance": -1}, "The 'prior_variance' parameter"),
        ({"prior_mean": [1.0]}, "prior_mean needs 5 finite numbers"),
        ({"prior_shape": -np.eye(5)}, "prior_shape needs 5 numbers above 0, or a symmetric positive definite"),
        ({"prior_shape": np.zeros(5)}, "prior_shape needs 5 numbers above 0"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        BayesianLinearRegression(**params).fit(*data())


@pytest.mark.parametrize(("of_x", "of_y"), [(1e150, 1.0), (1.0, 1e150), (1e120, 1e120)])
def test_squares_that_overflow_are_refused_and_others_only_change_units(of_x, of_y):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -1.0, 2.0] + rng.normal(size=60)
    with pytest.raises(ValueError, match="ordinary units"):
        BayesianLinearRegression().fit(of_x * X, of_y * y)
    plain = BayesianLinearRegression().fit(X, y).predict(X)
    for scale in (1e-40, 1e-10, 1e10, 1e40):
        np.testing.assert_allclose(BayesianLinearRegression().fit(scale * X, y).predict(scale * X), plain, rtol=1e-5)
