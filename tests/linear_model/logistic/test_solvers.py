"""The mathematics beside LogisticRegression: sums over rows, their derivatives, and the minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.erm.solvers.curved import Memory, minimize, when_it_pays, when_left
from learnt.linear_model import LogisticRegression
from learnt.linear_model.logistic import _kernels as kernels
from learnt.linear_model.logistic._curvature import Blocks, Cholesky, Diagonal, cholesky
from learnt.linear_model.logistic._loss import Target, class_totals, hessian, hessian_blocks, loss_gradient, mistakes
from learnt.linear_model.logistic._problem import Problem
from learnt.linear_model.logistic._row_space import RowSpace, centred_gram
from learnt.linear_model.logistic._start import sample, units


def problem(n=40, d=3, K=3, *, intercept=True, units=False, wrap=np.asarray, compiled=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 3 + 1
    y = rng.integers(0, K, n)
    target = Target(K, rng.uniform(0.5, 2, K), True, None, compiled)
    penalty = np.append(np.full(d, 0.7), 0.0 if intercept else np.inf)
    shift, scale = (X.mean(axis=0) * intercept, X.std(axis=0)) if units else (None, None)
    w = rng.random(n)
    return Problem(as_rows(wrap(X), y.astype(float) if K == 2 else y, w), target, penalty, shift, scale)


def numerical(function, u, step=1e-6):
    return np.array([(function(u + step * e) - function(u - step * e)) / (2 * step) for e in np.eye(u.size)])


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("in_units", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_gradient_and_hessian_are_the_derivatives(K, wrap, in_units, compiled):
    p = problem(K=K, wrap=wrap, units=in_units, compiled=compiled)
    u = np.random.default_rng(1).standard_normal(p.shape[0] * p.shape[1]) * 0.3
    _, g = p.evaluate(u)
    np.testing.assert_allclose(g, numerical(lambda v: p.evaluate(v)[0], u), rtol=1e-5, atol=1e-6)
    H = p.hessian(u)
    expected = numerical(lambda v: p.evaluate(v)[1], u)
    if K > 2:  # what is added to the direction that only the penalty sees
        D = p.shape[1]
        own = H - expected
        blocks = own.reshape(K, D, K, D)
        np.testing.assert_allclose(blocks, np.broadcast_to(blocks[:1, :, :1, :], blocks.shape), atol=1e-5)
        centred = np.eye(K * D) - np.kron(np.full((K, K), 1 / K), np.eye(D))
        H, expected = centred @ H @ centred, centred @ expected @ centred
    np.testing.assert_allclose(H, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_sums_equal_the_plain_ones(K, dtype):
    rng = np.random.default_rng(0)
    n, d = 1003, 7
    X = np.where(rng.random((n, d)) < 0.5, 0, rng.standard_normal((n, d))).astype(dtype)
    y = rng.integers(0, K, n)
    y = y.astype(float) if K == 2 else y
    theta = rng.standard_normal((1 if K == 2 else K, d + 1))
    for w in (None, rng.random(n)):
        plain = Target(K, rng.uniform(0.5, 2, K))
        quick = plain._replace(compiled=True)
        loss, gradient = loss_gradient(Block(X, y, w), theta, plain)
        (H,) = hessian(Block(X, y, w), theta, plain)
        for data in (X, np.asfortranarray(X), sparse.csr_matrix(X)):
            found, slope = loss_gradient(Block(data, y, w), theta, quick)
            np.testing.assert_allclose(found, loss, rtol=1e-12)
            np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(hessian(Block(X, y, w), theta, quick)[0], H, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-800, 800)))
def test_the_link_is_exact_for_any_score(scores):
    y = (np.arange(scores.size) % 2).astype(float)
    r = np.ones(scores.size)
    loss = kernels.log_link(scores, y, r, scores.size)
    assert loss == pytest.approx(np.sum(np.logaddexp(0.0, scores) - y * scores), rel=1e-13, abs=1e-13)
    # 1/(1 + e⁻ˢ) − 1 would cancel for large scores: −1/(1 + eˢ) does not
    with np.errstate(over="ignore"):
        expected = np.where(y == 0, 1 / (1 + np.exp(-scores)), -1 / (1 + np.exp(scores)))
    np.testing.assert_allclose(r, expected, atol=1e-15, rtol=0)


def test_blocks_are_those_of_the_hessian():
    p = problem(K=3)
    theta = np.random.default_rng(0).standard_normal(p.shape)
    block = Block(p.rows.X, p.rows.y, p.rows.w)
    (H,) = hessian(block, theta, p.target)
    (parts,) = hessian_blocks(block, theta, p.target)
    for k in range(3):
        np.testing.assert_allclose(parts[k], H[k * 4 : k * 4 + 4, k * 4 : k * 4 + 4], atol=1e-12)
    (start,) = hessian_blocks(block, np.zeros(p.shape), p.target)
    assert start.shape == (1, 4, 4)


def test_totals_and_mistakes():
    X = np.array([[1.0], [-1.0], [2.0], [-3.0]])
    block = Block(X, np.array([1.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0, 0.0]))
    target = Target(2, np.ones(2))
    counts, weights = class_totals(block, target)
    assert counts.tolist() == [2, 1]
    assert weights.tolist() == [5, 1]
    assert mistakes(block, np.array([[1.0, 0.0]]), target) == (1,)  # the row of weight 0 is not there
    scores = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    assert mistakes(Block(X, np.array([0, 2, 0, 1])), scores, Target(3, np.ones(3))) == (1,)


def test_variables_and_coefficients_are_inverse():
    p = problem(K=2, units=True)
    theta = np.random.default_rng(0).standard_normal(p.shape)
    np.testing.assert_allclose(p.coefficients(p.variables(theta)), theta)
    p = problem(K=3, units=True)
    centred = p.coefficients(p.variables(np.random.default_rng(0).standard_normal(p.shape)))
    np.testing.assert_allclose(centred.sum(axis=0), 0.0, atol=1e-12)


def quadratic(condition=1e6, d=8, seed=0):
    """A parabola made from its answer: curvature with the given condition, and minimum 1 at `best`."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    H = Q * np.logspace(0, np.log10(condition), d) @ Q.T
    best = rng.standard_normal(d)
    return (lambda u: (1.0 + (u - best) @ H @ (u - best) / 2, H @ (u - best))), H, best


