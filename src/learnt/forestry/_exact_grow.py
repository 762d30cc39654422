"""Growth of one tree in one compiled call: a frontier of nodes, depth first or best gain first.

A node's rows lie side by side in orders[0] (and, presorted, in every column's records); a split parts them in place,
each side in its old order. Children are made in pairs, left before right, and put in their final order at the end.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._criteria import ABSOLUTE, EPSILON, POISSON, class_impurity, deviation
from learnt.forestry._exact_absolute import side_median
from learnt.forestry._exact_categories import CODES, LOOKUP, SIDES
from learnt.forestry._exact_data import (
    CATEGORIES,
    CRITERION,
    CUT,
    DEPTH,
    DIRECTION,
    END,
    FEATURE,
    GAIN,
    GO_LEFT,
    IMPURITY,
    KNOWN,
    LAST,
    LEFT,
    LOWER,
    LOWER_BOUND,
    MAX_DEPTH,
    MAX_LEAVES,
    MAX_P_VALUE,
    MIN_DECREASE,
    MIN_LEAF,
    MIN_SPLIT,
    MIN_WEIGHT,
    MISSING_LEFT,
    MONOTONE,
    MULTIWAY,
    N_BRANCHES,
    N_CLASSES,
    N_FLOATS,
    N_INTS,
    POSITION,
    PRESORTED,
    ROW_SHIFT,
    SCORE,
    SLOT,
    SPARSE,
    SPLIT,
    START,
    SURROGATES,
    TABLE,
    TABLE_SIZE,
    THRESHOLD,
    TOTAL_WEIGHT,
    TOTALS,
    UPPER,
    UPPER_BOUND,
    WEIGHT,
)
from learnt.forestry._exact_records import NAN_CODE, record_value
from learnt.forestry._exact_search import fetch_dense, fetch_sparse, find_split
from learnt.forestry._significance import split_p_value
from learnt.forestry._surrogates import COLUMN, MOST, TABLE_AT, UNKNOWN, rank_surrogates, send_unknown
from learnt.forestry._surrogates import N_FLOATS as S_FLOATS
from learnt.forestry._surrogates import N_INTS as S_INTS

_LOW = 0xFFFFFFFF


@kernel
def mark_sides(a, f, first, m, row_shift, by_position, keep_unknown, categories, subsets, best, chosen, side):
    """Which side every row of the node goes to, by the split chosen, from its records; returns how many go left."""
    missing_left, threshold, position = chosen[MISSING_LEFT], best[THRESHOLD], chosen[POSITION]
    branches, n_left = chosen[N_BRANCHES], 0
    for g in range(branches):
        subsets[LOOKUP, subsets[CODES, g]] = subsets[SIDES, g]
    for k in range(m):
        record = a[f, first + k]
        missing = (record >> 32) == NAN_CODE
        if branches > 0:
            goes = subsets[LOOKUP, categories if missing else np.int64(record_value(record))] == 1
        elif missing:
            goes = missing_left == 1
        elif by_position:
            goes = k < position
        else:
            goes = record_value(record) <= threshold
        side[(record & _LOW) >> row_shift] = UNKNOWN if missing and keep_unknown else (1 if goes else 0)
        n_left += 1 if goes else 0
    return n_left


@kernel
def part_rows(orders, start, end, side, spare):
    """Left rows before right ones, both in their old order."""
    for o in range(orders.shape[0]):
        n_left, n_right = start, 0
        for p in range(start, end):
            row = orders[o, p]
            goes = np.int64(side[row])
            orders[o, n_left] = row
            spare[n_right] = row
            n_left += goes
            n_right += 1 - goes
        for k in range(n_right):
            orders[o, n_left + k] = spare[k]


@kernel
def part_records(a, start, end, side, row_shift, spare):
    """The same for the records of every column."""
    for f in range(a.shape[0]):
        n_left, n_right = start, 0
        for p in range(start, end):
            record = a[f, p]
            goes = np.int64(side[(record & _LOW) >> row_shift])
            a[f, n_left] = record
            spare[n_right] = record
            n_left += goes
            n_right += 1 - goes
        for k in range(n_right):
            a[f, n_left + k] = spare[k]


@kernel
def part_branches(a, m, row_shift, categories, start, orders, spare, places, subsets, n_branches, begins):
    """Rows of the same branch side by side, each in their old order; begins[b] is where those of branch b begin."""
    for g in range(n_branches):
        subsets[LOOKUP, subsets[CODES, g]] = subsets[SIDES, g]
        begins[g], begins[n_branches] = 0, 0
    for k in range(m):
        record = a[0, k]
        missing = (record >> 32) == NAN_CODE
        branch = subsets[LOOKUP, categories if missing else np.int64(record_value(record))]
        places[SLOT, (record & _LOW) >> row_shift] = branch
        begins[branch + 1] += 1
    begins[0] = start
    for g in range(n_branches):
        begins[g + 1] += begins[g]
    for o in range(orders.shape[0]):
        for p in range(start, start + m):
            branch = places[SLOT, orders[o, p]]
            spare[begins[branch] - start] = orders[o, p]
            begins[branch] += 1
        for p in range(start, start + m):
            orders[o, p] = spare[p - start]
        for g in range(n_branches, 0, -1):
            begins[g] = begins[g - 1]
        begins[0] = start


@kernel
def write_table(table, at, categories, first_child, default, n_branches, subsets, two):
    """A node's table: where codes go that were never seen, missing values, and every code; returns its length."""
    top = -1
    for g in range(n_branches):
        top = max(top, np.int64(subsets[CODES, g]) if subsets[CODES, g] < categories else -1)
    for k in range(top + 3):
        table[at + k] = first_child + default
    for g in range(n_branches):
        branch = 1 - subsets[SIDES, g] if two else subsets[SIDES, g]
        code = np.int64(subsets[CODES, g])
        table[at + (1 if code == categories else 2 + code)] = first_child + branch
    return top + 3


