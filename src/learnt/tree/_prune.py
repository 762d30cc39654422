"""Reduced-error pruning: cut a fitted tree back where rows it has not seen say that nothing is lost."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from learnt.engine.mixins import is_classifier
from learnt.engine.validation import check_weights
from learnt.engine.weights import without_absent
from learnt.forestry import prune_by_errors
from learnt.tree._base import BaseTree, target_of


def prune(tree: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """A copy of a fitted tree, pruned so that its error on validation rows is least.

    From the leaves upwards, a subtree becomes a leaf wherever that leaf makes no more errors on the rows (X, y) than
    the subtree does. The error is the number of wrong classes, or the sum of (y − prediction)², or of |y − prediction|
    for a tree grown by absolute error. The pruned tree is never worse on these rows, and the smallest that is as good.

    Parameters
    ----------
    tree : DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier or ExtraTreeRegressor
        The fitted tree; it is left as it is.
    X : array-like of shape (n_samples, n_features)
        Validation rows, which the tree was not fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets of these rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts: 2 as two rows, 0 as none. None counts every row once.

    Returns
    -------
    pruned : estimator
        A copy of the tree with fewer leaves, or with as many.

    See Also
    --------
    DecisionTreeClassifier : Prunes by a price of leaves, with `ccp_alpha`, and needs no validation rows.

    Notes
    -----
    This is reduced-error pruning [1]_. It takes one pass over the validation rows, and needs enough of them: a subtree
    that no validation row reaches is cut.

    References
    ----------
    .. [1] J. R. Quinlan, "Simplifying decision trees", International Journal of Man-Machine Studies 27, 1987.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeClassifier
    >>> full = DecisionTreeClassifier(random_state=0).fit([[0], [1], [2], [3], [4]], [0, 0, 1, 0, 1])
    >>> small = prune(full, [[0], [1], [2], [3], [4]], [0, 0, 1, 1, 1])
    >>> full.get_n_leaves(), small.get_n_leaves(), small.predict([[3]])
    (4, 2, array([1]))
    """
    if not isinstance(tree, BaseTree):
        raise TypeError(f"prune takes a fitted decision tree of learnt.tree; it got a {type(tree).__name__}.")
    X, y, sample_weight, _ = without_absent(X, y, sample_weight)
    rows = tree._rows(X)
    targets = target_of(y, rows, "prune")
    targets = targets.reshape(len(targets), -1)
    if targets.shape[1] != tree.n_outputs_:
        raise ValueError(f"y has {targets.shape[1]} outputs and the tree {tree.n_outputs_}; prune with the same ones.")
    weights = check_weights(sample_weight, rows)
    out = copy(tree)
    out.tree_ = prune_by_errors(tree.tree_, _errors(tree, rows, targets, weights))
    return out


def _errors(model: Any, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The summed error of the rows that reach each node, were it a leaf."""
    tree = model.tree_
    weights = np.ones(len(rows)) if weights is None else weights
    leaves = tree.apply(rows)
    if is_classifier(model):
        return _wrong_classes(model, leaves, targets, weights)
    targets = targets.astype(np.float64)
    if model.criterion == "absolute_error":
        return _absolute(tree, leaves, targets, weights)
    # Σ w (y − v)² = Σ w y² − 2 v Σ w y + v² Σ w: sums over the rows of each leaf, added up towards the root. Taken
    # relative to the root's value, so that a mean far from 0 costs no digits.
    error = np.zeros(tree.node_count)
    for k in range(targets.shape[1]):
        centre = tree.value[0, k, 0]
        y, v = targets[:, k] - centre, tree.value[:, k, 0] - centre
        mass, first, second = (_up(tree, leaves, weights * power) for power in (np.ones_like(y), y, y * y))
        error += second - 2 * v * first + v * v * mass
    return error


def _up(tree: Any, leaves: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Amounts of rows summed over each node; a node's children come after it."""
    out = np.bincount(leaves, weights=amounts, minlength=tree.node_count)
    parent = tree.parent
    for node in range(tree.node_count - 1, 0, -1):
        out[parent[node]] += out[node]
    return out


def _wrong_classes(model: Any, leaves: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    tree = model.tree_
    classes = [model.classes_] if model.n_outputs_ == 1 else model.classes_
    error = np.zeros(tree.node_count)
    for k, values in enumerate(classes):
        said = tree.value[:, k].argmax(axis=1)
        error += _up(tree, leaves, weights)
        for c, label in enumerate(values):
            right = _up(tree, leaves, weights * (targets[:, k] == label))
            error -= np.where(said == c, right, 0.0)
    return error


def _absolute(tree: Any, leaves: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Each row is compared with the values of all nodes on its path."""
    error = np.zeros(tree.node_count)
    at = leaves.copy()
    alive = np.arange(len(at))
    while len(alive):
        distance = np.abs(targets[alive] - tree.value[at, :, 0]).sum(axis=1)
        error += np.bincount(at, weights=weights[alive] * distance, minlength=tree.node_count)
        at = tree.parent[at]
        alive, at = alive[at >= 0], at[at >= 0]
    return error