def test_newton_needs_one_step_for_a_parabola():
    evaluate, H, best = quadratic()
    outcome = minimize(evaluate, np.zeros(8), lambda u: Cholesky(H), tol=1e-20, max_iter=10)
    assert outcome.status == "converged"
    assert outcome.n_iter <= 2
    np.testing.assert_allclose(outcome.theta, best, atol=1e-7)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
def test_lbfgs_descends_and_ends_at_the_minimum(condition):
    evaluate, _, best = quadratic(condition)
    values = []
    outcome = minimize(
        evaluate,
        np.zeros(8),
        lambda u: Diagonal(np.ones(8)),
        tol=1e-20,
        max_iter=500,
        memory=10,
        renew=when_left(np.inf),
        watch=lambda point, n: values.append(point.value),
    )
    assert outcome.status == "converged"
    assert (np.diff(values) <= 1e-12).all()
    np.testing.assert_allclose(outcome.theta, best, atol=1e-5)


def test_the_distance_is_known_before_the_step():
    evaluate, H, _ = quadratic()
    outcome = minimize(evaluate, np.zeros(8), lambda u: Cholesky(H), tol=1e-20, max_iter=0)
    assert outcome.status == "iterations"
    assert outcome.gap == pytest.approx(outcome.value - 1.0, rel=1e-6)


def test_convergence_is_confirmed_with_a_fresh_curvature():
    """Told that a flat direction is steep, the search would end at once; asked to confirm, it goes on."""
    evaluate, H, _ = quadratic(1.0)
    steep = Cholesky(1e14 * np.eye(8))
    args = {"tol": 1e-8, "max_iter": 100, "memory": 0, "renew": when_left(np.inf)}
    first = iter([Cholesky(30 * np.eye(8)), *[steep] * 100])
    hasty = minimize(evaluate, np.zeros(8), lambda u: next(first), **args)
    careful = minimize(
        evaluate, np.zeros(8), lambda u: Cholesky(30 * np.eye(8)), confirm_at=lambda u, n: Cholesky(H), **args
    )
    assert careful.value <= hasty.value
    assert careful.value == pytest.approx(1.0, abs=1e-8)


def test_a_known_divergent_start_of_newton_is_recovered():
    """log cosh overshoots from |u| > 1.09 under plain Newton, further with every step."""
    evaluate = lambda u: (float(np.sum(np.log(np.cosh(u)))) + 1.0, np.tanh(u))  # noqa: E731
    outcome = minimize(
        evaluate, np.array([3.0]), lambda u: Cholesky(np.diag(1 / np.cosh(u) ** 2)), tol=1e-16, max_iter=50
    )
    assert outcome.status == "converged"
    np.testing.assert_allclose(outcome.theta, 0.0, atol=1e-6)


def test_watch_can_stop():
    evaluate, _, _ = quadratic()
    ones = Diagonal(np.ones(8))
    settings = {"tol": 1e-18, "max_iter": 9, "renew": when_left(np.inf)}
    outcome = minimize(evaluate, np.zeros(8), lambda u: ones, watch=lambda point, n_iter: n_iter == 3, **settings)
    assert (outcome.status, outcome.n_iter) == ("stopped", 3)


