"""The one neighbour search: points, a metric and an index, built once for any number of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from learnt.distances._approximate import METRICS as GRAPH_METRICS
from learnt.distances._approximate import ApproximateIndex
from learnt.distances._choice import Choice
from learnt.distances._metrics import SAME, resolve_metric, warn_of_negative
from learnt.distances._neighborhoods import Neighborhoods, Order, array_of_distances, array_of_indices, joined
from learnt.distances._precomputed import Precomputed
from learnt.distances._select import Consume
from learnt.distances.brute._index import BruteForce
from learnt.distances.trees._ball_sums import BallSums, ball_sums, ball_votes
from learnt.distances.trees._index import METRICS, TreeIndex, tree_takes
from learnt.distances.trees._metric import METRICS as BALL_METRICS
from learnt.distances.trees._metric import MetricTree, metric_tree_takes

# The most pairs that a block of queries should find, and the fewest queries of a block.
_PAIRS, _FEWEST = 1 << 21, 256
_USUAL = 10  # neighbours that a query within a radius is expected to have, where it is asked which index pays


class Index(Protocol):
    """A data structure for neighbour search. Several threads answer blocks of queries.

    Every index gives the same answers to the last bit: distances are those of the metric's formula in float64, summed
    in order of the features, and of equal distances the smaller index comes first.
    """

    def nearest(self, Q: Any, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets the k nearest points of blocks of queries; the last answer to a query counts."""

    def within(
        self, Q: Any, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """The points at most `radii[i]` away from query i: one entry for each block of consecutive queries.

        Where distances are not asked for, or neighbours in any order, an index need not make them.
        """


class Search:
    """Neighbour search among points.

        search = Search.build(points, "manhattan")
        distances, index = search.nearest(queries, k)
        found = search.within(queries, radius)          # found.counts, found.indices, found.distances

    Queries that are None are the points themselves, none of which is its own neighbour. Distances are float64 and those
    of the formula; of equal ones the smaller index comes first; any number of threads gives the same bits. A search can
    be pickled; it is built again when it is read.
    """

    def __init__(self, points: Any, index: Index, arguments: tuple, choice: Choice | None = None) -> None:
        self.points, self._index, self._arguments, self._choice = points, index, arguments, choice

    @staticmethod
    def build(
        points: Any,
        metric: Any = "euclidean",
        params: dict | None = None,
        *,
        algorithm: str = "brute",
        leaf_size: int = 32,
        n_jobs: int | None = None,
    ) -> Search:
        """Prepare points (dense rows in C order or CSR, checked) for queries.

        Parameters
        ----------
        points : array or CSR matrix of shape (n, d); for "precomputed" the distances (n, n) of points to each other
        metric : a name of `METRIC_NAMES`, a function of two rows, or an object with a method `pairwise`
        params : more parameters of the metric, by name
        algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}
            "auto" counts building and queries together, and builds a tree when it pays. The answers of the first four
            are the same.
        leaf_size : points of a leaf of a tree
        n_jobs : threads that build a tree
        """
        params = dict(params or {})
        arguments = (metric, params, algorithm, leaf_size)
        metric, params = resolve_metric(SAME.get(metric, metric) if isinstance(metric, str) else metric, 2, params)
        if isinstance(metric, str) and metric == "precomputed":
            return Search(points, Precomputed(points), arguments)
        if algorithm == "kd_tree":
            if not tree_takes(points, metric, params):
                raise ValueError(
                    f"{_shown(metric)} is an invalid metric for a KD-tree, which searches dense rows by "
                    f"{', '.join(METRICS)} with p >= 1 and without weights; use algorithm='auto'."
                )
            return Search(points, TreeIndex(points, metric, params, leaf_size, n_jobs), arguments)
        if algorithm == "ball_tree":
            if tree_takes(points, metric, params):
                return Search(points, TreeIndex(points, metric, params, leaf_size, n_jobs, balls=True), arguments)
            if not metric_tree_takes(points, metric, params):
                raise ValueError(
                    f"A ball tree searches dense rows by a metric, which obeys the triangle inequality "
                    f"({', '.join(BALL_METRICS)} with p >= 1, or a function), and not by {_shown(metric)} here; use "
                    "algorithm='brute'."
                )
            return Search(points, MetricTree(BruteForce(points, metric, params), leaf_size), arguments)
        if algorithm == "auto" and isinstance(metric, str):
            choice = Choice(points, metric, params, leaf_size, n_jobs)
            return Search(points, choice.index, arguments, choice)
        brute = BruteForce(points, metric, params)
        if algorithm == "approximate":
            dense = isinstance(points, np.ndarray) and params.get("w") is None
            if not (dense and isinstance(metric, str) and metric in GRAPH_METRICS):
                raise ValueError(
                    f"Approximate search is by {', '.join(GRAPH_METRICS)} between dense rows without weights, and not "
                    f"by {_shown(metric)} here; use algorithm='auto'."
                )
            return Search(points, ApproximateIndex(brute), arguments)
        if callable(metric):
            warn_of_negative(metric, params, points)
        return Search(points, brute, arguments)

    @property
    def recall(self) -> float | None:
        """The share of neighbours that an approximate search finds, measured on a sample; None for an exact one."""
        return self._index.recall if isinstance(self._index, ApproximateIndex) else None

    def added(self, points: Any) -> Search:
        """A search over these points, which are the old ones and then more.

        Brute force has nothing to build, a graph is extended by the new points, trees are built anew when they pay.
        """
        metric, params, algorithm, leaf_size = self._arguments
        if isinstance(self._index, ApproximateIndex):
            self._index.add(BruteForce(points, self._index.metric, {}))
            return Search(points, self._index, self._arguments)
        return Search.build(points, metric, params, algorithm=algorithm, leaf_size=leaf_size)

    def __reduce__(self) -> Any:
        return _rebuild, (self.points, *self._arguments)

    def expect(self, queries: Any, k: int = _USUAL) -> Index:
        """The index that these queries, and k neighbours of each, are worth; it is built now if it was not before."""
        if self._choice is not None:
            self._index = self._choice.index_for(queries, k)
        return self._index

    def nearest(self, queries: Any, k: int, *, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and indices of the k nearest points of each query, both of shape (n_queries, k), nearest first."""
        index = self.expect(queries, k)
        if queries is None and isinstance(index, TreeIndex):
            return index.nearest_others(self.points, k, n_jobs)
        m = (self.points if queries is None else queries).shape[0]
        distances, rows = np.empty((m, k)), np.empty((m, k), dtype=np.int64)

        def consume(lo: int, hi: int, found: np.ndarray, those: np.ndarray) -> None:
            distances[lo:hi], rows[lo:hi] = found, those

        self._in_blocks(index, queries, k, consume, n_jobs)
        return distances, rows

    def nearest_blocks(self, queries: Any, k: int, consume: Consume, *, n_jobs: int | None = None) -> None:
        """`consume(lo, hi, distances, index)` for queries lo…hi−1, from several threads, while the search goes on.

        What follows a search (votes, means) is done there, and no table of queries × k is kept. A query may be answered
        twice: the last answer counts.
        """
        self._in_blocks(self.expect(queries, k), queries, k, consume, n_jobs)

    def _in_blocks(self, index: Index, queries: Any, k: int, consume: Consume, n_jobs: int | None) -> None:
        if queries is not None:
            index.nearest(queries, k, consume, n_jobs)
            return

        def others(lo: int, hi: int, distances: np.ndarray, rows: np.ndarray) -> None:
            # One more neighbour was searched for; leave out the point itself, or the last where ties pushed the point
            # out.
            own = rows == np.arange(lo, hi)[:, None]
            own[~own.any(axis=1), -1] = True
            consume(lo, hi, distances[~own].reshape(hi - lo, k), rows[~own].reshape(hi - lo, k))

        index.nearest(self.points, k + 1, others, n_jobs)

    def within(
        self,
        queries: Any,
        radius: float | np.ndarray,
        *,
        nearest_first: bool = False,
        distances: bool = True,
        ordered: bool = True,
        n_jobs: int | None = None,
    ) -> Neighborhoods:
        """All points at most `radius` (one number, or one for each query) away from each query.

        In order of their index, or if asked for nearest first. Trees answer sooner where no distances are wanted, or
        neighbours in any order.
        """
        order: Order = "distance" if nearest_first else "index" if ordered else "any"
        index = self.expect(queries)
        return joined(self._parts_within(index, queries, radius, distances or nearest_first, order, n_jobs))

    def arrays_within(
        self,
        queries: Any,
        radius: float | np.ndarray,
        *,
        nearest_first: bool = False,
        distances: bool = True,
        n_jobs: int | None = None,
    ) -> Any:
        """The same as arrays of arrays, one for each query: distances, if they are wanted, and indices."""
        order: Order = "distance" if nearest_first else "index"
        index = self.expect(queries)
        parts = self._parts_within(index, queries, radius, distances or nearest_first, order, n_jobs)
        indices = array_of_indices(parts)
        return (array_of_distances(parts), indices) if distances else indices

    def _parts_within(
        self,
        index: Index,
        queries: Any,
        radius: float | np.ndarray,
        distances: bool,
        order: Order,
        n_jobs: int | None,
    ) -> list[Neighborhoods]:
        Q = self.points if queries is None else queries
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (Q.shape[0],))
        parts = index.within(Q, radii, n_jobs, distances=distances, order=order)
        if queries is not None:
            return parts
        firsts = np.cumsum([0, *(part.counts.size for part in parts)])
        return [part.without(part.indices == part.query + first) for part, first in zip(parts, firsts, strict=False)]

    def count_within(self, queries: Any, radii: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """How many points are at most `radii[q, r]` away from query q, (n_queries × radii).

        `radii` has one row for each query or one for all, ascending. Trees count whole nodes.
        """
        index = self.expect(queries)
        if isinstance(index, TreeIndex):
            return index.counts(queries, radii, n_jobs)
        out = np.empty((queries.shape[0], radii.shape[1]), dtype=np.int64)
        for r in range(radii.shape[1]):
            limits = np.broadcast_to(radii[:, r], queries.shape[:1])
            for lo, hi, found in self.within_blocks(queries, limits, n_jobs=n_jobs):
                out[lo:hi, r] = found.counts
        return out

    def ball_sums(self, table: np.ndarray) -> BallSums | None:
        """What the points' rows of a table add up to within a radius; None where the search is not by a tree (yet)."""
        return ball_sums(self._index, table)

    def ball_votes(self, codes: np.ndarray, n_classes: int) -> BallSums | None:
        """How many points of each class are within a radius, in the same way."""
        return ball_votes(self._index, codes, n_classes)

    def within_blocks(
        self,
        queries: Any,
        radius: float | np.ndarray,
        *,
        distances: bool = True,
        ordered: bool = True,
        n_jobs: int | None = None,
    ) -> Iterator[tuple[int, int, Neighborhoods]]:
        """`within` for queries lo…hi−1, block after block, so that never all pairs are held at once."""
        index, rows = self.expect(queries), self.points if queries is None else queries
        m = rows.shape[0]
        order: Order = "index" if ordered else "any"
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (m,))
        lo, size = 0, _FEWEST
        while lo < m:
            hi = min(lo + size, m)
            found = joined(self._parts_within(index, rows[lo:hi], radii[lo:hi], distances, order, n_jobs))
            each = max(1.0, found.indices.size / (hi - lo))
            if queries is None:
                found = found.without(found.indices == found.query + lo)
            yield lo, hi, found
            lo, size = hi, max(_FEWEST, int(min(_PAIRS / each, 16 * size)))


def _rebuild(points: Any, metric: Any, params: dict, algorithm: str, leaf_size: int) -> Search:
    return Search.build(points, metric, params, algorithm=algorithm, leaf_size=leaf_size)


def _shown(metric: Any) -> str:
    return repr(metric) if isinstance(metric, str) else "a function"
