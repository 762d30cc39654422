"""From one bend of the path of least angle regression to the next, on rows of the Gram matrix G = XᵀX.

As in `linalg.pursuit_kernels`, the loop returns where it needs a row of G that is not computed yet, and resumes when
called again; it also returns when stop[0] is set.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.linalg.growing_factor import DEPENDENT, append, remove, substitute

DONE = -1  # the penalty, the steps or the columns wanted are reached
FULL = -2  # there is no room for another bend
STUCK = -3  # columns enter and leave without a step in between

_PARALLEL = 1.0 - 1e-14  # a column that falls so nearly with the level lies in the span of others, and never meets it

INSIDE, BARRED = 1, 2  # moves with the others; lies in the span of those that do


class Limits(NamedTuple):
    """Where the path ends, and what its coefficients may be. Levels are common |xᵀr| of the columns that move."""

    level: float  # to end at exactly
    close: float  # so near to it is there
    steps: int
    lasso: bool  # a column whose coefficient reaches 0 leaves
    positive: bool
    pivot: float  # of a column in the span of others; 0 to leave it out


class State(NamedTuple):
    """The path so far: Xᵀr and the coefficients, the columns that move with their signs and the factor of their G.

    counts = (bends, columns that move, column to enter next or −1, column that left just now or −1, steps of no length,
    columns left out), level = (the common |xᵀr|,).
    """

    correlation: np.ndarray
    coef: np.ndarray
    support: np.ndarray
    sign: np.ndarray
    factor: np.ndarray
    direction: np.ndarray
    along: np.ndarray
    role: np.ndarray
    counts: np.ndarray
    level: np.ndarray


@kernel(allocates=False)
def combine(rows, where, support, m, direction, along):
    """along = Σ direction_i × row support[i] of G, four rows at a time."""
    for c in range(along.size):
        along[c] = 0.0
    i = 0
    while i + 4 <= m:
        a, b, e, f = direction[i], direction[i + 1], direction[i + 2], direction[i + 3]
        one, two = rows[where[support[i]]], rows[where[support[i + 1]]]
        three, four = rows[where[support[i + 2]]], rows[where[support[i + 3]]]
        for c in range(along.size):
            along[c] += a * one[c] + b * two[c] + e * three[c] + f * four[c]
        i += 4
    while i < m:
        a, one = direction[i], rows[where[support[i]]]
        for c in range(along.size):
            along[c] += a * one[c]
        i += 1


@kernel(allocates=False)
def first_to_meet(state, positive, left, most):
    """The length of step, at most `most`, after which a column outside has |xᵀr| equal to the falling level; which one.

    A column that left just now goes away from the level on its own side; rounding could have it meet at once.
    """
    correlation, along, role, level = state.correlation, state.along, state.role, state.level[0]
    step, entering = most, np.int64(-1)
    for c in range(correlation.size):
        if role[c] != 0:
            continue
        g, slope = correlation[c], along[c]
        if slope < _PARALLEL and not (c == left and g > 0.0):
            t = max((level - g) / (1.0 - slope), 0.0)
            if t < step:
                step, entering = t, c
        if not positive and slope > -_PARALLEL and not (c == left and g < 0.0):
            t = max((level + g) / (1.0 + slope), 0.0)
            if t < step:
                step, entering = t, c
    return step, entering


@kernel(allocates=False)
def first_to_vanish(state, m, most):
    """The length of step, at most `most`, after which a coefficient is 0; at which place of the support."""
    coef, support, sign, direction = state.coef, state.support, state.sign, state.direction
    step, hit = most, np.int64(-1)
    for i in range(m):
        if direction[i] * sign[i] < 0.0:
            t = max(-coef[support[i]] / direction[i], 0.0)
            if t < step:
                step, hit = t, np.int64(i)
    return step, hit


@kernel(allocates=False)
def enter(rows, where, j, m, positive, pivot, state):
    """Have column j move with the others, unless it lies in their span; how many move."""
    state.support[m] = j
    row = rows[where[j]]
    if not append(row, state.support, m, state.factor):
        if pivot == 0.0 or row[j] <= 0.0:
            state.role[j] = BARRED
            state.counts[5] += 1
            return m
        state.factor[m, m] = max(pivot, math.sqrt(DEPENDENT * row[j]))
    state.role[j] = INSIDE
    state.sign[m] = 1.0 if positive or state.correlation[j] > 0.0 else -1.0
    return m + 1


@kernel(allocates=False)
def leave(hit, m, state):
    """Take the column at this place out; those that lay in its span and that of others may enter again."""
    support, sign, role = state.support, state.sign, state.role
    j = support[hit]
    state.coef[j] = 0.0
    remove(hit, m, state.factor)
    for i in range(hit, m - 1):
        support[i], sign[i] = support[i + 1], sign[i + 1]
    role[j] = 0
    for c in range(role.size):
        if role[c] == BARRED:
            role[c] = 0
    return j


@kernel(allocates=False)
def follow(rows, where, limits, state, levels, coefs, stop):
    """Follow the path from where it is; every bend is written to `levels`, and to `coefs` where it has rows.

    Returns DONE, FULL, STUCK or the column whose row of G is needed next.
    """
    correlation, coef, support, sign, factor, direction, along, _, counts, level = state
    size = correlation.size
    while True:
        if level[0] <= limits.level + limits.close or counts[0] >= limits.steps or atomic_load(stop, 0) != 0:
            return DONE
        if counts[0] + 1 >= levels.size:
            return FULL
        if counts[4] > 2 * size + 10:
            return STUCK
        m, j = counts[1], counts[2]
        if j >= 0:
            if where[j] < 0:
                return j
            m = enter(rows, where, j, m, limits.positive, limits.pivot, state)
        if m == 0:
            return DONE
        for i in range(m):
            direction[i] = sign[i]
        substitute(factor, m, direction)
        combine(rows, where, support, m, direction, along)
        step, entering = first_to_meet(state, limits.positive, counts[3], level[0] - limits.level)
        hit = np.int64(-1)
        if limits.lasso:
            step, hit = first_to_vanish(state, m, step)
        for i in range(m):
            coef[support[i]] += step * direction[i]
        for c in range(size):
            correlation[c] -= step * along[c]
        last = entering < 0 and hit < 0
        level[0] = limits.level if last else level[0] - step
        for i in range(m):  # exactly, whatever rounding has made of it
            correlation[support[i]] = sign[i] * level[0]
        counts[4] = counts[4] + 1 if step == 0.0 else 0
        counts[3] = -1
        if hit >= 0:
            entering = -1
            counts[3] = leave(hit, m, state)
            m -= 1
        counts[0] += 1
        counts[1] = m
        counts[2] = entering
        levels[counts[0]] = level[0]
        if coefs.shape[0] > 0:
            for c in range(size):
                coefs[counts[0], c] = coef[c]
