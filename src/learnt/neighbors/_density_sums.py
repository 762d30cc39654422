"""Sums of kernels over rows: of those near enough to count, or where a kernel never ends by a loop over all rows."""

from __future__ import annotations

import numpy as np

from learnt.distances import Search
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.linalg.exponential import exp_nonpositive
from learnt.neighbors._density_kernels import COMPACT, NEGLIGIBLE, log_of_largest, reach, relative_shape

_NARROWEST = 1e-300  # bandwidth whose inverse is a number
_QUERIES = 32  # of a task


@kernel(reassociate=True)
def _add_exponentials(gaussian, squares, weights, low, h):
    """Σₜ wₜ K(√squaresₜ / h) / K(√low / h), without a branch: terms that do not count are made as well."""
    total, root, unit = 0.0, np.sqrt(low), 1.0 / max(h, _NARROWEST)
    for t in range(squares.size):
        gap = 0.5 * ((low - squares[t]) * unit) * unit if gaussian else (root - np.sqrt(squares[t])) * unit
        squares[t] = exp_nonpositive(gap)
    if weights.size:
        for t in range(squares.size):
            total += weights[t] * squares[t]
    else:
        for t in range(squares.size):
            total += squares[t]
    return total


@kernel
def _add_terms(gaussian, Q, columns, weights, h, squares, total, largest):
    """total[q] = Σₜ wₜ K(‖q − t‖ / h) over the largest K, whose logarithm is largest[q].

    An empty array of weights stands for ones.
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
        largest[q] = -0.5 * (np.sqrt(low) / h) ** 2 if gaussian else -np.sqrt(low) / h
        total[q] = _add_exponentials(gaussian, squares, weights, low, h)


def sums_over_all_rows(
    kernel_name: str, Q: np.ndarray, T: np.ndarray, weights: np.ndarray | None, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Σₜ wₜ K(‖q − t‖ / h) of each query relative to its largest K, and the logarithm of that."""
    columns = np.ascontiguousarray(T.T, dtype=np.float64)
    given = np.empty(0) if weights is None else weights
    total, largest = np.empty(Q.shape[0]), np.empty(Q.shape[0])
    gaussian = kernel_name == "gaussian"

    def one(lo: int, hi: int) -> None:
        squares = np.empty(T.shape[0])
        _add_terms(gaussian, Q[lo:hi], columns, given, h, squares, total[lo:hi], largest[lo:hi])

    for_blocks(one, Q.shape[0], grain=_QUERIES)
    return total, largest


def log_sums(
    search: Search, kernel_name: str, Q: np.ndarray, weights: np.ndarray | None, h: float, euclidean: bool
) -> np.ndarray:
    """log Σₜ wₜ K(distance(q, t) / h) of each query; −∞ where a kernel with compact support reaches no point."""
    n = search.points.shape[0]
    lightest, total = (1.0, float(n)) if weights is None else (float(weights.min()), float(weights.sum()))
    smallest = NEGLIGIBLE + np.log(total / lightest)
    if euclidean and kernel_name not in COMPACT:
        sums, largest = sums_over_all_rows(kernel_name, Q, search.points, weights, h)
    elif kernel_name == "tophat" and weights is None:  # the points nearer than h: distance / h < 1
        sums, largest = search.count_within(Q, np.full((1, 1), np.nextafter(h, 0.0)))[:, 0], np.zeros(Q.shape[0])
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
