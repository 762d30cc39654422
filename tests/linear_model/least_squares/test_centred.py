"""Fewer rows than columns: centred without a copy, whatever the means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from learnt.engine.rows import as_rows
from learnt.linear_model import LinearRegression, Ridge, RidgeCV
from learnt.linear_model.least_squares._centred import CentredRows

N, D = 160, 300
rng = np.random.default_rng(0)
X = rng.normal(size=(N, D)) * np.exp(rng.normal(size=D)) + rng.normal(size=D)
Y = X @ rng.normal(size=(D, 2)) + rng.normal(size=(N, 2))
WEIGHTS = rng.uniform(0.0, 3.0, size=N)

far = pytest.mark.parametrize("far", [0.0, 1e6], ids=["near", "far"])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def centred(X, Y, w):
    """Z, T and the means, with a copy."""
    w = np.ones(len(X)) if w is None else w
    x_mean, y_mean = w @ X / w.sum(), w @ Y / w.sum()
    root = np.sqrt(w)[:, None]
    return root * (X - x_mean), root * (Y - y_mean), x_mean, y_mean


@far
@weighted
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_a_centred_copy(far, weighted, dtype):
    w = WEIGHTS if weighted else None
    table = (X + far).astype(dtype)
    Z, T, x_mean, y_mean = centred(table.astype(np.float64), Y, w)
    operator = CentredRows(as_rows(table, Y, w), True)
    assert_allclose(operator.inner_products(), Z @ Z.T, rtol=1e-9, atol=1e-10 * np.trace(Z @ Z.T))
    u, v = rng.normal(size=(N, 2)), rng.normal(size=(D, 2))
    assert_allclose(operator.transposed_times(u), Z.T @ u, rtol=1e-8, atol=1e-6)
    assert_allclose(operator.times(v), Z @ v, rtol=1e-8, atol=1e-6)
    assert_allclose(operator.target, T, rtol=1e-12)
    assert_allclose(operator.x_mean, x_mean, rtol=1e-12)
    assert_allclose(operator.y_mean, y_mean, rtol=1e-12)


def test_without_an_intercept_nothing_is_subtracted():
    operator = CentredRows(as_rows(X + 5.0, Y, None), False)
    Z = X + 5.0
    assert_allclose(operator.inner_products(), Z @ Z.T, rtol=1e-12)
    assert operator.fill(operator.inner_products()) == 0.0
    u = rng.normal(size=(N, 1))
    assert_allclose(operator.transposed_times(u), Z.T @ u, rtol=1e-10)
    assert_allclose(operator.times(Z.T @ u), Z @ (Z.T @ u), rtol=1e-10)


def test_filling_makes_the_inner_products_regular_and_changes_no_answer():
    Z, T, *_ = centred(X, Y, WEIGHTS)
    operator = CentredRows(as_rows(X, Y, WEIGHTS), True)
    K = operator.inner_products()
    assert abs(np.linalg.eigvalsh(K)[0]) < 1e-10 * np.trace(K)
    operator.fill(K)
    values = np.linalg.eigvalsh(K)
    assert values[0] > 1e-4 * values[-1] / N
    dual = np.linalg.solve(K, T)
    assert_allclose(operator.transposed_times(dual), np.linalg.lstsq(Z, T)[0], rtol=1e-6, atol=1e-9)


@far
@weighted
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
def test_ridge_has_the_answer_of_the_augmented_system(alpha, weighted, far):
    w = WEIGHTS if weighted else None
    Z, T, *_ = centred(X, Y, w)
    system = np.vstack([Z, np.sqrt(alpha) * np.eye(D)])
    expected = np.linalg.lstsq(system, np.vstack([T, np.zeros((D, 2))]))[0]
    model = Ridge(alpha=alpha).fit(X + far, Y, w)
    assert model.solver_ == "dual"
    assert_allclose(model.coef_.T, expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())
    assert_allclose(model.predict(X + far), Ridge(alpha=alpha).fit(X, Y, w).predict(X), rtol=1e-6, atol=1e-6)


def test_ridge_of_rows_all_but_the_same():
    table = np.vstack([X[:80], X[:80] + 1e-7 * X[80:]])
    Z, T, *_ = centred(table, Y, None)
    system = np.vstack([Z, 0.1 * np.eye(D)])
    expected = np.linalg.lstsq(system, np.vstack([T, np.zeros((D, 2))]))[0]
    assert_allclose(Ridge(alpha=1e-2).fit(table, Y).coef_.T, expected, rtol=1e-5, atol=1e-7)


@far
def test_least_squares_goes_through_every_point(far):
    model = LinearRegression().fit(X + far, Y)
    assert_allclose(model.predict(X + far), Y, rtol=1e-7, atol=1e-7)


@far
@weighted
def test_left_out_residuals_are_those_of_n_fits(far, weighted):
    w = WEIGHTS + 0.1 if weighted else None
    table, y = X[:40, :60] + far, Y[:40, 0]
    w = None if w is None else w[:40]
    model = RidgeCV(alphas=[1.0, 10.0], store_cv_results=True).fit(table, y, w)
    for a, alpha in enumerate([1.0, 10.0]):
        for i in (0, 7, 39):
            rest = np.arange(40) != i
            left_out = Ridge(alpha=alpha).fit(table[rest], y[rest], None if w is None else w[rest])
            error = (y[i] - left_out.predict(table[i : i + 1])[0]) ** 2 * (1.0 if w is None else w[i])
            assert_allclose(model.cv_results_[i, a], error, rtol=1e-5)
