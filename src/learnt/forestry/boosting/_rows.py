"""Passes over all rows of a table around the growth of a tree: gradients, rounding, sums of leaves, new scores.

Rows are worked on in blocks, in order, so that every pass reads and writes memory from one end to the other. The leaf
of each row is written down once (`name_leaves`); what follows then needs no list of a leaf's rows. Sums of floating
point are kept by block and sums of leaves are integers: results do not depend on which thread did which block.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.boosting._histogram import CONSTANT, EXACT
from learnt.forestry.boosting._search import side_value
from learnt.linalg.exponential import exp_nonpositive
from learnt.linalg.log_loss import log_chances

ROWS = 2048  # of a block
GIVEN, SQUARED, LOG, SOFTMAX = range(4)  # where gradients come from
TOP_G, TOP_H, NOISE_G, NOISE_H = range(4)  # what is kept of a block
_TINY = float(np.finfo(np.float64).tiny)


@kernel(allocates=False)
def squared_rows(lo, hi, y, score, g):
    for i in range(np.uint64(lo), np.uint64(hi)):
        g[i] = score[i] - y[i]


@kernel(reassociate=True, allocates=False)
def log_rows(lo, hi, y, score, g, h):
    """p − y and p (1 − p) for p = 1 / (1 + e^−s)."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        s = score[i]
        e = exp_nonpositive(-abs(s))
        large, small = log_chances(e)
        h[i] = large * small
        one = large if s >= 0.0 else small
        zero = small if s >= 0.0 else large
        g[i] = -zero if y[i] > 0.5 else one


@kernel(reassociate=True, allocates=False)
def softmax_rows(lo, hi, k, y, score, norm, g, h):
    """p − [y = k] and p (1 − p) for p = e^(s − norm)."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        p = exp_nonpositive(min(score[i] - norm[i], 0.0))
        h[i] = p * (1.0 - p)
        g[i] = p - 1.0 if y[i] == k else p


@kernel(allocates=False)
def ones(lo, hi, out):
    for i in range(np.uint64(lo), np.uint64(hi)):
        out[i] = 1.0


@kernel(allocates=False)
def weigh(lo, hi, w, g, h):
    for i in range(np.uint64(lo), np.uint64(hi)):
        g[i] *= w[i]
        h[i] *= w[i]


@kernel(allocates=False)
def look_at(lo, hi, g, h, counts, found):
    """The largest gradient and hessian, Σ g² and Σ h; a row that counts as several is as many smaller ones."""
    top_g, top_h, squares, total = 0.0, 0.0, 0.0, 0.0
    for i in range(np.uint64(lo), np.uint64(hi)):
        top_g, top_h = max(top_g, abs(g[i])), max(top_h, h[i])
        squares += g[i] * g[i] if counts.size == 0 else g[i] * g[i] / counts[i]
        total += h[i]
    found[TOP_G], found[TOP_H], found[NOISE_G], found[NOISE_H] = top_g, top_h, squares, total


@kernel(allocates=False)
def in_order(lo, hi, rows):
    for i in range(np.uint32(lo), np.uint32(hi)):
        rows[i] = np.int32(i)


@kernel(allocates=False)
def loss_rows(code, output, lo, hi, y, score, norm, with_h, g, h):
    """Gradients and hessians of rows lo…hi for output number `output`."""
    if code == SQUARED:
        squared_rows(lo, hi, y, score, g)
        if with_h:
            ones(lo, hi, h)
    elif code == LOG:
        log_rows(lo, hi, y, score, g, h)
    elif code == SOFTMAX:
        softmax_rows(lo, hi, output, y, score, norm, g, h)


@kernel(allocates=False)
def gradients(code, output, constant, lo, hi, rows, g, h, counts, found):
    """Gradients and hessians of rows lo…hi, and what is kept of their block.

    `rows` are their targets, scores, norms and weights.
    """
    y, score, norm, w = rows
    loss_rows(code, output, lo, hi, y, score, norm, not constant, g, h)
    if code != GIVEN and w.size > 0:
        weigh(lo, hi, w, g, h)
    look_at(lo, hi, g, g if constant else h, counts, found)
    if constant:  # hessians are not written down
        one = 1.0 if code == SQUARED else h[0]
        found[TOP_H], found[NOISE_H] = one, one * (hi - lo)


@kernel(allocates=False)
def power(bits, largest):
    """The power of two that makes `largest` a number of at most `bits` bits."""
    if not largest > 0.0:
        return 1.0
    return math.ldexp(1.0, int(min(bits - math.frexp(largest)[1], 1000)))


@kernel(allocates=False)
def round_exact(lo, hi, g, h, to_g, to_h, shift, counts, grad, hess):
    for i in range(np.uint64(lo), np.uint64(hi)):
        grad[i] = np.int64(np.rint(g[i] * to_g))
        count = np.int64(1) if counts.size == 0 else counts[i]
        hess[i] = (np.int64(np.rint(h[i] * to_h)) << shift) + count


@kernel(allocates=False)
def round_constant(lo, hi, g, to_g, words):
    for i in range(np.uint64(lo), np.uint64(hi)):
        words[i] = np.int32(np.rint(g[i] * to_g))


@kernel(allocates=False)
def round_pair(lo, hi, g, h, to_g, to_h, salt, words):
    """Up or down at random in proportion, by a hash of the row."""
    part = 1.0 / 65536.0
    for i in range(np.uint32(lo), np.uint32(hi)):
        mix = np.uint32((np.uint32(i) ^ salt) * np.uint32(0x9E3779B1))
        mix = np.uint32((mix ^ (mix >> np.uint32(15))) * np.uint32(0x2C1B3C6D))
        mix = np.uint32((mix ^ (mix >> np.uint32(12))) * np.uint32(0x297A2D39))
        mix = np.uint32(mix ^ (mix >> np.uint32(15)))
        a = np.float64(mix & np.uint32(0xFFFF)) * part
        b = np.float64(mix >> np.uint32(16)) * part
        gq = np.int64(np.floor(g[i] * to_g + a))
        hq = np.int64(np.floor(h[i] * to_h + b))
        words[i] = np.int32((gq << 16) | hq)


@kernel(allocates=False)
def quantise(form, lo, hi, g, h, rounding, counts, rounded):
    """Fixed-point forms of rows lo…hi."""
    to_g, to_h, shift, salt = rounding
    words = rounded.words
    if form == EXACT:
        round_exact(lo, hi, g, h, to_g, to_h, shift, counts, rounded.gradient, rounded.hessian)
    elif form == CONSTANT:
        round_constant(lo, hi, g, to_g, words)
    else:
        mixed = (np.uint64(salt) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        round_pair(lo, hi, g, h, to_g, to_h, np.uint32(mixed >> np.uint64(32)), words)


@kernel(allocates=False)
def no_leaves(lo, hi, none, leaf_of):
    """Rows that the tree was not grown on have no leaf."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        leaf_of[i] = none


