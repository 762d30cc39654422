"""Sums over all points within a radius: whole nodes of a tree are added at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances.trees import _radius
from learnt.distances.trees._bounds import workspace_for
from learnt.distances.trees._index import TreeIndex
from learnt.engine.threads import for_blocks

_QUERIES = 256  # of a task
_COLUMNS = 64  # of a table whose sums are kept for every node


class BallSums:
    """Sums over the points of a tree within a radius; the cost of a large ball is that of its surface.

    Each point has a row of the table, the one of its index or `rows[index]`. Sums are those of nodes and then of
    leaves, so that they differ by rounding errors from sums in order of the index, and do not depend on threads.
    """

    def __init__(self, index: TreeIndex, table: np.ndarray, rows: np.ndarray | None = None) -> None:
        self._index, self._table = index, np.ascontiguousarray(table, dtype=np.float64)
        order = index.tree.order
        self._rows = order if rows is None else rows[order].astype(np.int64, copy=False)
        self._node_sums = node_sums(index.tree.starts, self._table, self._rows)

    def within(self, Q: np.ndarray, radius: float, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The number of points at most `radius` away from each query, and the sums of their rows of the table."""
        m, tree = Q.shape[0], self._index.tree
        _, limits = self._index.limits(np.full(m, float(radius)))
        counts, totals = np.empty(m, dtype=np.int64), np.empty((m, self._table.shape[1]))

        def one(lo: int, hi: int) -> None:
            part = np.ascontiguousarray(Q[lo:hi], dtype=np.float64)
            _radius.sums_within(
                tree,
                workspace_for(tree),
                part,
                limits[lo:hi],
                self._table,
                self._rows,
                self._node_sums,
                counts[lo:hi],
                totals[lo:hi],
            )

        for_blocks(one, m, grain=_QUERIES, n_jobs=n_jobs)
        return counts, totals


def ball_sums(index: Any, table: np.ndarray) -> BallSums | None:
    """Sums over the points of an index, each of which has a row of the table; None where nodes do not help."""
    return BallSums(index, table) if _by_nodes(index, table.shape[1]) else None


def ball_votes(index: Any, codes: np.ndarray, n_classes: int) -> BallSums | None:
    """The same for the number of points of each class."""
    return BallSums(index, np.eye(n_classes), codes) if _by_nodes(index, n_classes) else None


def _by_nodes(index: Any, n_columns: int) -> bool:
    """Whether sums of whole nodes help: in trees that decide exactly which points are inside a radius."""
    return n_columns <= _COLUMNS and isinstance(index, TreeIndex) and index.limits(np.zeros(1))[0]


def node_sums(starts: np.ndarray, table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The sum of the rows of the table of each node's points; node i has the children 2i + 1 and 2i + 2.

    >>> node_sums(np.array([[0, 3], [0, 1], [1, 3]]), np.array([[1.0], [2.0], [4.0]]), np.array([2, 0, 1]))
    array([[7.],
           [4.],
           [3.]])
    """
    sums, first = np.zeros((starts.shape[0], table.shape[1])), starts.shape[0] // 2
    some = np.flatnonzero(starts[first:, 1] > starts[first:, 0])  # leaves of one point may be empty
    with np.errstate(over="ignore", invalid="ignore"):
        for c in range(table.shape[1]):
            sums[first + some, c] = np.add.reduceat(table[rows, c], starts[first + some, 0])
        while first > 0:
            below = sums[first : 2 * first + 1].reshape(-1, 2, table.shape[1])
            first //= 2
            sums[first : first + below.shape[0]] = below.sum(axis=1)
    return sums
