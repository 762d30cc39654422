"""Extremely randomised trees on binned features: one number or two classes a row, nothing missing, depth first.

The rows of a node lie side by side in `marks`: row, whole weight and class of each in 32 bits. Numbers go along in
`ys`; searches sum integers for their distances from the mean, what is kept of a node is summed in float64. Two
children lie next to each other and after their parent: right = left + 1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.forestry.binned._pairs import LONG, STOP, Limits, Nodes, first_state
from learnt.forestry.binned._random_search import (
    COLUMN,
    CUT,
    FEW,
    LEFT_ONES,
    LEFT_WEIGHT,
    N_FEW,
    N_FOUND,
    Copies,
    Draws,
    Lanes,
    Node,
    Rules,
    Table,
    distances,
    search_all,
    search_few,
    search_some,
    search_two,
)
from learnt.forestry.binned._row_vectors import BYTE_LANES, MOST_IN_A_BYTE, ROWS_A_SUM
from learnt.forestry.exact._records import row_tails

START, END, DEPTH, NODE, ONES, N_FRAME = range(6)  # of a node that waits
_NEAR = 32768  # rows that are copied side by side, so that a processor has them and all below them at hand
_NARROW = 64  # bytes of a row that are read whole whatever is drawn of them


class Rows(NamedTuple):
    """Marks of the rows, and of numbers their y and room for distances from the mean; each in two halves."""

    marks: np.ndarray
    ys: np.ndarray | None
    amounts: np.ndarray | None


class Work(NamedTuple):
    """Memory that growth works with."""

    near: np.ndarray  # rows that were brought together
    few: np.ndarray
    best: np.ndarray
    found: np.ndarray
    frames: np.ndarray  # nodes that wait
    extents: np.ndarray


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
    mask = rules.weight_mask
    return np.float64((np.int64(mark) >> rules.bits) & mask) if mask > 0 else 1.0


@kernel(reassociate=True, allocates=False)
def sum_up(lo, m, rules, marks, ys):
    """Weight and weighted sum of a node's numbers."""
    bits, mask = np.uint32(rules.bits), np.uint32(rules.weight_mask)
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
    bits, mask = np.uint32(rules.bits), np.uint32(rules.weight_mask)
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
def open_node(node, lo, m, wt, st, rules, marks, ys, nodes):
    """Write down a node as a leaf; 0 where it is pure, else the largest distance of a number from the mean, or 1.

    Of numbers weight and sum are found here.
    """
    here, extent, value = 0.0, 1.0, nodes.value
    if ys is None:
        p = np.float64(st) / wt
        value[node, 0], value[node, 1] = (wt - np.float64(st)) / wt, p
        here = 2.0 * p * (1.0 - p)
    if ys is not None:
        value[node, 0] = ys[lo]
        if m == 1:
            wt = weight_of(marks[lo], rules)
        elif m == 2 and rules.weight_mask == 0:
            wt, extent = 2.0, 0.5 * abs(ys[lo] - ys[lo + 1])
            value[node, 0], here = 0.5 * (ys[lo] + ys[lo + 1]), extent * extent
        else:
            wt, total = sum_up(lo, m, rules, marks, ys)
            squares, extent = spread(lo, m, total / wt, rules, marks, ys)
            if extent > 0.0:
                value[node, 0], here = total / wt, squares / wt
    nodes.left[node], nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = -1, -2, -2.0, 0
    nodes.impurity[node], nodes.rows[node], nodes.weight[node] = here, m, wt
    return extent if here > 0.0 else 0.0


@kernel(allocates=False)
def push(work, size, lo, hi, depth, node, ones, extent):
    frames = work.frames
    frames[size, START], frames[size, END], frames[size, DEPTH] = lo, hi, depth
    frames[size, NODE], frames[size, ONES], work.extents[size] = node, ones, extent
    return size + 1


