"""Forward stagewise regression: by hand, at its end, and along its path."""

import numpy as np
import pytest
from sklearn import linear_model as oracle

from learnt.linear_model import ForwardStagewiseRegression


def problem(n=150, d=8, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3) * np.linspace(0.2, 5, d) + 3
    return X, X @ np.r_[3.0, -2.0, 1.0, np.zeros(d - 3)] + noise * rng.normal(size=n) + 10


def test_steps_by_hand():
    X, y = problem(d=4)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    residual, coef, step = y - y.mean(), np.zeros(4), 0.02 * y.std()
    chosen = []
    for _ in range(60):
        j = np.argmax(np.abs(Z.T @ residual))
        move = step * np.sign(Z[:, j] @ residual)
        coef[j] += move / X[:, j].std()
        residual -= move * Z[:, j]
        chosen.append(j)
    model = ForwardStagewiseRegression(step_size=0.02, max_iter=60).fit(X, y)
    np.testing.assert_array_equal(model.path_features_, chosen)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), y - residual, atol=1e-9)


def test_ends_near_least_squares():
    X, y = problem()
    model = ForwardStagewiseRegression(step_size=1e-4, max_iter=200_000).fit(X, y)
    assert model.n_iter_ < 200_000
    exact = oracle.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), exact.coef_ * X.std(axis=0), atol=0.01)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, atol=0.05)


def test_every_step_shortens_the_residual_and_the_path_is_whole():
    X, y = problem()
    model = ForwardStagewiseRegression().fit(X, y)
    path = model.coef_path_
    assert path.shape == (model.n_iter_ + 1, 8)
    assert not path[0].any()
    np.testing.assert_allclose(path[-1], model.coef_, atol=1e-12)
    np.testing.assert_array_equal(np.count_nonzero(np.diff(path, axis=0), axis=1), 1)
    errors = np.linalg.norm((y - y.mean())[:, None] - (X - X.mean(axis=0)) @ path.T, axis=0)
    assert (np.diff(errors) < 0).all()


def test_follows_the_lasso_on_orthogonal_columns():
    """There both are soft thresholds: at equal L1 norm, equal coefficients."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 6)))[0] * 8
    y = Q @ np.r_[4.0, -3.0, 2.0, 1.0, 0.0, 0.0]
    model = ForwardStagewiseRegression(step_size=1e-3, max_iter=2000, fit_intercept=False).fit(Q, y)
    lasso = oracle.Lasso(alpha=1e-9, fit_intercept=False)
    low, high = 0.0, 5.0
    for _ in range(50):
        lasso.set_params(alpha=(low + high) / 2).fit(Q, y)
        low, high = (lasso.alpha, high) if np.abs(lasso.coef_).sum() > np.abs(model.coef_).sum() else (low, lasso.alpha)
    np.testing.assert_allclose(model.coef_, lasso.coef_, atol=0.02)


def test_units_do_not_matter():
    X, y = problem()
    model = ForwardStagewiseRegression(max_iter=100).fit(X, y)
    other = ForwardStagewiseRegression(max_iter=100).fit(X * 1000, y * 7 + 5)
    np.testing.assert_array_equal(other.path_features_, model.path_features_)
    np.testing.assert_allclose(other.coef_ * 1000 / 7, model.coef_, atol=1e-9)


def test_nothing_to_learn():
    X, y = problem(n=20)
    model = ForwardStagewiseRegression().fit(X, np.full(20, 3.0))
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.predict(X), np.full(20, 3.0))
    X[:, 2] = 5.0  # a constant column is never moved
    assert ForwardStagewiseRegression().fit(X, y).coef_[2] == 0
    with pytest.raises(ValueError, match="step_size"):
        ForwardStagewiseRegression(step_size=0.0).fit(X, y)
