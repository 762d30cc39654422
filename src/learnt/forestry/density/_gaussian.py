"""The entropy of Gaussians as a score: how much better two Gaussians fit the rows of a node than one does.

    gain = H − s H_left − (1 − s) H_right,    H = ½ log det(2πe Σ),    s the share of the rows that goes left

Σ is the covariance of the rows, or its diagonal: Gaussians with independent features, as leaves have them. Along a
sorted column the rows go left one after another, and the weight, sums and products of those that went are kept as one
matrix Σ_i w_i z_i z_iᵀ of z = (1, x − mean over deviation). Its first pivot is the weight, the others are those of the
scatter around the side's own mean, so that one factorisation gives log det. The right side is the rest.

A deviation is at least `NARROWEST` of the cell's width, and Σ has `RIDGE` added in those units: rows on a line, or a
constant column, are no infinite gain. In a large node a first pass evaluates about `LOOKS` cuts of each column, and a
second one every cut near the best of them.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.density._data import (
    CUT,
    END,
    FEATURE,
    GAUSSIAN,
    LEFT_WEIGHT,
    MIN_LEAF,
    POSITION,
    RANDOM,
    SCORE,
    START,
    between,
    random_cut,
)

NARROWEST, RIDGE, LOOKS = 1e-3, 1e-6, 128
_WHOLE, _SIDE, _ROOM, _ROW = range(4)  # of `sums`: those of a node and of a side, a factorisation, and one row
_Z, _CENTER, _UNIT = range(3)  # lines of _ROW: a row's z, the centre, and one over the unit


def room_for_gaussians(d: int) -> np.ndarray:
    """Scratch: `sums`."""
    return np.zeros((4, max(d + 1, 3), d + 1))


@kernel(allocates=False)
def half_log_det(sums, whole, side, full):
    """½ log det of the regularised Σ of the rows in so many times the node plus so many times the side."""
    m = sums.shape[2]
    one_over = 1.0 / (whole * sums[_WHOLE, 0, 0] + side * sums[_SIDE, 0, 0])
    for i in range(m):
        for j in range(i + 1):
            sums[_ROOM, i, j] = (whole * sums[_WHOLE, i, j] + side * sums[_SIDE, i, j]) * one_over
        sums[_ROOM, i, i] += RIDGE if i > 0 else 0.0
    total, product = 0.0, 1.0
    for k in range(m):
        pivot = max(sums[_ROOM, k, k], RIDGE * RIDGE)
        product *= pivot
        if product < 1e-200:
            total += np.log(product)
            product = 1.0
        for i in range(k + 1, m if full or k == 0 else 0):
            ratio = sums[_ROOM, i, k] / pivot
            for j in range(k + 1 if full else i, i + 1):
                sums[_ROOM, i, j] -= ratio * sums[_ROOM, j, k]
    return 0.5 * (total + np.log(product))


@kernel(allocates=False)
def add_row(row, weight, rows, sums, to, full):
    """Add a row to the sums of the node or of a side."""
    d = rows.shape[1]
    sums[to, 0, 0] += weight
    for i in range(1, d + 1):
        z = (rows[row, i - 1] - sums[_ROW, _CENTER, i - 1]) * sums[_ROW, _UNIT, i - 1]
        sums[_ROW, _Z, i] = z
        sums[to, i, 0] += weight * z
        for j in range(1 if full else i, i + 1):
            sums[to, i, j] += weight * z * sums[_ROW, _Z, j]


@kernel(allocates=False)
def clear(sums, which):
    """No rows."""
    for i in range(sums.shape[2]):
        for j in range(i + 1):
            sums[which, i, j] = 0.0


@kernel(allocates=False)
def describe_node(node, start, end, order, weights, rows, lower, upper, sums, full):
    """The centre and unit of a node's rows, and the sums of all of them."""
    d = rows.shape[1]
    for i in range(d):
        low, weight, center, square = lower[node, i], 0.0, 0.0, 0.0
        for p in range(start, end):
            w = weights[order[0, p]] if weights.size else 1.0
            weight += w
            center += w * (rows[order[0, p], i] - low)
        center = low + center / weight
        for p in range(start, end):
            w = weights[order[0, p]] if weights.size else 1.0
            square += w * (rows[order[0, p], i] - center) ** 2
        narrowest = NARROWEST * (upper[node, i] - low)
        sums[_ROW, _CENTER, i], sums[_ROW, _UNIT, i] = center, 1.0 / max(np.sqrt(square / weight), narrowest)
    clear(sums, _WHOLE)
    for p in range(start, end):
        add_row(order[0, p], weights[order[0, p]] if weights.size else 1.0, rows, sums, _WHOLE, full)


@kernel(allocates=False)
def best_gaussian_cut(node, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats, gaussian):
    """The best cut of a node into its record, and its gain; sides have enough rows that Σ has full rank.

    `gaussian` is the rows (n, d) and `room_for_gaussians`.
    """
    rows, sums = gaussian
    d, start, end = values.shape[0], ints[node, START], ints[node, END]
    full, best, feature = rules[SCORE] == GAUSSIAN, 0.0, -1
    least = max(rules[MIN_LEAF], d + 1 if full else 2)
    if end - start < 2 * least:
        return best
    describe_node(node, start, end, order, weights, rows, lower, upper, sums, full)
    own, weight = half_log_det(sums, 1, 0.0, full), sums[_WHOLE, 0, 0]
    step = max(1, (end - start) // LOOKS) if rules[RANDOM] == 0 else 1
    for look in range(d + 1):  # every column, then the best one again, near its best cut
        f = look if look < d else feature
        if f < 0 or (look == d and step == 1) or chosen[f] == 0 or not values[f, start] < values[f, end - 1]:
            continue
        cut, first, last = 0.0, start + least, end - least
        if look == d:
            first, last, step = max(first, ints[node, POSITION] - step), min(last, ints[node, POSITION] + step), 1
        if rules[RANDOM] == 1:
            cut, at = random_cut(node, f, values, start, end, uniform)
            first, last = max(first, at), min(last, at)
        due = first
        clear(sums, _SIDE)
        for p in range(start + 1, last + 1):  # rows before p go left
            row = order[f, p - 1]
            add_row(row, weights[row] if weights.size else 1.0, rows, sums, _SIDE, full)
            if p < due or not values[f, p - 1] < values[f, p]:
                continue
            due = p + step
            if rules[RANDOM] == 0:
                cut = between(values[f, p - 1], values[f, p])
            share, gain = sums[_SIDE, 0, 0] / weight, own
            if not lower[node, f] < cut < upper[node, f] or not 0.0 < share < 1.0:
                continue
            for right in range(2):
                part = share if right == 0 else 1.0 - share
                gain -= part * half_log_det(sums, right, 1.0 - 2.0 * right, full)
            if gain > best:
                best, feature = gain, f
                ints[node, FEATURE], ints[node, POSITION] = f, p
                floats[node, CUT], floats[node, LEFT_WEIGHT] = cut, sums[_SIDE, 0, 0]
    return best
