"""Random splits of a node on binned features: the ranges of columns, a bin drawn of some, what lies at or below them.

Ranges and sums are those of all columns at once (`_row_vectors`), so that the rows of a node are read twice. Of a wide
table, of which few columns are drawn, their codes are first copied side by side. Numbers are summed as whole numbers:
distances from the mean in steps of a thousandth of the largest.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import prefetch
from learnt.engine.kernel import kernel
from learnt.forestry.binned._pairs import draw, draw_column
from learnt.forestry.binned._row_vectors import (
    BYTE_LANES,
    MOST_IN_A_BYTE,
    MOST_OF_A_ROW,
    row_counts,
    row_range,
    row_sums,
)

# rules: where row and weight are in a mark, rows whose weight a byte holds, and limits of growth
SHIFT, BITS, WEIGHT_MASK, PIECE, HEAVIEST, MAX_FEATURES, MAX_DEPTH, MIN_SPLIT, MIN_LEAF, N_RULES = range(10)
COLUMN, CUT, LEFT_WEIGHT, LEFT_ONES, N_FOUND = range(5)  # of the split that is found
FEW, BEGIN, WEIGHT, AMOUNT, CODE, N_FEW = 8, 0, 1, 2, 3, 4  # of a handful of rows
_PARTS = float(1 << 40)  # that the largest distance of a row from the mean is counted in, of a handful
_DENSE = 16  # one row in so many: the node finds the codes of a column close together
_SEARCHING = 8  # columns that are copied at a time once only one that varies is looked for
_LINE, _AHEAD = 64, 4  # bytes that are fetched at once, and rows that are asked for before they are read
_LARGEST = 1.7976931348623157e308


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
    bits, mask = np.uint32(rules[BITS]), np.uint32(rules[WEIGHT_MASK])
    scale, total = min(MOST_OF_A_ROW / (extent * np.float64(rules[HEAVIEST])), _LARGEST), np.int64(0)
    for k in range(np.uint64(m)):
        i = np.uint64(lo) + k
        w = np.uint32(marks[i] >> bits) & mask if mask else np.uint32(1)
        amount = np.int32(np.floor((ys[i] - mean) * scale * np.float64(w) + 0.5))
        amounts[np.uint64(to) + k] = amount
        total += np.int64(amount)
    return total


@kernel(allocates=False)
def weigh(table, step, width, marks, lo, m, rules, amounts, cuts, counts, ones, rows, unused, sums):
    """At or below the cuts of `width` columns: weights (`counts`), those of class 1 (`ones`), and, where weights are
    not all 1 and leaves need several, rows; of numbers their sums.
    """
    shift, bits, mask, one, zero = rules[SHIFT], rules[BITS], rules[WEIGHT_MASK], np.int64(1), np.int64(0)
    most = np.int64(MOST_IN_A_BYTE)
    for column in range(zero, width, np.int64(BYTE_LANES)):
        at = zero
        while at < m:
            n = min(rules[PIECE], m - at)
            if sums is not None:
                here = counts if mask == 0 else rows
                row_sums(table, step, column, marks, lo + at, n, shift, cuts, amounts, at, here, sums)
            if sums is None or mask > 0:
                row_counts(
                    table, step, column, marks, lo + at, n, shift, bits, mask, one, one, cuts, at, counts, ones
                )  # fmt: skip
            at += n
        at = zero
        while sums is None and mask > 0 and rules[MIN_LEAF] > 1 and at < m:
            n = min(most, m - at)
            row_counts(table, step, column, marks, lo + at, n, shift, bits, zero, zero, one, cuts, at, rows, unused)
            at += n


@kernel(allocates=False)
def better(j, f, wt, st, m, rules, min_weight, cuts, counts, ones, rows, sums, best, found):
    """Take the split of the column f, which has place j, where it is better than the best so far."""
    wl = np.int64(counts[j])
    left = np.int64(rows[j]) if rules[WEIGHT_MASK] > 0 and rules[MIN_LEAF] > 1 else wl
    wr = wt - np.float64(wl)
    if rules[MIN_LEAF] > 1 and (left < rules[MIN_LEAF] or m - left < rules[MIN_LEAF]):
        return
    if wl < min_weight or wr < min_weight:
        return
    t = (np.float64(ones[j]) if sums is None else np.float64(sums[j])) * wt - st * np.float64(wl)
    top, bottom = t * t, np.float64(wl) * wr
    if top * best[1] > best[0] * bottom:
        best[0], best[1] = top, bottom
        found[COLUMN], found[CUT], found[LEFT_WEIGHT], found[LEFT_ONES] = f, cuts[j], wl, ones[j]


@kernel(allocates=False)
def bin_at(places, f, place):
    """The last bin of a column that lies at `place` or before it."""
    at, f = np.uint64(0), np.uint64(f)
    for k in range(8):  # as many steps whatever the range, and sums of bits: there is nothing to guess
        bit = np.uint64(7 - k)
        at |= np.uint64(places[f, at + (np.uint64(1) << bit)] <= place) << bit
    return np.int64(at)


@kernel(allocates=False)
def draw_cut(state, places, f, small, large):
    """A bin from `small` to `large` − 1: that of a threshold drawn between their places."""
    first = np.int64(places[f, small])
    return bin_at(places, f, np.uint16(first + draw(state, np.int64(places[f, large]) - first)))


@kernel(allocates=False)
def search_all(
    table, step, places, marks, lo, m, wt, st, rules, min_weight, amounts, features, state, picked, small, large, cuts,
    counts, ones, rows, unused, sums, best, found,
):  # fmt: skip
    """The best of one random split of each column drawn, all columns of a row being read."""
    for column in range(np.int64(0), step, np.int64(BYTE_LANES)):
        row_range(table, step, column, marks, lo, m, rules[SHIFT], small, large)
    remaining, visited, useful = features.size, 0, 0
    while remaining > 0 and (visited < rules[MAX_FEATURES] or useful == 0):
        f = draw_column(state, features, remaining)
        remaining -= 1
        visited += 1
        if small[f] < large[f]:
            cuts[f] = draw_cut(state, places, f, np.int64(small[f]), np.int64(large[f]))
            picked[useful] = f
            useful += 1
    if useful == 0:
        return
    weigh(table, step, step, marks, lo, m, rules, amounts, cuts, counts, ones, rows, unused, sums)
    for k in range(useful):
        f = np.int64(picked[k])
        better(f, f, wt, st, m, rules, min_weight, cuts, counts, ones, rows, sums, best, found)


@kernel(allocates=False)
def copy_codes(table, step, columns, length, lo, m, to, shift, marks, picked, n, copied):
    """The codes of the columns picked, side by side, rows from `to` on."""
    if columns.size > 0 and _DENSE * m >= length:
        for k in range(n):
            copy_column(columns, np.int64(picked[k]) * length, shift, lo, m, to, k, marks, copied)
    else:
        for i in range(m):
            ask_for_row(table, step, shift, lo + min(i + _AHEAD, m - 1), marks)
            copy_row(table, (np.int64(marks[lo + i]) >> shift) * step, (to + i) * BYTE_LANES, picked, n, copied)


@kernel(allocates=False)
def search_some(
    table, step, columns, length, places, marks, lo, to, m, wt, st, rules, min_weight, amounts, features, state, picked,
    copied, local, small, large, cuts, counts, ones, rows, unused, sums, best, found,
):  # fmt: skip
    """The same reading only the columns drawn, up to 32 at a time, which are copied to rows from `to` on."""
    zero, lanes = np.int64(0), np.int64(BYTE_LANES)
    copy_marks(lo, m, to, rules[SHIFT], marks, local)
    remaining, visited, useful = features.size, 0, 0
    while remaining > 0 and (visited < rules[MAX_FEATURES] or useful == 0):
        some = min(lanes, rules[MAX_FEATURES] - visited) if visited < rules[MAX_FEATURES] else np.int64(_SEARCHING)
        n = 0
        while n < some and remaining > 0:
            picked[n] = draw_column(state, features, remaining)
            remaining -= 1
            n += 1
        copy_codes(table, step, columns, length, lo, m, to, rules[SHIFT], marks, picked, n, copied)
        row_range(copied, lanes, zero, local, to, m, rules[SHIFT], small, large)
        varied = 0
        for k in range(n):
            if small[k] < large[k] and (visited < rules[MAX_FEATURES] or useful == 0):
                cuts[k] = draw_cut(state, places, picked[k], np.int64(small[k]), np.int64(large[k]))
                useful += 1
                varied += 1
            else:
                large[k] = small[k]
            visited += 1
        if varied > 0:
            weigh(copied, lanes, lanes, local, to, m, rules, amounts, cuts, counts, ones, rows, unused, sums)
            for k in range(n):
                if small[k] < large[k]:
                    f = np.int64(picked[k])
                    better(k, f, wt, st, m, rules, min_weight, cuts, counts, ones, rows, sums, best, found)


@kernel(allocates=False)
def search_few(
    table, step, places, marks, ys, lo, m, wt, mean, extent, rules, min_weight, features, state, few, best, found
):  # fmt: skip
    """The best of one random split of each column drawn, for a handful of rows: column by column, by the places of
    rows, so that a bin is looked for once, when the best is known.
    """
    shift, mask, st = rules[SHIFT], rules[WEIGHT_MASK], np.int64(0)
    scale = 1.0 if ys is None else min(_PARTS / extent, _LARGEST)
    for k in range(np.uint64(m)):
        mark = np.int64(marks[np.uint64(lo) + k])
        w = (mark >> rules[BITS]) & mask if mask > 0 else np.int64(1)
        amount = w * (mark & 1)
        if ys is not None:
            amount = w * np.int64((ys[np.uint64(lo) + k] - mean) * scale)
        few[BEGIN, k], few[WEIGHT, k], few[AMOUNT, k] = (mark >> shift) * step, w, amount
        st += amount
    remaining, visited, useful, cut_at = features.size, 0, 0, np.int64(0)
    while remaining > 0 and (visited < rules[MAX_FEATURES] or useful == 0):
        f = np.int64(draw_column(state, features, remaining))
        remaining -= 1
        visited += 1
        small, large = np.int64(255), np.int64(0)
        for k in range(np.uint64(m)):
            code = np.int64(table[np.uint64(few[BEGIN, k] + f)])
            few[CODE, k] = code
            small, large = min(small, code), max(large, code)
        if small == large:
            continue
        useful += 1
        first = np.int64(places[f, small])
        place = first + draw(state, np.int64(places[f, large]) - first)
        wl, sl, left = np.int64(0), np.int64(0), np.int64(0)
        for k in range(np.uint64(m)):
            go = (np.int64(places[f, few[CODE, k]]) - place - 1) >> 63  # all bits or none: there is nothing to guess
            wl += few[WEIGHT, k] & go
            sl += few[AMOUNT, k] & go
            left -= go
        wr = wt - np.float64(wl)
        if left < rules[MIN_LEAF] or m - left < rules[MIN_LEAF] or np.float64(wl) < min_weight or wr < min_weight:
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
def search_two(table, step, places, lo, shift, marks, ys, features, state, found):
    """Part two rows by a random column: every other that varies does so as well, and none better."""
    a, b = (np.int64(marks[lo]) >> shift) * step, (np.int64(marks[lo + 1]) >> shift) * step
    remaining = features.size
    while remaining > 0:
        f = draw_column(state, features, remaining)
        remaining -= 1
        p, q = np.int64(table[a + f]), np.int64(table[b + f])
        if p != q:
            found[COLUMN], found[CUT] = f, draw_cut(state, places, f, min(p, q), max(p, q))
            if p > q:
                marks[lo], marks[lo + 1] = marks[lo + 1], marks[lo]
                if ys is not None:
                    ys[lo], ys[lo + 1] = ys[lo + 1], ys[lo]
            break