@kernel(allocates=False)
def name_leaves(me, n_members, n_nodes, left, start, end, rows, leaf_of):
    """The leaf of every row, in this thread's part of every leaf."""
    for node in range(n_nodes):
        if left[node] < 0:
            size = end[node] - start[node]
            begin, stop = start[node] + size * me // n_members, start[node] + size * (me + 1) // n_members
            for i in range(np.uint64(begin), np.uint64(stop)):
                leaf_of[np.uint64(rows[i])] = node


@kernel(allocates=False)
def sum_leaves(lo, hi, x, scale, leaf_of, sums):
    """Add rows lo…hi to the sums of their leaves, in fixed point."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        sums[np.uint64(leaf_of[i])] += np.int64(x[i] * scale)


@kernel(allocates=False)
def add_values(lo, hi, leaf_of, values, score):
    for i in range(np.uint64(lo), np.uint64(hi)):
        score[i] += values[np.uint64(leaf_of[i])]


@kernel(allocates=False)
def node_sums(n_nodes, left, scale, sums, out):
    """The sums of all nodes, from what each thread found for leaves: children come after their parents."""
    for node in range(n_nodes - 1, -1, -1):
        found = np.int64(0)
        if left[node] >= 0:
            found = sums[0, left[node]] + sums[0, left[node] + 1]
        else:
            for k in range(sums.shape[0]):
                found += sums[k, node]
        sums[0, node] = found
        out[node] = found / scale


@kernel(allocates=False)
def node_values(n_nodes, rate, l1, l2, low, high, out):
    """The Newton step −S(G) / (H + l2) of every node, within its bounds, times the learning rate.

    A tree without a split takes none: its H may be below the least that a leaf may have, the step of any length.
    """
    for node in range(n_nodes):
        h = max(out[2, node], _TINY - l2)
        out[0, node] = rate * side_value(out[1, node], h, l1, l2, low[node], high[node])
    if n_nodes == 1:
        out[0, 0] = 0.0
