"""Partial dependence by recursion, which scikit-learn asks of trees: a weighted walk down each of them.

At a split on a column of the grid a point goes its way, elsewhere both ways in proportion to the training rows; the
answer is the mean of the leaves by these weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from learnt.forestry import BoostedTrees


class Nodes(NamedTuple):
    """A tree, node by node; `left` is −1 in a leaf, whose value counts."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    cover: np.ndarray
    value: np.ndarray


def average(tree: Nodes, grid: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The mean value of a tree at each point of a grid, whose columns are these of the table."""
    weight = np.zeros((len(tree.left), len(grid)))
    weight[0] = 1.0
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        inner = level[tree.left[level] >= 0]
        left, right = tree.left[inner], tree.right[inner]
        known = tree.feature[inner][:, None] == columns
        points = grid[:, known.argmax(axis=1)].T
        share = np.where(known.any(axis=1)[:, None], points <= tree.threshold[inner][:, None], 0.0)
        share += np.where(known.any(axis=1), 0.0, tree.cover[left] / tree.cover[inner])[:, None]
        weight[left], weight[right] = weight[inner] * share, weight[inner] * (1.0 - share)
        level = np.concatenate([left, right])
    leaf = tree.left < 0
    return tree.value[leaf] @ weight[leaf]


def partial_dependence(model: Any, grid: Any, target_features: Any) -> np.ndarray:
    """(n_outputs, n_points), as scikit-learn's of the same estimators: without the constant that boosting begins at."""
    columns = np.asarray(target_features)
    boosted = vars(model).get("_trees")
    if isinstance(boosted, BoostedTrees):
        points = np.asarray(grid, dtype=np.float64)
        out = np.zeros((boosted.n_outputs, len(points)))
        for output, nodes in _boosted(boosted):
            out[output] += average(nodes, points, columns)
        return out
    points = np.asarray(grid, dtype=np.float32)
    members = getattr(model, "estimators_", [model])
    means = np.array([average(_nodes(tree.tree_), points, columns) for tree in _flat(members)])
    if not isinstance(members, np.ndarray):
        return means.mean(axis=0)
    return model.learning_rate * means.reshape(*members.shape, -1).sum(axis=0)


def _flat(members: Any) -> list[Any]:
    return list(members.ravel()) if isinstance(members, np.ndarray) else list(members)


def _nodes(tree: Any) -> Nodes:
    _refuse_categories(np.isnan(tree.threshold).any())
    return Nodes(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.weighted_n_node_samples,
        tree.value[:, 0, 0],
    )


def _boosted(trees: Any) -> Iterator[tuple[int, Nodes]]:
    """The output of each tree, and its nodes."""
    _refuse_categories((trees.feature < -1).any())
    ends = np.append(trees.roots[1:], len(trees.left))
    for first, end, output in zip(trees.roots, ends, trees.outputs, strict=True):
        at = slice(first, end)
        left = np.where(trees.feature[at] >= 0, trees.left[at] - first, -1)
        yield (
            int(output),
            Nodes(left, left + 1, trees.feature[at], trees.threshold[at], trees.cover[at], trees.threshold[at]),
        )


def _refuse_categories(found: bool) -> None:
    if found:
        raise NotImplementedError(
            "Partial dependence by recursion is not for trees that split on categories; pass method='brute'."
        )
