"""Growth of one density tree in one compiled call, the best gain first.

Every column is sorted once; `values` and `order` (values and row numbers, a line for each column) hold the rows of a
node side by side, in the node's part of every line, and a split parts all lines, each side in its old order. A node is
a cell of the box, and a cut at the share a of its width with the share s of its rows on the left is worth

    squared error      p² V (s²/a + (1 − s)²/(1 − a) − 1)      what the integrated squared error falls by, p = W/(N V)
    non-uniformity     W/N |s − a|
    entropy            W/N (s log(s/a) + (1 − s) log((1 − s)/(1 − a)))        what the mean log likelihood rises by

with W the weight of the node's rows, N that of all, V the volume of the cell in units of the box. The first is
(s − a)² / (a (1 − a)) but for its factor, and the last is never more than the logarithm of 1 plus that, so that most
cuts need no logarithm. In a large node some cuts beside each other are passed over at once, by the ranges of s and a.
A fourth score, the entropy of Gaussians, depends on the rows and not on the cell: `_gaussian` has it.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.density._data import (
    CUT,
    DEPTH,
    END,
    FEATURE,
    FEWEST,
    GAIN,
    LEFT,
    LEFT_WEIGHT,
    LOG_VOLUME,
    MAX_DEPTH,
    MAX_FEATURES,
    MAX_LEAVES,
    MIN_LEAF,
    NON_UNIFORM,
    POSITION,
    RANDOM,
    SCORE,
    SQUARED,
    START,
    TOTAL,
    WEIGHT,
    between,
    random_cut,
)
from learnt.forestry.density._gaussian import best_gaussian_cut
from learnt.forestry.exact._grow import pop_best, sift_up

ROUNDED = 1.0 - 1e-9  # a bound this much below the best gain is below it whatever rounding did
# Cuts are looked at in so many parts, of no more than so many; a first guess looks at so many of a column.
PARTS, MOST, GUESSES = 64, 64, 16


@kernel(allocates=False)
def worth(score, s, a):
    """The score of a cut up to a constant of the node."""
    if score == SQUARED:
        return s * s / a + (1.0 - s) * (1.0 - s) / (1.0 - a) - 1.0
    if score == NON_UNIFORM:
        return abs(s - a)
    gain = s * np.log(s / a) if s > 0.0 else 0.0
    return gain + ((1.0 - s) * np.log((1.0 - s) / (1.0 - a)) if s < 1.0 else 0.0)


@kernel(allocates=False)
def draw_features(d, wanted, node, uniform, chosen):
    """Mark the columns with the lowest of the node's random numbers."""
    for f in range(d):
        rank = 0
        for g in range(d):
            rank += 1 if uniform[node, g] < uniform[node, f] else 0
        chosen[f] = 1 if rank < wanted else 0


@kernel(allocates=False)
def search(node, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats, gaussian):
    """The best cut of a node into its record; a gain of 0 where there is none."""
    score, part = rules[SCORE], floats[node, WEIGHT] / floats[0, TOTAL]
    floats[node, GAIN], ints[node, FEATURE] = 0.0, -2
    if ints[node, END] - ints[node, START] < rules[FEWEST] or ints[node, DEPTH] >= rules[MAX_DEPTH]:
        return
    draw_features(values.shape[0], rules[MAX_FEATURES], node, uniform, chosen)
    if gaussian is not None:
        best = best_gaussian_cut(
            node, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats, gaussian
        )
    else:
        best = best_cut(node, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats)
    if score == SQUARED:
        part *= part * np.exp(-floats[node, LOG_VOLUME])
    floats[node, GAIN] = best * part


@kernel(allocates=False)
def edge_of(score, best):
    """Cuts with (s − a)² / (a (1 − a)) below this are worth less than `best`."""
    return (best if score == SQUARED else np.exp(best) - 1.0) * ROUNDED


