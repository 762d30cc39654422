"""Why a tree says what it says of one row: its path in words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.engine.validation import check_predict
from learnt.tree._plot_words import Branch, Wording, either, words


def explain(decision_tree: Any, x: Any, *, feature_names: Any = None, class_names: Any = None) -> str:
    """The path of one row in words: each column once, with the bounds that the path put on it, and the answer.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this room, such as `DecisionTreeClassifier`.
    x : array-like of shape (n_features,) or (1, n_features), or data frame of one row
        The row to explain.
    feature_names : list of str or None, default=None
        Names of the columns; None for those seen during `fit`, or their numbers.
    class_names : list of str or None, default=None
        Names of the classes, in the order of `classes_`; None for the labels.

    Returns
    -------
    text : str
        A sentence: the answer, how many training rows stand behind it, and the bounds that led there.

    See Also
    --------
    plot_tree : The whole tree as a picture.
    export_text : The whole tree as indented lines.
    learnt.inspection.contributions : What each column adds to a prediction, of any model.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> explain(model, [2.2], feature_names=["size"])
    'high (2 of 2 rows): because size > 1.5 (it is 2.2).'
    """
    names = feature_names if feature_names is not None else getattr(decision_tree, "feature_names_in_", None)
    wording = Wording(decision_tree, None if names is None else [str(name) for name in names], class_names, "column {}")
    row = _one_row(decision_tree, x)
    path = wording.tree.decision_path(row[None]).indices
    steps = []
    for node, child in zip(path[:-1].tolist(), path[1:].tolist()):
        chosen = next(branch for branch in wording.branches(node) if branch.child == child)
        steps.append((int(wording.tree.feature[node]), chosen))
    node = int(path[-1])
    answer = _answer(wording, node, class_names, row)
    if not steps:
        return f"{answer}: whatever the row, since the tree is a single leaf."
    return f"{answer}: because {_and(_reasons(wording, steps, row))}."


def _one_row(model: Any, x: Any) -> np.ndarray:
    if not hasattr(x, "columns") and np.ndim(x) == 1:
        x = np.asarray(x, dtype=object if any(isinstance(cell, str) for cell in x) else None)[None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # one row is often a plain list
        if hasattr(model, "_rows"):
            X = model._rows(x)  # with codes in place of categories
        else:
            X = check_predict(model, x, accept_sparse=True, allow_nan=True, any_cells=False)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.shape[0] != 1:
        raise ValueError(f"explain takes one row; it got {X.shape[0]}: pass X[i].")
    return X[0]


def _reasons(wording: Wording, steps: list[tuple[int, Branch]], row: np.ndarray) -> list[str]:
    """One phrase a column, in the order in which the tree first asks about it."""
    branches: dict[int, list[Branch]] = {}
    for column, branch in steps:
        branches.setdefault(column, []).append(branch)
    return [_reason(wording, column, branches, row[column]) for column, branches in branches.items()]


def _reason(wording: Wording, column: int, branches: list[Branch], value: float) -> str:
    name = branches[0].feature
    if np.isnan(value):
        return f"{name} is missing"
    above = [branch.value for branch in branches if branch.relation == ">"]
    below = [branch.value for branch in branches if branch.relation == "<="]
    if above and below:
        return f"{max(above):.4g} < {name} ≤ {min(below):.4g} (it is {value:.4g})"
    if above or below:
        bound = f"> {max(above):.4g}" if above else f"≤ {min(below):.4g}"
        return f"{name} {bound} (it is {value:.4g})"
    reach = wording.reaching(branches[-1].child, column)
    if not len(reach):
        return f"{words(branches[-1])} (it is {value:.4g})"
    if value < 0 or value >= len(reach):
        return f"{name} is none of the categories of training"
    own = wording.category(column, int(value))
    choices = [wording.category(column, int(code)) for code in np.flatnonzero(reach)]
    return f"{name} is {either([own])}" if len(choices) < 2 else f"{name} is {either(choices)} (it is {own})"


def _answer(wording: Wording, leaf: int, class_names: Any, row: np.ndarray) -> str:
    tree = wording.tree
    count = int(tree.n_node_samples[leaf])
    rows = f"{count:,} row{'s' if count != 1 else ''}"
    if hasattr(wording.model, "leaves_"):
        return f"{wording.model.predict(row[None])[0]:.4g} (by a model of {rows})"
    if not wording.classifies:
        return f"{', '.join(f'{v:.4g}' for v in tree.value[leaf][:, 0])} (the mean of {rows})"
    if tree.n_outputs > 1:
        return f"{', '.join(wording.labels(leaf))} ({rows})"
    shares = tree.value[leaf][0]
    best = int(np.argmax(shares))
    label = wording.model.classes_[best] if class_names is None else class_names[best]
    right = shares[best] * tree.weighted_n_node_samples[leaf]
    if abs(right - round(right)) < 1e-6 and abs(tree.weighted_n_node_samples[leaf] - count) < 1e-6:
        return f"{label} ({round(right):,} of {rows})"
    return f"{label} ({100 * shares[best]:.3g}% of {rows})"


def _and(phrases: list[str]) -> str:
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"
