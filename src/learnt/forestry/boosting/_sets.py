"""The best split of a node by a set of categories, from its histogram.

Categories are ordered by their mean gradients, each drawn towards the node's: for a convex loss one of the sets that
come first in this order is the best of all. Those with too few rows for a reliable mean are pooled into one category.

Sets of categories gain by chance. Sums of pure noise over K categories, split by their signs, gain
(2/π) (Σ_c √H_c)² / H  times the noise of one unit of hessian, on average; this is subtracted, less what it is for two
categories of equal size, which are a threshold like any other.

Most columns are excluded by a bound before anything is sorted. With  d_c = G_c − H_c G / H  the sums beyond
the node's mean, a set L gains at most  D² H / (H_L H_R),  where D = Σ_{c ∈ L} d_c, over the node as it is. All positive
d_c together are P, so that D ≤ P; and D² ≤ H_L F  by Cauchy and Schwarz, where F = Σ d_c² / H_c over the positive d_c;
so too for the other side, with the negative ones. At best  D = P  and  H_L = P² / F,  or so on the other side.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.boosting._search import ROUGHLY, split_gain

SUPPORT = 10  # rows that a category of its own needs, and how many at the node's mean are added to order it
_CHANCE = 2.0 / math.pi
_HUGE = float(np.finfo(np.float64).max)
_NUMBER_BITS, _BUCKET_BITS = 10, 32  # of a key and a category's number in one: those of the number; all but 8
_TOP_KEY = float((1 << 30) - 1)


@kernel(allocates=False)
def told_apart(n, total_g, total_h, shift, cell_g, cell_hc, order, beyond, weight):
    """How many categories have rows enough, and of each its number, d_c and H_c; the others add up to one, number n."""
    mask = (np.int64(1) << shift) - np.int64(1)
    mean = total_g / max(total_h, 1.0)
    used, rare_g, rare_hc = np.uint64(0), np.int64(0), np.int64(0)
    for b in range(np.uint64(n)):
        g, hc = cell_g[b], cell_hc[b]
        enough = hc & mask >= SUPPORT
        h = np.float64(hc >> shift)
        order[used], beyond[used], weight[used] = np.int64(b), np.float32(g - mean * h), np.float32(h)
        used += np.uint64(enough)
        rare_g += np.int64(0) if enough else g
        rare_hc += np.int64(0) if enough else hc
    cell_g[n], cell_hc[n] = rare_g, rare_hc
    if rare_hc != 0:
        h = np.float64(rare_hc >> shift)
        order[used], beyond[used], weight[used] = n, np.float32(rare_g - mean * h), np.float32(h)
        used += np.uint64(1)
    return np.int64(used)


@kernel(reassociate=True, allocates=False)
def most_gain(n, total_h, beyond, weight):
    """What no set of these n categories gains more than, over the node as it is; and Σ √H_c.

    Infinity where some have no hessian.
    """
    none = np.float32(0)
    up, down, squares_up, squares_down, roots, bare = none, none, none, none, none, none
    for k in range(np.uint64(n)):
        d, h = beyond[k], weight[k]
        more, less = max(d, none), min(d, none)
        bare += np.float32(1) if h <= none else none
        h = max(h, np.float32(1))
        up += more
        down -= less
        squares_up += more * more / h
        squares_down += less * less / h
        roots += np.sqrt(h)
    top = max(up, down)
    if bare > none or not (squares_up > none and squares_down > none):
        return np.inf, np.float64(roots)
    top = np.float64(top) * np.float64(top)
    a, b = top / np.float64(squares_up), top / np.float64(squares_down)
    a, b = a * (total_h - a), b * (total_h - b)
    if not (a > 0.0 and b > 0.0):
        return np.inf, np.float64(roots)
    return top * total_h / min(a, b), np.float64(roots)


@kernel(reassociate=True, allocates=False)
def sum_of_roots(n, weight):
    total = 0.0
    for k in range(np.uint64(n)):
        total += np.float64(np.sqrt(weight[k]))
    return total


@kernel(allocates=False)
def by_chance(roots, total_h):
    """What sets of categories gain by chance, in units of noise."""
    return _CHANCE * max(roots * roots / total_h - 2.0, 0.0)


@kernel(allocates=False)
def sort_categories(n, keys, order, spare, places):
    """Order category numbers by key, then by number: spread over 256 buckets, then insertion.

    Key and number are one integer, with 30 bits for the key between the smallest and the largest, the resolution of
    single precision.
    """
    low, high = np.float64(keys[0]), np.float64(keys[0])
    for k in range(n):
        low, high = min(low, np.float64(keys[k])), max(high, np.float64(keys[k]))
    unit = _TOP_KEY / (high - low) if high > low else 0.0
    for b in range(256):
        places[b] = 0
    for k in range(n):
        spare[k] = (np.int64((np.float64(keys[k]) - low) * unit) << _NUMBER_BITS) + order[k]
        places[spare[k] >> _BUCKET_BITS] += 1
    begin = np.int64(0)
    for b in range(256):
        begin += places[b]
        places[b] = begin - places[b]
    for k in range(n):
        b = spare[k] >> _BUCKET_BITS
        order[places[b]] = spare[k]
        places[b] += 1
    for k in range(1, n):
        pair, place = order[k], k
        while place > 0 and order[place - 1] > pair:
            order[place] = order[place - 1]
            place -= 1
        order[place] = pair
    for k in range(n):
        order[k] &= (1 << _NUMBER_BITS) - 1


@kernel(allocates=False)
def bound_categories(used, total_g, total_h, scale_g, scale_h, noise, beyond, weight):
    """An upper bound of the gain of sets of categories, finite or −∞; the parent's gain is not subtracted."""
    if total_h <= 0.0 or used < 2:
        return -np.inf
    most, roots = most_gain(used, total_h, beyond, weight)
    g = total_g * scale_g
    most = g * g / (total_h * scale_h) + most * scale_g * scale_g / scale_h / ROUGHLY
    most -= ROUGHLY * noise * by_chance(roots, total_h)
    return most if most < _HUGE else _HUGE  # also where it is not a number