@kernel
def add_up(start, end, parts, y, weights, rules, orders, side, sums, out):
    """Sums of y (or of the classes, or medians), weights out[0…1] and impurities out[2…3] of the left and right rows.

    One part: all rows are on the left.
    """
    n_outputs, n_sums, criterion, classes = sums.shape[1], sums.shape[2], rules[CRITERION], rules[N_CLASSES]
    for k in range(2):
        out[k], out[2 + k] = 0.0, 0.0
        for o in range(n_outputs):
            for c in range(n_sums):
                sums[k, o, c] = 0.0
    w, nothing = 1.0, sums.shape[0] - 3
    for p in range(start, end):
        row = np.int64(orders[0, p])
        k = 1 - np.int64(side[row]) if parts == 2 else 0
        if weights.size:
            w = weights[row]
        out[k] += w
        for o in range(n_outputs):
            if classes > 0:
                sums[k, o, np.int64(y[row, o])] += w
            else:
                sums[k, o, 0] += w * y[row, o]
    for k in range(parts if classes > 0 else 0):
        out[2 + k] = class_impurity(criterion, sums, k, nothing, out[k])
    for o in range(0 if classes > 0 else n_outputs):
        if criterion == ABSOLUTE:
            for k in range(parts):
                sums[k, o, 0], error = side_median(o, y, weights, orders, start, end, side, 1 - k if parts == 2 else -1)
                out[2 + k] += error
        else:
            add_deviations(start, end, parts, o, criterion, y, weights, orders, side, sums, out)
    if classes == 0:
        for k in range(parts):
            out[2 + k] /= out[k] * n_outputs


