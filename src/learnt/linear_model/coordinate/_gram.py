"""A path of elastic nets with all inner products precomputed: every slope is known after every step.

So there is no working set and no pass over the data, and the gap over all columns is known after every sweep. Along the
path the coefficients are nearly linear in the penalty: the start of the next is extrapolated from the last two.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.linear_model.coordinate._kernels import DEPTH, LONG, Past, descend, duality_gap
from learnt.linear_model.coordinate._problem import Products

MOST = 1024  # columns: with more, a working set saves steps


@kernel
def residual_slopes(Q, q, w, g):
    """g ← q − Qw."""
    for i in range(q.size):
        g[i] = q[i]
    for k in range(q.size):
        if w[k] != 0.0:
            for i in range(q.size):
                g[i] -= w[k] * Q[k, i]


@kernel(reassociate=True)
def look_ahead(t, w, g, w_before, g_before, q, l1, l2, positive):
    """Extrapolate the last change by t, if F is lower there; the present point becomes the previous one."""
    gain = 0.0
    for k in range(q.size):
        x, s = w[k] + t * (w[k] - w_before[k]), g[k] + t * (g[k] - g_before[k])
        if positive and x < 0.0:
            gain = -math.inf
        gain += l1 * (abs(w[k]) - abs(x))
        gain += 0.5 * (l2 * (w[k] * w[k] - x * x) + x * (q[k] + s) - w[k] * (q[k] + g[k]))
    t = t if gain > 0.0 else 0.0
    for k in range(q.size):
        x, s = w[k], g[k]
        w[k] += t * (x - w_before[k])
        g[k] += t * (s - g_before[k])
        w_before[k] = x
        g_before[k] = s


@kernel
def descend_path(Q, q, square, path, positive, limits, started, w, rows, past, out, stop):
    """Every penalty down to a gap, or for a number of sweeps (`limits`), from the solution of the one before.

    Ends when stop[0] is set.
    """
    (penalties, ridges), (goal, most), (W, gaps, counts) = path, limits, out
    p, step, last = q.size, 0.0, 0.0
    g, g_before, w_before, l1s, l2s = rows[0], rows[1], rows[2], rows[3], rows[4]
    residual_slopes(Q, q, w, g)
    for a in range(penalties.size):
        l1, l2 = penalties[a], ridges[a]
        for k in range(p):
            l1s[k] = l1
            l2s[k] = l2
        if a > 0:
            last, step = step, l1 + l2 - penalties[a - 1] - ridges[a - 1]
            look_ahead(step / last if last != 0.0 else 0.0, w, g, w_before, g_before, q, l1, l2, positive)
        sweeps, inner, before, gap = 0, goal, math.inf, math.inf
        while atomic_load(stop, 0) == 0:
            gap = duality_gap(w, g, q, p, square, l1, l2, positive)
            if gap <= goal and (sweeps > 0 or (started and a == 0)):
                break
            if sweeps >= most or (sweeps > 0 and gap >= before):  # limited by rounding
                break
            before = gap if sweeps > 0 else before
            limits_now = (inner, most - sweeps)
            n, gap = descend(Q, p, w, g, q, square, (l1s, l2s), (l1, l2), positive, limits_now, past, stop)
            sweeps += n
            inner *= 0.1  # if this was not enough, because updated slopes accumulate rounding
            residual_slopes(Q, q, w, g)
        for k in range(p):
            W[a, k] = w[k]
        gaps[a] = gap
        counts[a] = sweeps


def gram_path(
    problem: Products,
    target: int,
    penalties: np.ndarray,
    ridges: np.ndarray,
    tol: float,
    most: int,
    positive: bool,
    start: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The weights (p, A), gaps and sweeps at each pair of penalties; `start` is the initial point of the first."""
    q = np.ascontiguousarray(problem.q[:, target])
    p, n = len(q), len(penalties)
    w = np.zeros(p) if start is None else start.astype(np.float64)
    W, gaps, counts = np.empty((n, p)), np.empty(n), np.empty(n, dtype=np.int64)
    square, stop = float(problem.squares[target]), np.zeros(1, np.int64)
    rows, history = np.empty((DEPTH + 1, p)), np.empty((2, DEPTH + 1, p))
    past = Past(history[0], history[1], np.empty((DEPTH, DEPTH)), np.empty(DEPTH))
    path = partial(
        descend_path, np.ascontiguousarray(problem.Q), q, square, (penalties, ridges), positive, (tol * square, most),
        bool(w.any()), w, rows, past, (W, gaps, counts), stop,
    )  # fmt: skip
    stoppable(path, stop, long=n * most * p * p > LONG)
    return W.T, gaps, counts.tolist()
