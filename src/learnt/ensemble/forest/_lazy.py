"""Forests from files and Dask collections: small tables are loaded, of large ones codes of one byte a cell are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.mixins import is_classifier
from learnt.engine.rows import Block, Rows, Table, as_rows, target_in_memory
from learnt.engine.targets import Shape
from learnt.engine.validation import check_fit, check_predict, check_weights, described
from learnt.ensemble.forest._growth import BINNED_CRITERIA
from learnt.forestry import ChosenRows, CodedTable, bin_rows, category_columns, piece_cells

_LOADED_CELLS = 1 << 24  # of a table that is simply loaded: 128 MB


def loaded(forest: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """X, y and weights in memory, but for a large X or one that is to be binned: that is left where it is."""
    y, sample_weight = target_in_memory(y), target_in_memory(sample_weight)
    if forest.splitter != "auto" or X.ndim != 2:
        return X, y, sample_weight
    n = len(X) if isinstance(X, Table) else as_rows(X).n_rows
    if n * X.shape[1] > _LOADED_CELLS:
        return X, y, sample_weight
    if isinstance(X, Table):
        return X.to_numpy() if X.transformed else X.read(0, n), y, sample_weight
    return X.compute(), y, sample_weight


def table_of(forest: Any, X: Any, weights: Any) -> tuple[CodedTable, ChosenRows, np.ndarray | None, np.ndarray | None]:
    """The codes of the rows of weight above 0, all rows, the weights of the former and their numbers (None: all)."""
    name = type(forest).__name__
    X = check_fit(forest, X, lazy=True, allow_nan=True).X
    exact = forest.splitter == "exact" or forest.monotonic_cst is not None or forest.criterion not in BINNED_CRITERIA
    if exact or any(category_columns(forest.categorical_features, X, name).values()):
        criteria = [c for c in BINNED_CRITERIA if (c == "squared_error") != is_classifier(forest)]
        raise ValueError(
            f"{name} reads rows in blocks only where it may bin them, and X is {described(X)}: set "
            f"splitter='binned', criterion to {' or '.join(map(repr, criteria))}, monotonic_cst=None and "
            "categorical_features=None (encode such columns first), or load X."
        )
    forest._categories = None
    rows = as_rows(X, cells=piece_cells(X, name, {}, single=True))
    w = check_weights(weights, Shape((rows.n_rows, rows.n_features), np.float32))
    everything = ChosenRows(rows)
    present = None if w is None or (w > 0).all() else np.flatnonzero(w)
    chosen = everything if present is None else everything[present]
    table = bin_rows(chosen, forest._random_splits)
    return table, everything, w if w is None or present is None else w[present], present


def in_blocks(forest: Any, X: Any, method: str, *args: Any) -> Any:
    """What a method says of rows in blocks: an array, or a lazy one for Dask collections."""
    forest._require_fit()
    known = forest._categories
    categories = {} if known is None else dict(zip(known.columns.tolist(), known.values))
    X = check_predict(forest, X, lazy=True, allow_nan=True)
    cells = piece_cells(X, type(forest).__name__, categories, single=True, non_negative=False)
    rows: Rows = as_rows(X, cells=cells)
    by_codes = object.__new__(type(forest))  # columns have no names any more, and categories are codes
    by_codes.__dict__.update({k: v for k, v in vars(forest).items() if k != "feature_names_in_"}, _categories=None)
    return rows.map(_of_block, by_codes, method, args)


def _of_block(block: Block, forest: Any, method: str, args: tuple) -> np.ndarray:
    return getattr(forest, method)(block.X, *args)
