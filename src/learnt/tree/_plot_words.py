"""What a tree's nodes are called when it is printed, drawn or explained: names, questions, answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.mixins import is_classifier
from learnt.forestry import Tree

_CODES = 2  # a table of categories begins with the branches of an unseen one and of a missing one


class Branch(NamedTuple):
    """One way on from a node: the child, and what must be true of a row that takes it."""

    child: int
    feature: str
    relation: str  # "<=", ">", "=", "in", "not in", "known" or "missing"
    value: Any  # a threshold, a category or a list of them; None for the last two


class Wording:
    """A fitted tree with the names of its columns and classes."""

    def __init__(
        self, model: Any, feature_names: Any = None, class_names: Any = None, what: str = "feature_{}"
    ) -> None:
        check_is_fitted(model)
        self.model = model
        self.tree: Tree = tree_of(model)
        if feature_names is None and hasattr(model, "feature_names_in_"):
            feature_names = [str(name) for name in model.feature_names_in_]
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

    def labels(self, node: int) -> list[str]:
        """The class of every output at a node of a tree of several."""
        known = getattr(self.model, "classes_", None)
        best = [int(np.argmax(shares)) for shares in self.tree.value[node]]
        return [str(k if known is None else known[output][k]) for output, k in enumerate(best)]

    def branches(self, node: int) -> list[Branch]:
        """The ways on from a node; none from a leaf."""
        tree = self.tree
        if tree.children_left[node] < 0:
            return []
        column = int(tree.feature[node])
        name = self.feature(column)
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if not self._has_table(node):
            threshold = float(tree.threshold[node])
            if threshold == np.inf:
                return [Branch(left, name, "known", None), Branch(right, name, "missing", None)]
            return [Branch(left, name, "<=", threshold), Branch(right, name, ">", threshold)]
        reach = self.reaching(node, column)
        goes = self._goes(node, len(reach))
        children = [int(child) for child in tree.children(node)]
        groups = {
            child: [self.category(column, int(code)) for code in np.flatnonzero((goes == child) & reach)]
            for child in children
        }
        if len(children) == 2 and not groups[left]:
            return [Branch(left, name, "missing", None), Branch(right, name, "known", None)]
        if len(children) == 2 and not groups[right]:
            return [Branch(left, name, "known", None), Branch(right, name, "missing", None)]
        if len(children) == 2:
            return [Branch(left, name, "in", groups[left]), Branch(right, name, "not in", groups[left])]
        return [_one_of_many(child, name, group) for child, group in groups.items()]

    def reaching(self, node: int, column: int) -> np.ndarray:
        """Which categories of a column a row at this node may have: a flag for each code; none of a number."""
        tree = self.tree
        above = []  # the nodes above that ask about the column's categories, and where they send the row
        child, at = node, int(tree.parent[node])
        while at >= 0:
            if tree.feature[at] == column and self._has_table(at):
                above.append((at, child))
            child, at = at, int(tree.parent[at])
        tables = [at for at, _ in above]
        if tree.feature[node] == column and self._has_table(node):
            tables.append(node)
        if not tables:
            return np.zeros(0, dtype=bool)
        size = max(len(self._table(at)) for at in tables)
        found = np.ones(size, dtype=bool)
        for at, child in above:
            found &= self._goes(at, size) == child
        return found

    def _goes(self, node: int, size: int) -> np.ndarray:
        """The child that each of `size` codes goes to; a code behind the table is one never seen."""
        table = self._table(node)
        unseen = self.tree.table[int(self.tree.table_start[node])]
        return np.concatenate([table, np.full(size - len(table), unseen, dtype=table.dtype)])

    def _has_table(self, node: int) -> bool:
        starts = getattr(self.tree, "table_start", None)  # a tree of scikit-learn's has no tables
        return starts is not None and starts[node] >= 0

    def _table(self, node: int) -> np.ndarray:
        """The child that each code goes to."""
        start = int(self.tree.table_start[node])
        return self.tree.table[start + _CODES : start + int(self.tree.table_size[node])]


def _one_of_many(child: int, name: str, group: list[Any]) -> Branch:
    if not group:
        return Branch(child, name, "missing", None)
    return Branch(child, name, "=", group[0]) if len(group) == 1 else Branch(child, name, "in", group)


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


def parents_of(tree: Any) -> np.ndarray:
    """The parent of every node, −1 for the root; of a tree of scikit-learn's too."""
    if isinstance(tree, Tree):
        return tree.parent
    parents = np.full(tree.node_count, -1, dtype=np.int64)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children >= 0)
        parents[children[inner]] = inner
    return parents


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
    >>> words(Branch(1, "age", "missing", None))
    'age is missing'
    """
    return branch.feature + _said(branch, digits, 4)


def in_lines(branch: Branch, digits: int, room: int) -> list[str]:
    """The branch in one line of at most `room` letters, or in two where it would lose some: the name above the rest.

    >>> in_lines(Branch(1, "age", "<=", 12.5), 4, 20)
    ['age ≤ 12.5']
    >>> in_lines(Branch(1, "home town", "in", ["Bern", "Rome", "Oslo"]), 4, 20)
    ['home town', 'is Bern, Rome or Oslo']
    """
    text = words(branch, digits)
    if len(text) <= room:
        return [text]
    rest = [_said(branch, digits, most).strip() for most in (4, 3, 2, 1)]
    fitting = next((said for said in rest if len(said) <= room + 1), shorten(rest[-1], room))
    return [shorten(branch.feature, room), fitting]


def either(items: list[Any], most: int = 4) -> str:
    """Several things as a choice: at most this many by name.

    >>> either(["Bern"]), either(["Bern", "Rome", "Oslo"]), either(list("abcdef"), 2)
    ('Bern', 'Bern, Rome or Oslo', 'a, b or 4 more')
    >>> either(["hunting, fishing", "sales"])
    '“hunting, fishing” or sales'
    """
    shown = [_one(item) for item in items[:most]] + ([f"{len(items) - most:,} more"] if len(items) > most else [])
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def listed(items: list[Any], most: int = 20) -> str:
    """Several things one after the other: at most this many by name."""
    more = [f"… {len(items) - most:,} more"] if len(items) > most else []
    return ", ".join([*(_one(item) for item in items[:most]), *more])


def _one(item: Any) -> str:
    """A thing in a list: in quotation marks where it would read as several."""
    said = str(item)
    return f"“{said}”" if "," in said or " or " in said else said


def shorten(content: str, room: int) -> str:
    """At most `room` letters; the middle gives way, since names differ at their ends."""
    if len(content) <= room or room < 4:
        return content
    head = room // 2
    return f"{content[:head].rstrip()}…{content[len(content) - (room - 1 - head) :].lstrip()}"


def _said(branch: Branch, digits: int, most: int) -> str:
    """What is said of the column."""
    if branch.relation in ("known", "missing"):
        return f" is {branch.relation}"
    if branch.relation in ("<=", ">"):
        return f" {'≤' if branch.relation == '<=' else '>'} {branch.value:.{digits}g}"
    group = [branch.value] if branch.relation == "=" else branch.value
    return f" is {'not ' if branch.relation == 'not in' else ''}{either(group, most)}"
