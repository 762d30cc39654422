"""From a spanning tree to the tree of clusters: cut at decreasing distances; parts below a size leave as single points.

Edges of the same length are cut at once, so that the tree does not depend on which of several spanning trees it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel


class Clusters(NamedTuple):
    """The tree of clusters, parents first; number 0 is the root with all rows; a level λ is 1 / distance."""

    parent: np.ndarray  # of each cluster; of the first itself
    birth: np.ndarray  # the level where it parts from its parent; 0 for the first
    size: np.ndarray  # its rows at birth
    last: np.ndarray  # the last cluster that each row belongs to
    level: np.ndarray  # where the row leaves it


@kernel
def _top(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def merge(pairs, left, right, size):
    """The tree of merges of edges in increasing order: merge i makes node n + i of two; size is of all nodes."""
    n = pairs.shape[0] + 1
    parent = np.arange(2 * n - 1)
    for i in range(n):
        size[i] = 1
    for i in range(n - 1):
        a, b = _top(parent, pairs[i, 0]), _top(parent, pairs[i, 1])
        left[i], right[i] = a, b
        size[n + i] = size[a] + size[b]
        parent[a] = parent[b] = n + i


@kernel
def condense(left, right, size, distance, fewest, clusters, last, level):
    """Fill the tree of clusters (parent, birth, size as rows of `clusters`); how many there are."""
    n = left.size + 1
    owner = np.full(2 * n - 1, -1)  # the cluster of a node; −1 − c: it fell off c
    fell = np.empty(2 * n - 1)
    owner[2 * n - 2] = 0
    clusters[0, 0], clusters[0, 1], clusters[0, 2] = 0, 0, n
    count = 1
    parts, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    done = np.zeros(2 * n - 1, np.bool_)  # inner nodes of a cut that was made from above
    for node in range(2 * n - 2, n - 1, -1):
        if done[node]:
            continue
        here, c = distance[node - n], owner[node]
        if c < 0:
            for child in (left[node - n], right[node - n]):
                owner[child], fell[child] = c, fell[node]
            continue
        # All that this distance keeps together: nodes below with less, or rows.
        n_parts, waiting, large = 0, 1, 0
        stack[0] = node
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if at >= n and distance[at - n] == here:
                done[at] = True
                stack[waiting], stack[waiting + 1] = left[at - n], right[at - n]
                waiting += 2
            else:
                parts[n_parts] = at
                n_parts += 1
                large += size[at] >= fewest
        now = 1.0 / here if here > 0 else np.inf
        for k in range(n_parts):
            part = parts[k]
            if size[part] < fewest:
                owner[part], fell[part] = -1 - c, now
            elif large == 1:
                owner[part] = c
            else:
                owner[part] = count
                clusters[count, 0], clusters[count, 1], clusters[count, 2] = c, now, size[part]
                count += 1
    for i in range(n):
        last[i], level[i] = -1 - owner[i], fell[i]
    return count


def cluster_tree(pairs: np.ndarray, distance: np.ndarray, fewest: int) -> Clusters:
    """The tree of clusters of at least `fewest` rows (2 or more), from the sorted edges of a spanning tree."""
    n = len(pairs) + 1
    left, right, size = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(2 * n - 1, np.int64)
    merge(pairs, left, right, size)
    found = np.empty((2 * (n // fewest) + 1, 3))
    last, level = np.empty(n, dtype=np.int64), np.empty(n)
    count = condense(left, right, size, distance, fewest, found, last, level)
    parent, birth, sizes = found[:count].T
    return Clusters(parent.astype(np.int64), birth.copy(), sizes.astype(np.int64), last, level)
