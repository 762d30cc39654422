"""The best split of one node: columns drawn at random without replacement, constant ones remembered for the children.

The draws are scikit-learn's for the same seed: the same generator (Marsaglia's xorshift of 32 bits) in the same order.
So ties are broken as there, and a search of some of the columns looks at the same ones.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel
from learnt.forestry.exact._absolute import side_median, sweep_absolute
from learnt.forestry.exact._categories import sweep_categories
from learnt.forestry.exact._criteria import ABSOLUTE, GINI, SQUARED, class_purity, number_purity
from learnt.forestry.exact._data import (
    CATEGORIES,
    CRITERION,
    DIRECTION,
    FEATURE,
    GAP,
    LABEL_BITS,
    LABEL_MASK,
    MANY,
    MAX_FEATURES,
    MIN_LEAF,
    MIN_WEIGHT,
    MISSING_LEFT,
    MONOTONE,
    N_BRANCHES,
    N_CLASSES,
    N_MISSING,
    NOTHING,
    POSITION,
    PRESORTED,
    ROW_SHIFT,
    RUNNING,
    SAVED,
    SCORE,
    STOP,
    THRESHOLD,
    TOTALS,
    WEIGHT_MASK,
    WEIGHTED,
)
from learnt.forestry.exact._draws import draw, remember_constants
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value, sort_records, value_code
from learnt.forestry.exact._sparse import FILLED, fetch_sparse, sweep_sparse
from learnt.forestry.exact._sweep import in_order, sweep_classes, sweep_numbers, sweep_squared, sweep_two


@kernel(allocates=False)
def fetch_dense(feature, start, end, columns, tails, orders, out):
    """Records of the node's rows for one column, unsorted, into out[0]; False where their values are all the same."""
    differs, first = np.int64(0), value_code(columns[orders[0, start], feature])
    for k in range(end - start):
        row = np.int64(orders[0, start + k])
        code = value_code(columns[row, feature])
        differs |= code ^ first
        out[0, k] = (code << 32) | np.int64(tails[row])
    return differs != 0


@kernel(allocates=False)
def count_left(a, m, threshold, missing_left, n_missing, y, weights, rules, side, sums):
    """Sums of the rows at or below the threshold into sums[RUNNING]; their number and weight."""
    rounded = np.float32(threshold)
    cut = value_code(rounded) - (1 if rounded > threshold else 0)  # x ≤ threshold just where code ≤ cut
    shift, bits, mask, weighted = rules[ROW_SHIFT], rules[LABEL_BITS], rules[WEIGHT_MASK], rules[WEIGHTED]
    n_outputs, classes = sums.shape[1], rules[N_CLASSES]
    for o in range(n_outputs):
        for c in range(sums.shape[2]):
            sums[RUNNING, o, c] = 0.0
    w, wl, n_left, total = 1.0, 0.0, 0, 0.0
    single = n_outputs == 1 and (classes == 0 or bits > 0) and rules[CRITERION] != ABSOLUTE
    for k in range(m):
        record = a[0, k]
        code = record >> 32
        goes = code <= cut
        if n_missing > 0 and code == NAN_CODE:
            goes = missing_left == 1
        n_left += 1 if goes else 0
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        elif weighted == 2:
            w = weights[(record & LOW) >> shift]
        mine = w if goes else 0.0
        wl += mine
        if single and classes == 0:
            total += mine * y[(record & LOW) >> shift, 0]
        elif single and classes == 2:
            total += mine * (record & 1)
        elif single:
            sums[RUNNING, 0, record & rules[LABEL_MASK]] += mine
        else:
            row = (record & LOW) >> shift
            side[row] = 1 if goes else 0
            for o in range(n_outputs):
                if classes > 0:
                    sums[RUNNING, o, np.int64(y[row, o])] += mine
                else:
                    sums[RUNNING, o, 0] += mine * y[row, o]
    if single and classes == 0:
        sums[RUNNING, 0, 0] = total
    elif single and classes == 2:
        sums[RUNNING, 0, 0], sums[RUNNING, 0, 1] = wl - total, total
    return n_left, wl


