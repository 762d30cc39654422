"""Pruning a grown tree: by cost and complexity, or by its errors on validation rows.

Cost-complexity: a node's subtree T_t is worth keeping while  R(t) − R(T_t) > α (|T_t| − 1),  where R is impurity times
share of the rows and |T_t| the number of leaves. The weakest link, the node with the smallest
α_t = (R(t) − R(T_t)) / (|T_t| − 1), is cut first; doing so until only the root is left gives the path.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.kept._tree import LEAF, UNDEFINED, Tree


def pruning_path(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The α at which subtrees are cut, starting with 0, and the impurity of the remaining leaves at each."""
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
    """Cut weakest links while their α is at most `limit`; returns how many steps of the path were written.

    Links are in a heap, the weakest at its top and the first node of equals before the others. A cut takes the nodes
    below it out, and changes the links of those above it.
    """
    n = risk.size
    leaf_risk, leaves = np.zeros(n), np.zeros(n, np.int64)
    first, following = np.full(n, -1), np.full(n, -1)  # a node's first child, and the next child of its parent
    for node in range(n - 1, -1, -1):
        if n_children[node] == 0:
            leaf_risk[node], leaves[node] = risk[node], 1
        if node > 0:
            leaf_risk[parent[node]] += leaf_risk[node]
            leaves[parent[node]] += leaves[node]
            following[node] = first[parent[node]]
            first[parent[node]] = node
    alphas[0], impurities[0] = 0.0, leaf_risk[0]
    steps = 1
    link, heap, place, size = np.empty(n), np.empty(n, np.int64), np.full(n, -1), 0
    for node in range(n):
        if n_children[node] > 0:
            link[node] = (risk[node] - leaf_risk[node]) / (leaves[node] - 1)
            heap[size], place[node] = node, size
            size += 1
            rise(heap, place, link, size - 1)
    waiting = np.empty(n, np.int64)
    while size > 0 and link[heap[0]] <= limit:
        weakest = heap[0]
        alpha = link[weakest]
        size = take_out(heap, place, link, size, 0)
        gained, lost = risk[weakest] - leaf_risk[weakest], leaves[weakest] - 1
        leaf_risk[weakest] += gained
        leaves[weakest] -= lost
        above = parent[weakest]
        while above >= 0:
            leaf_risk[above] += gained
            leaves[above] -= lost
            link[above] = (risk[above] - leaf_risk[above]) / (leaves[above] - 1)
            sink(heap, place, link, size, rise(heap, place, link, place[above]))
            above = parent[above]
        waiting[0], count = first[weakest], 1
        while count > 0:  # all nodes below
            count -= 1
            node = waiting[count]
            keep[node] = 0
            if place[node] >= 0:
                size = take_out(heap, place, link, size, place[node])
            for other in (following[node], first[node]):
                if other >= 0:
                    waiting[count] = other
                    count += 1
        first[weakest] = -1
        alphas[steps], impurities[steps] = alpha, leaf_risk[0]
        steps += 1
    return steps


@kernel
def rise(heap, place, link, at):
    """Move an entry of the heap towards the top while it is weaker than the one above it; returns its position."""
    node = heap[at]
    while at > 0:
        up = heap[(at - 1) // 2]
        if link[up] < link[node] or (link[up] == link[node] and up < node):
            break
        heap[at], place[up] = up, at
        at = (at - 1) // 2
    heap[at], place[node] = node, at
    return at


@kernel
def sink(heap, place, link, size, at):
    """Move an entry of the heap away from the top while one below it is weaker."""
    node = heap[at]
    while 2 * at + 1 < size:
        side = 2 * at + 1
        if side + 1 < size:
            a, b = heap[side], heap[side + 1]
            if link[b] < link[a] or (link[b] == link[a] and b < a):
                side += 1
        down = heap[side]
        if link[node] < link[down] or (link[node] == link[down] and node < down):
            break
        heap[at], place[down] = down, at
        at = side
    heap[at], place[node] = node, at


@kernel
def take_out(heap, place, link, size, at):
    """Remove an entry from the heap; returns the remaining size."""
    place[heap[at]] = -1
    size -= 1
    if at < size:
        heap[at] = heap[size]
        sink(heap, place, link, size, rise(heap, place, link, at))
    return size
