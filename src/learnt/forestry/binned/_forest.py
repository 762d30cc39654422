"""Trees on binned features, for forests: `bin_table` once, `grow_binned` a tree.

Every cell is one byte. A node of many rows adds up weights and targets a bin; a node of few sorts its codes. Rows come
as the distinct rows of a bootstrap sample with how often each was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.forestry.binned._grow import Kind, Sample, Table, grow, work_for
from learnt.forestry.binned._pairs import LONG, STOP, Draws, Histogram, Limits, Nodes, first_state
from learnt.forestry.binned._random import grow_at_random, packed_rows
from learnt.forestry.bins._bins import Bins, code_room, find_bins
from learnt.forestry.exact._scale import impurity_in_scale, power_of
from learnt.forestry.kept._small_tree import SmallTree, narrow
from learnt.forestry.kept._tree import Tree

# Many rows find the codes of a column close together where they lie by column, few all of their codes where they lie by
# row. A short table with long rows does without the former.
_LINE, _SHORT = 64, 1 << 14
_YES = np.empty(0)  # what is not None for the compiler: it does not see whether a flag is


@dataclass(frozen=True)
class BinnedTable:
    """A table of numbers as bytes: by column (not if `rows_begin` is 0), from there on by rows of `row_step` bytes."""

    codes: np.ndarray
    row_step: int
    rows_begin: int
    bins: Bins

    @property
    def n_features(self) -> int:
        return len(self.bins.n_bins)


def bin_table(
    X: np.ndarray, weights: np.ndarray | None = None, max_bins: int = 255, random_splits: bool = False
) -> BinnedTable:
    """The columns of X (float32 or float64, NaN where missing) in at most 255 bins of equal weight each.

    For `random_splits` bins are short as well; only such a table is split at random by the quick grower.
    """
    bins = find_bins(X, max_bins=max_bins, weights=weights, random_splits=random_splits)
    n, d = X.shape
    codes, columns, rows = code_room(n, d, has_columns(n, d), True)
    bins.encode_into(X, columns, rows)
    return BinnedTable(codes, rows.shape[1], columns.size, bins)


def has_columns(n: int, d: int) -> bool:
    """Whether a table of n rows and d columns has its codes by column as well as by row."""
    return d <= _LINE or n > _SHORT


def grow_binned(table: BinnedTable, y: np.ndarray, **options: Any) -> Tree:
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
    n_classes, value, arrays = _grow(table, y, **options)
    left = arrays["left"]
    return Tree(
        table.n_features,
        n_classes,
        children_left=left,
        children_right=np.where(left < 0, -1, left + 1),
        feature=arrays["feature"],
        threshold=arrays["threshold"].copy(),
        missing_go_to_left=arrays["missing_left"].copy(),
        impurity=arrays["impurity"].copy(),
        n_node_samples=arrays["count"],
        weighted_n_node_samples=arrays["weight"].copy(),
        value=value.reshape(len(left), len(n_classes), -1)[:, :, : n_classes.max()].copy(),
    )


def grow_binned_small(
    table: BinnedTable, y: np.ndarray, *, criterion: str, **options: Any
) -> tuple[SmallTree, np.ndarray | None]:
    """A tree in few bytes and the shares of the columns in the decrease of impurity, None without a split.

    The options are those of `grow_binned` without `max_leaf_nodes`: nodes of a tree that grows depth first lie as those
    of a grove do.

    >>> X = np.arange(8.0)[:, None]
    >>> grow_binned_small(bin_table(X), X > 3, criterion="gini", n_classes=[2])[0].grove().threshold
    array([3.5])
    """
    n_classes, value, nodes = _grow(table, y, criterion=criterion, **options)
    inner = len(nodes["left"]) // 2
    edges = table.bins.edges
    parts: dict[str, np.ndarray] = {
        "feature": np.empty(2 * inner + 1, np.int32),
        "threshold": np.empty(inner),
        "missing_left": np.empty(inner, np.uint8),
        "value": np.empty((inner + 1, len(n_classes) * int(n_classes.max()))),
        "count": np.empty(inner + 1, np.int32),
        "weight": np.empty(inner + 1),
        "impurity": np.empty(inner + 1 if options.get("n_classes") is None else 0),
    }
    gains = np.zeros(table.n_features)
    small = options.get("n_classes") is not None  # leaves of numbers are mostly what no smaller type holds
    places = np.empty(inner if small else 0, np.uint8)
    if harvest(Nodes._make([*nodes.values(), value]), edges, Small._make(parts.values()), places, gains) and small:
        parts["threshold"] = places
    del value, nodes  # their room is large, and is free for what is kept
    if small:
        parts = {name: part if name == "threshold" else narrow(part) for name, part in parts.items()}
    total = gains.sum()
    tree = SmallTree(table.n_features, n_classes, criterion, edges, parts)
    return tree, None if inner == 0 else gains / total if total > 0 else gains


def _grow(
    table: BinnedTable, y: np.ndarray, *, n_classes: Any = None, min_impurity_decrease: float = 0.0, **options: Any
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Classes of each output, values of all nodes, and what else is known of them; numbers in a unit that suits."""
    power = 0 if n_classes is not None else power_of(y)
    if power == 0:
        return _grow_as_given(table, y, n_classes=n_classes, min_impurity_decrease=min_impurity_decrease, **options)
    with np.errstate(over="ignore", under="ignore"):
        least = float(np.ldexp(min_impurity_decrease, -2 * power))
        outputs, value, nodes = _grow_as_given(table, np.ldexp(y, -power), min_impurity_decrease=least, **options)
        value = np.ldexp(value, power)
    nodes["impurity"] = impurity_in_scale(nodes["impurity"], 2 * power, len(y))
    return outputs, value, nodes


