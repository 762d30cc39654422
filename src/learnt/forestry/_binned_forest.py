"""Trees on binned features, for forests: `bin_table` once, `grow_binned` a tree.

Every cell is one byte. A node of many rows adds up weights and targets a bin; a node of few sorts its codes. Rows come
as the distinct rows of a bootstrap sample with how often each was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.forestry._binned_forest_grow import grow
from learnt.forestry._bins import Bins, find_bins
from learnt.forestry._tree import Tree

_YES = np.empty(0)  # what is not None for the compiler: it does not see whether a flag is


@dataclass(frozen=True)
class BinnedTable:
    """A table of numbers as bytes: by column and, from `rows_begin` on, by rows of length `row_step`."""

    codes: np.ndarray
    row_step: int
    rows_begin: int
    bins: Bins

    @property
    def n_features(self) -> int:
        return len(self.bins.n_bins)


def bin_table(X: np.ndarray, weights: np.ndarray | None = None, max_bins: int = 255) -> BinnedTable:
    """The columns of X (float32 or float64, NaN where missing) in at most 255 bins of equal weight each."""
    bins = find_bins(X, max_bins=max_bins, weights=weights)
    by_column, by_row = bins.encode(X, columns=True, rows=True)
    codes = np.concatenate([by_column.reshape(-1), by_row.reshape(-1)])
    return BinnedTable(codes, by_row.shape[1], by_column.size, bins)


def grow_binned(
    table: BinnedTable,
    y: np.ndarray,
    *,
    criterion: str,
    n_classes: Any = None,
    weights: np.ndarray | None = None,
    max_features: int | None = None,
    random_splits: bool = False,
    max_depth: int | None = None,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    max_leaf_nodes: int | None = None,
    min_impurity_decrease: float = 0.0,
    seed: int = 0,
) -> Tree:
    """One tree on the rows of positive weight; the parameters are those of `grow_exact`.

    Parameters
    ----------
    criterion : str
        "gini", "entropy" or "log_loss" for classes, "squared_error" for numbers.

    Examples
    --------
    >>> X = np.arange(8.0)[:, None]
    >>> grow_binned(bin_table(X), X > 3, criterion="gini", n_classes=[2]).threshold[0]
    np.float64(3.5)
    """
    classes = n_classes is not None
    entropy = criterion in ("entropy", "log_loss")
    y = y.reshape(y.shape[0], -1)
    rows = np.arange(len(y), dtype=np.uint32) if weights is None else np.flatnonzero(weights > 0).astype(np.uint32)
    w = _bytes_if_whole(np.ones(len(y), np.uint8) if weights is None else weights)
    outputs = y.shape[1]
    per_output = np.asarray(n_classes, dtype=np.int64) if classes else np.ones(outputs, dtype=np.int64)
    width = int(per_output.max())
    pair = outputs == 1 and width <= 2 and not entropy
    targets: Any = None
    slots: Any = None
    if pair or not classes:
        targets = np.ascontiguousarray(y.T, dtype=np.uint8 if classes and w.dtype == np.uint8 else np.float64)
    if not pair:
        slots = np.zeros((outputs, len(y)), np.uint32)
        if classes:
            slots[:] = y.T
        slots += (width * np.arange(outputs, dtype=np.uint32))[:, None]
    sums = np.int64 if pair and classes and w.dtype == np.uint8 else np.float64
    plain = pair and not table.bins.has_missing.any()
    capacity = _most_nodes(len(rows), max_depth, max_leaf_nodes)
    value = np.empty((capacity, 2 if pair and classes else width * outputs))
    left, feature, count = (np.empty(capacity, dtype=np.int32) for _ in range(3))
    threshold, impurity, weight = (np.empty(capacity) for _ in range(3))
    missing_left = np.empty(capacity, dtype=np.uint8)
    nodes = grow(
        table.codes,
        np.uint64(table.row_step),
        np.uint64(table.rows_begin),
        table.bins.edges,
        table.bins.n_bins,
        _YES if plain else None,
        None if plain else _YES,
        w.dtype == np.uint8,
        classes,
        entropy,
        _YES if random_splits else None,
        table.n_features if max_features is None else max_features,
        2**31 - 1 if max_depth is None else min(int(max_depth), 2**31 - 1),
        int(min_samples_split),
        int(min_samples_leaf),
        float(min_weight_leaf),
        float(min_impurity_decrease),
        0 if max_leaf_nodes is None else int(max_leaf_nodes),
        np.array([seed % (2**32 - 1) + 1, (seed * 2654435761 + 97) % 2**32], dtype=np.int64),
        rows,
        w,
        targets,
        slots,
        np.arange(table.n_features, dtype=np.int32),
        np.zeros(256, np.int64 if w.dtype == np.uint8 else np.float64),
        np.zeros(256, sums),
        left,
        feature,
        threshold,
        missing_left,
        impurity,
        count,
        weight,
        value,
    )
    return Tree(
        table.n_features,
        per_output,
        children_left=left[:nodes],
        children_right=np.where(left[:nodes] < 0, -1, left[:nodes] + 1),
        feature=feature[:nodes],
        threshold=threshold[:nodes].copy(),
        missing_go_to_left=missing_left[:nodes].copy(),
        impurity=impurity[:nodes].copy(),
        n_node_samples=count[:nodes],
        weighted_n_node_samples=weight[:nodes].copy(),
        value=value[:nodes].reshape(nodes, outputs, -1)[:, :, :width].copy(),
    )


def _bytes_if_whole(weights: np.ndarray) -> np.ndarray:
    """Weights as bytes where they are whole numbers below 256, as the counts of a bootstrap are; else as float64."""
    if weights.dtype == np.uint8:
        return weights
    small = weights.astype(np.uint8) if weights.max() < 256 else None
    return small if small is not None and np.array_equal(small, weights) else weights.astype(np.float64)


def _most_nodes(rows: int, max_depth: int | None, max_leaf_nodes: int | None) -> int:
    leaves = rows if max_leaf_nodes is None else min(rows, int(max_leaf_nodes))
    if max_depth is not None and max_depth < 31:
        leaves = min(leaves, 2 ** int(max_depth))
    return 2 * leaves - 1
