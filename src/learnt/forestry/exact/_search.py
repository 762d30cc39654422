"""The best split of one node: columns drawn at random without replacement, constant ones remembered for the children.

The draws are scikit-learn's for the same seed: the same generator (Marsaglia's xorshift of 32 bits) in the same order.
So ties are broken as there, and a search of some of the columns looks at the same ones.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.exact._absolute import side_median, sweep_absolute
from learnt.forestry.exact._categories import sweep_categories
from learnt.forestry.exact._criteria import ABSOLUTE, GINI, SQUARED, class_purity, number_purity
from learnt.forestry.exact._data import (
    CATEGORIES,
    DIRECTION,
    EMPTY_SUMS,
    FEATURE,
    GAP,
    MANY,
    MISSING_LEFT,
    N_BRANCHES,
    N_MISSING,
    POSITION,
    RUNNING,
    SAVED,
    SCORE,
    STOP,
    THRESHOLD,
    TOTALS,
    Column,
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
    shift, bits, mask, weighted = rules.row_shift, rules.label_bits, rules.weight_mask, rules.weighted
    n_outputs, classes = sums.shape[1], rules.n_classes
    for o in range(n_outputs):
        for c in range(sums.shape[2]):
            sums[RUNNING, o, c] = 0.0
    w, wl, n_left, total = 1.0, 0.0, 0, 0.0
    single = n_outputs == 1 and (classes == 0 or bits > 0) and rules.criterion != ABSOLUTE
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
            sums[RUNNING, 0, record & rules.label_mask] += mine
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
def random_cut(feature, m, weight, start, target, rules, work, best, chosen):
    """One threshold, drawn between the smallest and the largest value of the node, as the best split if it is better.

    Returns False where the column is constant.
    """
    a, sums, side = work.records, work.sums, work.side
    y, weights = target.y, target.weights
    lowest, highest, n_missing = np.int64(NAN_CODE), np.int64(-NAN_CODE - 1), np.int64(0)
    for k in range(m):
        code = a[0, k] >> 32
        n_missing += 1 if code == NAN_CODE else 0
        lowest = min(lowest, code)
        highest = max(highest, code if code != NAN_CODE else highest)
    low, high = record_value(lowest << 32), record_value(highest << 32)
    varies = n_missing < m and (n_missing > 0 or high > np.float32(low + np.float32(rules.facts[GAP, feature])))
    if varies:
        threshold = (np.float64(high) - np.float64(low)) * draw(chosen) / 2147483647.0 + np.float64(low)
        missing_left = np.int64(0)
        if n_missing > 0:
            missing_left = draw(chosen) & 1
        running, empty, totals = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS)
        if threshold == high:
            threshold = np.float64(low)
        n_left, wl = count_left(a, m, threshold, missing_left, n_missing, y, weights, rules, side, sums)
        wr = weight - wl
        if min(n_left, m - n_left) >= rules.min_leaf and min(wl, wr) >= rules.min_weight:
            left_value, right_value = sums[RUNNING, 0, 0] / wl, (sums[TOTALS, 0, 0] - sums[RUNNING, 0, 0]) / wr
            criterion, score = rules.criterion, 0.0
            if target.logs is not None:
                score = class_purity(criterion, sums, running, empty, wl)
                score += class_purity(criterion, sums, totals, running, wr)
            if target.amounts is not None:
                score = number_purity(criterion, sums, running, empty, wl)
                score += number_purity(criterion, sums, totals, running, wr)
            if target.medians is not None:
                by_y = target.medians.by_y
                for o in range(sums.shape[1]):
                    _, right_value, error = side_median(o, y, weights, by_y, start, start + m, side, np.int64(0))
                    _, left_value, other = side_median(o, y, weights, by_y, start, start + m, side, np.int64(1))
                    score -= error + other
            if score > best[SCORE] and in_order(rules, rules.facts[DIRECTION, feature], left_value, right_value, best):
                best[SCORE], best[THRESHOLD] = score, threshold
                chosen[FEATURE], chosen[POSITION], chosen[N_MISSING] = feature, n_left, n_missing
                chosen[MISSING_LEFT] = missing_left if n_missing > 0 else (1 if 2 * n_left > m else 0)
                chosen[N_BRANCHES] = 0
    return varies


@kernel(allocates=False)
def put_aside(a, f, first, last, y, weights, rules, sums):
    """Take records first…last off sums[TOTALS], which is kept in sums[SAVED]; returns their weight."""
    w, weight, shift, classes = 1.0, 0.0, rules.row_shift, rules.n_classes
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
def find_split(start, end, known, weight, table, target, rules, work, special, best, chosen):
    """The best split of the node into `best` and `chosen`; returns how many columns are now known as constant.

    features[0] holds, from its start: constant columns, those found constant now, those not drawn, those drawn.
    features[1] remembers the constant ones.
    """
    y, weights = target.y, target.weights
    records, spare, orders = work.records, work.spare, work.orders
    sums, features = work.sums, work.features
    undrawn = features.shape[1]
    found, drawn_constant, visited, zero = 0, 0, 0, np.int64(0)
    presorted, is_sparse, criterion = rules.presorted, rules.is_sparse > 0, rules.criterion
    random, surrogates = rules.random > 0, rules.surrogates > 0
    shift, tails = rules.row_shift, table.tails
    totals, empty = np.int64(TOTALS), np.int64(EMPTY_SUMS)
    plain = sums.shape[1] == 1 and rules.weighted < 2 and rules.monotone == 0
    two = plain and rules.n_classes == 2 and criterion == GINI and rules.label_bits > 0
    squared = plain and criterion == SQUARED and rules.min_weight <= 0.0
    while undrawn > known + found and (visited < rules.max_features or visited <= found + drawn_constant):
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
        categories = np.int64(rules.facts[CATEGORIES, feature])
        f = feature if presorted else zero
        lo, hi = start if presorted else zero, end if presorted else end - start
        varies, n_missing, gap, heft, base, before = True, zero, rules.facts[GAP, feature], weight, 0.0, best[SCORE]
        by_category = categories > 0
        if table.cells is not None and is_sparse:
            varies = table.cells.stretches[FILLED, feature] > 0
            if special.random is not None and varies and (by_category or random or criterion == ABSOLUTE):
                varies = fetch_sparse(feature, start, end, shift, tails, orders, work.places, table.cells, records)
        if table.columns is not None and not is_sparse and not presorted:
            varies = fetch_dense(feature, start, end, table.columns, tails, orders, records)
        if (
            special.related is not None and surrogates
        ):  # rows without a value are put aside; what counts is what a split gains
            while hi > lo and (records[f, hi - 1] >> 32) == NAN_CODE:
                hi -= 1
            heft = weight - put_aside(records, f, hi, end, y, weights, rules, sums)
            varies = hi > lo
            if target.logs is not None and varies:
                base = class_purity(criterion, sums, totals, empty, heft)
            if target.amounts is not None and varies:
                base = number_purity(criterion, sums, totals, empty, heft)
            best[SCORE] = before + base
        if special.groups is not None and by_category:
            if varies and not presorted:
                sort_records(records, f, hi, spare)
            if varies:
                column = Column(feature, records, f, lo, hi, zero)
                varies = sweep_categories(
                    column, categories, heft, start, target, rules, special.groups, work, best, chosen
                )
        if special.random is not None and random and varies and not by_category:
            varies = random_cut(feature, hi, weight, start, target, rules, work, best, chosen)
        if varies and not random and not by_category:
            if target.medians is None and table.cells is not None and is_sparse:
                varies = sweep_sparse(feature, start, end, weight, target, rules, table.cells, work, best, chosen)
            if table.columns is not None and not presorted and (not is_sparse or criterion == ABSOLUTE):
                sort_records(records, f, hi, spare)
            if table.columns is not None and not is_sparse:
                while hi > lo and (records[f, hi - 1] >> 32) == NAN_CODE:
                    hi -= 1
                    n_missing += 1
                varies = hi > lo
                if varies and n_missing == 0:
                    low, high = record_value(records[f, lo]), record_value(records[f, hi - 1])
                    varies = high > np.float32(low + np.float32(gap))
                column = Column(feature, records, f, lo, hi, n_missing)
                for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
                    if target.logs is not None:
                        if two and n_missing == 0:
                            sweep_two(column, heft, sums[TOTALS, 0, 1], rules, best, chosen)
                        else:
                            sweep_classes(column, missing_left, heft, target, rules, sums, best, chosen)
                    if target.amounts is not None:
                        if squared and n_missing == 0:
                            sweep_squared(column, heft, sums[TOTALS, 0, 0], y, rules, best, chosen)
                        else:
                            sweep_numbers(column, missing_left, heft, target, rules, sums, best, chosen)
            if target.medians is not None:
                column = Column(feature, records, f, lo, hi, n_missing)
                for missing_left in range((2 if n_missing > 0 else 1) if varies else 0):
                    sweep_absolute(column, missing_left, heft, start, y, weights, target.medians, rules, best, chosen)
        if special.related is not None and surrogates:
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
