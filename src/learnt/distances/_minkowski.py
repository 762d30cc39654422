"""Minkowski distances with every feature's term added in order: the exact values that every index compares."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import compilation_enabled, kernel

POWERS = {"manhattan": 1.0, "chebyshev": np.inf}
_PLAIN_WORK = 1 << 16  # terms up to which NumPy is done before compiled code would be loaded


@kernel
def add_terms(p, Q, columns, total):
    """total[q, t] = Σⱼ |Q[q, j] − columns[j, t]|^p, or the largest; many points at a time, features in order."""
    for q in range(Q.shape[0]):
        row = total[q]
        row[:] = 0.0
        for j in range(Q.shape[1]):
            value, column = Q[q, j], columns[j]
            if p == 1.0:
                for t in range(row.size):
                    row[t] += abs(value - column[t])
            elif p == np.inf:
                for t in range(row.size):
                    gap = abs(value - column[t])
                    row[t] = gap if gap > row[t] else row[t]
            else:
                for t in range(row.size):
                    row[t] += abs(value - column[t]) ** p


def root(total: np.ndarray, p: float) -> np.ndarray:
    """From sums of p-th powers to distances."""
    if p == 2:
        return np.sqrt(total)
    return total if p in (1, np.inf) else np.power(total, 1.0 / p)


def minkowski_sums(p: float, Q: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Σⱼ |qⱼ − tⱼ|^p of every query and point, in float64; for p = ∞ the largest |qⱼ − tⱼ|.

    >>> Q, T = np.zeros((1, 2)), np.array([[3.0, 4.0]])
    >>> [float(minkowski_sums(p, Q, T)[0, 0]) for p in (1, 2, np.inf)]
    [7.0, 25.0, 4.0]
    """
    total = np.zeros((Q.shape[0], T.shape[0]))
    many = total.size * Q.shape[1] > _PLAIN_WORK or p not in (1, 2, np.inf)  # NumPy's powers have other last bits
    if many and compilation_enabled():
        columns = np.ascontiguousarray(T.T, dtype=np.float64)
        add_terms(float(p), np.ascontiguousarray(Q, dtype=np.float64), columns, total)
    else:
        _add_terms_plainly(p, Q, T, total)
    return total


def _add_terms_plainly(p: float, Q: np.ndarray, T: np.ndarray, total: np.ndarray) -> None:
    gap = np.empty_like(total)
    for j in range(Q.shape[1]):
        np.subtract(Q[:, j, None], T[:, j], out=gap, dtype=np.float64)
        np.abs(gap, out=gap)
        if p == np.inf:
            np.maximum(total, gap, out=total)
            continue
        if p != 1:
            np.power(gap, p, out=gap)
        total += gap
