"""Which index to build: the one that was asked for, or the quickest by a model of the work and a sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.distances._dimension import dimension_sums
from learnt.distances._metrics import BY_PRODUCTS, SAME
from learnt.distances._rounding import square_distances
from learnt.distances.trees._index import tree_takes
from learnt.distances.trees._metric import metric_tree_takes
from learnt.engine.threads import single_blas

_ROWS, _QUERIES = 2048, 128  # of the sample
_TINY = 1e-300
_FEWEST = 1000  # points below which brute force is as quick as anything
_MEASURED = 2000  # points below which measuring the dimension takes longer than it can save
_LEAF = 24.0  # points of a leaf, on average
_ASKED = 0.25  # queries for each point that a tree is built for
_SHORT = 50  # neighbours above which a list costs no more for each
_MOST = 32.0  # dimensions above which no tree is worth while
_BOXES, _BALLS = 1.5, 0.9  # how much more of its work a query takes on a sheet among many features
_LOOK = 0.24  # nanoseconds of measuring the dimension, for each feature of a pair
_WORTH = 1.15  # how much quicker a tree must be at best for that to be worth while
_UNSURE = 2.0  # within how much the dimension is measured again on more queries: its error is 9 %, then 4 %


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
    return _quickest(points, SAME.get(metric, metric) in BY_PRODUCTS, k)


def _quickest(points: np.ndarray, products: bool, k: int) -> str:
    """The quickest of the exact indices, by the work that the dimension of the points makes them."""
    n, d = points.shape
    brute = brute_work(n, d, products, k)
    if tree_work(n, d, float(d), k) < 0.9 * brute:  # even if they fill the space
        return "kd_tree"
    rows = min(n // 2, _ROWS)
    queries = min(rows // 16, _QUERIES)
    look = _LOOK * rows * queries * d / (_ASKED * n)
    if n < _MEASURED or _WORTH * (_work(n, d, 2.0, k) + look) > brute:  # hardly better even on a plane
        return "brute"
    dimension = measured_dimension(points, queries)
    if queries == _QUERIES and 1 / _UNSURE < _work(n, d, dimension, k) / brute < _UNSURE:
        dimension = measured_dimension(points, 4 * _QUERIES)
    if _work(n, d, dimension, k) > brute:
        return "brute"
    by_balls = _on_sheet(d, dimension) and tree_work(n, d, dimension, k, balls=True) < tree_work(n, d, dimension, k)
    return "ball_tree" if by_balls else "kd_tree"


def _on_sheet(d: int, dimension: float) -> bool:
    """Whether balls answer sooner than boxes: a bound over a box costs twice as much as one over a ball, and is worth
    it unless there are many more features than dimensions."""
    return d >= 5.0 * dimension and d >= 16


def _work(n: int, d: int, dimension: float, k: int) -> float:
    """The work of the better tree."""
    boxes = tree_work(n, d, dimension, k)
    return min(boxes, tree_work(n, d, dimension, k, balls=True)) if _on_sheet(d, dimension) else boxes


def measured_dimension(points: np.ndarray, queries: int) -> float:
    """The intrinsic dimension at the scale of the nearest neighbours, from an even sample of the points.

    The two nearest of a query are chosen by a product in single precision, which is enough for an estimate.
    """
    sample = points[:: max(2, -(-points.shape[0] // _ROWS))].astype(np.float64)
    sample -= sample.mean(axis=0)
    sample /= max(float(np.abs(sample).max()), _TINY)
    own = np.arange(0, sample.shape[0], max(1, sample.shape[0] // queries))
    rounded = sample.astype(np.float32)
    with single_blas():
        scores = (-2.0 * rounded[own]) @ rounded.T
    scores += np.einsum("ij,ij->i", rounded, rounded)
    nearest = np.empty((2, own.size), dtype=np.int64)
    chosen, rows = own, np.arange(own.size)
    for i in range(2):
        scores[rows, chosen] = np.inf
        nearest[i] = chosen = scores.argmin(axis=1)
    first, second = np.sort(np.sqrt(square_distances(sample[nearest], sample[own])), axis=0)
    apart = first > 0
    return dimension_sums(first[apart], second[apart]).estimate if np.count_nonzero(apart) >= 16 else 1.0


def tree_work(n: int, d: int, dimension: float, k: int, *, balls: bool = False) -> float:
    """Nanoseconds of a query by a tree, about: its share of the building, the way down, the leaves that a ball with
    k points touches, and the list of the nearest. A tree of balls takes twice as long to build.

    In `dimension` dimensions a leaf is a cube of edge 1 and such a ball has the radius r with V rᵈ = k / leaf. The cube
    around it touches (1 + 2r)ᵈ leaves, the ball fewer the more dimensions there are. The numbers were fitted to
    `benchmarks/auto_choice.py`.
    """
    m = min(max(dimension, 1.0), _MOST)
    ball = 0.5 * m * math.log(math.pi) - math.lgamma(0.5 * m + 1.0)
    radius = 1.15 * math.exp((math.log(k / _LEAF) - ball) / m) / (1.0 + (m / 9.2) ** 2.38)
    leaves = min(n / _LEAF, math.exp(m * math.log1p(2.0 * radius)))
    build = math.log2(max(n / _LEAF, 2.0)) * (15.0 + 5.0 * d if balls else 17.0 + 2.7 * d) / _ASKED
    search = 1300.0 + math.log2(n) * (21.0 + 0.95 * d) + 18.0 * leaves * (d + 1)
    insert = k * (52.0 + 2.9 * min(k, _SHORT))
    more = _BALLS if balls else _BOXES if _on_sheet(d, m) else 1.0
    return build + more * search + insert


def brute_work(n: int, d: int, products: bool, k: int) -> float:
    """The same for brute force: a product for each pair, or a sum of powers, and the list of the nearest."""
    insert = (k + 4) * (1.0 + math.log(max(n / (k + 4), 1.0))) * (26.0 + 1.0 * min(k, _SHORT))
    return 3900.0 + n * (0.7 + (0.065 if products else 0.6) * d) + insert
