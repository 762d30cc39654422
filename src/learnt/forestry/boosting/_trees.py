"""The trees of a boosted model: packed for prediction, with what explaining and keeping them needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from learnt.engine.bounds import rising, within
from learnt.engine.cached import cached_property
from learnt.forestry.bins._bins import Bins
from learnt.forestry.boosting._grower import GrownTree
from learnt.forestry.kept._packed import PackedTrees
from learnt.forestry.kept._traverse import CATEGORIES, COLUMN, INNER, MISSING_LEFT, NODE
from learnt.forestry.kept._tree import Tree

_MOST_NODES = 2**31  # numbers of nodes are kept in 32 bits
_FIELDS = {
    "threshold": np.float64,
    "left": np.int64,
    "feature": np.int64,
    "missing_left": np.uint8,
    "cover": np.float64,
    "gain": np.float64,
    "roots": np.int64,
    "outputs": np.int64,
    "table": np.int32,
}


class BoostedTrees:
    """Trees whose values add up to a score for each output.

    Parameters
    ----------
    n_features, n_outputs : int
    threshold : float64 array, one entry a node
        The value of a leaf; elsewhere x ≤ threshold goes left.
    left : int64 array
        The left child, the right one is the next; a leaf's is itself. The place of its table for a node of categories.
    feature : int64 array
        The column a node looks at; −1 in a leaf, −2 − column where it looks at categories.
    missing_left : uint8 array
    cover, gain : float64 array
        Training rows that came to a node, and what its split gained.
    roots, outputs : int64 array, one entry a tree
        The first node of a tree and the output it adds to.
    table : int32 array
        Tables of categories: their length, then the child of an unseen category, of a missing one, of bin 0, 1, …
    """

    def __init__(self, n_features: int, n_outputs: int, **arrays: Any) -> None:
        self.n_features, self.n_outputs = int(n_features), int(n_outputs)
        for name, dtype in _FIELDS.items():
            setattr(self, name, np.ascontiguousarray(arrays.pop(name), dtype=dtype))
        if arrays:
            raise TypeError(f"BoostedTrees has no array named {sorted(arrays)[0]!r}.")

    threshold: np.ndarray
    left: np.ndarray
    feature: np.ndarray
    missing_left: np.ndarray
    cover: np.ndarray
    gain: np.ndarray
    roots: np.ndarray
    outputs: np.ndarray
    table: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_outputs: int) -> BoostedTrees:
        """No tree yet."""
        return cls(n_features, n_outputs, **{name: np.empty(0, dtype) for name, dtype in _FIELDS.items()})

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    def fields(self) -> dict[str, np.ndarray]:
        """Every array by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def extended(self, others: Sequence[BoostedTrees]) -> BoostedTrees:
        """These trees and then those."""
        parts = [self, *others]
        nodes = np.cumsum([0] + [len(part.left) for part in parts])
        tables = np.cumsum([0] + [len(part.table) for part in parts])
        moved: dict[str, list[np.ndarray]] = {name: [] for name in _FIELDS}
        for part, at, table_at in zip(parts, nodes[:-1], tables[:-1], strict=True):
            for name, array in part.fields().items():
                if name == "left":
                    array = array + np.where(part.feature < -1, table_at, at)
                elif name == "roots":
                    array = array + at
                elif name == "table" and at:
                    array = array + at
                    array[part.table_sizes] -= at
                moved[name].append(array)
        joined = {name: np.concatenate(arrays) for name, arrays in moved.items()}
        return BoostedTrees(self.n_features, self.n_outputs, **joined)

    def first(self, n_trees: int) -> BoostedTrees:
        """The first trees only."""
        if n_trees >= self.n_trees:
            return self
        end = int(self.roots[n_trees])
        arrays = {name: array[:end] for name, array in self.fields().items()}
        arrays.update(roots=self.roots[:n_trees], outputs=self.outputs[:n_trees])
        sizes = self.table_sizes
        used = np.flatnonzero(self.feature[:end] < -1)
        arrays["table"] = self.table if len(used) == len(sizes) else self.table[: sizes[len(used)]]
        return BoostedTrees(self.n_features, self.n_outputs, **arrays)

    @property
    def table_sizes(self) -> np.ndarray:
        """Where in `table` the lengths are: tables come in the order of their nodes."""
        return self.left[self.feature < -1]

    @cached_property
    def packed(self) -> PackedTrees:
        """The same trees in the layout of the prediction kernel."""
        nodes = np.zeros(len(self.left), dtype=NODE)
        nodes["threshold"], nodes["left"] = self.threshold, self.left
        leaf, categories = self.feature == -1, self.feature < -1
        column = np.where(categories, -2 - self.feature, np.maximum(self.feature, 0))
        flags = np.where(leaf, 0, INNER) | np.where(self.missing_left > 0, MISSING_LEFT, 0)
        nodes["column"] = column | flags | np.where(categories, CATEGORIES, 0)
        return PackedTrees(nodes, self.roots, self.outputs, np.empty((0, 1)), self.table, self.n_outputs)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "packed"}

    def importances(self) -> np.ndarray:
        """The share of each column in all gains."""
        inner = self.feature != -1
        column = np.where(self.feature < -1, -2 - self.feature, self.feature)
        total = np.bincount(column[inner], weights=self.gain[inner], minlength=self.n_features)
        return total / total.sum() if total.sum() > 0 else total

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Shapley values (n, n_outputs, n_features + 1): what each column adds to the score, and the expected score."""
        return self.packed.contributions(X, self.cover)

    @cached_property
    def depth(self) -> int:
        """The number of splits on the longest path from a root to a leaf."""
        depths = np.zeros(len(self.left), dtype=np.int64)
        deepest = 0
        for node in np.flatnonzero(self.feature != -1).tolist():
            for child in self.children(node):
                depths[child] = depths[node] + 1
                deepest = max(deepest, int(depths[child]))
        return deepest

    def children(self, node: int) -> tuple[int, int]:
        """The left and the right child of an inner node."""
        left = int(self.left[node])
        if self.feature[node] < -1:
            size = int(self.table[left])
            entries = self.table[left + 1 : left + 1 + size]
            return int(entries.min()), int(entries.max())
        return left, left + 1

    def validate(self) -> None:
        """Raise unless every node but the roots is the child of exactly one, earlier, node of its tree.

        Then every traversal from a root ends in a leaf of its tree and stays inside the arrays.
        """
        n = len(self.left)
        shapes = {name: getattr(self, name).shape for name in _FIELDS}
        if any(shapes[name] != (n,) for name in list(_FIELDS)[:6]) or shapes["roots"] != shapes["outputs"]:
            raise ValueError("boosted trees have arrays of unequal length")
        if n > _MOST_NODES or any(len(shape) != 1 for shape in shapes.values()):
            raise ValueError("boosted trees have arrays of another shape than trees")
        if not 1 <= self.n_features <= COLUMN or self.n_outputs < 1:
            raise ValueError("boosted trees have no features or no outputs")
        if bool(len(self.roots)) != bool(n) or not within(self.roots, 0, n - 1) or not rising(self.roots):
            raise ValueError("boosted trees have roots that are not in order")
        if n and self.roots[0] != 0:
            raise ValueError("boosted trees have nodes before their first root")
        if not within(self.outputs, 0, self.n_outputs - 1):
            raise ValueError("boosted trees add to an output that does not exist")
        if not within(self.feature, -1 - self.n_features, self.n_features - 1):
            raise ValueError("boosted trees split on a column that does not exist")
        nodes = np.arange(n)
        categories, leaf = self.feature < -1, self.feature == -1
        if not within(self.left[~categories], 0, n - 1) or (self.left[leaf] != nodes[leaf]).any():
            raise ValueError("boosted trees have leaves that lead elsewhere, or children that do not exist")
        first = np.where(leaf, 0, self.left)
        first[categories] = self._first_of_tables(np.flatnonzero(categories))
        ends = np.append(self.roots[1:], n)
        end = ends[np.searchsorted(self.roots, nodes, side="right") - 1] if n else nodes
        first, owner = first[~leaf], nodes[~leaf]
        if (first <= owner).any() or (first + 1 >= end[owner]).any():
            raise ValueError("boosted trees have children outside their tree")
        parents = np.bincount(np.concatenate([first, first + 1, self.roots]), minlength=n)
        if (parents != 1).any():
            raise ValueError("boosted trees have nodes that are not the child of exactly one node")
        if not np.isfinite(self.threshold[leaf]).all():
            raise ValueError("boosted trees have leaves whose values are not finite")

    def _first_of_tables(self, nodes: np.ndarray) -> np.ndarray:
        """The left child of every node of categories; its table leads to that one and the next, and to both."""
        first, at = np.empty(len(nodes), dtype=np.int64), 0
        for k, node in enumerate(nodes.tolist()):
            size = int(self.table[at]) if at < len(self.table) else 0
            entries = self.table[at + 1 : at + 1 + max(size, 0)]
            if self.left[node] != at or size < 2 or len(entries) != size:
                raise ValueError("boosted trees have a table of categories outside their tables")
            first[k], last = int(entries.min()), int(entries.max())
            if not 0 <= first[k] == last - 1 < len(self.left):
                raise ValueError("boosted trees have a table of categories that does not lead to two children")
            at += size + 1
        return first


def from_grown(
    trees: Sequence[GrownTree],
    values: Sequence[np.ndarray],
    bins: Bins,
    n_features: int,
    n_outputs: int,
    outputs: Sequence[int],
) -> BoostedTrees:
    """Grown trees with the given values and the output each adds to; many at once take little more than one."""
    sizes = np.array([len(tree.left) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    down, feature, bin_, way, count, gain = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("left", "feature", "bin", "missing_left", "count", "gain")
    )
    leaf = down < 0
    inner = np.flatnonzero(~leaf)
    down = np.where(leaf, np.arange(len(leaf)), down + np.repeat(roots, sizes))
    feature = np.where(leaf, -1, feature)
    threshold = np.where(leaf, np.concatenate(values), bins.edges[np.maximum(feature, 0), np.minimum(bin_, 255)])
    missing = np.where(leaf, 1, way).astype(np.uint8)
    # Where no training row was missing, a missing value goes to the side of most rows.
    unknown = inner[~bins.has_missing[feature[inner]]]
    missing[unknown] = count[down[unknown]] > count[down[unknown] + 1]
    left, table = down.copy(), np.empty(0, np.int32)
    chosen = inner[bins.categorical[feature[inner]]]
    if len(chosen):
        n_bins = bins.n_bins[feature[chosen]]
        sets = np.concatenate([tree.sets for tree in trees])[chosen]
        sides = np.column_stack([missing[chosen], missing[chosen], sets])
        tables = np.column_stack([n_bins + 2, (down[chosen] + 1)[:, None] - sides]).astype(np.int32)
        table = tables[np.arange(tables.shape[1]) < (n_bins + 3)[:, None]]
        left[chosen], threshold[chosen] = np.cumsum(n_bins + 3) - (n_bins + 3), np.nan
        feature[chosen] = -2 - feature[chosen]
    return BoostedTrees(
        n_features,
        n_outputs,
        threshold=threshold,
        left=left,
        feature=feature,
        missing_left=missing,
        cover=count,
        gain=gain * ~leaf,
        roots=roots,
        outputs=outputs,
        table=table,
    )


def from_tree(tree: Tree, values: np.ndarray, n_outputs: int, output: int) -> BoostedTrees:
    """One tree that splits on numbers, with the given leaf values in place of its own."""
    n = tree.node_count
    inner = np.flatnonzero(~tree.is_leaf)
    new = np.zeros(n, dtype=np.int64)
    first = 1 + 2 * np.arange(len(inner))
    new[tree.children_left[inner]], new[tree.children_right[inner]] = first, first + 1
    old = np.empty(n, dtype=np.int64)
    old[new] = np.arange(n)
    leaf = tree.is_leaf[old]
    mass = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    gain = np.zeros(n)
    gain[inner] = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    return BoostedTrees(
        tree.n_features,
        n_outputs,
        threshold=np.where(leaf, values[old], tree.threshold[old]),
        left=np.where(leaf, np.arange(n), new[tree.children_left[old]]),
        feature=np.where(leaf, -1, tree.feature[old]),
        missing_left=np.where(leaf, 1, tree.missing_go_to_left[old]),
        cover=tree.weighted_n_node_samples[old],
        gain=gain[old],
        roots=[0],
        outputs=[output],
        table=np.empty(0, np.int32),
    )
