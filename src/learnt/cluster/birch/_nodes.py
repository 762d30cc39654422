"""The tree of clusters as nodes that can be walked, by scikit-learn's names: made when it is asked for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from learnt.cluster.birch._tree import CFTree


def linked_nodes(tree: CFTree) -> tuple[SimpleNamespace, SimpleNamespace]:
    """The root, and what stands before the first leaf in the list of leaves.

    A node has `subclusters_`, `centroids_` and `is_leaf`, a leaf also the one before and after it (`prev_leaf_`,
    `next_leaf_`); a subcluster has `n_samples_`, `linear_sum_`, `centroid_`, `child_`, and in a leaf its `radius`.
    """
    leaves: dict[int, SimpleNamespace] = {}
    root = _node(tree, int(tree.root[0]), leaves)
    before = first = SimpleNamespace(subclusters_=[], is_leaf=True, prev_leaf_=None, next_leaf_=None)
    for leaf in tree.leaves():
        leaves[leaf].prev_leaf_, before.next_leaf_ = before, leaves[leaf]
        before = leaves[leaf]
    return root, first


def _node(tree: CFTree, node: int, leaves: dict[int, SimpleNamespace]) -> SimpleNamespace:
    filled, is_leaf = int(tree.filled[node]), bool(tree.child[node, 0] < 0)
    entries = []
    for slot in range(filled):
        size = float(tree.size[node, slot])
        entry = SimpleNamespace(
            n_samples_=int(size),
            linear_sum_=tree.total[node, :, slot].copy(),
            centroid_=tree.center[node, :, slot].copy(),
            child_=None if is_leaf else _node(tree, int(tree.child[node, slot]), leaves),
        )
        if is_leaf:
            entry.radius = float(np.sqrt(tree.spread[node, slot] / size))
        entries.append(entry)
    found = SimpleNamespace(subclusters_=entries, centroids_=tree.center[node, :, :filled].T.copy(), is_leaf=is_leaf)
    if is_leaf:
        found.prev_leaf_ = found.next_leaf_ = None
        leaves[node] = found
    return found
