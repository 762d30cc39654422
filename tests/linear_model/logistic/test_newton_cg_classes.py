"""LogisticRegression of many classes: Newton's method by conjugate gradients in principal axes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Reference

from learnt.engine.threads import set_threads
from learnt.linear_model import LogisticRegression
from learnt.linear_model.logistic import _newton_cg_classes_kernels as kernels
from learnt.linear_model.logistic import _strategy
from learnt.linear_model.logistic._newton_cg_classes import Classes, principal_axes

TOL = 1e-12  # of the objective, relative: tol³ at the default tol


def table(n, d, K, seed=0, clusters=False):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    return X + (3.0 if clusters else 0.3) * rng.normal(size=(K, d))[y], y


def objective_and_gradient(theta, X, y, C, w=1.0):
    scores = X @ theta[:, :-1].T + theta[:, -1]
    scores -= scores.max(axis=1, keepdims=True)
    own = np.arange(theta.shape[0]) == y[:, None]
    totals = np.exp(scores).sum(axis=1)
    value = np.sum(w * (np.log(totals) - scores[own])) + np.sum(theta[:, :-1] ** 2) / (2 * C)
    residuals = (np.exp(scores) / totals[:, None] - own) * np.reshape(w, (-1, 1))
    return value, np.c_[residuals.T @ X + theta[:, :-1] / C, residuals.sum(axis=0)]


def posed(n, d, K, alpha, intercept, seed=0):
    X, y = table(n, d, K, seed)
    w = np.random.default_rng(1).uniform(0.5, 2.0, n)
    axes = principal_axes(X, w, alpha, w.sum() * (K - 1) / K**2, intercept)
    return Classes(X, y, w, axes, K=K, fit_intercept=intercept, n_jobs=None), X, y, w


@pytest.mark.parametrize(("n", "d"), [(80, 6), (12, 30)])
@pytest.mark.parametrize("intercept", [True, False])
def test_values_gradients_and_products_are_those_of_the_objective(n, d, intercept):
    alpha, K = 0.7, 9
    made, X, y, w = posed(n, d, K, alpha, intercept)
    rng = np.random.default_rng(2)
    step = rng.normal(size=K * (min(n, d) + 1)) * 0.3
    step = made.variables(made.coefficients(step))  # without intercepts where there are none
    u = made.variables(made.coefficients(rng.normal(size=step.size) * 0.3))
    here, theta, along = made.look(u), made.coefficients(u), made.coefficients(step)
    if not intercept:
        assert not theta[:, -1].any()
    value, gradient = objective_and_gradient(theta, X, y, 1 / alpha, w)
    assert here.value == pytest.approx(value)
    assert here.gradient @ step == pytest.approx(np.vdot(gradient, along), abs=1e-9)
    h = 1e-5
    ends = [np.vdot(objective_and_gradient(theta + s * along, X, y, 1 / alpha, w)[1], along) for s in (h, -h)]
    product = made.product(here, step.reshape(K, -1)).ravel()
    # single precision, and a difference of slopes
    assert product @ step == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4)
    if intercept:
        shared = made.nearly(here).solve(np.ones((K, step.size // K)))
        np.testing.assert_allclose(shared.mean(axis=0), 0.0, atol=1e-12 * np.abs(shared).max() + 1e-15)


def test_rows_that_are_nearly_certain_keep_their_digits():
    small = np.array([1e-3, 1e-9, 1e-20])
    p = np.array([[1 - 3 * s, s, 2 * s] for s in small])
    residuals = p.copy()
    residuals[:, 0] = -3 * small
    codes, w = np.zeros(3, np.int64), np.array([1.0, 2.0, 3.0])
    out, curve = np.empty((3, 3), np.float32), np.empty((3, 3), np.float32)
    kernels.chances(residuals * w[:, None], codes, w, out)
    np.testing.assert_allclose(out, p, rtol=1e-6)
    kernels.curve(out, codes, w, curve)
    others = np.c_[3 * small, 1 - small, 1 - 2 * small]
    np.testing.assert_allclose(curve, w[:, None] * p * others, rtol=1e-6)
    T = np.tile(np.array([5.0, 6.0, 3.0], np.float32), (3, 1))
    kernels.curved(out, codes, w, T)
    mean = small * 1.0 + 2 * small * -2.0  # of the differences 0, 1 and −2
    expected = w[:, None] * p * (np.array([0.0, 1.0, -2.0]) - mean[:, None])
    np.testing.assert_allclose(T, expected, rtol=1e-5)


def test_single_precision_is_the_softmax_of_double():
    rng = np.random.default_rng(5)
    S, codes, w = rng.normal(size=(50, 11)) * 8, rng.integers(0, 11, 50), rng.uniform(0.5, 2.0, 50)
    S[np.arange(25), codes[:25]] = S[:25].max(axis=1) + 12.0  # rows that are nearly certain
    single, chances = S.astype(np.float32), np.empty((50, 11), np.float32)
    shifted = single.astype(np.float64) - single.max(axis=1, keepdims=True)
    loss = kernels.softmax_single(single, single.max(axis=1), codes, w, chances)
    totals = np.exp(shifted).sum(axis=1)
    p = np.exp(shifted) / totals[:, None]
    own = np.arange(11) == codes[:, None]
    others = np.where(own, 0.0, p).sum(axis=1)
    # scores of up to 40 and twelve roundings; 1 − p of the own class is the sum of the others
    far = {"rtol": 40 * np.finfo(np.float32).eps, "atol": 1e-37}
    np.testing.assert_allclose(chances, p, **far)
    np.testing.assert_allclose(single, w[:, None] * np.where(own, -others[:, None], p), **far)
    certain = np.log1p(np.where(own, 0.0, np.exp(shifted)).sum(axis=1))
    assert loss == pytest.approx(w @ np.where(shifted[own] == 0, certain, np.log(totals) - shifted[own]), rel=1e-5)


def test_separable_classes_are_not_overshot():
    """Newton's first step makes every row certain, from where single steps lead back a little: 26 of them here."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 10)
    X = rng.uniform(-10.0, 10.0, (100, 60))[y] + rng.normal(size=(1000, 60))
    model = LogisticRegression().fit(X, y)
    assert model.converged_
    assert model.n_iter_[0] <= 14
    value, gradient = objective_and_gradient(np.c_[model.coef_, model.intercept_], X, y, 1.0)
    steepest = 0.5 * (np.sum(X**2) + y.size) + 1.0
    assert np.sum(gradient**2) <= 4 * TOL * value * steepest


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize(("n", "d", "K", "clusters"), [(900, 30, 40, False), (900, 30, 40, True), (90, 300, 40, True)])
@pytest.mark.parametrize(("C", "intercept"), [(1.0, True), (1.0, False), (1e4, True)])
@pytest.mark.sweep
def test_the_minimum_is_no_higher_than_scikit_learns_and_flat(n, d, K, clusters, C, intercept):
    X, y = table(n, d, K, clusters=clusters)
    ours = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y)
    theirs = Reference(C=C, fit_intercept=intercept, max_iter=15).fit(X, y) if C == 1 and intercept else None
    assert ours.converged_
    value, gradient = objective_and_gradient(np.c_[ours.coef_, ours.intercept_], X, y, C)
    if not intercept:
        assert not ours.intercept_.any()
        gradient = gradient[:, :-1]
    # At the end gᵀH⁻¹g ≤ 2 tol f, as conjugate gradients see it, and H is at most Σ‖(x, 1)‖²/2 + 1/C.
    steepest = 0.5 * (np.sum(X**2) + n) + 1 / C
    assert np.sum(gradient**2) <= 2 * TOL * value * steepest * 2
    assert np.abs(gradient.sum(axis=0)).max() <= 1e-9 * np.sqrt(steepest * value)
    if theirs is not None:
        reached = objective_and_gradient(np.c_[theirs.coef_, theirs.intercept_], X, y, C)[0]
        assert value <= reached * (1 + 2 * TOL)


