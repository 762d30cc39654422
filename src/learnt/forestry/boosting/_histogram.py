"""Sums of gradients, hessians and counts by bin, in integers.

Integers make three things true: a parent's histogram less one child's is exactly the other's; the order of rows
and the number of threads change nothing; and one addition serves all three sums. A row's gradient and hessian are
rounded to fixed point, in one of three forms:

    exact      two int64 a row, gradient and (hessian, count): small tables and integer weights
    pair       one int32 a row: gradient and hessian, rounded up or down at random in proportion
    constant   one int32 a row: the gradient; every hessian is the same, so that a count is enough

A cell is one int64 where all three sums of all rows fit,

    Σ gradient · 2^up + Σ hessian · 2^low + Σ count       ("constant": without the hessians)

and otherwise two, Σ gradient and Σ hessian · 2^shift + Σ count. Then "pair" and "constant" go to a scratch of single
cells first, and from there to double ones before they could overflow. The cells of feature f begin at f · width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import prefetch

EXACT, PAIR, CONSTANT = 0, 1, 2
BLOCK = 32  # features of one pass over the rows
_MOST_BITS = (15, 10)  # of a row's gradient and hessian in "pair"
_STEADY_BITS = (11, 8)  # where no gradient is far larger than most: rounding is negligible relative to their noise
_SCRATCH_ROWS = 600  # rows from which clearing a scratch pays
_AHEAD = 24
TAKEN = 128  # rows whose codes are read before any is added


class Cells(NamedTuple):
    """How rows and cells are written: bits of a row's gradient and hessian, whether a cell is single, its parts."""

    gradient: int
    hessian: int
    single: bool
    low: int
    up: int
    flush: int  # rows whose sums fit a single cell


def cells_for(form: int, n: int, steady: bool) -> Cells:
    """The narrowest cells for n rows."""
    bits = max(1, n.bit_length())
    if form == EXACT:
        return Cells(0, 0, False, 0, 0, 0)
    if form == CONSTANT:
        single = 64 - 2 * bits >= 20
        low = bits if single else 16
        return Cells(min(30, 64 - 2 * low), 0, single, low, low, (1 << low) - 1)
    gradient, hessian = _STEADY_BITS if steady and n >= 1 << 13 else _MOST_BITS
    low = (64 - gradient - hessian) // 3
    return Cells(gradient, hessian, bits <= low, low, hessian + 2 * low, (1 << low) - 1)


@kernel(allocates=False)
def hessian_and_count(rest, form, low, shift):
    """The lower part of a single cell, as a double one has it."""
    if form == CONSTANT:
        return (rest << shift) + rest
    return ((rest >> low) << shift) + (rest & ((np.int64(1) << low) - np.int64(1)))


@kernel(allocates=False)
def read_cell(cells, at, b, layout):
    """Gradient, and hessian and count, of the b-th cell from `at` on; in single cells shift and low are the same."""
    if layout.single:
        cell = cells[np.uint64(at) + np.uint64(b)]
        rest = cell & ((np.int64(1) << layout.up) - np.int64(1))
        return cell >> layout.up, (rest << layout.shift) + rest if layout.form == CONSTANT else rest
    place = np.uint64(at) + np.uint64(2) * np.uint64(b)
    return cells[place], cells[place + np.uint64(1)]


@kernel(allocates=False)
def each_cell(cells, at, n, layout, out_g, out_hc):
    """The sums in each of n cells from `at` on."""
    for b in range(n):
        out_g[b], out_hc[b] = read_cell(cells, at, b, layout)


@kernel(allocates=False)
def running_sums(cells, at, n, layout, g, hc, left_g, left_hc):
    """The sums of g and hc and the first 1, 2, …, n cells from `at` on."""
    for b in range(n):
        cell_g, cell_hc = read_cell(cells, at, b, layout)
        g += cell_g
        hc += cell_hc
        left_g[b], left_hc[b] = g, hc


@kernel(allocates=False)
def outline(cells, at, n, layout, g, hc, min_leaf, most, left_g, left_h):
    """The same in single precision; returns how many of them count less than min_leaf rows, and how many up to most."""
    shift = layout.shift
    mask = (np.int64(1) << shift) - np.int64(1)
    begin, end = np.int64(0), np.int64(0)
    for b in range(n):
        cell_g, cell_hc = read_cell(cells, at, b, layout)
        g += cell_g
        hc += cell_hc
        left_g[b], left_h[b] = np.float32(g), np.float32(hc >> shift)
        count = hc & mask
        begin += count < min_leaf
        end += count <= most
    return begin, end


@kernel(allocates=False)
def add_double(part, lo, hi, layout, rounded, width, at, cells):
    """Add rows lo…hi to double cells, those of the features from cell `at` on."""
    form, shift = layout.form, layout.shift
    codes, rows, words = part.by_row, part.rows, rounded.words
    for i in range(lo, hi):
        r = rows[i]
        if form == EXACT:
            g, hc = rounded.gradient[r], rounded.hessian[r]
        elif form == CONSTANT:
            g, hc = np.int64(words[r]), (np.int64(1) << shift) + np.int64(1)
        else:
            g, hc = np.int64(words[r] >> 16), (np.int64(words[r] & 65535) << shift) + np.int64(1)
        base = at
        word = r * part.stride + part.first
        left = part.n_features
        while left > 0:
            code = codes[word]
            for _ in range(min(8, left)):
                cell = base + 2 * np.int64(code & np.uint64(255))
                cells[cell] += g
                cells[cell + 1] += hc
                code >>= np.uint64(8)
                base += 2 * width
            left -= 8
            word += 1


