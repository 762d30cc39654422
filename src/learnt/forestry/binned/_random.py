"""Extremely randomised trees on binned features: one number or two classes a row, nothing missing, depth first.

The rows of a node lie side by side in `marks`: row, whole weight and class of each in 32 bits. Numbers go along in
`ys`; searches sum whole numbers for their distances from the mean, what is kept of a node is summed in float64. Two
children lie next to each other and after their parent: right = left + 1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel
from learnt.forestry.binned._pairs import LONG, STOP, first_state
from learnt.forestry.binned._random_search import (
    BITS,
    COLUMN,
    CUT,
    FEW,
    LEFT_ONES,
    LEFT_WEIGHT,
    MAX_DEPTH,
    MIN_LEAF,
    MIN_SPLIT,
    N_FEW,
    N_FOUND,
    SHIFT,
    WEIGHT_MASK,
    distances,
    search_all,
    search_few,
    search_some,
    search_two,
)
from learnt.forestry.binned._row_vectors import BYTE_LANES, MOST_IN_A_BYTE, ROWS_A_SUM
from learnt.forestry.bins._bins import Bins
from learnt.forestry.exact._records import row_tails

MIN_WEIGHT, MIN_DECREASE, N_LIMITS = range(3)
START, END, DEPTH, NODE, ONES, N_FRAME = range(6)  # of a node that waits
_NEAR = 32768  # rows that are copied side by side, so that a processor has them and all below them at hand
_NARROW = 64  # bytes of a row that are read whole whatever is drawn of them


@kernel(allocates=False)
def part(table, step, shift, f, cut, lo, m, to, marks, ys):
    """The rows of a node to m places from `to` on: those at or below the cut from the first, the others from the last
    backwards. Returns where the others begin.
    """
    nl, nr, step, shift = np.uint64(to), np.uint64(to + m - 1), np.uint64(step), np.uint64(shift)
    limit, one = np.uint8(cut), np.uint64(1)
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        mark = marks[i]
        go = np.uint64(table[(np.uint64(mark) >> shift) * step + np.uint64(f)] <= limit)
        marks[nl] = mark
        marks[nr] = mark
        if ys is not None:
            y = ys[i]
            ys[nl] = y
            ys[nr] = y
        nl += go
        nr -= one - go
    return np.int64(nl)


@kernel(allocates=False)
def bring_together(table, step, shift, lo, m, marks, near):
    """Copy the rows of a node side by side; the marks have their new numbers."""
    low = (np.uint32(1) << np.uint32(shift)) - np.uint32(1)
    step = np.uint64(step)
    for i in range(np.uint64(m)):
        mark = marks[np.uint64(lo) + i]
        begin = (np.uint64(mark) >> np.uint64(shift)) * step
        for k in range(step):
            near[i * step + k] = table[begin + k]
        marks[np.uint64(lo) + i] = np.uint32(np.uint32(i) << np.uint32(shift)) | np.uint32(mark & low)


@kernel(allocates=False)
def weight_of(mark, rules):
    """The weight of a row."""
    mask = rules[WEIGHT_MASK]
    return np.float64((np.int64(mark) >> rules[BITS]) & mask) if mask > 0 else 1.0


@kernel(reassociate=True, allocates=False)
def sum_up(lo, m, rules, marks, ys):
    """Weight and weighted sum of a node's numbers."""
    bits, mask = np.uint32(rules[BITS]), np.uint32(rules[WEIGHT_MASK])
    wt, st = np.float64(m), 0.0
    if mask:
        wt = 0.0
        for i in range(np.uint64(lo), np.uint64(lo + m)):
            w = np.float64(np.uint32(marks[i] >> bits) & mask)
            wt += w
            st += w * ys[i]
    else:
        for i in range(np.uint64(lo), np.uint64(lo + m)):
            st += ys[i]
    return wt, st


@kernel(reassociate=True, allocates=False)
def spread(lo, m, mean, rules, marks, ys):
    """The sum of weighted squared distances from the mean, and the largest distance; 0 where all numbers are the same.

    What is not negative is ordered as its bits are: a maximum of whole numbers fills vectors, one of floats does not.
    """
    bits, mask = np.uint32(rules[BITS]), np.uint32(rules[WEIGHT_MASK])
    first = np.float64(ys[lo]).view(np.int64)
    total, largest, other = 0.0, np.int64(0), np.int64(0)
    for i in range(np.uint64(lo), np.uint64(lo + m)):
        w = np.float64(np.uint32(marks[i] >> bits) & mask) if mask else 1.0
        distance = np.float64(ys[i] - mean)
        square = np.float64(distance * distance)
        total += w * square
        largest = max(largest, square.view(np.int64))
        other |= np.float64(ys[i]).view(np.int64) ^ first
    return total, math.sqrt(np.int64(largest).view(np.float64)) if other != 0 else 0.0


