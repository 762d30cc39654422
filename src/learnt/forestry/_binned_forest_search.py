"""The best split of one node on one binned feature: sweeps over sorted codes, over histograms, and random thresholds.

Two kinds of sums. *Pairs*: one target, its weight w and weighted target s; squared error, and Gini of two classes,
which is the squared error of a target 0 or 1. The gain of a split is

    s_left²/w_left + s_right²/w_right − s²/w  =  (s_left w − s w_left)² / (w w_left w_right),

compared between splits as fractions, without division. *Slots*: any number of classes and outputs; a row adds an amount
(its weight, or weighted target) to one slot an output, and the sum of squares (Gini, squared error) or of x log x
(entropy) over the slots of each side is kept up to date in O(1) a row.

A search returns (numerator, denominator, last bin left, first bin right, missing goes left); the smallest numerator
there is means no split. Codes ascend from 0; 255 is missing, whatever code the table has for it. `first bin right` is
256 where only missing rows go right.
"""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel

MISSING = 255
_LOW32 = (1 << 32) - 1


@kernel
def gather(codes, row_step, offset, missing, rows, lo, hi, out):
    """The codes of a node's rows; smallest and largest that is there, and how many are missing."""
    small, large, absent = 255, -1, 0
    for i in range(hi - lo):
        v = np.int64(codes[rows[lo + i] * row_step + offset])
        v = MISSING if v == missing else v
        out[i] = v
        small = min(small, v)
        large = max(large, v)
    if large == MISSING:
        large = -1
        for i in range(hi - lo):
            v = np.int64(out[i])
            if v == MISSING:
                absent += 1
            else:
                large = max(large, v)
    return small, large, absent


@kernel
def sort_keys(bins, n, small, counts, keys):
    """keys = code · 2³² + position, in order of code: by insertion where few, by counting where many."""
    if n <= 20:
        for i in range(n):
            key = (np.int64(bins[i]) << 32) | i
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    for b in range(small, 257):
        counts[b] = 0
    for i in range(n):
        counts[bins[i]] += 1
    total = 0
    for b in range(small, 256):
        here = counts[b]
        counts[b] = total
        total += here
    for i in range(n):
        b = bins[i]
        position = counts[b]
        counts[b] = position + 1
        keys[position] = (np.int64(b) << 32) | i


@kernel
def pair_sorted(keys, n, absent, w, y, lo, wt, st, min_leaf, min_weight):
    """The best split into two of rows in order of code."""
    present = n - absent
    best, below, left_bin, right_bin, missing_left = -1.0, 1.0, 0, 0, 0
    for way in range(2 if absent else 1):
        wl, sl = 0.0, 0.0
        extra = 0
        if way == 1:
            extra = absent
            for p in range(present, n):
                i = lo + (keys[p] & _LOW32)
                wl += w[i]
                sl += w[i] * y[i]
        last = keys[0] >> 32
        for p in range(present):
            b = keys[p] >> 32
            if b != last:
                wr = wt - wl
                if p + extra >= min_leaf and n - p - extra >= min_leaf and wl >= min_weight and wr >= min_weight:
                    t = sl * wt - st * wl
                    top, bottom = t * t, wl * wr
                    if top * below > best * bottom:
                        best, below, left_bin, right_bin, missing_left = top, bottom, last, b, way
                last = b
            i = lo + (keys[p] & _LOW32)
            wl += w[i]
            sl += w[i] * y[i]
        if absent and way == 0:
            wr = wt - wl
            if present >= min_leaf and absent >= min_leaf and wl >= min_weight and wr >= min_weight:
                t = sl * wt - st * wl
                top, bottom = t * t, wl * wr
                if top * below > best * bottom:
                    best, below, left_bin, right_bin, missing_left = top, bottom, last, 256, 0
    return best, below, left_bin, right_bin, missing_left


