"""Many trees in a layout for prediction, siblings adjacent: 16 bytes a node, in which any tree and any row can be
traversed
by, and for many rows the few bytes of `_short`.

A node is a record (threshold, left, column). `left` is the number of the left child and the right one is the next;
the upper bits of `column` hold whether a node is inner, whether it sends missing values left, and whether it splits
categories, in which case `left` is the offset of its table. A leaf points to itself and holds, in place of a threshold,
its value, or the number of its row of values where there are several a leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks
from learnt.forestry.bins._bins import flat_view
from learnt.forestry.kept._shapley import tree_contributions
from learnt.forestry.kept._short import LEAST, ShortTrees
from learnt.forestry.kept._traverse import CATEGORIES, INNER, MISSING_LEFT, NODE, add_values, find_leaves
from learnt.forestry.kept._tree import Tree

_SERIAL = 1 << 14  # rows × trees below which threads cost more than they gain
_GRAIN = 1024
_TREES_A_COLUMN = 8


class PackedTrees:
    """Trees that predict together.

    Parameters
    ----------
    nodes : record array of `NODE`
    roots : array of int64, shape (n_trees,)
        The number of each tree's first node.
    columns : array of int64, shape (n_trees,)
        Where in the output the values of a tree are added.
    values : float64 array of shape (n_leaves, width)
        What leaves hold; empty where width is 1, since the value is then in the node.
    table : int32 array
        Tables of categories: their length, then the child of an unseen category, of a missing value, of code 0, 1, …
    n_outputs : int
        Columns of the output.
    origin : int32 array or None
        The number each node had in the tree it comes from.

    Examples
    --------
    >>> stump = Tree(1, [1], children_left=[1, -1, -1], children_right=[2, -1, -1], feature=[0, -2, -2],
    ...              threshold=[0.5, -2, -2], value=[[[0.0]], [[-1.0]], [[1.0]]])
    >>> PackedTrees.from_trees([stump, stump]).sum(np.array([[0.0], [1.0]])).ravel()
    array([-2.,  2.])
    """

    def __init__(
        self,
        nodes: np.ndarray,
        roots: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        table: np.ndarray,
        n_outputs: int,
        origin: np.ndarray | None = None,
    ) -> None:
        self.nodes, self.roots, self.columns, self.values, self.table = nodes, roots, columns, values, table
        self.n_outputs, self.origin = n_outputs, origin
        self._short: dict[tuple[int, bool, bool], ShortTrees | None] = {}

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], columns: Any = None, n_outputs: int | None = None) -> PackedTrees:
        """Trees of one shape; `columns` is the output that each adds its values to (0 for all by default)."""
        width = trees[0].n_outputs * trees[0].max_n_classes
        parts, values, tables, roots, origins = [], [], [], [], []
        at, leaves, table_at = 0, 0, 0
        for tree in trees:
            nodes, order, tree_values, table = _pack(tree, at, leaves, table_at, width)
            parts.append(nodes)
            values.append(tree_values)
            tables.append(table)
            origins.append(order)
            roots.append(at)
            at += len(nodes)
            leaves += len(tree_values)
            table_at += len(table)
        where = np.zeros(len(trees), np.int64) if columns is None else np.asarray(columns, dtype=np.int64)
        return cls(
            np.concatenate(parts),
            np.array(roots, dtype=np.int64),
            where,
            np.concatenate(values),
            np.concatenate(tables),
            width if n_outputs is None else n_outputs,
            np.concatenate(origins),
        )

    def sum(self, X: np.ndarray, out: np.ndarray | None = None, first: int = 0, last: int | None = None) -> np.ndarray:
        """Σ over trees first…last of the value of each row's leaf, added to `out` (n, n_outputs)."""
        last = self.n_trees if last is None else last
        if out is None:
            out = np.zeros((X.shape[0], self.n_outputs))
        short = self._short_form(X, last - first)
        if short is not None:
            short.sum(X, first, last, out)
            return out
        view = flat_view(X)

        def work(lo: int, hi: int) -> None:
            add_values(
                view, lo, hi, first, last, self.nodes, self.roots, self.columns, self.values, self.table, out
            )  # fmt: skip

        if X.shape[0] * (last - first) <= _SERIAL:
            work(0, X.shape[0])
        else:
            for_blocks(work, X.shape[0], grain=_GRAIN)
        return out

    def contributions(self, X: np.ndarray, cover: np.ndarray, output: int | None = None) -> np.ndarray:
        """Shapley values (n, n_outputs, n_features + 1) of the sum over trees; the last is the expected sum.

        `cover` is the weight of the training rows of every node, or of every leaf. With `output` only that one of the
        values of a leaf is explained.
        """
        return tree_contributions(self, cover, X, output)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf of every row in every tree, by its number in the tree it comes from: (n, n_trees)."""
        out = np.empty((X.shape[0], self.n_trees), dtype=np.int64)
        flat, row_step, column_step = flat_view(X)

        def work(lo: int, hi: int) -> None:
            find_leaves(flat, row_step, column_step, lo, hi, self.nodes, self.roots, self.table, out)

        short = self._short_form(X, self.n_trees)
        if short is not None:
            short.apply(X, out)
        elif out.size <= _SERIAL:
            work(0, X.shape[0])
        else:
            for_blocks(work, X.shape[0], grain=_GRAIN)
        if self.origin is None:
            return out - self.roots
        return self.origin[out].astype(np.int64)

    def _short_form(self, X: np.ndarray, trees: int) -> ShortTrees | None:
        """The one-word nodes for the rows of X; None where rows are few or there is no such form."""
        n, d = X.shape
        if n < LEAST or n * trees < len(self.nodes) // 8 or X.dtype not in (np.float32, np.float64):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            missing = bool(np.isnan(np.add.reduce(X, axis=None)))
        # Nodes are half as large where keys are of one byte; too few trees do not repay the search for the keys.
        single = X.dtype == np.float32
        short = self._form(d, True, missing) if trees * (1 if single else _TREES_A_COLUMN) >= d else None
        return self._form(d, False, missing) if short is None and single else short

    def _form(self, *form: Any) -> ShortTrees | None:
        if form not in self._short:
            self._short[form] = ShortTrees.of(self, *form)
        return self._short[form]


def _pack(
    tree: Tree, at: int, leaves: int, table_at: int, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One tree's nodes numbered from `at`: records, old numbers, values of its leaves, tables from `table_at`."""
    n = tree.node_count
    leaf = tree.is_leaf
    inner = np.flatnonzero(~leaf)
    new = np.zeros(n, dtype=np.int64)
    tabled = np.flatnonzero(tree.table_start >= 0)
    if len(tabled) == 0:
        first = 1 + 2 * np.arange(len(inner))
        new[tree.children_left[inner]] = first
        new[tree.children_right[inner]] = first + 1
    else:
        families = [tree.children(node) for node in inner]
        new[np.concatenate(families)] = np.arange(1, n)
    order = np.empty(n, dtype=np.int32)
    order[new] = np.arange(n)
    nodes = np.zeros(n, dtype=NODE)
    nodes["left"][new[inner]] = at + new[tree.children_left[inner]]
    nodes["threshold"][new[inner]] = tree.threshold[inner]
    flags = np.where(tree.missing_go_to_left[inner] > 0, MISSING_LEFT, 0)
    nodes["column"][new[inner]] = tree.feature[inner] | INNER | flags
    outer = new[leaf]
    nodes["left"][outer] = at + outer
    values = tree.value[leaf].reshape(-1, width)
    if width == 1:
        nodes["threshold"][outer] = values[:, 0]
        values = np.empty((0, 1))
    else:
        nodes["threshold"][outer] = leaves + np.arange(len(outer))
    tables = [np.empty(0, np.int32)]
    for node in tabled:
        size = tree.table_size[node]
        entries = tree.table[tree.table_start[node] : tree.table_start[node] + size]
        nodes["left"][new[node]] = table_at
        nodes["column"][new[node]] |= np.uint32(CATEGORIES)
        tables.append(np.r_[size, at + new[entries]].astype(np.int32))
        table_at += size + 1
    return nodes, order, values, np.concatenate(tables)