@kernel(allocates=False)
def random_cut(
    feature, a, m, weight, start, y, weights, logs, amounts, medians, facts, rules, limits, by_y, side, sums, best,
    chosen,
):  # fmt: skip
    """One threshold, drawn between the smallest and the largest value of the node, as the best split if it is better.

    Returns False where the column is constant.
    """
    lowest, highest, n_missing = np.int64(NAN_CODE), np.int64(-NAN_CODE - 1), 0
    for k in range(m):
        code = a[0, k] >> 32
        n_missing += 1 if code == NAN_CODE else 0
        lowest = min(lowest, code)
        highest = max(highest, code if code != NAN_CODE else highest)
    low, high = record_value(lowest << 32), record_value(highest << 32)
    varies = n_missing < m and (n_missing > 0 or high > np.float32(low + np.float32(facts[GAP, feature])))
    if varies:
        threshold = (np.float64(high) - np.float64(low)) * draw(chosen) / 2147483647.0 + np.float64(low)
        missing_left = np.int64(0)
        if n_missing > 0:
            missing_left = draw(chosen) & 1
        running, nothing, totals = np.int64(RUNNING), np.int64(NOTHING), np.int64(TOTALS)
        if threshold == high:
            threshold = np.float64(low)
        n_left, wl = count_left(a, m, threshold, missing_left, n_missing, y, weights, rules, side, sums)
        wr = weight - wl
        if min(n_left, m - n_left) >= rules[MIN_LEAF] and min(wl, wr) >= limits[MIN_WEIGHT]:
            left_value, right_value = sums[RUNNING, 0, 0] / wl, (sums[TOTALS, 0, 0] - sums[RUNNING, 0, 0]) / wr
            criterion, score = rules[CRITERION], 0.0
            if logs is not None:
                score = class_purity(criterion, sums, running, nothing, wl)
                score += class_purity(criterion, sums, totals, running, wr)
            if amounts is not None:
                score = number_purity(criterion, sums, running, nothing, wl)
                score += number_purity(criterion, sums, totals, running, wr)
            if medians is not None:
                for o in range(sums.shape[1]):
                    _, right_value, error = side_median(o, y, weights, by_y, start, start + m, side, np.int64(0))
                    _, left_value, other = side_median(o, y, weights, by_y, start, start + m, side, np.int64(1))
                    score -= error + other
            if score > best[SCORE] and in_order(rules, facts[DIRECTION, feature], left_value, right_value, best):
                best[SCORE], best[THRESHOLD] = score, threshold
                chosen[FEATURE], chosen[POSITION], chosen[N_MISSING] = feature, n_left, n_missing
                chosen[MISSING_LEFT] = missing_left if n_missing > 0 else (1 if 2 * n_left > m else 0)
                chosen[N_BRANCHES] = 0
    return varies


@kernel(allocates=False)
def put_aside(a, f, first, last, y, weights, rules, sums):
    """Take records first…last off sums[TOTALS], which is kept in sums[SAVED]; returns their weight."""
    w, weight, shift, classes = 1.0, 0.0, rules[ROW_SHIFT], rules[N_CLASSES]
    for o in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            sums[SAVED, o, c] = sums[TOTALS, o, c]
    for p in range(first, last):
        row = (a[f, p] & LOW) >> shift
        if weights.size:
            w = weights[row]
        weight += w
        for o in range(sums.shape[1]):
            if classes > 0:
                sums[TOTALS, o, np.int64(y[row, o])] -= w
            else:
                sums[TOTALS, o, 0] -= w * y[row, o]
    return weight


