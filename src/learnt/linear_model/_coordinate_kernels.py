"""Coordinate descent on a quadratic with absolute values, where second derivatives are at hand.

    F(w) = ½‖y‖² − qᵀw + ½ wᵀQw + Σⱼ l1ⱼ|wⱼ| + ½ Σⱼ l2ⱼwⱼ²,      g = q − Qw

A coordinate at a time is set to its minimum and g corrected by a row of Q. After every few sweeps the sequence is
extrapolated (Anderson); g is affine in w, so that it is extrapolated along with it.
Reference: Bertrand & Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel

DEPTH = 5  # sweeps between extrapolations
ROUNDING = 1e-12


@kernel
def shrink(z, threshold, positive):
    """The nearest to 0 that is within `threshold` of z; never below 0 where `positive`."""
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
        row = Q[k]
        curve = row[k] + l2[k]
        if curve <= 0.0:
            continue
        new = shrink(g[k] + row[k] * old, l1[k], positive) / curve
        change = new - old
        if change != 0.0:
            w[k] = new
            for i in range(m):
                g[i] -= change * row[i]
            fell += 0.5 * curve * change * change
    return fell


@kernel(reassociate=True)
def value(w, g, q, m, l1, l2):
    """F(w) − ½‖y‖²."""
    total = 0.0
    for k in range(m):
        total += w[k] * (0.5 * l2[k] * w[k] - 0.5 * (q[k] + g[k])) + l1[k] * abs(w[k])
    return total


@kernel
def apartness(w, g, l1, l2, positive):
    """What one coordinate adds to the second bound: squares where w and g agree in sign, so that nothing cancels."""
    if l2 <= 0.0:
        return 0.0
    beyond = (g if positive else abs(g)) - l1
    if beyond > 0.0 and w * g >= 0.0:
        return (l2 * abs(w) - beyond) ** 2 / (2.0 * l2)
    return l1 * abs(w) - w * g + 0.5 * l2 * w * w + max(beyond, 0.0) ** 2 / (2.0 * l2)


@kernel(reassociate=True)
def duality_gap(w, g, q, m, square, l1, l2, positive):
    """How far F can be above its minimum: from the residual itself, shrunk until it is feasible for the dual.

    With a squared penalty the dual has no constraint, and the residual itself gives a second bound: the lower of both.
    `l1` and `l2` are numbers here; `square` is ‖y‖².
    """
    wq, wg, ww, size, top, apart = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(m):
        wq += w[k] * q[k]
        wg += w[k] * g[k]
        ww += w[k] * w[k]
        size += abs(w[k])
        slope = g[k] - l2 * w[k]
        top = max(top, slope if positive else abs(slope))
        apart += apartness(w[k], g[k], l1, l2, positive)
    rest = max(square - wq - wg, 0.0) + l2 * ww
    share = 1.0 if top <= l1 else l1 / top
    gap = 0.5 * rest * (1.0 - share) ** 2 + l1 * size + share * (l2 * ww - wg)
    if l2 > 0.0 and (apart < gap or gap < ROUNDING * l1 * size):
        gap = apart
    return max(gap, 0.0)


@kernel
def solve_small(A, b, n):
    """A x = b for a few symmetric positive equations, in place; False where A is singular."""
    for k in range(n):
        if A[k, k] <= 0.0:
            return False
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True


@kernel(reassociate=True)
def weights_of_past(past, m, depth, A, c):
    """How to weigh the last `depth` of depth + 1 iterates so that their changes cancel; False where they do not say."""
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
    for i in range(depth):
        A[i, i] += 1e-12 * trace
    if trace == 0.0 or not solve_small(A, c, depth):
        return False
    total = 0.0
    for i in range(depth):
        total += c[i]
    if not abs(total) > 0.0:
        return False
    for i in range(depth):
        c[i] /= total
    return True


@kernel
def keep(source, target, m):
    """target ← source."""
    for k in range(m):
        target[k] = source[k]


@kernel
def mix(past, c, m):
    """Row 0 ← Σ c · the rows after it."""
    for k in range(m):
        past[0, k] = 0.0
    for i in range(c.size):
        for k in range(m):
            past[0, k] += c[i] * past[i + 1, k]


@kernel
def extrapolate(past_w, past_g, w, g, q, m, l1, l2, positive, A, c):
    """Go where the last sweeps were heading, if F is lower there."""
    if not weights_of_past(past_w, m, c.size, A, c):
        return
    mix(past_w, c, m)
    if positive:
        for k in range(m):
            if past_w[0, k] < 0.0:
                return
    mix(past_g, c, m)
    if value(past_w[0], past_g[0], q, m, l1, l2) < value(w, g, q, m, l1, l2):
        keep(past_w[0], w, m)
        keep(past_g[0], g, m)


@kernel
def descend(Q, m, w, g, q, square, l1, l2, penalty, ridge, positive, goal, max_sweeps, past_w, past_g, A, c):
    """Sweep until the duality gap is `goal` (or, for goal < 0, until a sweep lowers F by less than −goal).

    Returns the number of sweeps and the last gap. w and g (both for the first m coordinates) are changed in place.
    """
    sweeps, gap = 0, 0.0
    while sweeps < max_sweeps:
        position = sweeps % DEPTH
        if position == 0:
            keep(w, past_w[0], m)
            keep(g, past_g[0], m)
        gap = sweep(Q, m, w, g, l1, l2, positive)
        sweeps += 1
        if goal >= 0.0:
            gap = duality_gap(w, g, q, m, square, penalty, ridge, positive)
        if gap <= abs(goal):
            break
        keep(w, past_w[position + 1], m)
        keep(g, past_g[position + 1], m)
        if position == DEPTH - 1:
            extrapolate(past_w, past_g, w, g, q, m, l1, l2, positive, A, c)
    return sweeps, gap
