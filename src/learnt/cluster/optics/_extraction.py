"""Clusters from the order of OPTICS: at one distance, or between steep edges of the curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster.optics._sizes import check_size, rows_of
from learnt.cluster.optics._valleys import curve_of, valleys
from learnt.engine.bounds import within
from learnt.engine.documentation import documented
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import check_flag, check_number


class _Extraction(BaseEstimator):
    """Carries parameters to the checks, and the function's name to their messages."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


class _Xi(_Extraction):
    pass


class _AtDistance(_Extraction):
    pass


_Xi.__name__, _AtDistance.__name__ = "cluster_optics_xi", "cluster_optics_dbscan"


@documented
def cluster_optics_dbscan(*, reachability: Any, core_distances: Any, ordering: Any, eps: float) -> np.ndarray:
    """DBSCAN's clusters at a distance, from the order of the rows; border rows may be noise.

    Parameters
    ----------
    reachability : array-like of shape (n_samples,)
        The reachability of each row: `reachability_` of `OPTICS`.
    core_distances : array-like of shape (n_samples,)
        The core distance of each row: `core_distances_` of `OPTICS`.
    ordering : array-like of shape (n_samples,)
        The rows in their order: `ordering_` of `OPTICS`.
    eps : float
        DBSCAN's `eps`, at most the `max_eps` of the order.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of each row; −1 for noise.

    See Also
    --------
    OPTICS : Makes the order.
    cluster_optics_xi : Clusters of every density.
    DBSCAN : The same from the rows.

    Examples
    --------
    >>> reach, core = [np.inf, 1.0, 4.0], [1.0, 1.0, 4.0]
    >>> cluster_optics_dbscan(reachability=reach, core_distances=core, ordering=[0, 1, 2], eps=2)
    array([ 0,  0, -1])
    """
    check_number(_AtDistance(eps=eps), "eps", 0)
    reach, core, order = _same_rows("cluster_optics_dbscan", ordering, reachability, core_distances)
    far, dense = reach > eps, core <= eps
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.cumsum((far & dense)[order]) - 1
    labels[far & ~dense] = -1
    return labels


@documented
def cluster_optics_xi(
    *,
    reachability: Any,
    predecessor: Any,
    ordering: Any,
    min_samples: Any,
    min_cluster_size: Any = None,
    xi: float = 0.05,
    predecessor_correction: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of every density: valleys of the reachabilities between steep edges.

    Parameters
    ----------
    reachability : array-like of shape (n_samples,)
        The reachability of each row: `reachability_` of `OPTICS`.
    predecessor : array-like of shape (n_samples,)
        The row that reached each: `predecessor_` of `OPTICS`.
    ordering : array-like of shape (n_samples,)
        The rows in their order: `ordering_` of `OPTICS`.
    min_samples : int or float
        The most rows in a row of a steep edge that are not steep; a float is a share of the rows.
    min_cluster_size : int, float or None, default=None
        The fewest rows of a cluster; a float is a share of the rows, None is `min_samples`.
    xi : float, default=0.05
        By which share the reachability falls or rises at a steep edge, from 0 to 1. Larger values find fewer clusters.
    predecessor_correction : bool, default=True
        Whether a valley ends with a row that was reached from inside it.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The innermost cluster of each row that has none inside it; −1 for the other rows.
    clusters : ndarray of shape (n_clusters, 2)
        First and last place of every cluster in `ordering`, inner ones before those around them.

    See Also
    --------
    OPTICS : Makes the order.
    cluster_optics_dbscan : Clusters of one density.

    Examples
    --------
    >>> reach = [np.inf, 1.0, 1.0, 9.0, 1.0, 1.0]
    >>> labels, clusters = cluster_optics_xi(
    ...     reachability=reach, predecessor=[-1, 0, 1, 2, 3, 4], ordering=range(6), min_samples=2)
    >>> labels, clusters.tolist()
    (array([0, 0, 0, 1, 1, 1]), [[0, 2], [3, 5], [0, 5]])
    """
    checks = _Xi(
        min_samples=min_samples,
        min_cluster_size=min_cluster_size,
        xi=xi,
        predecessor_correction=predecessor_correction,
    )
    check_xi_params(checks)
    check_size(checks, "min_samples")
    reach, came_from, order = _same_rows("cluster_optics_xi", ordering, reachability, predecessor)
    came_from = came_from.astype(np.int64, copy=False)
    n = len(order)
    if not within(came_from, -1, n - 1):
        raise ValueError(f"predecessor of cluster_optics_xi has numbers of no rows; give −1 or 0 to {n - 1} for each.")
    flat = rows_of(min_samples, n, "min_samples")
    least = flat if min_cluster_size is None else rows_of(min_cluster_size, n, "min_cluster_size")
    clusters = valleys(curve_of(reach, came_from, order), xi, least, flat, bool(predecessor_correction))
    in_order = np.full(n, -1, dtype=np.int64)
    label = 0
    for first, last in clusters.tolist():
        if (in_order[first : last + 1] == -1).all():
            in_order[first : last + 1] = label
            label += 1
    labels = np.empty(n, dtype=np.int64)
    labels[order] = in_order
    return labels, clusters


def check_xi_params(model: Any) -> None:
    """The parameters of clusters by steep edges."""
    check_size(model, "min_cluster_size", also=(None,))
    check_number(model, "xi", 0, 1)
    check_flag(model, "predecessor_correction")


def _same_rows(name: str, ordering: Any, *columns: Any) -> tuple[np.ndarray, ...]:
    """The columns and the order as arrays, of the same rows."""
    order = np.asarray(ordering)
    arrays = [np.asarray(column) for column in columns]
    n = len(order)
    if order.dtype.kind not in "iu" or any(a.shape != (n,) for a in arrays):
        raise ValueError(f"{name} needs arrays with one number for each row, as OPTICS gives them; pass those.")
    if not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"ordering of {name} must hold every row once; pass `ordering_` of OPTICS.")
    return *arrays, order