@kernel(allocates=False)
def hopeless(score, low_s, high_s, low_a, high_a, edge, best):
    """Whether no cut with shares of rows and of volume in these ranges is worth more than `best`.

    Above a the worth rises with s and falls with a, below it the other way round: corners have the most.
    """
    if not (low_a > 0.0 and high_a < 1.0):
        return False
    off = max(high_s - low_a, high_a - low_s)
    if score == NON_UNIFORM:
        return off < best * ROUNDED
    if off * off < edge * min(low_a * (1.0 - low_a), high_a * (1.0 - high_a)):
        return True
    top = worth(score, high_s, low_a) if high_s > low_a else 0.0
    return max(top, worth(score, low_s, high_a) if low_s < high_a else 0.0) < best * ROUNDED


@kernel(allocates=False)
def first_guess(node, rules, values, lower, upper, chosen, ints):
    """The worth of a good cut: of some in every column, the one whose shares of rows and volume differ most."""
    start, end, least, most, share, guess = (
        ints[node, START], ints[node, END], rules[MIN_LEAF], 0.0, 0.0, 0.0,
    )  # fmt: skip
    unit, step = 1.0 / np.float64(end - start), 1 + (end - start) // GUESSES
    for f in range(values.shape[0]):
        low, narrow = lower[node, f], 1.0 / (upper[node, f] - lower[node, f])
        for p in range(start + least, end - least + 1 if chosen[f] else start, step):
            s, a = np.float64(p - start) * unit, (0.5 * (values[f, p - 1] + values[f, p]) - low) * narrow
            if abs(s - a) > most and values[f, p - 1] < values[f, p] and a > 0.0 and a < 1.0:
                most, guess, share = abs(s - a), a, s
    return worth(rules[SCORE], share, guess) if most > 0.0 else 0.0