@kernel(allocates=False)
def open_node(
    node, lo, m, wt, st, rules, marks, ys, left, feature, threshold, missing_left, impurity, count, weight, value
):  # fmt: skip
    """Write down a node as a leaf; 0 where it is pure, else the largest distance of a number from the mean, or 1.

    Of numbers weight and sum are found here.
    """
    here, extent = 0.0, 1.0
    if ys is None:
        p = np.float64(st) / wt
        value[node, 0], value[node, 1] = (wt - np.float64(st)) / wt, p
        here = 2.0 * p * (1.0 - p)
    if ys is not None:
        value[node, 0] = ys[lo]
        if m == 1:
            wt = weight_of(marks[lo], rules)
        elif m == 2 and rules[WEIGHT_MASK] == 0:
            wt, extent = 2.0, 0.5 * abs(ys[lo] - ys[lo + 1])
            value[node, 0], here = 0.5 * (ys[lo] + ys[lo + 1]), extent * extent
        else:
            wt, total = sum_up(lo, m, rules, marks, ys)
            squares, extent = spread(lo, m, total / wt, rules, marks, ys)
            if extent > 0.0:
                value[node, 0], here = total / wt, squares / wt
    left[node], feature[node], threshold[node], missing_left[node] = -1, -2, -2.0, 0
    impurity[node], count[node], weight[node] = here, m, wt
    return extent if here > 0.0 else 0.0


@kernel(allocates=False)
def push(frames, extents, size, lo, hi, depth, node, ones, extent):
    frames[size, START], frames[size, END], frames[size, DEPTH] = lo, hi, depth
    frames[size, NODE], frames[size, ONES], extents[size] = node, ones, extent
    return size + 1


@kernel(allocates=False)
def grow_random(
    table, step, columns, edges, places, rules, limits, state, ones_of_root, marks, ys, amounts, near, features,
    picked, copied, local, small, large, cuts, counts, ones, rows, unused, sums, best, found, few, frames, extents,
    left, feature, threshold, missing_left, impurity, count, weight, value,
):  # fmt: skip
    """Grow the tree; the number of its nodes. `left` is −1 at a leaf.

    What is None is not compiled: `ys` and what belongs to it where there are two classes; `copied` and `local` where
    rows are read whole. A node has its rows in one half of `marks`, its children theirs in the other: nothing is copied
    back. The rows of a node that `near` has room for are copied there once, with those of all nodes below it.
    """
    zero, one, n = np.int64(0), np.int64(1), marks.size // 2
    here, together, room = table, np.int64(-1), near.size // step
    shift = rules[SHIFT]
    length = columns.size // features.size
    smallest, min_weight = max(rules[MIN_SPLIT], 2 * rules[MIN_LEAF]), limits[MIN_WEIGHT]
    quick = rules[MIN_LEAF] <= 1 and min_weight <= 1.0
    nodes, size, root = one, zero, weight[0]
    extent = open_node(
        zero, zero, n, root, ones_of_root, rules, marks, ys, left, feature, threshold, missing_left, impurity, count,
        weight, value,
    )  # fmt: skip
    root = weight[0]
    if extent > 0.0 and rules[MAX_DEPTH] > 0 and n >= smallest and root >= 2 * min_weight:
        size = push(frames, extents, size, zero, n, zero, zero, ones_of_root, extent)
    while size > 0 and atomic_load(state, STOP) == 0:
        size -= 1
        lo, hi, depth = frames[size, START], frames[size, END], frames[size, DEPTH] + 1
        node, st = frames[size, NODE], frames[size, ONES]
        m, wt, extent = hi - lo, weight[node], extents[size]
        if size < together:  # the last of the nodes whose rows were brought together is done
            here, together = table, np.int64(-1)
        if together < 0 and m <= room:
            bring_together(table, step, shift, lo, m, marks, near)
            here, together = near, size
        found[COLUMN] = -1
        two = m == 2 and quick
        other = lo + n if lo < n else lo - n
        at = lo if copied is None else min(lo, other)
        if two:
            search_two(here, step, places, lo, shift, marks, ys, features, state, found)
        elif m <= FEW:
            best[0], best[1] = -1.0, 1.0
            search_few(
                here, step, places, marks, ys, lo, m, wt, value[node, 0], extent, rules, min_weight, features, state,
                few, best, found,
            )  # fmt: skip
        else:
            best[0], best[1] = -1.0, 1.0
            total = np.float64(st)
            if ys is not None:
                total = np.float64(distances(lo, m, value[node, 0], extent, rules, marks, ys, at, amounts))
            if copied is None:
                search_all(
                    here, step, places, marks, lo, m, wt, total, rules, min_weight, amounts, features, state, picked,
                    small, large, cuts, counts, ones, rows, unused, sums, best, found,
                )  # fmt: skip
            else:
                search_some(
                    table, step, columns, length, places, marks, lo, at, m, wt, total, rules, min_weight, amounts,
                    features, state, picked, copied, local, small, large, cuts, counts, ones, rows, unused, sums, best,
                    found,
                )  # fmt: skip
        f = found[COLUMN]
        if f < 0:
            continue
        middle = lo + 1
        if not two:
            middle = part(here, step, shift, f, found[CUT], lo, m, other, marks, ys)
            lo, hi = other, other + m
        wl, sl = np.float64(found[LEFT_WEIGHT]), found[LEFT_ONES]
        if two and ys is None:
            wl = weight_of(marks[lo], rules)
            sl = np.int64(wl) * np.int64(marks[lo] & np.uint32(1))
        a, b = nodes, nodes + 1
        extent_left = open_node(
            a, lo, middle - lo, wl, sl, rules, marks, ys, left, feature, threshold, missing_left, impurity, count,
            weight, value,
        )  # fmt: skip
        extent_right = open_node(
            b, middle, hi - middle, wt - wl, st - sl, rules, marks, ys, left, feature, threshold, missing_left,
            impurity, count, weight, value,
        )  # fmt: skip
        gain = wt * impurity[node] - weight[a] * impurity[a] - weight[b] * impurity[b]
        if gain / root + 2.220446049250313e-16 < limits[MIN_DECREASE]:
            continue
        nodes += 2
        left[node], feature[node], threshold[node] = a, f, edges[f, found[CUT]]
        missing_left[node] = 1 if middle - lo > hi - middle else 0
        if depth < rules[MAX_DEPTH]:
            if extent_right > 0.0 and hi - middle >= smallest and weight[b] >= 2 * min_weight:
                size = push(frames, extents, size, middle, hi, depth, b, st - sl, extent_right)
            if extent_left > 0.0 and middle - lo >= smallest and weight[a] >= 2 * min_weight:
                size = push(frames, extents, size, lo, middle, depth, a, sl, extent_left)
    return nodes


