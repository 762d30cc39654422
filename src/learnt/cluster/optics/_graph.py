"""Core distances, and the order of the rows by whichever source of neighbours fits in memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.cluster._dbscan import _with_diagonal
from learnt.cluster.optics._ordering import order_by_neighbors, order_by_rows
from learnt.cluster.optics._sizes import check_size, rows_of
from learnt.distances import Neighborhoods, Search, check_metric, chosen_algorithm, resolve_metric
from learnt.engine.documentation import documented
from learnt.engine.estimator import Takes
from learnt.engine.interrupts import check_stopped, stoppable
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import check_choice, check_number
from learnt.engine.validation import check_fit

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
_KEPT = 1 << 23  # pairs of neighbours that are kept
_LONG = 1 << 24  # pairs: a fraction of a second


class Reachability(NamedTuple):
    """The order of the rows, and for each row its core distance, its reachability and the row that reached it."""

    ordering: np.ndarray
    core: np.ndarray
    reach: np.ndarray
    predecessor: np.ndarray


class _Graph(BaseEstimator):
    """Carries parameters and columns to the checks, and the function's name to their messages."""

    __learnt_takes__ = Takes(sparse=True)

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


_Graph.__name__ = "compute_optics_graph"


@documented
def compute_optics_graph(
    X: Any,
    *,
    min_samples: Any,
    max_eps: float,
    metric: Any,
    p: float,
    metric_params: dict | None,
    algorithm: str,
    leaf_size: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The order of the rows that `OPTICS` finds its clusters in.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The rows, or their distances with `metric="precomputed"`.
    min_samples : int or float
        Neighbours of the core distance; a float is a share of the rows.
    max_eps : float
        The largest distance of neighbours: a smaller one saves time and leaves sparse rows out; `np.inf` for no limit.
    metric : str or callable
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine" and others of SciPy's. "precomputed" means that X holds distances. A function gets two
        rows and returns a number; it is slow.
    p : float
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean.
    metric_params : dict or None
        Further parameters of the metric.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        How to search for neighbours; the order is the same.
    leaf_size : int
        The most rows in a leaf of the tree.

    Returns
    -------
    ordering_ : ndarray of shape (n_samples,)
        The rows in their order.
    core_distances_ : ndarray of shape (n_samples,)
        The core distance of each row, in the order of X.
    reachability_ : ndarray of shape (n_samples,)
        The reachability of each row, in the order of X; inf for rows that nothing reached.
    predecessor_ : ndarray of shape (n_samples,)
        The row that reached each; −1 for none.

    See Also
    --------
    OPTICS : Clusters of this order.
    cluster_optics_xi : Clusters of every density.
    cluster_optics_dbscan : Clusters of one density.

    References
    ----------
    .. [1] M. Ankerst, M. M. Breunig, H.-P. Kriegel, J. Sander, "OPTICS: Ordering Points To Identify the Clustering
       Structure", ACM SIGMOD, 1999.
    .. [2] E. Schubert, M. Gertz, "Improving the Cluster Structure Extracted from OPTICS Plots", LWDA, 2018.

    Examples
    --------
    >>> found = compute_optics_graph(
    ...     [[0.0], [1.0], [5.0]], min_samples=2, max_eps=np.inf, metric="minkowski", p=2, metric_params=None,
    ...     algorithm="auto", leaf_size=30, n_jobs=None)
    >>> found[0].tolist(), found[2].tolist()
    ([0, 1, 2], [inf, 1.0, 4.0])
    """
    checks = _Graph(
        min_samples=min_samples, max_eps=max_eps, metric=metric, p=p, algorithm=algorithm, leaf_size=leaf_size
    )
    check_graph_params(checks)
    X = check_fit(checks, X, order="C").X
    return tuple(reachability(X, _Graph.__name__, checks, metric_params, n_jobs))  # type: ignore[return-value]


def check_graph_params(model: Any) -> None:
    """The parameters that decide the order."""
    check_size(model, "min_samples")
    check_number(model, "max_eps", 0)
    check_number(model, "p", 1)
    check_choice(model, "algorithm", ALGORITHMS)
    check_number(model, "leaf_size", 1, integer=True)


def reachability(X: Any, name: str, settings: Any, metric_params: dict | None, n_jobs: int | None) -> Reachability:
    """The order of checked rows; `settings` has the other parameters."""
    n, limit = X.shape[0], float(settings.max_eps)
    k = rows_of(settings.min_samples, n, "min_samples")
    check_metric(name, settings.metric)
    metric, params = resolve_metric(settings.metric, settings.p, metric_params)
    check_metric(name, metric, X)
    if isinstance(metric, str) and metric == "precomputed":
        X = _with_diagonal(X)
    algorithm = chosen_algorithm(X, metric, params, settings.algorithm)
    search = Search.build(X, metric, params, algorithm=algorithm, leaf_size=settings.leaf_size, n_jobs=n_jobs)
    core = core_distances(search, k, n_jobs)
    core[core > limit] = np.inf
    euclidean = isinstance(X, np.ndarray) and isinstance(metric, str) and metric == "euclidean" and not params
    out = Reachability(np.empty(n, np.int64), core, np.full(n, np.inf), np.full(n, -1))
    order, stop = (out.ordering, out.reach, out.predecessor), np.zeros(1, np.int64)
    found = None if math.isinf(limit) and (euclidean or n * n > _KEPT) else _neighbors(search, limit, n_jobs)
    if found is not None:
        pairs = found.starts, found.indices, found.distances
        stoppable(lambda: order_by_neighbors(*pairs, core, *order, stop), stop, long=n * n > _LONG)
    elif euclidean:
        points = np.ascontiguousarray(X, dtype=np.float64)
        stoppable(lambda: order_by_rows(points, core, limit, *order, stop), stop, long=n * n > _LONG)
    else:
        _order_by_queries(search, limit, out, n_jobs)
    return out


def core_distances(search: Search, k: int, n_jobs: int | None) -> np.ndarray:
    """The distance of each point to its k-th nearest, itself counted."""
    out = np.empty(search.points.shape[0])

    def keep(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
        out[lo:hi] = distances[:, -1]

    search.nearest_blocks(search.points, k, keep, n_jobs=n_jobs)
    return out


def _neighbors(search: Search, limit: float, n_jobs: int | None) -> Neighborhoods | None:
    """All pairs of points up to the limit; None where they are too many to keep."""
    parts, pairs = [], 0
    for _, _, found in search.within_blocks(search.points, limit, n_jobs=n_jobs):
        parts.append(found)
        pairs += found.indices.size
        if pairs > _KEPT:
            return None
    return Neighborhoods(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _order_by_queries(search: Search, limit: float, out: Reachability, n_jobs: int | None) -> None:
    """The same order with one search for each row: for any metric, in memory in proportion to the rows."""
    n = len(out.core)
    left = np.ones(n, dtype=bool)
    for step in range(n):
        check_stopped()
        now = int(np.argmin(np.where(left, out.reach, np.inf)))
        now = now if left[now] else int(np.argmax(left))
        left[now], out.ordering[step] = False, now
        if np.isinf(out.core[now]):
            continue
        found = search.within(search.points[now : now + 1], limit, n_jobs=n_jobs)
        lengths = np.maximum(found.distances, out.core[now])
        nearer = left[found.indices] & (lengths < out.reach[found.indices])
        rows = found.indices[nearer]
        out.reach[rows], out.predecessor[rows] = lengths[nearer], now
