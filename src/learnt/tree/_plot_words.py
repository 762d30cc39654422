"""What a tree's nodes are called when it is printed, drawn or explained: names, questions, answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from learnt.forestry import Tree

_CODES = 2  # a table of categories begins with the branches of an unseen one and of a missing one


class Branch(NamedTuple):
    """One way on from a node: the child, and what must be true of a row that takes it."""

    child: int
    feature: str
    relation: str  # "<=", ">", "=", "in" or "not in"
    value: Any  # a threshold, or a list of categories


class Wording:
    """A fitted tree with the names of its columns and classes."""

    def __init__(
        self, model: Any, feature_names: Any = None, class_names: Any = None, what: str = "feature_{}"
    ) -> None:
        check_is_fitted(model)
        self.model = model
        self.tree: Tree = tree_of(model)
        if feature_names is not None:
            feature_names = check_names(feature_names, self.tree.n_features)
        self.feature_names = feature_names
        self._what = what
        self.classifies = is_classifier(model) and self.tree.n_classes[0] != 1
        self.class_names = class_names

    def feature(self, column: int) -> str:
        """What a column is called."""
        if self.feature_names is not None:
            return str(self.feature_names[column])
        return self._what.format(column)

    def category(self, column: int, code: int) -> Any:
        """The category that a code stands for."""
        known = getattr(self.model, "_categories", None)
        if known is None or column not in known.columns:
            return code
        values = known.values[int(np.flatnonzero(known.columns == column)[0])]
        return values[code] if code < len(values) else code

    def branches(self, node: int) -> list[Branch]:
        """The ways on from a node; none from a leaf."""
        tree = self.tree
        if tree.children_left[node] < 0:
            return []
        column = int(tree.feature[node])
        name = self.feature(column)
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        starts = getattr(tree, "table_start", None)  # a tree of scikit-learn's has no tables
        start = -1 if starts is None else int(starts[node])
        if start < 0:
            threshold = float(tree.threshold[node])
            return [Branch(left, name, "<=", threshold), Branch(right, name, ">", threshold)]
        table = tree.table[start + _CODES : start + int(tree.table_size[node])]
        children = [int(child) for child in tree.children(node)]
        groups = {
            child: [self.category(column, int(code)) for code in np.flatnonzero(table == child)] for child in children
        }
        if len(children) == 2:
            return [Branch(left, name, "in", groups[left]), Branch(right, name, "not in", groups[left])]
        return [
            Branch(child, name, "=" if len(group) == 1 else "in", group[0] if len(group) == 1 else group)
            for child, group in groups.items()
        ]


def tree_of(model: Any) -> Tree:
    """The tree of a fitted estimator, or the tree itself."""
    if isinstance(model, Tree):
        return model
    tree = getattr(model, "tree_", None)
    if tree is None:
        raise TypeError(
            f"A {type(model).__name__} has no tree to show; pass a fitted DecisionTreeClassifier or "
            "DecisionTreeRegressor, or one member of an ensemble, model.estimators_[0]."
        )
    return tree


def check_names(names: Any, count: int) -> list[str]:
    """One name a column, as strings."""
    names = list(np.asarray(names, dtype=object).ravel()) if not isinstance(names, list) else names
    if any(not isinstance(name, str) for name in names):
        raise ValueError("All feature names must be strings: convert them with str first.")
    if len(names) != count:
        raise ValueError(
            f"Length of feature_names, {len(names)} does not match number of features, {count}: feature_names must "
            f"contain {count} elements, got {len(names)}."
        )
    return names


def words(branch: Branch, digits: int = 4) -> str:
    """The branch as people say it.

    >>> words(Branch(1, "age", "<=", 12.5)), words(Branch(1, "town", "in", ["Bern", "Rome"]))
    ('age ≤ 12.5', 'town is Bern or Rome')
    """
    if branch.relation == "<=":
        return f"{branch.feature} ≤ {branch.value:.{digits}g}"
    if branch.relation == ">":
        return f"{branch.feature} > {branch.value:.{digits}g}"
    group = [branch.value] if branch.relation == "=" else branch.value
    shown = [str(item) for item in group[:4]] + ([f"{len(group) - 4} more"] if len(group) > 4 else [])
    either = " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
    return f"{branch.feature} is {'not ' if branch.relation == 'not in' else ''}{either}"
