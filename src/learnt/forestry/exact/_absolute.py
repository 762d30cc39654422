"""Splits by absolute error: the error around the median of everything left of a position, and right of it.

Rows leave a node one at a time, in the order of the column: from its end, which gives the errors of all beginnings,
and from its beginning. The node's rows by y are a linked list from which they are taken out; the median is then the
same row as before or the next one. So a column takes time in proportion to its rows. Whole weights are that many copies
of a row. Where they are not whole, or the medians themselves are asked for, rows are entered into a tree of prefix
sums over their ranks instead, in which the median is where the prefix reaches half the weight: m log m.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._data import DIRECTION, GAP, SCORE, Medians, Rules
from learnt.forestry.exact._records import LOW
from learnt.forestry.exact._sweep import in_order, keep_cut

# rows of `room`: errors of both sides, their medians, prefix sums of weights and of y; then y in order, by output
_ERROR, _MEDIAN, _SUM, VALUES = 0, 2, 4, 6
_PREVIOUS, _NEXT, N_LINKS = 0, 1, 4  # of a place in the list, for rows that leave from the end; from the beginning: +2
_MOST_COPIES = 4  # of a row, on average


def median_work(y: np.ndarray, rows: np.ndarray, rules: Rules) -> Medians:
    """The rows by each output, and room for the rest."""
    n, n_outputs = y.shape
    by_y, ranks = np.empty((n_outputs, len(rows)), np.int32), np.empty((n_outputs, n), np.int32)
    for o in range(n_outputs):
        by_y[o] = rows[np.argsort(y[rows, o], kind="stable")]
    total = int(rules.total_weight)
    listed = rules.weighted < 2 and total <= _MOST_COPIES * len(rows) and not rules.monotone
    links = np.empty((total + 2 if listed else 0, N_LINKS), np.uint32)
    return Medians(by_y, ranks, links, np.zeros((VALUES + n_outputs, max(total if listed else 0, len(rows)) + 2)))


@kernel(allocates=False)
def rank_rows(start, end, y, weights, medians):
    """The place of every row of a node by y, from 1 on, and y in this order, less a number in its middle."""
    by_y, ranks, links, room = medians.by_y, medians.ranks, medians.links, medians.room
    for o in range(y.shape[1]):
        centre, at, copies = y[by_y[o, (start + end) // 2], o], 1, 1
        for k in range(start, end):
            row = by_y[o, k]
            ranks[o, row] = at
            if links.size and weights.size:
                copies = np.int64(weights[row])
            for _ in range(copies):
                room[VALUES + o, at] = y[row, o] - centre
                at += 1


@kernel(allocates=False)
def link_up(count, links):
    """The list of all places 1…count, with an end before and one behind them."""
    for k in range(count + 2):
        links[k, _PREVIOUS] = links[k, _PREVIOUS + 2] = np.uint32(k - 1 if k > 0 else 0)
        links[k, _NEXT] = links[k, _NEXT + 2] = np.uint32(k + 1)


@kernel(allocates=False)
def take_out(place, count, median, below, way, values, links, room):
    """Take a place out of a list of `count`; the place of the (lower) median then, and the sum of what is before it."""
    before, after = links[place, way + _PREVIOUS], links[place, way + _NEXT]
    if count & 1:
        step, smaller = links[median, way + _PREVIOUS], place < median
        below -= room[values, place if smaller else step]
        median = median if smaller else step
    else:
        step, larger = links[median, way + _NEXT], place > median
        below += 0.0 if larger else room[values, median] - room[values, place]
        median = median if larger else step
    links[before, way + _NEXT] = after
    links[after, way + _PREVIOUS] = before
    return median, below


@kernel(allocates=False)
def list_errors(output, column, m, first, shift, count, weights, medians):
    """Adds the errors of the first k rows, and of those from k on, of one output to those of the others.

    The rows are those of records lo…lo + m from `first` on, then those before it; `count` copies in all.
    """
    a, f, lo = column.records, column.f, column.lo
    ranks, links, room = medians.ranks, medians.links, medians.room
    link_up(count, links)
    values, way, other = VALUES + output, np.int64(0), np.int64(2)
    total, below, copies = 0.0, 0.0, np.int64(1)
    middle = np.uint32((count + 1) // 2)
    for k in range(1, count + 1):
        total += room[values, k]
        below += room[values, k] if k < middle else 0.0
    right_median, right_sum, right_below, right_count = middle, total, below, count
    left_median, left_sum, left_below, left_count = middle, total, below, count
    for k in range(1, m):
        at = first + m - k
        row = (a[f, lo + (at if at < m else at - m)] & LOW) >> shift
        place = np.uint32(ranks[output, row])
        if weights.size:
            copies = np.int64(weights[row])
        left_sum -= copies * room[values, place]
        for c in range(copies):
            left_median, left_below = take_out(
                np.uint32(place + c), left_count, left_median, left_below, way, values, links, room
            )
            left_count -= 1
        error = left_sum - 2.0 * left_below - room[values, left_median] * (2 - (left_count & 1))
        room[_ERROR, m - k] += error
        at = first + k - 1
        row = (a[f, lo + (at if at < m else at - m)] & LOW) >> shift
        place = np.uint32(ranks[output, row])
        if weights.size:
            copies = np.int64(weights[row])
        right_sum -= copies * room[values, place]
        for c in range(copies):
            right_median, right_below = take_out(
                np.uint32(place + c), right_count, right_median, right_below, other, values, links, room
            )
            right_count -= 1
        error = right_sum - 2.0 * right_below - room[values, right_median] * (2 - (right_count & 1))
        room[_ERROR + 1, k] += error


@kernel(allocates=False)
def prefix_errors(output, side, column, m, first, shift, start, y, weights, medians):
    """The same for one side, and sets the medians, by a tree of prefix sums; links are not needed."""
    a, f, lo = column.records, column.f, column.lo
    by_y, ranks, room = medians.by_y, medians.ranks, medians.room
    top = 1
    while top * 2 <= m:
        top *= 2
    for k in range(m + 1):
        room[_SUM, k] = 0.0
        room[_SUM + 1, k] = 0.0
    w, weight, total = 1.0, 0.0, 0.0
    for k in range(m):
        at = first + (m - 1 - k if side else k)
        row = (a[f, lo + (at if at < m else at - m)] & LOW) >> shift
        if weights.size:
            w = weights[row]
        wy = w * y[row, output]
        weight += w
        total += wy
        i = np.int64(ranks[output, row])
        while i <= m:
            room[_SUM, i] += w
            room[_SUM + 1, i] += wy
            i += i & -i
        half = weight / 2.0
        place, below, below_y = 0, 0.0, 0.0  # the largest prefix that weighs less than half
        step = top
        while step > 0:
            if place + step <= m and below + room[_SUM, place + step] < half:
                place += step
                below += room[_SUM, place]
                below_y += room[_SUM + 1, place]
            step >>= 1
        row = np.int64(by_y[output, start + place])
        median = y[row, output]
        at = m - 1 - k if side else k + 1
        room[_ERROR + side, at] += (total - below_y) - median * (weight - below) + (median * below - below_y)
        if weights.size:
            w = weights[row]
        if below + w == half:  # any value up to the next row's is a median: the middle, as for an even number of rows
            place, below = 0, 0.0
            step = top
            while step > 0:
                if place + step <= m and below + room[_SUM, place + step] <= half:
                    place += step
                    below += room[_SUM, place]
                step >>= 1
            median = (median + y[by_y[output, start + place], output]) / 2.0
        room[_MEDIAN + side, at] = median


@kernel(allocates=False)
def sweep_absolute(column, missing_left, weight, start, y, weights, medians, rules, best, chosen):
    """Cuts of one column by absolute error."""
    a, f, lo, hi, n_missing = column.records, column.f, column.lo, column.hi, column.n_missing
    room = medians.room
    m, shift, min_leaf, min_weight = hi - lo + n_missing, rules.row_shift, rules.min_leaf, rules.min_weight
    before = n_missing if missing_left else 0
    first = hi - lo if missing_left else 0
    for k in range(m + 1):
        room[_ERROR, k] = 0.0
        room[_ERROR + 1, k] = 0.0
    for o in range(y.shape[1]):
        if medians.links.size:
            list_errors(o, column, m, first, shift, np.int64(weight), weights, medians)
        else:
            for side in range(2):
                prefix_errors(o, side, column, m, first, shift, start, y, weights, medians)
    w, wl = 1.0, 0.0
    last = hi - 1 if missing_left or n_missing == 0 else hi
    for k in range(1, last - lo + before + 1):
        p = lo + k - before
        if weights.size:
            w = weights[(a[f, p - 1 if p > lo else hi + k - 1] & LOW) >> shift]
        wl += w
        if p <= lo or (p < hi and (a[f, p] >> 32) == (a[f, p - 1] >> 32)) or k < min_leaf or m - k < min_leaf:
            continue
        score = -(room[_ERROR, k] + room[_ERROR + 1, k])
        if not score > best[SCORE] or wl < min_weight or weight - wl < min_weight:
            continue
        if not in_order(rules, rules.facts[DIRECTION, column.feature], room[_MEDIAN, k], room[_MEDIAN + 1, k], best):
            continue
        keep_cut(column, rules.facts[GAP, column.feature], p, missing_left, score, best, chosen)


@kernel(allocates=False)
def side_median(output, y, weights, by_y, start, end, side, wanted):
    """Weight, median and summed absolute error of the rows in start…end of one side; wanted < 0: of all."""
    w, weight = 1.0, 0.0
    for p in range(start, end):
        row = np.int64(by_y[output, p])
        if wanted < 0 or side[row] == wanted:
            if weights.size:
                w = weights[row]
            weight += w
    half, reached, median, error = weight / 2.0, 0.0, 0.0, 0.0
    for p in range(start, end):
        row = np.int64(by_y[output, p])
        if wanted >= 0 and side[row] != wanted:
            continue
        if weights.size:
            w = weights[row]
        if reached < half:
            median = y[row, output]
        elif reached == half:
            median = (median + y[row, output]) / 2.0
        else:
            break
        reached += w
    for p in range(start, end):
        row = np.int64(by_y[output, p])
        if wanted < 0 or side[row] == wanted:
            if weights.size:
                w = weights[row]
            error += w * abs(y[row, output] - median)
    return weight, median, error
