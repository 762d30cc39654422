"""Dense tables of numbers with one output, columns drawn at each node: what forests are grown on.

Everything that one column takes is a few straight loops over the rows of the node, with no branch to predict. Values
are read as the bits of float32 and compared as integers in the same order (`value_code`), so that loops over them are
vectorised. `marks` holds the rows of every node side by side, as tails: the row, its weight and its class in 32 bits.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._absolute import side_median
from learnt.forestry.exact._criteria import POISSON, class_impurity, deviation
from learnt.forestry.exact._data import EMPTY_SUMS, TOTALS
from learnt.forestry.exact._records import NAN_CODE, value_code

CODES = 0  # the row of `codes` that holds the codes of a column
SLOTS, COUNTS = 0, 1  # rows of `slots`, which sorting needs
BUCKETS = 4096
ROOM = BUCKETS + 1
INFINITY = 0x7F800000  # the bits of infinity; above it is what is no number
_SIZE = 0x7FFFFFFF


@kernel(allocates=False)
def weigh_rows(start, end, shift, marks, y, weights, heaps):
    """Weights, and weights times y, of the node's rows; where there are no weights, y alone."""
    if weights.size == 0:
        for k in range(end - start):
            heaps[0, k] = y[np.int64(marks[start + k]) >> shift, 0]
        return
    for k in range(end - start):
        row = np.int64(marks[start + k]) >> shift
        w = weights[row]
        heaps[0, k], heaps[1, k] = w, w * y[row, 0]


@kernel(allocates=False)
def read_codes(feature, start, end, shift, table, marks, codes):
    """Codes of the node's rows for one column; the smallest and the largest."""
    for k in range(end - start):
        codes[CODES, k] = table[np.int64(marks[start + k]) >> shift, feature]
    low, high = np.int32(NAN_CODE), np.int32(-NAN_CODE)
    for k in range(end - start):  # a loop of its own, which is vectorised
        bits = codes[CODES, k]
        size = np.int32(bits & np.int32(_SIZE))
        code = bits if bits >= 0 else np.int32(-size)
        code = code if size <= np.int32(INFINITY) else np.int32(NAN_CODE)
        low = code if code < low else low
        high = code if code > high else high
        codes[CODES, k] = code
    return np.int64(low), np.int64(high)


@kernel(allocates=False)
def largest_present(codes, m):
    """The largest code of the column that is not missing."""
    high = np.int32(-NAN_CODE)
    for k in range(m):
        code = codes[CODES, k]
        high = code if code > high and code != np.int32(NAN_CODE) else high
    return np.int64(high)


@kernel(allocates=False)
def cut_of(threshold):
    """The largest code of a value at or below the threshold."""
    rounded = np.float32(threshold)
    return np.int32(value_code(rounded) - (1 if rounded > threshold else 0))


@kernel(allocates=False)
def part_plain(feature, start, end, shift, cut, missing_left, table, marks, spare):
    """Rows at or below the cut before the others, both in their old order; how many there are."""
    n_left, n_right = start, 0
    for k in range(start, end):
        mark = marks[k]
        bits = np.int64(table[np.int64(mark) >> shift, feature])
        size = bits & _SIZE
        goes = np.int64((bits if bits >= 0 else -size) <= cut)
        goes = goes if size <= INFINITY else missing_left
        marks[n_left] = mark
        spare[n_right] = np.int64(mark)
        n_left += goes
        n_right += 1 - goes
    for k in range(n_right):
        marks[n_left + k] = np.uint32(spare[k])
    return n_left - start


@kernel(allocates=False)
def weigh_sides(start, middle, end, weight, marks, target, rules, side_of, sums, out):
    """Sums of the classes or of y (or medians), weights out[0…1] and impurities out[2…3] of the rows on both sides."""
    y, weights = target.y, target.weights
    empty, zero, shift = np.int64(EMPTY_SUMS), np.int64(0), rules.row_shift
    for side in range(2):
        first, last = start if side == 0 else middle, middle if side == 0 else end
        if first == last:  # the root, all on the left
            continue
        if target.logs is not None:
            if side == 0:
                out[0] = count_classes(first, last, marks, rules, sums)
            else:  # integers: nothing is lost by subtraction
                out[1] = weight - out[0]
                for c in range(sums.shape[2]):
                    sums[1, 0, c] = sums[TOTALS, 0, c] - sums[0, 0, c]
            out[2 + side] = class_impurity(rules.criterion, sums, side, empty, out[side])
        if target.amounts is not None:
            out[side], sums[side, 0, 0] = sum_numbers(first, last, marks, shift, y, weights)
            mean = sums[side, 0, 0] / out[side]
            out[2 + side] = spread(first, last, marks, shift, mean, rules.criterion, y, weights) / out[side]
        if target.medians is not None:
            by_y = target.medians.by_y
            out[side], sums[side, 0, 0], error = side_median(zero, y, weights, by_y, first, last, side_of, np.int64(-1))
            out[2 + side] = error / out[side]


@kernel(allocates=False)
def count_classes(first, last, marks, rules, sums):
    """The weights of the classes into sums[0]; of all of them together."""
    bits, mask, label_mask = rules.label_bits, rules.weight_mask, rules.label_mask
    weight, ones = np.int64(0), np.int64(0)
    for c in range(sums.shape[2]):
        sums[0, 0, c] = 0.0
    for k in range(first, last):
        mark = np.int64(marks[k])
        w = (mark >> bits) & mask if mask else np.int64(1)
        weight += w
        ones += w * (mark & 1)
        if label_mask > 1:
            sums[0, 0, mark & label_mask] += w
    if label_mask == 1:
        sums[0, 0, 0] = np.float64(weight - ones)
        if sums.shape[2] > 1:
            sums[0, 0, 1] = np.float64(ones)
    return np.float64(weight)


@kernel(allocates=False)
def sum_numbers(first, last, marks, shift, y, weights):
    """The weight of the rows and the sum of their y."""
    w, weight, total = 1.0, 0.0, 0.0
    for k in range(first, last):
        row = np.int64(marks[k]) >> shift
        if weights.size:
            w = weights[row]
        weight += w
        total += w * y[row, 0]
    return weight, total


@kernel(allocates=False)
def spread(first, last, marks, shift, mean, criterion, y, weights):
    """The summed distance of y from its mean; exactly 0 where all y are the same."""
    if criterion == POISSON and mean <= 0.0:
        return np.inf
    w, total, low, high = 1.0, 0.0, np.inf, -np.inf
    for k in range(first, last):
        row = np.int64(marks[k]) >> shift
        value = y[row, 0]
        if weights.size:
            w = weights[row]
        total += w * deviation(criterion, value, mean)
        low, high = min(low, value), max(high, value)
    return total if high > low else 0.0
