"""Exact growth of one tree: every cut between two values is looked at.

    columns = Columns(X)                              # once; many trees may share it
    tree = grow_exact(columns, y, criterion="gini", n_classes=[3], seed=0)

Where all columns are searched, each is sorted once and parted, in order, with the rows; where some are drawn at every
node, the rows of the node are sorted by each. Both give the same tree. One compiled call grows the whole tree
without the interpreter's lock, so that a forest grows one on every thread.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.threads import for_blocks
from learnt.forestry._criteria import ABSOLUTE, CLASS_CRITERIA, ENTROPY, NUMBER_CRITERIA, SQUARED
from learnt.forestry._exact_categories import SUMS as GROUP_SUMS
from learnt.forestry._exact_data import (
    CATEGORIES,
    CRITERION,
    CUT,
    DIRECTION,
    END,
    GAP,
    GO_LEFT,
    IMPURITY,
    LAST,
    LEFT,
    LOWER,
    MONOTONE,
    N_BEST,
    N_CHOSEN,
    N_CLASSES,
    N_FACTS,
    N_RULES,
    N_SUMS,
    SEED,
    SLOT,
    SPLIT,
    START,
    SURROGATES,
    TABLE,
    TABLE_SIZE,
    UPPER,
    WEIGHT,
)
from learnt.forestry._exact_grow import grow
from learnt.forestry._exact_records import fill_records, row_tails, sort_records
from learnt.forestry._surrogates import ADJUSTED, AGREEMENT, BELOW_LEFT, COLUMN, N_INTS, TABLE_AT, Surrogates
from learnt.forestry._surrogates import CUT as S_CUT
from learnt.forestry._tree import Tree

_GAP = 1e-7  # values closer than this are the same, as in scikit-learn
_CELLS_A_TASK = 1 << 14  # sorted by one thread
_MOST_RECORDS = 1 << 29
_LONGEST_TABLE = 1 << 22
_FAR = 64.0  # a mean this many standard deviations from 0 is taken off y
_NONE = np.empty(0, dtype=np.float64)


class Columns:
    """The table that trees are grown on, ready for searching columns.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Values are compared as float32. NaN is missing. Columns of categories hold their codes 0, 1, ….
    categories : array of int, shape (d,), optional
        How many categories each column has; 0 where it holds numbers.

    Examples
    --------
    >>> Columns(np.array([[1.0, 2.0], [3.0, np.nan]])).shape
    (2, 2)
    """

    def __init__(self, X: Any, categories: Any = None) -> None:
        self.is_sparse = sparse.issparse(X)
        self.X = X
        self.shape: tuple[int, int] = X.shape
        d = X.shape[1]
        self.categories = np.zeros(d, np.int64) if categories is None else np.asarray(categories, np.int64)

    @cached_property
    def matrix(self) -> np.ndarray:
        """The columns side by side, (d, n) float32; empty where X is sparse."""
        if self.is_sparse:
            return np.empty((0, 0), np.float32)
        return np.ascontiguousarray(self.X.T, dtype=np.float32)

    @cached_property
    def compressed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, rows and offsets of compressed sparse columns; empty where X is dense."""
        if not self.is_sparse:
            return np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(1, np.int64)
        csc = self.X.tocsc()
        csc.sort_indices()
        return csc.data.astype(np.float32), csc.indices.astype(np.int32), csc.indptr.astype(np.int64)


