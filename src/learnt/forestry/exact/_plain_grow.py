"""Growth of one tree on dense numbers with one output: what nearly all trees are.

A node gets its final number when it is looked at, so that arrays are written once, in their final order. Depth first,
nodes that wait are a stack. Best gain first, nodes whose split is known are a heap, and what their children begin with
is kept until the split is made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.exact._absolute import rank_rows
from learnt.forestry.exact._criteria import EPSILON
from learnt.forestry.exact._data import (
    COUNT,
    FEATURE,
    FIRST_FRAME,
    MISSING_LEFT,
    N_HEAP,
    N_WAITING,
    POSITION,
    SCORE,
    SPLITS_LEFT,
    STOP,
    THRESHOLD,
    TOTALS,
)
from learnt.forestry.exact._grow import part_entries, pop_best, sift_up
from learnt.forestry.exact._plain import cut_of, part_plain, read_codes, weigh_rows, weigh_sides
from learnt.forestry.exact._plain_search import mark_local, mark_rows, search_best
from learnt.forestry.exact._plain_sort import sort_plain
from learnt.forestry.exact._random import part_random, search_random

# of a node that waits: its rows, depth, constant columns, and its parent if it is a right child
F_START, F_END, F_DEPTH, F_KNOWN, F_PARENT, N_FRAME = range(6)
_SOME = 255


class Work(NamedTuple):
    """Memory that growth works with. What is None is not used, and not compiled."""

    features: np.ndarray  # the columns, constant ones first, and those known to be constant
    sums: np.ndarray  # of the node and of parts of it
    parts: np.ndarray  # weights and impurities of both sides
    codes: np.ndarray  # values of a node's rows
    side: np.ndarray | None  # of each row: 1 where it goes left
    drawn: np.ndarray | None  # random thresholds of some columns
    heaps: np.ndarray | None  # weights and weighted y of a node's rows, for random thresholds
    records: np.ndarray | None  # one column sorted
    slots: np.ndarray | None
    spare: np.ndarray | None
    local: np.ndarray | None  # all columns of a small subtree sorted; empty where none is
    quick: np.ndarray | None  # sweeps without missing values (`search_best`); not used where it is empty
    slow: np.ndarray | None  # sweeps with missing values (any array)


class Heap(NamedTuple):
    """Nodes whose split is found and not made, best gain first."""

    nodes: np.ndarray
    gains: np.ndarray  # of all nodes


class Waiting(NamedTuple):
    """Nodes that are not looked at yet."""

    frames: np.ndarray
    sizes: np.ndarray  # weight and impurity
    sums: np.ndarray


class Nodes(NamedTuple):
    """Nodes that are, in their final order."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    impurity: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    sums: np.ndarray


@kernel(allocates=False)
def add_frame(at, side, node, first, last, depth, known, parts, sums, waiting):
    """Put a child on the stack."""
    frames = waiting.frames
    frames[at, F_START], frames[at, F_END], frames[at, F_DEPTH], frames[at, F_KNOWN] = first, last, depth, known
    frames[at, F_PARENT] = -1 if side == 0 else node
    waiting.sizes[at, 0], waiting.sizes[at, 1] = parts[side], parts[2 + side]
    for c in range(sums.shape[2]):
        waiting.sums[at, c] = sums[side, 0, c]


@kernel(allocates=False)
def clear_leaves(count, nodes):
    """Forget the splits that were found and not made."""
    for node in range(count):
        if nodes.left[node] < 0:
            nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = -2, -2.0, 0


