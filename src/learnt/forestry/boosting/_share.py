"""What one thread of a team does of a step in growing a tree: pass over rows, partition, sum histograms, search."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.boosting._histogram import BLOCK, CONSTANT, each_cell, histogram, outline, read_cell, running_sums
from learnt.forestry.boosting._rows import (
    ROWS,
    add_values,
    gradients,
    in_order,
    name_leaves,
    no_leaves,
    quantise,
    sum_leaves,
)
from learnt.forestry.boosting._search import may_be_better, search_numbers
from learnt.forestry.boosting._sets import SUPPORT, bound_categories, search_categories, told_apart
from learnt.forestry.boosting._state import Codes, Layout, Node, Rounding
from learnt.forestry.boosting._team import ARGUMENTS

PARTITION, COPY, SUM, SEARCH, SUM_AND_SEARCH = 1, 2, 3, 4, 5
GRADIENTS, QUANTISE, NO_LEAVES, LEAVES, LEAF_SUMS, UPDATE = 6, 7, 8, 9, 10, 11
# Arguments of a step, in the team's array.
COMMAND, LO, HI, FEATURE, SMALL, LARGE, SEARCH_SMALL, SEARCH_LARGE, PARTS, FRESH, IN_ORDER, TOTALS = (
    ARGUMENTS + k for k in range(12)
)
# Settings that are integers, and those that are not.
MAX_LEAVES, MAX_DEPTH, MIN_LEAF, ORDER, FORM, SHIFT, STRIDE, SLOTS = range(8)
WIDTH, SINGLE, LOW_BITS, UP, FLUSH, THREADS, GRADIENT_BITS, HESSIAN_BITS = range(8, 16)
N_ROWS, NOISY, SOURCE, OUTPUT, SALT, TO_UPDATE, PART, SUM_AGAIN = range(16, 24)
SCALE_G, SCALE_H, MIN_HESSIAN, L1, L2, NOISE, RATE, TO_G, TO_H, LEAF_G, LEAF_H, MIN_ROWS = range(12)
TEAM_SIZE = ARGUMENTS + 16
_CATEGORIES_COST = 2  # of searching sets of categories, in searches of thresholds
# What is known of a node in integers.
LEFT, SPLIT, BIN, WAY, START, END, G, HC, LEFT_G, LEFT_HC, DEPTH, SLOT = range(12)
GAIN, LOW, HIGH = range(3)  # and in others
# Stages of the leader: those of growing, then those around it.
BEGIN, ROOT_SUMMED, SEARCHED, NEXT, PARTITIONED, COPIED, PARENT_SUMMED, SMALL_SUMMED = range(8)
WITH_GRADIENTS, ROUNDED, GROWN, TO_NAME, NAMED, LEAVES_SUMMED = range(8, 14)
AGAIN = -1  # instead of a command: continue with another stage
# What it remembers between them.
STAGE, N_NODES, N_LEAVES, IN_HEAP, N_FREE, NODE, SMALL_NODE, LARGE_NODE, TOGETHER, NEXT_ROW, SEARCH_0, SEARCH_1 = range(
    12
)


@kernel(allocates=False)
def partition_share(me, n_members, lo, hi, column, goes_left, rows, spare, counts):
    """Partition this thread's range in `spare`: rows that go left at its front, the others at its end."""
    begin = lo + (hi - lo) * me // n_members
    end = lo + (hi - lo) * (me + 1) // n_members
    left, right = np.uint64(begin), np.uint64(end - 1)
    one = np.uint64(1)
    for i in range(np.uint64(begin), np.uint64(end)):
        r = rows[i]
        spare[left] = r
        spare[right] = r
        go = np.uint64(goes_left[column[np.uint64(r)]])
        left += go
        right -= one - go
    counts[8 * me] = np.int64(left) - begin


@kernel(allocates=False)
def copy(source, begin, n, at, target):
    a, b = np.uint64(begin), np.uint64(at)
    for i in range(np.uint64(n)):
        target[b + i] = source[a + i]


@kernel(allocates=False)
def copy_share(me, n_members, lo, hi, rows, spare, counts):
    """Merge the ranges: all that go left, then all that go right."""
    begin = lo + (hi - lo) * me // n_members
    end = lo + (hi - lo) * (me + 1) // n_members
    before, total = np.int64(0), np.int64(0)
    for k in range(n_members):
        before += counts[8 * k] if k < me else 0
        total += counts[8 * k]
    mine = counts[8 * me]
    copy(spare, begin, mine, lo + before, rows)
    copy(spare, begin + mine, end - begin - mine, lo + total + (begin - lo - before), rows)


