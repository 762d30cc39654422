"""What one thread of a team does of a step in growing a tree: partition rows, sum histograms, search splits."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._histogram import BLOCK, histogram
from learnt.forestry._histogram_search import search_categories, search_numbers
from learnt.forestry._histogram_team import ARGUMENTS

PARTITION, COPY, SUM, SEARCH = 1, 2, 3, 4
# Arguments of a step, in the team's array.
COMMAND, LO, HI, FEATURE, SMALL, LARGE, SEARCH_SMALL, SEARCH_LARGE, PARTS, TOTALS = (ARGUMENTS + k for k in range(10))
# Settings that are whole numbers, and those that are not.
MAX_LEAVES, MAX_DEPTH, MIN_LEAF, ORDER, SAMPLED, FORM, SHIFT, STRIDE, SLOTS = range(9)
SCALE_G, SCALE_H, MIN_HESSIAN, L1, L2 = range(5)
TEAM_SIZE = ARGUMENTS + 16
_WORDS = BLOCK // 8


@kernel
def partition_share(me, n_members, lo, hi, column, lut, rows, spare, counts):
    """Rows of this thread's stretch that go left to its front, in `spare`, the others to its end."""
    begin = lo + (hi - lo) * me // n_members
    end = lo + (hi - lo) * (me + 1) // n_members
    left, right = np.uint64(begin), np.uint64(end - 1)
    one = np.uint64(1)
    for i in range(np.uint64(begin), np.uint64(end)):
        r = rows[i]
        spare[left] = r
        spare[right] = r
        go = np.uint64(lut[column[np.uint64(r)]])
        left += go
        right -= one - go
    counts[8 * me] = np.int64(left) - begin


@kernel
def copy_share(me, n_members, lo, hi, rows, spare, counts):
    """Stretches put together: all that go left, then all that go right."""
    begin = lo + (hi - lo) * me // n_members
    end = lo + (hi - lo) * (me + 1) // n_members
    before, total = 0, 0
    for k in range(n_members):
        before += counts[8 * k] if k < me else 0
        total += counts[8 * k]
    mine = counts[8 * me]
    at = lo + before
    for i in range(mine):
        rows[at + i] = spare[begin + i]
    at = lo + total + (begin - lo - before)
    for i in range(end - begin - mine):
        rows[at + i] = spare[begin + mine + i]


@kernel
def search_share(me, n_members, team, table, ints, floats, room):
    """The best split of one or two nodes over every n_members-th feature; a large node's cells are its parent's less
    the small one's.
    """
    offsets, n_bins, has_missing, categorical, monotone = table[2], table[3], table[4], table[5], table[6]
    pool, private, allowed, found_gain, found, found_set = room[4], room[5], room[7], room[8], room[9], room[10]
    order, keys, bounds = room[11][me], room[12][me], room[13]
    shift, parts = ints[SHIFT], team[PARTS]
    scale_g, scale_h = floats[SCALE_G], floats[SCALE_H]
    min_leaf, min_hessian, l1, l2 = ints[MIN_LEAF], floats[MIN_HESSIAN], floats[L1], floats[L2]
    small, large = team[SMALL], team[LARGE]
    for child in range(2):
        found_gain[me, child] = -1.0
        found[me, child, 0] = -1
    for f in range(me, n_bins.size, n_members):
        at, end = 2 * offsets[f], 2 * offsets[f + 1]
        if parts > 1:
            for k in range(at, end):
                total = np.int64(0)
                for p in range(parts):
                    total += private[p, k]
                pool[small, k] = total
        if large >= 0:
            for k in range(at, end):
                pool[large, k] -= pool[small, k]
        if n_bins[f] < 2 and not has_missing[f]:
            continue
        for child in range(2):
            if team[SEARCH_SMALL + child] == 0 or allowed[child, f] == 0:
                continue
            cells = pool[large if child else small]
            g, hc = team[TOTALS + 2 * child], team[TOTALS + 2 * child + 1]
            low, high = bounds[2 * child], bounds[2 * child + 1]
            if categorical[f]:
                gain, size, left_g, left_hc = search_categories(
                    cells, at, n_bins[f], g, hc, shift, scale_g, scale_h,
                    min_leaf, min_hessian, l1, l2, low, high, order, keys,
                )  # fmt: skip
                last, way = size, 0
            else:
                gain, last, way, left_g, left_hc = search_numbers(
                    cells, at, n_bins[f], has_missing[f], g, hc, shift, scale_g, scale_h,
                    min_leaf, min_hessian, l1, l2, low, high, monotone[f],
                )  # fmt: skip
            if gain > found_gain[me, child]:
                found_gain[me, child] = gain
                found[me, child, 0], found[me, child, 1], found[me, child, 2] = f, last, way
                found[me, child, 3], found[me, child, 4] = left_g, left_hc
                if categorical[f]:
                    for k in range(256):
                        found_set[me, child, k] = 0
                    for k in range(last):
                        found_set[me, child, order[k]] = 1


@kernel
def share(me, n_members, team, table, words, ints, floats, room):
    """This thread's part of the step that the team's array describes."""
    command, lo, hi = team[COMMAND], team[LO], team[HI]
    codes, columns, offsets = table[0], table[1], table[2]
    rows, spare, lut, counts, pool, private, narrow = room[0], room[1], room[2], room[3], room[4], room[5], room[6]
    if command == PARTITION:
        partition_share(me, n_members, lo, hi, columns[team[FEATURE]], lut, rows, spare, counts)
    elif command == COPY:
        copy_share(me, n_members, lo, hi, rows, spare, counts)
    elif command == SEARCH:
        search_share(me, n_members, team, table, ints, floats, room)
    elif command == SUM:
        by_rows = team[PARTS] > 1
        begin, end, first, step = lo, hi, me * _WORDS, n_members * _WORDS
        cells = pool[team[SMALL]]
        if by_rows:  # into cells of one's own; the search adds them up
            begin = lo + (hi - lo) * me // n_members
            end = lo + (hi - lo) * (me + 1) // n_members
            first, step = 0, _WORDS
            cells = private[me]
        n_words = (offsets.size + 6) // 8
        for k in range(first, n_words, step):
            histogram(
                codes, ints[STRIDE], k, min(_WORDS, n_words - k), rows, begin, end, ints[FORM], ints[SHIFT],
                words[0], words[1], words[2], offsets, narrow[me], cells,
            )  # fmt: skip