@kernel(allocates=False)
def added(word, layout):
    """What a row adds to its single cells."""
    if layout.form == CONSTANT:
        return (np.int64(word) << layout.up) + np.int64(1)
    return (np.int64(word >> 16) << layout.up) + (np.int64(word & 65535) << layout.low) + np.int64(1)


@kernel(allocates=False)
def added_in_order(lo, hi, layout, words, adds):
    begin = np.uint64(lo)
    for i in range(np.uint64(hi - lo)):
        adds[i] = added(words[begin + i], layout)


@kernel(allocates=False)
def take_rows(part, n_words, lo, hi, end, layout, words, taken, adds):
    """The codes of rows lo…hi side by side, and what each row adds to its cells.

    Reads without a store between them overlap their memory latency: far faster than one after the other.
    """
    codes, stride, first, rows = part.by_row, part.stride, part.first, part.rows
    to, last, n_most = np.uint64(0), end - 1, np.uint64(BLOCK // 8)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(lo, hi):
        ahead = np.int64(rows[min(i + _AHEAD, last)])
        prefetch(codes, ahead * stride + first)
        prefetch(words, ahead)
        r = np.uint64(rows[i])
        adds[i - lo] = added(words[r], layout)
        k = r * np.uint64(stride) + np.uint64(first)
        taken[to] = codes[k]  # a loop of at most four would take longer than what is in it
        if n_words > 1:
            taken[to + one] = codes[k + one]
        if n_words > 2:
            taken[to + two] = codes[k + two]
        if n_words > 3:
            taken[to + three] = codes[k + three]
        to += n_most


@kernel(allocates=False)
def add_taken(taken, begin, stride, n_words, half, n_rows, adds, width, at, cells):
    """Add rows to single cells; a last word of a row is read whole or by halves, so that up to seven features more
    than asked for are written to, each at its code 0.
    """
    byte, step, start, one = np.uint64(255), np.uint64(width), np.uint64(at), np.uint64(1)
    for i in range(np.uint64(n_rows)):
        add = adds[i]
        base = start
        k = np.uint64(begin) + i * np.uint64(stride)
        for _ in range(n_words):
            code = taken[k]
            cells[base + (code & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(8)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(16)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(24)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(32)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(40)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(48)) & byte)] += add
            base += step
            cells[base + (code >> np.uint64(56))] += add
            base += step
            k += one
        if half:
            code = taken[k]
            cells[base + (code & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(8)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(16)) & byte)] += add
            base += step
            cells[base + ((code >> np.uint64(24)) & byte)] += add


@kernel(allocates=False)
def add_single(part, lo, hi, layout, words, width, at, cells, taken, adds):
    """Add rows lo…hi to single cells, some rows at a time."""
    n_words = (part.n_features + 3) // 8
    half = part.n_features > 8 * n_words
    for start in range(lo, hi, TAKEN):
        end = min(start + TAKEN, hi)
        if part.in_order:
            added_in_order(start, end, layout, words, adds)
            begin = start * part.stride + part.first
            add_taken(part.by_row, begin, part.stride, n_words, half, end - start, adds, width, at, cells)
        else:
            take_rows(part, n_words + half, start, end, hi, layout, words, taken, adds)
            add_taken(taken, np.int64(0), BLOCK // 8, n_words, half, end - start, adds, width, at, cells)


@kernel(allocates=False)
def clear(begin, end, cells):
    # Unsigned, since a possibly negative index prevents vectorisation
    for k in range(np.uint64(begin), np.uint64(end)):
        cells[k] = 0


@kernel(allocates=False)
def empty_scratch(n_cells, layout, scratch, at, cells):
    """Add single cells to double ones and set them to 0."""
    up = layout.up
    below = (np.int64(1) << up) - np.int64(1)
    place = np.uint64(at)
    for k in range(np.uint64(n_cells)):
        cell = scratch[k]
        scratch[k] = 0
        to = place + np.uint64(2) * k
        cells[to] += cell >> up
        cells[to + np.uint64(1)] += hessian_and_count(cell & below, layout.form, layout.low, layout.shift)


@kernel(allocates=False)
def histogram(part, lo, hi, layout, flush, width, rounded, fresh, at, cells, work):
    """Set the cells from `at` on, those of some features, to the sums over rows lo…hi, or add to what is there."""
    n_features, words = part.n_features, rounded.words
    scratch, taken, adds = work  # of this thread
    if fresh:
        clear(at, at + (1 if layout.single else 2) * n_features * width, cells)
    if layout.single:
        add_single(part, lo, hi, layout, words, width, at, cells, taken, adds)
        return
    if layout.form == EXACT or hi - lo < _SCRATCH_ROWS:
        add_double(part, lo, hi, layout, rounded, width, at, cells)
        return
    zero = np.int64(0)
    for start in range(lo, hi, flush):
        end = min(start + flush, hi)
        add_single(part, start, end, layout, words, width, zero, scratch, taken, adds)
        empty_scratch(n_features * width, layout, scratch, at, cells)
        clear(n_features * width, min(n_features + 7, BLOCK) * width, scratch)