@kernel
def pair_counted(bins, n, small, large, absent, w, y, lo, wt, st, min_leaf, min_weight, hw, hs, counts):
    """The same from sums a bin; for nodes of many rows."""
    for b in range(small, 256):
        hw[b] = 0.0
        hs[b] = 0.0
        counts[b] = 0
    for i in range(n):
        b = bins[i]
        u = w[lo + i]
        hw[b] += u
        hs[b] += u * y[lo + i]
    if min_leaf > 1:
        for i in range(n):
            counts[bins[i]] += 1
    best, below, left_bin, right_bin, missing_left = -1.0, 1.0, 0, 0, 0
    for way in range(2 if absent else 1):
        wl, sl, left = 0.0, 0.0, 0
        if way == 1:
            wl, sl, left = hw[MISSING], hs[MISSING], counts[MISSING]
        last = small
        for b in range(small, large + 1):
            u = hw[b]
            if u == 0.0:
                continue
            wr = wt - wl
            if b > small and wl >= min_weight and wr >= min_weight:
                t = sl * wt - st * wl
                top, bottom = t * t, wl * wr
                if top * below > best * bottom and (min_leaf <= 1 or (left >= min_leaf and n - left >= min_leaf)):
                    best, below, left_bin, right_bin, missing_left = top, bottom, last, b, way
            wl += u
            sl += hs[b]
            left += counts[b]
            last = b
        if absent and way == 0:
            wr = wt - wl
            if n - absent >= min_leaf and absent >= min_leaf and wl >= min_weight and wr >= min_weight:
                t = sl * wt - st * wl
                top, bottom = t * t, wl * wr
                if top * below > best * bottom:
                    best, below, left_bin, right_bin, missing_left = top, bottom, last, 256, 0
    return best, below, left_bin, right_bin, missing_left


@kernel
def pair_at(bins, n, cut, missing_left, w, y, lo, wt, st, min_leaf, min_weight):
    """The gain of one split, at bin ≤ cut: for random thresholds."""
    wl, sl, left = 0.0, 0.0, 0
    if missing_left:
        for i in range(n):
            b = bins[i]
            side = b <= cut or b == MISSING
            u = w[lo + i] if side else 0.0
            wl += u
            sl += u * y[lo + i]
            left += side
    else:
        for i in range(n):
            side = bins[i] <= cut
            u = w[lo + i] if side else 0.0
            wl += u
            sl += u * y[lo + i]
            left += side
    wr = wt - wl
    if left < min_leaf or n - left < min_leaf or wl < min_weight or wr < min_weight:
        return -1.0, 1.0
    t = sl * wt - st * wl
    return t * t, wl * wr


@kernel
def x_log_x(x):
    """x ln x, 0 at 0 (and at what rounding leaves below it)."""
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def slot_score(gl, gr, wl, wr, entropy, outputs):
    """(numerator, denominator) of what is to be large, from the sums of squares, or of x log x, of both sides."""
    if entropy:
        return gl + gr - outputs * (x_log_x(wl) + x_log_x(wr)), 1.0
    return gl * wr + gr * wl, wl * wr


@kernel
def slots_sorted(keys, n, absent, w, y, slots, entropy, lo, wt, min_leaf, min_weight, totals, base, left):
    """The best split into two of rows in order of code, for many classes or outputs.

    `totals` has the node's amount of every slot, `base` the sum of their squares (or x log x); `left` is scratch.
    """
    present = n - absent
    outputs = slots.shape[0]
    best, below, left_bin, right_bin, missing_left = -1e300, 1.0, 0, 0, 0
    for way in range(2 if absent else 1):
        wl, gl, gr = 0.0, 0.0, base
        for k in range(totals.size):
            left[k] = 0.0
        last = keys[0] >> 32
        for step in range(n):
            p = step + present if way == 1 else step  # missing rows come first where they go left
            p = p if p < n else p - n
            b = keys[p] >> 32
            if way == 1 and step <= absent:
                last = keys[0] >> 32
            elif b != last:
                wr = wt - wl
                if step >= min_leaf and n - step >= min_leaf and wl >= min_weight and wr >= min_weight:
                    top, bottom = slot_score(gl, gr, wl, wr, entropy, outputs)
                    if top * below > best * bottom:
                        best, below, left_bin, right_bin, missing_left = top, bottom, last, b, way
                last = b
                if step == present and way == 0 and absent:
                    break
            i = lo + (keys[p] & _LOW32)
            wl += w[i]
            for o in range(outputs):
                amount = w[i]
                if y is not None:
                    amount *= y[o, i]
                slot = slots[o, i]
                a = left[slot]
                b = totals[slot] - a
                if entropy:
                    gl += x_log_x(a + amount) - x_log_x(a)
                    gr += x_log_x(b - amount) - x_log_x(b)
                else:
                    gl += amount * (2.0 * a + amount)
                    gr += amount * (amount - 2.0 * b)
                left[slot] = a + amount
    if right_bin == MISSING:
        right_bin = 256
    return best, below, left_bin, right_bin, missing_left


