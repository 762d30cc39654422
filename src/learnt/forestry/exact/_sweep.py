"""The best cut of one column: a sweep over its sorted records, left to right, keeping sums of what lies on the left.

A quick comparison without division throws out nearly every position; what passes is scored as `_criteria` says and
checked against the rules. Missing values, which sort last, are tried on the right and then on the left.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._criteria import (
    ENTROPY,
    GINI,
    LOG2,
    LOG_ERROR,
    POISSON,
    SQUARED,
    about_log2,
    class_purity,
    number_purity,
)
from learnt.forestry.exact._data import (
    DIRECTION,
    EMPTY_SUMS,
    FEATURE,
    GAP,
    LOWER_BOUND,
    MISSING_LEFT,
    N_BRANCHES,
    N_MISSING,
    POSITION,
    RUNNING,
    SCORE,
    THRESHOLD,
    TOTALS,
    UPPER_BOUND,
)
from learnt.forestry.exact._records import LOW, record_value

SLACK = 1 - 1e-12  # the quick comparison may be this wrong


@kernel(allocates=False)
def in_order(rules, direction, left_value, right_value, best):
    """Whether the values of both sides lie within the node's bounds and in the direction asked for."""
    inside = min(left_value, right_value) >= best[LOWER_BOUND] and max(left_value, right_value) <= best[UPPER_BOUND]
    return rules.monotone == 0 or direction == 0.0 or (inside and (left_value - right_value) * direction <= 0)


@kernel(allocates=False)
def keep_cut(column, gap, p, missing_left, score, best, chosen):
    """Remember a better cut before position p; not between values closer than the column's gap."""
    a, f, lo, hi, n_missing = column.records, column.f, column.lo, column.hi, column.n_missing
    threshold, apart = np.inf, True
    if p < hi:
        below, above = record_value(a[f, p - 1]), record_value(a[f, p])
        apart = above > np.float32(below + np.float32(gap))
        threshold = np.float64(below) / 2.0 + np.float64(above) / 2.0
    if apart:
        best[SCORE], best[THRESHOLD] = score, threshold
        chosen[FEATURE], chosen[POSITION], chosen[N_MISSING] = column.feature, p - lo, n_missing
        chosen[N_BRANCHES] = 0
        chosen[MISSING_LEFT] = missing_left if n_missing > 0 else (1 if 2 * (p - lo) > hi - lo else 0)


@kernel(allocates=False)
def sweep_two(column, weight, ones, rules, best, chosen):
    """Cuts by the Gini impurity of two classes where nothing is missing: all sums stay in registers.

    The counts, weights included, are whole numbers that records hold (`weighted` 0 or 1). What a cut gains is
    2 (weight · one − ones · wl)² / (weight · wl · wr), which is compared without division.
    """
    a, f, lo, hi, gap = column.records, column.f, column.lo, column.hi, rules.facts[GAP, column.feature]
    bits, mask, weighted, min_leaf = rules.label_bits, rules.weight_mask, rules.weighted, rules.min_leaf
    min_weight = rules.min_weight
    w, wl, one, top = 1.0, 0.0, 0.0, best[SCORE]
    unsplit = 2.0 * ones * (1.0 - ones / weight) - (1.0 - SLACK) * weight
    bar = (top + unsplit) * weight / 2.0
    record = a[f, lo]
    for p in range(lo + 1, hi - min_leaf + 1):
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        wl += w
        one += w * (record & 1)
        before, record = record, a[f, p]
        wr, apart = weight - wl, weight * one - ones * wl
        if apart * apart < bar * (wl * wr):
            continue
        if (record >> 32) == (before >> 32) or p - lo < min_leaf or wl < min_weight or wr < min_weight:
            continue
        other, zero = ones - one, wl - one
        rest = wr - other
        score = max(-wl * (1.0 - (zero * zero + one * one) / (wl * wl)), -np.inf)
        score += max(-wr * (1.0 - (rest * rest + other * other) / (wr * wr)), -np.inf)
        below, above = record_value(before), record_value(record)
        if score > top and above > np.float32(below + np.float32(gap)):
            top, bar = score, (score + unsplit) * weight / 2.0
            best[SCORE], best[THRESHOLD] = score, np.float64(below) / 2.0 + np.float64(above) / 2.0
            chosen[FEATURE], chosen[POSITION], chosen[N_MISSING], chosen[N_BRANCHES] = column.feature, p - lo, 0, 0
            chosen[MISSING_LEFT] = 1 if 2 * (p - lo) > hi - lo else 0


