"""Approximate search by a graph of near points (HNSW, the library `voyager`), with its recall measured.

The graph gives candidates; their distances are the formula's, and of equal ones the smaller index comes first. It is
built on one thread, since with several it would depend on their timing. All points within a radius are found by brute
force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances._neighborhoods import Neighborhoods, Order
from learnt.distances._rounding import square_distances
from learnt.distances._select import Consume, in_order
from learnt.distances.brute._index import BruteForce, unit_rows, zero_rows
from learnt.engine.threads import for_blocks

METRICS = ("euclidean", "sqeuclidean", "cosine")
RECALL = 0.95  # at least, on the sample
_LINKS, _BUILDING = 16, 100  # links of a point of the graph, and candidates while it is built
_TRIED, _NEIGHBORS = 200, 10  # queries of the sample, and neighbours compared for each
_QUERIES = 256  # of a task
_CELLS = 1 << 18


class ApproximateIndex:
    """Points in a graph. `effort` is how many candidates a query keeps: doubled until the recall is `RECALL`."""

    def __init__(self, brute: BruteForce) -> None:
        try:
            from voyager import Index, Space
        except ImportError:
            raise ImportError(
                "algorithm='approximate' searches with the package voyager, which is not installed: pip install "
                "'learnt[ann]', or use another algorithm."
            ) from None
        self._brute, self._cosine = brute, brute.metric == "cosine"
        self._origin = 0.0 if self._cosine else brute.T.mean(axis=0, dtype=np.float64)
        self._graph = Index(
            Space.Euclidean,
            num_dimensions=brute.T.shape[1],
            M=_LINKS,
            ef_construction=_BUILDING,
            random_seed=1,
            max_elements=brute.T.shape[0],
        )
        self._scale = 1.0 if self._cosine else 1.0 / (float(np.abs(brute.T - self._origin).max()) or 1.0)
        self._graph.add_items(self._rounded(brute.T), num_threads=1)
        self.effort = 64
        self.recall = self._measured()

    @property
    def metric(self) -> Any:
        return self._brute.metric

    def add(self, brute: BruteForce) -> None:
        """Add points: `brute` has the old ones followed by the new."""
        old, self._brute = self._brute.T.shape[0], brute
        self._graph.add_items(self._rounded(brute.T[old:]), num_threads=1)
        self.recall = self._measured()

    def nearest(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets about the k nearest points of blocks of queries."""
        if 2 * k >= self._brute.T.shape[0]:
            self._brute.nearest(Q, k, consume, n_jobs)
            return
        T = self._exact(self._brute.T)
        nowhere = zero_rows(T) if self._cosine else np.zeros(0, dtype=bool)

        def one(lo: int, hi: int) -> None:
            index = self._candidates(Q[lo:hi], k)
            squared = np.empty(index.shape)
            step = max(1, _CELLS // (k * T.shape[1]))
            rows = self._exact(Q[lo:hi])
            for first in range(0, hi - lo, step):
                part = slice(first, first + step)
                squared[part] = square_distances(T[index[part]], rows[part, None, :])
            distances = 0.5 * squared if self._cosine else self._brute.finish(squared)
            if self._cosine:  # a row of zeros has no direction: it is at distance 1 from everything
                distances[nowhere[index] | zero_rows(rows)[:, None]] = 1.0
            consume(lo, hi, *in_order(distances, index))

        for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs)

    def within(
        self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """All points at most `radii[i]` away from query i, exactly."""
        return self._brute.within(Q, radii, n_jobs, order=order)

    def _candidates(self, Q: np.ndarray, k: int) -> np.ndarray:
        effort = max(self.effort, 2 * k)
        index, _ = self._graph.query(self._rounded(Q), k=k, num_threads=1, query_ef=effort)
        return index.astype(np.int64)

    def _measured(self) -> float:
        """The share of a sample's nearest points that the search finds, with as much effort as `RECALL` needs."""
        T = self._brute.T
        n = T.shape[0]
        k = min(_NEIGHBORS, n - 1)
        if 2 * (k + 1) >= n:
            return 1.0
        Q = np.ascontiguousarray(T[:: -(-n // _TRIED)])
        truth = np.empty((Q.shape[0], k + 1), dtype=np.int64)

        def keep(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            truth[lo:hi] = index

        self._brute.nearest(Q, k + 1, keep, None)
        while True:
            found = self._candidates(Q, k + 1)
            # Every query is a point: it finds itself, which is not counted.
            hits = sum(np.intersect1d(a, b).size for a, b in zip(found, truth, strict=True)) - Q.shape[0]
            recall = max(0.0, hits / (k * Q.shape[0]))
            if recall >= RECALL or self.effort >= n:
                return min(recall, 1.0)
            self.effort = min(2 * self.effort, n)

    def _exact(self, X: np.ndarray) -> np.ndarray:
        return unit_rows(X, False, 0) if self._cosine else X

    def _rounded(self, X: np.ndarray) -> np.ndarray:
        rows = self._exact(X) if self._cosine else (X - self._origin) * self._scale
        return np.ascontiguousarray(rows, dtype=np.float32)
