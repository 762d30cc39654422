"""The rows that were predicted worst, and typical ones, as they are in the file, with reasons where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from learnt.study.facts._sections import Reason, ShownRow
from learnt.study.table._columns import as_text, unreadable

WORST, TYPICAL = 5, 5
MOST_CELLS = 8
MOST_REASONS = 5
LONGEST = 60  # characters of a cell


def worst_and_typical(losses: np.ndarray, worst: int = WORST, typical: int = TYPICAL) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the largest losses, and those whose losses are nearest to the median; none twice.

    >>> [part.tolist() for part in worst_and_typical(np.array([0.1, 0.9, 0.2, 0.5, 0.0]), 1, 2)]
    [[1], [2, 0]]
    """
    order = np.argsort(-losses, kind="stable")
    first = order[:worst]
    rest = np.sort(order[worst:])
    near = np.argsort(np.abs(losses[rest] - np.median(losses)), kind="stable")
    return first, rest[near[:typical]]


def shown_rows(
    table: pl.DataFrame,
    *,
    places: np.ndarray,
    y: np.ndarray,
    output: np.ndarray,
    losses: np.ndarray,
    decided: np.ndarray,
    classes: list | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[ShownRow, ...]:
    """Some rows as people look at them.

    Parameters
    ----------
    table : DataFrame
        Their raw cells.
    places : array
        Where each row was in the file, from 0.
    y, output, losses, decided : arrays
        The target, what the model said (amounts, or a probability for each class), the loss, and the prediction.
    classes : list, optional
        None for amounts.
    columns : names, optional
        The columns to show, the most important first; at most eight are.

    Returns
    -------
    tuple of ShownRow
    """
    names = [name for name in (columns if columns is not None else table.columns) if unreadable(table[name]) is None]
    shown = {name: _cells(table[name]) for name in names[:MOST_CELLS]}
    truth: list[str | float] = [str(v) for v in y.tolist()] if classes is not None else y.tolist()
    said: list[str | float] = [str(v) for v in decided.tolist()] if classes is not None else decided.tolist()
    given: list[float | None] = [None] * len(y)
    if classes is not None:
        given = [float(p[classes.index(v)]) for p, v in zip(output, y.tolist())]
    return tuple(
        ShownRow(place, truth[k], said[k], given[k], float(losses[k]), {name: shown[name][k] for name in shown}, ())
        for k, place in enumerate(places.tolist())
    )


def with_reasons(rows: tuple[ShownRow, ...], table: pl.DataFrame, contributions: np.ndarray) -> tuple[ShownRow, ...]:
    """The rows with what moved their predictions most.

    Parameters
    ----------
    rows : tuple of ShownRow
    table : DataFrame
        Their raw cells, a line for each.
    contributions : array of shape (len(rows), n_columns of table)
        How much each column moved the prediction of each row.

    Returns
    -------
    tuple of ShownRow
    """
    cells = {name: _cells(table[name]) for name in table.columns}
    told = []
    for k, row in enumerate(rows):
        order = np.argsort(-np.abs(contributions[k]), kind="stable")[:MOST_REASONS]
        reasons = [
            Reason(table.columns[j], cells[table.columns[j]][k], float(contributions[k, j]))
            for j in order
            if contributions[k, j] != 0
        ]
        told.append(replace(row, reasons=tuple(reasons)))
    return tuple(told)


def _cells(series: pl.Series) -> list[str]:
    if series.dtype.is_float():
        return ["–" if v is None or v != v else f"{v:.6g}" for v in series.to_list()]
    cells = as_text(series).to_list()
    return ["–" if c is None else c if len(c) <= LONGEST else c[: LONGEST - 1] + "…" for c in cells]
