"""The best split of a node by a threshold, from its histogram.

With G and H the sums of gradients and hessians of a side, its value is  v = −S(G) / (H + l2),  where S draws G towards
0 by l1, and the split gains  S(G_L)² / (H_L + l2) + S(G_R)² / (H_R + l2) − S(G)² / (H + l2).  Where values are bounded,
by a monotone constraint further up, a side gains  −2Gv − (H + l2)v² − 2·l1·|v|  at its clipped value instead.

Both sides are computed in the same way from integers, so that a split and its mirror image on another column gain the
same to the last bit, and the first column wins.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

ROUGHLY = 1.0 - 1e-3  # far more than single precision rounds away


@kernel(allocates=False)
def side_value(g, h, l1, l2, low, high):
    """The value of a leaf with these sums, within its bounds."""
    if g > l1:
        v = (l1 - g) / (h + l2)
    elif g < -l1:
        v = (-l1 - g) / (h + l2)
    else:
        v = 0.0
    return min(max(v, low), high)


@kernel(allocates=False)
def side_gain(g, h, l1, l2, low, high):
    """What a leaf with these sums takes off the loss (twice), at its bounded value."""
    v = side_value(g, h, l1, l2, low, high)
    return -2.0 * g * v - (h + l2) * v * v - 2.0 * l1 * abs(v)


@kernel(allocates=False)
def split_gain(gl, hl, gr, hr, plain, l1, l2, low, high, monotone):
    """The gain of both sides together; −1 where they break the monotone constraint."""
    if plain:
        return gl * gl / (hl + l2) + gr * gr / (hr + l2)
    vl = side_value(gl, hl, l1, l2, low, high)
    vr = side_value(gr, hr, l1, l2, low, high)
    if (monotone > 0 and vl > vr) or (monotone < 0 and vl < vr):
        return -1.0
    return side_gain(gl, hl, l1, l2, low, high) + side_gain(gr, hr, l1, l2, low, high)


@kernel(reassociate=True, allocates=False)
def may_be_better(left_g, left_h, begin, end, total_g, total_h, scale_g, scale_h, l2, least):
    """Whether some split begin…end may gain `least`, from sums of single precision, without a division or a branch.

    Where values are bounded by constraints none gains more than it would without.
    """
    bound = np.float32(max(least, 0.0) * ROUGHLY)
    unit_g, unit_h, l2 = np.float32(scale_g), np.float32(scale_h), np.float32(l2)
    g, both = np.float32(total_g) * unit_g, np.float32(total_h) * unit_h + l2 + l2
    found, one, none = np.float32(0), np.float32(1), np.float32(0)
    for b in range(np.uint64(begin), np.uint64(max(end, begin))):
        gl, a = left_g[b] * unit_g, left_h[b] * unit_h + l2
        gr, c = g - gl, both - a
        found += none if gl * gl * c + gr * gr * a < bound * (a * c) else one  # what is not a number may be, too
    return found > none


@kernel(allocates=False)
def search_numbers(left_g, left_hc, rough_g, rough_h, begin, end, node, monotone, least):
    """(gain, last bin on the left) of the best of the thresholds begin…end, from the sums on their left sides.

    The parent's gain is not yet subtracted; a gain of `least` or less counts as none, with bin −1.
    """
    total_g, total_hc, shift, scale_g, scale_h = node.g, node.hc, node.shift, node.scale_g, node.scale_h
    min_hessian, l1, l2, low, high = node.min_hessian, node.l1, node.l2, node.low, node.high
    plain = monotone == 0 and l1 == 0.0 and low == -np.inf and high == np.inf
    unit_g, unit_h, rough_l2 = np.float32(scale_g), np.float32(scale_h), np.float32(l2)
    g, both = np.float32(total_g) * unit_g, np.float32(total_hc >> shift) * unit_h + rough_l2 + rough_l2
    best, best_bin = least, np.int64(-1)
    bound = np.float32(max(least, 0.0) * ROUGHLY)
    for b in range(np.uint64(begin), np.uint64(max(end, begin))):
        gl, a = rough_g[b] * unit_g, rough_h[b] * unit_h + rough_l2
        gr, c = g - gl, both - a
        if gl * gl * c + gr * gr * a < bound * (a * c):
            continue  # most are far from the best, which a rough bound shows
        hl = (left_hc[b] >> shift) * scale_h
        hr = ((total_hc - left_hc[b]) >> shift) * scale_h
        if hl < min_hessian or hr < min_hessian:
            continue
        gain = split_gain(
            left_g[b] * scale_g, hl, (total_g - left_g[b]) * scale_g, hr, plain, l1, l2, low, high, monotone
        )
        if gain > best:
            best, best_bin = gain, np.int64(b)
            bound = np.float32(max(best, 0.0) * ROUGHLY)
    return best, best_bin
