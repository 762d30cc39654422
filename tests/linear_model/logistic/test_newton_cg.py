"""LogisticRegression over sparse tables of thousands of columns: Newton's method by conjugate gradients."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Reference

from learnt.engine.rows import as_rows
from learnt.engine.threads import set_threads
from learnt.linear_model import LogisticRegression
from learnt.linear_model.logistic._loss import Target
from learnt.linear_model.logistic._newton_cg import Columns
from learnt.linear_model.logistic._strategy import newton_cg
from learnt.linear_model.logistic._strategy import solve as solve_task


def table(n=900, d=4100, density=0.01, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(sparse.random_array((n, d), density=density, rng=rng, dtype=dtype))
    X = sparse.csr_matrix(X.multiply(np.exp(rng.normal(size=d)).astype(dtype)))
    scores = X @ rng.normal(size=d)
    return X, (scores + 0.5 * scores.std() * rng.normal(size=n) > 0).astype(int)


def objective(model, X, y, C=1.0, w=1.0):
    z = X @ model.coef_[0] + model.intercept_[0]
    return np.sum(w * (np.logaddexp(0, z) - y * z)) + np.sum(model.coef_**2) / (2 * C)


def columns(intercept=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 7)) * (rng.random((60, 7)) < 0.4)
    y, w = rng.integers(0, 2, 60).astype(float), rng.random(60)
    w[3] = 0.0
    mean = w @ X / w.sum() * intercept
    made = Columns(as_rows(sparse.csr_matrix(X), y, w), Target(2, np.array([0.5, 2.0])), 0.7, mean, intercept)
    return made, X - mean, y, w * np.where(y == 1, 2.0, 0.5)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_look_is_the_objective_and_its_derivatives(intercept):
    made, Z, y, w = columns(intercept)
    theta = np.random.default_rng(1).normal(size=8)
    theta[-1] *= intercept
    A = np.c_[Z, np.full(60, float(intercept))]
    z = A @ theta
    p = 1 / (1 + np.exp(-z))
    penalty = np.append(np.full(7, 0.7), 0.0)
    H = A.T @ (A * (w * p * (1 - p))[:, None]) + np.diag(penalty)
    here = made.look(theta)
    assert here.value == pytest.approx(np.sum(w * (np.logaddexp(0, z) - y * z)) + penalty @ theta**2 / 2)
    np.testing.assert_allclose(here.gradient, A.T @ (w * (p - y)) + penalty * theta, atol=1e-12)
    np.testing.assert_allclose(np.concatenate(here.curve), w * p * (1 - p), atol=1e-14)
    assert (here.diagonal[:-1] > 0.3 * H.diagonal()[:-1]).all()
    assert (here.diagonal[:-1] < 3 * H.diagonal()[:-1]).all()
    step, left = made.equations(here, 1e-10, 0.0)
    H[-1, -1] += not intercept
    expected = -np.linalg.solve(H, here.gradient)
    np.testing.assert_allclose(step, expected, atol=1e-9)
    assert left == pytest.approx(-here.gradient @ expected)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_minimum_as_scikit_learn(C, intercept):
    X, y = table()
    quick = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y)
    slow = Reference(C=C, fit_intercept=intercept, solver="newton-cg", tol=1e-9, max_iter=1000).fit(X, y)
    assert quick.converged_
    assert quick.n_iter_[0] < 20
    assert objective(quick, X, y, C) <= objective(slow, X, y, C) * (1 + 1e-11)
    np.testing.assert_allclose(quick.coef_, slow.coef_, atol=3e-5 * np.abs(slow.coef_).max())
    assert bool(quick.intercept_[0]) == intercept


def test_weights_classes_and_precision():
    X, y = table()
    rng = np.random.default_rng(1)
    w = rng.integers(0, 3, y.size)
    weighted = LogisticRegression(class_weight={0: 1.0, 1: 2.0}).fit(X, y, w)
    rows = np.repeat(np.arange(y.size), w * np.where(y == 1, 2, 1))
    repeated = LogisticRegression().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    single = LogisticRegression().fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-4)


def test_columns_in_any_unit_and_constant_ones():
    """One column of ones, one a thousand times as large as the others, one that is nowhere: all the same minimum."""
    X, y = table()
    X = sparse.csr_matrix(sparse.hstack([X, np.ones((y.size, 1)), 1e4 * X[:, :1], np.zeros((y.size, 1))]))
    quick = LogisticRegression().fit(X, y)
    slow = Reference(solver="newton-cg", tol=1e-6, max_iter=1000).fit(X, y)
    assert quick.converged_
    assert objective(quick, X, y) <= objective(slow, X, y) * (1 + 1e-11)
    assert quick.coef_[0, -1] == 0.0
    assert abs(quick.coef_[0, -3]) < 1e-6  # the intercept does that for nothing


def test_threads_and_starts_do_not_matter():
    X, y = table()
    found = []
    for n in (1, 3):
        set_threads(n)
        found.append(LogisticRegression().fit(X, y))
    set_threads(None)
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    again = LogisticRegression(warm_start=True).fit(X, y)
    again.fit(X, y)
    assert again.n_iter_[0] <= 1
    np.testing.assert_allclose(again.coef_, found[0].coef_, atol=1e-6)


def test_a_column_that_cannot_be_squared_is_named():
    X, y = table()
    X.data[0] = 1e200
    with pytest.raises(ValueError, match=rf"Column {X.indices[0]} of X is too large"):
        LogisticRegression().fit(X, y)


def test_this_method_is_chosen(monkeypatch):
    X, y = table()
    taken = []
    monkeypatch.setitem(solve_task.__globals__, "newton_cg", lambda task: taken.append(True) or newton_cg(task))
    LogisticRegression().fit(X, y)
    assert taken
