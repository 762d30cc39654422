"""A ball tree by any metric: balls about means, traversed by blocks of queries with matrices of distances.

It only needs the triangle inequality of a metric: a point of a ball of radius r about c is at least distance(q, c) − r
away. Distances are those of brute force, pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.distances._metrics import SAME
from learnt.distances._neighborhoods import Neighborhoods, Order
from learnt.distances._select import Consume, in_order
from learnt.distances.brute._index import BruteForce
from learnt.engine.threads import for_blocks

METRICS = (
    *("canberra", "chebyshev", "euclidean", "hamming", "haversine", "jaccard", "mahalanobis", "manhattan", "minkowski"),
    *("rogerstanimoto", "russellrao", "seuclidean", "sokalsneath"),
)
_QUERIES = 512  # of a task
_ROUNDING = 1e-8  # relative rounding error of a metric
_TRIED = 16  # points whose triangles are tested


class _Ball(NamedTuple):
    points: np.ndarray  # where they are in T
    center: np.ndarray
    radius: float
    parts: tuple[_Ball, _Ball] | None


class MetricTree:
    """Points in nested balls. `brute` knows the metric and its parameters."""

    def __init__(self, brute: BruteForce, leaf_size: int) -> None:
        self.T, self.leaf_size = brute.T, leaf_size
        matrix = brute.matrix()
        self.distances: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda Q, T: brute.finish(matrix(Q, T))
        if not isinstance(brute.metric, str):
            require_triangles(self.distances, self.T)
        self.root = self._ball(np.arange(self.T.shape[0]))

    def _ball(self, points: np.ndarray) -> _Ball:
        rows = self.T[points]
        center = rows.mean(axis=0, dtype=np.float64, keepdims=True)
        far = self.distances(rows, center)[:, 0]
        radius = float(far.max())
        if points.size <= self.leaf_size:
            return _Ball(points, center, radius, None)
        to_one = self.distances(rows, rows[[far.argmax()]])[:, 0]
        to_other = self.distances(rows, rows[[to_one.argmax()]])[:, 0]
        order = np.argsort(to_other - to_one, kind="stable")
        one, other = (self._ball(np.sort(points[half])) for half in np.split(order, [points.size // 2]))
        return _Ball(points, center, radius, (one, other))

    def _least(self, ball: _Ball, Q: np.ndarray) -> np.ndarray:
        """No point of the ball is nearer to the queries."""
        distance = self.distances(Q, ball.center)[:, 0]
        return distance - ball.radius - _ROUNDING * (distance + ball.radius)

    def nearest(self, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
        """`consume` gets the k nearest points of blocks of queries."""

        def one(lo: int, hi: int) -> None:
            part = Q[lo:hi]
            best, index = np.full((hi - lo, k), np.inf), np.full((hi - lo, k), self.T.shape[0])

            def visit(ball: _Ball, who: np.ndarray, least: np.ndarray) -> None:
                who = who[~(least > best[who, -1])]  # where a bound is not a number, look
                if not who.size:
                    return
                if ball.parts is None:
                    D = self.distances(part[who], self.T[ball.points])
                    rows = np.hstack([index[who], np.broadcast_to(ball.points, D.shape)])
                    found, rows = in_order(np.hstack([best[who], D]), rows)
                    best[who], index[who] = found[:, :k], rows[:, :k]
                    return
                a, b = ball.parts
                bounds = self._least(a, part[who]), self._least(b, part[who])
                first = bounds[0] <= bounds[1]  # each query looks into the nearer ball first
                visit(a, who[first], bounds[0][first])
                visit(b, who[~first], bounds[1][~first])
                visit(b, who[first], bounds[1][first])
                visit(a, who[~first], bounds[0][~first])

            visit(self.root, np.arange(hi - lo), np.full(hi - lo, -np.inf))
            consume(lo, hi, best, index)

        for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs)

    def within(
        self, Q: np.ndarray, radii: np.ndarray, n_jobs: int | None, *, distances: bool = True, order: Order = "index"
    ) -> list[Neighborhoods]:
        """The points at most `radii[i]` away from query i, block by block."""

        def one(lo: int, hi: int) -> Neighborhoods:
            part, parts = Q[lo:hi], []

            def visit(ball: _Ball, who: np.ndarray) -> None:
                who = who[~(self._least(ball, part[who]) > radii[lo:hi][who])] if who.size else who
                if not who.size:
                    return
                if ball.parts is not None:
                    for half in ball.parts:
                        visit(half, who)
                    return
                D = self.distances(part[who], self.T[ball.points])
                query, at = np.nonzero(radii[lo:hi][who, None] >= D)
                parts.append((who[query], ball.points[at], D[query, at]))

            visit(self.root, np.arange(hi - lo))
            if not parts:
                return Neighborhoods(np.zeros(hi - lo, np.int64), np.zeros(0, np.int64), np.zeros(0))
            query, index, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            keys = (index, found, query) if order == "distance" else (index, query)
            places = np.lexsort(keys)
            return Neighborhoods(np.bincount(query, minlength=hi - lo), index[places], found[places])

        return for_blocks(one, Q.shape[0], grain=_QUERIES, n_jobs=n_jobs)


def require_triangles(distances: Callable[[np.ndarray, np.ndarray], np.ndarray], T: np.ndarray) -> None:
    """Refuse a function that violates the triangle inequality on some of the points."""
    rows = np.unique(np.linspace(0, T.shape[0] - 1, _TRIED).astype(np.int64))
    D = distances(T[rows], T[rows])
    tolerance = 1e-6 * float(np.abs(D).max(initial=0.0))
    detour = (D[:, :, None] + D[None, :, :]).min(axis=1)
    reason = None
    if not np.isfinite(D).all() or D.min() < 0:
        reason = "it gives distances that are negative or not finite"
    elif np.abs(np.diagonal(D)).max() > tolerance:
        reason = "a row is not at distance 0 from itself"
    elif np.abs(D - D.T).max() > tolerance:
        reason = "the distance from a row to another is not that back"
    elif (detour + tolerance < D).any():
        i, j = (int(rows[at]) for at in np.argwhere(detour + tolerance < D)[0])
        reason = f"from row {i} to row {j} it is nearer by way of a third row"
    if reason is not None:
        raise ValueError(
            f"The function given as metric is not a metric ({reason}), so that a ball tree would miss neighbours; use "
            "algorithm='brute'."
        )


def metric_tree_takes(points: Any, metric: Any, params: dict) -> bool:
    """Whether balls can bound the distances: those of a true metric between dense rows."""
    if not isinstance(points, np.ndarray) or np.isnan(points).any():
        return False
    if not isinstance(metric, str):
        return callable(metric) or hasattr(metric, "pairwise")
    return SAME.get(metric, metric) in METRICS and (params.get("p") or 2) >= 1
