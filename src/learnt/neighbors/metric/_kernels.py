"""Compiled: what a row adds to an objective over all pairs, given its squared distances to all rows.

Rows are in order of their classes, class c from `ends[c]` to `ends[c + 1]`. A kernel gets a block of products
e_i · e_j and leaves the slopes  w_ij = ∂ objective / ∂ d_ij  in its place, d_ij = ‖e_i − e_j‖². Loops are over whole
arrays, one operation each, so that the compiler takes several entries at once.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.exponential import exp_nonpositive

_NEGLIGIBLE = -200.0  # the exponential of less; numbers near 1e-308 would take a hundred times as long to multiply


@kernel
def _least(row, spare):
    """The smallest entry, by halving: comparisons of two halves need no order."""
    size = row.size
    half = (size + 1) // 2
    for j in range(half):
        spare[j] = row[j]
    for j in range(size - half):
        spare[j] = row[half + j] if row[half + j] < spare[j] else spare[j]
    size = half
    while size > 1:
        half = (size + 1) // 2
        for j in range(size - half):
            spare[j] = spare[half + j] if spare[half + j] < spare[j] else spare[j]
        size = half
    return spare[0]


@kernel(reassociate=True)
def _exponentials(values, nearest):
    """Put exp(nearest − v) in place of each value, 0 for what is negligible relative to 1; their sum."""
    total = 0.0
    for j in range(values.size):
        gap = nearest - values[j]
        near = exp_nonpositive(gap)
        values[j] = near if gap > _NEGLIGIBLE else 0.0
        total += values[j]
    return total


@kernel
def _times(values, factor):
    for j in range(values.size):
        values[j] *= factor


@kernel(reassociate=True)
def _count(row, degree):
    """Add slopes to the rows that they lead to; their sum."""
    total = 0.0
    for j in range(row.size):
        degree[j] += row[j]
        total += row[j]
    return total


@kernel
def stochastic_neighbors(products, squares, codes, ends, first, degree):
    """Neighbourhood components: −Σᵢ pᵢ, where pᵢ is the chance that a neighbour drawn ∝ exp(−d_ij) has i's class."""
    value, spare = 0.0, np.empty(squares.size)
    for q in range(products.shape[0]):
        i, row = first + q, products[q]
        lo, hi = ends[codes[i]], ends[codes[i] + 1]
        for j in range(row.size):
            row[j] = squares[j] - 2.0 * row[j]  # ‖e_i‖² is the same for all
        row[i] = np.inf
        nearest = _least(row, spare)
        others = _exponentials(row[:lo], nearest) + _exponentials(row[hi:], nearest)
        same = _exponentials(row[lo:hi], nearest)
        share = same / (same + others)
        value -= share
        _times(row[:lo], -share / (same + others))
        _times(row[lo:hi], (1.0 - share) / (same + others))
        _times(row[hi:], -share / (same + others))
        degree[i] += _count(row, degree)
    return value


@kernel
def large_margin(products, squares, codes, ends, first, degree, targets, margin, pull):
    """Large margins: Σ over rows i and targets j of  pull d_ij + (1 − pull) Σ_l max(0, margin + d_ij − d_il).

    l are the rows of other classes; targets of −1, last in a row, are none.
    """
    value, push = 0.0, 1.0 - pull
    limits, wrong = np.empty(targets.shape[1]), np.empty(targets.shape[1])
    for q in range(products.shape[0]):
        i, row = first + q, products[q]
        lo, hi = ends[codes[i]], ends[codes[i] + 1]
        size, farthest = 0, -np.inf
        while size < targets.shape[1] and targets[i, size] >= 0:
            j = targets[i, size]
            near = squares[j] - 2.0 * row[j]  # ‖e_i‖² is the same for all
            value += pull * (squares[i] + near)
            limits[size], wrong[size] = margin + near, 0.0
            farthest = max(farthest, limits[size])
            size += 1
        for l in range(row.size):
            gap = squares[l] - 2.0 * row[l]
            row[l] = 0.0
            if (l < lo or l >= hi) and gap < farthest:
                for t in range(size):
                    if gap < limits[t]:
                        value += push * (limits[t] - gap)
                        wrong[t] += push
                        row[l] -= push
        for t in range(size):
            row[targets[i, t]] = pull + wrong[t]
        degree[i] += _count(row, degree)
    return value