@kernel(allocates=False)
def cell_place(slot, feature, ints, n_features):
    """Where the cells of a feature begin in the pool; a histogram ends with room for the padding of a row."""
    a_cell = 2 - ints[SINGLE]
    return (slot * ((n_features + 7) // 8 * 8) + feature) * ints[WIDTH] * a_cell


@kernel(allocates=False)
def add_parts(pool, at, n_cells, parts, first_part, step):
    """The sum of what each thread found, into the cells from `at` on."""
    to, first = np.uint64(at), np.uint64(first_part)
    for k in range(np.uint64(n_cells)):
        total = np.int64(0)
        for p in range(np.uint64(parts)):
            total += pool[first + p * np.uint64(step) + k]
        pool[to + k] = total


@kernel(allocates=False)
def subtract(pool, at, less, n_cells):
    to, of = np.uint64(at), np.uint64(less)
    for k in range(np.uint64(n_cells)):
        pool[to + k] -= pool[of + k]


@kernel(allocates=False)
def write_set(order, size, hc, n, shift, out):
    """1 for the categories that go left; those with too few rows share a side."""
    for k in range(256):
        out[k] = 0
    together = False
    for k in range(size):
        if order[k] == n:
            together = True
        else:
            out[order[k]] = 1
    mask = (np.int64(1) << shift) - np.int64(1)
    for b in range(n if together else 0):
        if hc[b] & mask < SUPPORT:
            out[b] = 1


@kernel(allocates=False)
def least_hessian(total_hc, ints, floats):
    """The least sum of hessians of a side: as given, and that of so many rows that are as the node's are on average."""
    count = total_hc & ((np.int64(1) << ints[SHIFT]) - np.int64(1))
    mean = np.float64(total_hc >> ints[SHIFT]) * floats[SCALE_H] / np.float64(count)
    return max(floats[MIN_HESSIAN], floats[MIN_ROWS] * mean)


@kernel(allocates=False)
def layout_of(ints):
    """How the cells hold their sums."""
    return Layout(ints[FORM], ints[SINGLE], ints[LOW_BITS], ints[UP], ints[SHIFT])


@kernel(allocates=False)
def node_of(child, team, ints, floats, bounds):
    """The node whose split is searched: the first or the second of the two that share a parent."""
    g, hc = team[TOTALS + 2 * child], team[TOTALS + 2 * child + 1]
    return Node(
        g, hc, ints[SHIFT], floats[SCALE_G], floats[SCALE_H], ints[MIN_LEAF], least_hessian(hc, ints, floats),
        floats[L1], floats[L2], bounds[2 * child], bounds[2 * child + 1],
    )  # fmt: skip


@kernel(allocates=False)
def search_thresholds(f, child, at, me, table, team, ints, floats, room):
    """The best threshold of one node on one feature, if it is better than what this thread has found so far."""
    n_bins, has_missing, pool, found = table.n_bins[f], table.has_missing[f], room.pool, room.found
    left_g, left_hc, rough_g, rough_h = room.sums[me, 0], room.sums[me, 1], room.rough[me, 0], room.rough[me, 1]
    layout, node = layout_of(ints), node_of(child, team, ints, floats, room.bounds)
    most = (node.hc & ((np.int64(1) << node.shift) - np.int64(1))) - node.min_leaf
    g, hc = np.int64(0), np.int64(0)
    for way in range(2 if has_missing else 1):  # missing values right, then left
        if way == 1:
            g, hc = read_cell(pool, at, n_bins, layout)
        last = n_bins if has_missing and way == 0 else n_bins - 1
        begin, end = outline(pool, at, last, layout, g, hc, node.min_leaf, most, rough_g, rough_h)
        total_h, least = node.hc >> node.shift, room.found_gain[me, child]
        if not may_be_better(rough_g, rough_h, begin, end, node.g, total_h, node.scale_g, node.scale_h, node.l2, least):
            continue
        running_sums(pool, at, last, layout, g, hc, left_g, left_hc)
        gain, b = search_numbers(left_g, left_hc, rough_g, rough_h, begin, end, node, table.monotone[f], least)
        if b >= 0:
            room.found_gain[me, child] = gain
            found[me, child, 0], found[me, child, 1], found[me, child, 2] = f, b, way
            found[me, child, 3], found[me, child, 4] = left_g[b], left_hc[b]


@kernel(allocates=False)
def search_sets(f, child, at, me, only_bound, table, team, ints, floats, room, kinds):
    """The best set of categories of one node on one feature, if it is better than what this thread has found so far;
    or only a bound on its gain.
    """
    cell_g, cell_hc, rough_g, rough_h = room.sums[me, 0], room.sums[me, 1], room.rough[me, 0], room.rough[me, 1]
    found, sorting, noise, n = room.found, kinds.sorting[me], floats[NOISE], table.n_bins[f] + 1
    node = node_of(child, team, ints, floats, room.bounds)
    each_cell(room.pool, at, n, layout_of(ints), cell_g, cell_hc)
    units = np.float64(node.hc >> node.shift)
    used = told_apart(n, node.g, units, node.shift, cell_g, cell_hc, sorting[0], rough_g, rough_h)
    if only_bound:
        bound = bound_categories(used, node.g, units, node.scale_g, node.scale_h, noise, rough_g, rough_h)
        kinds.most[me, child, f] = bound
        return
    before = found[me, child, 0]
    equal = before >= 0 and table.categorical[before] and f < before
    gain, size, g, hc = search_categories(
        cell_g, cell_hc, used, node, noise, room.found_gain[me, child], equal, sorting, rough_g, rough_h
    )
    if size > 0:
        room.found_gain[me, child] = gain
        found[me, child, 0], found[me, child, 1], found[me, child, 2] = f, size, 0
        found[me, child, 3], found[me, child, 4] = g, hc
        write_set(sorting[0], size, cell_hc, n, node.shift, kinds.found_set[me, child])


@kernel(allocates=False)
def first_feature(me, n_members, n_features):
    """Where a thread's features begin, in whole words of a row's codes; those of the next one are where its own end."""
    return min(n_features, (n_features + 7) // 8 * me // n_members * 8)


@kernel(allocates=False)
def first_to_search(me, n_members, categorical, kinds):
    """Where a thread's features begin in a search of its own; those of the next one are where its own end."""
    if kinds is None:
        return categorical.size * me // n_members
    total = np.int64(0)
    for f in range(categorical.size):
        total += _CATEGORIES_COST if categorical[f] else 1
    before, f = np.int64(0), np.int64(0)
    while f < categorical.size and before < total * me // n_members:
        before += _CATEGORIES_COST if categorical[f] else 1
        f += 1
    return f


@kernel(allocates=False)
def most_promising(first, last, categorical, most, least):
    """The feature of categories with the largest bound on its gain; −1 where none can gain `least`."""
    best, bound = np.int64(-1), least
    for f in range(first, last):
        if categorical[f] and (most[f] > bound or (best < 0 and most[f] == bound)):
            best, bound = f, most[f]
    return best


@kernel(allocates=False)
def prepare_cells(f, small, large, parts, first_part, n_cells, n_features, ints, pool):
    """What each thread summed put together; a large node's cells are its parent's less the small one's."""
    at = cell_place(small, f, ints, n_features)
    if parts > 1:
        part_size = cell_place(np.int64(1), np.int64(0), ints, n_features)
        add_parts(pool, at, n_cells, parts, cell_place(first_part, f, ints, n_features), part_size)
    if large >= 0:
        subtract(pool, cell_place(large, f, ints, n_features), at, n_cells)


@kernel(allocates=False)
def search_kinds(me, first, last, team, table, ints, floats, room, kinds):
    """The best sets of categories, of the features first…last that hold any: from the most promising on."""
    categorical, allowed, found_gain = table.categorical, room.allowed, room.found_gain
    n_features, most = categorical.size, kinds.most[me]
    for child in range(2):
        for f in range(first, last):
            wanted = team[SEARCH_SMALL + child] == 1 and allowed[child, f] == 1
            most[child, f] = np.inf if wanted else -np.inf
        while True:
            f = most_promising(first, last, categorical, most[child], found_gain[me, child])
            if f < 0:
                break
            only_bound = most[child, f] == np.inf
            if not only_bound:
                most[child, f] = -np.inf
            at = cell_place(team[LARGE] if child else team[SMALL], f, ints, n_features)
            search_sets(f, child, at, me, only_bound, table, team, ints, floats, room, kinds)


@kernel(allocates=False)
def search_share(me, n_members, team, table, ints, floats, room, kinds):
    """The best split of one or two nodes over this thread's features, which are those that it summed if it has.

    Thresholds come first, then sets of categories from the most promising on: the best gain so far excludes most of the
    others.
    """
    n_bins, has_missing, categorical = table.n_bins, table.has_missing, table.categorical
    n_features, small, large = n_bins.size, team[SMALL], team[LARGE]
    if team[COMMAND] == SUM_AND_SEARCH:
        first, last = first_feature(me, n_members, n_features), first_feature(me + 1, n_members, n_features)
    else:
        first = first_to_search(me, n_members, categorical, kinds)
        last = first_to_search(me + 1, n_members, categorical, kinds)
    for child in range(2):
        room.found_gain[me, child] = -1.0
        room.found[me, child, 0] = -1
    for f in range(first, last):
        n_cells = (2 - ints[SINGLE]) * (n_bins[f] + 1)
        prepare_cells(f, small, large, team[PARTS], ints[SLOTS] + 2, n_cells, n_features, ints, room.pool)
        for child in range(0 if categorical[f] else 2):
            wanted = team[SEARCH_SMALL + child] == 1 and room.allowed[child, f] == 1
            if wanted and (n_bins[f] >= 2 or has_missing[f]):
                at = cell_place(large if child else small, f, ints, n_features)
                search_thresholds(f, child, at, me, table, team, ints, floats, room)
    if kinds is not None:
        search_kinds(me, first, last, team, table, ints, floats, room, kinds)


@kernel(allocates=False)
def sum_share(me, n_members, team, table, words, ints, room):
    """The histogram of a node over this thread's features; or over its rows, into cells of its own that the search
    adds up.
    """
    n_features = table.n_bins.size
    begin, end, slot = team[LO], team[HI], team[SMALL]
    first, last = first_feature(me, n_members, n_features), first_feature(me + 1, n_members, n_features)
    if team[PARTS] > 1:
        begin = team[LO] + (team[HI] - team[LO]) * me // n_members
        end = team[LO] + (team[HI] - team[LO]) * (me + 1) // n_members
        first, last, slot = 0 * first, n_features, ints[SLOTS] + 2 + me
    for f in range(first, last, BLOCK):
        part = Codes(table.by_row, ints[STRIDE], f // 8, min(BLOCK, last - f), room.rows, team[IN_ORDER])
        histogram(
            part, begin, end, layout_of(ints), ints[FLUSH], ints[WIDTH], words, team[FRESH],
            cell_place(slot, f, ints, n_features), room.pool, (room.scratch[me], room.taken[me], room.adds[me]),
        )  # fmt: skip


@kernel(allocates=False)
def rows_share(me, n_members, team, words, ints, floats, rows, leaf_of, node_ints, data):
    """This thread's blocks of a pass over all rows, or its part of every leaf."""
    y, score, norm, w, g, h, counts, blocks, sums, nodes = data
    command, first, last, form = team[COMMAND], team[LO], team[HI], ints[FORM]
    if command == LEAVES:
        name_leaves(me, n_members, last, node_ints[:, LEFT], node_ints[:, START], node_ints[:, END], rows, leaf_of)
        return
    for b in range(first + (last - first) * me // n_members, first + (last - first) * (me + 1) // n_members):
        lo, hi = b * ROWS, min((b + 1) * ROWS, ints[N_ROWS])
        if command == GRADIENTS:
            if ints[PART] == 0:
                in_order(lo, hi, rows)
            seen = (y, score, norm, w)
            gradients(ints[SOURCE], ints[OUTPUT], form == CONSTANT, lo, hi, seen, g, h, counts, blocks[b])
        elif command == QUANTISE:
            rounding = Rounding(floats[TO_G], floats[TO_H], ints[SHIFT], ints[SALT])
            quantise(form, lo, hi, g, h, rounding, counts, words)
        elif command == NO_LEAVES:
            no_leaves(lo, hi, nodes.shape[1] - 1, leaf_of)
        elif command == LEAF_SUMS:
            sum_leaves(lo, hi, g, floats[LEAF_G], leaf_of, sums[0, me])
            if form != CONSTANT:
                sum_leaves(lo, hi, h, floats[LEAF_H], leaf_of, sums[1, me])
        else:
            add_values(lo, hi, leaf_of, nodes[0], score)


@kernel(allocates=False)
def share(me, n_members, team, table, words, ints, floats, room, kinds):
    """This thread's part of a step in growing that the team's array describes."""
    command, lo, hi = team[COMMAND], team[LO], team[HI]
    rows, spare, goes_left, counts = room.rows, room.spare, room.goes_left, room.counts
    if command == PARTITION:
        partition_share(me, n_members, lo, hi, table.by_column[team[FEATURE]], goes_left, rows, spare, counts)
    elif command == COPY:
        copy_share(me, n_members, lo, hi, rows, spare, counts)
    else:
        if command != SEARCH:
            sum_share(me, n_members, team, table, words, ints, room)
        if command != SUM:
            search_share(me, n_members, team, table, ints, floats, room, kinds)
