"""The best split of one node on one binned feature: sweeps over sorted codes, over histograms, and random thresholds.

Two kinds of sums. *Pairs*: one target, its weight w and weighted target s; squared error, and Gini of two classes,
which is the squared error of a target 0 or 1. The gain of a split is

    s_left²/w_left + s_right²/w_right − s²/w  =  (s_left w − s w_left)² / (w w_left w_right),

compared between splits as fractions, without division. *Slots*: any number of classes and outputs; a row adds an amount
(its weight, or weighted target) to one slot an output, and the sum of squares (Gini, squared error) or of x log x
(entropy) over the slots of each side is kept up to date in O(1) a row.

A sweep goes over the rows whose value is there, from a side that has nothing or the missing rows, and returns
(numerator, denominator, last bin left, first bin right) of its best split; the smallest numerator there is means no
split. Codes ascend from 0; 255 is missing, whatever code the table has for it.

One loop a function, since Numba counts references to the arrays of a function with two, which costs more than a node
of few rows. Weights and targets may be bytes: `zero` is then an integer, and so are all sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel

MISSING = 255
ONLY_MISSING = 256  # "first bin right" where only missing rows go right
_LOW32 = (1 << 32) - 1


class Codes(NamedTuple):
    """The codes of a node's n rows in one column, the smallest and the largest, and how many are missing."""

    bins: np.ndarray
    n: int
    small: int
    large: int
    absent: int


class Sides(NamedTuple):
    """What a node has in every slot, what of it is on the left (scratch), and by which sums they are compared."""

    totals: np.ndarray
    left: np.ndarray
    entropy: bool


# --- codes of a node


@kernel(allocates=False)
def gather_few(codes, row_step, offset, rows, lo, n, out):
    """The codes of a node's rows; smallest and largest."""
    small, large = np.uint8(255), np.uint8(0)
    for i in range(n):
        b = codes[rows[lo + i] * row_step + offset]
        out[i] = b
        small = b if b < small else small
        large = b if b > large else large
    return np.int64(small), np.int64(large)


@kernel(allocates=False)
def gather_many(codes, row_step, offset, rows, lo, n, out):
    """The same without the range, which a loop of its own finds sixteen codes an instruction."""
    for i in range(n):
        out[i] = codes[rows[lo + i] * row_step + offset]


@kernel(allocates=False)
def code_range(bins, n):
    """Smallest and largest code."""
    small, large = np.uint8(255), np.uint8(0)
    for i in range(n):
        small = min(small, bins[i])
        large = max(large, bins[i])
    return np.int64(small), np.int64(large)


@kernel(allocates=False)
def mark_missing(bins, n, missing, mark):
    """Put `mark` in place of the code for missing: how many there are, and the largest other code, −1 without."""
    large, absent = -1, 0
    for i in range(n):
        b = np.int64(bins[i])
        if b == missing:
            bins[i] = mark
            absent += 1
        else:
            large = max(large, b)
    return large, absent


@kernel(allocates=False)
def insertion_sort(bins, n, keys):
    """keys = code · 2³² + position, in order of code; for few rows."""
    for i in range(n):
        key = (np.int64(bins[i]) << 32) | i
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@kernel(allocates=False)
def clear(a, lo, hi):
    """Zeros."""
    for i in range(lo, hi):
        a[i] = 0


@kernel(allocates=False)
def count_codes(bins, n, counts):
    """How many rows have each code."""
    for i in range(n):
        counts[bins[i]] += 1


@kernel(allocates=False)
def begin_codes(counts, small):
    """Counts become the places where codes begin."""
    total = 0
    for b in range(small, 256):
        here = counts[b]
        counts[b] = total
        total += here


@kernel(allocates=False)
def place_keys(bins, n, counts, keys):
    """Every key to the next place of its code."""
    for i in range(n):
        b = bins[i]
        position = counts[b]
        counts[b] = position + 1
        keys[position] = (np.int64(b) << 32) | i


@kernel(allocates=False)
def sort_keys(bins, n, small, counts, keys):
    """keys = code · 2³² + position, in order of code: by insertion where few, by counting where many."""
    if n <= 20:
        insertion_sort(bins, n, keys)
    else:
        clear(counts, small, 256)
        count_codes(bins, n, counts)
        begin_codes(counts, small)
        place_keys(bins, n, counts, keys)