def test_a_new_curvature_is_computed_when_it_pays():
    """At a pace of one half a step, a distance of 2⁻¹⁰⁰ is a hundred steps away."""
    left = [0.5**k for k in range(12)]
    assert when_it_pays(80)(left, 0.5**100)
    assert not when_it_pays(95)(left, 0.5**100)
    assert when_it_pays(95)([1.0] * 12, 0.5**100)
    assert not when_it_pays(0)(left[:5], 0.5**100)


def test_memory_reproduces_what_it_saw():
    rng = np.random.default_rng(0)
    _, H, _ = quadratic(10.0)
    memory, one = Memory(10), Diagonal(np.ones(8))
    for _ in range(4):
        s = rng.standard_normal(8)
        memory.add(s, H @ s, one)
    np.testing.assert_allclose(memory.solve(H @ s, one), s, rtol=1e-8)  # the secant condition


def test_cholesky_of_a_singular_matrix():
    H = np.ones((3, 3))
    L = cholesky(H)
    np.testing.assert_allclose(L @ L.T, H, atol=1e-18)
    with pytest.raises(ValueError, match="rescale"):
        cholesky(np.full((2, 2), np.nan))


def test_blocks_solve_each_class_and_centre():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 4, 4))
    parts = A @ A.transpose(0, 2, 1) + np.eye(4)
    g = rng.standard_normal((3, 4))
    steps = np.stack([np.linalg.solve(H, v) for H, v in zip(parts, g, strict=True)])
    np.testing.assert_allclose(Blocks(parts, 3).solve(g.ravel()), (steps - steps.mean(axis=0)).ravel(), rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_row_space_is_the_same_newton_step(intercept):
    n, d = 12, 30
    rng = np.random.default_rng(0)
    X, y, alpha = rng.standard_normal((n, d)) + 2, rng.integers(0, 2, n).astype(float), 0.3
    penalty = np.append(np.full(d, alpha), 0.0 if intercept else np.inf)
    mean = X.mean(axis=0) if intercept else np.zeros(d)
    p = Problem(as_rows(X, y), Target(2, np.ones(2), False), penalty, mean, np.full(d, np.sqrt(alpha)))
    space = RowSpace(p, alpha)
    u = rng.standard_normal(d + 1) * 0.2
    u[-1] *= intercept
    _, g = p.evaluate(u)
    np.testing.assert_allclose(space.curvature(u).solve(g), np.linalg.solve(p.hessian(u), g), rtol=1e-6, atol=1e-18)
    v = space.reduce(u)
    assert space.reduced.evaluate(v)[0] <= p.evaluate(u)[0] + 1e-9  # the same scores, and no longer than it must be
    assert space.reduced.evaluate(v)[0] == pytest.approx(p.evaluate(space.expand(v))[0], rel=1e-8)


def test_centred_gram():
    X = np.random.default_rng(0).standard_normal((300, 20)) + 5
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(centred_gram(X, X.mean(axis=0)), Z @ Z.T, atol=1e-18)


def test_units_and_support():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3)) * [1e-3, 1.0, 1e3] + [1e3, 0.0, 1.0]
    X = np.column_stack([X, np.zeros(5000), np.full(5000, 0.1)])
    X[7, 3] = 1.0
    w = rng.random(5000)
    found = units(as_rows(X, np.zeros(5000), w), Target(2, np.ones(2)), True)
    np.testing.assert_allclose(found.mean, np.average(X, axis=0, weights=w), rtol=1e-9)
    np.testing.assert_allclose(found.variance[:3], np.cov(X.T, aweights=w, ddof=0).diagonal()[:3], rtol=1e-6)
    assert found.variance[4] == 0.0
    assert found.support[1] > 1000
    assert found.support[3] < 2


def test_a_sample_represents_all_rows():
    rng = np.random.default_rng(0)
    n = 50_000
    y = (rng.random(n) < 0.002).astype(float)
    X = rng.standard_normal((n, 2))
    w = rng.random(n)
    counts = np.bincount(y.astype(int)).astype(float)
    rows, _ = sample(as_rows(X, y, w), Target(2, np.ones(2)), counts, 2000)
    assert 1500 < rows.n_rows < 2600
    assert (rows.y == 1).sum() > 50  # the rare class is there
    for k in (0, 1):
        assert rows.w[rows.y == k].sum() == pytest.approx(w[y == k].sum(), rel=0.25)


def test_second_derivatives_of_many_classes_and_columns_are_computed_seldom(monkeypatch):
    """Each costs tens of steps, and leaves out what ties the classes together."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.1, size=(1100, 620)).astype(float), rng.integers(0, 4, 1100)
    asked, curvature = [], Problem.curvature

    def counted(self, u):
        asked.append(True)
        return curvature(self, u)

    monkeypatch.setattr(Problem, "curvature", counted)
    model = LogisticRegression(C=100.0).fit(X, y)
    assert model.converged_
    assert 0 < len(asked) <= 10