@kernel(allocates=False)
def grow_plain(table, marks, target, rules, work, heap, waiting, nodes, best, chosen, state):
    """Grow until nothing waits or chosen[STOP] is set, which returns True, or until there is no room for another split.

    Depth first where `heap` is None, or where `rules` name no number of leaves.
    """
    best_first = rules.max_leaves >= 0
    sums, parts = work.sums, work.parts
    spare, side = work.spare, work.side
    frames, left = waiting.frames, nodes.left
    shift, n_sums, zero, one = rules.row_shift, sums.shape[2], np.int64(0), np.int64(1)
    smallest = rules.min_split
    count, n_waiting, n_heap, splits_left = state[COUNT], state[N_WAITING], state[N_HEAP], state[SPLITS_LEFT]
    first_frame, fresh, room = state[FIRST_FRAME], np.int64(-1), True
    base, base_end = zero, zero  # the rows that are sorted by every column
    if count + n_waiting == 0:  # the root
        end = marks.size
        weigh_sides(zero, end, end, rules.total_weight, marks, target, rules, side, sums, parts)
        add_frame(zero, zero, zero, zero, end, zero, zero, parts, sums, waiting)
        n_waiting, splits_left = one, np.int64(rules.max_leaves - 1)
    # Large nodes look themselves whether growth is to end; of small ones a look at some is enough.
    while (n_waiting + n_heap > 0 or fresh >= 0) and (count & _SOME != 0 or atomic_load(chosen, STOP) == 0):
        if heap is not None and best_first:
            if fresh >= 0:  # looked at last; leaves as well, as in scikit-learn, whose heap this is
                sift_up(heap.nodes, heap.gains, zero, n_heap, fresh)
                n_heap, fresh = n_heap + 1, np.int64(-1)
            if n_waiting == 0:  # the children of the best node found so far are looked at next
                node = np.int64(pop_best(heap.nodes, n_heap, heap.gains, zero))
                n_heap -= 1
                if nodes.feature[node] >= 0 and splits_left > 0:
                    splits_left -= 1
                    left[node], first_frame, n_waiting = count, 2 * node, np.int64(2)
                continue
        room = count < left.size and n_waiting < frames.shape[0]
        if heap is not None and best_first:
            room = room and 2 * count + 2 <= frames.shape[0] and n_heap < heap.nodes.size
        if not room:
            break
        n_waiting -= 1
        frame = first_frame + n_waiting
        node, parent = count, frames[frame, F_PARENT]
        start, end, depth = frames[frame, F_START], frames[frame, F_END], frames[frame, F_DEPTH]
        known, at, resident = frames[frame, F_KNOWN], np.int64(-1), zero
        m, weight, impurity = end - start, waiting.sizes[frame, 0], waiting.sizes[frame, 1]
        if parent >= 0:
            nodes.right[parent] = node
        left[node], nodes.right[node] = -1, -1
        nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = -2, -2.0, 0
        nodes.impurity[node], nodes.rows[node], nodes.weight[node] = impurity, m, weight
        for c in range(n_sums):
            nodes.sums[node, c] = waiting.sums[frame, c]
        count += 1
        deep = depth >= rules.max_depth or weight < 2 * rules.min_weight
        if heap is not None and best_first:
            deep, known, fresh = deep or splits_left == 0, zero, node
            heap.gains[node, 0] = 0.0
        if deep or m < smallest or not impurity > EPSILON:
            continue
        for c in range(n_sums):
            sums[TOTALS, 0, c] = nodes.sums[node, c]
        best[SCORE], chosen[FEATURE] = -np.inf, -1
        if work.drawn is not None:
            if target.amounts is not None:
                weigh_rows(start, end, shift, marks, target.y, target.weights, work.heaps)
            known, resident = search_random(
                start, m, known, weight, table, marks, target.logs, rules, work, best, chosen
            )
        if work.records is not None:
            if target.medians is not None:
                rank_rows(start, end, target.y, target.weights, target.medians)
            if work.local is not None:
                local = work.local
                if m <= local.shape[1] and (start < base or end > base_end):
                    for f in range(local.shape[0]):  # all columns of the subtree in rising order
                        low, high = read_codes(f, start, end, shift, table, marks, work.codes)
                        sort_plain(start, m, low, high, work.codes, work.slots, marks, local, np.int64(f), spare)
                    base, base_end = start, end
                if m <= local.shape[1]:
                    at = start - base
            known = search_best(start, end, at, known, weight, table, marks, target, rules, work, best, chosen)
        feature, n_left = chosen[FEATURE], chosen[POSITION]
        if feature < 0:
            continue
        if work.drawn is not None:
            part_random(resident, start, m, shift, table, marks, work.codes, best, chosen)
        if work.records is not None:
            if work.local is not None and at >= 0:
                n_left = mark_local(feature, at, m, shift, work.local, side, chosen)
                part_entries(marks, start, end, side, shift, spare)
            else:
                cut = cut_of(best[THRESHOLD])
                n_left = part_plain(feature, start, end, shift, cut, chosen[MISSING_LEFT], table, marks, spare)
        middle = start + n_left
        if target.medians is not None:
            mark_rows(start, middle, end, shift, marks, side)
            part_entries(target.medians.by_y[0], start, end, side, zero, spare)
        weigh_sides(start, middle, end, weight, marks, target, rules, side, sums, parts)
        gain = impurity - parts[1] / weight * parts[3] - parts[0] / weight * parts[2]
        gain *= weight / rules.total_weight
        if not gain + EPSILON >= rules.min_decrease:
            continue
        if work.local is not None:
            ends = depth + 1 >= rules.max_depth or (
                (n_left < smallest or parts[2] <= EPSILON) and (m - n_left < smallest or parts[3] <= EPSILON)
            )
            if at >= 0 and not ends:  # leaves need no order
                for f in range(work.local.shape[0]):
                    part_entries(work.local[f], at, at + m, side, shift, spare)
        nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = (
            feature,
            best[THRESHOLD],
            chosen[MISSING_LEFT],
        )
        frame = n_waiting
        if heap is not None and best_first:
            frame, heap.gains[node, 0] = 2 * node, gain
        else:
            left[node] = count
            n_waiting += 2
        add_frame(frame, one, node, middle, end, depth + 1, known, parts, sums, waiting)
        add_frame(frame + 1, zero, node, start, middle, depth + 1, known, parts, sums, waiting)
    if heap is not None and best_first and room:
        clear_leaves(count, nodes)
    state[COUNT], state[N_WAITING], state[N_HEAP], state[SPLITS_LEFT] = count, n_waiting, n_heap, splits_left
    state[FIRST_FRAME] = first_frame
    return room