def test_weights_of_rows_and_classes_and_a_start():
    X, y = table(800, 20, 30)
    rng = np.random.default_rng(3)
    repeats = rng.integers(1, 4, y.size)
    weighted = LogisticRegression().fit(X, y, repeats)
    repeated = LogisticRegression().fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    scale = np.abs(repeated.coef_).max()
    # f − min ≤ tol f and f is 1-strongly convex in coef: ‖difference‖ ≤ 2 √(2 tol f), f below n log K
    far = 2 * np.sqrt(2 * TOL * repeats.sum() * np.log(30))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=far)
    double = LogisticRegression(class_weight=dict.fromkeys(range(30), 2.0), C=0.5).fit(X, y)
    np.testing.assert_allclose(double.coef_, LogisticRegression().fit(X, y).coef_, atol=2 * far)
    again = LogisticRegression(warm_start=True).fit(X, y, repeats)
    again.fit(X, y, repeats)
    assert again.n_iter_[0] <= 1
    np.testing.assert_allclose(again.coef_, weighted.coef_, atol=far)
    assert far < 1e-3 * scale


def test_threads_do_not_matter():
    X, y = table(3000, 12, 100)
    found = []
    for threads in (1, 2, 3):
        set_threads(threads)
        found.append(LogisticRegression().fit(X, y))
    set_threads(None)
    for other in found[1:]:
        np.testing.assert_array_equal(other.coef_, found[0].coef_)
        np.testing.assert_array_equal(other.intercept_, found[0].intercept_)


def test_columns_in_any_unit():
    X, y = table(900, 20, 30)
    unit = 10.0 ** np.random.default_rng(4).integers(-6, 7, 20)
    model = LogisticRegression(C=1e6).fit(X * unit, y)
    assert model.converged_
    value, _ = objective_and_gradient(np.c_[model.coef_, model.intercept_], X * unit, y, 1e6)
    start = np.c_[np.zeros((30, 20)), np.log(np.bincount(y))]
    assert value < objective_and_gradient(start, X * unit, y, 1e6)[0]


def test_steps_that_are_not_enough_are_counted(monkeypatch):
    taken = []
    chosen = _strategy.newton_cg_classes
    monkeypatch.setattr(_strategy, "newton_cg_classes", lambda task: taken.append(1) or chosen(task))
    X, y = table(900, 30, 40)
    with pytest.warns(UserWarning, match=r"stopped after 3 steps .* raise max_iter above 3"):
        model = LogisticRegression(max_iter=3).fit(X, y)
    assert taken
    assert model.n_iter_[0] == 3
    assert not model.converged_