def packed_rows(y: np.ndarray, classes: bool, weights: np.ndarray | None) -> tuple[np.ndarray, Any] | None:
    """Marks of the rows of positive weight and where their parts are; None where weights or classes find no room."""
    marks, layout = row_tails(len(y), y[:, 0].astype(np.int64) if classes else None, weights)
    if classes and not layout.label_bits:
        return None
    if weights is not None:
        if not layout.weight_mask or weights.max() > MOST_IN_A_BYTE:
            return None
        marks = marks[weights > 0]
    return marks, layout


def grow_at_random(
    codes: np.ndarray,
    step: int,
    rows_begin: int,
    bins: Bins,
    y: np.ndarray,
    marks: np.ndarray,
    layout: Any,
    classes: bool,
    heaviest: int,
    limits: tuple[int, int, int, int, float, float],
    seed: int,
    out: tuple[np.ndarray, ...],
) -> int:
    """Grow one tree into `out`; the number of its nodes. `limits`: columns drawn, depth, rows, weight, decrease."""
    max_features, max_depth, min_split, min_leaf, min_weight, min_decrease = limits
    n, d = len(marks), len(bins.edges)
    low = layout.label_bits
    whole = step <= _NARROW or max_features * 4 >= d
    width = step if whole else BYTE_LANES
    rules = np.array(
        [
            layout.row_shift,
            low,
            layout.weight_mask,
            MOST_IN_A_BYTE // heaviest if classes else ROWS_A_SUM,
            heaviest,
            max_features,
            max_depth,
            min_split,
            min_leaf,
        ],
        np.int64,
    )
    ys = amounts = sums = None
    ones, total = 0, float(n)
    heavy = (marks >> np.uint32(low)) & np.uint32(layout.weight_mask) if layout.weight_mask else None
    if heavy is not None:
        total = float(heavy.sum(dtype=np.int64))
    if classes:
        label = marks & np.uint32(1)
        ones = int(label.sum(dtype=np.int64) if heavy is None else (label * heavy).sum(dtype=np.int64))
    else:
        ys = np.empty(2 * n)
        ys[:n] = y[:, 0] if n == len(y) else y[marks >> np.uint32(layout.row_shift), 0]
        amounts, sums = np.empty(2 * n, np.int16), np.zeros(width, np.float32)
    out[6][0] = total
    near = np.empty(_NEAR * step if whole and n > _NEAR else 0, np.uint8)
    most_frames = min(n, 254 * d) + 2
    small, large, cuts = (np.zeros(width, np.uint8) for _ in range(3))
    counts, inside, rows, unused = (np.zeros(width, np.int32) for _ in range(4))
    state = first_state(seed)
    grown = partial(
        grow_random, codes[rows_begin:], step, codes[:rows_begin], bins.edges, bins.places, rules,
        np.array([min_weight, min_decrease]),
        state, ones,
        np.concatenate([marks, np.zeros(n, np.uint32)]), ys, amounts, near, np.arange(d, dtype=np.int32),
        np.zeros(d, np.int32),
        None if whole else np.zeros(n * BYTE_LANES, np.uint8), None if whole else np.empty(n, np.uint32),
        small, large, cuts, counts, inside, rows, unused, sums, np.zeros(2), np.zeros(N_FOUND, np.int64),
        np.zeros((N_FEW, FEW), np.int64),
        np.empty((most_frames, N_FRAME), np.int64), np.empty(most_frames), *out,
    )  # fmt: skip
    return stoppable(grown, state[STOP:], long=n * d > LONG)