def _grow_as_given(
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
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Classes of each output, values of all nodes, and what else is known of them."""
    classes = n_classes is not None
    entropy = criterion in ("entropy", "log_loss")
    y = y.reshape(y.shape[0], -1)
    rows = np.arange(len(y), dtype=np.uint32) if weights is None else np.flatnonzero(weights > 0).astype(np.uint32)
    w = _bytes_if_integers(np.ones(len(y), np.uint8) if weights is None else weights)
    outputs = y.shape[1]
    per_output = np.asarray(n_classes, dtype=np.int64) if classes else np.ones(outputs, dtype=np.int64)
    width = int(per_output.max())
    pair = outputs == 1 and width <= 2 and not entropy
    plain = pair and not table.bins.has_missing.any()
    at_random = random_splits and plain and max_leaf_nodes is None and table.bins.places is not None
    capacity = _most_nodes(len(rows), max_depth, max_leaf_nodes)
    value = np.empty((capacity, 2 if pair and classes else width * outputs))
    left, feature, count = (np.empty(capacity, dtype=np.int32) for _ in range(3))
    threshold, impurity, weight = (np.empty(capacity) for _ in range(3))
    missing_left = np.empty(capacity, dtype=np.uint8)
    arrays: dict[str, Any] = {
        "left": left,
        "feature": feature,
        "threshold": threshold,
        "missing_left": missing_left,
        "impurity": impurity,
        "count": count,
        "weight": weight,
    }
    nodes = Nodes._make([*arrays.values(), value])
    limits = Limits(
        max_features=table.n_features if max_features is None else int(max_features),
        max_depth=2**31 - 1 if max_depth is None else min(int(max_depth), 2**31 - 1),
        min_split=int(min_samples_split),
        min_leaf=int(min_samples_leaf),
        min_weight=float(min_weight_leaf),
        min_decrease=float(min_impurity_decrease),
        max_leaves=0 if max_leaf_nodes is None else int(max_leaf_nodes),
    )
    packed = packed_rows(y, classes, weights) if at_random else None
    if packed is not None:
        heaviest = 1 if weights is None else int(weights.max())
        size = grow_at_random(table, y, *packed, classes, heaviest, limits, seed, nodes)
        return per_output, value[:size], {name: array[:size] for name, array in arrays.items()}
    targets: Any = None
    slots: Any = None
    # What is rare shares one compiled form for pairs and one for slots, in which weights and targets are float64.
    common = plain or (classes and not pair and not random_splits and w.dtype == np.uint8)
    if not common:
        w = w.astype(np.float64)
    if pair or not classes:
        targets = np.ascontiguousarray(y.T, dtype=np.uint8 if classes and w.dtype == np.uint8 else np.float64)
    if not pair:
        slots = np.zeros((outputs, len(y)), np.uint32)
        if classes:
            slots[:] = y.T
        slots += (width * np.arange(outputs, dtype=np.uint32))[:, None]
        if classes and not common:
            targets = np.ones(slots.shape)
    weighted, summed = (
        np.int64 if w.dtype == np.uint8 else np.float64,
        np.int64 if pair and classes and w.dtype == np.uint8 else np.float64,
    )
    kind = Kind(
        plain=_YES if plain else None,
        general=None if plain else _YES,
        at_random=_YES if random_splits or not common else None,
        random_splits=random_splits,
        integer_weights=w.dtype == np.uint8,
        classes=classes,
        entropy=entropy,
    )
    sample = Sample(rows, w, targets, slots)
    draws = Draws(np.arange(table.n_features, dtype=np.int32), first_state(seed))
    histogram = Histogram(
        np.zeros(256, weighted), np.zeros(256, summed), np.zeros(257, np.int32), np.empty(257, np.uint8)
    )
    cells = Table(
        table.codes, np.uint64(table.row_step), np.uint64(table.rows_begin), table.bins.edges, table.bins.n_bins
    )
    work = work_for(sample, nodes, limits.max_leaves > 0, histogram)
    grown = partial(grow, cells, kind, limits, draws, sample, histogram, work, nodes)
    size = stoppable(grown, draws.state[STOP:], long=len(rows) * table.n_features > LONG)
    return per_output, value[:size], {name: array[:size] for name, array in arrays.items()}


class Small(NamedTuple):
    """What is kept of a tree: columns of all nodes, the rest of inner nodes, then of leaves."""

    columns: np.ndarray
    cuts: np.ndarray
    sides: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    impurities: np.ndarray


@kernel
def harvest(nodes, edges, small, places, gains):
    """Inner nodes and leaves each to arrays of their own; the decrease of impurity of each column.

    `places` are those of the thresholds among the edges, unless it is empty. Returns whether all of them are edges.
    """
    left, feature, threshold = nodes.left, nodes.feature, nodes.threshold
    impurity, weight = nodes.impurity, nodes.weight
    columns, values, impurities = small.columns, small.values, small.impurities
    a, b, among = 0, 0, True
    for k in range(left.size):
        child = left[k]
        if child >= 0:
            f = feature[k]
            columns[k] = f
            small.cuts[a], small.sides[a] = threshold[k], nodes.missing_left[k]
            if places.size > 0:
                at, step = 0, 128
                while step > 0:
                    at += step if edges[f, at + step - 1] < threshold[k] else 0
                    step >>= 1
                places[a] = at
                among &= edges[f, at] == threshold[k]
            below = weight[child] * impurity[child] + weight[child + 1] * impurity[child + 1]
            gains[f] += weight[k] * impurity[k] - below
            a += 1
        else:
            columns[k] = -1
            for c in range(values.shape[1]):
                values[b, c] = nodes.value[k, c]
            small.counts[b], small.weights[b] = nodes.rows[k], weight[k]
            if impurities.size > 0:
                impurities[b] = impurity[k]
            b += 1
    return among


def _bytes_if_integers(weights: np.ndarray) -> np.ndarray:
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
