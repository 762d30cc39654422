"""Ridge regression as a function: against scikit-learn's and the gradient."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as oracle

from learnt.linear_model import Ridge, ridge_regression


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"])
@pytest.mark.parametrize("weights", [None, 2.0, "rows"])
@pytest.mark.parametrize("targets", [0, 1, 3])
def test_equals_scikit_learns(solver, weights, targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X @ rng.normal(size=(5, max(targets, 1))) + rng.normal(size=(60, max(targets, 1)))
    y = y[:, 0] if targets == 0 else y
    w = rng.uniform(0.5, 2.0, size=60) if weights == "rows" else weights
    alpha = np.array([0.5, 1.0, 2.0]) if targets == 3 else 1.0
    found = ridge_regression(X, y, alpha, sample_weight=w, solver=solver)
    theirs = oracle.ridge_regression(X, y, alpha, sample_weight=w, solver="svd")
    np.testing.assert_allclose(found, theirs, rtol=1e-5)
    W = np.ones(60) if w is None else np.broadcast_to(w, 60)
    gradient = X.T @ (W[:, None] * (y.reshape(60, -1) - X @ np.atleast_2d(found).T)) - alpha * np.atleast_2d(found).T
    assert np.abs(gradient).max() < 1e-4


def test_returns_what_is_asked_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50) + 4.0
    coef, n_iter, intercept = ridge_regression(X, y, 1.0, return_n_iter=True, return_intercept=True)
    plain = oracle.Ridge(1.0).fit(X, y)
    np.testing.assert_allclose(coef, plain.coef_)
    assert intercept == pytest.approx(plain.intercept_)
    assert n_iter is not None
    of_sparse = ridge_regression(sparse.csr_matrix(X), y, 1.0, return_intercept=True)
    np.testing.assert_allclose(of_sparse[0], plain.coef_, rtol=1e-6)
    assert ridge_regression(X, y, 1.0, positive=True).min() >= 0
    with pytest.raises(ValueError, match="solver"):
        ridge_regression(X, y, 1.0, solver="fast")
    with pytest.raises(ValueError, match="penalties"):
        ridge_regression(X, y, [1.0, 2.0])


def test_lists_and_one_weight_for_all():
    """Twice the weight is half the penalty."""
    rows, target = [[1.0], [2.0]], [3.0, 6.0]
    weighted = ridge_regression(rows, target, 5.0, sample_weight=2.0)
    np.testing.assert_allclose(weighted, ridge_regression(rows, target, 2.5), rtol=1e-14)


@pytest.mark.parametrize("solver", ["cholesky", "svd", "lsqr", "sparse_cg", "saga"])
def test_only_some_solvers_fit_an_intercept(solver):
    X, y = np.array([[0.0], [1.0]]), np.array([2.0, 6.0])
    with pytest.raises(ValueError, match="In Ridge, only 'sag' solver can directly fit the intercept"):
        ridge_regression(X, y, 0.5, solver=solver, return_intercept=True)
    for fits in ("auto", "sag", "qr"):
        np.testing.assert_allclose(ridge_regression(X, y, 0.5, solver=fits, return_intercept=True)[1], 3.0)


@pytest.mark.parametrize("solver", ["sparse_cg", "sag", "saga"])
def test_a_synonym_keeps_its_name(solver):
    model = Ridge(solver=solver).fit(np.eye(3), np.arange(3.0))
    assert model.solver_ == solver