def grow_exact(
    columns: Columns,
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
    max_p_value: float = 1.0,
    multiway: bool = False,
    surrogates: bool = False,
    monotone: np.ndarray | None = None,
    seed: int = 0,
) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    columns : Columns
    y : array, shape (n,) or (n, outputs)
        Numbers, or codes 0…K−1 of classes.
    criterion : str
        "gini", "entropy", "log_loss", "error" for classes; "squared_error", "absolute_error", "poisson" for numbers.
    n_classes : sequence of int, optional
        Classes of every output; None: y holds numbers.
    weights : array of float64, optional
        Rows of weight 0 are left out. Whole weights, such as the counts of a bootstrap, are the quickest.
    max_features : int, optional
        Columns drawn at each node; None is all.
    random_splits : bool
        One random threshold for each column drawn (extremely randomised trees).
    min_weight_leaf : float
        The least weight of a leaf.
    max_leaf_nodes : int, optional
        Grow best gain first up to this many leaves; None: depth first, without limit.
    max_p_value : float
        A split is made only if its χ² or F test has at most this p-value.
    multiway : bool
        Columns of categories are split into one branch for each category.
    surrogates : bool
        Keep surrogate splits for missing values; all columns must be searched, X dense, thresholds not random.
    monotone : array of −1, 0, 1, optional
        The direction in which the value (of class 0, of a number) must change along each column.
    seed : int
        The state of the generator that draws columns and thresholds, 0…2³¹ − 1.

    Examples
    --------
    >>> columns = Columns(np.array([[0.0], [1.0], [2.0]]))
    >>> tree = grow_exact(columns, np.array([0.0, 0.0, 3.0]), criterion="squared_error")
    >>> tree.threshold[0], tree.value.ravel()
    (np.float64(1.5), array([1., 0., 3.]))
    """
    n, d = columns.shape
    y = np.ascontiguousarray(y.reshape(n, -1), dtype=np.float64)
    searched = d if max_features is None else max_features
    if surrogates and (columns.is_sparse or random_splits or multiway or searched < d or criterion == "absolute_error"):
        raise ValueError(
            "Surrogate splits need dense X, all columns at every split, the best thresholds, categories in subsets and "
            "a criterion other than 'absolute_error'; use missing='direction' for these."
        )
    presorted = not (columns.is_sparse or random_splits or multiway or searched < d or n * d > _MOST_RECORDS)
    rows = np.arange(n) if weights is None else np.flatnonzero(weights)
    X = columns.X
    if presorted and len(rows) < n:
        X, y, weights, n = X[rows], y[rows], weights[rows], len(rows)  # type: ignore[index]
        rows = np.arange(n)
    if weights is not None and (weights[rows] == 1).all():
        weights = None
    code = (NUMBER_CRITERIA if n_classes is None else CLASS_CRITERIA)[criterion]
    shift = _far_mean(y, code)
    targets = y - shift if shift.any() else y
    n_outputs = y.shape[1]
    labels = y[:, 0].astype(np.int64) if n_classes is not None and n_outputs == 1 else None
    tails, layout = row_tails(n, labels, weights)
    total = float(len(rows)) if weights is None else float(weights[rows].sum())
    logs = _NONE
    if code == ENTROPY and layout.label_bits and total < _LONGEST_TABLE and (weights is None or layout.weight_mask):
        counts = np.arange(int(total) + 2, dtype=np.float64)
        logs = counts * np.log2(np.maximum(counts, 1))
    rules = np.zeros(N_RULES, np.int64)
    rules[:] = (
        code,
        0 if n_classes is None else int(np.max(n_classes)),
        *layout,
        0 if weights is None else 1 if layout.weight_mask else 2,
        searched,
        min_samples_split,
        min_samples_leaf,
        2**31 - 2 if max_depth is None else min(max_depth, 2**31 - 2),
        -1 if max_leaf_nodes is None else min(max_leaf_nodes, len(rows) + 1),
        random_splits,
        columns.is_sparse,
        presorted,
        monotone is not None,
        multiway,
        surrogates,
    )
    limits = np.array([min_weight_leaf, min_impurity_decrease, max_p_value, total], np.float64)
    facts = np.zeros((N_FACTS, d))
    facts[GAP], facts[CATEGORIES] = _GAP, columns.categories
    if monotone is not None:
        facts[DIRECTION] = monotone
    absolute = code == ABSOLUTE
    width, most = max(1, int(rules[N_CLASSES])), int(columns.categories.max(initial=0)) + 1
    m = len(rows)
    orders = np.empty((1 + n_outputs if absolute else 1, m), np.int32)
    orders[0] = rows
    for o in range(n_outputs if absolute else 0):
        orders[1 + o] = rows[np.argsort(targets[rows, o], kind="stable")]
    places = np.full((2, n if absolute or columns.is_sparse or multiway else 0), -1, np.int32)
    if columns.is_sparse:
        places[SLOT, rows] = np.arange(m)
    chosen = np.zeros(N_CHOSEN, np.int64)
    chosen[SEED] = seed
    some = np.zeros(1)
    grown = grow(
        None if presorted or columns.is_sparse else columns.matrix,
        *(columns.compressed if columns.is_sparse else (None, None, None)),
        tails,
        targets,
        _NONE if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        None if n_classes is None else logs,
        some if n_classes is None and not absolute else None,
        np.empty((6, m + 1)) if absolute else None,
        facts,
        rules,
        limits,
        _sorted_records(X, tails) if presorted else np.empty((1, m), np.int64),
        np.empty(m, np.int64),
        orders,
        np.empty(m, np.int32),
        places,
        np.zeros(n, np.uint8),
        np.zeros((N_SUMS, n_outputs, width)),
        np.stack([np.arange(d), np.zeros(d, np.int64)]),
        np.empty((3, most), np.int32),
        np.empty((most, n_outputs * width + GROUP_SUMS)) if most > 1 else None,
        np.empty((3, n_outputs * width)) if most > 1 else None,
        np.empty((1, m), np.int64) if most > 1 else None,
        some if random_splits else None,
        Columns(X).matrix if surrogates else None,
        some if max_p_value < 1 else None,
        np.zeros(N_BEST),
        chosen,
    )
    return _as_tree(grown, d, n_classes, n_outputs, rules, shift)


def _far_mean(y: np.ndarray, code: int) -> np.ndarray:
    """What to take off y so that squares keep their digits: 0 unless the mean is far from 0."""
    shift = np.zeros(y.shape[1])
    if code == SQUARED:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = y.mean(axis=0)
            far = np.abs(mean) > _FAR * y.std(axis=0)
        shift[far] = np.rint(mean[far])
    return shift


def _sorted_records(X: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Every column's records in rising order."""
    n, d = X.shape
    out = np.empty((d, n), np.int64)

    def sort_columns(lo: int, hi: int) -> None:
        for j in range(lo, hi):
            fill_records(X[:, j].astype(np.float32), tails, out, j)
            sort_records(out, j, n, np.empty(n, np.int64))

    for_blocks(sort_columns, d, grain=max(1, _CELLS_A_TASK // n))
    return out


def _as_tree(grown: tuple, d: int, n_classes: Any, n_outputs: int, rules: np.ndarray, shift: np.ndarray) -> Tree:
    """The arrays of growth in their final order, under scikit-learn's names."""
    kept, order, ints, floats, values, table, n_kept, kept_ints, kept_floats, codes = grown
    order, kept_ints, kept_floats = order[:kept], kept_ints[:n_kept], kept_floats[:n_kept]
    place = np.full(int(order.max()) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    ints, floats = ints[order], floats[order]
    tables = [table[start : start + size] for start, size in ints[ints[:, TABLE] >= 0][:, [TABLE, TABLE_SIZE]]]
    starts = np.where(ints[:, TABLE] >= 0, 0, -1)
    starts[starts == 0] = np.cumsum([0, *map(len, tables)])[:-1]
    value = values[order].reshape(len(order), n_outputs, -1)
    if rules[CRITERION] != ABSOLUTE:
        value = value / floats[:, WEIGHT][:, None, None]
    value += shift[:, None]
    if rules[MONOTONE]:
        value[:, 0, 0] = np.clip(value[:, 0, 0], floats[:, LOWER], floats[:, UPPER])
        if rules[N_CLASSES] == 2:
            value[:, 0, 1] = 1 - value[:, 0, 0]
    inner = ints[:, LEFT] >= 0
    return Tree(
        d,
        np.ones(n_outputs) if n_classes is None else n_classes,
        value=value,
        children_left=np.where(inner, place[np.where(inner, ints[:, LEFT], 0)], -1),
        children_right=np.where(inner, place[np.where(inner, ints[:, LAST], 0)], -1),
        feature=ints[:, SPLIT],
        threshold=floats[:, CUT],
        missing_go_to_left=ints[:, GO_LEFT],
        table_start=starts,
        table_size=ints[:, TABLE_SIZE],
        table=place[np.concatenate(tables)] if tables else (),
        surrogates=_surrogates(inner, order, kept_ints, kept_floats, codes) if rules[SURROGATES] else None,
        impurity=floats[:, IMPURITY],
        n_node_samples=ints[:, END] - ints[:, START],
        weighted_n_node_samples=floats[:, WEIGHT],
    )


def _surrogates(
    inner: np.ndarray, order: np.ndarray, ints: np.ndarray, floats: np.ndarray, codes: np.ndarray
) -> Surrogates:
    """The surrogates found, in the final order of the nodes; those of nodes that became leaves are left out."""
    node = ints[:, N_INTS]
    place = np.full(max(int(order.max()), int(node.max(initial=0))) + 1, -1, np.int64)
    place[order[inner]] = np.flatnonzero(inner)
    wanted = np.flatnonzero(place[node] >= 0)
    wanted = wanted[np.argsort(place[node[wanted]], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(place[node[wanted]], minlength=len(order)))])
    ints, floats = ints[wanted], floats[wanted]
    return Surrogates(
        start, ints[:, COLUMN], floats[:, S_CUT], ints[:, BELOW_LEFT], floats[:, AGREEMENT], floats[:, ADJUSTED],
        ints[:, TABLE_AT], np.where(ints[:, TABLE_AT] >= 0, ints[:, N_INTS + 1], 0), codes,
    )  # fmt: skip