@kernel(allocates=False)
def sweep_squared(column, weight, total, y, rules, best, chosen):
    """Cuts by the squared error of one output where nothing is missing and no weight must be looked up.

    The score is total² / weight + (weight · left − total · wl)² / (weight · wl · wr).
    """
    a, f, lo, hi, gap = column.records, column.f, column.lo, column.hi, rules.facts[GAP, column.feature]
    bits, mask, weighted, min_leaf = rules.label_bits, rules.weight_mask, rules.weighted, rules.min_leaf
    shift = rules.row_shift
    w, wl, left, top = 1.0, 0.0, 0.0, best[SCORE]
    bar = (top * SLACK - total / weight * total) * weight
    record = a[f, lo]
    for p in range(lo + 1, hi - min_leaf + 1):
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        wl += w
        left += w * y[(record & LOW) >> shift, 0]
        before, record = record, a[f, p]
        wr, apart = weight - wl, weight * left - total * wl
        if apart * apart < bar * (wl * wr):
            continue
        if (record >> 32) == (before >> 32) or p - lo < min_leaf:
            continue
        right = total - left
        score = left * left / wl + right * right / wr
        below, above = record_value(before), record_value(record)
        if score > top and above > np.float32(below + np.float32(gap)):
            top, bar = score, (score * SLACK - total / weight * total) * weight
            best[SCORE], best[THRESHOLD] = score, np.float64(below) / 2.0 + np.float64(above) / 2.0
            chosen[FEATURE], chosen[POSITION], chosen[N_MISSING], chosen[N_BRANCHES] = column.feature, p - lo, 0, 0
            chosen[MISSING_LEFT] = 1 if 2 * (p - lo) > hi - lo else 0


@kernel(allocates=False)
def sweep_classes(column, missing_left, weight, target, rules, sums, best, chosen):
    """Cuts of one column by class counts; `hi` is where the missing values begin."""
    a, f, lo, hi, n_missing = column.records, column.f, column.lo, column.hi, column.n_missing
    y, weights, logs = target.y, target.weights, target.logs
    n_outputs, n_classes = sums.shape[1], sums.shape[2]
    running, empty, totals = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS)  # not constants: one compilation
    shift, mask, bits, weighted = rules.row_shift, rules.weight_mask, rules.label_bits, rules.weighted
    criterion, label_mask, min_weight = rules.criterion, rules.label_mask, rules.min_weight
    gap = rules.facts[GAP, column.feature]
    for o in range(n_outputs):
        for c in range(n_classes):
            sums[RUNNING, o, c] = 0.0
    w, wl = 1.0, 0.0
    before = n_missing if missing_left else 0
    single = n_outputs == 1 and bits > 0
    for p in range(hi, hi + before):
        record = a[f, p]
        row = (record & LOW) >> shift
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        elif weighted == 2:
            w = weights[row]
        wl += w
        for o in range(n_outputs):
            c = record & label_mask if single else np.int64(y[row, o])
            sums[RUNNING, o, c] += w
    first = lo + max(1, rules.min_leaf - before)
    last = min(hi - 1 if missing_left or n_missing == 0 else hi, hi + n_missing - before - rules.min_leaf)
    gini, entropy = criterion == GINI, criterion == ENTROPY
    counted = entropy and single and logs.size > 0  # n log₂ n of every count is in a table
    quick_left, quick_right, slack = 0.0, 0.0, 4 * LOG_ERROR * weight * n_outputs
    for o in range(n_outputs):
        for c in range(n_classes):
            mine, theirs = sums[RUNNING, o, c], sums[TOTALS, o, c] - sums[RUNNING, o, c]
            if gini:
                quick_left += mine * mine
                quick_right += theirs * theirs
            elif counted:
                quick_left += logs[np.int64(mine)] + logs[np.int64(theirs)]
            elif entropy:
                quick_left += mine * about_log2(mine) + theirs * about_log2(theirs)
    top = best[SCORE]
    for p in range(lo + 1, last + 1):
        record = a[f, p - 1]
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        elif weighted == 2:
            w = weights[(record & LOW) >> shift]
        wl += w
        wr = weight - wl
        same = p < first or (p < hi and (a[f, p] >> 32) == (record >> 32))
        if gini and single:
            c = record & label_mask
            mine, theirs = sums[RUNNING, 0, c], sums[TOTALS, 0, c] - sums[RUNNING, 0, c]
            quick_left += w * (2.0 * mine + w)
            quick_right -= w * (2.0 * theirs - w)
            sums[RUNNING, 0, c] = mine + w
            if same or quick_left * wr + quick_right * wl < (top + weight) * (wl * wr) * SLACK:
                continue
        elif gini:
            row = (record & LOW) >> shift
            for o in range(n_outputs):
                c = np.int64(y[row, o])
                mine, theirs = sums[RUNNING, o, c], sums[TOTALS, o, c] - sums[RUNNING, o, c]
                quick_left += w * (2.0 * mine + w)
                quick_right -= w * (2.0 * theirs - w)
                sums[RUNNING, o, c] = mine + w
            if same or quick_left * wr + quick_right * wl < (top + weight) * n_outputs * (wl * wr) * SLACK:
                continue
        elif counted:
            c = record & label_mask
            mine, step = np.int64(sums[RUNNING, 0, c]), np.int64(w)
            theirs = np.int64(sums[TOTALS, 0, c]) - mine
            quick_left += logs[mine + step] - logs[mine] + logs[theirs - step] - logs[theirs]
            sums[RUNNING, 0, c] += w
            if same or quick_left - logs[np.int64(wl)] - logs[np.int64(wr)] < top - 1e-9 * weight:
                continue
        elif entropy:
            for o in range(n_outputs):
                c = record & label_mask if single else np.int64(y[(record & LOW) >> shift, o])
                mine, theirs = sums[RUNNING, o, c], sums[TOTALS, o, c] - sums[RUNNING, o, c]
                quick_left += (mine + w) * about_log2(mine + w) - mine * about_log2(mine)
                quick_left += (theirs - w) * about_log2(theirs - w) - theirs * about_log2(theirs)
                sums[RUNNING, o, c] = mine + w
            after = wl * about_log2(wl) + wr * about_log2(wr)
            if same or quick_left - n_outputs * after < n_outputs * top - slack:
                continue
        else:
            row = (record & LOW) >> shift
            for o in range(n_outputs):
                c = record & label_mask if single else np.int64(y[row, o])
                sums[RUNNING, o, c] += w
            if same:
                continue
        score = class_purity(criterion, sums, running, empty, wl)
        score += class_purity(criterion, sums, totals, running, wr)
        if not score > top or wl < min_weight or wr < min_weight:
            continue
        if not in_order(
            rules,
            rules.facts[DIRECTION, column.feature],
            sums[RUNNING, 0, 0] / wl,
            (sums[TOTALS, 0, 0] - sums[RUNNING, 0, 0]) / wr,
            best,
        ):
            continue
        keep_cut(column, gap, p, missing_left, score, best, chosen)
        top = best[SCORE]


