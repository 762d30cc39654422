"""Sums of kernels over rows: of those near enough to count, or where a kernel never ends by a loop over all rows."""

from __future__ import annotations

import numpy as np

from learnt.distances import Search
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.neighbors._density_kernels import COMPACT, NEGLIGIBLE, log_of_largest, reach, relative_shape

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
    columns = np.ascontiguousarray(T.T, dtype=np.float64)
    given = np.empty(0) if weights is None else weights
    total, largest = np.empty(Q.shape[0]), np.empty(Q.shape[0])
    gaussian = kernel_name == "gaussian"

    def one(lo: int, hi: int) -> None:
        squares = np.empty(T.shape[0])
        _add_terms(gaussian, Q[lo:hi], columns, given, h, smallest, squares, total[lo:hi], largest[lo:hi])

    for_blocks(one, Q.shape[0], grain=_QUERIES)
    return total, largest


def log_sums(
    search: Search, kernel_name: str, Q: np.ndarray, weights: np.ndarray | None, h: float, euclidean: bool
) -> np.ndarray:
    """log Σₜ wₜ K(distance(q, t) / h) of each query; −∞ where a kernel that ends reaches no point."""
    n = search.points.shape[0]
    lightest, total = (1.0, float(n)) if weights is None else (float(weights.min()), float(weights.sum()))
    smallest = NEGLIGIBLE + np.log(total / lightest)
    if euclidean and kernel_name not in COMPACT:
        sums, largest = sums_over_all_rows(kernel_name, Q, search.points, weights, h, smallest)
    else:
        sums, largest = _sums_by_search(search, kernel_name, Q, weights, h, smallest)
    with np.errstate(divide="ignore"):
        return np.log(sums) + largest


def _sums_by_search(
    search: Search, kernel_name: str, Q: np.ndarray, weights: np.ndarray | None, h: float, smallest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The sums over the points that are near enough to count, relative to the largest K, and the log of that."""
    nearest = np.zeros(Q.shape[0]) if kernel_name in COMPACT else search.nearest(Q, 1)[0][:, 0]
    largest = log_of_largest(kernel_name, nearest, h)
    sums = np.empty(Q.shape[0])
    for lo, hi, found in search.within_blocks(Q, reach(kernel_name, nearest, h, smallest)):
        query = found.query
        terms = relative_shape(kernel_name, found.distances, h, largest[lo:hi][query])
        sums[lo:hi] = np.bincount(query, terms if weights is None else terms * weights[found.indices], hi - lo)
    return sums, largest
