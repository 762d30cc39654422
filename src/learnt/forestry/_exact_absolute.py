"""Splits by absolute error in n log n: the error around the median of everything left of a position, and right of it.

Rows are entered one at a time, in the order of the column, into a tree of prefix sums over the ranks of their y. The
median is where the prefix reaches half the weight, and the error follows from the sums on both sides of it.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._exact_data import (
    DIRECTION,
    GAP,
    MIN_LEAF,
    MIN_WEIGHT,
    RANK,
    ROW_SHIFT,
    SCORE,
)
from learnt.forestry._exact_sweep import in_order, keep_cut

_LOW = 0xFFFFFFFF
_ERROR, _MEDIAN, _SUM = 0, 2, 4  # rows of `medians`: errors of both sides, their medians, prefix sums


@kernel(allocates=False)
def prefix_errors(output, rows, m, side, y, weights, orders, start, places, medians):
    """Adds to the errors of one side that of the first k rows (side 1: of the rows from k on); sets their medians.

    A row's rank is its place among the m rows by y; `orders[1 + output, start + rank]` is that row.
    """
    top = 1
    while top * 2 <= m:
        top *= 2
    for k in range(m + 1):
        medians[_SUM, k] = 0.0
        medians[_SUM + 1, k] = 0.0
    w, weight, total = 1.0, 0.0, 0.0
    for k in range(m):
        row = rows[m - 1 - k] if side else rows[k]
        if weights.size:
            w = weights[row]
        wy = w * y[row, output]
        weight += w
        total += wy
        i = np.int64(places[RANK, row]) + 1
        while i <= m:
            medians[_SUM, i] += w
            medians[_SUM + 1, i] += wy
            i += i & -i
        half = weight / 2.0
        place, below, below_y = 0, 0.0, 0.0  # the largest prefix that weighs less than half
        step = top
        while step > 0:
            if place + step <= m and below + medians[_SUM, place + step] < half:
                place += step
                below += medians[_SUM, place]
                below_y += medians[_SUM + 1, place]
            step >>= 1
        row = orders[1 + output, start + place]
        median = y[row, output]
        at = m - 1 - k if side else k + 1
        medians[_ERROR + side, at] += (total - below_y) - median * (weight - below) + (median * below - below_y)
        if weights.size:
            w = weights[row]
        if below + w == half:  # any value up to the next row's is a median: the middle, as for an even number of rows
            place, below = 0, 0.0
            step = top
            while step > 0:
                if place + step <= m and below + medians[_SUM, place + step] <= half:
                    place += step
                    below += medians[_SUM, place]
                step >>= 1
            median = (median + y[orders[1 + output, start + place], output]) / 2.0
        medians[_MEDIAN + side, at] = median


@kernel(allocates=False)
def sweep_absolute(
    feature, a, f, lo, hi, n_missing, missing_left, weight, start, y, weights, facts, rules, limits, orders, rows,
    places, medians, best, chosen,
):  # fmt: skip
    """Cuts of one column by absolute error; orders[1 + output] has the rows by y."""
    m, shift, min_leaf, min_weight = hi - lo + n_missing, rules[ROW_SHIFT], rules[MIN_LEAF], limits[MIN_WEIGHT]
    before = n_missing if missing_left else 0
    for p in range(hi, hi + n_missing):
        rows[p - hi if missing_left else p - lo] = (a[f, p] & _LOW) >> shift
    for p in range(lo, hi):
        rows[p - lo + before] = (a[f, p] & _LOW) >> shift
    for k in range(m + 1):
        medians[_ERROR, k] = 0.0
        medians[_ERROR + 1, k] = 0.0
    for o in range(y.shape[1]):
        for r in range(m):
            places[RANK, orders[1 + o, start + r]] = r
        for side in range(2):
            prefix_errors(o, rows, m, side, y, weights, orders, start, places, medians)
    w, wl = 1.0, 0.0
    last = hi - 1 if missing_left or n_missing == 0 else hi
    for k in range(1, last - lo + before + 1):
        if weights.size:
            w = weights[rows[k - 1]]
        wl += w
        p = lo + k - before
        if p <= lo or (p < hi and (a[f, p] >> 32) == (a[f, p - 1] >> 32)) or k < min_leaf or m - k < min_leaf:
            continue
        score = -(medians[_ERROR, k] + medians[_ERROR + 1, k])
        if not score > best[SCORE] or wl < min_weight or weight - wl < min_weight:
            continue
        if not in_order(rules, facts[DIRECTION, feature], medians[_MEDIAN, k], medians[_MEDIAN + 1, k], best):
            continue
        keep_cut(feature, facts[GAP, feature], a, f, p, lo, hi, n_missing, missing_left, score, best, chosen)


@kernel(allocates=False)
def side_median(output, y, weights, orders, start, end, side, wanted):
    """Median and summed absolute error of the rows in start…end of one side; wanted < 0: of all."""
    w, weight = 1.0, 0.0
    for p in range(start, end):
        if wanted < 0 or side[orders[1 + output, p]] == wanted:
            if weights.size:
                w = weights[orders[1 + output, p]]
            weight += w
    half, reached, median, error = weight / 2.0, 0.0, 0.0, 0.0
    for p in range(start, end):
        if wanted >= 0 and side[orders[1 + output, p]] != wanted:
            continue
        if weights.size:
            w = weights[orders[1 + output, p]]
        if reached < half:
            median = y[orders[1 + output, p], output]
        elif reached == half:
            median = (median + y[orders[1 + output, p], output]) / 2.0
        else:
            break
        reached += w
    for p in range(start, end):
        if wanted < 0 or side[orders[1 + output, p]] == wanted:
            if weights.size:
                w = weights[orders[1 + output, p]]
            error += w * abs(y[orders[1 + output, p], output] - median)
    return median, error