@kernel(allocates=False)
def sweep_numbers(column, missing_left, weight, target, rules, sums, best, chosen):
    """Cuts of one column by sums of y."""
    a, f, lo, hi, n_missing = column.records, column.f, column.lo, column.hi, column.n_missing
    y, weights = target.y, target.weights
    n_outputs = sums.shape[1]
    running, empty, totals = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS)
    shift, mask, bits, weighted = rules.row_shift, rules.weight_mask, rules.label_bits, rules.weighted
    criterion, min_weight, gap = rules.criterion, rules.min_weight, rules.facts[GAP, column.feature]
    for o in range(n_outputs):
        sums[RUNNING, o, 0] = 0.0
    w, wl = 1.0, 0.0
    before = n_missing if missing_left else 0
    for p in range(hi, hi + before):
        row = (a[f, p] & LOW) >> shift
        if weighted > 0:
            w = weights[row]
        wl += w
        for o in range(n_outputs):
            sums[RUNNING, o, 0] += w * y[row, o]
    first = lo + max(1, rules.min_leaf - before)
    last = min(hi - 1 if missing_left or n_missing == 0 else hi, hi + n_missing - before - rules.min_leaf)
    single, squared = n_outputs == 1, criterion == SQUARED
    poisson = single and criterion == POISSON
    total, sum_left = sums[TOTALS, 0, 0], sums[RUNNING, 0, 0]
    top = best[SCORE]
    for p in range(lo + 1, last + 1):
        record = a[f, p - 1]
        row = (record & LOW) >> shift
        if weighted == 1:
            w = np.float64((record >> bits) & mask)
        elif weighted == 2:
            w = weights[row]
        wl += w
        wr = weight - wl
        same = p < first or (p < hi and (a[f, p] >> 32) == (record >> 32))
        if single:
            sum_left += w * y[row, 0]
            sum_right = total - sum_left
            if same or (squared and sum_left * sum_left * wr + sum_right * sum_right * wl < top * (wl * wr) * SLACK):
                continue
            if poisson:
                score = sum_left * (about_log2(sum_left) - about_log2(wl))
                score += sum_right * (about_log2(sum_right) - about_log2(wr))
                if (score + 4 * LOG_ERROR * total) * LOG2 < top:
                    continue
            sums[RUNNING, 0, 0] = sum_left
        else:
            squares_left, squares_right = 0.0, 0.0
            for o in range(n_outputs):
                left = sums[RUNNING, o, 0] + w * y[row, o]
                right = sums[TOTALS, o, 0] - left
                sums[RUNNING, o, 0] = left
                squares_left += left * left
                squares_right += right * right
            if same or (squared and squares_left * wr + squares_right * wl < top * (wl * wr) * SLACK):
                continue
        score = number_purity(criterion, sums, running, empty, wl)
        score += number_purity(criterion, sums, totals, running, wr)
        if not score > top or wl < min_weight or wr < min_weight:
            continue
        if not in_order(
            rules,
            rules.facts[DIRECTION, column.feature],
            sums[RUNNING, 0, 0] / wl,
            (total - sums[RUNNING, 0, 0]) / wr,
            best,
        ):
            continue
        keep_cut(column, gap, p, missing_left, score, best, chosen)
        top = best[SCORE]
