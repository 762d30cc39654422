"""Growth of one tree on dense numbers with one output: what nearly all trees are.

A node gets its final number when it is looked at, so that arrays are written once, in their final order. Depth first,
nodes that wait are a stack. Best gain first, nodes whose split is known are a heap, and what their children begin with
is kept until the split is made.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel
from learnt.forestry.exact._absolute import rank_rows
from learnt.forestry.exact._criteria import EPSILON
from learnt.forestry.exact._data import (
    COUNT,
    FEATURE,
    FIRST_FRAME,
    MAX_DEPTH,
    MAX_LEAVES,
    MIN_DECREASE,
    MIN_SPLIT,
    MIN_WEIGHT,
    MISSING_LEFT,
    N_HEAP,
    N_WAITING,
    POSITION,
    ROW_SHIFT,
    SCORE,
    SPLITS_LEFT,
    STOP,
    THRESHOLD,
    TOTAL_WEIGHT,
    TOTALS,
)
from learnt.forestry.exact._grow import part_records, part_rows, pop_best, sift_up
from learnt.forestry.exact._plain import cut_of, part_plain, read_codes, weigh_rows, weigh_sides
from learnt.forestry.exact._plain_search import mark_local, mark_rows, part_marks, search_best
from learnt.forestry.exact._plain_sort import sort_plain
from learnt.forestry.exact._random import part_random, search_random

# of a node that waits: its rows, depth, constant columns, and its parent if it is a right child
F_START, F_END, F_DEPTH, F_KNOWN, F_PARENT, N_FRAME = range(6)
_SOME = 255


@kernel(allocates=False)
def add_frame(at, side, node, first, last, depth, known, parts, sums, frames, sizes, pending):
    """Put a child on the stack."""
    frames[at, F_START], frames[at, F_END], frames[at, F_DEPTH], frames[at, F_KNOWN] = first, last, depth, known
    frames[at, F_PARENT] = -1 if side == 0 else node
    sizes[at, 0], sizes[at, 1] = parts[side], parts[2 + side]
    for c in range(sums.shape[2]):
        pending[at, c] = sums[side, 0, c]


@kernel(allocates=False)
def clear_leaves(count, left, feature_of, cut_at, goes_left):
    """Forget the splits that were found and not made."""
    for node in range(count):
        if left[node] < 0:
            feature_of[node], cut_at[node], goes_left[node] = -2, -2.0, 0


@kernel(allocates=False)
def grow_plain(
    table, marks, y, weights, logs, amounts, by_y, ranks, links, medians, quick, slow, heaps, facts, rules, limits,
    features, sums, parts, codes, slots, drawn, records, spare, local, side, best, chosen, heap, gains, frames, sizes,
    pending, left, right, feature_of, cut_at, goes_left, impurities, rows_of, weight_of, totals, state,
):  # fmt: skip
    """Grow until nothing waits or chosen[STOP] is set, which returns True, or until there is no room for another split.

    What is None is not used, and not compiled: classes (`logs`), sums of numbers (`amounts`) or their medians (`by_y`),
    ways to sweep (`quick`, `slow`), random thresholds (`drawn`), subtrees sorted once (`local`), best gain first
    (`heap`). Nodes that wait are in `frames`, `sizes` (weight and impurity) and `pending` (sums).
    """
    shift, n_sums, zero, one = rules[ROW_SHIFT], sums.shape[2], np.int64(0), np.int64(1)
    smallest = rules[MIN_SPLIT]
    count, n_waiting, n_heap, splits_left = state[COUNT], state[N_WAITING], state[N_HEAP], state[SPLITS_LEFT]
    first_frame, fresh, room = state[FIRST_FRAME], np.int64(-1), True
    base, base_end = zero, zero  # the rows that are sorted by every column
    if count + n_waiting == 0:  # the root
        end = marks.size
        total = limits[TOTAL_WEIGHT]
        weigh_sides(zero, end, end, total, marks, y, weights, logs, amounts, by_y, rules, side, sums, parts)
        add_frame(zero, zero, zero, zero, end, zero, zero, parts, sums, frames, sizes, pending)
        n_waiting, splits_left = one, rules[MAX_LEAVES] - 1
    # Large nodes look themselves whether growth is to end; of small ones a look at some is enough.
    while (n_waiting + n_heap > 0 or fresh >= 0) and (count & _SOME != 0 or atomic_load(chosen, STOP) == 0):
        if heap is not None:
            if fresh >= 0:  # looked at last; leaves as well, as in scikit-learn, whose heap this is
                sift_up(heap, gains, zero, n_heap, fresh)
                n_heap, fresh = n_heap + 1, np.int64(-1)
            if n_waiting == 0:  # the children of the best node found so far are looked at next
                node = np.int64(pop_best(heap, n_heap, gains, zero))
                n_heap -= 1
                if feature_of[node] >= 0 and splits_left > 0:
                    splits_left -= 1
                    left[node], first_frame, n_waiting = count, 2 * node, np.int64(2)
                continue
        room = count < left.size and n_waiting < frames.shape[0]
        if heap is not None:
            room = room and 2 * count + 2 <= frames.shape[0] and n_heap < heap.size
        if not room:
            break
        n_waiting -= 1
        frame = first_frame + n_waiting
        node, parent = count, frames[frame, F_PARENT]
        start, end, depth = frames[frame, F_START], frames[frame, F_END], frames[frame, F_DEPTH]
        known, at, resident = frames[frame, F_KNOWN], np.int64(-1), zero
        m, weight, impurity = end - start, sizes[frame, 0], sizes[frame, 1]
        if parent >= 0:
            right[parent] = node
        left[node], right[node], feature_of[node], cut_at[node], goes_left[node] = -1, -1, -2, -2.0, 0
        impurities[node], rows_of[node], weight_of[node] = impurity, m, weight
        for c in range(n_sums):
            totals[node, c] = pending[frame, c]
        count += 1
        deep = depth >= rules[MAX_DEPTH] or weight < 2 * limits[MIN_WEIGHT]
        if heap is not None:
            deep, known, fresh, gains[node, 0] = deep or splits_left == 0, zero, node, 0.0
        if deep or m < smallest or not impurity > EPSILON:
            continue
        for c in range(n_sums):
            sums[TOTALS, 0, c] = totals[node, c]
        best[SCORE], chosen[FEATURE] = -np.inf, -1
        if drawn is not None:
            if amounts is not None:
                weigh_rows(start, end, shift, marks, y, weights, heaps)
            known, resident = search_random(
                start, m, known, weight, table, marks, logs, heaps, facts, rules, limits, features, sums, codes, drawn,
                best, chosen,
            )  # fmt: skip
        if records is not None:
            if by_y is not None:
                rank_rows(start, end, y, weights, by_y, ranks, links, medians)
            if local is not None:
                if m <= local.shape[1] and (start < base or end > base_end):
                    for f in range(local.shape[0]):  # all columns of the subtree in rising order
                        low, high = read_codes(f, start, end, shift, table, marks, codes)
                        sort_plain(start, m, low, high, codes, slots, marks, local, np.int64(f), spare)
                    base, base_end = start, end
                if m <= local.shape[1]:
                    at = start - base
            known = search_best(
                start, end, at, known, weight, table, marks, y, weights, logs, amounts, by_y, ranks, links, medians,
                quick, slow, facts, rules, limits, features, codes, slots, records, spare, local, sums, best, chosen,
            )  # fmt: skip
        feature, n_left = chosen[FEATURE], chosen[POSITION]
        if feature < 0:
            continue
        if drawn is not None:
            part_random(resident, start, m, shift, table, marks, codes, best, chosen)
        if records is not None:
            if local is not None and at >= 0:
                n_left = mark_local(feature, at, m, shift, local, side, chosen)
                part_marks(start, end, shift, side, marks, spare)
            else:
                cut = cut_of(best[THRESHOLD])
                n_left = part_plain(feature, start, end, shift, cut, chosen[MISSING_LEFT], table, marks, spare)
        middle = start + n_left
        if by_y is not None:
            mark_rows(start, middle, end, shift, marks, side)
            part_rows(by_y, start, end, side, spare)
        weigh_sides(start, middle, end, weight, marks, y, weights, logs, amounts, by_y, rules, side, sums, parts)
        gain = impurity - parts[1] / weight * parts[3] - parts[0] / weight * parts[2]
        gain *= weight / limits[TOTAL_WEIGHT]
        if not gain + EPSILON >= limits[MIN_DECREASE]:
            continue
        if local is not None:
            ends = depth + 1 >= rules[MAX_DEPTH] or (
                (n_left < smallest or parts[2] <= EPSILON) and (m - n_left < smallest or parts[3] <= EPSILON)
            )
            if at >= 0 and not ends:  # leaves need no order
                part_records(local, at, at + m, side, shift, spare)
        feature_of[node], cut_at[node], goes_left[node] = feature, best[THRESHOLD], chosen[MISSING_LEFT]
        frame = n_waiting
        if heap is not None:
            frame, gains[node, 0] = 2 * node, gain
        else:
            left[node] = count
            n_waiting += 2
        add_frame(frame, one, node, middle, end, depth + 1, known, parts, sums, frames, sizes, pending)
        add_frame(frame + 1, zero, node, start, middle, depth + 1, known, parts, sums, frames, sizes, pending)
    if heap is not None and room:
        clear_leaves(count, left, feature_of, cut_at, goes_left)
    state[COUNT], state[N_WAITING], state[N_HEAP], state[SPLITS_LEFT] = count, n_waiting, n_heap, splits_left
    state[FIRST_FRAME] = first_frame
    return room
