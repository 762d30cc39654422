"""LogisticRegression over fewer rows than columns: Newton's method in the multipliers of the rows."""

import numpy as np
import pytest

from learnt.engine.threads import set_threads
from learnt.linear_model import LogisticRegression
from learnt.linear_model.least_squares._centred import CentredTable
from learnt.linear_model.logistic import _row_multipliers
from learnt.linear_model.logistic._row_multipliers import RowProblem, descend


def table(n=150, d=800, kind="plain", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "few factors":
        X = 3 * rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)) + 0.1 * X
    if kind == "far":
        X += 1000.0
    if kind == "units":
        X *= np.exp(4 * rng.normal(size=d))
    scores = X[:, :5].sum(axis=1)
    return X, (scores + scores.std() * rng.normal(size=n) > np.median(scores)).astype(int)


def pose(intercept=True, kind="plain", alpha=2.0):
    X, y = table(kind=kind)
    w = np.random.default_rng(1).integers(0, 3, y.size).astype(float)
    Z = CentredTable(X, X.mean(axis=0) * intercept, None)
    return RowProblem(Z, y.astype(float), w, alpha, intercept), X


@pytest.mark.parametrize("kind", ["plain", "few factors"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_step_is_newtons(kind, intercept, monkeypatch):
    """In the coefficients themselves: H (Zᵀδ/α, γ) = −g."""
    monkeypatch.setattr(_row_multipliers, "_SHARE", 1e-4)
    problem, X = pose(intercept, kind)
    rng = np.random.default_rng(2)
    t = 1e-3 * rng.normal(size=X.shape[0])
    t -= t.mean() * intercept
    here = problem.read(problem.look(t, 0.1 * intercept, np.zeros_like(t), 0.0))
    step = problem.step(here, 1e-12)
    A = np.c_[X - problem.Z.mean, np.full(len(X), float(intercept))]
    penalty = np.append(np.full(X.shape[1], 2.0), 0.0)
    theta = np.append((X - problem.Z.mean).T @ t / 2.0, 0.1 * intercept)
    H = A.T @ (A * here.curve[:, None]) + np.diag(penalty)
    H[-1, -1] += not intercept
    g = A.T @ here.r + penalty * theta
    expected = -np.linalg.solve(H, g)
    found = np.append((X - problem.Z.mean).T @ step.t / 2.0, step.c * intercept)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert step.left == pytest.approx(-g @ expected, rel=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["plain", "few factors", "far", "units"])
def test_the_gradient_is_zero_at_the_end(kind, C, intercept):
    X, y = table(kind=kind)
    w = np.random.default_rng(1).integers(0, 3, y.size)
    model = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y, w)
    p = model.predict_proba(X)[:, 1]
    gradient = X.T @ (w * (p - y)) + model.coef_[0] / C
    curve = (w * p * (1 - p)) @ X**2 + 1 / C
    assert model.converged_
    scores = model.decision_function(X)
    value = np.sum(w * (np.logaddexp(0, scores) - y * scores)) + np.sum(model.coef_**2) / (2 * C)
    assert np.sum(gradient**2 / curve) <= 1e-9 * value
    if intercept:
        assert abs(np.sum(w * (p - y))) <= 1e-5 * np.sqrt(value)


def test_single_precision_gives_up_where_it_is_too_coarse():
    problem, _ = pose(kind="units", alpha=1e-3)
    assert not problem.usable
    problem, _ = pose(kind="few factors", alpha=1.0)
    problem.G += np.float32(0.3) * np.abs(problem.G)  # products that are wrong lead nowhere, and it is noticed
    assert descend(problem, tol=1e-12, enough=0.0, max_iter=100, watch=None) is None


def test_few_steps_and_a_callback_that_stops():
    problem, _ = pose()
    early = descend(problem, tol=1e-12, enough=0.0, max_iter=2, watch=None)
    assert (early.status, early.n_iter) == ("iterations", 2)
    seen = []
    stopped = descend(
        problem,
        tol=1e-12,
        enough=0.0,
        max_iter=50,
        watch=lambda theta, value, n: seen.append((theta(), value)) or n == 3,
    )
    assert (stopped.status, stopped.n_iter) == ("stopped", 3)
    assert np.diff([value for _, value in seen]).max() < 0
    assert seen[0][0].shape == (1, 801)


def test_threads_do_not_matter():
    X, y = table()
    found = []
    for n in (1, 3):
        set_threads(n)
        found.append(LogisticRegression().fit(X, y).coef_)
    set_threads(None)
    np.testing.assert_array_equal(*found)
