"""Brute force: every query is compared with every point, by any metric, on dense or sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from learnt.distances import _metrics
from learnt.distances._minkowski import root
from learnt.distances._neighborhoods import Neighborhoods, Order
from learnt.distances._rounding import square_distances_of_pairs
from learnt.distances._select import Consume, in_order
from learnt.distances.brute._direct import euclidean_neighbors, metric_neighbors
from learnt.distances.brute._product_radius import Pairs, product_pairs
from learnt.distances.brute._products import product_neighbors
from learnt.distances.brute._rounded_points import RoundedPoints
from learnt.engine.cached import cached_property
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import Route, route
from learnt.engine.threads import for_blocks

# Multiplications up to which NumPy is done before compiled code would be loaded, and the number of queries up to which
# rounding the points costs more than it saves.
_PLAIN_WORK = 1_000_000
_FEW_QUERIES = 4
_CELLS = 1 << 20  # distances that a task holds
_TINY = 1e-300  # more than squares lose by underflow


class BruteForce:
    """Points that every query is compared with. What queries need of them is computed once and cached."""

    def __init__(self, T: Any, metric: Any, params: dict) -> None:
        self.T, self.metric = T, _metrics.SAME.get(metric, metric) if isinstance(metric, str) else metric
        self.params = _metrics.learned_params(self.metric, params, T)
        self._weighted = self.params.get("w") is not None
        self._rounded: dict[bool, RoundedPoints] = {}

    def nearest(self, Q: Any, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets distances in the metric's own units, ascending, and indices (int64), block by block."""
        T: Any = self.T
        if sparse.issparse(T) or sparse.issparse(Q):
            Q, T = _same_kind(Q, T)
        elif self._is(*_metrics.BY_PRODUCTS) and not self._weighted:
            self._by_products(Q, k, consume, n_jobs)
            return

        def finished(lo: int, hi: int, D: np.ndarray, index: np.ndarray) -> None:
            consume(lo, hi, self.finish(D), index)

        metric_neighbors(self.matrix(sparse.issparse(T)), T, Q, k, finished, n_jobs)

    def within(
        self, Q: Any, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """All points at most `radii[i]` away from query i, block by block."""
        T: Any = self.T
        if sparse.issparse(T) or sparse.issparse(Q):
            Q, T = _same_kind(Q, T)
        elif self._is(*_metrics.BY_PRODUCTS) and not self._weighted:
            return self._squares_within(Q, radii, n_jobs, order)
        matrix = self.matrix(sparse.issparse(T))

        def one(lo: int, hi: int) -> Neighborhoods:
            D = self.finish(matrix(Q[lo:hi], T))
            inside = radii[lo:hi, None] >= D
            found = Neighborhoods(np.count_nonzero(inside, axis=1), np.nonzero(inside)[1], D[inside])
            return found.nearest_first() if order == "distance" else found

        return for_blocks(one, Q.shape[0], grain=max(1, _CELLS // T.shape[0]), n_jobs=n_jobs)

    def _is(self, *names: str) -> bool:
        return isinstance(self.metric, str) and self.metric in names

    def finish(self, D: np.ndarray) -> np.ndarray:
        """Turn the values of `matrix` into distances."""
        if self._is("minkowski") and not self._weighted:
            return root(D, self.params.get("p") or 2)
        return np.sqrt(D) if self._is("euclidean") and not self._weighted else D

    def matrix(self, is_sparse: bool = False) -> Any:
        """The function of (queries, rows) that gives distances; their p-th powers for "euclidean" and "minkowski"."""
        if is_sparse and self._is("euclidean", "sqeuclidean"):
            return _metrics.sparse_scores
        if is_sparse and self._is("cosine"):
            return _metrics.sparse_cosine
        if self._is("euclidean") and not self._weighted:
            return _metrics.distance_function("sqeuclidean", {})
        return _metrics.distance_function(self.metric, self.params)

    def _by_products(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        finished: Consume
        if self._is("cosine"):
            no_direction = zero_rows(Q)
            zeros = bool(self._zero_points.any() or no_direction.any())
            Q, points = unit_rows(Q, zeros, 0), self._points(zeros)

            def finished(lo: int, hi: int, squared: np.ndarray, index: np.ndarray) -> None:
                distances = 0.5 * squared
                if zeros:  # a row of zeros is at exactly 1 from everything
                    distances[self._zero_points[index]] = 1.0
                    distances[no_direction[lo:hi]] = 1.0
                    index = np.where(no_direction[lo:hi, None], np.arange(k), index)
                    distances, index = in_order(distances, index)
                consume(lo, hi, distances, index)

        else:
            points = self._points(False)

            def finished(lo: int, hi: int, squared: np.ndarray, index: np.ndarray) -> None:
                consume(lo, hi, self.finish(squared), index)

        n, size = points.T.shape[0], points.T.size
        few = Q.shape[0] <= _FEW_QUERIES or Q.shape[0] * size <= _PLAIN_WORK
        # Candidates only pay while they are much fewer than the points.
        if few or 4 * k > n or not compilation_enabled():
            euclidean_neighbors(points.T, Q, k, finished, n_jobs)
        else:
            product_neighbors(points, Q, k, finished, n_jobs)

    def _squares_within(
        self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None, order: Order
    ) -> list[Neighborhoods]:
        """`within` by squared distances: candidates are computed as `nearest` does."""
        cosine, no_direction = self._is("cosine"), np.zeros(Q.shape[0], dtype=bool)
        if cosine:
            no_direction = zero_rows(Q)
            zeros = bool(self._zero_points.any() or no_direction.any())
            Q, points = unit_rows(Q, zeros, 0), self._points(zeros)
        else:
            zeros, points = False, self._points(False)
        T = points.T
        limits = 2.0 * radii if cosine else np.square(radii) if self._is("euclidean") else radii
        limits = limits * (1.0 + 8.0 * (T.shape[1] + 4) * float(np.finfo(np.float64).eps)) + _TINY

        def inside(found: Pairs) -> Neighborhoods:
            lo, hi, counts, index, squared = found
            query = np.repeat(np.arange(hi - lo), counts)
            distances = 0.5 * squared if cosine else self.finish(squared)
            if zeros:
                distances[no_direction[lo:hi][query] | self._zero_points[index]] = 1.0
            near = radii[lo:hi][query] >= distances
            inner = Neighborhoods(np.bincount(query[near], minlength=hi - lo), index[near], distances[near])
            return inner.nearest_first() if order == "distance" else inner

        def by_differences(lo: int, hi: int) -> Neighborhoods:
            query, index = np.nonzero(limits[lo:hi, None] >= cdist(Q[lo:hi], T, "sqeuclidean"))
            counts = np.bincount(query, minlength=hi - lo)
            return inside(Pairs(lo, hi, counts, index, square_distances_of_pairs(Q[lo:hi], T, query, index)))

        if Q.shape[0] <= _FEW_QUERIES or Q.shape[0] * T.size <= _PLAIN_WORK or not compilation_enabled():
            return for_blocks(by_differences, Q.shape[0], grain=max(1, _CELLS // T.shape[0]), n_jobs=n_jobs)
        return product_pairs(points, Q, limits, inside, n_jobs)

    def _points(self, zeros: bool) -> RoundedPoints:
        """The points that products are made with; for the cosine, divided by their lengths."""
        if zeros not in self._rounded:
            T = unit_rows(self.T, zeros, 1) if self._is("cosine") else self.T
            self._rounded[zeros] = RoundedPoints(T)
        return self._rounded[zeros]

    @cached_property
    def _zero_points(self) -> np.ndarray:
        return zero_rows(self.T)


def distance_function(X: Any, metric: Any, params: dict | None = None) -> Callable[[Any, Any], np.ndarray]:
    """The function that gives all distances between two sets of the rows X, of which the metric learns what it needs.

    >>> X = np.array([[0.0, 0.0], [1.0, 3.0]])
    >>> distance_function(X, "chebyshev")(X[:1], X)
    array([[0., 3.]])
    """
    metric = _metrics.SAME.get(metric, metric) if isinstance(metric, str) else metric
    brute = BruteForce(X, *_metrics.resolve_metric(metric, 2, params))
    matrix = brute.matrix(route(X) is Route.SPARSE)
    return lambda Q, T: brute.finish(matrix(Q, T))


def unit_rows(X: np.ndarray, zeros: bool, side: int) -> np.ndarray:
    """Rows divided by their lengths: half the squared distance of two of them is their cosine distance.

    A row of zeros has no direction. Where queries (side 0) or points (side 1) have such rows, two more columns put
    these at cosine distance 1 from everything.

    >>> q = unit_rows(np.array([[2.0, 0.0]]), True, 0)
    >>> t = unit_rows(np.array([[0.0, 3.0], [0.0, 0.0]]), True, 1)
    >>> 0.5 * ((q - t) ** 2).sum(axis=1)
    array([1., 1.])
    """
    length = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    zero = length == 0
    unit = np.zeros((X.shape[0], X.shape[1] + 2 * zeros), dtype=X.dtype)
    np.divide(X, np.where(zero, 1.0, length)[:, None], out=unit[:, : X.shape[1]], casting="same_kind")
    if zeros:
        unit[zero, X.shape[1] + side] = 1.0
    return unit


def zero_rows(X: np.ndarray) -> np.ndarray:
    """Which rows consist of zeros."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64) == 0


def _same_kind(Q: Any, T: Any) -> tuple[Any, Any]:
    """Both as CSR, where one of them is sparse."""
    return tuple(X if sparse.issparse(X) else sparse.csr_array(X) for X in (Q, T))
