"""Splits of one column of categories: in two groups, or one branch for each.

Two groups. Where categories can be put in an order such that the best groups are a beginning and an end of it, the
column is swept in that order like any other: by mean for squared and Poisson errors, by the share of one class where
there are two (Fisher 1958, Breiman et al. 1984). Of more classes all divisions are tried while there are at most 10
categories in the node; beyond that, and for several outputs or absolute errors, the orders by each class (or output)
and along their first principal direction are.

A missing value is a category of its own. A column with many more categories than the node has rows is not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._absolute import sweep_absolute
from learnt.forestry.exact._criteria import class_purity, number_purity
from learnt.forestry.exact._data import (
    EMPTY_SUMS,
    FEATURE,
    MISSING_LEFT,
    N_BRANCHES,
    RUNNING,
    SCORE,
    SEED,
    THRESHOLD,
    TOTALS,
    Column,
)
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value, sort_records, value_code
from learnt.forestry.exact._sweep import sweep_classes, sweep_numbers

# columns of `Groups.entries`: a category's code, rows, weight, key to order by, first record, place in the order, and
# at this place of the order: which group; then its sums
CODE, COUNT, MASS, KEY, OFFSET, PLACE, AT, SUMS = range(8)
CODES, SIDES, LOOKUP = 0, 1, 2  # rows of `subsets`: the groups of the best split, their sides, the side of each code
_EXHAUSTIVE = 10
_MOST_ORDERS = 8
FEW = 64  # so many categories may always be split; more only in nodes with a quarter as many rows


class Groups(NamedTuple):
    """The categories of one column of a node, and room to order them."""

    entries: np.ndarray
    keys: np.ndarray
    scratch: np.ndarray


@kernel(allocates=False)
def group_rows(column, categories, y, weights, row_shift, classes, groups):
    """Sum up runs of equal categories of sorted records; returns how many there are."""
    a, f, lo, hi = column.records, column.f, column.lo, column.hi
    n_groups, n_outputs = 0, y.shape[1]
    w, previous = 1.0, np.int64(0)
    for p in range(lo, hi):
        code = a[f, p] >> 32
        if p == lo or code != previous:
            for c in range(groups.shape[1]):
                groups[n_groups, c] = 0.0
            groups[n_groups, CODE] = categories if code == NAN_CODE else record_value(a[f, p])
            groups[n_groups, OFFSET] = p
            n_groups += 1
        previous = code
        g = n_groups - 1
        row = (a[f, p] & LOW) >> row_shift
        if weights.size:
            w = weights[row]
        groups[g, COUNT] += 1.0
        groups[g, MASS] += w
        for o in range(n_outputs):
            if classes > 0:
                groups[g, SUMS + o * classes + np.int64(y[row, o])] += w
            else:
                groups[g, SUMS + o] += w * y[row, o]
    return n_groups


@kernel(allocates=False)
def arrange(groups, n_groups, scratch, spare):
    """Put the groups in rising order of their keys."""
    for g in range(n_groups):
        scratch[0, g] = (value_code(np.float32(groups[g, KEY])) << 32) | g
    sort_records(scratch, np.int64(0), n_groups, spare)
    for i in range(1, n_groups):  # keys that are equal in float32
        entry = scratch[0, i]
        j = i
        while j > 0 and groups[scratch[0, j - 1] & LOW, KEY] > groups[entry & LOW, KEY]:
            scratch[0, j] = scratch[0, j - 1]
            j -= 1
        scratch[0, j] = entry
    for i in range(n_groups):
        g = scratch[0, i] & LOW
        groups[i, AT] = g
        groups[g, PLACE] = i


@kernel(allocates=False)
def reorder(a, f, groups, n_groups, scratch):
    """Records in the order of the groups, with their places as values."""
    k = 0
    for i in range(n_groups):
        g = np.int64(groups[i, AT])
        value = value_code(np.float32(i)) << 32
        first = np.int64(groups[g, OFFSET])
        for p in range(first, first + np.int64(groups[g, COUNT])):
            scratch[0, k] = value | (a[f, p] & LOW)
            k += 1


@kernel(allocates=False)
def keep_subset(n_groups, groups, best, chosen, subsets):
    """Remember which groups lie left of the cut that was found in their order."""
    n_left, n_right = 0.0, 0.0
    for g in range(n_groups):
        left = groups[g, PLACE] < best[THRESHOLD]
        subsets[CODES, g] = np.int32(groups[g, CODE])
        subsets[SIDES, g] = 1 if left else 0
        n_left += groups[g, MASS] if left else 0.0
        n_right += 0.0 if left else groups[g, MASS]
    chosen[MISSING_LEFT] = 1 if n_left > n_right else 0
    chosen[N_BRANCHES] = n_groups
    best[THRESHOLD] = np.nan


@kernel(allocates=False)
def principal_keys(groups, n_groups, n_columns, weight, work):
    """Keys along the direction in which the groups' shares differ most: a few steps of power iteration."""
    for c in range(n_columns):
        work[0, c] = 0.0
        work[1, c] = 1.0 + 0.1 * c
        for g in range(n_groups):
            work[0, c] += groups[g, SUMS + c] / weight
    for _ in range(12):
        norm = 0.0
        for c in range(n_columns):
            work[2, c] = 0.0
        for g in range(n_groups):
            along = 0.0
            for c in range(n_columns):
                along += (groups[g, SUMS + c] / groups[g, MASS] - work[0, c]) * work[1, c]
            groups[g, KEY] = along
            for c in range(n_columns):
                work[2, c] += groups[g, MASS] * along * (groups[g, SUMS + c] / groups[g, MASS] - work[0, c])
        for c in range(n_columns):
            norm = max(norm, abs(work[2, c]))
        for c in range(n_columns):
            work[1, c] = work[2, c] / norm if norm > 0.0 else work[1, c]


