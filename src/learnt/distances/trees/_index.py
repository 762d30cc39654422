"""Trees over points: boxes split at the median of the widest feature (KD-tree), or balls along their longest axis."""

from __future__ import annotations

import threading
from itertools import chain
from typing import Any

import numpy as np

from learnt.distances._metrics import SAME
from learnt.distances._minkowski import POWERS, root
from learnt.distances._neighborhoods import Neighborhoods, Order
from learnt.distances._select import Consume
from learnt.distances.trees import _build, _kernels, _radius
from learnt.distances.trees._bounds import Tree, workspace_for
from learnt.engine.threads import for_blocks

METRICS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski")
_TOP = 4  # levels whose nodes are tasks of their own; below, a task is a whole subtree
_SMALL = 4096  # points up to which a tree is one task, and queries are not put in order
_QUERIES = 256  # of a task, at least
_PAIRS = 1 << 15  # that are found before they are put in order: as many as stay in a core's own memory


class TreeIndex:
    """A balanced tree over points (dense, in C order): leaves of at most `leaf_size` points, all on one level."""

    def __init__(
        self,
        T: np.ndarray,
        metric: str,
        params: dict,
        leaf_size: int = 32,
        n_jobs: int | None = None,
        *,
        balls: bool = False,
    ) -> None:
        self.metric = metric = SAME.get(metric, metric)
        p = float({"euclidean": 2.0, "sqeuclidean": 2.0, **POWERS}.get(metric, params.get("p") or 2))
        n, d = T.shape
        levels = 1
        while n > leaf_size << (levels - 1):
            levels += 1
        n_nodes, n_leaves = (1 << levels) - 1, 1 << (levels - 1)
        # Sums by `**` are right to some units in the last place; of balls every sum is rounded in its own way.
        slack = 0.0 if p in (1.0, 2.0, np.inf) else 1e-12
        if balls:
            slack = max(slack, 4.0 * (d + 8) * float(np.finfo(np.float64).eps))
        starts = np.zeros((n_nodes, 2), dtype=np.int64)
        starts[0] = 0, n
        self.tree = tree = Tree(
            order=np.empty(n, dtype=np.int64),
            starts=starts,
            nodes=np.zeros((n_nodes, 2, d)),
            radii=np.empty(n_nodes if balls else 0),
            ends=np.zeros((n_nodes if balls else 0, 2)),
            cells=np.full((n_leaves, d, _places(-(-n // n_leaves))), np.inf),
            p=p,
            slack=slack,
            reach=float(np.sqrt(np.einsum("ij,ij->i", T, T, dtype=np.float64).max())) if balls and n else 0.0,
        )
        rows, order = np.empty((2, n, d)), np.empty((2, n), dtype=np.int64)
        rows[0], order[0] = T, np.arange(n)
        top = 0 if n <= _SMALL else min(_TOP, levels - 1)
        for level in range(top + 1):
            first, depth = (1 << level) - 1, levels - top if level == top else 1

            def split(lo: int, hi: int, level: int = level, first: int = first, depth: int = depth) -> None:
                for node in range(first + lo, first + hi):
                    _build.split_nodes(tree, rows, order, node, level, depth)

            for_blocks(split, 1 << level, grain=1, n_jobs=n_jobs)
        if balls:
            tree.radii[:] = root(tree.radii, p)
        else:
            _join_boxes(tree.nodes)

    def nearest(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets the k nearest points of blocks of queries."""

        def one(lo: int, hi: int) -> None:
            part = _wide(Q[lo:hi])
            sums, index = np.empty((hi - lo, k)), np.empty((hi - lo, k), dtype=np.int64)
            _kernels.nearest_points(
                self.tree, workspace_for(self.tree), part, self._query_order(part), False, sums, index
            )
            consume(lo, hi, self._finish(sums), index)

        for_blocks(one, Q.shape[0], grain=min(max(_QUERIES, Q.shape[0] // 32), 8 * _QUERIES), n_jobs=n_jobs, apart=True)

    def nearest_others(self, points: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and indices of the k nearest other points of each point, searched leaf by leaf."""
        wide, n = _wide(points), self.tree.order.size
        distances, index = np.empty((n, k)), np.empty((n, k), dtype=np.int64)

        def one(lo: int, hi: int) -> None:
            _kernels.nearest_points(
                self.tree, workspace_for(self.tree), wide, self.tree.order[lo:hi], True, distances, index
            )

        def finish(lo: int, hi: int) -> None:
            distances[lo:hi] = self._finish(distances[lo:hi])

        for_blocks(one, n, grain=min(max(_QUERIES, n // 32), 8 * _QUERIES), n_jobs=n_jobs, apart=True)
        for_blocks(finish, n, grain=8 * _QUERIES, n_jobs=n_jobs)
        return distances, index

    def within(
        self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """The points at most `radii[i]` away from query i, block by block."""
        exact, limits = self.limits(radii)
        limits = np.ascontiguousarray(limits)  # one radius for all is repeated without steps
        memory = threading.local()

        def one(lo: int, hi: int) -> list[Neighborhoods]:
            if not hasattr(memory, "index"):
                size = min(_PAIRS, self.tree.order.size)
                memory.index, memory.sums = np.empty(size, dtype=np.int64), np.empty(size)
                memory.workspace = workspace_for(self.tree)
            part, counts = _wide(Q[lo:hi]), np.empty(hi - lo, dtype=np.int64)
            first, parts = 0, []
            while first < hi - lo:
                sums = memory.sums if distances or not exact else memory.sums[:0]
                n, stop = _radius.points_within(
                    self.tree, memory.workspace, part, limits[lo:hi], first, hi - lo, counts, memory.index, sums
                )
                if stop == first:  # one query alone has more
                    size = min(2 * memory.index.size, self.tree.order.size)
                    memory.index, memory.sums = np.empty(size, dtype=np.int64), np.empty(size)
                    continue
                found = Neighborhoods(counts[first:stop], memory.index[:n], self._finish(sums[:n]))
                if not exact:
                    found = found.without(found.distances > radii[lo + first : lo + stop][found.query])
                parts.append(_placed(found, order))
                first = stop
            return parts

        return list(chain.from_iterable(for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs, apart=True)))

    def leaves_within(self, Q: np.ndarray, radii: np.ndarray) -> int:
        """How many leaves of a tree of boxes are at most a radius away from its query, over all queries."""
        boxes, p = self.tree.nodes[self.tree.nodes.shape[0] // 2 :], self.tree.p
        Q = _wide(Q)[:, None, :]
        gaps = np.maximum(np.maximum(boxes[:, 0] - Q, Q - boxes[:, 1]), 0.0)
        with np.errstate(over="ignore"):
            sums = gaps.max(axis=2) if p == np.inf else (gaps**p).sum(axis=2)
        return int(np.count_nonzero(self._finish(sums) <= radii[:, None]))

    def counts(self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """How many points are within each of `radii` (one row for all queries or one for each, ascending)."""
        exact, limits = self.limits(radii)
        out = np.empty((Q.shape[0], radii.shape[1]), dtype=np.int64)

        def one(lo: int, hi: int) -> None:
            rows = limits if len(limits) == 1 else limits[lo:hi]
            _radius.count_within(
                self.tree, workspace_for(self.tree), _wide(Q[lo:hi]), np.ascontiguousarray(rows), out[lo:hi]
            )

        if not exact:
            for r in range(radii.shape[1]):
                parts = self.within(Q, np.broadcast_to(radii[:, r], Q.shape[:1]), n_jobs, order="any")
                out[:, r] = np.concatenate([part.counts for part in parts])
        else:
            for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs, apart=True)
        return out

    def _query_order(self, Q: np.ndarray) -> np.ndarray:
        """Queries sorted by their leaves, so that consecutive ones read the same memory."""
        if self.tree.order.size <= _SMALL or Q.shape[0] == 1:
            return np.arange(Q.shape[0])
        leaves = np.empty(Q.shape[0], dtype=np.int64)
        _kernels.nearest_leaves(self.tree, Q, leaves)
        return np.argsort(leaves, kind="stable")

    def limits(self, radii: np.ndarray) -> tuple[bool, np.ndarray]:
        """Which sums of powers belong to distances within the radii, and whether that is so to the last bit."""
        p = self.tree.p
        if p in (1.0, np.inf) or self.metric == "sqeuclidean":
            return True, radii
        with np.errstate(over="ignore"):
            if p != 2.0:
                return False, np.power(radii, p) * (1.0 + 1e-14 + 2e-12)
            limits = np.square(radii)
        # The largest number whose square root, rounded, is not above the radius.
        for _ in range(4):
            more = np.nextafter(limits, np.inf)
            limits = np.where(np.sqrt(more) <= radii, more, limits)
        return True, np.where(radii < 0, -1.0, limits)

    def _finish(self, sums: np.ndarray) -> np.ndarray:
        return sums if self.metric == "sqeuclidean" else root(sums, self.tree.p)


def box_tree(
    points: np.ndarray, *, leaf_size: int = 16, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The boxes of a KD-tree: the order of the points, the range of each node in it, its lower and upper corner.

    Children of node i are 2i + 1 and 2i + 2; the leaves, of at most `leaf_size` points, are all on one level.

    >>> order, ranges, boxes = box_tree(np.array([[3.0], [0.0], [2.0], [1.0]]), leaf_size=2)
    >>> ranges.tolist(), boxes[1:, :, 0].tolist()
    ([[0, 4], [0, 2], [2, 4]], [[0.0, 1.0], [2.0, 3.0]])
    """
    tree = TreeIndex(points, "euclidean", {}, leaf_size, n_jobs).tree
    return tree.order, tree.starts, tree.nodes


def _join_boxes(nodes: np.ndarray) -> None:
    """Boxes of all nodes from those of the leaves, level by level."""
    first = nodes.shape[0] // 2
    while first > 0:
        below = nodes[first : 2 * first + 1].reshape(-1, 2, *nodes.shape[1:])
        first //= 2
        level = nodes[first : first + below.shape[0]]
        np.minimum(below[:, 0, 0], below[:, 1, 0], out=level[:, 0])
        np.maximum(below[:, 0, 1], below[:, 1, 1], out=level[:, 1])


def _placed(found: Neighborhoods, order: Order) -> Neighborhoods:
    """Neighbours in arrays of their own, in this order."""
    if found.indices.size and order != "any":
        return found.by_index() if order == "index" else found.nearest_first()
    return found._replace(indices=found.indices.copy(), distances=found.distances.copy())


def _places(points: int) -> int:
    """Places of a leaf: a multiple of four unless it is small, so that all sums are made four at a time."""
    return points if points < 8 else -(-points // 4) * 4


def _wide(Q: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(Q, dtype=np.float64)


def tree_takes(points: Any, metric: Any, params: dict) -> bool:
    """Whether boxes can bound the distances: those of Minkowski, without weights, between dense rows."""
    plain = isinstance(metric, str) and SAME.get(metric, metric) in METRICS and params.get("w") is None
    return plain and (params.get("p") or 2) >= 1 and isinstance(points, np.ndarray)
