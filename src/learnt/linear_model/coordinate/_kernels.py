"""Coordinate descent on a quadratic with an L1 penalty, given its second derivatives.

    F(w) = ½‖y‖² − qᵀw + ½ wᵀQw + Σⱼ l1ⱼ|wⱼ| + ½ Σⱼ l2ⱼwⱼ²,      g = q − Qw

A coordinate at a time is set to its minimum and g corrected by a row of Q. After every few sweeps the sequence is
extrapolated (Anderson); g is affine in w, so that it is extrapolated along with it.
Reference: Bertrand & Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

LONG = 1e9  # multiplications that may take longer than a fraction of a second
DEPTH = 5  # sweeps between extrapolations
ROUNDING = 1e-12
STILL = 1e-26  # as a share of ‖y‖²: smaller changes of F are rounding


class Past(NamedTuple):
    """The last sweeps, for extrapolation: weights and slopes after each, their products, the combination."""

    w: Any
    g: Any
    A: Any
    c: Any


@kernel
def shrink(z, threshold, positive):
    """Soft thresholding: z moved towards 0 by `threshold`; never below 0 where `positive`."""
    if z > threshold:
        return z - threshold
    if z < -threshold and not positive:
        return z + threshold
    return 0.0


@kernel
def sweep(Q, m, w, g, l1, l2, positive):
    """Every coordinate once; returns by how much F fell, to second order."""
    fell = 0.0
    for k in range(m):
        old = w[k]
        if old == 0.0 and g[k] <= l1[k] and (positive or g[k] >= -l1[k]):
            continue
        curve = Q[k, k] + l2[k]
        if curve <= 0.0:
            continue
        z = g[k] + Q[k, k] * old
        new = (z - l1[k] if z > l1[k] else (z + l1[k] if z < -l1[k] and not positive else 0.0)) / curve
        change = new - old
        if change != 0.0:
            w[k] = new
            for i in range(m):
                g[i] -= change * Q[k, i]  # a view of the row would cost more than this loop
            fell += 0.5 * curve * change * change
    return fell


@kernel(reassociate=True)
def duality_gap(w, g, q, m, square, l1, l2, positive):
    """The duality gap: from the residual, scaled down until it is feasible for the dual.

    With a squared penalty the dual has no constraint, and the residual itself gives a second bound: the lower of both.
    `l1` and `l2` are numbers here; `square` is ‖y‖².
    """
    wq, wg, ww, size, top, apart = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(m):
        x, s = w[k], g[k]
        wq += x * q[k]
        wg += x * s
        ww += x * x
        size += abs(x)
        slope = s - l2 * x
        top = max(top, slope if positive else abs(slope))
        if l2 > 0.0:
            beyond = (s if positive else abs(s)) - l1
            if beyond > 0.0 and x * s >= 0.0:  # a square where both agree in sign, so that nothing cancels
                apart += (l2 * abs(x) - beyond) ** 2 / (2.0 * l2)
            else:
                apart += l1 * abs(x) - x * s + 0.5 * l2 * x * x + max(beyond, 0.0) ** 2 / (2.0 * l2)
    rest = max(square - wq - wg, 0.0) + l2 * ww
    share = 1.0 if top <= l1 else l1 / top
    gap = 0.5 * rest * (1.0 - share) ** 2 + l1 * size + share * (l2 * ww - wg)
    if l2 > 0.0 and (apart < gap or gap < ROUNDING * l1 * size):
        gap = apart
    return max(gap, 0.0)


@kernel(reassociate=True)
def anderson_weights(past, m, depth, A, c):
    """Anderson's weights of the last `depth` of depth + 1 iterates, with which their changes cancel.

    False where singular.
    """
    trace = 0.0
    for i in range(depth):
        for j in range(i + 1):
            total = 0.0
            for k in range(m):
                total += (past[i + 1, k] - past[i, k]) * (past[j + 1, k] - past[j, k])
            A[i, j] = total
            A[j, i] = total
        trace += A[i, i]
        c[i] = 1.0
    for k in range(depth):
        A[k, k] += 1e-12 * trace
    for k in range(depth):  # A c = 1: symmetric positive definite, so no pivoting is needed
        if A[k, k] <= 0.0:
            return False
        for i in range(depth):
            if i != k:
                factor = A[i, k] / A[k, k]
                for j in range(k, depth):
                    A[i, j] -= factor * A[k, j]
                c[i] -= factor * c[k]
    total = 0.0
    for i in range(depth):
        c[i] /= A[i, i]
        total += c[i]
    if not abs(total) > 0.0:
        return False
    for i in range(depth):
        c[i] /= total
    return True


@kernel(reassociate=True)
def extrapolate(past_w, past_g, w, g, q, m, l1, l2, positive, A, c):
    """Anderson extrapolation of the last sweeps, if F is lower there."""
    if not anderson_weights(past_w, m, c.size, A, c):
        return
    gain = 0.0
    for k in range(m):
        x, s, old = 0.0, 0.0, w[k]
        for i in range(c.size):
            x += c[i] * past_w[i + 1, k]
            s += c[i] * past_g[i + 1, k]
        if positive and x < 0.0:
            return
        past_w[0, k] = x
        past_g[0, k] = s
        gain += l1[k] * (abs(old) - abs(x))
        gain += 0.5 * (l2[k] * (old * old - x * x) + x * (q[k] + s) - old * (q[k] + g[k]))
    if gain > 0.0:
        for k in range(m):
            w[k] = past_w[0, k]
            g[k] = past_g[0, k]


@kernel
def descend(Q, m, w, g, q, square, weights, penalty, positive, limits, past, stop):
    """Sweep until the duality gap is `goal` (or, for goal < 0, until a sweep lowers F by less than −goal).

    Or until changes are rounding only, or stop[0] is set. Returns the number of sweeps and the last gap. w and g
    (both for the first m coordinates) are changed in place; `weights` are l1 and l2 of each coordinate, `penalty` those
    of all, `limits` the goal and the most sweeps.
    """
    (l1, l2), (goal, max_sweeps) = weights, limits
    past_w, past_g, A, c = past.w, past.g, past.A, past.c
    sweeps, gap = 0, 0.0
    while sweeps < max_sweeps and atomic_load(stop, 0) == 0:
        position = sweeps % DEPTH
        if position == 0:
            for k in range(m):
                past_w[0, k] = w[k]
                past_g[0, k] = g[k]
        fell = sweep(Q, m, w, g, l1, l2, positive)
        sweeps += 1
        gap = fell if goal < 0.0 else duality_gap(w, g, q, m, square, penalty[0], penalty[1], positive)
        if gap <= abs(goal) or fell <= STILL * square:
            break
        for k in range(m):
            past_w[position + 1, k] = w[k]
            past_g[position + 1, k] = g[k]
        if position == DEPTH - 1:
            extrapolate(past_w, past_g, w, g, q, m, l1, l2, positive, A, c)
    return sweeps, gap
