"""LinearSVC with the absolute penalty where too many columns have a coefficient for a matrix of them."""

import numpy as np
import pytest
from scipy import sparse

from learnt.svm import LinearSVC, _sparse_coefficients


def table(n=400, d=900, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(sparse.random_array((n, d), density=0.05, rng=rng))
    return X, (X @ rng.normal(size=d) + 0.05 * rng.normal(size=n) > 0).astype(int)


def optimality(model, X, y, C):
    """How far the slopes are from what the penalty allows, the intercept's among them."""
    A = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), np.ones((len(y), 1))]))
    w, sign = np.append(model.coef_[0], model.intercept_[0]), np.where(y == 1, 1.0, -1.0)
    pull = A.T @ (2 * C * sign * np.maximum(0.0, 1.0 - sign * (A @ w)))
    return max(np.abs(pull - np.sign(w))[w != 0].max(), np.abs(pull).max() - 1.0)


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("wrap", [sparse.csr_matrix, sparse.csr_matrix.toarray])
def test_the_same_minimum_as_by_a_matrix(C, wrap, monkeypatch):
    X, y = table()
    X = wrap(X)
    settings = {"penalty": "l1", "C": C, "tol": 1e-5}
    by_matrix = LinearSVC(**settings).fit(X, y)
    monkeypatch.setattr(_sparse_coefficients, "COLUMNS", 10)
    by_entries = LinearSVC(**settings).fit(X, y)
    assert np.count_nonzero(by_entries.coef_) > 10
    assert by_entries.n_iter_ < 40
    np.testing.assert_allclose(by_entries.coef_, by_matrix.coef_, atol=1e-3 * np.abs(by_matrix.coef_).max())
    assert optimality(by_entries, X, y, C) < 1e-2


def test_columns_that_are_nearly_the_same(monkeypatch):
    monkeypatch.setattr(_sparse_coefficients, "COLUMNS", 5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    X[:, 10:] = X[:, :10] + 1e-3 * rng.normal(size=(300, 10))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    model = LinearSVC(penalty="l1", C=1.0).fit(X, y)
    assert model.n_iter_ < 40
    assert optimality(model, X, y, 1.0) < 1e-2


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_dense_columns_that_are_nearly_the_same(apart, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    X[:, 10:] = X[:, :10] + apart * rng.normal(size=(600, 10))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    model = LinearSVC(penalty="l1", dual=False, C=C).fit(X, y)
    assert model.dual_gap_ <= 1e-6
    assert model.n_iter_ < 20


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_a_dense_table_with_fewer_rows_than_columns(C):
    X, y = table(100, 400)
    dense = LinearSVC(penalty="l1", dual=False, C=C).fit(X.toarray(), y)
    thin = LinearSVC(penalty="l1", dual=False, C=C).fit(X, y)
    assert optimality(dense, X, y, C) < 1e-3
    assert np.abs(dense.coef_).sum() == pytest.approx(np.abs(thin.coef_).sum(), rel=1e-3)