@kernel(allocates=False)
def grow_random(table, rules, rows, ones_of_root, draws, copies, lanes, work, nodes):
    """Grow the tree; the number of its nodes. `left` is −1 at a leaf.

    `copies` is None where rows are read whole. A node has its rows in one half of `marks`, its children theirs in the
    other: nothing is copied back. The rows of a node that `work.near` has room for are copied there once, with those of
    all nodes below it.
    """
    marks, ys = rows.marks, rows.ys
    found, best, frames = work.found, work.best, work.frames
    weight, impurity = nodes.weight, nodes.impurity
    zero, one, n = np.int64(0), np.int64(1), marks.size // 2
    step, shift = table.step, rules.shift
    here, together, room = table.rows, np.int64(-1), work.near.size // step
    smallest, min_weight = max(rules.min_split, 2 * rules.min_leaf), rules.min_weight
    quick = rules.min_leaf <= 1 and min_weight <= 1.0
    count, size, root = one, zero, weight[0]
    extent = open_node(zero, zero, n, root, ones_of_root, rules, marks, ys, nodes)
    root = weight[0]
    if extent > 0.0 and rules.max_depth > 0 and n >= smallest and root >= 2 * min_weight:
        size = push(work, size, zero, n, zero, zero, ones_of_root, extent)
    while size > 0 and atomic_load(draws.state, STOP) == 0:
        size -= 1
        lo, hi, depth = frames[size, START], frames[size, END], frames[size, DEPTH] + 1
        node, st = frames[size, NODE], frames[size, ONES]
        m, wt, extent = hi - lo, weight[node], work.extents[size]
        if size < together:  # the last of the nodes whose rows were brought together is done
            here, together = table.rows, np.int64(-1)
        if together < 0 and m <= room:
            bring_together(table.rows, step, shift, lo, m, marks, work.near)
            here, together = work.near, size
        found[COLUMN] = -1
        two = m == 2 and quick
        other = lo + n if lo < n else lo - n
        at = lo if copies is None else min(lo, other)
        if two:
            search_two(here, table, lo, shift, marks, ys, draws, found)
        elif m <= FEW:
            best[0], best[1] = -1.0, 1.0
            few = Node(lo, m, wt, np.float64(st))
            mean = nodes.value[node, 0]
            search_few(here, table, marks, ys, few, mean, extent, rules, draws, work.few, best, found)
        else:
            best[0], best[1] = -1.0, 1.0
            total = np.float64(st)
            if ys is not None:
                total = np.float64(distances(lo, m, nodes.value[node, 0], extent, rules, marks, ys, at, rows.amounts))
            many = Node(lo, m, wt, total)
            if copies is None:
                search_all(here, table, marks, many, rules, rows.amounts, draws, lanes, best, found)
            else:
                search_some(table, marks, many, at, rules, rows.amounts, draws, copies, lanes, best, found)
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
        a, b = count, count + 1
        extent_left = open_node(a, lo, middle - lo, wl, sl, rules, marks, ys, nodes)
        extent_right = open_node(b, middle, hi - middle, wt - wl, st - sl, rules, marks, ys, nodes)
        gain = wt * impurity[node] - weight[a] * impurity[a] - weight[b] * impurity[b]
        if gain / root + 2.220446049250313e-16 < rules.min_decrease:
            continue
        count += 2
        nodes.left[node], nodes.feature[node], nodes.threshold[node] = a, f, table.edges[f, found[CUT]]
        nodes.missing_left[node] = 1 if middle - lo > hi - middle else 0
        if depth < rules.max_depth:
            if extent_right > 0.0 and hi - middle >= smallest and weight[b] >= 2 * min_weight:
                size = push(work, size, middle, hi, depth, b, st - sl, extent_right)
            if extent_left > 0.0 and middle - lo >= smallest and weight[a] >= 2 * min_weight:
                size = push(work, size, lo, middle, depth, a, sl, extent_left)
    return count


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
    table: Any,
    y: np.ndarray,
    marks: np.ndarray,
    layout: Any,
    classes: bool,
    heaviest: int,
    limits: Limits,
    seed: int,
    nodes: Nodes,
) -> int:
    """Grow one tree on a `BinnedTable` into `nodes`; the number of its nodes."""
    n, d, step, bins = len(marks), table.n_features, table.row_step, table.bins
    low = layout.label_bits
    all_columns = step <= _NARROW or limits.max_features * 4 >= d
    width = step if all_columns else BYTE_LANES
    rules = Rules(
        shift=layout.row_shift,
        bits=low,
        weight_mask=layout.weight_mask,
        piece=MOST_IN_A_BYTE // heaviest if classes else ROWS_A_SUM,
        heaviest=heaviest,
        max_features=limits.max_features,
        max_depth=limits.max_depth,
        min_split=limits.min_split,
        min_leaf=limits.min_leaf,
        min_weight=limits.min_weight,
        min_decrease=limits.min_decrease,
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
    nodes.weight[0] = total
    most_frames = min(n, 254 * d) + 2
    draws = Draws(np.arange(d, dtype=np.int32), first_state(seed), np.zeros(d, np.int32))
    lanes = [np.zeros(width, np.uint8 if k < 3 else np.int32) for k in range(7)]
    grown = partial(
        grow_random,
        Table(table.codes[table.rows_begin :], step, table.codes[: table.rows_begin], bins.edges, bins.places),
        rules,
        Rows(np.concatenate([marks, np.zeros(n, np.uint32)]), ys, amounts),
        ones,
        draws,
        None if all_columns else Copies(np.zeros(n * BYTE_LANES, np.uint8), np.empty(n, np.uint32)),
        Lanes._make([*lanes, sums]),
        Work(
            near=np.empty(_NEAR * step if all_columns and n > _NEAR else 0, np.uint8),
            few=np.zeros((N_FEW, FEW), np.int64),
            best=np.zeros(2),
            found=np.zeros(N_FOUND, np.int64),
            frames=np.empty((most_frames, N_FRAME), np.int64),
            extents=np.empty(most_frames),
        ),
        nodes,
    )
    return stoppable(grown, draws.state[STOP:], long=n * d > LONG)
