"""Random splits of a node on binned features: the ranges of columns, a bin drawn of some, what lies at or below them.

Ranges and sums are those of all columns at once (`_row_vectors`), so that the rows of a node are read twice. Of a wide
table, of which few columns are drawn, their codes are first copied side by side. Numbers are summed as integers:
distances from the mean in steps of a thousandth of the largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import prefetch
from learnt.forestry.binned._pairs import draw, draw_column
from learnt.forestry.binned._row_vectors import (
    BYTE_LANES,
    MOST_IN_A_BYTE,
    MOST_OF_A_ROW,
    Fields,
    Part,
    row_counts,
    row_range,
    row_sums,
)

COLUMN, CUT, LEFT_WEIGHT, LEFT_ONES, N_FOUND = range(5)  # of the split that is found
FEW, BEGIN, WEIGHT, AMOUNT, CODE, N_FEW = 8, 0, 1, 2, 3, 4  # of a handful of rows
_PARTS = float(1 << 40)  # that the largest distance of a row from the mean is counted in, of a handful
_DENSE = 16  # one row in so many: the node finds the codes of a column close together
_SEARCHING = 8  # columns that are copied at a time once only one that varies is looked for
_LINE, _AHEAD = 64, 4  # bytes that are fetched at once, and rows that are asked for before they are read
_LARGEST = 1.7976931348623157e308


class Table(NamedTuple):
    """Codes by rows of `step` bytes and by column (empty where they are not kept), and what is known of the bins."""

    rows: np.ndarray
    step: int
    columns: np.ndarray
    edges: np.ndarray
    places: np.ndarray


class Rules(NamedTuple):
    """Where row and weight are in a mark, rows whose weight a byte holds, and limits of growth."""

    shift: int
    bits: int
    weight_mask: int
    piece: int
    heaviest: int
    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float


class Node(NamedTuple):
    """Where the rows of a node are, how many, their weight, and the weight of class 1 or the sum of their amounts."""

    lo: int
    m: int
    wt: float
    st: float


class Draws(NamedTuple):
    """The columns, the state of the generator, and the columns drawn."""

    features: np.ndarray
    state: np.ndarray
    picked: np.ndarray


class Lanes(NamedTuple):
    """One place for each column: the range of its codes, the cut drawn, and what lies at or below it."""

    small: np.ndarray
    large: np.ndarray
    cuts: np.ndarray
    counts: np.ndarray
    ones: np.ndarray
    rows: np.ndarray
    unused: np.ndarray
    sums: np.ndarray | None  # of numbers


class Copies(NamedTuple):
    """Room for the codes of the columns drawn, side by side, and the marks of their rows."""

    codes: np.ndarray
    marks: np.ndarray


@kernel(allocates=False)
def copy_column(columns, begin, shift, lo, m, to, k, marks, copied):
    """The codes of one column of a node, from where they lie by column."""
    for i in range(np.uint64(m)):
        row = np.uint64(marks[np.uint64(lo) + i]) >> np.uint64(shift)
        copied[(np.uint64(to) + i) * np.uint64(BYTE_LANES) + np.uint64(k)] = columns[np.uint64(begin) + row]


@kernel(allocates=False)
def copy_row(table, begin, to, picked, n, copied):
    """The codes of some columns of one row."""
    for k in range(np.uint64(n)):
        copied[np.uint64(to) + k] = table[np.uint64(begin) + np.uint64(picked[k])]


@kernel(allocates=False)
def ask_for_row(table, step, shift, i, marks):
    """Have all of a row fetched, which takes long, before it is read."""
    begin = (np.int64(marks[i]) >> shift) * step
    for line in range(np.int64(0), step, np.int64(_LINE)):
        prefetch(table, begin + line)


@kernel(allocates=False)
def copy_marks(lo, m, to, shift, marks, local):
    """Marks of the rows of a node as they lie from `to` on."""
    low = (np.uint32(1) << np.uint32(shift)) - np.uint32(1)
    for i in range(np.uint32(m)):
        row = np.uint32(to) + i
        local[row] = np.uint32(np.uint32(row << np.uint32(shift)) | np.uint32(marks[np.uint32(lo) + i] & low))


@kernel(allocates=False)
def distances(lo, m, mean, extent, rules, marks, ys, to, amounts):
    """Weighted distances from the mean, of which the largest is `extent`, as whole numbers from `to` on; their sum."""
    bits, mask = np.uint32(rules.bits), np.uint32(rules.weight_mask)
    scale, total = min(MOST_OF_A_ROW / (extent * np.float64(rules.heaviest)), _LARGEST), np.int64(0)
    for k in range(np.uint64(m)):
        i = np.uint64(lo) + k
        w = np.uint32(marks[i] >> bits) & mask if mask else np.uint32(1)
        amount = np.int32(np.floor((ys[i] - mean) * scale * np.float64(w) + 0.5))
        amounts[np.uint64(to) + k] = amount
        total += np.int64(amount)
    return total


@kernel(allocates=False)
def weigh(table, step, width, marks, lo, m, rules, amounts, lanes):
    """At or below the cuts of `width` columns: weights (`counts`), those of class 1 (`ones`), and, where weights are
    not all 1 and leaves need several, rows; of numbers their sums.
    """
    cuts, counts, ones = lanes.cuts, lanes.counts, lanes.ones
    rows, sums = lanes.rows, lanes.sums
    shift, bits, mask, one, zero = rules.shift, rules.bits, rules.weight_mask, np.int64(1), np.int64(0)
    most = np.int64(MOST_IN_A_BYTE)
    for column in range(zero, width, np.int64(BYTE_LANES)):
        at = zero
        while at < m:
            n = min(rules.piece, m - at)
            if sums is not None:
                here = counts if mask == 0 else rows
                row_sums(table, marks, Part(step, column, lo + at, n, shift), cuts, amounts, at, here, sums)
            if sums is None or mask > 0:
                part = Part(step, column, lo + at, n, shift)
                row_counts(table, marks, part, Fields(bits, mask, one, one), cuts, at, counts, ones)
            at += n
        at = zero
        while sums is None and mask > 0 and rules.min_leaf > 1 and at < m:
            n = min(most, m - at)
            part = Part(step, column, lo + at, n, shift)
            row_counts(table, marks, part, Fields(bits, zero, zero, one), cuts, at, rows, lanes.unused)
            at += n


@kernel(allocates=False)
def better(j, f, node, rules, lanes, best, found):
    """Take the split of the column f, which has place j, where it is better than the best so far."""
    wt, st, m = node.wt, node.st, node.m
    min_weight, sums = rules.min_weight, lanes.sums
    wl = np.int64(lanes.counts[j])
    left = np.int64(lanes.rows[j]) if rules.weight_mask > 0 and rules.min_leaf > 1 else wl
    wr = wt - np.float64(wl)
    if rules.min_leaf > 1 and (left < rules.min_leaf or m - left < rules.min_leaf):
        return
    if wl < min_weight or wr < min_weight:
        return
    t = (np.float64(lanes.ones[j]) if sums is None else np.float64(sums[j])) * wt - st * np.float64(wl)
    top, bottom = t * t, np.float64(wl) * wr
    if top * best[1] > best[0] * bottom:
        best[0], best[1] = top, bottom
        found[COLUMN], found[CUT], found[LEFT_WEIGHT], found[LEFT_ONES] = f, lanes.cuts[j], wl, lanes.ones[j]


@kernel(allocates=False)
def bin_at(places, f, place):
    """The last bin of a column that lies at `place` or before it."""
    at, f = np.uint64(0), np.uint64(f)
    for k in range(8):  # as many steps whatever the range, and sums of bits: no branch to predict
        bit = np.uint64(7 - k)
        at |= np.uint64(places[f, at + (np.uint64(1) << bit)] <= place) << bit
    return np.int64(at)


@kernel(allocates=False)
def draw_cut(state, places, f, small, large):
    """A bin from `small` to `large` − 1: that of a threshold drawn between their places."""
    first = np.int64(places[f, small])
    return bin_at(places, f, np.uint16(first + draw(state, np.int64(places[f, large]) - first)))


@kernel(allocates=False)
def search_all(here, table, marks, node, rules, amounts, draws, lanes, best, found):
    """The best of one random split of each column drawn, all columns of a row being read, which are in `here`."""
    step, lo, m = table.step, node.lo, node.m
    small, large, picked = lanes.small, lanes.large, draws.picked
    for column in range(np.int64(0), step, np.int64(BYTE_LANES)):
        row_range(here, marks, Part(step, column, lo, m, rules.shift), small, large)
    remaining, visited, useful = draws.features.size, 0, 0
    while remaining > 0 and (visited < rules.max_features or useful == 0):
        f = draw_column(draws.state, draws.features, remaining)
        remaining -= 1
        visited += 1
        if small[f] < large[f]:
            lanes.cuts[f] = draw_cut(draws.state, table.places, f, np.int64(small[f]), np.int64(large[f]))
            picked[useful] = f
            useful += 1
    if useful == 0:
        return
    weigh(here, step, step, marks, lo, m, rules, amounts, lanes)
    for k in range(useful):
        f = np.int64(picked[k])
        better(f, f, node, rules, lanes, best, found)


@kernel(allocates=False)
def copy_codes(table, lo, m, to, shift, marks, picked, n, copied):
    """The codes of the columns picked, side by side, rows from `to` on."""
    step, columns = table.step, table.columns
    length = columns.size // table.edges.shape[0]
    if columns.size > 0 and _DENSE * m >= length:
        for k in range(n):
            copy_column(columns, np.int64(picked[k]) * length, shift, lo, m, to, k, marks, copied)
    else:
        for i in range(m):
            ask_for_row(table.rows, step, shift, lo + min(i + _AHEAD, m - 1), marks)
            copy_row(table.rows, (np.int64(marks[lo + i]) >> shift) * step, (to + i) * BYTE_LANES, picked, n, copied)


@kernel(allocates=False)
def search_some(table, marks, node, to, rules, amounts, draws, copies, lanes, best, found):
    """The same reading only the columns drawn, up to 32 at a time, which are copied to rows from `to` on."""
    copied, local, picked = copies.codes, copies.marks, draws.picked
    small, large, m = lanes.small, lanes.large, node.m
    zero, width = np.int64(0), np.int64(BYTE_LANES)
    copy_marks(node.lo, m, to, rules.shift, marks, local)
    remaining, visited, useful = draws.features.size, 0, 0
    while remaining > 0 and (visited < rules.max_features or useful == 0):
        some = min(width, rules.max_features - visited) if visited < rules.max_features else np.int64(_SEARCHING)
        n = 0
        while n < some and remaining > 0:
            picked[n] = draw_column(draws.state, draws.features, remaining)
            remaining -= 1
            n += 1
        copy_codes(table, node.lo, m, to, rules.shift, marks, picked, n, copied)
        row_range(copied, local, Part(width, zero, to, m, rules.shift), small, large)
        varied = 0
        for k in range(n):
            if small[k] < large[k] and (visited < rules.max_features or useful == 0):
                lanes.cuts[k] = draw_cut(draws.state, table.places, picked[k], np.int64(small[k]), np.int64(large[k]))
                useful += 1
                varied += 1
            else:
                large[k] = small[k]
            visited += 1
        if varied > 0:
            weigh(copied, width, width, local, to, m, rules, amounts, lanes)
            for k in range(n):
                if small[k] < large[k]:
                    better(k, np.int64(picked[k]), node, rules, lanes, best, found)


@kernel(allocates=False)
def search_few(here, table, marks, ys, node, mean, extent, rules, draws, few, best, found):
    """The best of one random split of each column drawn, for a handful of rows: column by column, by the places of
    rows, so that a bin is looked for once, when the best is known.
    """
    lo, m, wt = node.lo, node.m, node.wt
    step, places, features = table.step, table.places, draws.features
    min_weight, state = rules.min_weight, draws.state
    shift, mask, st = rules.shift, rules.weight_mask, np.int64(0)
    scale = 1.0 if ys is None else min(_PARTS / extent, _LARGEST)
    for k in range(np.uint64(m)):
        mark = np.int64(marks[np.uint64(lo) + k])
        w = (mark >> rules.bits) & mask if mask > 0 else np.int64(1)
        amount = w * (mark & 1)
        if ys is not None:
            amount = w * np.int64((ys[np.uint64(lo) + k] - mean) * scale)
        few[BEGIN, k], few[WEIGHT, k], few[AMOUNT, k] = (mark >> shift) * step, w, amount
        st += amount
    remaining, visited, useful, cut_at = features.size, 0, 0, np.int64(0)
    while remaining > 0 and (visited < rules.max_features or useful == 0):
        f = np.int64(draw_column(state, features, remaining))
        remaining -= 1
        visited += 1
        small, large = np.int64(255), np.int64(0)
        for k in range(np.uint64(m)):
            code = np.int64(here[np.uint64(few[BEGIN, k] + f)])
            few[CODE, k] = code
            small, large = min(small, code), max(large, code)
        if small == large:
            continue
        useful += 1
        first = np.int64(places[f, small])
        place = first + draw(state, np.int64(places[f, large]) - first)
        wl, sl, left = np.int64(0), np.int64(0), np.int64(0)
        for k in range(np.uint64(m)):
            go = (np.int64(places[f, few[CODE, k]]) - place - 1) >> 63  # all bits or none: no branch to predict
            wl += few[WEIGHT, k] & go
            sl += few[AMOUNT, k] & go
            left -= go
        wr = wt - np.float64(wl)
        if left < rules.min_leaf or m - left < rules.min_leaf or np.float64(wl) < min_weight or wr < min_weight:
            continue
        t = np.float64(sl) * wt - np.float64(st) * np.float64(wl)
        top, bottom = t * t, np.float64(wl) * wr
        if top * best[1] > best[0] * bottom:
            best[0], best[1] = top, bottom
            found[COLUMN], found[LEFT_WEIGHT], found[LEFT_ONES] = f, wl, sl
            cut_at = place
    if found[COLUMN] >= 0:
        found[CUT] = bin_at(places, found[COLUMN], np.uint16(cut_at))


@kernel(allocates=False)
def search_two(here, table, lo, shift, marks, ys, draws, found):
    """Part two rows by a random column: every other that varies does so as well, and none better."""
    step, places = table.step, table.places
    features, state = draws.features, draws.state
    a, b = (np.int64(marks[lo]) >> shift) * step, (np.int64(marks[lo + 1]) >> shift) * step
    remaining = features.size
    while remaining > 0:
        f = draw_column(state, features, remaining)
        remaining -= 1
        p, q = np.int64(here[a + f]), np.int64(here[b + f])
        if p != q:
            found[COLUMN], found[CUT] = f, draw_cut(state, places, f, min(p, q), max(p, q))
            if p > q:
                marks[lo], marks[lo + 1] = marks[lo + 1], marks[lo]
                if ys is not None:
                    ys[lo], ys[lo + 1] = ys[lo + 1], ys[lo]
            break
