"""Merges only between clusters that are neighbours in a graph: the pixels of an image, say.

The nearest pair of neighbours is merged again and again, from a heap. Average and complete linkage use the distances
along edges only: a merged cluster's distance to a neighbour is the mean, or the largest, over its edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from learnt.cluster.agglomerative._tree import Tree

Distances = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of rows by number: a matrix


def checked_graph(connectivity: Any, n: int) -> sparse.csr_array:
    """The graph as it is used: symmetric, without loops, one entry an edge."""
    graph = sparse.csr_array(connectivity)
    if graph.shape != (n, n):
        raise ValueError(
            f"Wrong shape for connectivity matrix: {graph.shape} when X has {n} rows; give an n_samples × n_samples "
            "matrix."
        )
    graph = sparse.coo_array(graph + graph.T)
    apart = (graph.row != graph.col) & (graph.data != 0)
    return sparse.csr_array((np.ones(apart.sum()), (graph.row[apart], graph.col[apart])), shape=(n, n))


def with_one_component(graph: sparse.csr_array, distances: Distances, metric: Any) -> tuple[sparse.csr_array, int]:
    """The graph with edges between the nearest rows of its components, and how many of these there were."""
    n_components, labels = csgraph.connected_components(graph)
    if n_components == 1:
        return graph, 1
    warnings.warn(
        f"the number of connected components of the connectivity matrix is {n_components} > 1. Completing it to avoid "
        f"stopping the tree early, by the nearest rows of each two in the metric {metric!r}.",
        UserWarning,
        stacklevel=5,
    )
    members = [np.flatnonzero(labels == c) for c in range(n_components)]
    edges = []
    for i in range(n_components):
        for j in range(i):
            D = distances(members[i], members[j])
            a, b = np.unravel_index(int(D.argmin()), D.shape)
            edges.append((members[i][a], members[j][b]))
    rows, columns = np.array(edges).T
    more = sparse.coo_array((np.ones(len(edges)), (rows, columns)), shape=graph.shape)
    return checked_graph(graph + more, graph.shape[0]), n_components


class _Clusters:
    """Neighbours of each cluster and their distances, with a rule for the distance of a merged one."""

    def __init__(self, graph: sparse.csr_array, length: np.ndarray) -> None:
        n = graph.shape[0]
        self.size = [1] * n
        self.near: list[dict[int, float]] = [
            dict(zip(graph.indices[a:b].tolist(), length[a:b].tolist(), strict=True))
            for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
        ]

    def merge(self, a: int, b: int) -> dict[int, float]:
        """Make one cluster of a and b; its neighbours and their distances."""
        new = self.distances(a, b, (self.near[a].keys() | self.near[b].keys()) - {a, b})
        number = len(self.near)
        for part in (a, b):
            for c in self.near[part]:
                self.near[c].pop(part, None)
            self.near[part] = {}
        for c, value in new.items():
            self.near[c][number] = value
        self.near.append(new)
        self.size.append(self.size[a] + self.size[b])
        return new

    def distances(self, a: int, b: int, others: set[int]) -> dict[int, float]:
        raise NotImplementedError


class _Average(_Clusters):
    def distances(self, a: int, b: int, others: set[int]) -> dict[int, float]:
        A, B, n, m = self.near[a], self.near[b], self.size[a], self.size[b]
        return {c: (n * A[c] + m * B[c]) / (n + m) if c in A and c in B else A.get(c, B.get(c, 0.0)) for c in others}


class _Complete(_Clusters):
    def distances(self, a: int, b: int, others: set[int]) -> dict[int, float]:
        A, B = self.near[a], self.near[b]
        return {c: max(A[c], B[c]) if c in A and c in B else A.get(c, B.get(c, 0.0)) for c in others}


class _Single(_Clusters):
    def distances(self, a: int, b: int, others: set[int]) -> dict[int, float]:
        A, B = self.near[a], self.near[b]
        return {c: min(A.get(c, np.inf), B.get(c, np.inf)) for c in others}


class _Ward(_Clusters):
    def __init__(self, graph: sparse.csr_array, length: np.ndarray, X: np.ndarray) -> None:
        super().__init__(graph, length)
        self.centroid = np.concatenate([X, np.empty((len(X) - 1, X.shape[1]))])

    def distances(self, a: int, b: int, others: set[int]) -> dict[int, float]:
        n, m, number = self.size[a], self.size[b], len(self.near)
        centroid = (n * self.centroid[a] + m * self.centroid[b]) / (n + m)
        self.centroid[number] = centroid
        index = sorted(others)
        sizes = np.array([self.size[c] for c in index], dtype=np.float64)
        squares = np.square(self.centroid[index] - centroid).sum(axis=1)
        values = np.sqrt(2.0 * squares * sizes * (n + m) / (sizes + n + m))
        return dict(zip(index, values.tolist(), strict=True))


_RULES = {"average": _Average, "complete": _Complete, "single": _Single}


def connected_tree(
    graph: sparse.csr_array, length: np.ndarray, linkage: str, X: np.ndarray | None, n_clusters: int, n_components: int
) -> Tree:
    """Merges of neighbours until `n_clusters` are left; `length` has the distance of each entry of the graph."""
    n = graph.shape[0]
    clusters = _Ward(graph, length, X) if X is not None else _RULES[linkage](graph, length)
    heap = [(value, i, j) for i, near in enumerate(clusters.near) for j, value in near.items() if i < j]
    heapify(heap)
    gone = np.zeros(2 * n, dtype=bool)
    children: list[tuple[int, int]] = []
    distances: list[float] = []
    while len(children) < n - n_clusters:
        value, a, b = heappop(heap)
        if gone[a] or gone[b]:
            continue
        gone[a] = gone[b] = True
        number = n + len(children)
        children.append((a, b))
        distances.append(value)
        for c, new in clusters.merge(a, b).items():
            heappush(heap, (new, c, number))
    return Tree(np.array(children, dtype=np.int64).reshape(-1, 2), np.array(distances), n_components)
