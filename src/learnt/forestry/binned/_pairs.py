"""Searches at a node for one number or two classes a row, where no value is missing: all columns drawn in one call.

Most nodes of a tree have few rows, and there a call costs as much as the work: so these functions do everything for
one node. They return (numerator, denominator, column, last bin left, first bin right, weight and weighted target on the
left) of the best split; a negative column means none. The criterion is described in `_search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.binned._search import code_range, gather_many

FEW = 24  # rows up to which sorting is quicker than sums a bin
_CALLS = 32  # rows from which on a loop is worth a call of its own, which is compiled better
_MASK = (1 << 32) - 1
STOP = 2  # of `state`, after the two words of the generator
LONG = 1 << 18  # cells of a table that a tree takes a fraction of a second to grow on
_BELOW_1 = 1.0 / (1 << 30)


class Limits(NamedTuple):
    """What growth is held to."""

    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    max_leaves: int  # 0: depth first, without limit


class Nodes(NamedTuple):
    """The nodes of a tree; `left` is −1 at a leaf."""

    left: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    impurity: np.ndarray
    rows: np.ndarray  # how many
    weight: np.ndarray
    value: np.ndarray


class Draws(NamedTuple):
    """The columns, and the state of the generator."""

    features: np.ndarray
    state: np.ndarray


class Place(NamedTuple):
    """Where the codes of a node's rows are: that of row r and column f at r · step + start + f · jump."""

    codes: np.ndarray
    start: int
    step: int
    jump: int
    rows: np.ndarray
    lo: int


class Histogram(NamedTuple):
    """Weights, weighted targets and rows of every bin, and the bins that have rows."""

    weights: np.ndarray
    targets: np.ndarray
    counts: np.ndarray
    present: np.ndarray


def first_state(seed: int) -> np.ndarray:
    """What draws begin with; state[STOP] is set where growth is to end."""
    return np.array([seed % (2**32 - 1) + 1, (seed * 2654435761 + 97) % 2**32, 0], dtype=np.int64)


@kernel(allocates=False)
def draw(state, n):
    """A whole number in 0…n−1: xorshift and a Weyl sequence, 32 bits each."""
    x = state[0]
    x ^= (x << 13) & _MASK
    x ^= x >> 17
    x ^= (x << 5) & _MASK
    c = (state[1] + 362437) & _MASK
    state[0], state[1] = x, c
    return (((x + c) & _MASK) * n) >> 32


@kernel(allocates=False)
def draw_column(state, features, remaining):
    """One of the first `remaining` columns, which changes places with the last of them."""
    j = draw(state, remaining)
    f = features[j]
    features[j] = features[remaining - 1]
    features[remaining - 1] = f
    return f


@kernel(allocates=False)
def last_edge(edges, f, small, large, t):
    """The last bin from `small` on whose upper edge is ≤ t, without a branch to guess."""
    a, length = small, large - small
    while length > 1:
        half = length // 2
        a = a + half if edges[f, a + half] <= t else a
        length -= half
    return a


@kernel(allocates=False)
def open_node(w, y, rows, lo, n, w_node, y_node, v_node):
    """Weights, targets and their products of a node's rows.

    Returned: weight, weighted target and squares, smallest and largest target.
    """
    wt, st, squares, low, high = 0 * np.int64(0) * w[0], np.int64(0) * w[0] * y[0], 0.0, y[0], y[0]
    for i in range(n):
        r = rows[lo + i]
        u, t = w[r], y[r]
        v = (np.int64(0) + u) * t
        w_node[i], y_node[i], v_node[i] = u, t, v
        wt += u
        st += v
        squares += np.float64(v) * t
        low = t if t < low or i == np.uint64(0) else low
        high = t if t > high or i == np.uint64(0) else high
    return wt, st, squares, low, high


