"""The algorithm for a linkage, a metric and perhaps a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.cluster.agglomerative._connected import Distances, checked_graph, connected_tree, with_one_component
from learnt.cluster.agglomerative._spanning import spanning_merges
from learnt.cluster.agglomerative._square import all_distances, merges, mirrored
from learnt.cluster.agglomerative._tree import Tree, tree_of
from learnt.cluster.agglomerative._ward import ward_merges
from learnt.distances import distance_function

EUCLIDEAN = ("euclidean", "l2")


class ByPairs(NamedTuple):
    """A metric that is a function of two rows."""

    distance: Callable[[np.ndarray, np.ndarray], float]


def free_tree(X: np.ndarray, linkage: str, metric: Any) -> Tree:
    """The tree of all merges, any two clusters allowed."""
    if linkage == "ward":
        return tree_of(ward_merges(X))
    if linkage == "single" and metric in EUCLIDEAN:
        return tree_of(spanning_merges(X))
    square = square_distances_of(X, metric)
    return tree_of(merges(all_distances(X, metric) if square is None else mirrored(square), linkage))


def square_distances_of(X: np.ndarray, metric: Any) -> np.ndarray | None:
    """The matrix of distances where it is given, or by a function of all rows; None where the metric has a name."""
    if callable(metric):
        square = np.asarray(metric(X), dtype=np.float64)
    elif metric == "precomputed":
        square = X
    else:
        return None
    if square.shape[0] != square.shape[1]:
        raise ValueError(
            f"Distance matrix should be square, got matrix of shape {square.shape}; give n_samples × n_samples."
        )
    return square


def graph_tree(X: np.ndarray, linkage: str, metric: Any, connectivity: Any, n_clusters: int) -> Tree:
    """The tree of merges between neighbours in a graph, until `n_clusters` are left."""
    n = len(X)
    distances = _distances_of(X, "euclidean" if linkage == "ward" else metric)
    graph, n_components = with_one_component(checked_graph(connectivity, n), distances, metric)
    length = _lengths(graph, distances)
    centred = (X - X.mean(axis=0)).astype(np.float64) if linkage == "ward" else None
    return connected_tree(graph, length, linkage, centred, n_clusters, n_components)


def _distances_of(X: np.ndarray, metric: Any) -> Distances:
    """Distances of rows by number."""
    if isinstance(metric, ByPairs):
        return lambda rows, columns: np.array([[metric.distance(X[i], X[j]) for j in columns] for i in rows], float)
    square = square_distances_of(X, metric)
    if square is not None:
        return lambda rows, columns: square[np.ix_(rows, columns)]
    between = distance_function(X, metric)
    return lambda rows, columns: between(X[rows], X[columns])


def _lengths(graph: sparse.csr_array, distances: Any) -> np.ndarray:
    """The distance of each entry of the graph, row by row."""
    parts = []
    for i in range(graph.shape[0]):
        near = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        parts.append(distances(np.array([i]), near)[0] if near.size else np.empty(0))
    return np.concatenate(parts)
