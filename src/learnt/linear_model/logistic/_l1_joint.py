"""A step of proximal Newton in the coefficients of all classes at once.

The curvature of the loss between classes k and l is  Σ ω pₖ(1[k = l] − pₗ) x xᵀ.  With it a few steps do what dozens of
rounds over single classes would.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.linalg.positive import keep_signs
from learnt.linalg.sparse_quadratic import weights_of_changes
from learnt.linear_model.coordinate._kernels import DEPTH, LONG, shrink, sweep

SWEEPS = 500
_MOST_SWEEPS, _PATIENCE = 2000, 30  # in a step, and how often linear equations may bring nothing
_PACE = 15  # how much faster their arithmetic is


def dense_step(
    Q: np.ndarray, B: np.ndarray, slopes: np.ndarray, sums: np.ndarray, l1: float, l2: float, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (m, K) and changes of the intercepts (K,) at the minimum of the penalised quadratic.

    Q (K, size, K, size) is its curvature; the constant is last in each class, if it is there, with slopes `sums`.
    """
    (m, K), size = B.shape, Q.shape[1]
    v, g, bounds, ridges = (np.zeros((K, size)) for _ in range(4))
    v[:, :m], g[:, :m], g[:, m:], bounds[:, :m], ridges[:, :m] = B.T, slopes.T, sums[:, None], l1, l2
    Q = np.ascontiguousarray(Q).reshape(K * size, K * size)
    v = settle(Q, v.ravel(), g.ravel(), bounds.ravel(), ridges.ravel(), share).reshape(K, size)
    return v[:, :m].T, v[:, m:].sum(axis=1)


def settle(Q: np.ndarray, v: np.ndarray, g: np.ndarray, l1: np.ndarray, l2: np.ndarray, share: float) -> np.ndarray:
    """v where  −g·δ + δᵀQδ/2 + Σ l1|v + δ| + Σ l2(v + δ)²/2  is near its minimum; g goes there too.

    Sweeps, after every few of which it is tried where they were heading; and when they have cost as much, linear
    equations for what is not 0: between columns that are much alike sweeps slide slowly.
    """
    goal, steps, waited = share * promised(v, g, np.diag(Q), l1, l2), np.empty((DEPTH, len(v))), 0
    least, idle = np.inf, 0

    def go(own: np.ndarray, change: np.ndarray, sure: bool) -> None:
        every = np.zeros_like(v)
        every[own] = change
        old, new, moved = v[own], v[own] + change, Q @ every
        gain = change @ (g[own] - 0.5 * moved[own])
        gain -= l1[own] @ (np.abs(new) - np.abs(old)) + 0.5 * l2[own] @ (change * (new + old))
        if sure or gain > 0.0:
            v[own] = new
            g[:] -= moved

    for n in range(_MOST_SWEEPS):
        before = v.copy()
        fell = sweep(Q, len(v), v, g, l1, l2, False)
        if fell <= goal or idle > _PATIENCE:
            break
        steps[n % DEPTH] = v - before
        if n % DEPTH < DEPTH - 1:
            continue
        own = np.flatnonzero(steps.any(axis=0))
        go(own, -np.cumsum(weights_of_changes(steps))[:-1] @ steps[1:, own], False)
        waited += DEPTH
        if waited >= max(2 * DEPTH, len(own) ** 2 // (_PACE * len(v))):
            own, waited = np.flatnonzero((v != 0.0) | (l1 == 0.0)), 0
            least, idle = (fell, 0) if fell < 0.9 * least else (least, idle + 1)
            H = Q[np.ix_(own, own)]
            H.flat[:: len(own) + 1] += l2[own]
            signed = np.where(l1[own] > 0.0, v[own], 0.0)
            go(own, keep_signs(H, g[own] - l1[own] * np.sign(v[own]) - l2[own] * v[own], signed), True)
    return v


def promised(v: np.ndarray, g: np.ndarray, curves: np.ndarray, l1: np.ndarray, l2: np.ndarray) -> float:
    """What a step in each coordinate alone would gain, to second order."""
    slope = g - l2 * v
    off = np.where(v != 0, np.abs(slope - l1 * np.sign(v)), np.maximum(np.abs(slope) - l1, 0.0))
    return float(np.sum(off**2 / np.maximum(curves + l2, 1e-300)))


@kernel
def joint_sweeps(csc, columns, curves, V, shift, intercept, R, P, w, penalty, limits, stop):
    """Coordinate descent over sparse columns: R = U − (curvature between classes) · (change of the scores).

    `limits`: it ends when a sweep lowers the objective by no more than the first, after as many sweeps as the second,
    and when stop[0] is set.
    """
    (data, indices, indptr), (l1, l2), (goal, most) = csc, penalty, limits
    n, K = P.shape
    totals = shift * 0.0
    for i in range(n):
        for k in range(K):
            totals[k] += w[i] * P[i, k] * (1.0 - P[i, k])
    for _ in range(most):
        fell = 0.0
        for c in range(columns.size):
            j = columns[c]
            for k in range(K):
                curve = curves[c, k]
                if curve + l2 <= 0.0:
                    continue
                slope = 0.0
                for e in range(indptr[j], indptr[j + 1]):
                    slope += data[e] * R[indices[e], k]
                change = shrink(slope + curve * V[c, k], l1, False) / (curve + l2) - V[c, k]
                if change != 0.0:
                    V[c, k] += change
                    fell += 0.5 * (curve + l2) * change * change
                    for e in range(indptr[j], indptr[j + 1]):
                        i = indices[e]
                        factor = change * data[e] * w[i] * P[i, k]
                        R[i, k] -= factor
                        for t in range(K):
                            R[i, t] += factor * P[i, t]
        if intercept:
            for k in range(K):
                slope = 0.0
                for i in range(n):
                    slope += R[i, k]
                if totals[k] <= 0.0:
                    continue
                change = slope / totals[k]
                shift[k] += change
                fell += 0.5 * totals[k] * change * change
                for i in range(n):
                    factor = change * w[i] * P[i, k]
                    R[i, k] -= factor
                    for t in range(K):
                        R[i, t] += factor * P[i, t]
        if fell <= goal or atomic_load(stop, 0) != 0:
            break


def sparse_step(
    parts: Any,
    columns: np.ndarray,
    curves: np.ndarray,
    B: np.ndarray,
    slopes: np.ndarray,
    U: np.ndarray,
    P: np.ndarray,
    w: np.ndarray,
    l1: float,
    l2: float,
    intercept: bool,
    share: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The same over sparse columns; `curves` has Σ ω p(1 − p) x² of every column and class."""
    V, shift = B.copy(), np.zeros(B.shape[1])
    goal = promised(V, slopes, curves, np.full(V.shape, l1), np.full(V.shape, l2))
    if intercept:
        goal += float((U.sum(axis=0) ** 2 / np.maximum((w[:, None] * P * (1 - P)).sum(axis=0), 1e-300)).sum())
    R, P = np.array(U, order="C"), np.ascontiguousarray(P)  # read row by row
    stop = np.zeros(1, np.int64)
    limits = (share * goal, SWEEPS)
    sweeps = partial(joint_sweeps, tuple(parts), columns, curves, V, shift, intercept, R, P, w, (l1, l2), limits, stop)
    stoppable(sweeps, stop, long=SWEEPS * parts[0].size * B.shape[1] ** 2 > LONG)
    return V, shift
