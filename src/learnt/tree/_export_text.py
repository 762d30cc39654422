"""A tree as indented lines."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.tree._plot_words import Branch, Wording, listed, parents_of


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The rules of a tree, one line a branch.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of this room, such as `DecisionTreeClassifier`.
    feature_names : list of str or None, default=None
        Names of the columns; None for those seen during `fit`, or "feature_0", "feature_1", ….
    class_names : list of str or None, default=None
        Names of the classes, in the order of `classes_`; None for the labels.
    max_depth : int, default=10
        Branches below this depth are cut off, and a line says so.
    spacing : int, default=3
        Number of dashes and spaces that a level is indented by.
    decimals : int, default=2
        Digits behind the point.
    show_weights : bool, default=False
        Whether leaves of a classification tree show the weight of every class.

    Returns
    -------
    text : str
        The rules of the tree, one line a branch.

    See Also
    --------
    plot_tree : The tree as a picture.
    export_graphviz : The tree as text for Graphviz.
    explain : The path of a single row in words.

    Examples
    --------
    >>> from learnt.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> print(export_text(model, feature_names=["size"]), end="")
    |--- size <= 1.50
    |   |--- class: low
    |--- size >  1.50
    |   |--- class: high
    """
    _check(max_depth=max_depth, spacing=spacing, decimals=decimals)
    wording = Wording(decision_tree, feature_names, class_names)
    tree = wording.tree
    several = tree.n_outputs > 1
    if wording.classifies and not several:
        classes = decision_tree.classes_
        if class_names is None:
            class_names = classes
        elif len(class_names) != len(classes):
            raise ValueError(
                "When `class_names` is an array, it should contain as many items as `decision_tree.classes_`. Got "
                f"{len(class_names)} while the tree was fitted with {len(classes)} classes."
            )
    heights = _heights(tree)

    def leaf(node: int) -> str:
        value = tree.value[node].T[0] if several else tree.value[node][0]
        if not wording.classifies:
            return f" value: [{', '.join(f'{v:.{decimals}f}' for v in value)}]"
        weights = ""
        if show_weights:
            total = tree.weighted_n_node_samples[node]
            weights = f" weights: [{', '.join(f'{v * total:.{decimals}f}' for v in value)}]"
        label = ", ".join(wording.labels(node)) if several else class_names[np.argmax(value)]
        return f"{weights} class: {label}"

    lines: list[str] = []
    stack: list[tuple[int, int, str | None]] = [(0, 1, None)]  # node, depth, or a line that is due between two children
    while stack:
        node, depth, line = stack.pop()
        if line is not None:
            lines.append(line)
            continue
        indent = (("|" + " " * spacing) * depth)[:-spacing] + "-" * spacing
        if depth > max_depth + 1 and heights[node] > 1:
            lines.append(f"{indent} truncated branch of depth {heights[node]}")
            continue
        branches = wording.branches(node)
        if not branches:
            lines.append(indent + leaf(node))
        for branch in reversed(branches):
            stack.append((branch.child, depth + 1, None))
            stack.append((-1, depth, f"{indent} {_question(branch, decimals)}"))
    return "\n".join(lines) + "\n"


def _question(branch: Branch, decimals: int) -> str:
    if branch.relation == "<=":
        return f"{branch.feature} <= {branch.value:.{decimals}f}"
    if branch.relation == ">":
        return f"{branch.feature} >  {branch.value:.{decimals}f}"
    if branch.relation in ("known", "missing"):
        return f"{branch.feature} is {branch.relation}"
    value = branch.value if branch.relation == "=" else f"[{listed(branch.value)}]"
    return f"{branch.feature} {branch.relation} {value}"


def _heights(tree: Any) -> np.ndarray:
    """How many levels hang below each node, itself counted; children come after their parents."""
    heights = np.ones(tree.node_count, dtype=np.int64)
    parents = parents_of(tree).tolist()
    for node in range(tree.node_count - 1, 0, -1):
        heights[parents[node]] = max(heights[parents[node]], heights[node] + 1)
    return heights


def _check(**numbers: Any) -> None:
    for name, value in numbers.items():
        low = 1 if name == "spacing" else 0
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            raise ParameterError(
                f"The {name!r} parameter of export_text must be a whole number of at least {low}. Got {value!r} "
                "instead."
            )