@kernel(allocates=False)
def search_categories(cell_g, cell_hc, used, node, noise, least, equal, sorting, beyond, weight):
    """Best (gain, how many go left of the order in `sorting`, their sums) over the sets that come first in that order.

    The parent's gain is not yet taken off. A gain of less than `least`, or of no more unless `equal`, is none, and none
    go left.
    """
    total_g, total_hc, shift, scale_g, scale_h = node.g, node.hc, node.shift, node.scale_g, node.scale_h
    min_leaf, min_hessian, l1, l2, low, high = node.min_leaf, node.min_hessian, node.l1, node.l2, node.low, node.high
    order = sorting[0]
    mask = (np.int64(1) << shift) - np.int64(1)
    count, units, none = total_hc & mask, np.float64(total_hc >> shift), np.int64(0)
    support = np.float32(SUPPORT * units / max(count, 1))
    for k in range(np.uint64(used)):
        beyond[k] /= weight[k] + support
    sort_categories(used, beyond, order, sorting[1], sorting[2])
    chance = noise * by_chance(sum_of_roots(used, weight), units)
    plain = l1 == 0.0 and low == -np.inf and high == np.inf
    best, best_size, best_g, best_hc = least, none, none, none
    sum_g, sum_hc = none, none
    for k in range(np.uint64(used)):
        b = np.uint64(order[k])
        sum_g += cell_g[b]
        sum_hc += cell_hc[b]
        left = sum_hc & mask
        if left < min_leaf:
            continue
        if count - left < min_leaf:
            break
        hl = (sum_hc >> shift) * scale_h
        hr = ((total_hc - sum_hc) >> shift) * scale_h
        gl, gr = sum_g * scale_g, (total_g - sum_g) * scale_g
        a, c = hl + l2, hr + l2
        if gl * gl * c + gr * gr * a < (best + chance) * ROUGHLY * (a * c) or hl < min_hessian or hr < min_hessian:
            continue
        gain = split_gain(gl, hl, gr, hr, plain, l1, l2, low, high, np.int8(0)) - chance
        if gain > best or (equal and best_size == 0 and gain == best):
            best, best_size, best_g, best_hc = gain, np.int64(k) + 1, sum_g, sum_hc
    return best, best_size, best_g, best_hc
