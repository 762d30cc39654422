"""Given distances: a matrix of queries × points, or a sparse graph of some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances._neighborhoods import Neighborhoods, Order
from learnt.distances._select import Consume, smallest
from learnt.engine.threads import for_blocks

_CELLS = 1 << 20


class Precomputed:
    """Queries are rows of distances, one column for each point; the points' own are the matrix `T`."""

    def __init__(self, T: Any) -> None:
        self.T = T

    def nearest(self, D: Any, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets distances, ascending, and indices, block by block."""
        if not sparse.issparse(D):
            grain = max(1, _CELLS // D.shape[1])
            for_blocks(lambda lo, hi: consume(lo, hi, *smallest(D[lo:hi], k)), D.shape[0], grain=grain, n_jobs=n_jobs)
            return
        fewest = int(np.diff(D.indptr).min(initial=k))
        if fewest < k:
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only {fewest} neighbors in the "
                "precomputed graph; ask for fewer, or make the graph with more."
            )
        for i in range(D.shape[0]):
            entries = slice(D.indptr[i], D.indptr[i + 1])
            columns, values = D.indices[entries].astype(np.int64), D.data[entries]
            order = np.lexsort((columns, values))[:k]
            consume(i, i + 1, values[order][None], columns[order][None])

    def within(
        self, D: Any, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """All points at most `radii[i]` away from query i, in order of the points, or of the graph's entries."""
        if sparse.issparse(D):
            query = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
            inside = D.data <= radii[query]
            counts = np.bincount(query[inside], minlength=D.shape[0])
            found = Neighborhoods(counts, D.indices[inside].astype(np.int64), D.data[inside])
            return [found.nearest_first() if order == "distance" else found]

        def one(lo: int, hi: int) -> Neighborhoods:
            inside = radii[lo:hi, None] >= D[lo:hi]
            found = Neighborhoods(np.count_nonzero(inside, axis=1), np.nonzero(inside)[1], D[lo:hi][inside])
            return found.nearest_first() if order == "distance" else found

        return for_blocks(one, D.shape[0], grain=max(1, _CELLS // D.shape[1]), n_jobs=n_jobs)
