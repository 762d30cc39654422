"""Growth of one tree in one compiled call: a frontier of nodes, depth first or best gain first.

A node's rows lie side by side in orders[0] (and, presorted, in every column's records); a split parts them in place,
each side in its old order. Children are made in pairs, left before right, and put in their final order at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.exact._absolute import rank_rows, side_median
from learnt.forestry.exact._categories import CODES, LOOKUP, SIDES, Groups
from learnt.forestry.exact._criteria import EPSILON, POISSON, class_impurity, deviation
from learnt.forestry.exact._data import (
    CATEGORIES,
    CODES_KEPT,
    COUNT,
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
    LEFT_CHILD,
    LOWER,
    LOWER_BOUND,
    MISSING_LEFT,
    N_BRANCHES,
    N_HEAP,
    N_KEPT,
    N_ORDER,
    N_WAITING,
    POSITION,
    RIGHT_CHILD,
    SCORE,
    SLOT,
    SPLIT,
    SPLITS_LEFT,
    START,
    STOP,
    TABLE,
    TABLE_SIZE,
    TABLE_USED,
    THRESHOLD,
    TOTALS,
    UPPER,
    UPPER_BOUND,
    WEIGHT,
)
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value
from learnt.forestry.exact._search import fetch_dense, find_split
from learnt.forestry.exact._significance import split_p_value
from learnt.forestry.exact._sparse import Cells, clear_cells, deal_cells, fetch_sparse
from learnt.forestry.exact._surrogates import COLUMN, MOST, TABLE_AT, UNKNOWN, Related, rank_surrogates, send_unknown
from learnt.forestry.exact._surrogates import N_FLOATS as S_FLOATS
from learnt.forestry.exact._surrogates import N_INTS as S_INTS


class Table(NamedTuple):
    """Where the values of rows are read. Where both are there, `rules.is_sparse` says which is."""

    columns: np.ndarray | None  # dense rows; empty where each column is sorted once
    cells: Cells | None  # sparse rows
    tails: np.ndarray  # of the rows' records


class Work(NamedTuple):
    """Memory that growth works with."""

    records: np.ndarray  # one column sorted, or each
    spare: np.ndarray
    orders: np.ndarray  # the rows of every node side by side; after them, by each output
    spare_rows: np.ndarray
    places: np.ndarray
    side: np.ndarray  # of each row: 1 where it goes left
    sums: np.ndarray  # of the node and of parts of it
    parts: np.ndarray  # weights and impurities of both sides
    begins: np.ndarray  # of the branches in `orders`
    features: np.ndarray  # the columns, constant ones first, and those known to be constant
    subsets: np.ndarray  # the categories of the best split and their sides


class Kept(NamedTuple):
    """The surrogates of all splits."""

    ints: np.ndarray
    floats: np.ndarray
    codes: np.ndarray


class Special(NamedTuple):
    """What few trees need. What is None is not compiled; of the rest, `rules` say what this tree needs."""

    groups: Groups | None  # categories of one column
    related: Related | None  # surrogates of one split
    kept: Kept | None  # and of all
    random: np.ndarray | None  # random thresholds (any array)
    tests: np.ndarray | None  # splits must be significant (any array)


class Nodes(NamedTuple):
    """The nodes, those that wait, and tables of categories."""

    ints: np.ndarray
    floats: np.ndarray
    totals: np.ndarray
    waiting: np.ndarray
    branches: np.ndarray
    heap: np.ndarray  # best gain first: nodes whose split is found and not made
    order: np.ndarray  # and those whose is


@kernel(allocates=False)
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
        side[(record & LOW) >> row_shift] = UNKNOWN if missing and keep_unknown else (1 if goes else 0)
        n_left += 1 if goes else 0
    return n_left


@kernel(allocates=False)
def part_entries(entries, start, end, side, shift, spare):
    """Entries of rows that go left before those that go right, both in their old order.

    An entry is a row (shifted by 0), a tail or a whole record: the row is in its low 32 bits, shifted by `shift`.
    """
    n_left, n_right = start, 0
    for p in range(start, end):
        entry = entries[p]
        goes = np.int64(side[(np.int64(entry) & LOW) >> shift])
        entries[n_left] = entry
        spare[n_right] = entry
        n_left += goes
        n_right += 1 - goes
    for k in range(n_right):
        entries[n_left + k] = spare[k]


@kernel(allocates=False)
def part_branches(m, row_shift, categories, start, n_branches, work):
    """Rows of the same branch side by side, each in their old order; begins[b] is where those of branch b begin."""
    a, orders, spare = work.records, work.orders, work.spare_rows
    places, subsets, begins = work.places, work.subsets, work.begins
    for g in range(n_branches):
        subsets[LOOKUP, subsets[CODES, g]] = subsets[SIDES, g]
        begins[g], begins[n_branches] = 0, 0
    for k in range(m):
        record = a[0, k]
        missing = (record >> 32) == NAN_CODE
        branch = subsets[LOOKUP, categories if missing else np.int64(record_value(record))]
        places[SLOT, (record & LOW) >> row_shift] = branch
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


@kernel(allocates=False)
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


@kernel(allocates=False)
def add_up(start, end, parts, target, rules, work):
    """Sums of y (or of the classes, or medians), weights and impurities (`work.parts`) of the left and right rows.

    One part: all rows are on the left.
    """
    y, weights, out = target.y, target.weights, work.parts
    orders, side, sums = work.orders, work.side, work.sums
    n_outputs, n_sums, criterion = sums.shape[1], sums.shape[2], rules.criterion
    for k in range(2):
        out[k], out[2 + k] = 0.0, 0.0
        for o in range(n_outputs):
            for c in range(n_sums):
                sums[k, o, c] = 0.0
    w, empty = 1.0, sums.shape[0] - 3
    for p in range(start, end):
        row = np.int64(orders[0, p])
        k = 1 - np.int64(side[row]) if parts == 2 else 0
        if weights.size:
            w = weights[row]
        out[k] += w
        for o in range(n_outputs):
            if target.logs is not None:
                sums[k, o, np.int64(y[row, o])] += w
            if target.amounts is not None:
                sums[k, o, 0] += w * y[row, o]
    if target.logs is not None:
        for k in range(parts):
            out[2 + k] = class_impurity(criterion, sums, k, empty, out[k])
    for o in range(n_outputs):
        if target.amounts is not None:
            add_deviations(start, end, parts, o, criterion, y, weights, orders, side, sums, out)
        if target.medians is not None:
            by_y = target.medians.by_y
            for k in range(parts):
                wanted = 1 - k if parts == 2 else -1
                _, sums[k, o, 0], error = side_median(o, y, weights, by_y, start, end, side, wanted)
                out[2 + k] += error
    if target.logs is None:
        for k in range(parts):
            out[2 + k] /= out[k] * n_outputs


@kernel(allocates=False)
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


@kernel(allocates=False)
def sift_up(heap, floats, gain, position, node):
    """Put a node at this place of the heap or above it: the highest gain, in this column of `floats`, is on top."""
    while position > 0:
        above = (position - 1) // 2
        if not floats[heap[above], gain] < floats[node, gain]:
            break
        heap[position] = heap[above]
        position = above
    heap[position] = node


@kernel(allocates=False)
def pop_best(heap, size, floats, gain):
    """The node on top; the heap is one shorter."""
    top, node = heap[0], heap[size - 1]
    size -= 1
    hole, child = 0, 0
    while child < (size - 1) // 2:  # down to a leaf along the better children, then up again
        child = 2 * (child + 1)
        if floats[heap[child], gain] < floats[heap[child - 1], gain]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and size >= 2 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    if size > 0:
        sift_up(heap, floats, gain, hole, node)
    return top


@kernel(allocates=False)
def clear_node(node, ints, floats):
    """A leaf."""
    ints[node, LEFT], ints[node, LAST], ints[node, SPLIT], ints[node, GO_LEFT] = -1, -1, -2, 0
    ints[node, TABLE], ints[node, TABLE_SIZE] = -1, 0
    floats[node, CUT], floats[node, GAIN] = -2.0, 0.0


@kernel(allocates=False)
def add_child(side, node, child, start, end, direction, middle, parts, sums, nodes):
    """Write a child of `node`: its rows, weight, impurity, sums, and the bounds of its value."""
    ints, floats = nodes.ints, nodes.floats
    clear_node(child, ints, floats)
    ints[child, START], ints[child, END], ints[child, KNOWN] = start, end, ints[node, KNOWN]
    ints[child, DEPTH] = ints[node, DEPTH] + 1
    floats[child, WEIGHT], floats[child, IMPURITY] = parts[side], parts[2 + side]
    floats[child, LOWER], floats[child, UPPER] = floats[node, LOWER], floats[node, UPPER]
    if direction != 0.0:
        floats[child, UPPER if (direction > 0) == (side == 0) else LOWER] = middle
    for o in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            nodes.totals[child, o * sums.shape[2] + c] = sums[side, o, c]


@kernel(allocates=False)
def preorder(ints, stack, order):
    """The nodes from the root, left before right; returns how many. `stack` has room for all."""
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


@kernel(allocates=False)
def keep_surrogates(node, n_found, n_kept, codes_kept, facts, special):
    """Write down a node's surrogates; returns how many codes are kept now."""
    related, kept = special.related, special.kept
    ints, floats, table = related.ints, related.floats, related.table
    kept_ints, kept_floats = kept.ints, kept.floats
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
                kept.codes[codes_kept + c] = table[ints[k, TABLE_AT] + c]
            codes_kept += size
    return codes_kept