@kernel
def add_deviations(start, end, parts, output, criterion, y, weights, orders, side, sums, out):
    """Add what one output's distances from its means make of the impurities; exactly 0 where all y are the same."""
    mean_left, mean_right = sums[0, output, 0] / out[0], sums[1, output, 0] / out[1] if parts == 2 else 0.0
    left, right, low_left, high_left, low_right, high_right = 0.0, 0.0, np.inf, -np.inf, np.inf, -np.inf
    w = 1.0
    for p in range(start, end):
        row = np.int64(orders[0, p])
        value = y[row, output]
        if weights.size:
            w = weights[row]
        if parts == 1 or side[row] == 1:
            left += w * deviation(criterion, value, mean_left)
            low_left, high_left = min(low_left, value), max(high_left, value)
        else:
            right += w * deviation(criterion, value, mean_right)
            low_right, high_right = min(low_right, value), max(high_right, value)
    out[2] += left if high_left > low_left else 0.0
    out[3] += right if high_right > low_right else 0.0
    if criterion == POISSON:
        out[2] = np.inf if mean_left <= 0.0 else out[2]
        out[3] = np.inf if mean_right <= 0.0 and parts == 2 else out[3]


@kernel
def sift_up(heap, floats, position, node):
    """Put a node at this place of the heap or above it: the highest gain is on top."""
    while position > 0:
        above = (position - 1) // 2
        if not floats[heap[above], GAIN] < floats[node, GAIN]:
            break
        heap[position] = heap[above]
        position = above
    heap[position] = node


@kernel
def pop_best(heap, size, floats):
    """The node on top; the heap is one shorter."""
    top, node = heap[0], heap[size - 1]
    size -= 1
    hole, child = 0, 0
    while child < (size - 1) // 2:  # down to a leaf along the better children, then up again
        child = 2 * (child + 1)
        if floats[heap[child], GAIN] < floats[heap[child - 1], GAIN]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and size >= 2 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    if size > 0:
        sift_up(heap, floats, hole, node)
    return top


@kernel
def clear_node(node, ints, floats):
    """A leaf."""
    ints[node, LEFT], ints[node, LAST], ints[node, SPLIT], ints[node, GO_LEFT] = -1, -1, -2, 0
    ints[node, TABLE], ints[node, TABLE_SIZE] = -1, 0
    floats[node, CUT], floats[node, GAIN] = -2.0, 0.0


@kernel
def add_child(side, node, child, start, end, weight, impurity, direction, middle, sums, ints, floats, totals):
    """Write a child of `node`: its rows, weight, impurity, sums, and the bounds of its value."""
    clear_node(child, ints, floats)
    ints[child, START], ints[child, END], ints[child, KNOWN] = start, end, ints[node, KNOWN]
    ints[child, DEPTH] = ints[node, DEPTH] + 1
    floats[child, WEIGHT], floats[child, IMPURITY] = weight, impurity
    floats[child, LOWER], floats[child, UPPER] = floats[node, LOWER], floats[node, UPPER]
    if direction != 0.0:
        floats[child, UPPER if (direction > 0) == (side == 0) else LOWER] = middle
    for o in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            totals[child, o * sums.shape[2] + c] = sums[side, o, c]


@kernel
def preorder(count, ints, order):
    """The nodes from the root, left before right; returns how many."""
    stack = np.empty(count + 1, np.int32)
    stack[0] = 0
    top, size = 1, 0
    while top > 0:
        top -= 1
        node = stack[top]
        order[size] = node
        size += 1
        if ints[node, LEFT] >= 0:
            for child in range(ints[node, LAST], ints[node, LEFT] - 1, -1):
                stack[top] = child
                top += 1
    return size


@kernel
def widened(a, n):
    """Room for more rows than the first n."""
    out = np.zeros((2 * n + 2 * MOST, a.shape[1]), a.dtype)
    for i in range(n):
        for c in range(a.shape[1]):
            out[i, c] = a[i, c]
    return out


