"""The best threshold of a node of numbers: columns sorted at the node, or once for a whole subtree that is small.

Where all columns are searched, the rows of a subtree are sorted by every column when it gets small enough for the
sorted records (`local`) to stay in the cache, and parted with the rows from then on. Larger nodes are few: they are
sorted one column after the other, which takes no memory to speak of.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.exact._absolute import sweep_absolute
from learnt.forestry.exact._data import GAP, MANY, MISSING_LEFT, POSITION, STOP, TOTALS, Column
from learnt.forestry.exact._draws import draw, remember_constants
from learnt.forestry.exact._plain import read_codes
from learnt.forestry.exact._plain_sort import sort_plain
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value
from learnt.forestry.exact._sweep import sweep_classes, sweep_numbers, sweep_squared, sweep_two


@kernel(allocates=False)
def search_best(start, end, at, known, weight, table, marks, target, rules, work, best, chosen):
    """The best split of the node into `best` and `chosen`; returns how many columns are now known as constant.

    Where `at` is not negative, the node's sorted records begin there in `work.local`. `work.quick` has sweeps of two
    classes or squared errors that know nothing of missing values, `work.slow` those that do and all other criteria.
    features[0] holds, from its start: constant columns, those found constant now, those not drawn, those drawn.
    features[1] remembers the constant ones.
    """
    y, weights = target.y, target.weights
    features, records, sums = work.features, work.records, work.sums
    undrawn, m, zero = features.shape[1], end - start, np.int64(0)
    found, constants, visited = 0, 0, 0
    while undrawn > known + found and (visited < rules.max_features or visited <= found + constants):
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
        gap, a, f, lo, hi = rules.facts[GAP, feature], records, zero, zero, m
        if work.local is not None and at >= 0:
            a, f, lo, hi = work.local, feature, at, at + m
            varies = (a[f, lo] >> 32) != (a[f, hi - 1] >> 32)
        else:
            low, high = read_codes(feature, start, end, rules.row_shift, table, marks, work.codes)
            varies = low < high
            if varies:
                sort_plain(start, m, low, high, work.codes, work.slots, marks, records, zero, work.spare)
        if varies:
            while (a[f, hi - 1] >> 32) == NAN_CODE:
                hi -= 1
                n_missing += 1
            if n_missing == 0:
                varies = record_value(a[f, hi - 1]) > np.float32(record_value(a[f, lo]) + np.float32(gap))
        column = Column(feature, a, f, lo, hi, n_missing)
        for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
            if target.medians is not None:
                sweep_absolute(column, missing_left, weight, start, y, weights, target.medians, rules, best, chosen)
            if work.quick is not None and n_missing == 0 and work.quick.size > 0:
                if target.logs is not None:
                    sweep_two(column, weight, sums[TOTALS, 0, 1], rules, best, chosen)
                if target.amounts is not None:
                    sweep_squared(column, weight, sums[TOTALS, 0, 0], y, rules, best, chosen)
                continue
            if work.slow is not None:
                if target.logs is not None:
                    sweep_classes(column, missing_left, weight, target, rules, sums, best, chosen)
                if target.amounts is not None:
                    sweep_numbers(column, missing_left, weight, target, rules, sums, best, chosen)
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
