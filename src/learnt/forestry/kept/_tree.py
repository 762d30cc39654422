"""One grown tree as arrays, under the attribute names scikit-learn's users inspect.

A node that splits on a number sends a row left if x ≤ threshold, right if not, and a missing value by
`missing_go_to_left`. A node that splits on categories has a table instead: entry 0 is the child of a category never
seen, entry 1 of a missing value, entry 2 + c of the category with code c. Two children make a subset split, more a
multiway one. A child's number is always larger than its parent's, so that a loop over the nodes in order meets every
parent before its children and nothing here needs recursion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import native
from learnt.engine.bounds import pieces, within
from learnt.engine.cached import cached_property
from learnt.engine.kernel import kernel
from learnt.engine.matrices import dense
from learnt.engine.threads import for_blocks

LEAF = -1
UNDEFINED = -2
UNSEEN, MISSING, CODES = 0, 1, 2  # entries of a node's table of categories
_GRAIN = 1 << 13

_FIELDS: dict[str, type] = {
    "children_left": np.int64,
    "children_right": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
    "missing_go_to_left": np.uint8,
    "impurity": np.float64,
    "n_node_samples": np.int64,
    "weighted_n_node_samples": np.float64,
    "table_start": np.int64,
    "table_size": np.int64,
}
_WITHOUT_TABLE = {"table_start": -1, "table_size": 0}
_NOT_A_TREE = "a tree has nodes that are not the child of exactly one node before them"
_NO_TABLES, _NO_ENTRIES = np.empty(0, np.int64), np.empty(0, np.int32)


class Tree:
    """One tree: a struct of arrays with one entry a node; node 0 is the root.

    Parameters
    ----------
    n_features : int
    n_classes : array of int, shape (n_outputs,)
        Classes of each output; 1 where the output is a number.
    children_left, children_right : array of int
        The two children; −1 in a leaf. A multiway node has its first and last child here and all in its table.
    feature : array of int
        The column a node looks at; −2 in a leaf.
    threshold : array of float
        A row goes left if x ≤ threshold; −2 in a leaf, NaN where the node looks at categories.
    value : array, shape (node_count, n_outputs, max_n_classes)
        Shares of the classes, or the predicted number.
    missing_go_to_left, impurity, n_node_samples, weighted_n_node_samples : arrays
    table_start, table_size : array of int
        Where a node's table of categories begins in `table`, −1 without one, and its length.
    table : array of int32
        All tables, one behind the other: numbers of nodes.
    surrogates : Surrogates or None
        Stand-ins for splits whose value is missing.

    Examples
    --------
    >>> stump = Tree(1, [1], children_left=[1, -1, -1], children_right=[2, -1, -1], feature=[0, -2, -2],
    ...              threshold=[0.5, -2, -2], value=[[[0.0]], [[-1.0]], [[1.0]]])
    >>> stump.predict(np.array([[0.0], [1.0]])).ravel()
    array([-1.,  1.])
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    table_start: np.ndarray
    table_size: np.ndarray

    def __init__(self, n_features: int, n_classes: Any, *, value: Any, **arrays: Any) -> None:
        self.n_features = int(n_features)
        self.n_classes = np.asarray(n_classes, dtype=np.int64)
        self.value = np.ascontiguousarray(value, dtype=np.float64)
        n = self.value.shape[0]
        self.table = np.ascontiguousarray(arrays.pop("table", _NO_ENTRIES), dtype=np.int32)
        self.surrogates = arrays.pop("surrogates", None)
        for name, dtype in _FIELDS.items():
            given = arrays.pop(name, None)
            if name in _WITHOUT_TABLE and (given is None or (np.asarray(given) == _WITHOUT_TABLE[name]).all()):
                continue  # computed when used: they would be a fifth of the memory of a tree of numbers
            setattr(self, name, np.ascontiguousarray(np.zeros(n) if given is None else given, dtype=dtype))
        if arrays:
            raise TypeError(f"Tree has no array named {sorted(arrays)[0]!r}.")

    def __getattr__(self, name: str) -> np.ndarray:
        """Where the tables of a tree without categories begin, and their lengths."""
        if name not in _WITHOUT_TABLE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return np.full(self.node_count, _WITHOUT_TABLE[name])

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def capacity(self) -> int:
        return self.node_count

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def max_n_classes(self) -> int:
        return self.value.shape[2]

    @property
    def is_leaf(self) -> np.ndarray:
        return self.children_left == LEAF

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    @property
    def max_depth(self) -> int:
        return int(self.depths.max())

    @cached_property
    def parent(self) -> np.ndarray:
        """The parent of every node; −1 for the root."""
        parents = np.full(self.node_count, -1, dtype=np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        parents[self.children_left[inner]] = inner
        parents[self.children_right[inner]] = inner
        for node in np.flatnonzero(self.table_start >= 0):
            parents[self.children(node)] = node
        return parents

    @cached_property
    def depths(self) -> np.ndarray:
        """The depth of each node."""
        out = np.zeros(self.node_count, dtype=np.int64)
        node_depths(self.parent, out)
        return out

    def children(self, node: Any) -> np.ndarray:
        """The children of a node in order; two, or one for each branch of a multiway node."""
        if self.children_left[node] == LEAF:
            return np.empty(0, dtype=np.int64)
        start = self.table_start[node]
        if start < 0:
            return np.array([self.children_left[node], self.children_right[node]])
        return np.unique(self.table[start : start + self.table_size[node]]).astype(np.int64)

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of every row."""
        X = _dense(X)
        out = np.empty(X.shape[0], dtype=np.int64)
        tables = (self.table_start, self.table_size) if len(self.table) else (_NO_TABLES, _NO_TABLES)

        def walk(lo: int, hi: int) -> None:
            if self.surrogates is not None:
                self.surrogates.walk(self, X[lo:hi], out[lo:hi])
                return
            traverse_rows(
                X[lo:hi],
                self.children_left,
                self.children_right,
                self.feature,
                self.threshold,
                self.missing_go_to_left,
                *tables,
                self.table,
                out[lo:hi],
            )

        if len(out) <= 2 * _GRAIN:  # one row takes microseconds: no hand-over
            walk(0, len(out))
        else:
            for_blocks(walk, len(out), grain=_GRAIN)
        return out

    def predict(self, X: Any) -> np.ndarray:
        """The value of every row's leaf: (n, max_n_classes) of one output, (n, n_outputs, max_n_classes) of several."""
        values = self.value.take(self.apply(X), axis=0)
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Which nodes every row passes: a sparse indicator matrix (n, node_count)."""
        leaves = self.apply(X)
        indptr = np.zeros(len(leaves) + 1, dtype=np.int64)
        np.cumsum(self.depths[leaves] + 1, out=indptr[1:])
        indices = np.empty(indptr[-1], dtype=np.int64)
        write_paths(leaves, self.parent, indptr, indices)
        ones = np.ones(len(indices), dtype=np.int64)
        return sparse.csr_matrix((ones, indices, indptr), shape=(len(leaves), self.node_count))

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """The share of each column in the weighted decrease of impurity; sums to 1 unless there was none."""
        inner = np.flatnonzero(~self.is_leaf)
        mass = self.weighted_n_node_samples * self.impurity
        gains = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        for k in np.flatnonzero(self.table_start[inner] >= 0):
            gains[k] = mass[inner[k]] - mass[self.children(inner[k])].sum()
        out = np.bincount(self.feature[inner], weights=gains, minlength=self.n_features)
        out = out.astype(np.float64) / self.weighted_n_node_samples[0]
        if normalize and out.sum() > 0:
            out /= out.sum()
        return out

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by name, as `Tree(n_features, n_classes, **arrays)` takes them."""
        return {"value": self.value, "table": self.table, **{name: getattr(self, name) for name in _FIELDS}}

    def validate(self) -> None:
        """Raise unless every index is inside its array and every node but the root has exactly one, earlier, parent."""
        n = self.node_count
        if n < 1 or any(getattr(self, name).shape != (n,) for name in _FIELDS) or self.value.ndim != 3:
            raise ValueError("a tree has arrays of unequal length")
        if self.table.ndim != 1 or len(self.value) != n or self.n_classes.shape != (self.n_outputs,):
            raise ValueError("a tree has arrays of another shape than a tree's")
        if not self.n_outputs or not within(self.n_classes, 1, self.max_n_classes):
            raise ValueError("a tree has values that do not fit its outputs")
        leaf = self.is_leaf
        inner = np.flatnonzero(~leaf)
        if not within(self.feature[inner], 0, self.n_features - 1):
            raise ValueError("a tree splits on a column that does not exist")
        if not (within(self.children_left, -1, n - 1) and within(self.children_right, -1, n - 1)):
            raise ValueError(_NOT_A_TREE)
        start, size = self.table_start, self.table_size
        tabled = start != -1
        if (tabled & leaf).any() or not pieces(start[tabled], size[tabled], len(self.table)):
            raise ValueError("a tree has a table of categories outside its tables")
        if not within(size[tabled], CODES, len(self.table)) or not within(self.table, 0, n - 1):
            raise ValueError("a tree has a table of categories that leads outside the tree")
        tabled = tabled[inner]
        left, right = self.children_left[inner], self.children_right[inner]
        links = [left[~tabled], right[~tabled]]
        owners = [inner[~tabled], inner[~tabled]]
        for node in inner[tabled]:
            branches = self.children(node)
            if not np.isin([self.children_left[node], self.children_right[node]], branches).all():
                raise ValueError("a tree has a table of categories without its children")
            links.append(branches)
            owners.append(np.full(len(branches), node))
        child, owner = np.concatenate(links), np.concatenate(owners)
        if len(child) != n - 1 or (child <= owner).any() or not np.array_equal(np.sort(child), np.arange(1, n)):
            raise ValueError(_NOT_A_TREE)
        if self.surrogates is not None:
            self.surrogates.validate(self)


def _dense(X: Any) -> np.ndarray:
    X = native(np.asarray(dense(X)))
    return X if X.dtype.type in (np.float32, np.float64) else X.astype(np.float64)


@kernel
def traverse_rows(X, left, right, feature, threshold, missing_left, table_start, table_size, table, out):
    """The leaf of every row of X."""
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            x = X[i, feature[node]]
            start = table_start[node] if table.size else -1
            if start >= 0:
                entry = 0
                if x != x:
                    entry = 1
                elif x >= 0 and x < table_size[node] - 2:
                    entry = int(x) + 2
                node = table[start + entry]
            elif x != x:
                node = left[node] if missing_left[node] else right[node]
            else:
                node = left[node] if x <= threshold[node] else right[node]
        out[i] = node


@kernel
def node_depths(parent, out):
    """Depth of every node: parents come before their children."""
    for node in range(1, parent.size):
        out[node] = out[parent[node]] + 1


@kernel
def write_paths(leaves, parent, indptr, out):
    """The nodes from the root to each row's leaf."""
    for i in range(leaves.size):
        node = leaves[i]
        for k in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
            out[k] = node
            node = parent[node]