@kernel(allocates=False)
def find_split(
    start, end, known, weight, columns, stretches, cells, tails, y, weights, logs, amounts, medians, facts, rules,
    limits, records, spare, orders, by_y, ranks, links, places, side, sums, features, subsets, groups, keys, scratch,
    uniform, relatives, best, chosen,
):  # fmt: skip
    """The best split of the node into `best` and `chosen`; returns how many columns are now known as constant.

    features[0] holds, from its start: constant columns, those found constant now, those not drawn, those drawn.
    features[1] remembers the constant ones. What is None is not used, and not compiled.
    """
    undrawn = features.shape[1]
    found, drawn_constant, visited, zero = 0, 0, 0, np.int64(0)
    presorted, weighted, criterion = rules[PRESORTED], rules[WEIGHTED], rules[CRITERION]
    shift, bits, mask, min_leaf = rules[ROW_SHIFT], rules[LABEL_BITS], rules[WEIGHT_MASK], rules[MIN_LEAF]
    totals, nothing = np.int64(TOTALS), np.int64(NOTHING)
    plain = sums.shape[1] == 1 and weighted < 2 and rules[MONOTONE] == 0
    two = plain and rules[N_CLASSES] == 2 and criterion == GINI and bits > 0
    squared = plain and criterion == SQUARED and limits[MIN_WEIGHT] <= 0.0
    while undrawn > known + found and (visited < rules[MAX_FEATURES] or visited <= found + drawn_constant):
        if end - start > MANY and atomic_load(chosen, STOP) != 0:
            break
        visited += 1
        j = drawn_constant + draw(chosen) % (undrawn - found - drawn_constant)
        if j < known:
            features[0, drawn_constant], features[0, j] = features[0, j], features[0, drawn_constant]
            drawn_constant += 1
            continue
        j += found
        feature = features[0, j]
        categories = np.int64(facts[CATEGORIES, feature])
        f = feature if presorted else zero
        lo, hi = start if presorted else zero, end if presorted else end - start
        varies, n_missing, gap, heft, base, before = True, zero, facts[GAP, feature], weight, 0.0, best[SCORE]
        if cells is not None:
            varies = stretches[FILLED, feature] > 0
            if varies and (groups is not None or uniform is not None or medians is not None):
                varies = fetch_sparse(feature, start, end, shift, tails, orders, places, stretches, cells, records)
        if columns is not None:
            varies = fetch_dense(feature, start, end, columns, tails, orders, records)
        if relatives is not None:  # rows without a value are put aside; what counts is what a split gains
            while hi > lo and (records[f, hi - 1] >> 32) == NAN_CODE:
                hi -= 1
            heft = weight - put_aside(records, f, hi, end, y, weights, rules, sums)
            varies = hi > lo
            if logs is not None and varies:
                base = class_purity(criterion, sums, totals, nothing, heft)
            if amounts is not None and varies:
                base = number_purity(criterion, sums, totals, nothing, heft)
            best[SCORE] = before + base
        by_category = categories > 0
        if by_category and groups is not None:
            if varies and not presorted:
                sort_records(records, f, hi, spare)
            if varies:
                varies = sweep_categories(
                    feature, categories, records, f, lo, hi, heft, start, y, weights, logs, amounts, medians, facts,
                    rules, limits, by_y, ranks, links, spare, sums, subsets, groups, keys, scratch, best, chosen,
                )  # fmt: skip
        if uniform is not None and varies and not by_category:
            varies = random_cut(
                feature, records, hi, weight, start, y, weights, logs, amounts, medians, facts, rules, limits, by_y,
                side, sums, best, chosen,
            )  # fmt: skip
        if uniform is None and varies and not by_category:
            if cells is not None:
                if medians is None:
                    varies = sweep_sparse(
                        feature, start, end, weight, y, weights, logs, amounts, facts, rules, limits, stretches, cells,
                        records, spare, orders, side, sums, best, chosen,
                    )  # fmt: skip
                else:
                    sort_records(records, f, hi, spare)
            if columns is not None:
                sort_records(records, f, hi, spare)
            if cells is None:
                while hi > lo and (records[f, hi - 1] >> 32) == NAN_CODE:
                    hi -= 1
                    n_missing += 1
                varies = hi > lo
                if varies and n_missing == 0:
                    low, high = record_value(records[f, lo]), record_value(records[f, hi - 1])
                    varies = high > np.float32(low + np.float32(gap))
                for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
                    if logs is not None:
                        if two and n_missing == 0:
                            sweep_two(
                                feature, records, f, lo, hi, heft, sums[TOTALS, 0, 1], bits, mask, weighted, gap,
                                min_leaf, limits[MIN_WEIGHT], best, chosen,
                            )  # fmt: skip
                        else:
                            sweep_classes(
                                feature, records, f, lo, hi, n_missing, missing_left, heft, y, weights, logs, facts,
                                rules, limits, sums, best, chosen,
                            )  # fmt: skip
                    if amounts is not None:
                        if squared and n_missing == 0:
                            sweep_squared(
                                feature, records, f, lo, hi, heft, sums[TOTALS, 0, 0], y, shift, bits, mask, weighted,
                                gap, min_leaf, best, chosen,
                            )  # fmt: skip
                        else:
                            sweep_numbers(
                                feature, records, f, lo, hi, n_missing, missing_left, heft, y, weights, facts, rules,
                                limits, sums, best, chosen,
                            )  # fmt: skip
            if medians is not None:
                for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
                    sweep_absolute(
                        feature, records, f, lo, hi, n_missing, missing_left, heft, start, y, weights, facts, rules,
                        limits, by_y, ranks, links, medians, best, chosen,
                    )  # fmt: skip
        if relatives is not None:
            best[SCORE] = best[SCORE] - base if best[SCORE] > before + base else before
            for o in range(sums.shape[1]):
                for c in range(sums.shape[2]):
                    sums[TOTALS, o, c] = sums[SAVED, o, c]
        if varies:
            undrawn -= 1
            features[0, undrawn], features[0, j] = features[0, j], features[0, undrawn]
        else:
            features[0, known + found], features[0, j] = features[0, j], features[0, known + found]
            found += 1
    return remember_constants(known, found, features)
