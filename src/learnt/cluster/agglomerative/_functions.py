"""Trees of merges as one call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.cluster.agglomerative._linkage import ByPairs, free_tree, graph_tree
from learnt.cluster.agglomerative._tree import Tree, parents_of
from learnt.engine.documentation import documented
from learnt.engine.finite import require_finite
from learnt.engine.params import ParameterError

_LINKAGES = ("complete", "average", "single")


@documented
def ward_tree(X: Any, *, connectivity: Any = None, n_clusters: int | None = None, return_distance: bool = False) -> Any:
    """The tree of merges that raise the sum of squares about the centroids least.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows to merge.
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples) or None, default=None
        Which rows are neighbours: only neighbours are merged.
    n_clusters : int or None, default=None
        With `connectivity`: where merging ends; None merges to the end.
    return_distance : bool, default=False
        Whether to return the distances of the merges too.

    Returns
    -------
    children : ndarray of shape (n_merges, 2)
        The clusters merged into cluster n_samples + i; clusters below n_samples are rows.
    n_connected_components : int
        The number of parts of the graph of `connectivity`; 1 without it.
    n_leaves : int
        The number of rows.
    parents : ndarray of shape (n_samples + n_merges,) or None
        The cluster that each was merged into, itself where it was not; None without `connectivity`.
    distances : ndarray of shape (n_merges,)
        The distance of each merge; only with `return_distance=True`.

    See Also
    --------
    AgglomerativeClustering : Clusters from such a tree.
    linkage_tree : By distances of rows instead.

    Examples
    --------
    >>> children, _, n_leaves, _ = ward_tree([[0.0], [1.0], [5.0]])
    >>> children, n_leaves
    (array([[0, 1],
           [2, 3]]), 3)
    """
    return _tree(_rows(X, "ward_tree"), "ward", "euclidean", connectivity, n_clusters, return_distance)


@documented
def linkage_tree(
    X: Any,
    connectivity: Any = None,
    n_clusters: int | None = None,
    linkage: str = "complete",
    affinity: Any = "euclidean",
    return_distance: bool = False,
) -> Any:
    """The tree of merges of the nearest clusters, by distances of rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Rows, or their distances with affinity="precomputed".
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples) or None, default=None
        Which rows are neighbours: only neighbours are merged.
    n_clusters : int or None, default=None
        With `connectivity`: where merging ends; None merges to the end.
    linkage : {"complete", "average", "single"}, default="complete"
        The distance between two clusters: the largest, the mean, or the smallest of their rows.
    affinity : str or callable, default="euclidean"
        A metric, "precomputed", or a function: of all rows, that gives the matrix of their distances; with
        `connectivity`, of two rows, that gives their distance.
    return_distance : bool, default=False
        Whether to return the distances of the merges too.

    Returns
    -------
    children : ndarray of shape (n_merges, 2)
        The clusters merged into cluster n_samples + i; clusters below n_samples are rows.
    n_connected_components : int
        The number of parts of the graph of `connectivity`; 1 without it.
    n_leaves : int
        The number of rows.
    parents : ndarray of shape (n_samples + n_merges,) or None
        The cluster that each was merged into, itself where it was not; None without `connectivity`.
    distances : ndarray of shape (n_merges,)
        The distance of each merge; only with `return_distance=True`.

    See Also
    --------
    AgglomerativeClustering : Clusters from such a tree.
    ward_tree : By sums of squares about centroids instead.

    Examples
    --------
    >>> linkage_tree([[0.0], [1.0], [5.0]], return_distance=True)[-1]
    array([1., 5.])
    """
    if linkage not in _LINKAGES:
        raise ParameterError(
            f"Unknown linkage option, linkage should be one of {', '.join(map(repr, _LINKAGES))}, but {linkage!r} was "
            "given."
        )
    X = _rows(X, "linkage_tree")
    if isinstance(affinity, str) and affinity == "cosine" and not np.any(X, axis=1).all():
        raise ValueError("Cosine affinity cannot be used when X contains zero vectors; drop those rows.")
    if callable(affinity) and connectivity is not None:
        affinity = ByPairs(affinity)
    return _tree(X, linkage, affinity, connectivity, n_clusters, return_distance)


def _rows(X: Any, name: str) -> np.ndarray:
    X = np.asarray(X)
    X = X.astype(np.float64, copy=False) if X.dtype != np.float32 else X
    X = np.ascontiguousarray(X.reshape(-1, 1) if X.ndim == 1 else X)
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(f"{name} needs a table of at least 2 rows; X has shape {X.shape}.")
    require_finite(X, "X", name)
    return X


def _tree(
    X: np.ndarray, linkage: str, metric: Any, connectivity: Any, n_clusters: int | None, return_distance: bool
) -> Any:
    n = len(X)
    if n_clusters is not None and (not isinstance(n_clusters, int | np.integer) or n_clusters < 1):
        raise ParameterError(f"n_clusters must be None or a whole number of at least 1. Got {n_clusters!r} instead.")
    if connectivity is None:
        if n_clusters is not None:
            warnings.warn(
                "Partial build of the tree is implemented only for structured clustering (i.e. with explicit "
                "connectivity): the whole tree is built.",
                UserWarning,
                stacklevel=3,
            )
        return _told(free_tree(X, linkage, metric), n, False, return_distance)
    if n_clusters is not None and n_clusters > n:
        raise ValueError(
            f"Cannot provide more clusters than samples. {n_clusters} n_clusters was asked, and there are {n} samples; "
            "ask for fewer."
        )
    tree = graph_tree(X, linkage, metric, connectivity, 1 if n_clusters is None else int(n_clusters))
    return _told(tree, n, True, return_distance)


def _told(tree: Tree, n: int, with_parents: bool, with_distances: bool) -> tuple:
    parents = parents_of(tree.children, n) if with_parents else None
    told = tree.children, tree.n_components, n, parents
    return (*told, tree.distances) if with_distances else told