# --- pairs


@kernel(allocates=False)
def pair_sum(keys, lo, hi, w, y, zero):
    """Weight and weighted target of the rows lo…hi in order of code."""
    wl, sl = zero, zero * y[0]
    for p in range(lo, hi):
        i = keys[p] & _LOW32
        u = zero + w[i]
        wl += u
        sl += u * y[i]
    return wl, sl


@kernel(allocates=False)
def pair_sweep(keys, present, n, w, y, wl, sl, extra, wt, st, min_leaf, min_weight):
    """The best split of rows in order of code; `wl`, `sl` and `extra` rows are on the left already."""
    zero = 0 * wt
    best, below, left_bin, right_bin = -1.0, 1.0, 0, 0
    last = keys[0] >> 32
    for p in range(present):
        b = keys[p] >> 32
        if b != last:
            wr = wt - wl
            if p + extra >= min_leaf and n - p - extra >= min_leaf and wl >= min_weight and wr >= min_weight:
                t = np.float64(sl) * wt - np.float64(st) * wl
                top, bottom = t * t, np.float64(wl) * wr
                if top * below > best * bottom:
                    best, below, left_bin, right_bin = top, bottom, last, b
            last = b
        i = keys[p] & _LOW32
        u = zero + w[i]
        wl += u
        sl += u * y[i]
    return best, below, left_bin, right_bin


@kernel(allocates=False)
def pair_add(bins, n, w, y, zero, hw, hs):
    """Weight and weighted target of every bin."""
    for i in range(n):
        b = bins[i]
        u = zero + w[i]
        hw[b] += u
        hs[b] += u * y[i]


@kernel(allocates=False)
def pair_bins(histogram, small, large, n, wl, sl, left, wt, st, min_leaf, min_weight):
    """The best split from sums a bin; `wl`, `sl` and `left` rows are on the left already."""
    hw, hs, counts = histogram.weights, histogram.targets, histogram.counts
    best, below, left_bin, right_bin = -1.0, 1.0, 0, 0
    last = small
    for b in range(small, large + 1):
        u = hw[b]
        if u != 0:
            wr = wt - wl
            if b > small and wl >= min_weight and wr >= min_weight:
                t = np.float64(sl) * wt - np.float64(st) * wl
                top, bottom = t * t, np.float64(wl) * wr
                if top * below > best * bottom and (min_leaf <= 1 or (left >= min_leaf and n - left >= min_leaf)):
                    best, below, left_bin, right_bin = top, bottom, last, b
            wl += u
            sl += hs[b]
            left += counts[b]
            last = b
    return best, below, left_bin, right_bin


@kernel(allocates=False)
def pair_gain(wl, sl, wt, st, left, right, min_leaf, min_weight):
    """The gain of one split, or −1 where it is not allowed."""
    wr = wt - wl
    if left < min_leaf or right < min_leaf or wl < min_weight or wr < min_weight:
        return -1.0, 1.0
    t = np.float64(sl) * wt - np.float64(st) * wl
    return t * t, np.float64(wl) * wr


@kernel(allocates=False)
def pair_best(codes, w, y, wt, st, limits, many, keys, histogram):
    """(numerator, denominator, last bin left, first bin right, missing goes left) of the best split."""
    bins, n, small, large, absent = codes.bins, codes.n, codes.small, codes.large, codes.absent
    hw, hs, counts = histogram.weights, histogram.targets, histogram.counts
    min_leaf, min_weight = limits.min_leaf, limits.min_weight
    zero = 0 * wt
    present = n - absent
    wm, sm = zero, zero * y[0]
    if many:
        clear(hw, small, 256)
        clear(hs, small, 256)
        clear(counts, small, 256)
        pair_add(bins, n, w, y, zero, hw, hs)
        if min_leaf > 1 or absent > 0:
            count_codes(bins, n, counts)
        top, bottom, a, b = pair_bins(histogram, small, large, n, wm, sm, 0, wt, st, min_leaf, min_weight)
        if absent == 0:
            return top, bottom, a, b, 0
        wm, sm = zero + hw[MISSING], 0 * st + hs[MISSING]
        top2, bottom2, a2, b2 = pair_bins(histogram, small, large, n, wm, sm, absent, wt, st, min_leaf, min_weight)
    else:
        sort_keys(bins, n, small, counts, keys)
        top, bottom, a, b = pair_sweep(keys, present, n, w, y, wm, sm, 0, wt, st, min_leaf, min_weight)
        if absent == 0:
            return top, bottom, a, b, 0
        wm, sm = pair_sum(keys, present, n, w, y, zero)
        top2, bottom2, a2, b2 = pair_sweep(keys, present, n, w, y, wm, sm, absent, wt, st, min_leaf, min_weight)
    way = 0
    if top2 * bottom > top * bottom2:
        top, bottom, a, b, way = top2, bottom2, a2, b2, 1
    top2, bottom2 = pair_gain(wt - wm, st - sm, wt, st, present, absent, min_leaf, min_weight)
    if top2 * bottom > top * bottom2:
        top, bottom, a, b, way = top2, bottom2, large, ONLY_MISSING, 0
    return top, bottom, a, b, way