@kernel(allocates=False)
def plant(target, rules, work, nodes, state):
    """The root: all rows."""
    ints, floats = nodes.ints, nodes.floats
    sums, parts = work.sums, work.parts
    zero, n = np.int64(0), work.orders.shape[1]
    clear_node(zero, ints, floats)
    add_up(zero, n, np.int64(1), target, rules, work)
    ints[0, START], ints[0, END], ints[0, DEPTH], ints[0, KNOWN] = 0, n, 0, 0
    floats[0, WEIGHT], floats[0, IMPURITY] = parts[0], parts[2]
    floats[0, LOWER], floats[0, UPPER] = -np.inf, np.inf
    for k in range(sums.shape[1] * sums.shape[2]):
        nodes.totals[0, k] = sums[LEFT_CHILD, k // sums.shape[2], k % sums.shape[2]]
    nodes.waiting[0] = 0
    state[COUNT], state[N_WAITING], state[N_HEAP], state[N_ORDER] = 1, 1, 0, 1
    state[SPLITS_LEFT] = rules.max_leaves - 1


@kernel(allocates=False)
def grow(table, target, rules, work, special, nodes, best, chosen, state):
    """Grow until nothing waits or chosen[STOP] is set, which returns True, or until there is no room for another split.

    Nothing is allocated here: kernels that do must count references, at each call, for each array.
    """
    y, weights = target.y, target.weights
    records, orders, side = work.records, work.orders, work.side
    sums, parts, begins = work.sums, work.parts, work.begins
    ints, floats, waiting = nodes.ints, nodes.floats, nodes.waiting
    subsets = work.subsets
    shift, presorted, is_sparse = rules.row_shift, rules.presorted, rules.is_sparse > 0
    surrogates = rules.surrogates > 0
    if state[COUNT] == 0:
        plant(target, rules, work, nodes, state)
    n_sums, one_part, two_parts, zero = sums.shape[1] * sums.shape[2], np.int64(1), np.int64(2), np.int64(0)
    best_first, most = rules.max_leaves >= 0, subsets.shape[1]
    count, n_waiting, n_heap, n_ordered = state[COUNT], state[N_WAITING], state[N_HEAP], state[N_ORDER]
    splits_left, table_size, n_kept, codes_kept = (
        state[SPLITS_LEFT],
        state[TABLE_USED],
        state[N_KEPT],
        state[CODES_KEPT],
    )
    n_found, n_touched = zero, zero
    room = True
    while n_waiting + n_heap > 0 and atomic_load(chosen, STOP) == 0:
        room = max(count, n_waiting) + most + 2 <= ints.shape[0]
        if special.groups is not None:
            room = room and (most == 1 or table_size + most + 3 <= nodes.branches.size)
        if special.related is not None and surrogates:
            kept = special.kept
            room = room and n_kept + MOST <= kept.ints.shape[0] and codes_kept + MOST * most <= kept.codes.size
        if not room:
            break
        if n_waiting == 0:  # best first: the children of the best node found so far are looked at next
            node = np.int64(pop_best(nodes.heap, n_heap, floats, np.int64(GAIN)))
            n_heap -= 1
            n_new = np.int64(ints[node, LAST]) - np.int64(ints[node, LEFT]) + 1
            if ints[node, LEFT] < 0 or splits_left < n_new - 1:  # a leaf, or found and not wanted
                clear_node(node, ints, floats)
                continue
            splits_left -= n_new - 1
            for k in range(n_new):
                nodes.order[n_ordered + k] = ints[node, LEFT] + k
                waiting[n_new - 1 - k] = ints[node, LEFT] + k
            n_ordered += n_new
            n_waiting = n_new
            continue
        n_waiting -= 1
        node = np.int64(waiting[n_waiting])
        start, end = np.int64(ints[node, START]), np.int64(ints[node, END])
        m, weight, impurity, n_left = end - start, floats[node, WEIGHT], floats[node, IMPURITY], zero
        many, n_new, gain, feature, categories = False, two_parts, 0.0, zero, zero
        grown = (
            ints[node, DEPTH] < rules.max_depth
            and m >= rules.min_split
            and weight >= 2 * rules.min_weight
            and impurity > EPSILON
        )
        if grown:
            for k in range(n_sums):
                sums[TOTALS, k // sums.shape[2], k % sums.shape[2]] = nodes.totals[node, k]
            best[SCORE], best[LOWER_BOUND], best[UPPER_BOUND] = -np.inf, floats[node, LOWER], floats[node, UPPER]
            chosen[FEATURE] = -1
            known = zero if best_first else np.int64(ints[node, KNOWN])
            if target.medians is not None:
                rank_rows(start, end, y, weights, target.medians)
            if table.cells is not None and is_sparse:
                n_touched = deal_cells(start, end, table.cells, table.tails, orders)
            ints[node, KNOWN] = find_split(start, end, known, weight, table, target, rules, work, special, best, chosen)
            grown = chosen[FEATURE] >= 0
        if grown:
            feature = chosen[FEATURE]
            categories = np.int64(rules.facts[CATEGORIES, feature])
            if table.cells is not None and is_sparse:
                fetch_sparse(feature, start, end, shift, table.tails, orders, work.places, table.cells, records)
            if table.columns is not None and not is_sparse and not presorted:
                fetch_dense(feature, start, end, table.columns, table.tails, orders, records)
            many = rules.multiway > 0 and chosen[N_BRANCHES] > 0
            if special.groups is not None and many:
                n_new = chosen[N_BRANCHES]
                part_branches(m, shift, categories, start, n_new, work)
                gain = impurity
                for k in range(n_new):
                    first, last = begins[k], begins[k + 1]
                    add_up(first, last, one_part, target, rules, work)
                    gain -= parts[0] / weight * parts[2]
            if not many:
                f, first = feature if presorted else zero, start if presorted else zero
                n_left = mark_sides(
                    records, f, first, m, shift, presorted, rules.surrogates, categories, subsets, best, chosen, side
                )
                if special.related is not None and surrogates:
                    n_found = rank_surrogates(
                        records, start, end, feature, side, weights, rules, chosen[MISSING_LEFT], special.related
                    )
                    n_left = send_unknown(orders, start, end, special.related, n_found, chosen[MISSING_LEFT], side)
                add_up(start, end, two_parts, target, rules, work)
                gain = impurity - parts[1] / weight * parts[3] - parts[0] / weight * parts[2]
            gain *= weight / rules.total_weight
            grown = gain + EPSILON >= rules.min_decrease
        if table.cells is not None and is_sparse:
            clear_cells(n_touched, table.cells.stretches)
            n_touched = zero
        if grown and not many:
            smallest = rules.min_split
            ends = ints[node, DEPTH] + 1 >= rules.max_depth or (
                (n_left < smallest or parts[2] <= EPSILON) and (m - n_left < smallest or parts[3] <= EPSILON)
            )
            if not ends or rules.max_p_value < 1.0:  # leaves need no order
                for o in range(orders.shape[0]):
                    part_entries(orders[o], start, end, side, zero, work.spare_rows)
                for f in range(records.shape[0] if presorted else 0):
                    part_entries(records[f], start, end, side, shift, work.spare)
            if table.cells is not None and is_sparse:
                for p in range(start, end):
                    work.places[SLOT, orders[0, p]] = p
            begins[0], begins[1], begins[2] = start, start + n_left, end
        if special.tests is not None and grown and rules.max_p_value < 1.0:
            grown = split_p_value(begins, n_new, rules.n_classes, y, weights, orders) <= rules.max_p_value
        if grown:
            floats[node, GAIN], floats[node, CUT] = gain, best[THRESHOLD]
            ints[node, SPLIT], ints[node, GO_LEFT] = feature, chosen[MISSING_LEFT]
            ints[node, LEFT], ints[node, LAST] = count, count + n_new - 1
            direction, middle = rules.facts[DIRECTION, feature] if rules.monotone else 0.0, 0.0
            if direction != 0.0:
                middle = sums[LEFT_CHILD, 0, 0] / (2 * parts[0]) + sums[RIGHT_CHILD, 0, 0] / (2 * parts[1])
            if target.medians is not None:
                middle = (sums[LEFT_CHILD, 0, 0] + sums[RIGHT_CHILD, 0, 0]) / 2
            heaviest = zero
            for k in range(n_new):
                first, last = begins[k], begins[k + 1]
                if special.groups is not None and many:
                    add_up(first, last, one_part, target, rules, work)
                branch = zero if many else k
                add_child(branch, node, count + k, first, last, direction, middle, parts, sums, nodes)
                heaviest = k if floats[count + k, WEIGHT] > floats[count + heaviest, WEIGHT] else heaviest
            if special.groups is not None and chosen[N_BRANCHES] > 0:
                ints[node, TABLE] = table_size
                ints[node, TABLE_SIZE] = write_table(
                    nodes.branches, table_size, categories, count, heaviest, chosen[N_BRANCHES], subsets, not many
                )
                table_size += ints[node, TABLE_SIZE]
            if special.related is not None and surrogates:
                codes_kept = keep_surrogates(node, n_found, n_kept, codes_kept, rules.facts, special)
                n_kept += n_found
            if not best_first:
                for k in range(n_new):
                    waiting[n_waiting + k] = count + n_new - 1 - k
                n_waiting += n_new
            count += n_new
        if best_first:
            sift_up(nodes.heap, floats, np.int64(GAIN), np.int64(n_heap), node)
            n_heap += 1
    state[COUNT], state[N_WAITING], state[N_HEAP], state[N_ORDER] = count, n_waiting, n_heap, n_ordered
    state[SPLITS_LEFT], state[TABLE_USED], state[N_KEPT], state[CODES_KEPT] = (
        splits_left,
        table_size,
        n_kept,
        codes_kept,
    )
    return room
