"""A tree grown in a box, the cells of its nodes, and pruning by the likelihood of validation rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.forestry.density import _data
from learnt.forestry.density._rounds import CELL_SCORES as CELL_SCORES
from learnt.forestry.density._rounds import CellRules, grown, root_of, sorted_lines
from learnt.forestry.kept._pruning import keep_nodes
from learnt.forestry.kept._tree import LEAF, UNDEFINED, Tree

_LEAST_PRICE, _PRICES = 0.3, 40  # of a leaf, in the log likelihood of one row; how many are tried


class Box(NamedTuple):
    """Where a density is not 0: the least and the largest value of each column."""

    lower: np.ndarray
    upper: np.ndarray

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Which rows are inside."""
        return np.logical_and.reduce((self.lower <= X) & (self.upper >= X), axis=1)


def grow_density(X: np.ndarray, w: np.ndarray | None, box: Box, rules: CellRules, seed: int = 0) -> Tree:
    """A tree whose leaves are cells of the box; the weight of the rows in them is `weighted_n_node_samples`."""
    n, d = X.shape
    weights = np.empty(0) if w is None else np.ascontiguousarray(w, dtype=np.float64)
    rows = (
        np.ascontiguousarray(X, dtype=np.float64) if rules.score in ("gaussian_entropy", "diagonal_entropy") else None
    )
    nodes = grown(sorted_lines(X, weights, rows), root_of(n, d, n if w is None else w.sum(), *box), rules, seed)
    return _tree(d, nodes.ints, nodes.floats)


def _tree(d: int, ints: np.ndarray, floats: np.ndarray) -> Tree:
    left = ints[:, _data.LEFT]
    leaf = left < 0
    return Tree(
        d,
        [1],
        children_left=np.where(leaf, LEAF, left),
        children_right=np.where(leaf, LEAF, left + 1),
        feature=np.where(leaf, UNDEFINED, ints[:, _data.FEATURE]),
        threshold=np.where(leaf, float(UNDEFINED), floats[:, _data.CUT]),
        impurity=np.where(leaf, 0.0, floats[:, _data.GAIN]),
        n_node_samples=ints[:, _data.END] - ints[:, _data.START],
        weighted_n_node_samples=floats[:, _data.WEIGHT],
        value=np.zeros((len(ints), 1, 1)),
    )


def _levels(tree: Tree) -> list[np.ndarray]:
    """The nodes that split, level by level from the root."""
    inner = np.flatnonzero(~tree.is_leaf)
    depth = tree.depths[inner]
    order = np.argsort(depth, kind="stable")
    return np.split(inner[order], np.cumsum(np.bincount(depth))[:-1]) if len(inner) else []


def cell_bounds(tree: Tree, box: Box) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper bounds of the cell of every node."""
    lower, upper = np.empty((2, tree.node_count, tree.n_features))
    lower[0], upper[0] = box
    for nodes in _levels(tree):
        left, right = tree.children_left[nodes], tree.children_right[nodes]
        for child in (left, right):
            lower[child], upper[child] = lower[nodes], upper[nodes]
        upper[left, tree.feature[nodes]] = lower[right, tree.feature[nodes]] = tree.threshold[nodes]
    return lower, upper


def log_volumes(tree: Tree, box: Box) -> np.ndarray:
    """The logarithm of the volume of the cell of every node."""
    lower, upper = cell_bounds(tree, box)
    return np.log(upper - lower).sum(axis=1)


def weigh(tree: Tree, leaf: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The weight in every node of rows with these leaves."""
    weight = np.bincount(leaf, weights=w, minlength=tree.node_count).astype(np.float64)
    for nodes in reversed(_levels(tree)):
        weight[nodes] = weight[tree.children_left[nodes]] + weight[tree.children_right[nodes]]
    return weight


def constant_worth(tree: Tree, box: Box, weight: np.ndarray) -> np.ndarray:
    """Σ log p of rows of this weight in every node, were it a leaf; p is the density of the rows it was grown on.

    `weight` has a column for each node.
    """
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return weight * (np.log(share) - log_volumes(tree, box))


def best_leaves(
    tree: Tree, worth: np.ndarray, price: float, levels: list[np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Which nodes to keep, and which of them are leaves, so that the leaves' likelihood minus their penalty is largest.

    `levels` are the nodes that may split, level by level, where they are known.
    """
    best, splits = worth - price, np.zeros(tree.node_count, dtype=bool)
    levels = _levels(tree) if levels is None else levels
    for nodes in reversed(levels):
        below = best[tree.children_left[nodes]] + best[tree.children_right[nodes]]
        splits[nodes] = below > best[nodes]
        best[nodes] = np.maximum(below, best[nodes])
    keep = np.zeros(tree.node_count, dtype=bool)
    keep[0] = True
    for nodes in levels:
        keep[tree.children_left[nodes]] = keep[tree.children_right[nodes]] = keep[nodes] & splits[nodes]
    return keep, keep & ~splits


def prune_by_likelihood(tree: Tree, worth: np.ndarray, held: np.ndarray) -> Tree:
    """Prune by the likelihood of the training rows with a penalty for each leaf; validation rows choose the penalty.

    `worth` and `held` have Σ log p of either rows in every node, were it a leaf. One penalty for all leaves is one
    number to choose; if every split were judged on its own, many would be kept by chance.
    """
    unit = tree.weighted_n_node_samples[0] / tree.n_node_samples[0]
    total = (worth[tree.is_leaf].sum() - worth[0]) / unit
    prices = unit * np.append(0.0, np.geomspace(_LEAST_PRICE, max(total, 2 * _LEAST_PRICE), _PRICES))
    levels, likeliest, chosen = _levels(tree), -np.inf, np.ones(tree.node_count, dtype=bool)
    for price in prices:
        keep, leaf = best_leaves(tree, worth, price, levels)
        likelihood = held[leaf].sum()
        if likelihood > likeliest:
            likeliest, chosen = likelihood, keep
        # At a higher price no other node splits: what lies below one has more leaves to pay for than it alone.
        inner = keep & ~leaf
        levels = [some for nodes in levels if len(some := nodes[inner[nodes]])]
    return keep_nodes(tree, chosen)
