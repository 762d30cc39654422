"""Passes over the rows of leaves."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


@kernel(allocates=False)
def sum_leaves(rows, start, end, lo, hi, g, h, scale_g, scale_h, out):
    """Σ g and Σ h of the rows of leaves lo…hi, in fixed point: the order of rows changes nothing."""
    for k in range(lo, hi):
        sum_g, sum_h = np.int64(0), np.int64(0)
        for i in range(start[k], end[k]):
            r = rows[i]
            sum_g += np.int64(g[r] * scale_g)
            sum_h += np.int64(h[r] * scale_h)
        out[k, 0], out[k, 1] = sum_g, sum_h


@kernel(allocates=False)
def add_to_rows(rows, start, end, lo, hi, values, scores):
    """scores[row] += the value of its leaf, for leaves lo…hi."""
    for k in range(lo, hi):
        value = values[k]
        for i in range(start[k], end[k]):
            scores[rows[i]] += value