@kernel
def keep_surrogates(node, n_found, n_kept, codes_kept, facts, ints, floats, table, kept_ints, kept_floats, kept_codes):
    """Write down a node's surrogates; returns how many codes are kept now."""
    for k in range(n_found):
        for c in range(S_INTS):
            kept_ints[n_kept + k, c] = ints[k, c]
        for c in range(S_FLOATS):
            kept_floats[n_kept + k, c] = floats[k, c]
        size = np.int64(facts[CATEGORIES, ints[k, COLUMN]])
        kept_ints[n_kept + k, S_INTS], kept_ints[n_kept + k, S_INTS + 1] = node, size
        if size > 0:
            kept_ints[n_kept + k, TABLE_AT] = codes_kept
            for c in range(size):
                kept_codes[codes_kept + c] = table[ints[k, TABLE_AT] + c]
            codes_kept += size
    return codes_kept


@kernel
def grow(
    columns, values, indices, indptr, tails, y, weights, logs, facts, rules, limits, records, spare, orders, spare_rows,
    places, side, sums, medians, features, subsets, groups, keys, scratch, best, chosen,
):  # fmt: skip
    """The whole tree: the nodes in their final order, and the numbers and sums of all nodes as they were made."""
    n, shift, presorted = orders.shape[1], rules[ROW_SHIFT], rules[PRESORTED]
    n_sums = sums.shape[1] * sums.shape[2]
    best_first = rules[MAX_LEAVES] >= 0
    ints, floats, totals = np.zeros((64, N_INTS), np.int32), np.zeros((64, N_FLOATS)), np.zeros((64, n_sums))
    waiting, heap = np.zeros(64, np.int32), np.zeros(2 * rules[MAX_LEAVES] + 2 if best_first else 1, np.int32)
    order = np.zeros(2 * rules[MAX_LEAVES] + 2 if best_first else 1, np.int32)
    count, n_waiting, n_heap, kept, splits_left = 1, 1, 0, 1, rules[MAX_LEAVES] - 1
    left_weight, right_weight, left_impurity, right_impurity = 0.0, 0.0, 0.0, 0.0
    parts, begins = np.zeros(4), np.zeros(max(3, subsets.shape[1] + 1), np.int64)
    table, table_size = np.zeros(1, np.int32), 0
    surrogate, n_found, n_kept, codes_kept = rules[SURROGATES] > 0, 0, 0, 0
    most = subsets.shape[1]
    ranked_ints, ranked_floats = np.zeros((MOST, S_INTS), np.int64), np.zeros((MOST, S_FLOATS))
    ranked_table = np.zeros((features.shape[1] + 1) * most if surrogate else 1, np.uint8)
    kept_ints, kept_floats, kept_codes = (
        np.zeros((1, S_INTS + 2), np.int64),
        np.zeros((1, S_FLOATS)),
        np.zeros(1, np.uint8),
    )
    left_child = -1  # the root's sums are made by the same lines as those of children
    while True:
        node = 0
        if left_child < 0:
            clear_node(node, ints, floats)
            ints[0, END] = n
            floats[0, LOWER], floats[0, UPPER] = -np.inf, np.inf
        elif n_waiting > 0:
            n_waiting -= 1
            node = np.int64(waiting[n_waiting])
        elif best_first and n_heap > 0:
            node = np.int64(pop_best(heap, n_heap, floats))
            n_heap -= 1
            n_new = np.int64(ints[node, LAST]) - np.int64(ints[node, LEFT]) + 1
            if ints[node, LEFT] >= 0 and splits_left >= n_new - 1:
                splits_left -= n_new - 1
                if n_new > waiting.size:
                    waiting = np.zeros(2 * n_new, np.int32)
                for k in range(n_new):
                    order[kept + k] = ints[node, LEFT] + k
                    waiting[n_new - 1 - k] = ints[node, LEFT] + k
                kept += n_new
                n_waiting = n_new
            else:  # a leaf, or found and not wanted
                clear_node(node, ints, floats)
            continue
        else:
            break
        start, end = np.int64(ints[node, START]), np.int64(ints[node, END])
        m, weight, impurity, n_left = end - start, floats[node, WEIGHT], floats[node, IMPURITY], 0
        many, n_new, gain = False, 2, 0.0
        grown = left_child < 0 or (
            ints[node, DEPTH] < rules[MAX_DEPTH]
            and m >= rules[MIN_SPLIT]
            and m >= 2 * rules[MIN_LEAF]
            and weight >= 2 * limits[MIN_WEIGHT]
            and impurity > EPSILON
        )
        if grown and left_child >= 0:
            for k in range(n_sums):
                sums[TOTALS, k // sums.shape[2], k % sums.shape[2]] = totals[node, k]
            best[SCORE], best[LOWER_BOUND], best[UPPER_BOUND] = -np.inf, floats[node, LOWER], floats[node, UPPER]
            chosen[FEATURE] = -1
            known = 0 if best_first else np.int64(ints[node, KNOWN])
            ints[node, KNOWN] = find_split(
                start, end, known, weight, columns, values, indices, indptr, tails, y, weights, logs, facts, rules,
                limits, records, spare, orders, spare_rows, places, side, sums, medians, features, subsets, groups,
                keys, scratch, best, chosen,
            )  # fmt: skip
            grown = chosen[FEATURE] >= 0
            if grown:
                feature = chosen[FEATURE]
                if rules[SPARSE] > 0:
                    fetch_sparse(feature, start, end, values, indices, indptr, tails, orders, places, records)
                elif not presorted:
                    fetch_dense(feature, start, end, columns, tails, orders, records)
                categories = np.int64(facts[CATEGORIES, feature])
                f, first = (feature, start) if presorted else (0, 0)
                many = rules[MULTIWAY] > 0 and chosen[N_BRANCHES] > 0
                if many:
                    n_new = chosen[N_BRANCHES]
                    part_branches(
                        records, m, shift, categories, start, orders, spare_rows, places, subsets, n_new, begins
                    )
                else:
                    n_left = mark_sides(
                        records, f, first, m, shift, presorted, surrogate, categories, subsets, best, chosen, side
                    )
                if surrogate:
                    n_found = rank_surrogates(
                        records, start, end, feature, side, weights, facts, shift, chosen, ranked_ints, ranked_floats,
                        ranked_table, 0,
                    )  # fmt: skip
                    n_left = send_unknown(
                        orders, start, end, columns, facts, n_found, ranked_ints, ranked_floats, ranked_table,
                        chosen[MISSING_LEFT], side,
                    )  # fmt: skip
        if grown and not many:
            add_up(start, end, 2 if left_child >= 0 else 1, y, weights, rules, orders, side, sums, parts)
            left_weight, right_weight, left_impurity, right_impurity = parts[0], parts[1], parts[2], parts[3]
        if left_child < 0:  # the root has its sums now; look for its split next
            floats[0, WEIGHT], floats[0, IMPURITY] = left_weight, left_impurity
            for k in range(n_sums):
                totals[0, k] = sums[0, k // sums.shape[2], k % sums.shape[2]]
            left_child = 0
            continue
        if grown:
            gain = impurity
            if many:
                for k in range(n_new):
                    add_up(begins[k], begins[k + 1], 1, y, weights, rules, orders, side, sums, parts)
                    gain -= parts[0] / weight * parts[2]
            else:
                gain = impurity - right_weight / weight * right_impurity - left_weight / weight * left_impurity
            gain *= weight / limits[TOTAL_WEIGHT]
            grown = gain + EPSILON >= limits[MIN_DECREASE]
        tested = limits[MAX_P_VALUE] < 1.0
        if grown and not many:
            smallest = max(rules[MIN_SPLIT], 2 * rules[MIN_LEAF])
            ends = ints[node, DEPTH] + 1 >= rules[MAX_DEPTH] or (
                (n_left < smallest or left_impurity <= EPSILON) and (m - n_left < smallest or right_impurity <= EPSILON)
            )
            if not ends or tested:  # leaves need no order
                part_rows(orders, start, end, side, spare_rows)
            if presorted and (not ends or tested):
                part_records(records, start, end, side, shift, spare)
            if rules[SPARSE] > 0:
                for p in range(start, end):
                    places[SLOT, orders[0, p]] = p
            begins[0], begins[1], begins[2] = start, start + n_left, end
        if grown and tested:
            grown = split_p_value(begins, n_new, rules[N_CLASSES], y, weights, orders) <= limits[MAX_P_VALUE]
        if grown:
            if count + n_new > ints.shape[0]:
                size = 2 * (count + n_new)
                more_ints, more_floats = np.zeros((size, N_INTS), np.int32), np.zeros((size, N_FLOATS))
                more_totals = np.zeros((size, n_sums))
                for k in range(count):
                    for c in range(N_INTS):
                        more_ints[k, c] = ints[k, c]
                    for c in range(N_FLOATS):
                        more_floats[k, c] = floats[k, c]
                    for c in range(n_sums):
                        more_totals[k, c] = totals[k, c]
                ints, floats, totals = more_ints, more_floats, more_totals
            floats[node, GAIN], floats[node, CUT] = gain, best[THRESHOLD]
            ints[node, SPLIT], ints[node, GO_LEFT] = feature, chosen[MISSING_LEFT]
            ints[node, LEFT], ints[node, LAST] = count, count + n_new - 1
            direction = facts[DIRECTION, feature] if rules[MONOTONE] else 0.0
            middle = sums[0, 0, 0] / (2 * left_weight) + sums[1, 0, 0] / (2 * right_weight)
            if rules[CRITERION] == ABSOLUTE:
                middle = (sums[0, 0, 0] + sums[1, 0, 0]) / 2
            heaviest = 0
            for k in range(n_new):
                first, last = begins[k], begins[k + 1]
                if many:
                    add_up(first, last, 1, y, weights, rules, orders, side, sums, parts)
                    left_weight, left_impurity = parts[0], parts[2]
                right = 1 if k == 1 and not many else 0
                add_child(
                    right, node, count + k, first, last, right_weight if right else left_weight,
                    right_impurity if right else left_impurity, direction, middle, sums, ints, floats, totals,
                )  # fmt: skip
                heaviest = k if floats[count + k, WEIGHT] > floats[count + heaviest, WEIGHT] else heaviest
            if chosen[N_BRANCHES] > 0:
                categories = np.int64(facts[CATEGORIES, feature])
                if table_size + categories + 3 > table.size:
                    larger = np.zeros(2 * (table_size + categories + 3), np.int32)
                    for k in range(table_size):
                        larger[k] = table[k]
                    table = larger
                ints[node, TABLE] = table_size
                ints[node, TABLE_SIZE] = write_table(
                    table, table_size, categories, count, heaviest, chosen[N_BRANCHES], subsets, not many
                )
                table_size += ints[node, TABLE_SIZE]
            if surrogate:
                if n_kept + n_found > kept_ints.shape[0]:
                    kept_ints, kept_floats = widened(kept_ints, n_kept), widened(kept_floats, n_kept)
                if codes_kept + n_found * most > kept_codes.size:
                    longer_codes = np.zeros(2 * (codes_kept + n_found * most), np.uint8)
                    for k in range(codes_kept):
                        longer_codes[k] = kept_codes[k]
                    kept_codes = longer_codes
                codes_kept = keep_surrogates(
                    node, n_found, n_kept, codes_kept, facts, ranked_ints, ranked_floats, ranked_table, kept_ints,
                    kept_floats, kept_codes,
                )  # fmt: skip
                n_kept += n_found
            if not best_first:
                if n_waiting + n_new > waiting.size:
                    longer = np.zeros(2 * (n_waiting + n_new), np.int32)
                    for k in range(n_waiting):
                        longer[k] = waiting[k]
                    waiting = longer
                for k in range(n_new):
                    waiting[n_waiting + k] = count + n_new - 1 - k
                n_waiting += n_new
            count += n_new
        if best_first:
            sift_up(heap, floats, n_heap, node)
            n_heap += 1
    if not best_first:
        order = np.empty(count, np.int32)
        kept = preorder(count, ints, order)
    return order[:kept], ints, floats, totals, table[:table_size], kept_ints[:n_kept], kept_floats[:n_kept], kept_codes
