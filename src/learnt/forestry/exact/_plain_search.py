"""The best threshold of a node of numbers: columns sorted at the node, or once for a whole subtree that is small.

Where all columns are searched, the rows of a subtree are sorted by every column when it gets small enough for the
sorted records (`local`) to stay in the cache, and parted with the rows from then on. Larger nodes are few: they are
sorted one column after the other, which takes no memory to speak of.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.kernel.pointers import call, load
from learnt.forestry.exact._absolute import rank_rows, sweep_absolute
from learnt.forestry.exact._criteria import GINI, SQUARED
from learnt.forestry.exact._data import GAP, MANY, MISSING_LEFT, POSITION, STOP, TOTALS, Column
from learnt.forestry.exact._draws import draw, remember_constants
from learnt.forestry.exact._plain_data import Sweeps
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value
from learnt.forestry.exact._sweep import sweep_classes, sweep_numbers, sweep_squared, sweep_two


@kernel(allocates=False)
def search_two(node, given):
    """By the Gini impurity of two classes where nothing is missing."""
    return search_best(node, given, Sweeps(1, None, None, None, None))


@kernel(allocates=False)
def search_classes(node, given):
    """By any impurity of classes."""
    return search_best(node, given, Sweeps(1, None, 1, None, None))


@kernel(allocates=False)
def search_squared(node, given):
    """By squared errors where nothing is missing and no weight must be looked up."""
    return search_best(node, given, Sweeps(None, 1, None, None, None))


@kernel(allocates=False)
def search_numbers(node, given):
    """By any error about means."""
    return search_best(node, given, Sweeps(None, 1, None, 1, None))


@kernel(allocates=False)
def search_medians(node, given):
    """By absolute errors."""
    target = given.target
    rank_rows(node.start, node.end, target.y, target.weights, load(target.medians))
    return search_best(node, given, Sweeps(None, None, None, None, 1))


@kernel(allocates=False)
def search_best(node, given, sweeps):
    """The best split of the node into `best` and `chosen`; returns how many columns are now known as constant.

    features[0] holds, from its start: constant columns, those found constant now, those not drawn, those drawn.
    features[1] remembers the constant ones.
    """
    target, rules, work, best, chosen = given.target, load(given.rules), given.work, given.best, given.chosen
    y, weights = target.y, target.weights
    start, end, at, known, weight = node.start, node.end, node.at, node.known, node.weight
    features, records, sums = work.features, work.records, work.sums
    undrawn, m, zero = features.shape[1], end - start, np.int64(0)
    found, constants, visited = 0, 0, 0
    medians = load(target.medians)
    two = rules.n_classes == 2 and rules.criterion == GINI
    squared = rules.criterion == SQUARED and rules.weighted < 2 and rules.min_weight <= 0.0
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
        if at >= 0:
            a, f, lo, hi = work.local, feature, at, at + m
            varies = (a[f, lo] >> 32) != (a[f, hi - 1] >> 32)
        else:
            varies = call(node.order, (feature, start, end, zero, given)) != 0
        if varies:
            while (a[f, hi - 1] >> 32) == NAN_CODE:
                hi -= 1
                n_missing += 1
            if n_missing == 0:
                varies = record_value(a[f, hi - 1]) > np.float32(record_value(a[f, lo]) + np.float32(gap))
        column = Column(feature, a, f, lo, hi, n_missing)
        for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
            if sweeps.medians is not None:
                sweep_absolute(column, missing_left, weight, start, y, weights, medians, rules, best, chosen)
            if sweeps.two is not None and two and n_missing == 0:
                sweep_two(column, weight, sums[TOTALS, 0, 1], rules, best, chosen)
                continue
            if sweeps.squared is not None and squared and n_missing == 0:
                sweep_squared(column, weight, sums[TOTALS, 0, 0], y, rules, best, chosen)
                continue
            if sweeps.classes is not None:
                sweep_classes(column, missing_left, weight, target, rules, sums, best, chosen)
            if sweeps.numbers is not None:
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
