"""Rows about an origin, in a unit of their size and another precision: what fast distances are computed from.

What rounding leaves undecided is decided by `square_distance` on the rows themselves; `square_distances` is its NumPy
form.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


@kernel(reassociate=True)
def round_rows(X, origin, scale, out, norms):
    """out = (X − origin) · scale, rounded, and the squared norms of its rows before rounding, in one pass."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            v = (X[i, j] - origin[j]) * scale
            out[i, j] = v
            total += v * v
        norms[i] = total


@kernel
def square_distance(A, a, B, b, squares):
    """‖A[a] − B[b]‖² in float64, summed in order of the features.

    The squares pass through memory so that no multiplication is fused into the sum: NumPy gets the same bits.
    """
    for j in range(A.shape[1]):
        t = np.float64(A[a, j]) - np.float64(B[b, j])
        squares[j] = t * t
    total = 0.0
    for j in range(A.shape[1]):
        total += squares[j]
    return total


def square_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """‖x − y‖² along the last axis in float64, summed in order of the features: the bits of `square_distance`.

    >>> square_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([25.])
    """
    squares = np.subtract(X, Y, dtype=np.float64, order="F")
    squares *= squares
    total = squares[..., 0].copy()
    for j in range(1, squares.shape[-1]):
        total += squares[..., j]
    return total


def square_distances_of_pairs(A: np.ndarray, B: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """‖A[aᵢ] − B[bᵢ]‖² for each pair of row numbers, some MiB of rows at a time."""
    out = np.empty(a.size)
    step = max(1, (1 << 17) // A.shape[1])
    for lo in range(0, a.size, step):
        out[lo : lo + step] = square_distances(A[a[lo : lo + step]], B[b[lo : lo + step]])
    return out
