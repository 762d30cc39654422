"""A tree of merges: in order of distance, with numbers for the clusters, and cut into clusters."""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import NamedTuple

import numpy as np


class Merges(NamedTuple):
    """n − 1 merges: two rows of the clusters that were merged, and the distance of these; in any order."""

    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray


class Tree(NamedTuple):
    """children[i] are the clusters merged into cluster n + i; clusters 0…n − 1 are the rows."""

    children: np.ndarray
    distances: np.ndarray
    n_components: int = 1


def tree_of(merges: Merges) -> Tree:
    """The merges by rising distance, the first of equals first.

    >>> tree_of(Merges(np.array([0, 1]), np.array([2, 0]), np.array([3.0, 1.0]))).children.tolist()
    [[0, 1], [2, 3]]
    """
    order = np.argsort(merges.distance, kind="stable")
    n = len(order) + 1
    parent = list(range(2 * n - 1))
    children = np.empty((n - 1, 2), dtype=np.int64)

    def root(i: int) -> int:
        top = i
        while parent[top] != top:
            top = parent[top]
        while parent[i] != top:
            parent[i], i = top, parent[i]
        return top

    for new, (a, b) in enumerate(zip(merges.first[order].tolist(), merges.second[order].tolist(), strict=True)):
        a, b = root(a), root(b)
        children[new] = (a, b) if a < b else (b, a)
        parent[a] = parent[b] = n + new
    return Tree(children, merges.distance[order])


def cut(children: np.ndarray, n: int, n_clusters: int) -> np.ndarray:
    """The cluster of each of n rows when the last merges are undone until there are `n_clusters`.

    >>> cut(np.array([[0, 1], [2, 3]]), 3, 2).tolist()
    [0, 0, 1]
    """
    if n_clusters > n:
        raise ValueError(
            f"Cannot extract more clusters than samples: {n_clusters} clusters were given for a tree with {n} leaves."
        )
    nodes = [-(n + len(children) - 1)]  # a heap: the latest merge first
    for _ in range(n_clusters - 1):
        a, b = children[-nodes[0] - n]
        heappush(nodes, -int(a))
        heappushpop(nodes, -int(b))
    label = np.full(n + len(children), -1, dtype=np.int64)
    label[[-node for node in nodes]] = np.arange(len(nodes))
    return _handed_down(label, children, n)


def roots(children: np.ndarray, n: int) -> np.ndarray:
    """The cluster of each of n rows in a tree that was not merged to the end."""
    label = np.full(n + len(children), -1, dtype=np.int64)
    tops = np.setdiff1d(np.arange(len(label)), children.ravel())
    label[tops] = np.arange(len(tops))
    return _handed_down(label, children, n)


def parents_of(children: np.ndarray, n: int) -> np.ndarray:
    """The cluster that each cluster was merged into; itself where it was not.

    >>> parents_of(np.array([[0, 1], [2, 3]]), 3).tolist()
    [3, 3, 4, 4, 4]
    """
    parent = np.arange(n + len(children))
    parent[children] = np.arange(n, len(parent))[:, None]
    return parent


def _handed_down(label: np.ndarray, children: np.ndarray, n: int) -> np.ndarray:
    for node in range(len(children) - 1, -1, -1):
        if label[n + node] >= 0:
            label[children[node]] = label[n + node]
    return label[:n].copy()
