"""A tree of clusters (Zhang, Ramakrishnan and Livny, 1996): each entry of a node is the sum of all rows below it.

An entry of a leaf keeps Σ ‖x − centre‖² instead of Σ ‖x‖²: its radius is then exact far from zero too (Lang and
Schubert, 2022). A node with an entry too many becomes two, around the two entries that are farthest apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.cluster.birch._descent import add_above, insert

_DIGITS = 1e-6  # a share of the largest square, below which products leave few digits of a distance


class CFTree(NamedTuple):
    """Entries node by node, `filled` of them in each; nodes are numbered as they are made, the first leaf is node 0."""

    center: np.ndarray  # nodes × features × entries
    total: np.ndarray  # sums of rows
    size: np.ndarray  # nodes × entries: how many rows
    spread: np.ndarray  # of entries of leaves: Σ ‖x − centre‖²
    child: np.ndarray  # the node below; −1 in leaves
    filled: np.ndarray
    after: np.ndarray  # of a leaf the next one, −1 of the last
    root: np.ndarray  # one number

    def level(self, nodes: np.ndarray) -> np.ndarray:
        """The nodes below nodes of one level; −1 for entries of leaves."""
        return self.child[nodes][np.arange(self.child.shape[1]) < self.filled[nodes][:, None]]

    def leaves(self) -> list[int]:
        """The leaves, in the order of their list."""
        found = [0]
        while self.after[found[-1]] >= 0:
            found.append(int(self.after[found[-1]]))
        return found

    def centers(self) -> np.ndarray:
        """The centres of all entries of leaves, leaf by leaf."""
        return np.concatenate([self.center[leaf, :, : self.filled[leaf]].T for leaf in self.leaves()])


def seedling(d: int, branching: int) -> CFTree:
    """A tree of one empty leaf."""
    entries = 1, branching + 1
    center, total = np.zeros((2, 1, d, branching + 1))
    size, spread = np.zeros((2, *entries))
    child, after = np.full(entries, -1, dtype=np.int64), np.full(1, -1, dtype=np.int64)
    return CFTree(center, total, size, spread, child, np.zeros(1, np.int64), after, np.zeros(1, np.int64))


def grown(tree: CFTree, X: np.ndarray, threshold: float) -> CFTree:
    """The tree with the rows of X, C-contiguous float64, in it; the given one is used up."""
    n_nodes, lo = len(tree.filled), 0
    gaps, path = np.empty(tree.size.shape[1]), _path(tree)
    while lo < len(X):
        lo, level = insert(tree, X, lo, path, gaps, threshold**2)
        full = level >= 0
        while level >= 0:
            if n_nodes + 2 > len(tree.filled):
                tree = _with_room(tree, 2 * n_nodes + 2)
            n_nodes = _split(tree, path, level, n_nodes)
            if level == 0:
                break
            level -= 1
            if tree.filled[path[level, 0]] < len(gaps):
                add_above(tree, path, level, X[lo - 1])
                break
        if full:
            path = _path(tree)
    return CFTree._make((*(array[:n_nodes] for array in tree[:-1]), tree.root))


def _path(tree: CFTree) -> np.ndarray:
    """Room for a node and an entry of each level, beginning at the root."""
    node, depth = tree.root[0], 1
    while tree.child[node, 0] >= 0:
        node, depth = tree.child[node, 0], depth + 1
    path = np.zeros((depth, 2), dtype=np.int64)
    path[0, 0] = tree.root[0]
    return path


def _with_room(tree: CFTree, n_nodes: int) -> CFTree:
    more = []
    for array in tree[:-1]:
        room = np.zeros((n_nodes, *array.shape[1:]), dtype=array.dtype)
        room[: len(array)] = array
        more.append(room)
    return CFTree._make((*more, tree.root))


def _split(tree: CFTree, path: np.ndarray, level: int, n_nodes: int) -> int:
    """Make two nodes of one with an entry too many, and two entries of the one above; the number of nodes then."""
    node, new = int(path[level, 0]), n_nodes
    stays = _nearer_to_first(np.ascontiguousarray(tree.center[node].T))
    for array in tree[:5]:
        kept, moved = array[node][..., stays], array[node][..., ~stays]
        array[node, ..., : kept.shape[-1]] = kept
        array[new, ..., : moved.shape[-1]] = moved
    tree.filled[node], tree.filled[new] = stays.sum(), (~stays).sum()
    if tree.child[node, 0] < 0:
        tree.after[new] = tree.after[node]
        tree.after[node] = new
    else:
        tree.after[new] = -1
    if level:
        above, slot = path[level - 1]
        _sum_up(tree, above, slot, node)
        _sum_up(tree, above, tree.filled[above], new)
        tree.filled[above] += 1
        return n_nodes + 1
    root = n_nodes + 1
    _sum_up(tree, root, 0, node)
    _sum_up(tree, root, 1, new)
    tree.filled[root], tree.after[root], tree.root[0] = 2, -1, root
    return n_nodes + 2


def _nearer_to_first(C: np.ndarray) -> np.ndarray:
    """Of the two rows farthest apart, which rows are nearer to the first; it is itself, whatever the distances."""
    D = _squares(C)
    if D.max() < _DIGITS * np.abs(C).max() ** 2:  # far from zero: distances are rounding errors of products
        D = _squares(C - C.mean(axis=0))
    first, second = np.unravel_index(int(D.argmax()), D.shape)
    nearer = D[first] < D[second]
    nearer[first] = True
    return nearer


def _squares(C: np.ndarray) -> np.ndarray:
    """‖cᵢ − cⱼ‖² by products: rounded as scikit-learn's, so that of equals the same are farthest apart."""
    squares = np.einsum("ij,ij->i", C, C)
    D = -2.0 * (C @ C.T)
    D += squares[:, None]
    D += squares
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    return D


