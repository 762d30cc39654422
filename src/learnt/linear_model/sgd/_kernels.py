"""One epoch of stochastic gradient descent, one row at a time: for dense rows and for rows of a CSR matrix.

The coefficients are kept as scale · v, so that the shrinking of the L2 penalty costs one multiplication a row. The L1
penalty of each coefficient accumulates until a row uses it, and is then applied, at most down to 0. The running average
of the coefficients is (heavy · v + rest) / count: a step changes `rest` only where the row has entries.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import prefetch
from learnt.erm.losses import loss_both
from learnt.erm.losses.codes import FIRST_MARGIN, HINGE, LOG, SQUARED
from learnt.linalg.exponential import exp_nonpositive
from learnt.linalg.log_loss import log_slope

# Positions in `numbers`, which a run carries from epoch to epoch.
SCALE, INTERCEPT, T, ETA, OWED, HEAVY, COUNT, INTERCEPT_SUM, LOSS, MOVES, SQUARE, TOUCHED = range(12)
# Positions in `settings`, which never change.
CODE, PARAMETER, FACTOR, ALPHA, L1, L2, SCHEDULE, ETA0, POWER, OPTIMAL0, AVERAGE, WITH_INTERCEPT, DRIFT = range(13)
CONSTANT, OPTIMAL, INVSCALING, ADAPTIVE, PA1, PA2 = range(6)

_STEEPEST = 1e12
_GROUP, _AHEAD = 16, 4  # rows that are prefetched: dense, and sparse
# Unsigned like the indices of entries: a signed index would be tested for being negative at every access.
_ONE, _TWO, _THREE, _FOUR, _EIGHT, _SIXTEEN = (np.uint64(k) for k in (1, 2, 3, 4, 8, 16))
WRITTEN_OUT = SQUARED, LOG, HINGE  # codes of the inlined losses; the others are compiled only where they are used
_FULL = 1e200  # the largest product of factors between 1 and 2 before its logarithm is taken


@kernel(allocates=False)
def shuffle(order, seed):
    """A new order, by Fisher and Yates on a 32-bit generator of Marsaglia's: the same as scikit-learn's for a seed."""
    x = max(seed, 1)
    for i in range(order.size - 1):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        j = i + (x & 0x7FFFFFFF) % (order.size - i)
        kept = order[i]
        order[i] = order[j]
        order[j] = kept


@kernel(allocates=False)
def step_length(schedule, eta, eta0, power, alpha, late, t):
    """The step of update number t."""
    if schedule == OPTIMAL:
        return 1.0 / (alpha * (late + t))
    if schedule == INVSCALING:
        return eta0 / t**power
    return eta


@kernel(allocates=False)
def aggressive_move(schedule, eta0, toward, loss, norm):
    """The multiple of the row that is added to the coefficients so that its loss becomes 0, limited by `eta0`."""
    if loss == 0.0 or norm == 0.0:
        return 0.0
    size = min(eta0, loss / norm) if schedule == PA1 else loss / (norm + 0.5 / eta0)
    return size if toward > 0 else -size


@kernel(allocates=False)
def quick_loss(code, parameter, factor, y, score, others):
    """Loss and slope; for the log loss without its log(1 + e), and 1 + e as the third value.

    Where `others` is None those that are not written out are left out, and need not be compiled.
    """
    if code == LOG:
        m = y * score
        e = exp_nonpositive(-abs(m))
        return max(-m, 0.0), y * log_slope(m, e), 1.0 + e
    if code == HINGE:
        short = parameter - y * score
        return max(short, 0.0), -y if short >= 0.0 else 0.0, 1.0
    if code == SQUARED:
        r = score - y
        return factor * r * r, 2.0 * factor * r, 1.0
    if others is None:
        return 0.0, 0.0, 1.0
    loss, slope = loss_both(code, parameter, y, score)
    return factor * loss, factor * slope, 1.0


@kernel(reassociate=True, allocates=False)
def dense_epoch(X, y, weight, order, others, v, rest, paid, settings, numbers):
    """Every row of `order` once; `v`, `rest`, `paid` and `numbers` are carried on."""
    d = v.size
    code, parameter, factor = int(settings[CODE]), settings[PARAMETER], settings[FACTOR]
    schedule, eta0, power, alpha = int(settings[SCHEDULE]), settings[ETA0], settings[POWER], settings[ALPHA]
    l1, shrink, late, free = settings[L1], settings[L2], settings[OPTIMAL0] - 1.0, settings[WITH_INTERCEPT]
    drift = settings[DRIFT]
    scale, intercept, t, eta = numbers[SCALE], numbers[INTERCEPT], numbers[T], numbers[ETA]
    owed, heavy, average, square = numbers[OWED], numbers[HEAVY], settings[AVERAGE], numbers[SQUARE]
    moves, count, summed, total, product, touched = 0.0, 0.0, 0.0, 0.0, 1.0, 0.0
    for g in range(order.size):
        if g % _GROUP == 0:  # some rows are read ahead at a time, so that their memory accesses overlap
            for k in range(g, min(g + _GROUP, order.size)):
                i = order[k]
                touched += y[i] + weight[i]
                for j in range(0, d, 8):
                    touched += X[i, j]
        i = order[g]
        dot = 0.0
        for j in range(d):
            dot += v[j] * X[i, j]
        score = scale * dot + intercept
        loss, slope, more = quick_loss(code, parameter, factor, y[i], score, others)
        product *= more
        if product > _FULL:
            total += math.log(product)
            product = 1.0
        total += loss + 0.5 * shrink * scale * scale * square + drift * intercept
        eta = step_length(schedule, eta, eta0, power, alpha, late, t)
        if schedule >= PA1:
            norm = 0.0
            for j in range(d):
                norm += X[i, j] * X[i, j]
            move = weight[i] * aggressive_move(
                schedule, eta0, y[i] if code >= FIRST_MARGIN else y[i] - score, loss, norm
            )
        else:
            move = -weight[i] * eta * min(max(slope, -_STEEPEST), _STEEPEST)
        if shrink > 0.0:
            scale *= max(0.0, 1.0 - shrink * eta)
            if scale < 1e-9:
                for j in range(d):
                    v[j] *= scale
                square *= scale * scale
                heavy, scale = heavy / scale if scale > 0.0 else 0.0, 1.0
        if move != 0.0:
            moves += 1.0
            change = move / scale
            own = 0.0
            for j in range(d):
                own += X[i, j] * X[i, j]
                v[j] += change * X[i, j]
            square += change * (2.0 * dot + change * own)
            if average > 0.0:
                for j in range(d):
                    rest[j] -= heavy * change * X[i, j]
            intercept += free * move
        intercept -= free * drift * eta
        if l1 > 0.0:
            owed += l1 * eta
            over = 1.0 / scale
            for j in range(d):
                before = v[j]
                after = pay(before, owed * over, paid[j] * over)
                v[j] = after
                paid[j] += scale * (after - before)
                rest[j] -= heavy * (after - before)
        if 0.0 < average <= t:
            heavy += scale
            count += 1.0
            summed += intercept
        t += 1.0
    numbers[SCALE], numbers[INTERCEPT], numbers[T], numbers[ETA] = scale, intercept, t, eta
    numbers[OWED], numbers[HEAVY], numbers[LOSS] = owed, heavy, total + math.log(product)
    numbers[MOVES] += moves
    numbers[SQUARE] = square
    numbers[COUNT] += count
    numbers[INTERCEPT_SUM] += summed
    numbers[TOUCHED] = touched  # stored, so that the compiler keeps the reads


@kernel(reassociate=True, allocates=False)
def sparse_epoch(data, columns, starts, y, weight, order, others, v, rest, paid, settings, numbers):
    """The same over the rows of a CSR matrix: the work of a row is its entries."""
    code, parameter, factor = int(settings[CODE]), settings[PARAMETER], settings[FACTOR]
    schedule, eta0, power, alpha = int(settings[SCHEDULE]), settings[ETA0], settings[POWER], settings[ALPHA]
    l1, shrink, late, free = settings[L1], settings[L2], settings[OPTIMAL0] - 1.0, settings[WITH_INTERCEPT]
    drift = settings[DRIFT]
    scale, intercept, t, eta = numbers[SCALE], numbers[INTERCEPT], numbers[T], numbers[ETA]
    owed, heavy, average, square = numbers[OWED], numbers[HEAVY], settings[AVERAGE], numbers[SQUARE]
    moves, count, summed, total, product = 0.0, 0.0, 0.0, 0.0, 1.0
    usual = data.size // (16 * starts.size) + 1  # a fixed number of entries, so that the branch is predicted well
    for g in range(order.size):
        prefetch(starts, order[min(g + 2 * _AHEAD, order.size - 1)])  # an order that the processor cannot predict
        i = np.uint64(order[min(g + _AHEAD, order.size - 1)])
        prefetch(y, i)
        prefetch(weight, i)
        e = np.uint64(starts[i])
        for _ in range(usual):
            prefetch(data, e)
            prefetch(data, e + _EIGHT)
            prefetch(columns, e)
            e += _SIXTEEN
        i = np.uint64(order[g])
        lo, hi = np.uint64(starts[i]), np.uint64(starts[i + _ONE])
        dot = sparse_dot(v, data, columns, lo, hi)
        score = scale * dot + intercept
        loss, slope, more = quick_loss(code, parameter, factor, y[i], score, others)
        product *= more
        if product > _FULL:
            total += math.log(product)
            product = 1.0
        total += loss + 0.5 * shrink * scale * scale * square + drift * intercept
        eta = step_length(schedule, eta, eta0, power, alpha, late, t)
        if schedule >= PA1:
            norm = 0.0
            for e in range(lo, hi):
                norm += data[e] * data[e]
            move = weight[i] * aggressive_move(
                schedule, eta0, y[i] if code >= FIRST_MARGIN else y[i] - score, loss, norm
            )
        else:
            move = -weight[i] * eta * min(max(slope, -_STEEPEST), _STEEPEST)
        if shrink > 0.0:
            scale *= max(0.0, 1.0 - shrink * eta)
            if scale < 1e-9:
                for j in range(v.size):
                    v[j] *= scale
                square *= scale * scale
                heavy, scale = heavy / scale if scale > 0.0 else 0.0, 1.0
        if move != 0.0:
            moves += 1.0
            change = move / scale
            own = sparse_add(v, data, columns, lo, hi, change)
            square += change * (2.0 * dot + change * own)
            if average > 0.0:
                for e in range(lo, hi):
                    rest[columns[e]] -= heavy * change * data[e]
            intercept += free * move
        intercept -= free * drift * eta
        if l1 > 0.0:
            owed += l1 * eta
            over = 1.0 / scale
            for e in range(lo, hi):
                j = columns[e]
                before = v[j]
                after = pay(before, owed * over, paid[j] * over)
                v[j] = after
                paid[j] += scale * (after - before)
                rest[j] -= heavy * (after - before)
        if 0.0 < average <= t:
            heavy += scale
            count += 1.0
            summed += intercept
        t += 1.0
    numbers[SCALE], numbers[INTERCEPT], numbers[T], numbers[ETA] = scale, intercept, t, eta
    numbers[OWED], numbers[HEAVY], numbers[LOSS] = owed, heavy, total + math.log(product)
    numbers[MOVES] += moves
    numbers[SQUARE] = square
    numbers[COUNT] += count
    numbers[INTERCEPT_SUM] += summed


@kernel(allocates=False)
def sparse_dot(v, x, where, lo, hi):
    """Σ v[where]·x of the entries lo…hi in four independent sums."""
    a = b = c = d = 0.0
    e = lo
    while e + _FOUR <= hi:
        a += v[where[e]] * x[e]
        b += v[where[e + _ONE]] * x[e + _ONE]
        c += v[where[e + _TWO]] * x[e + _TWO]
        d += v[where[e + _THREE]] * x[e + _THREE]
        e += _FOUR
    while e < hi:
        a += v[where[e]] * x[e]
        e += _ONE
    return (a + b) + (c + d)


@kernel(reassociate=True, allocates=False)
def sparse_add(v, x, where, lo, hi, change):
    """v[where] += change·x, four at once, since no index occurs twice; returns Σ x²."""
    own = 0.0
    e = lo
    while e + _FOUR <= hi:
        i0, i1, i2, i3 = where[e], where[e + _ONE], where[e + _TWO], where[e + _THREE]
        x0, x1, x2, x3 = x[e], x[e + _ONE], x[e + _TWO], x[e + _THREE]
        v0, v1, v2, v3 = v[i0], v[i1], v[i2], v[i3]
        v[i0] = v0 + change * x0
        v[i1] = v1 + change * x1
        v[i2] = v2 + change * x2
        v[i3] = v3 + change * x3
        own += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3)
        e += _FOUR
    while e < hi:
        own += x[e] * x[e]
        v[where[e]] += change * x[e]
        e += _ONE
    return own


@kernel(allocates=False)
def pay(v, owed, paid):
    """One coefficient with its accumulated L1 penalty applied, never past 0."""
    down, up = max(0.0, v - (owed + paid)), min(0.0, v + (owed - paid))
    return down if v > 0.0 else up


def first_step(alpha: float) -> float:
    """Where the "optimal" schedule 1/(alpha(t₀ + t)) begins: steps as long as coefficients typically are (Bottou)."""
    return 1.0 / (math.sqrt(1.0 / math.sqrt(alpha)) * alpha)
