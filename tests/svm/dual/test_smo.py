"""Sequential minimal optimisation alone, in both precisions."""

from __future__ import annotations

import numpy as np
import pytest

from learnt.svm.dual._smo import smo, workspace_for


def problem(n: int):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    return K, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cut", [0.4, 1.0])
@pytest.mark.parametrize("offset", [0.0, 0.75])
def test_no_pair_of_scores_is_further_apart_than_the_tolerance(dtype, cut, offset):
    """The optimality conditions, computed from α alone in double precision, hold to tol and what rounding adds.

    Each of `steps` moves, of at most 2C, rounds a score once, by half a unit at most and with either sign: the bound
    on their sum is more than ten standard deviations. Entries of K round as well, which n C of them bounds.
    """
    n, C, tol = 600, 3.0, 1e-3
    K, sign = problem(n)
    cut = int(cut * n)
    upper, alpha = np.full(n, C), np.zeros(n)
    score = (sign + offset).astype(dtype)
    stop = np.zeros(1, np.int64)
    if cut < n:  # sums of the groups stay as they are: something must be there to move
        alpha[:] = 0.5
        score = (sign - K @ (sign * alpha) + offset).astype(dtype)
    sums = [np.sum(sign[part] * alpha[part]) for part in (slice(0, cut), slice(cut, n))]
    steps, gap = smo(K.astype(dtype), sign, cut, upper, alpha, score, workspace_for(score), tol, 10**6, stop)
    assert 0 < steps < 10**6
    assert gap <= tol
    exact = sign - K @ (sign * alpha)
    rounding = np.finfo(dtype).eps * (np.abs(exact).max() + 2 * C) * np.sqrt(steps) * 4
    assert np.abs(score - offset - exact).max() <= rounding + n * C * np.finfo(dtype).eps
    for part, total in zip((slice(0, cut), slice(cut, n)), sums, strict=True):
        if part.start == part.stop:
            continue
        a, s, f = alpha[part], sign[part], exact[part]
        rise, fall = np.where(s > 0, a < C, a > 0), np.where(s > 0, a > 0, a < C)
        assert f[rise].max() - f[fall].min() <= tol + 2 * rounding
        np.testing.assert_allclose(np.sum(s * a), total, atol=1e-9)
    assert (alpha >= 0).all()
    assert (alpha <= C).all()


def test_a_step_takes_the_pair_that_lowers_the_objective_most():
    """The first variable is the highest score, the second gains within a fiftieth of the best."""
    n = 500
    K, sign = problem(n)
    rng = np.random.default_rng(5)
    for _ in range(20):
        wanted = rng.normal(size=n).astype(np.float32)
        alpha, stop = np.full(n, 1.0), np.zeros(1, np.int64)
        smo(
            K.astype(np.float32),
            sign,
            n,
            np.full(n, 1e6),
            alpha,
            wanted.copy(),
            workspace_for(wanted),
            1e-6,
            1,
            stop,
        )
        i, j = sorted(np.flatnonzero(alpha != 1.0), key=lambda t: -wanted[t])
        assert i == wanted.argmax()
        ahead = np.maximum(wanted[i] - wanted.astype(float), 0.0)
        gain = ahead**2 / np.maximum(2.0 - 2.0 * K[i], 1e-12)
        assert gain[j] >= 0.98 * gain.max()