@kernel(allocates=False)
def best_cut(node, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats):
    """The best cut of a node by its cell into its record, and its score up to a constant of the node."""
    d, start, end = values.shape[0], ints[node, START], ints[node, END]
    least, score, weight, best, edge = rules[MIN_LEAF], rules[SCORE], floats[node, WEIGHT], 0.0, 0.0
    floor = 0.0
    exhaustive = rules[RANDOM] == 0
    bounded = exhaustive and score != NON_UNIFORM
    in_parts = exhaustive and weights.size == 0
    if in_parts:
        floor = first_guess(node, rules, values, lower, upper, chosen, ints)
        edge = edge_of(score, floor)
    for f in range(d):
        low, width = lower[node, f], upper[node, f] - lower[node, f]
        if chosen[f] == 0 or not values[f, start] < values[f, end - 1]:
            continue
        cut, first, last = 0.0, start + least, end - least
        if rules[RANDOM] == 1:
            cut, at = random_cut(node, f, values, start, end, uniform)
            first, last = max(first, at), min(last, at)
        left, narrow, unit = 0.0, 1.0 / width, 1.0 / np.float64(end - start)
        if weights.size:
            for p in range(start, min(first, end)):
                left += weights[order[f, p]]
            unit = 1.0 / weight
        some = 1 + min((end - start) // PARTS, MOST) if in_parts else end
        for begin in range(first, last + 1, some):
            stop = min(begin + some, last + 1)
            if (
                in_parts
                and some > 1
                and hopeless(
                    score,
                    np.float64(begin - start) * unit,
                    np.float64(stop - 1 - start) * unit,
                    (values[f, begin - 1] - low) * narrow,
                    (values[f, stop - 1] - low) * narrow,
                    edge,
                    max(best, floor),
                )
            ):
                continue
            for p in range(begin, stop):  # rows before p go left
                a = (0.5 * (values[f, p - 1] + values[f, p]) - low) * narrow
                off = (left if weights.size else np.float64(p - start)) * unit - a
                if bounded and off * off < edge * (a * (1.0 - a)):
                    pass  # no better than the best so far
                elif values[f, p - 1] < values[f, p]:
                    if exhaustive:
                        cut = between(values[f, p - 1], values[f, p])
                    share = left / weight if weights.size else np.float64(p - start) / np.float64(end - start)
                    a = (cut - low) / width
                    if a > 0.0 and a < 1.0:
                        gain = worth(score, share, a)
                        if gain > best:
                            best, edge = gain, max(edge, edge_of(score, gain))
                            ints[node, FEATURE], ints[node, POSITION] = f, p
                            floats[node, CUT], floats[node, LEFT_WEIGHT] = cut, share * weight
                if weights.size and p < end:
                    left += weights[order[f, p]]
    return best


@kernel(allocates=False)
def part_lines(node, middle, values, order, ints, side, spare_order, spare_values):
    """Left rows before right ones in every line, both in their old order."""
    start, end, feature = ints[node, START], ints[node, END], ints[node, FEATURE]
    for p in range(start, end):
        side[order[feature, p]] = 1 if p < middle else 0
    for f in range(values.shape[0]):
        if f == feature:
            continue
        n_left, n_right = start, 0
        for p in range(start, end):
            row, value = order[f, p], values[f, p]
            goes = np.int64(side[row])
            order[f, n_left], values[f, n_left] = row, value
            spare_order[n_right], spare_values[n_right] = row, value
            n_left += goes
            n_right += 1 - goes
        for k in range(n_right):
            order[f, n_left + k], values[f, n_left + k] = spare_order[k], spare_values[k]


@kernel(allocates=False)
def add_cell(child, parent, is_left, first, last, weight, lower, upper, ints, floats):
    """Write a child: its rows, weight and cell."""
    feature, cut = ints[parent, FEATURE], floats[parent, CUT]
    ints[child, START], ints[child, END], ints[child, DEPTH] = first, last, ints[parent, DEPTH] + 1
    ints[child, LEFT], floats[child, WEIGHT] = -1, weight
    for f in range(lower.shape[1]):
        lower[child, f], upper[child, f] = lower[parent, f], upper[parent, f]
    a = (cut - lower[parent, feature]) / (upper[parent, feature] - lower[parent, feature])
    if is_left:
        upper[child, feature] = cut
    else:
        lower[child, feature] = cut
    floats[child, LOG_VOLUME] = floats[parent, LOG_VOLUME] + np.log(a if is_left else 1.0 - a)


@kernel(allocates=False)
def grow_cells(rules, values, order, weights, uniform, lower, upper, ints, floats, gaussian, work):
    """Grow from node 0, whose record is written, until no cut is worth anything, nodes have too few rows or there are
    enough leaves.

    Returns the number of nodes; children come in pairs, left before right. `gaussian` is the rows and
    `room_for_gaussians`, or None for the other scores; `work` is room for the heap of leaves, the columns drawn, the
    sides of rows, and a line of order and values.
    """
    heap, chosen, side, spare_order, spare_values = work
    count, looked_at, leaves, n_heap, gain = 1, 0, 1, 0, np.int64(GAIN)
    while True:
        for child in range(looked_at, count):
            search(child, rules, values, order, weights, uniform, lower, upper, chosen, ints, floats, gaussian)
            sift_up(heap, floats, gain, np.int64(n_heap), np.int64(child))
            n_heap += 1
        looked_at = count
        if leaves >= rules[MAX_LEAVES] or count + 2 > ints.shape[0]:
            return count
        node = np.int64(pop_best(heap, n_heap, floats, gain))
        n_heap -= 1
        if not floats[node, GAIN] > 0.0:
            return count
        first, middle, last, left = ints[node, START], ints[node, POSITION], ints[node, END], floats[node, LEFT_WEIGHT]
        part_lines(node, middle, values, order, ints, side, spare_order, spare_values)
        ints[node, LEFT] = count
        add_cell(count, node, True, first, middle, left, lower, upper, ints, floats)
        add_cell(count + 1, node, False, middle, last, floats[node, WEIGHT] - left, lower, upper, ints, floats)
        count += 2
        leaves += 1