@kernel(allocates=False)
def pair_few(place, m, w, v, wt, st, limits, draws, keys):
    """The best split of few rows: every column is sorted by insertion as it is read."""
    codes, rows, lo = place.codes, place.rows, place.lo
    start, step, jump = place.start, place.step, place.jump
    min_leaf, min_weight, max_features = limits.min_leaf, limits.min_weight, limits.max_features
    features, state = draws.features, draws.state
    zero = 0 * wt
    size = np.uint64(m)
    remaining, visited, useful = features.size, 0, 0
    best, below, chosen, cut, right_bin, best_w, best_s = -1.0, 1.0, -1, 0, 0, zero, 0 * st
    while remaining > 0 and (visited < max_features or useful == 0):
        f = draw_column(state, features, remaining)
        remaining -= 1
        visited += 1
        offset = start + np.uint64(f) * jump
        for i in range(size):
            key = (np.uint64(codes[rows[lo + i] * step + offset]) << np.uint64(32)) | i
            p = i
            while p > np.uint64(0) and keys[p - np.uint64(1)] > key:
                keys[p] = keys[p - np.uint64(1)]
                p -= np.uint64(1)
            keys[p] = key
        last = keys[0] >> np.uint64(32)
        if last == keys[size - np.uint64(1)] >> np.uint64(32):
            continue
        useful += 1
        wl, sl = zero, 0 * st
        for p in range(size):
            b = keys[p] >> np.uint64(32)
            if b != last:
                wr = wt - wl
                left = np.int64(p)
                if left >= min_leaf and m - left >= min_leaf and wl >= min_weight and wr >= min_weight:
                    t = np.float64(sl) * wt - np.float64(st) * wl
                    top, bottom = t * t, np.float64(wl) * wr
                    if top * below > best * bottom:
                        best, below, chosen, best_w, best_s = top, bottom, np.int64(f), wl, sl
                        cut, right_bin = np.int64(last), np.int64(b)
                last = b
            i = keys[p] & np.uint64(_MASK)
            wl += w[i]
            sl += v[i]
        if m == 2 and chosen >= 0:
            visited = max_features  # every other column parts the two rows as well, and none better
    return best, below, chosen, cut, right_bin, best_w, best_s


@kernel(allocates=False)
def pair_sums(place, m, w, v, wt, st, limits, draws, n_bins, histogram):
    """The best split from sums a bin, for more rows; those of `histogram` are zeros, and are left so."""
    codes, rows, lo = place.codes, place.rows, place.lo
    start, step, jump = place.start, place.step, place.jump
    min_leaf, min_weight, max_features = limits.min_leaf, limits.min_weight, limits.max_features
    features, state = draws.features, draws.state
    hw, hs = histogram.weights, histogram.targets
    counts, present = histogram.counts, histogram.present
    zero = 0 * wt
    remaining, visited, useful = features.size, 0, 0
    best, below, chosen, cut, right_bin, best_w, best_s = -1.0, 1.0, -1, 0, 0, zero, 0 * st
    while remaining > 0 and (visited < max_features or useful == 0):
        f = draw_column(state, features, remaining)
        remaining -= 1
        visited += 1
        offset = start + np.uint64(f) * jump
        for i in range(np.uint64(m)):
            b = codes[rows[lo + i] * step + offset]
            hw[b] += w[i]
            hs[b] += v[i]
        if min_leaf > 1:
            for i in range(np.uint64(m)):
                counts[codes[rows[lo + i] * step + offset]] += 1
        k = np.uint64(0)
        for c in range(np.uint64(n_bins[f])):  # the bins that have rows, without a branch to guess
            present[k] = c
            k += np.uint64(1) if hw[c] != zero else np.uint64(0)
        useful += k > np.uint64(1)
        wl, sl, left = zero, 0 * st, 0
        last = present[0]
        for p in range(k):
            b = present[p]
            wr = wt - wl
            if p > np.uint64(0) and wl >= min_weight and wr >= min_weight:
                t = np.float64(sl) * wt - np.float64(st) * wl
                top, bottom = t * t, np.float64(wl) * wr
                if top * below > best * bottom and (min_leaf <= 1 or (left >= min_leaf and m - left >= min_leaf)):
                    best, below, chosen, best_w, best_s = top, bottom, np.int64(f), wl, sl
                    cut, right_bin = np.int64(last), np.int64(b)
            wl += hw[b]
            sl += hs[b]
            left += counts[b]
            hw[b], hs[b], counts[b], last = zero, 0 * st, 0, b
    return best, below, chosen, cut, right_bin, best_w, best_s


