"""Cutting a grown tree back: by cost and complexity, or by its errors on rows that it has not seen.

Cost-complexity: a node's subtree T_t is worth keeping while  R(t) − R(T_t) > α (|T_t| − 1),  where R is impurity times
share of the rows and |T_t| the number of leaves. The weakest link, the node with the smallest
α_t = (R(t) − R(T_t)) / (|T_t| − 1), is cut first; doing so until only the root is left gives the path.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry._tree import LEAF, UNDEFINED, Tree


def pruning_path(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The α at which subtrees are cut, starting with 0, and the impurity of the leaves that are left at each."""
    alphas, impurities = np.zeros(tree.node_count + 1), np.zeros(tree.node_count + 1)
    keep = np.ones(tree.node_count, dtype=np.uint8)
    n = cut_weakest(_risks(tree), tree.parent, _child_counts(tree), np.inf, keep, alphas, impurities)
    return alphas[:n], impurities[:n]


def prune_by_cost(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree whose cost R + α |T| is least."""
    keep = np.ones(tree.node_count, dtype=np.uint8)
    cut_weakest(
        _risks(tree), tree.parent, _child_counts(tree), alpha, keep, np.zeros(tree.node_count + 1),
        np.zeros(tree.node_count + 1),
    )  # fmt: skip
    return keep_nodes(tree, keep.astype(bool))


def prune_by_errors(tree: Tree, errors: np.ndarray) -> Tree:
    """Reduced-error pruning: a subtree becomes a leaf wherever that does not raise the error on validation rows.

    `errors[t]` is the summed error of the validation rows that reach node t if t is a leaf.
    """
    best = errors.astype(np.float64).copy()  # the least error below each node; children come after their parents
    below = np.zeros(tree.node_count)
    cut = tree.is_leaf.copy()
    parent = tree.parent
    for node in range(tree.node_count - 1, -1, -1):
        if not cut[node]:
            cut[node] = errors[node] <= below[node]
            best[node] = min(errors[node], below[node])
        if node:
            below[parent[node]] += best[node]
    keep = np.ones(tree.node_count, dtype=bool)
    for node in range(1, tree.node_count):
        keep[node] = keep[parent[node]] and not cut[parent[node]]
    return keep_nodes(tree, keep)


def keep_nodes(tree: Tree, keep: np.ndarray) -> Tree:
    """The tree of the nodes marked; a node whose children are not kept is a leaf. All children of a node, or none."""
    if keep.all():
        return tree
    place = np.cumsum(keep) - 1
    arrays = tree.arrays()
    table = arrays.pop("table")
    kept = {name: array[keep] for name, array in arrays.items()}
    inner = np.flatnonzero(keep & ~tree.is_leaf)
    leaf = np.ones(int(keep.sum()), dtype=bool)
    leaf[place[inner]] = ~keep[tree.children_left[inner]]
    for name in ("children_left", "children_right"):
        kept[name] = np.where(leaf, LEAF, place[kept[name]])
    kept["feature"] = np.where(leaf, UNDEFINED, kept["feature"])
    kept["threshold"] = np.where(leaf, float(UNDEFINED), kept["threshold"])
    kept["missing_go_to_left"] = np.where(leaf, 0, kept["missing_go_to_left"])
    kept["table_start"] = np.where(leaf, -1, kept["table_start"])
    tables, at = [], 0
    for node in np.flatnonzero(kept["table_start"] >= 0):
        start, size = kept["table_start"][node], kept["table_size"][node]
        tables.append(place[table[start : start + size]])
        kept["table_start"][node] = at
        at += size
    kept["table_size"] = np.where(kept["table_start"] >= 0, kept["table_size"], 0)
    surrogates = None if tree.surrogates is None else tree.surrogates.kept(keep, leaf)
    return Tree(
        tree.n_features,
        tree.n_classes,
        table=np.concatenate(tables) if tables else np.empty(0),
        surrogates=surrogates,
        **kept,
    )


def _risks(tree: Tree) -> np.ndarray:
    return tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]


def _child_counts(tree: Tree) -> np.ndarray:
    return np.bincount(tree.parent[1:], minlength=tree.node_count)


@kernel
def cut_weakest(risk, parent, n_children, limit, keep, alphas, impurities):
    """Cut weakest links while their α is at most `limit`; returns how many steps of the path were written."""
    n = risk.size
    leaf_risk, leaves = np.zeros(n), np.zeros(n, np.int64)
    for node in range(n - 1, -1, -1):
        if n_children[node] == 0:
            leaf_risk[node], leaves[node] = risk[node], 1
        if node > 0:
            leaf_risk[parent[node]] += leaf_risk[node]
            leaves[parent[node]] += leaves[node]
    alphas[0], impurities[0] = 0.0, leaf_risk[0]
    steps = 1
    cut = n_children == 0
    while not cut[0]:
        weakest, link = -1, np.inf
        for node in range(n):
            if keep[node] and not cut[node]:
                value = (risk[node] - leaf_risk[node]) / (leaves[node] - 1)
                if value < link:
                    weakest, link = node, value
        if weakest < 0 or link > limit:
            break
        gained, lost = risk[weakest] - leaf_risk[weakest], leaves[weakest] - 1
        above = weakest
        while above >= 0:
            leaf_risk[above] += gained
            leaves[above] -= lost
            above = parent[above] if above > 0 else -1
        cut[weakest] = True
        for node in range(weakest + 1, n):
            keep[node] = keep[node] and keep[parent[node]] and not cut[parent[node]]
        alphas[steps], impurities[steps] = link, leaf_risk[0]
        steps += 1
    return steps
