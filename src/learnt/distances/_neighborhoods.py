"""All points within a radius: as many for each query as there are, in three flat arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from learnt.distances._sort_kernels import BUCKETS, order_by_index, sort_by_index, sort_each

Order = Literal["index", "distance", "any"]  # of a query's neighbours: by index, nearest first, or as they were found
_MANY = 16  # with fewer points for each neighbour, a pass over all points is quicker than sorting


class Neighborhoods(NamedTuple):
    """The first `counts[0]` entries of `indices` and `distances` are the neighbours of query 0, and so on.

    `distances` are empty where they were not asked for.

    >>> found = Neighborhoods(np.array([2, 0, 1]), np.array([4, 7, 4]), np.array([0.5, 0.1, 0.3]))
    >>> found.starts
    array([0, 2, 2, 3])
    >>> found.nearest_first().indices
    array([7, 4, 4])
    """

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where the neighbours of each query begin, and the end: the row pointer of a CSR matrix."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @property
    def query(self) -> np.ndarray:
        """The number of the query that each entry belongs to."""
        return np.repeat(np.arange(self.counts.size), self.counts)

    def by_index(self) -> Neighborhoods:
        """Each query's neighbours in order of their index."""
        if not self.indices.size:
            return self
        points = int(self.indices.max()) + 1
        if _MANY * self.indices.size >= self.counts.size * points:
            order = np.empty(self.indices.size + 1, dtype=np.int64)
            order_by_index(self.starts, self.indices, np.full(points, -1), order)
            order = order[:-1]
            distances = self.distances[order] if self.distances.size else self.distances
            return self._replace(indices=self.indices[order], distances=distances)
        indices, distances = np.empty_like(self.indices), np.empty_like(self.distances)
        buckets = np.empty(BUCKETS * int(self.counts.max()) + 1, dtype=np.int32)
        sort_by_index(self.starts, self.indices, self.distances, buckets, indices, distances)
        return self._replace(indices=indices, distances=distances)

    def nearest_first(self) -> Neighborhoods:
        """Each query's neighbours by distance, equal ones by their index, whatever order they are in."""
        old, old_indices = self.distances.astype(np.float64, copy=False), self.indices.astype(np.int64, copy=False)
        distances, indices = np.empty_like(old), np.empty_like(old_indices)
        buckets = np.empty(BUCKETS * int(self.counts.max(initial=0)) + 1, dtype=np.int32)
        sort_each(self.starts, old, old_indices, buckets, distances, indices)
        return self._replace(indices=indices, distances=distances)

    def without(self, entries: np.ndarray) -> Neighborhoods:
        """Leave out the entries where the mask is true."""
        counts = self.counts - np.bincount(self.query[entries], minlength=self.counts.size)
        remaining = ~entries
        return Neighborhoods(
            counts, self.indices[remaining], self.distances[remaining] if self.distances.size else self.distances
        )

    def lists(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """One array of distances and one of indices for each query."""
        cuts = self.starts[1:-1]
        return np.split(self.distances, cuts), np.split(self.indices, cuts)


def array_of_distances(parts: Sequence[Neighborhoods]) -> np.ndarray:
    """The distances of each query, an array of arrays as scikit-learn returns them; blocks are not joined."""
    return _each_query([(part.distances, part.starts) for part in parts])


def array_of_indices(parts: Sequence[Neighborhoods]) -> np.ndarray:
    """The indices of each query, an array of arrays."""
    return _each_query([(part.indices, part.starts) for part in parts])


def _each_query(parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    views = [values[lo:hi] for values, starts in parts for lo, hi in itertools.pairwise(starts.tolist())]
    return np.fromiter(views, dtype=object, count=len(views))


def joined(parts: Sequence[Neighborhoods]) -> Neighborhoods:
    """Concatenate the results of several blocks of queries."""
    if not parts:
        return Neighborhoods(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    if len(parts) == 1:
        return parts[0]
    counts, indices, distances = zip(*parts, strict=True)
    return Neighborhoods(*(np.concatenate(part) for part in (counts, indices, distances)))
