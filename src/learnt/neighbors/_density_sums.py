"""Sums of a kernel that never ends over all rows: every pair counts, so that a loop beats any search."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_QUERIES = 32  # of a task


@kernel
def _add_terms(gaussian, Q, columns, weights, h, smallest, squares, total, largest):
    """total[q] = Σₜ wₜ K(‖q − t‖ / h) over the largest K, whose logarithm is largest[q].

    Terms below e^(−smallest) of the largest do not change the sum. An empty array of weights stands for ones.
    """
    for q in range(Q.shape[0]):
        squares[:] = 0.0
        for j in range(Q.shape[1]):
            value, column = Q[q, j], columns[j]
            for t in range(squares.size):
                gap = value - column[t]
                squares[t] += gap * gap
        low = squares[0]
        for t in range(1, squares.size):
            low = min(low, squares[t])
        root = np.sqrt(low)
        largest[q] = -0.5 * (root / h) ** 2 if gaussian else -root / h
        end = low + 2.0 * smallest * h * h if gaussian else (root + smallest * h) ** 2
        found = 0.0
        for t in range(squares.size):
            if squares[t] <= end:
                gap = 0.5 * ((squares[t] - low) / h) / h if gaussian else (np.sqrt(squares[t]) - root) / h
                term = np.exp(-gap)
                found += term * weights[t] if weights.size else term
        total[q] = found


def sums_over_all_rows(
    kernel_name: str, Q: np.ndarray, T: np.ndarray, weights: np.ndarray | None, h: float, smallest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Σₜ wₜ K(‖q − t‖ / h) of each query relative to its largest K, and the logarithm of that."""
    columns = np.ascontiguousarray(T.T)
    given = np.empty(0) if weights is None else weights
    total, largest = np.empty(Q.shape[0]), np.empty(Q.shape[0])
    gaussian = kernel_name == "gaussian"

    def one(lo: int, hi: int) -> None:
        squares = np.empty(T.shape[0])
        _add_terms(gaussian, Q[lo:hi], columns, given, h, smallest, squares, total[lo:hi], largest[lo:hi])

    for_blocks(one, Q.shape[0], grain=_QUERIES)
    return total, largest
