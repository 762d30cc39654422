"""Brute-force search, done well: one door for every metric and every kind of rows.

    search = BruteSearch(T, "euclidean")
    search.query(Q, k, consume)          # consume(lo, hi, distances, index) for blocks of queries, from several threads

What follows a search (votes, means, graphs) is done block by block in `consume`; no table of queries × rows is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import compilation_enabled
from learnt.engine.threads import for_blocks
from learnt.neighbors import _metrics
from learnt.neighbors._direct import euclidean_neighbors, metric_neighbors
from learnt.neighbors._products import Consume, product_neighbors
from learnt.neighbors._select import smallest

# Multiplications up to which plain NumPy answers before compiled code would be loaded; and so few queries that rounding
# the training rows would cost more than it saves.
_PLAIN_WORK = 1_000_000
_FEW_QUERIES = 4


class BruteSearch:
    """The k nearest rows of T by comparison with all of them; exact, and of equal distances the first rows."""

    def __init__(self, T: Any, metric: Any = "euclidean", params: dict | None = None) -> None:
        self.T, self.metric = T, _metrics.SAME.get(metric, metric) if isinstance(metric, str) else metric
        self.params = _metrics.learned_params(self.metric, params or {}, T)

    def query(self, Q: Any, k: int, consume: Consume, n_jobs: int | None = None) -> None:
        """Distances in the metric's own units, ascending, and row numbers (int64)."""
        T: Any = self.T
        if self._is("precomputed"):
            _from_distances(Q, k, consume, n_jobs)
            return
        if sparse.issparse(T) or sparse.issparse(Q):
            Q, T = _same_kind(Q, T)
        elif self._is(*_metrics.BY_PRODUCTS):
            self._products(Q, k, consume, n_jobs)
            return

        def finished(lo: int, hi: int, D: np.ndarray, index: np.ndarray) -> None:
            consume(lo, hi, self._finish(D), index)

        metric_neighbors(self._matrix(sparse.issparse(T)), T, Q, k, finished, n_jobs)

    def within(self, Q: Any, radius: float, n_jobs: int | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each query, the distances and numbers of all rows at most `radius` away, in order of the rows."""
        T: Any = self.T
        given = self._is("precomputed")
        if given and sparse.issparse(Q):
            return [_stored_within(Q, i, radius) for i in range(Q.shape[0])]
        if not given and (sparse.issparse(T) or sparse.issparse(Q)):
            Q, T = _same_kind(Q, T)
        distances = _given if given else self._matrix(sparse.issparse(T))
        limit = radius * radius if self._is("euclidean") else radius

        def one(lo: int, hi: int) -> list[tuple[np.ndarray, np.ndarray]]:
            D = distances(Q[lo:hi], T)
            found = [np.flatnonzero(row <= limit) for row in D]
            return [(self._finish(row[index]), index) for row, index in zip(D, found, strict=True)]

        grain = max(1, (1 << 20) // T.shape[0])
        return [pair for block in for_blocks(one, Q.shape[0], grain=grain, n_jobs=n_jobs) for pair in block]

    def _is(self, *names: str) -> bool:
        return isinstance(self.metric, str) and self.metric in names

    def _finish(self, D: np.ndarray) -> np.ndarray:
        """From what `_matrix` gives to distances."""
        return np.sqrt(D) if self._is("euclidean") else D

    def _matrix(self, is_sparse: bool) -> Any:
        """The function of (queries, rows) that gives a matrix of distances; squared ones for "euclidean"."""
        if is_sparse and self._is("euclidean", "sqeuclidean"):
            return _metrics.sparse_scores
        if is_sparse and self._is("cosine"):
            return _metrics.sparse_cosine
        if self._is("euclidean"):
            return _metrics.distance_function("sqeuclidean", {})
        return _metrics.distance_function(self.metric, self.params)

    def _products(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        T, cosine = self.T, self._is("cosine")
        if cosine:
            Q, T = unit_rows(Q, T)
        few = Q.shape[0] <= _FEW_QUERIES or Q.shape[0] * T.size <= _PLAIN_WORK
        # Candidates only pay while they are much fewer than the rows.
        plain = few or 4 * k > T.shape[0] or not compilation_enabled()
        search = euclidean_neighbors if plain else product_neighbors

        def finished(lo: int, hi: int, squared: np.ndarray, index: np.ndarray) -> None:
            consume(lo, hi, 0.5 * squared if cosine else self._finish(squared), index)

        search(T, Q, k, finished, n_jobs)


def _given(D: Any, _: Any) -> Any:
    return D


def _stored_within(graph: Any, i: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    entries = slice(graph.indptr[i], graph.indptr[i + 1])
    inside = graph.data[entries] <= radius
    return graph.data[entries][inside], graph.indices[entries][inside].astype(np.int64)


def unit_rows(Q: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by their lengths: half the squared distance of two of them is their cosine distance.

    A row of zeros has no direction; two more columns put it at cosine distance 1 from everything.

    >>> q, t = unit_rows(np.array([[2.0, 0.0]]), np.array([[0.0, 3.0], [0.0, 0.0]]))
    >>> 0.5 * ((q - t) ** 2).sum(axis=1)
    array([1., 1.])
    """
    lengths = [np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)) for X in (Q, T)]
    zeros = [length == 0 for length in lengths]
    more = 2 if any(zero.any() for zero in zeros) else 0
    units = []
    for side, (X, length, zero) in enumerate(zip((Q, T), lengths, zeros, strict=True)):
        unit = np.zeros((X.shape[0], X.shape[1] + more), dtype=X.dtype)
        np.divide(X, np.where(zero, 1.0, length)[:, None], out=unit[:, : X.shape[1]], casting="same_kind")
        if more:
            unit[zero, X.shape[1] + side] = 1.0
        units.append(unit)
    return units[0], units[1]


def _same_kind(Q: Any, T: Any) -> tuple[Any, Any]:
    """Both as CSR: what is dense came beside sparse rows."""
    return tuple(X if sparse.issparse(X) else sparse.csr_array(X) for X in (Q, T))


def _from_distances(D: Any, k: int, consume: Consume, n_jobs: int | None) -> None:
    """Neighbours from distances that are already there: a matrix, or a sparse graph of those that were kept."""
    if not sparse.issparse(D):
        grain = max(1, (1 << 20) // D.shape[1])
        for_blocks(lambda lo, hi: consume(lo, hi, *smallest(D[lo:hi], k)), D.shape[0], grain=grain, n_jobs=n_jobs)
        return
    fewest = int(np.diff(D.indptr).min(initial=k))
    if fewest < k:
        raise ValueError(
            f"{k} neighbors per samples are required, but some samples have only {fewest} neighbors in the precomputed "
            "graph; ask for fewer, or make the graph with more."
        )
    for i in range(D.shape[0]):
        entries = slice(D.indptr[i], D.indptr[i + 1])
        columns, values = D.indices[entries].astype(np.int64), D.data[entries]
        order = np.lexsort((columns, values))[:k]
        consume(i, i + 1, values[order][None], columns[order][None])
