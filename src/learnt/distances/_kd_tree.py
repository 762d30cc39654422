"""The KD-tree: points in boxes, split at the median of the feature that varies most."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import _tree_kernels
from learnt.distances._metrics import SAME
from learnt.distances._minkowski import POWERS, root
from learnt.distances._neighborhoods import Neighborhoods, joined
from learnt.distances._select import Consume
from learnt.engine.threads import for_blocks

METRICS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski")
_TOP = 4  # levels whose nodes are tasks of their own; below, a task is a whole subtree
_QUERIES = 256  # of a task


class KDTreeIndex:
    """A balanced tree over points (dense, in C order): nodes with boxes, leaves of at most `leaf_size` points."""

    def __init__(
        self, T: np.ndarray, metric: str, params: dict, leaf_size: int = 32, n_jobs: int | None = None
    ) -> None:
        self.metric = metric = SAME.get(metric, metric)
        self.p = float({"euclidean": 2.0, "sqeuclidean": 2.0, **POWERS}.get(metric, params.get("p") or 2))
        n, d = T.shape
        levels = 1
        while n > leaf_size << (levels - 1):
            levels += 1
        n_nodes = (1 << levels) - 1
        self.order = np.arange(n)
        self.starts = np.zeros((n_nodes, 2), dtype=np.int64)
        self.starts[0] = 0, n
        self.boxes = np.empty((n_nodes, 2, d))
        values = np.empty(n)
        top = min(_TOP, levels - 1)
        for level in range(top + 1):
            first, depth = (1 << level) - 1, levels - top if level == top else 1

            def split(lo: int, hi: int, first: int = first, depth: int = depth) -> None:
                for node in range(first + lo, first + hi):
                    _tree_kernels.split_nodes(T, self.order, values, self.starts, self.boxes, node, depth)

            for_blocks(split, 1 << level, grain=1, n_jobs=n_jobs)
        self.points = T[self.order]
        # Powers by `**` are right to some units in the last place, all else is rounded alike.
        self._doubt = 0.0 if self.p in (1.0, 2.0, np.inf) else 1e-12

    @property
    def _tree(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
        return self.points, self.order, self.starts, self.boxes, self.p

    def nearest(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets the k nearest points of blocks of queries."""

        def one(lo: int, hi: int) -> None:
            sums, index = np.empty((hi - lo, k)), np.empty((hi - lo, k), dtype=np.int64)
            _tree_kernels.nearest_points(*self._tree, 1.0 - self._doubt, Q[lo:hi], sums, index)
            consume(lo, hi, self._finish(sums), index)

        for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs)

    def within(self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None) -> Neighborhoods:
        """The points at most `radii[i]` away from query i, in order of their index."""
        power = 1.0 if self.p == np.inf or self.metric == "sqeuclidean" else self.p
        with np.errstate(over="ignore"):
            limits = np.power(radii, power) * (1.0 + 1e-14 + 2.0 * self._doubt)
        nothing = np.empty(0, dtype=np.int64), np.empty(0)

        def one(lo: int, hi: int) -> Neighborhoods:
            counts = np.empty(hi - lo, dtype=np.int64)
            part = self._tree, limits[lo:hi], Q[lo:hi], counts
            _tree_kernels.points_within(*part[0], *part[1:], *nothing)
            index, sums = np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum())
            if index.size:
                _tree_kernels.points_within(*part[0], *part[1:], index, sums)
            found = Neighborhoods(counts, index, self._finish(sums))
            found = found.without(found.distances > radii[lo:hi][found.query])
            order = np.lexsort((found.indices, found.query))
            return found._replace(indices=found.indices[order], distances=found.distances[order])

        return joined(for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs))

    def _finish(self, sums: np.ndarray) -> np.ndarray:
        return sums if self.metric == "sqeuclidean" else root(sums, self.p)


def tree_takes(points: Any, metric: Any, params: dict) -> bool:
    """Whether a KD-tree can search these points: its boxes bound Minkowski distances of dense rows."""
    plain = isinstance(metric, str) and SAME.get(metric, metric) in METRICS and params.get("w") is None
    return plain and (params.get("p") or 2) >= 1 and isinstance(points, np.ndarray)