@kernel(allocates=False)
def try_all_subsets(feature, n_groups, weight, rules, groups, sums, best, chosen, subsets):
    """Every division of a few groups in two; the last group is always on the right."""
    n_classes = sums.shape[2]
    running, empty, totals = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS)
    for mask in range(1, 1 << (n_groups - 1)):
        wl, n_left, n_all = 0.0, 0.0, 0.0
        for c in range(n_classes):
            sums[RUNNING, 0, c] = 0.0
        for g in range(n_groups):
            n_all += groups[g, COUNT]
            if (mask >> g) & 1:
                wl += groups[g, MASS]
                n_left += groups[g, COUNT]
                for c in range(n_classes):
                    sums[RUNNING, 0, c] += groups[g, SUMS + c]
        wr = weight - wl
        if min(n_left, n_all - n_left) >= rules.min_leaf and min(wl, wr) >= rules.min_weight:
            score = class_purity(rules.criterion, sums, running, empty, wl)
            score += class_purity(rules.criterion, sums, totals, running, wr)
            if score > best[SCORE]:
                for g in range(n_groups):
                    groups[g, PLACE] = 0.0 if (mask >> g) & 1 else 1.0
                best[SCORE], best[THRESHOLD], chosen[FEATURE] = score, 0.5, feature
                keep_subset(n_groups, groups, best, chosen, subsets)


@kernel(allocates=False)
def try_branches(feature, n_groups, logs, amounts, rules, groups, sums, best, chosen, subsets):
    """One branch for each category, if all are large enough."""
    n_outputs, n_sums, score, allowed = sums.shape[1], sums.shape[2], 0.0, True
    heaviest = 0
    running, empty = np.int64(RUNNING), np.int64(EMPTY_SUMS)
    for g in range(n_groups):
        allowed = allowed and groups[g, COUNT] >= rules.min_leaf and groups[g, MASS] >= rules.min_weight
        heaviest = g if groups[g, MASS] > groups[heaviest, MASS] else heaviest
        for o in range(n_outputs):
            for c in range(n_sums):
                sums[RUNNING, o, c] = groups[g, SUMS + o * n_sums + c]
        if logs is not None:
            score += class_purity(rules.criterion, sums, running, empty, groups[g, MASS])
        if amounts is not None:
            score += number_purity(rules.criterion, sums, running, empty, groups[g, MASS])
    if allowed and score > best[SCORE]:
        best[SCORE], best[THRESHOLD], chosen[FEATURE] = score, np.nan, feature
        chosen[N_BRANCHES], chosen[MISSING_LEFT] = n_groups, 1 if heaviest == 0 else 0
        for g in range(n_groups):
            subsets[CODES, g] = np.int32(groups[g, CODE])
            subsets[SIDES, g] = g


@kernel(allocates=False)
def sweep_categories(column, categories, weight, start, target, rules, groups, work, best, chosen):
    """Look for a better split of the categories; False where all rows of the node have the same one."""
    feature, y, weights = column.feature, target.y, target.weights
    sums, subsets, scratch = work.sums, work.subsets, groups.scratch
    entries = groups.entries
    m, n_columns = column.hi - column.lo, sums.shape[1] * sums.shape[2]
    n_groups = 0
    if categories <= FEW or categories <= 4 * m:
        n_groups = group_rows(column, categories, y, weights, rules.row_shift, rules.n_classes, entries)
    zero = np.int64(0)
    ordered = Column(feature, scratch, zero, zero, m, zero)
    if n_groups > 1 and rules.multiway > 0:
        try_branches(feature, n_groups, target.logs, target.amounts, rules, entries, sums, best, chosen, subsets)
    elif n_groups > 1 and n_groups <= _EXHAUSTIVE and sums.shape[1] == 1 and rules.n_classes > 2:
        if target.logs is not None:
            try_all_subsets(feature, n_groups, weight, rules, entries, sums, best, chosen, subsets)
    elif n_groups > 1:
        n_orders = 1 if n_columns <= 2 and sums.shape[1] == 1 else min(n_columns, _MOST_ORDERS) + 1
        n_orders = 1 if rules.random > 0 else n_orders
        for k in range(n_orders):
            if rules.random > 0:
                for g in range(n_groups):
                    chosen[SEED] = (chosen[SEED] * 1103515245 + 12345) & 0x7FFFFFFF
                    entries[g, KEY] = np.float64(chosen[SEED])
            elif n_orders > 1 and k == n_orders - 1:
                principal_keys(entries, n_groups, n_columns, weight, groups.keys)
            else:
                for g in range(n_groups):
                    share = n_columns - 1 if n_orders == 1 else k
                    entries[g, KEY] = entries[g, SUMS + share] / entries[g, MASS]
            arrange(entries, n_groups, scratch, work.spare)
            reorder(column.records, column.f, entries, n_groups, scratch)
            before = best[SCORE]
            if target.logs is not None:
                sweep_classes(ordered, zero, weight, target, rules, sums, best, chosen)
            if target.medians is not None:
                sweep_absolute(ordered, zero, weight, start, y, weights, target.medians, rules, best, chosen)
            if target.amounts is not None:
                sweep_numbers(ordered, zero, weight, target, rules, sums, best, chosen)
            if best[SCORE] > before:
                keep_subset(n_groups, entries, best, chosen, subsets)
    return n_groups > 1
