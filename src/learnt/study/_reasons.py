"""Why a saved model predicts what it predicts: columns of words for a table, records for a program."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.explanation import Reasons, contributions
from learnt.explanation._reasons import cell_text, signed
from learnt.study._errors import StudyError
from learnt.study._model import SavedModel

REASONS = 3  # columns of words
_AT_ONCE = 20_000  # rows
_PIXELS = 200  # columns without an encoder: an image


class RowReasons(NamedTuple):
    """What each column adds to the prediction of each row: of classes, to the probability of the predicted one."""

    columns: list[str]
    of: list | None  # the predicted class of each row; None where numbers are predicted
    values: np.ndarray  # (n, columns)
    baseline: np.ndarray
    error: np.ndarray | None


def row_reasons(saved: SavedModel, X: Any, decided: pl.DataFrame) -> RowReasons:
    """The reasons for what was decided for rows from `columns_of`."""
    if saved.encoder is None and X.shape[1] > _PIXELS:
        raise StudyError(
            f"Reasons are given for the columns of a table; {saved.path} was learnt from images of {X.shape[1]} pixels."
        )
    parts = [
        _some_reasons(saved, X, decided, slice(start, start + _AT_ONCE)) for start in range(0, max(len(X), 1), _AT_ONCE)
    ]
    if len(parts) == 1:
        return parts[0]
    first, errors = parts[0], [part.error for part in parts if part.error is not None]
    return RowReasons(
        first.columns,
        None if first.of is None else [label for part in parts for label in part.of or ()],
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.baseline for part in parts]),
        np.concatenate(errors) if errors else None,
    )


def _some_reasons(saved: SavedModel, X: Any, decided: pl.DataFrame, some: slice) -> RowReasons:
    background = X if len(X) > _AT_ONCE else None  # the same for all parts
    X, decided = X[some], decided[some]
    try:
        found = contributions(saved.fitted, X, background, link="probability")
    except ValueError as error:
        raise StudyError(" ".join(str(error).split())) from error
    if saved.classes is None:
        return RowReasons(found.columns, None, found.values, found.baseline, found.standard_error)
    places = {str(label): k for k, label in enumerate(saved.classes)}
    predicted = np.array([places[str(label)] for label in decided["prediction"].to_list()])
    return _of_predicted(found, saved.classes, predicted)


def _of_predicted(found: Reasons, classes: list, predicted: np.ndarray) -> RowReasons:
    of = [classes[k] for k in predicted]
    if found.values.ndim == 2:  # of two classes the second was explained
        second = predicted == 1
        values = np.where(second[:, None], found.values, -found.values)
        return RowReasons(
            found.columns, of, values, np.where(second, found.baseline, 1 - found.baseline), found.standard_error
        )
    rows = np.arange(len(predicted))
    error = None if found.standard_error is None else found.standard_error[rows, :, predicted]
    return RowReasons(found.columns, of, found.values[rows, :, predicted], found.baseline[rows, predicted], error)


def reason_columns(reasons: RowReasons, X: Any, count: int = REASONS) -> list[pl.Series]:
    """Columns "reason 1", "reason 2", … with the cells that matter most, such as ``kitchen_queue = 14: +0.21``."""
    n, d = reasons.values.shape
    order = np.argsort(-np.abs(reasons.values), axis=1, kind="stable")[:, :count]
    cells = {}
    for j in np.unique(order).tolist():
        column: Any = X[:, j] if isinstance(X, np.ndarray) else X[reasons.columns[j]]
        cells[j] = [cell_text(cell) for cell in column]
    out = []
    for k in range(count):
        words: list[str | None] = [None] * n
        for i in range(n if k < d else 0):
            j = int(order[i, k])
            if reasons.values[i, j]:
                words[i] = f"{reasons.columns[j]} = {cells[j][i]}: {signed(float(reasons.values[i, j]))}"
        out.append(pl.Series(f"reason {k + 1}", words, dtype=pl.String))
    return out


def reason_records(reasons: RowReasons) -> list[dict[str, Any]]:
    """For each row what is explained, the baseline, and what every column adds, the largest first."""
    out = []
    for i, values in enumerate(reasons.values):
        order = np.argsort(-np.abs(values), kind="stable").tolist()
        record: dict[str, Any] = {} if reasons.of is None else {"of": reasons.of[i]}
        record |= {
            "baseline": float(reasons.baseline[i]),
            "adds": {reasons.columns[j]: float(values[j]) for j in order},
        }
        if reasons.error is not None:
            record["standard_error"] = {reasons.columns[j]: float(reasons.error[i, j]) for j in order}
        out.append(record)
    return out
