"""algorithm="auto": brute force or a tree, chosen when queries come, since a tree has to pay for being built.

How many queries there will be is not known when points are given. So brute force answers until its work, by a formula,
passes that of building a tree. Among few features a formula says what a query of the tree costs. Among more, a tree is
built of an eighth of the points and of a 64th, and it is counted how many leaves some queries touch there: how this
grows tells it for the whole tree, whatever the dimension of the points. A tree takes over when it would have saved as
much as it costs. All of this is counted and not timed: the same queries get the same index on every machine.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from learnt.distances._metrics import BY_PRODUCTS, SAME
from learnt.distances._minkowski import POWERS
from learnt.distances.brute._index import BruteForce
from learnt.distances.trees._index import TreeIndex, tree_takes
from learnt.distances.trees._metric import metric_tree_takes
from learnt.engine.kernel import compilation_enabled

_FEWEST = 1000  # points below which brute force is as quick as anything
_LEAF = 24.0  # points of a leaf, on average
_FILLED = 5  # features up to which points are taken to fill the space
_PROBES = 16  # queries whose leaves are counted
_PROBING = 2.5e6  # nanoseconds of that, in a small table
_SHARES = (8, 64)  # of the points, in the trees of the sample
_LEAST = (512, 64)  # points of these trees, at least
_SINGLE = 4  # queries up to which brute force makes no products
_MANY = 50  # features from which a bound over a ball, of half the cost, is worth a dearer tree


def chosen_algorithm(points: Any, metric: Any, params: dict, algorithm: str) -> str:
    """The index for `Search.build`: the one asked for, or "auto", where the points and the metric allow it.

    Trees give way to brute force, whose answers are the same, for sparse rows and objects with a metric inside, balls
    for a name that is no true metric too. A KD-tree that cannot take the metric is an error of `Search.build`.
    """
    if algorithm == "kd_tree":
        return "kd_tree" if isinstance(points, np.ndarray) and not hasattr(metric, "pairwise") else "brute"
    if algorithm == "ball_tree":
        takes = tree_takes(points, metric, params) or metric_tree_takes(points, metric, params)
        return "ball_tree" if takes else "brute"
    return algorithm


class Choice:
    """Points without an index at first; `index_for` gives the one that answers queries."""

    def __init__(self, points: Any, metric: Any, params: dict, leaf_size: int, n_jobs: int | None) -> None:
        self._points, self._metric, self._params = points, metric, params
        self._leaf_size, self._n_jobs = leaf_size, n_jobs
        self.index: BruteForce | TreeIndex = BruteForce(points, metric, params)
        self._open = points.shape[0] >= _FEWEST and tree_takes(points, metric, params) and compilation_enabled()
        self._asked, self._spent = 0, 0.0
        self._leaves: dict[int, float] = {}
        self._lock = threading.Lock()

    def index_for(self, queries: Any, k: int) -> BruteForce | TreeIndex:
        """The index that answers these queries and k neighbours of each; None are the points themselves."""
        if not self._open:
            return self.index
        queries = self._points if queries is None else queries
        with self._lock:
            if self._open and isinstance(queries, np.ndarray):
                self._weigh(queries, k)
            return self.index

    def _weigh(self, queries: np.ndarray, k: int) -> None:
        (n, d), m = self._points.shape, queries.shape[0]
        build = build_work(n, d)
        self._asked += m
        self._spent += brute_work(n, d, m, k, self._cost_of_a_pair())
        if d <= _FILLED:
            leaves = leaves_of_a_ball(d, k)
        elif m and self._spent > 1.25 * build + _PROBING:
            leaves = self._leaves_touched(queries, k)
        else:
            return
        search = self._asked * query_work(n, d, leaves, k, alone=m <= _SINGLE)
        boxes = build + search
        # A tree of balls costs two thirds more, and saves two fifths of each query.
        balls = 1.65 * build + 0.6 * search if d >= _MANY else math.inf
        if self._spent > min(boxes, balls):
            self.index = TreeIndex(
                self._points, self._metric, self._params, self._leaf_size, self._n_jobs, balls=balls < boxes
            )
            self._open = False

    def _cost_of_a_pair(self) -> float | None:
        """Nanoseconds for each feature of a pair; None where distances come from products."""
        metric = SAME.get(self._metric, self._metric)
        if metric in BY_PRODUCTS:
            return None
        return 0.6 if metric in POWERS else 20.0

    def _leaves_touched(self, queries: np.ndarray, k: int) -> float:
        """How many leaves of a tree over all points a query would touch."""
        if k not in self._leaves:
            n = self._points.shape[0]
            probes = queries[:: max(1, queries.shape[0] // _PROBES)][:_PROBES]
            sizes = [min(n, max(n // share, least)) for share, least in zip(_SHARES, _LEAST, strict=True)]
            many, few = (self._leaves_of_sample(size, probes, k) for size in sizes)
            growth = math.log(max(many / few, 1.0)) / math.log(sizes[0] / sizes[1])
            self._leaves[k] = many * (n / sizes[0]) ** min(growth, 1.0)
        return self._leaves[k]

    def _leaves_of_sample(self, size: int, probes: np.ndarray, k: int) -> float:
        """The mean number of leaves that are no farther from a probe than its k-th neighbour among some points."""
        sample = np.ascontiguousarray(self._points[:: self._points.shape[0] // size][:size])
        index = TreeIndex(sample, self._metric, self._params, int(_LEAF), 1)
        farthest = np.empty(len(probes))

        def keep(lo: int, hi: int, distances: np.ndarray, _: np.ndarray) -> None:
            farthest[lo:hi] = distances[:, -1]

        index.nearest(probes, min(k, size), keep, 1)
        return max(index.leaves_within(probes, farthest) / len(probes), 1.0)


def leaves_of_a_ball(d: int, k: int) -> float:
    """How many leaves a ball with k points touches, of points that fill d dimensions.

    A leaf is a cube of edge 1, and such a ball has the radius r with V rᵈ = k / leaf; the cube around it touches
    (1 + 2r)ᵈ leaves, the ball a few less.
    """
    volume = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)
    radius = math.exp((math.log(k / _LEAF) - volume) / d)
    return (1.0 + 2.0 * radius) ** d


# Nanoseconds, fitted to benchmarks/auto_choice.py.


def build_work(n: int, d: int) -> float:
    """Of a KD-tree."""
    return n * math.log2(max(n / _LEAF, 2.0)) * (6.0 + 2.1 * d)


def query_work(n: int, d: int, leaves: float, k: int, *, alone: bool) -> float:
    """Of a query by a KD-tree: the way down, its leaves, and the list of the nearest; twice as much for few at once,
    whose leaves are not in the processor's caches yet."""
    leaf = (4.0 if alone else 2.0 if n * d > 1 << 22 else 1.0) * (100.0 + 11.0 * d)
    return 400.0 + 20.0 * math.log2(n) + min(leaves, n / _LEAF) * leaf + k * (20.0 + min(k, 50) * 1.6)


def brute_work(n: int, d: int, m: int, k: int, pair: float | None) -> float:
    """Of m queries by brute force."""
    if pair is not None:
        return m * (4000.0 + n * (0.7 + pair * d) + 100.0 * k)
    if m <= _SINGLE:
        return m * (50e3 + n * (4.0 + 0.6 * d))
    return 4e5 + n * (45.0 + 6.0 * k) + m * (1200.0 + 330.0 * k + n * (0.36 + 0.022 * d))
