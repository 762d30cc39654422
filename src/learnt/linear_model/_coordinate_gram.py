"""A path of elastic nets where all inner products are at hand: every slope is known after every step.

So there is no working set, no pass over data, and the gap over all columns is at hand after every sweep. Along the
path the weights are nearly straight lines in the penalty: the next ones are sought where the last two point to.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linear_model._coordinate_kernels import DEPTH, descend, duality_gap, keep, value
from learnt.linear_model._coordinate_problem import Products

MOST = 1024  # columns: with more, a working set saves steps


@kernel
def residual_slopes(Q, q, w, g):
    """g ← q − Qw."""
    keep(q, g, q.size)
    for k in range(q.size):
        if w[k] != 0.0:
            row = Q[k]
            for i in range(q.size):
                g[i] -= w[k] * row[i]


@kernel
def look_ahead(t, w, g, w_before, g_before, q, l1, l2, positive, w_there, g_there):
    """Go on by t of the last change, if the objective is lower there; what was before is now what is here."""
    m = q.size
    inside = True
    for k in range(m):
        w_there[k] = w[k] + t * (w[k] - w_before[k])
        g_there[k] = g[k] + t * (g[k] - g_before[k])
        inside = inside and (w_there[k] >= 0.0 or not positive)
    keep(w, w_before, m)
    keep(g, g_before, m)
    if inside and value(w_there, g_there, q, m, l1, l2) < value(w, g, q, m, l1, l2):
        keep(w_there, w, m)
        keep(g_there, g, m)


@kernel
def unpenalised_gap(Q, w, g, positive):
    """Without a penalty no feasible dual point is at hand: what one step in each coordinate would gain."""
    total = 0.0
    for k in range(w.size):
        if Q[k, k] > 0.0 and not (positive and w[k] == 0.0 and g[k] < 0.0):
            total += 0.5 * g[k] * g[k] / Q[k, k]
    return total


@kernel
def descend_path(Q, q, square, penalties, ridges, positive, goal, most, started, w, past, A, c, W, gaps, counts):
    """Every penalty down to a gap of `goal`, or for `most` sweeps, from the solution of the one before."""
    p, step = q.size, 0.0
    g, g_before, w_before, l1s, l2s = past[0, 0], past[0, 1], past[0, 2], past[0, 3], past[0, 4]
    residual_slopes(Q, q, w, g)
    for a in range(penalties.size):
        l1, l2 = penalties[a], ridges[a]
        free = l1 == 0.0 and l2 == 0.0
        for k in range(p):
            l1s[k] = l1
            l2s[k] = l2
        if a > 0:
            last, step = step, l1 + l2 - penalties[a - 1] - ridges[a - 1]
            t = step / last if a > 1 and last != 0.0 else 0.0
            look_ahead(t, w, g, w_before, g_before, q, l1s, l2s, positive, past[1, 0], past[2, 0])
        sweeps, inner = 0, goal
        while True:
            gap = unpenalised_gap(Q, w, g, positive) if free else duality_gap(w, g, q, p, square, l1, l2, positive)
            if (gap <= goal and (sweeps > 0 or (started and a == 0))) or sweeps >= most:
                break
            n, gap = descend(
                Q, p, w, g, q, square, l1s, l2s, l1, l2, positive, -inner if free else inner, most - sweeps,
                past[1], past[2], A, c,
            )  # fmt: skip
            sweeps += n
            inner *= 0.1  # where this was not enough, since slopes that are kept up to date round
            residual_slopes(Q, q, w, g)
        keep(w, W[a], p)
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
    """The weights (p, A), gaps and sweeps at each pair of penalties; `start` is where the first is sought from."""
    q = np.ascontiguousarray(problem.q[:, target])
    p, n = len(q), len(penalties)
    w = np.zeros(p) if start is None else start.astype(np.float64)
    W, gaps, counts = np.empty((n, p)), np.empty(n), np.empty(n, dtype=np.int64)
    square = float(problem.squares[target])
    descend_path(
        np.ascontiguousarray(problem.Q), q, square, penalties, ridges, positive, tol * square, most, bool(w.any()), w,
        np.empty((3, DEPTH + 1, p)), np.empty((DEPTH, DEPTH)), np.empty(DEPTH), W, gaps, counts,
    )  # fmt: skip
    return W.T, gaps, counts.tolist()
