"""Distances over the cells that two rows both have, and the nearest rows that have a missing cell.

    m(x, z) = mean of (xⱼ − zⱼ)² over the columns j that both have

The training rows are stored column by column: for one query, gaps in a column are a loop over rows side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel

_BLOCK = 512  # rows whose cells stay in the cache while a query passes


class Gaps(NamedTuple):
    """Missing cells of a block of queries, query by query: `start[i]` is the first of query i."""

    start: np.ndarray
    column: np.ndarray


class Donors(NamedTuple):
    """For each gap the nearest rows that have its column, the nearest first; `size` of them."""

    row: np.ndarray
    distance: np.ndarray
    size: np.ndarray


@kernel
def mean_squares(columns, whole, queries, D):
    """D[i, j]: the mean square of the gaps between query i and row j; NaN where they have no column in common."""
    d, n = columns.shape
    both = np.empty(_BLOCK)
    for lo in range(0, n, _BLOCK):
        hi = min(lo + _BLOCK, n)
        for i in range(queries.shape[0]):
            total = D[i, lo:hi]
            for r in range(hi - lo):
                total[r] = 0.0
                both[r] = 0.0
            everywhere = 0.0
            for c in range(d):
                x = queries[i, c]
                if x != x:
                    continue
                cells = columns[c, lo:hi]
                if whole[c]:
                    everywhere += 1.0
                    for r in range(hi - lo):
                        gap = cells[r] - x
                        total[r] += gap * gap
                else:
                    for r in range(hi - lo):
                        gap = cells[r] - x
                        known = gap == gap
                        total[r] += gap * gap if known else 0.0
                        both[r] += 1.0 if known else 0.0
            for r in range(hi - lo):
                shared = both[r] + everywhere
                total[r] = total[r] / max(shared, 1.0) if shared > 0.0 else np.nan


@kernel(allocates=False)
def keep_nearest(columns, D, gaps, donors):
    """The nearest rows that have the column of each gap; of rows equally far the first."""
    start, column = gaps
    row, distance, size = donors
    k = row.shape[1]
    for i in range(D.shape[0]):
        first, last = start[i], start[i + 1]
        limit = np.inf  # no gap of this query takes a row that is farther
        for j in range(D.shape[1]):
            far = D[i, j]
            if not far <= limit:
                continue
            limit = 0.0
            for g in range(first, last):
                full = size[g] == k
                cell = columns[column[g], j]
                if cell == cell and not (full and far >= distance[g, k - 1]):
                    place = k - 1 if full else size[g]
                    while place > 0 and distance[g, place - 1] > far:
                        distance[g, place], row[g, place] = distance[g, place - 1], row[g, place - 1]
                        place -= 1
                    distance[g, place], row[g, place] = far, j
                    size[g] = min(size[g] + 1, k)
                limit = max(limit, distance[g, k - 1] if size[g] == k else np.inf)


def donors_of(columns: np.ndarray, D: np.ndarray, gaps: Gaps, k: int) -> Donors:
    """The k nearest rows for each gap, by distances D of the queries; NaN and row 0 where there are fewer."""
    shape = (len(gaps.column), k)
    found = Donors(np.zeros(shape, np.int64), np.full(shape, np.nan), np.zeros(shape[0], np.int64))
    keep_nearest(columns, D, gaps, found)
    return found


def called_distances(metric: Callable, queries: np.ndarray, rows: np.ndarray, mark: Any) -> np.ndarray:
    """The caller's own function of two rows and what marks missing cells in them."""
    return np.array([[metric(x, z, missing_values=mark) for z in rows] for x in queries], dtype=np.float64)


def weighted_means(values: np.ndarray, distance: np.ndarray, weights: Any) -> np.ndarray:
    """The mean of each row of values by a function of distances, over those that are there; NaN if that has no sum."""
    there = ~np.isnan(distance)
    called = weights(distance) if callable(weights) else None
    if called is not None:
        w = np.array(called, dtype=np.float64)
        if w.shape != distance.shape:
            raise ValueError(
                f"The function given as weights returned an array of shape {w.shape} for distances of shape "
                f"{distance.shape}; it must return one weight for each distance."
            )
        w[np.isnan(w) | ~there] = 0.0
    elif weights == "distance":
        with np.errstate(divide="ignore"):
            w = np.where(there, 1.0 / distance, 0.0)
        equal = np.isinf(w)
        w = np.where(equal.any(axis=1, keepdims=True), equal, w)
    else:  # also where a function says None
        w = there.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (w * np.where(there, values, 0.0)).sum(axis=1) / w.sum(axis=1)
