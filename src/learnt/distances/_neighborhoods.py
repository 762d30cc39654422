"""All points within a radius: as many for each query as there are, in three flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Neighborhoods(NamedTuple):
    """The first `counts[0]` entries of `indices` and `distances` are the neighbours of query 0, and so on.

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

    def nearest_first(self) -> Neighborhoods:
        """Each query's neighbours by distance, equal ones by their index."""
        order = np.lexsort((self.indices, self.distances, self.query))
        return self._replace(indices=self.indices[order], distances=self.distances[order])

    def without(self, entries: np.ndarray) -> Neighborhoods:
        """Leave out the entries where the mask is true."""
        counts = self.counts - np.bincount(self.query[entries], minlength=self.counts.size)
        return Neighborhoods(counts, self.indices[~entries], self.distances[~entries])

    def lists(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """One array of distances and one of indices for each query."""
        cuts = self.starts[1:-1]
        return np.split(self.distances, cuts), np.split(self.indices, cuts)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """`lists` as arrays of arrays, which is how scikit-learn answers."""
        out = np.empty((2, self.counts.size), dtype=object)
        for kind, parts in enumerate(self.lists()):
            for i, part in enumerate(parts):
                out[kind, i] = part
        return out[0], out[1]


def joined(parts: Sequence[Neighborhoods]) -> Neighborhoods:
    """Those of several blocks of queries, one after the other."""
    if not parts:
        return Neighborhoods(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    counts, indices, distances = zip(*parts, strict=True)
    return Neighborhoods(*(np.concatenate(part) for part in (counts, indices, distances)))