@kernel(reassociate=True, allocates=False)
def pair_left(bins, n, cut, w, y, zero):
    """Weight and weighted target at bins ≤ cut."""
    wl, sl = zero, zero * y[0]
    cut = np.uint8(cut)
    for i in range(n):
        u = (zero + (bins[i] <= cut)) * w[i]
        wl += u
        sl += u * y[i]
    return wl, sl


@kernel(allocates=False)
def count_left(bins, n, cut):
    """Rows at bins ≤ cut."""
    left = 0
    for i in range(n):
        left += bins[i] <= cut
    return left


# --- slots


@kernel(allocates=False)
def x_log_x(x):
    """x ln x, 0 at 0 (and at what rounding leaves below it)."""
    return x * math.log(x) if x > 0.0 else 0.0


@kernel(allocates=False)
def slot_score(gl, gr, wl, wr, entropy, outputs):
    """(numerator, denominator) of what is to be large, from the sums of squares, or of x log x, of both sides."""
    if entropy:
        return gl + gr - outputs * (x_log_x(wl) + x_log_x(wr)), 1.0
    return gl * wr + gr * wl, wl * wr


@kernel(allocates=False)
def slot_move(slot, amount, totals, left, entropy):
    """An amount goes over to the left: what that adds to the sums of the left and of the right."""
    a = left[slot]
    b = totals[slot] - a
    left[slot] = a + amount
    if entropy:
        return x_log_x(a + amount) - x_log_x(a), x_log_x(b - amount) - x_log_x(b)
    return amount * (2.0 * a + amount), amount * (amount - 2.0 * b)


@kernel(allocates=False)
def slot_sweep(keys, first, last_row, n, w, y, slots, before, wt, limits, sides):
    """The best split of the rows first…last_row in order of code, and the sums at the end.

    `before` is on the left already; `sides.left` has what it has in each slot.
    """
    wl, gl, gr, extra = before
    entropy, totals, left = sides.entropy, sides.totals, sides.left
    min_leaf, min_weight = limits.min_leaf, limits.min_weight
    outputs = slots.shape[0]
    best, below, left_bin, right_bin = -1e300, 1.0, 0, 0
    last = keys[first] >> 32
    for p in range(first, last_row):
        b = keys[p] >> 32
        if b != last:
            wr = wt - wl
            count = p - first + extra
            if count >= min_leaf and n - count >= min_leaf and wl >= min_weight and wr >= min_weight:
                top, bottom = slot_score(gl, gr, wl, wr, entropy, outputs)
                if top * below > best * bottom:
                    best, below, left_bin, right_bin = top, bottom, last, b
            last = b
        i = keys[p] & _LOW32
        wl += w[i]
        for o in range(outputs):
            amount = 1.0 * w[i]
            if y is not None:
                amount *= y[o, i]
            more, less = slot_move(slots[o, i], amount, totals, left, entropy)
            gl += more
            gr += less
    return best, below, left_bin, right_bin, wl, gl, gr


@kernel(allocates=False)
def slot_add(bins, n, w, slots, width, hist):
    """Weight of every bin and class."""
    for i in range(n):
        hist[np.uint64(bins[i]) * width + np.uint64(slots[0, i])] += w[i]


