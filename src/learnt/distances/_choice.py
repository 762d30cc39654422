"""Which way to look: the one that was asked for, or the one that will be quickest, judged from a sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.distances._brute import BruteForce
from learnt.distances._dimension import dimension_sums
from learnt.distances._metric_tree import metric_tree_takes
from learnt.distances._metrics import BY_PRODUCTS, SAME
from learnt.distances._trees import tree_takes

_ROWS, _QUERIES = 4096, 160  # of the sample
_FEWEST = 1000  # points below which brute force is as quick as anything
_LEAF = 24.0  # points of a leaf, on average
_ASKED = 0.25  # queries for each point that a tree is built for
_MOST = 32.0  # dimensions above which no tree is worth while


def chosen_algorithm(points: Any, metric: Any, params: dict, algorithm: str, k: int = 10) -> str:
    """The index to build: "brute", "kd_tree", "ball_tree" or "approximate".

    Trees give way to brute force, whose answers are the same, for sparse rows and objects with a metric inside, balls
    for a name that is no true metric too. A KD-tree that cannot take the metric is an error of `Search.build`.
    """
    if algorithm == "kd_tree":
        return "kd_tree" if isinstance(points, np.ndarray) and not hasattr(metric, "pairwise") else "brute"
    if algorithm == "ball_tree":
        takes = tree_takes(points, metric, params) or metric_tree_takes(points, metric, params)
        return "ball_tree" if takes else "brute"
    if algorithm == "approximate":
        return algorithm
    if algorithm != "auto" or not tree_takes(points, metric, params) or points.shape[0] < _FEWEST:
        return "brute"
    n, d = points.shape
    products = SAME.get(metric, metric) in BY_PRODUCTS
    brute = brute_work(n, d, products)
    if tree_work(n, d, 1.0, k) > brute:  # not even along a line
        return "brute"
    if tree_work(n, d, float(d), k) < brute:  # even if they fill the space
        return "kd_tree"
    return "kd_tree" if tree_work(n, d, measured_dimension(points), k) < brute else "brute"


def measured_dimension(points: np.ndarray) -> float:
    """The intrinsic dimension at the scale of the nearest neighbours, from an even sample of the points."""
    n = points.shape[0]
    sample = np.ascontiguousarray(points[:: -(-n // _ROWS)], dtype=np.float64)
    queries = sample[:: max(1, sample.shape[0] // min(_QUERIES, sample.shape[0] // 8))]
    nearest = np.zeros((queries.shape[0], 3))

    def consume(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
        nearest[lo:hi] = distances

    BruteForce(sample, "euclidean", {}).nearest(queries, 3, consume, None)  # the first is the point itself
    apart = nearest[nearest[:, 1] > 0]
    return dimension_sums(apart[:, 1], apart[:, 2]).estimate if apart.shape[0] >= 16 else 1.0


def tree_work(n: int, d: int, dimension: float, k: int) -> float:
    """Nanoseconds of a query by a KD-tree, about: its share of the building, the leaves that a ball with k
    points touches, and the way to them.

    In `dimension` dimensions a leaf is a cube of edge 1 and such a ball has the radius r with V rᵈ = k / leaf.
    """
    m = min(max(dimension, 1.0), _MOST)
    ball = 0.5 * m * math.log(math.pi) - math.lgamma(0.5 * m + 1.0)
    radius = math.exp((math.log(k / _LEAF) - ball) / m)
    leaves = min(n / _LEAF, math.exp(m * math.log1p(2.0 * radius)))
    build = math.log2(max(n / _LEAF, 2.0)) * (30.0 + 6.5 * d) / _ASKED
    look = leaves * (_LEAF * (2.4 + 1.2 * d) + 16.0 * (8.0 + d))
    return build + look + math.log2(n) * (16.0 + 2.0 * d) + 20.0 * k


def brute_work(n: int, d: int, products: bool) -> float:
    """The same for brute force: a product for each pair, or a sum of powers, and the choice of the smallest."""
    return n * (1.6 + (0.045 if products else 0.6) * d)
