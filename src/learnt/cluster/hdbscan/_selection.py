"""Which clusters of a tree are selected, and rows' probabilities of membership (Campello, Moulavi and Sander, 2013)."""

from __future__ import annotations

import numpy as np

from learnt.cluster.hdbscan._hierarchy import Clusters


def stabilities(tree: Clusters) -> np.ndarray:
    """Σ (level where a row leaves the cluster − level of its birth) over its rows.

    >>> tree = Clusters(*map(np.array, ([0], [0.0], [2], [0, 0], [1.0, 2.0])))
    >>> stabilities(tree)
    array([3.])
    """
    n = len(tree.parent)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ for duplicate rows, whose cluster is born at λ = ∞
        rows = np.bincount(tree.last, tree.level - tree.birth[tree.last], n)
        parent = tree.parent[1:]
        below = np.bincount(parent, (tree.birth[1:] - tree.birth[parent]) * tree.size[1:], n)
        return np.nan_to_num(rows + below, nan=0.0, posinf=np.inf)


def select(tree: Clusters, method: str, allow_single: bool, most: int | None, epsilon: float) -> np.ndarray:
    """A flag for each cluster that is taken; of a cluster and one inside it only one is.

    method : "eom", the clusters with the largest sum of stabilities, or "leaf", those without clusters inside
    whole : whether all rows may be one cluster
    most : the rows of a cluster at most ("eom")
    epsilon : clusters that part at a smaller distance are not parted
    """
    n = len(tree.parent)
    inner = np.bincount(tree.parent[1:], minlength=n)
    first = 0 if allow_single else 1
    if method == "leaf":
        taken = inner == 0
        taken[0] = False
    else:
        worth = stabilities(tree)
        below = np.zeros(n)
        taken = np.zeros(n, dtype=bool)
        for c in range(n - 1, first - 1, -1):  # children come after their parents
            taken[c] = not (below[c] > worth[c] or (most is not None and tree.size[c] > most))
            if c:
                below[tree.parent[c]] += worth[c] if taken[c] else below[c]
        taken = _outermost(taken, tree.parent)
    if epsilon > 0 and not taken[0]:
        taken = _outermost(_widened(taken, tree, epsilon, allow_single), tree.parent)
    return taken


def _outermost(taken: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Without clusters inside others that are taken."""
    inside = np.zeros(len(taken), dtype=bool)
    for c in range(1, len(taken)):
        inside[c] = inside[parent[c]] or taken[parent[c]]
    return taken & ~inside


def _widened(taken: np.ndarray, tree: Clusters, epsilon: float, allow_single: bool) -> np.ndarray:
    """In place of a cluster that parted at less than `epsilon`, the one around it that did not."""
    with np.errstate(divide="ignore"):
        distance = 1.0 / tree.birth
    out = np.zeros_like(taken)
    for c in np.flatnonzero(taken):
        if distance[c] < epsilon:
            up = tree.parent[c]
            while up != 0 and distance[up] <= epsilon:
                c, up = up, tree.parent[up]
            c = up if up != 0 or allow_single else c
        out[c] = True
    return out


def labels_of(tree: Clusters, taken: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each row, numbered in the order of their first rows and −1 for noise; and its share in it."""
    n = len(taken)
    around = np.full(n, -1)  # the cluster that is taken and holds this one
    for c in range(n):
        around[c] = c if taken[c] else around[tree.parent[c]] if c else -1
    cluster = around[tree.last]
    deepest = np.zeros(n)  # where the last of each cluster leaves it
    np.maximum.at(deepest, tree.last, tree.level)
    np.maximum.at(deepest, tree.parent[1:], tree.birth[1:])
    if taken[0]:  # the root is selected: rows that leave it early are noise
        cluster[tree.level < (1.0 / epsilon if epsilon > 0 else deepest[0])] = -1
    inside = cluster >= 0
    labels = np.full(len(cluster), -1, dtype=np.int64)
    found, first, codes = np.unique(cluster[inside], return_index=True, return_inverse=True)
    labels[inside] = np.argsort(np.argsort(first))[codes] if len(found) else -1
    share = np.zeros(len(cluster))
    end = deepest[cluster[inside]]
    level = np.minimum(tree.level[inside], end)
    with np.errstate(invalid="ignore"):
        share[inside] = np.where((end == 0) | np.isinf(level), 1.0, level / end)
    return labels, share
