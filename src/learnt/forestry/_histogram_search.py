"""The best split of a node from its histogram.

With G and H the sums of gradients and hessians of a side, its value is  v = −S(G) / (H + l2),  where S draws G towards
0 by l1, and the split gains  S(G_L)² / (H_L + l2) + S(G_R)² / (H_R + l2) − S(G)² / (H + l2).  Where values are bounded,
by a monotone constraint further up, a side gains  −2Gv − (H + l2)v² − 2·l1·|v|  at its clipped value instead.

Both sides are computed alike from whole numbers, so that a split and its mirror image on another column gain the same
to the last bit, and the first column wins.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_NEARLY = 1.0 - 1e-9
_STEADY = 0.1  # rows of mean hessian added to a category's, so that a mean over one row is not taken at its word


@kernel
def side_value(g, h, l1, l2, low, high):
    """The value of a leaf with these sums, within its bounds."""
    if g > l1:
        v = (l1 - g) / (h + l2)
    elif g < -l1:
        v = (-l1 - g) / (h + l2)
    else:
        v = 0.0
    return min(max(v, low), high)


@kernel
def side_gain(g, h, l1, l2, low, high):
    """What a leaf with these sums takes off the loss (twice), at its bounded value."""
    v = side_value(g, h, l1, l2, low, high)
    return -2.0 * g * v - (h + l2) * v * v - 2.0 * l1 * abs(v)


@kernel
def split_gain(gl, hl, gr, hr, l1, l2, low, high, monotone):
    """The gain of both sides together; −1 where they break the monotone constraint."""
    vl = side_value(gl, hl, l1, l2, low, high)
    vr = side_value(gr, hr, l1, l2, low, high)
    if (monotone > 0 and vl > vr) or (monotone < 0 and vl < vr):
        return -1.0
    return side_gain(gl, hl, l1, l2, low, high) + side_gain(gr, hr, l1, l2, low, high)


@kernel
def search_numbers(
    cells, at, n_bins, has_missing, total_g, total_hc, shift, scale_g, scale_h,
    min_leaf, min_hessian, l1, l2, low, high, monotone,
):  # fmt: skip
    """Best (gain, last bin on the left, missing goes left, the left side's sums) over the thresholds of one feature.

    The parent's gain is not yet taken off; −1 means that there is no split.
    """
    mask = (np.int64(1) << shift) - np.int64(1)
    count = total_hc & mask
    plain = monotone == 0 and l1 == 0.0 and low == -np.inf and high == np.inf
    best, best_bin, best_missing, best_g, best_hc = -1.0, -1, 0, np.int64(0), np.int64(0)
    for way in range(2 if has_missing else 1):  # missing values right, then left
        sum_g, sum_hc = np.int64(0), np.int64(0)
        if way == 1:
            sum_g, sum_hc = cells[at + 2 * n_bins], cells[at + 2 * n_bins + 1]
        last = n_bins if has_missing and way == 0 else n_bins - 1
        for b in range(last):
            bin_hc = cells[at + 2 * b + 1]
            if bin_hc == 0:
                continue
            sum_g += cells[at + 2 * b]
            sum_hc += bin_hc
            left = sum_hc & mask
            if left < min_leaf:
                continue
            if count - left < min_leaf:
                break
            hl = (sum_hc >> shift) * scale_h
            if hl < min_hessian:
                continue
            hr = ((total_hc - sum_hc) >> shift) * scale_h
            if hr < min_hessian:
                break
            gl, gr = sum_g * scale_g, (total_g - sum_g) * scale_g
            if plain:
                a, c = hl + l2, hr + l2
                if gl * gl * c + gr * gr * a < best * a * c * _NEARLY:
                    continue  # most are far from the best, which is seen without dividing
                gain = gl * gl / a + gr * gr / c
            else:
                gain = split_gain(gl, hl, gr, hr, l1, l2, low, high, monotone)
            if gain > best:
                best, best_bin, best_missing, best_g, best_hc = gain, b, way, sum_g, sum_hc
    return best, best_bin, best_missing, best_g, best_hc


@kernel
def search_categories(
    cells, at, n_bins, total_g, total_hc, shift, scale_g, scale_h,
    min_leaf, min_hessian, l1, l2, low, high, order, keys,
):  # fmt: skip
    """Best (gain, how many of `order` go left, their sums) over the sets of categories that come first in their order.

    They are ordered by mean gradient: for a convex loss one of these subsets is the best of all. `order` and `keys`
    have room for 256.
    """
    mask = (np.int64(1) << shift) - np.int64(1)
    count = total_hc & mask
    steady = _STEADY * ((total_hc >> shift) * scale_h) / max(count, 1)
    used = 0
    for b in range(n_bins + 1):  # missing is one of them
        hc = cells[at + 2 * b + 1]
        if hc == 0:
            continue
        key = cells[at + 2 * b] * scale_g / ((hc >> shift) * scale_h + steady)
        place = used
        while place > 0 and keys[place - 1] > key:
            keys[place], order[place] = keys[place - 1], order[place - 1]
            place -= 1
        keys[place], order[place] = key, b
        used += 1
    best, best_size, best_g, best_hc = -1.0, 0, np.int64(0), np.int64(0)
    sum_g, sum_hc = np.int64(0), np.int64(0)
    for k in range(used):
        sum_g += cells[at + 2 * order[k]]
        sum_hc += cells[at + 2 * order[k] + 1]
        left = sum_hc & mask
        if left < min_leaf:
            continue
        if count - left < min_leaf:
            break
        hl = (sum_hc >> shift) * scale_h
        hr = ((total_hc - sum_hc) >> shift) * scale_h
        if hl < min_hessian:
            continue
        if hr < min_hessian:
            break
        gl, gr = sum_g * scale_g, (total_g - sum_g) * scale_g
        gain = split_gain(gl, hl, gr, hr, l1, l2, low, high, np.int8(0))
        if gain > best:
            best, best_size, best_g, best_hc = gain, k + 1, sum_g, sum_hc
    return best, best_size, best_g, best_hc
