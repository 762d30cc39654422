"""A grove: the trees of a forest, stored compactly, with 16 bytes a node for prediction and otherwise only the leaves'
values.

The two children of a node are adjacent, in the order in which a depth-first traversal, left first, visits their
parents. The shape of a tree then follows from which nodes are leaves; rows, weights and values of inner nodes follow
from the leaves below them. A file holds the columns, thresholds and leaves only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.bounds import within
from learnt.engine.cached import cached_property
from learnt.engine.threads import run_tasks
from learnt.forestry.kept._grove_layout import add_up, depth_first, lay_nodes, lay_out, parents_first
from learnt.forestry.kept._packed import PackedTrees
from learnt.forestry.kept._traverse import CATEGORIES, INNER, MISSING_LEFT, NODE
from learnt.forestry.kept._tree import CODES, Tree

_COLUMN = CATEGORIES - 1


class Grove:
    """Trees that predict together, and can each be accessed.

    Parameters
    ----------
    n_features : int
    n_classes : int64 array of shape (n_outputs,)
        Classes of each output; 1 where it is a number.
    criterion : str
        "gini", "entropy" or a criterion of numbers: how impurity follows from the leaves.
    sizes : int64 array of shape (n_trees,)
        Nodes of each tree.
    feature : int32 array of shape (n_nodes,)
        The column a node looks at; −1 at a leaf.
    threshold, missing_left : arrays of shape (n_inner,)
    value : float64 array of shape (n_leaves, n_outputs · max_n_classes)
    count, weight : arrays of shape (n_leaves,)
        Rows and weight of each leaf.
    impurity : float64 array
        Of the leaves; of all nodes where it cannot be computed from them; empty for classes.
    table_start, table : int32 arrays
        For each inner node the place of its table of categories, or −1, and all tables: their length, then 0 or 1 (left
        or right) for a category never seen, for a missing value, and for each code. Empty without categories.
    """

    _given: tuple[np.ndarray, ...] | None  # feature, threshold, missing_left until the nodes are laid out
    _value: np.ndarray | None  # None where one value a leaf is in the nodes

    def __init__(
        self,
        n_features: int,
        n_classes: Any,
        criterion: str,
        sizes: Any,
        *,
        feature: Any,
        threshold: Any,
        missing_left: Any,
        value: Any,
        count: Any,
        weight: Any,
        impurity: Any,
        table_start: Any,
        table: Any,
    ) -> None:
        self._keep(n_features, n_classes, criterion, sizes, value, count, weight, impurity, table_start, table)
        self._given = (
            np.asarray(feature, dtype=np.int32),
            np.asarray(threshold, dtype=np.float64),
            np.asarray(missing_left, dtype=np.uint8),
        )
        self._check(*self._given)
        self.roots = np.cumsum(self.sizes) - self.sizes

    def _keep(
        self,
        n_features: int,
        n_classes: Any,
        criterion: str,
        sizes: Any,
        value: Any,
        count: Any,
        weight: Any,
        impurity: Any,
        table_start: Any,
        table: Any,
    ) -> None:
        """All but the shape of the trees."""
        self.n_features, self.criterion = int(n_features), str(criterion)
        self.n_classes = np.asarray(n_classes, dtype=np.int64)
        self.sizes = np.asarray(sizes, dtype=np.int64)
        self._value = np.ascontiguousarray(value, dtype=np.float64)
        self.count = np.asarray(count, dtype=np.int32)
        self._weight, self._impurity = _narrow(weight), _narrow(impurity)
        self.table_start = np.asarray(table_start, dtype=np.int32)
        self.table = np.asarray(table, dtype=np.int32)
        self._given = None
        self._views: list[Any] | None = None

    def _check(self, feature: np.ndarray, threshold: np.ndarray, missing_left: np.ndarray) -> None:
        """Refuse arrays that do not fit each other; the shape of the trees is checked when they are laid out."""
        n, inner = len(feature), feature >= 0
        m = int(inner.sum())
        outputs = len(self.n_classes)
        arrays = feature, threshold, missing_left, self.count, self._weight, self._impurity, self.sizes, self.n_classes
        fits = (
            all(a.ndim == 1 for a in (*arrays, self.table_start, self.table))
            and self.value.ndim == 2
            and n < 2**31
            and outputs > 0
            and within(self.n_classes, 1, self.value.shape[1])
            and len(self.sizes) > 0
            and within(self.sizes, 1, n)
            and self.sizes.sum() == n
            and 1 <= self.n_features < CATEGORIES
            and within(feature, -1, self.n_features - 1)
            and len(threshold) == len(missing_left) == m
            and within(missing_left, 0, 1)
            and self.value.shape == (n - m, outputs * self.n_classes.max())
            and len(self.count) == len(self._weight) == n - m
            and within(self.count, 0, 2**31 - 1)
            and len(self._impurity) in (0, n - m, n)
            and len(self.table_start) in (0, m)
            and within(self.table_start, -1, len(self.table) - 1)
        )
        if fits:  # a tree of k splits has 2k + 1 nodes
            inside = np.add.reduceat(inner, np.cumsum(self.sizes) - self.sizes, dtype=np.int64)
            fits = bool((self.sizes == 2 * inside + 1).all())
        if not fits:
            raise ValueError("the arrays of the trees do not fit each other")
        end = 0
        for start in self.table_start[self.table_start >= 0].tolist():
            size = int(self.table[start])
            sides = self.table[start + 1 : start + 1 + max(size, 0)]
            if start < end or size < CODES or len(sides) < size or not within(sides, 0, 1):
                raise ValueError("the tables of categories do not fit the trees")
            end = start + 1 + size

    @cached_property
    def nodes(self) -> np.ndarray:
        """The records for traversal, computed at their first use."""
        nodes = np.empty(self.sizes.sum(), dtype=NODE)
        self._lay(nodes, 0, 0, 0)
        self._given = None  # all of it is in the nodes now
        if self.width == 1:
            self._value = None
        return nodes

    def _lay(self, nodes: np.ndarray, first_node: int, first_leaf: int, first_table: int) -> None:
        """Write the records of these trees into `nodes`, a slice of those of a larger grove."""
        feature, threshold, missing_left = self.feature, self.threshold, self.missing_left
        words, halves = nodes.view(np.uint32).reshape(-1, 4), nodes.view(np.float64).reshape(-1, 2)
        value = self.value
        if not lay_nodes(self.sizes, feature, threshold, missing_left, value, first_node, first_leaf, words, halves):
            raise ValueError("the arrays of the trees do not fit each other: their leaves close some tree too early")
        if len(self.table_start):
            tabled = self.table_start >= 0
            places = np.flatnonzero(feature >= 0)[tabled]
            nodes["left"][places] = self.table_start[tabled] + first_table
            nodes["column"][places] |= np.uint32(CATEGORIES)

    def _packed_table(self) -> np.ndarray:
        """Tables of categories with the numbers of nodes in place of left and right."""
        if not len(self.table_start):
            return self.table
        out = self.table.copy()
        places = np.flatnonzero(self.inner)
        left = self.left
        for k in np.flatnonzero(self.table_start >= 0):
            start = int(self.table_start[k])
            sides = slice(start + 1, start + 1 + int(self.table[start]))
            out[sides] = left[places[k]] + self.table[sides]
        return out

    @classmethod
    def of(cls, trees: Sequence[Tree], criterion: str) -> Grove:
        """From trees as they were grown."""
        first = trees[0]
        parts = [_parts(tree) for tree in trees]
        offsets = np.cumsum([0] + [len(part["table"]) for part in parts])
        for part, offset in zip(parts, offsets):
            part["table_start"] = np.where(part["table_start"] >= 0, part["table_start"] + offset, -1)
        joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        if not (joined["table_start"] >= 0).any():
            joined["table_start"] = np.empty(0, np.int32)
        inner = joined["feature"] >= 0
        if first.max_n_classes > 1 or (first.n_classes > 1).any() or criterion in _OF_CLASSES:
            joined["impurity"] = np.empty(0)
        elif criterion in _FROM_LEAVES:
            joined["impurity"] = joined["impurity"][~inner]
        return cls(first.n_features, first.n_classes, criterion, [tree.node_count for tree in trees], **joined)

    @classmethod
    def join(cls, groves: Sequence[Grove], n_jobs: int | None = None) -> Grove:
        """Concatenate the trees of several groves, with records for traversal computed at once.

        Since a forest is large.
        """
        if len(groves) == 1:
            return groves[0]
        first, joined = groves[0], cls.__new__(cls)
        parts = {name: np.concatenate([getattr(grove, key) for grove in groves]) for name, key in _JOINED.items()}
        tables = np.cumsum([0] + [len(grove.table) for grove in groves])
        parts["table_start"] = np.empty(0, np.int32)
        if any(len(grove.table_start) for grove in groves):
            starts = [grove._starts(int(offset)) for grove, offset in zip(groves, tables)]
            parts["table_start"] = np.concatenate(starts)
        value = [grove.value for grove in groves] if first.width > 1 else [np.empty((0, 1))]
        joined._keep(first.n_features, first.n_classes, first.criterion, value=np.concatenate(value), **parts)
        nodes = np.empty(joined.sizes.sum(), dtype=NODE)
        ends = np.cumsum([int(grove.sizes.sum()) for grove in groves]).tolist()
        leaves = np.cumsum([0] + [len(grove.count) for grove in groves]).tolist()
        places = zip(groves, [0, *ends], ends, leaves, tables.tolist())
        tasks = [partial(grove._lay, nodes[a:b], a, leaf, table) for grove, a, b, leaf, table in places]
        run_tasks(tasks, n_jobs=n_jobs)
        joined.__dict__["nodes"] = nodes
        joined.roots = np.cumsum(joined.sizes) - joined.sizes
        if first.width == 1:
            joined._value = None
        return joined

    def _starts(self, offset: int) -> np.ndarray:
        if not len(self.table_start):
            return np.full(len(self.threshold), -1, dtype=np.int32)
        return np.where(self.table_start >= 0, self.table_start + offset, -1).astype(np.int32)

    @property
    def n_trees(self) -> int:
        return len(self.sizes)

    @property
    def width(self) -> int:
        """Values of a leaf."""
        return len(self.n_classes) * int(self.n_classes.max())

    @property
    def value(self) -> np.ndarray:
        """The leaves' values, (n_leaves, width); a single value a leaf is in its record."""
        return self.nodes["threshold"][~self.inner][:, None] if self._value is None else self._value

    @property
    def weight(self) -> np.ndarray:
        return self._weight.astype(np.float64, copy=False)

    @property
    def impurity(self) -> np.ndarray:
        return self._impurity.astype(np.float64, copy=False)

    @property
    def inner(self) -> np.ndarray:
        """Which nodes are split."""
        return self._given[0] >= 0 if self._given is not None else self.nodes["column"] >= INNER

    @property
    def feature(self) -> np.ndarray:
        if self._given is not None:
            return self._given[0]
        return np.where(self.inner, (self.nodes["column"] & _COLUMN).astype(np.int32), -1)

    @property
    def threshold(self) -> np.ndarray:
        return self._given[1] if self._given is not None else self.nodes["threshold"][self.inner]

    @property
    def missing_left(self) -> np.ndarray:
        if self._given is not None:
            return self._given[2]
        return (self.nodes["column"][self.inner] & MISSING_LEFT > 0).astype(np.uint8)

    @cached_property
    def _inner_before(self) -> np.ndarray:
        """Inner nodes of all trees before each."""
        inside = np.add.reduceat(self.inner, self.roots, dtype=np.int64)
        return np.cumsum(inside) - inside

    @cached_property
    def packed(self) -> PackedTrees:
        """The trees in the layout for traversal."""
        values = self.value if self.width > 1 else np.empty((0, 1))
        columns = np.zeros(self.n_trees, dtype=np.int64)
        return PackedTrees(self.nodes, self.roots, columns, values, self._packed_table(), self.width)

    def views(self, make: Callable[[], list[Any]]) -> list[Any]:
        """The result of `make` for these trees, cached."""
        if self._views is None:
            self._views = make()
        return self._views

    def __reduce__(self) -> Any:
        return _make, tuple(getattr(self, name) for name in FIELDS)

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number of each node in its tree where parents come first and then the left subtree, as in `tree`."""
        out = np.empty(len(self.nodes), dtype=np.int32)
        parents_first(self.roots, self.sizes, self.left, out)
        return out

    @property
    def left(self) -> np.ndarray:
        """The left child of every node in the whole grove; the node itself at a leaf."""
        inner = np.ascontiguousarray(self.inner)
        out = np.empty(len(inner), dtype=np.int64)
        if not lay_out(self.sizes, inner, out):
            raise ValueError("the arrays of the trees do not fit each other: their leaves close some tree too early")
        return out

    def sum(self, X: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
        """Σ over trees first…last of the values of each row's leaf, (n, n_outputs · max_n_classes)."""
        return self.packed.sum(X, None, first, last)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The number of each row's leaf in each tree, (n, n_trees)."""
        return self.numbers[self.packed.apply(X) + self.roots].astype(np.int64)

    def contributions(self, X: np.ndarray, output: int | None = None) -> np.ndarray:
        """Shapley values (n, n_outputs, n_features + 1) of the mean over trees; with `output` of that value alone."""
        out = self.packed.contributions(X, self.weight, output)
        out /= self.n_trees
        return out

    def tree(self, t: int) -> Tree:
        """One tree as a `Tree`, with all its attributes."""
        lo, hi = int(self.roots[t]), int(self.roots[t] + self.sizes[t])
        nodes, n = self.nodes[lo:hi], hi - lo
        inner = nodes["column"] >= INNER
        before, m = int(self._inner_before[t]), int(inner.sum())
        leaves = slice(lo - before, lo - before + n - m)
        left = np.full(n, -1, dtype=np.int64)
        lay_out(self.sizes[t : t + 1], np.ascontiguousarray(inner), left)
        left[~inner] = -1
        count, weight = np.zeros(n, np.int64), np.zeros(n)
        value, impurity = np.zeros((n, self.width)), np.zeros(n)
        count[~inner], weight[~inner] = self.count[leaves], self._weight[leaves]
        value[~inner] = nodes["threshold"][~inner, None] if self._value is None else self._value[leaves]
        outputs = len(self.n_classes)
        if len(self._impurity) == len(self.count):
            impurity[~inner] = self._impurity[leaves]
        add_up(left, count, weight, value, impurity, outputs)
        if len(self._impurity) == len(self.nodes):
            impurity = self._impurity[lo:hi]
        elif not len(self._impurity):
            impurity = _class_impurity(value.reshape(n, outputs, -1), self.criterion)
        number = self.numbers[lo:hi]
        order = np.argsort(number)  # from the numbers of the tree to places here
        child = np.where(inner, number[np.where(inner, left, 0)], -1)
        other = np.where(inner, number[np.where(inner, left + 1, 0)], -1)
        arrays: dict[str, Any] = {}
        if len(self.table_start):
            start, size = np.full(n, -1), np.zeros(n, np.int64)
            start[inner], size[inner], arrays["table"] = self._tree_tables(
                self.table_start[before : before + m], child[inner], other[inner]
            )
            arrays["table_start"], arrays["table_size"] = start[order], size[order]
        return Tree(
            self.n_features,
            self.n_classes,
            children_left=child[order],
            children_right=other[order],
            feature=np.where(inner, (nodes["column"] & _COLUMN).astype(np.int64), -2)[order],
            threshold=np.where(inner, nodes["threshold"], -2.0)[order],
            missing_go_to_left=(inner & (nodes["column"] & MISSING_LEFT > 0))[order],
            impurity=impurity[order],
            n_node_samples=count[order],
            weighted_n_node_samples=weight[order],
            value=value[order].reshape(n, outputs, -1),
            **arrays,
        )

    def _tree_tables(
        self, starts: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the tables of a tree's inner nodes begin and how long they are, and the tables."""
        new, sizes, parts, at = np.full(len(starts), -1), np.zeros(len(starts), np.int64), [np.empty(0, np.int32)], 0
        for k in np.flatnonzero(starts >= 0):
            start = int(starts[k])
            sizes[k], new[k] = self.table[start], at
            sides = self.table[start + 1 : start + 1 + sizes[k]]
            parts.append(np.where(sides == 1, right[k], left[k]).astype(np.int32))
            at += int(sizes[k])
        return new, sizes, np.concatenate(parts)


FIELDS = (
    "n_features",
    "n_classes",
    "criterion",
    "sizes",
    "feature",
    "threshold",
    "missing_left",
    "value",
    "count",
    "weight",
    "impurity",
    "table_start",
    "table",
)
_OF_CLASSES = ("gini", "entropy", "log_loss", "error")
_FROM_LEAVES = ("squared_error", "friedman_mse")
_JOINED = {"sizes": "sizes", "count": "count", "weight": "_weight", "impurity": "_impurity", "table": "table"}


def _make(*fields: Any) -> Grove:
    return Grove(**dict(zip(FIELDS, fields, strict=True)))


def _narrow(numbers: Any) -> np.ndarray:
    """In float32 where that is exact, as for small integers; else in float64."""
    numbers = np.asarray(numbers)
    if numbers.dtype == np.float32:
        return numbers
    with np.errstate(over="ignore", invalid="ignore"):
        short = numbers.astype(np.float32)
    return short if np.array_equal(short, numbers) else numbers.astype(np.float64, copy=False)


def _parts(tree: Tree) -> dict[str, np.ndarray]:
    """The arrays of a grove of one tree."""
    order = np.empty(tree.node_count, dtype=np.int64)
    depth_first(tree.children_left, tree.children_right, order)
    inner = tree.children_left[order] >= 0
    rows, leaves = order[inner], order[~inner]
    starts = np.full(len(rows), -1, dtype=np.int32)
    tables, at = [np.empty(0, dtype=np.int32)], 0
    for k in np.flatnonzero(tree.table_start[rows] >= 0):
        node = rows[k]
        size = int(tree.table_size[node])
        entries = tree.table[tree.table_start[node] : tree.table_start[node] + size]
        tables.append(np.r_[size, entries != tree.children_left[node]].astype(np.int32))
        starts[k], at = at, at + size + 1
    return {
        "feature": np.where(inner, tree.feature[order], -1).astype(np.int32),
        "threshold": tree.threshold[rows],
        "missing_left": tree.missing_go_to_left[rows],
        "value": tree.value[leaves].reshape(len(leaves), -1),
        "count": tree.n_node_samples[leaves].astype(np.int32),
        "weight": tree.weighted_n_node_samples[leaves],
        "impurity": tree.impurity[order],
        "table_start": starts,
        "table": np.concatenate(tables),
    }


def _class_impurity(value: np.ndarray, criterion: str) -> np.ndarray:
    """Of every node, from the shares of its classes."""
    if criterion == "gini":
        return (1.0 - (value**2).sum(axis=2)).mean(axis=1)
    if criterion == "error":
        return (1.0 - value.max(axis=2)).mean(axis=1)
    logs = np.log2(value, out=np.zeros_like(value), where=value > 0)
    return np.abs((value * logs).sum(axis=2).mean(axis=1))
