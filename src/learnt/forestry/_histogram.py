"""Sums of gradients, hessians and counts by bin, in whole numbers.

Whole numbers make three things true: a parent's histogram less one child's is exactly the other's; the order of rows
and the number of threads change nothing; and one addition serves all three sums. A row's gradient and hessian are
rounded to fixed point, in one of three forms:

    exact      two int64 a row, gradient and (hessian, count): small tables and whole-number weights
    pair       one int32 a row: 15 bits of gradient, 10 of hessian, rounded up or down at random in proportion
    constant   one int32 a row: the gradient; every hessian is the same, so that a count is enough

A wide cell is two int64: Σ gradient, and Σ hessian · 2^shift + Σ count. In a large node "pair" and "constant" go to
narrow cells first, one int64 with all three sums, and from there to wide ones before they could overflow.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import prefetch
from learnt.engine.kernel import kernel

EXACT, PAIR, CONSTANT = 0, 1, 2
GRADIENT_BITS, HESSIAN_BITS = 15, 10
BLOCK = 32  # features whose narrow cells, 64 kB, stay in the nearest cache
_FLUSH_PAIRS, _FLUSH_CONSTANT = 8191, 65535  # rows whose count fits the lowest 13 or 16 bits of a narrow cell
_NARROW_ROWS = 600  # rows from which narrow cells pay for being emptied
_AHEAD = 12


@kernel
def split_word(form, shift, word):
    """(gradient, hessian and count) of a row's int32."""
    if form == CONSTANT:
        return np.int64(word), (np.int64(1) << shift) + np.int64(1)
    return np.int64(word >> 16), (np.int64(word & 1023) << shift) + np.int64(1)


@kernel
def add_wide(codes, stride, first, n_words, rows, lo, hi, form, shift, grad, hess, words, offsets, cells):
    """Add rows lo…hi to wide cells, for the eight features in each of the words first…first + n_words of a row."""
    n_features = offsets.size - 1
    for i in range(lo, hi):
        r = rows[i]
        if form == EXACT:
            g, hc = grad[r], hess[r]
        else:
            g, hc = split_word(form, shift, words[r])
        for k in range(first, first + n_words):
            code = codes[r * stride + k]
            last = min(8, n_features - 8 * k)
            for j in range(last):
                cell = 2 * (offsets[8 * k + j] + np.int64((code >> np.uint64(8 * j)) & np.uint64(255)))
                cells[cell] += g
                cells[cell + 1] += hc


@kernel
def add_narrow(codes, stride, first, n_features, rows, lo, hi, form, words, narrow):
    """Add rows to narrow cells, 256 a feature, for n_features that begin in word `first` of a row."""
    byte = np.uint64(255)
    n_words = (n_features + 3) // 8  # a last word of up to four features is read by halves
    half = n_features > 8 * n_words
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            ahead = np.int64(rows[i + _AHEAD])
            prefetch(codes, ahead * stride + first)
            prefetch(words, ahead)
        r = np.uint64(rows[i])
        word = words[r]
        if form == CONSTANT:
            add = (np.int64(word) << 16) + np.int64(1)
        else:
            add = (np.int64(word >> 16) << 36) + (np.int64(word & 1023) << 13) + np.int64(1)
        at = r * np.uint64(stride) + np.uint64(first)
        base = np.uint64(0)
        for _ in range(n_words):
            code = codes[at]
            narrow[base + (code & byte)] += add
            narrow[base + np.uint64(256) + ((code >> np.uint64(8)) & byte)] += add
            narrow[base + np.uint64(512) + ((code >> np.uint64(16)) & byte)] += add
            narrow[base + np.uint64(768) + ((code >> np.uint64(24)) & byte)] += add
            narrow[base + np.uint64(1024) + ((code >> np.uint64(32)) & byte)] += add
            narrow[base + np.uint64(1280) + ((code >> np.uint64(40)) & byte)] += add
            narrow[base + np.uint64(1536) + ((code >> np.uint64(48)) & byte)] += add
            narrow[base + np.uint64(1792) + (code >> np.uint64(56))] += add
            base += np.uint64(2048)
            at += np.uint64(1)
        if half:
            code = codes[at]
            narrow[base + (code & byte)] += add
            narrow[base + np.uint64(256) + ((code >> np.uint64(8)) & byte)] += add
            narrow[base + np.uint64(512) + ((code >> np.uint64(16)) & byte)] += add
            narrow[base + np.uint64(768) + ((code >> np.uint64(24)) & byte)] += add


@kernel
def empty_narrow(first, n_words, form, shift, offsets, narrow, cells):
    """Add narrow cells to wide ones and set them to 0."""
    n_features = offsets.size - 1
    for f in range(8 * first, min(8 * (first + n_words), n_features)):
        base = 256 * (f - 8 * first)
        at = 2 * offsets[f]
        for b in range(offsets[f + 1] - offsets[f]):
            cell = narrow[base + b]
            narrow[base + b] = 0
            if form == CONSTANT:
                count = cell & 65535
                cells[at] += cell >> 16
                cells[at + 1] += (count << shift) + count
            else:
                cells[at] += cell >> 36
                cells[at + 1] += (((cell >> 13) & 8388607) << shift) + (cell & 8191)
            at += 2
    for f in range(n_features, 8 * (first + n_words)):  # the padding of a row: always code 0
        narrow[256 * (f - 8 * first)] = 0


@kernel
def histogram(codes, stride, first, n_words, rows, lo, hi, form, shift, grad, hess, words, offsets, narrow, cells):
    """Set the wide cells of the features in words first…first + n_words of a row to the sums over rows lo…hi."""
    n_features = offsets.size - 1
    begin, end = 8 * first, min(8 * (first + n_words), n_features)
    for k in range(2 * offsets[begin], 2 * offsets[end]):
        cells[k] = 0
    if form == EXACT or hi - lo < _NARROW_ROWS:
        add_wide(codes, stride, first, n_words, rows, lo, hi, form, shift, grad, hess, words, offsets, cells)
        return
    flush = _FLUSH_CONSTANT if form == CONSTANT else _FLUSH_PAIRS
    for start in range(lo, hi, flush):
        add_narrow(codes, stride, first, end - begin, rows, start, min(start + flush, hi), form, words, narrow)
        empty_narrow(first, n_words, form, shift, offsets, narrow, cells)


@kernel
def quantise(g, h, scale_g, scale_h, form, shift, salt, lo, hi, grad, hess, counts, words):
    """Fixed-point forms of rows lo…hi: value · scale, rounded; "pair" rounds at random, by a hash of the row."""
    for i in range(lo, hi):
        if form == EXACT:
            grad[i] = np.int64(np.rint(g[i] * scale_g))
            count = np.int64(1) if counts.size == 0 else np.int64(counts[i])
            hess[i] = (np.int64(np.rint(h[i] * scale_h)) << shift) + count
        elif form == CONSTANT:
            words[i] = np.int32(np.rint(g[i] * scale_g))
        else:
            mix = (np.uint64(i) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
            mix = (mix ^ (mix >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            mix = mix ^ (mix >> np.uint64(32))
            a = np.float64(mix & np.uint64(0xFFFFFF)) * (1.0 / 16777216.0)
            b = np.float64((mix >> np.uint64(24)) & np.uint64(0xFFFFFF)) * (1.0 / 16777216.0)
            gq = np.int64(np.floor(g[i] * scale_g + a))
            hq = np.int64(np.floor(h[i] * scale_h + b))
            words[i] = np.int32((gq << 16) | hq)
