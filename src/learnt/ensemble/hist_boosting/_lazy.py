"""Boosting from files and Dask collections: targets in memory, rows as codes of one byte a cell, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.rows import Block, Rows, in_memory
from learnt.ensemble._lazy import check_lazy
from learnt.ensemble.hist_boosting._fit import Binned
from learnt.forestry import (
    Bins,
    ChosenRows,
    CodedRows,
    bin_chosen,
    category_columns,
    code_chosen,
    piece_cells,
    seen_values,
)


def validate_lazy(model: Any, X: Any, y: Any, sample_weight: Any, going_on: bool) -> tuple[ChosenRows, Any, Any]:
    """The rows, y and weights; sets what a model remembers of columns and categories."""
    rows, y, w = check_lazy(model, X, y, sample_weight, model._target, not going_on)
    if not going_on:
        seen = seen_values(rows, category_columns(model.categorical_features, X, type(model).__name__))
        model._categories = {j: column.values for j, column in seen.items()}
        model.is_categorical_ = np.isin(np.arange(rows.n_features), list(seen)) if seen else None
    return _coded_rows(model, X, rows), y, w


def validation_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[ChosenRows, Any, Any]:
    """Rows to watch a fit by: as those that it is fitted to."""
    rows, y, w = check_lazy(model, X, y, sample_weight, model._target, False)
    return _coded_rows(model, X, rows), y, w


def _coded_rows(model: Any, X: Any, rows: Rows) -> ChosenRows:
    """The rows with codes in place of categories."""
    return ChosenRows(rows.again(None, None, piece_cells(X, type(model).__name__, model._categories)))


def bin_lazy(model: Any, chosen: ChosenRows, w: Any, validation: Any, going_on: bool) -> tuple[Binned, Any]:
    """The codes of the rows, and of those held out from the same table."""
    held = validation[0] if validation is not None and isinstance(validation[0], ChosenRows) else None
    held = held if held is not None and held.rows is chosen.rows else None
    bins, (_, by_column, by_row), kept = bin_chosen(
        chosen,
        held=held,
        mass=_masses(model, chosen, w),
        weights=w,
        max_bins=model.max_bins,
        random_state=model._random_seed,
    )
    if not going_on:
        model._tables = bins.tables
    table = CodedRows(bins, by_column)
    if going_on:
        before = in_memory(chosen.rows.map(_sums_of_block, model))
        table.before = before[chosen.numbers(None)]
        if kept is not None and held is not None:
            kept.before = before[held.numbers(None)]
    if kept is not None:
        validation = kept, *validation[1:]
    return Binned(bins, (by_column, by_row), chosen, table), validation


def validation_codes(model: Any, validation: Any, bins: Bins, going_on: bool) -> Any:
    """Rows to watch a fit by that are in a table of their own as codes; others as they are."""
    if validation is None or not isinstance(validation[0], ChosenRows):
        return validation
    coded = code_chosen(validation[0], bins)
    if going_on:
        coded.before = in_memory(validation[0].rows.map(_sums_of_block, model))[validation[0].numbers(None)]
    return coded, *validation[1:]


def _masses(model: Any, chosen: ChosenRows, w: np.ndarray | None) -> dict[int, np.ndarray]:
    """The weight of the rows of each category."""
    if not model._categories:
        return {}
    weights = w
    if w is not None and chosen.order is not None:
        weights = np.zeros(chosen.rows.n_rows)
        weights[chosen.order] = w
    seen = seen_values(chosen.rows, dict.fromkeys(model._categories, True), chosen.flags(), weights)
    return {j: seen[j].mass_of(known) for j, known in model._categories.items()}


def _sums_of_block(block: Block, model: Any) -> np.ndarray:
    """The sums of the trees that are there."""
    return model._trees.packed.sum(model._for_trees(block.X))