@kernel(allocates=False)
def slot_bins(hist, counts, first, last_bin, n, before, wt, limits, sides):
    """The best split from sums a bin and class, of one output, and the sums at the end."""
    wl, gl, gr, count = before
    entropy, totals, left = sides.entropy, sides.totals, sides.left
    min_leaf, min_weight = limits.min_leaf, limits.min_weight
    best, below, left_bin, right_bin = -1e300, 1.0, 0, 0
    last = first
    for b in range(first, last_bin + 1):
        if counts[b] == 0:
            continue
        wr = wt - wl
        if b > first and count >= min_leaf and n - count >= min_leaf and wl >= min_weight and wr >= min_weight:
            top, bottom = slot_score(gl, gr, wl, wr, entropy, 1)
            if top * below > best * bottom:
                best, below, left_bin, right_bin = top, bottom, last, b
        for k in range(totals.size):
            amount = hist[b * totals.size + k]
            if amount != 0.0:
                more, less = slot_move(k, amount, totals, left, entropy)
                gl += more
                gr += less
                wl += amount
        count += counts[b]
        last = b
    return best, below, left_bin, right_bin, wl, gl, gr


@kernel(allocates=False)
def slot_best(codes, w, y, slots, wt, base, limits, sides, many, keys, counts, hist):
    """(numerator, denominator, last bin left, first bin right, missing goes left) of the best split.

    `base` is the sum of squares (or x log x) of `sides.totals`.
    """
    bins, n, small, large, absent = codes.bins, codes.n, codes.small, codes.large, codes.absent
    min_leaf, min_weight, left = limits.min_leaf, limits.min_weight, sides.left
    width = sides.totals.size
    present, no_sums = n - absent, (0.0, 0.0, base, 0)
    clear(left, 0, width)
    if many:
        clear(counts, small, 256)
        clear(hist, small * width, 256 * width)
        count_codes(bins, n, counts)
        slot_add(bins, n, w, slots, np.uint64(width), hist)
        top, bottom, a, b, wl, gl, gr = slot_bins(hist, counts, small, large, n, no_sums, wt, limits, sides)
    else:
        sort_keys(bins, n, small, counts, keys)
        top, bottom, a, b, wl, gl, gr = slot_sweep(keys, 0, present, n, w, y, slots, no_sums, wt, limits, sides)
    if absent == 0:
        return top, bottom, a, b, 0
    if present >= min_leaf and absent >= min_leaf and wl >= min_weight and wt - wl >= min_weight:
        top2, bottom2 = slot_score(gl, gr, wl, wt - wl, sides.entropy, slots.shape[0])
        if top2 * bottom > top * bottom2:
            top, bottom, a, b = top2, bottom2, large, ONLY_MISSING
    clear(left, 0, width)
    if many:
        _, _, _, _, wl, gl, gr = slot_bins(hist, counts, MISSING, MISSING, n, no_sums, wt, limits, sides)
        missing = (wl, gl, gr, absent)
        top2, bottom2, a2, b2, wl, gl, gr = slot_bins(hist, counts, small, large, n, missing, wt, limits, sides)
    else:
        _, _, _, _, wl, gl, gr = slot_sweep(keys, present, n, n, w, y, slots, no_sums, wt, limits, sides)
        missing = (wl, gl, gr, absent)
        top2, bottom2, a2, b2, wl, gl, gr = slot_sweep(keys, 0, present, n, w, y, slots, missing, wt, limits, sides)
    if top2 * bottom > top * bottom2:
        return top2, bottom2, a2, b2, 1
    return top, bottom, a, b, 0


@kernel(allocates=False)
def slot_left(bins, n, cut, w, y, slots, left):
    """What each slot has at bins ≤ cut; the weight there."""
    wl = 0.0
    for i in range(n):
        if bins[i] <= cut:
            wl += w[i]
            for o in range(slots.shape[0]):
                amount = 1.0 * w[i]
                if y is not None:
                    amount *= y[o, i]
                left[slots[o, i]] += amount
    return wl


@kernel(allocates=False)
def slot_sums(totals, left, entropy):
    """Sums of squares, or of x log x, of the left and of the right."""
    gl, gr = 0.0, 0.0
    for k in range(totals.size):
        a, r = left[k], totals[k] - left[k]
        gl += x_log_x(a) if entropy else a * a
        gr += x_log_x(r) if entropy else r * r
    return gl, gr