@kernel
def slots_counted(
    bins, n, small, large, absent, w, slots, entropy, lo, wt, min_leaf, min_weight, totals, base, left, hist, counts
):
    """The same for one output of many classes, from sums a bin and class; for nodes of many rows."""
    K = np.uint64(totals.size)
    for b in range(small, 256):
        counts[b] = 0
    for j in range(small * totals.size, 256 * totals.size):
        hist[j] = 0.0
    for i in range(n):
        b = bins[i]
        hist[np.uint64(b) * K + np.uint64(slots[0, lo + i])] += w[lo + i]
        counts[b] += 1
    best, below, left_bin, right_bin, missing_left = -1e300, 1.0, 0, 0, 0
    for way in range(2 if absent else 1):
        wl, gl, gr, count = 0.0, 0.0, base, 0
        for k in range(totals.size):
            left[k] = 0.0
        last = small
        for step in range(small - 1 if way == 1 else small, large + 1 if way == 1 or absent == 0 else large + 2):
            # With missing rows: first of all where they go left, last of all where they go right.
            b = MISSING if step < small or step > large else step
            if counts[b] == 0:
                continue
            if step > small:
                wr = wt - wl
                if count >= min_leaf and n - count >= min_leaf and wl >= min_weight and wr >= min_weight:
                    top, bottom = slot_score(gl, gr, wl, wr, entropy, 1)
                    if top * below > best * bottom:
                        best, below, left_bin, right_bin, missing_left = top, bottom, last, b, way
            for k in range(totals.size):
                amount = hist[b * totals.size + k]
                if amount != 0.0:
                    a = left[k]
                    r = totals[k] - a
                    if entropy:
                        gl += x_log_x(a + amount) - x_log_x(a)
                        gr += x_log_x(r - amount) - x_log_x(r)
                    else:
                        gl += amount * (2.0 * a + amount)
                        gr += amount * (amount - 2.0 * r)
                    left[k] = a + amount
                    wl += amount
            count += counts[b]
            if step >= small:
                last = b
    if right_bin == MISSING:
        right_bin = 256
    return best, below, left_bin, right_bin, missing_left


@kernel
def slots_at(bins, n, cut, missing_left, w, y, slots, entropy, lo, wt, min_leaf, min_weight, totals, left):
    """What one split, at bin ≤ cut, scores."""
    wl, count = 0.0, 0
    for k in range(totals.size):
        left[k] = 0.0
    for i in range(n):
        b = bins[i]
        if b <= cut or (missing_left and b == MISSING):
            wl += w[lo + i]
            count += 1
            for o in range(slots.shape[0]):
                amount = w[lo + i]
                if y is not None:
                    amount *= y[o, lo + i]
                left[slots[o, lo + i]] += amount
    wr = wt - wl
    if count < min_leaf or n - count < min_leaf or wl < min_weight or wr < min_weight:
        return -1e300, 1.0
    gl, gr = 0.0, 0.0
    for k in range(totals.size):
        a, r = left[k], totals[k] - left[k]
        gl += x_log_x(a) if entropy else a * a
        gr += x_log_x(r) if entropy else r * r
    return slot_score(gl, gr, wl, wr, entropy, slots.shape[0])
