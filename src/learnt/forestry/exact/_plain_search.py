"""The best threshold of a node of numbers: columns sorted at the node, or once for a whole subtree that is small.

Where all columns are searched, the rows of a subtree are sorted by every column when it gets small enough for the
sorted records (`local`) to stay in the cache, and parted with the rows from then on. Larger nodes are few: they are
sorted one column after the other, which takes no memory to speak of.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel
from learnt.forestry.exact._absolute import sweep_absolute
from learnt.forestry.exact._data import (
    GAP,
    LABEL_BITS,
    MANY,
    MAX_FEATURES,
    MIN_LEAF,
    MIN_WEIGHT,
    MISSING_LEFT,
    POSITION,
    ROW_SHIFT,
    STOP,
    TOTALS,
    WEIGHT_MASK,
    WEIGHTED,
)
from learnt.forestry.exact._draws import draw, remember_constants
from learnt.forestry.exact._plain import read_codes
from learnt.forestry.exact._plain_sort import sort_plain
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value
from learnt.forestry.exact._sweep import sweep_classes, sweep_numbers, sweep_squared, sweep_two


@kernel(allocates=False)
def search_best(
    start, end, at, known, weight, table, marks, y, weights, logs, amounts, by_y, ranks, links, medians, quick, slow,
    facts, rules, limits, features, codes, slots, records, spare, local, sums, best, chosen,
):  # fmt: skip
    """The best split of the node into `best` and `chosen`; returns how many columns are now known as constant.

    Where `at` is not negative, the node's sorted records begin there in `local`. What is None is not compiled: the
    `quick` sweeps of two classes or squared errors, which know nothing of missing values, and the `slow` ones.
    features[0] holds, from its start: constant columns, those found constant now, those not drawn, those drawn.
    features[1] remembers the constant ones.
    """
    undrawn, m, zero = features.shape[1], end - start, np.int64(0)
    found, constants, visited = 0, 0, 0
    weighted, shift, bits, mask = rules[WEIGHTED], rules[ROW_SHIFT], rules[LABEL_BITS], rules[WEIGHT_MASK]
    min_leaf = rules[MIN_LEAF]
    while undrawn > known + found and (visited < rules[MAX_FEATURES] or visited <= found + constants):
        if m > MANY and atomic_load(chosen, STOP) != 0:
            break
        visited += 1
        j = constants + draw(chosen) % (undrawn - found - constants)
        if j < known:
            features[0, constants], features[0, j] = features[0, j], features[0, constants]
            constants += 1
            continue
        j += found
        feature, n_missing = features[0, j], zero
        gap, a, f, lo, hi = facts[GAP, feature], records, zero, zero, m
        if local is not None and at >= 0:
            a, f, lo, hi = local, feature, at, at + m
            varies = (a[f, lo] >> 32) != (a[f, hi - 1] >> 32)
        else:
            low, high = read_codes(feature, start, end, shift, table, marks, codes)
            varies = low < high
            if varies:
                sort_plain(start, m, low, high, codes, slots, marks, records, zero, spare)
        if varies:
            while (a[f, hi - 1] >> 32) == NAN_CODE:
                hi -= 1
                n_missing += 1
            if n_missing == 0:
                varies = record_value(a[f, hi - 1]) > np.float32(record_value(a[f, lo]) + np.float32(gap))
        for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
            if by_y is not None:
                sweep_absolute(
                    feature, a, f, lo, hi, n_missing, missing_left, weight, start, y, weights, facts, rules,
                    limits, by_y, ranks, links, medians, best, chosen,
                )  # fmt: skip
            if quick is not None and n_missing == 0:
                if logs is not None:
                    sweep_two(
                        feature, a, f, lo, hi, weight, sums[TOTALS, 0, 1], bits, mask, weighted, gap,
                        min_leaf, limits[MIN_WEIGHT], best, chosen,
                    )  # fmt: skip
                if amounts is not None:
                    sweep_squared(
                        feature, a, f, lo, hi, weight, sums[TOTALS, 0, 0], y, shift, bits, mask, weighted,
                        gap, min_leaf, best, chosen,
                    )  # fmt: skip
                continue
            if slow is not None:
                if logs is not None:
                    sweep_classes(
                        feature, a, f, lo, hi, n_missing, missing_left, weight, y, weights, logs, facts,
                        rules, limits, sums, best, chosen,
                    )  # fmt: skip
                if amounts is not None:
                    sweep_numbers(
                        feature, a, f, lo, hi, n_missing, missing_left, weight, y, weights, facts, rules,
                        limits, sums, best, chosen,
                    )  # fmt: skip
        if varies:
            undrawn -= 1
            features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
        else:
            features[0, known + found], features[0, j] = features[0, j], features[0, known + found]
            found += 1
    return remember_constants(known, found, features)


@kernel(allocates=False)
def mark_local(f, at, m, shift, local, side, chosen):
    """Which side every row of the node goes to, from the sorted records of the column chosen; how many go left."""
    position, n_left = chosen[POSITION], 0
    for k in range(m):
        record = local[f, at + k]
        goes = np.int64(k < position) if (record >> 32) != NAN_CODE else chosen[MISSING_LEFT]
        side[(record & LOW) >> shift] = goes
        n_left += goes
    return n_left


@kernel(allocates=False)
def mark_rows(start, middle, end, shift, marks, side):
    """The same of rows that are parted already."""
    for k in range(start, end):
        side[np.int64(marks[k]) >> shift] = np.uint8(k < middle)


@kernel(allocates=False)
def part_marks(start, end, shift, side, marks, spare):
    """Left rows before right ones, both in their old order."""
    n_left, n_right = start, 0
    for k in range(start, end):
        mark = marks[k]
        goes = np.int64(side[np.int64(mark) >> shift])
        marks[n_left] = mark
        spare[n_right] = np.int64(mark)
        n_left += goes
        n_right += 1 - goes
    for k in range(n_right):
        marks[n_left + k] = np.uint32(spare[k])