def _sum_up(tree: CFTree, node: int, slot: int, below: int) -> None:
    """Make an entry the sum of all entries of a node."""
    k = tree.filled[below]
    tree.size[node, slot] = tree.size[below, :k].sum()
    tree.total[node, :, slot] = tree.total[below, :, :k].cumsum(axis=1)[:, -1]  # in the order of the entries
    tree.center[node, :, slot] = tree.total[node, :, slot] / tree.size[node, slot]
    tree.child[node, slot] = below


def is_whole(tree: Any, d: int) -> bool:
    """Whether a tree from a file is one: every node below one other, leaves at one depth and in one list."""
    kinds = "fffFiiii".lower()
    if not all(isinstance(a, np.ndarray) and a.dtype == ("f8" if k == "f" else "i8") for a, k in zip(tree, kinds)):
        return False
    m, most = len(tree.filled), tree.child.shape[-1]
    shapes = [(m, d, most)] * 2 + [(m, most)] * 3 + [(m,)] * 2 + [(1,)]
    if m < 1 or most < 3 or [a.shape for a in tree] != shapes or not 0 <= tree.root[0] < m:
        return False
    if not (all(np.isfinite(a).all() for a in tree[:4]) and tree.filled.min() > 0 and tree.filled.max() < most):
        return False
    if not (
        (tree.child >= -1).all() and (tree.child < m).all() and (tree.after >= -1).all() and (tree.after < m).all()
    ):
        return False
    nodes, seen = tree.root.copy(), 0
    while True:
        seen += len(nodes)
        below = tree.level(nodes)
        if seen > m or (below == -1).all():
            break
        if (below == -1).any():
            return False
        nodes = below
    if seen != m or len(np.unique(nodes)) != len(nodes):
        return False
    listed: list[int] = []
    leaf = 0
    while leaf >= 0 and len(listed) <= len(nodes):
        listed.append(leaf)
        leaf = int(tree.after[leaf])
    return sorted(listed) == sorted(nodes.tolist())