@kernel(allocates=False)
def count_below(bins, n, cut):
    """Rows at bins ≤ cut."""
    total = np.uint32(0)
    for i in range(n):
        total = np.uint32(total + (np.uint32(1) if bins[i] <= cut else np.uint32(0)))
    return np.int64(total)


@kernel(allocates=False)
def bytes_below(bins, n, cut, v):
    """What rows at bins ≤ cut have together, in bytes: many an instruction, which a sum of 64 bits would spoil."""
    total = np.uint32(0)
    for i in range(n):
        total = np.uint32(total + np.uint32(np.uint8(bins[i] <= cut) * v[i]))
    return np.int64(total)


@kernel(reassociate=True, allocates=False)
def sum_below(bins, n, cut, v):
    """What rows at bins ≤ cut have together, in numbers."""
    total = 0.0
    for i in range(n):
        total += np.float64(bins[i] <= cut) * v[i]
    return total


@kernel(allocates=False)
def pair_random(place, m, w, v, wt, st, alike, in_bytes, limits, draws, edges, bins):
    """The best of one random split a column, the threshold drawn between the ends of the node.

    `alike`: all weights are 1; `in_bytes`: weighted targets are bytes.
    """
    codes, rows, lo = place.codes, place.rows, place.lo
    start, step, jump = place.start, place.step, place.jump
    min_leaf, min_weight, max_features = limits.min_leaf, limits.min_weight, limits.max_features
    features, state = draws.features, draws.state
    size = np.uint64(m)
    remaining, visited, useful = features.size, 0, 0
    best, below, chosen, cut, right_bin, best_w, best_s = -1.0, 1.0, -1, 0, 0, 0 * wt, 0 * st
    while remaining > 0 and (visited < max_features or useful == 0):
        f = draw_column(state, features, remaining)
        remaining -= 1
        visited += 1
        offset = start + np.uint64(f) * jump
        if m < _CALLS:
            least, most = np.uint8(255), np.uint8(0)
            for i in range(size):
                b = codes[rows[lo + i] * step + offset]
                bins[i] = b
                least = b if b < least else least
                most = b if b > most else most
            small, large = np.int64(least), np.int64(most)
        else:
            gather_many(codes, step, offset, rows, np.int64(lo), m, bins)
            small, large = code_range(bins, m)
        if small == large:
            continue
        useful += 1
        low, high = edges[f, small], edges[f, large - 1]
        a = last_edge(edges, f, small, large, low + (high - low) * (draw(state, np.int64(1 << 30)) * _BELOW_1))
        ends = np.uint8(a)
        left, wl, sl = 0, 0 * wt, 0 * st
        if m < _CALLS:
            for i in range(size):
                here = np.int64(bins[i] <= ends)
                left += here
                wl += here * w[i]
                sl += here * v[i]
        else:
            left = count_below(bins, m, ends)
            if in_bytes:
                sl = type(sl)(bytes_below(bins, m, ends, v))
            else:
                sl = type(sl)(sum_below(bins, m, ends, v))
            if not alike:
                wl = type(wl)(sum_below(bins, m, ends, w))
            if alike:
                wl = type(wl)(left)
        wr = wt - wl
        if left >= min_leaf and m - left >= min_leaf and wl >= min_weight and wr >= min_weight:
            t = np.float64(sl) * wt - np.float64(st) * wl
            top, bottom = t * t, np.float64(wl) * wr
            if top * below > best * bottom:
                best, below, chosen, cut, right_bin, best_w, best_s = top, bottom, np.int64(f), a, a + 1, wl, sl
        if m == 2 and chosen >= 0:
            visited = max_features  # every other column parts the two rows as well, and none better
    return best, below, chosen, cut, right_bin, best_w, best_s
