"""What a model takes and gives: its columns with examples, its classes or interval."""

from __future__ import annotations

from typing import Any

from learnt.study._model import SavedModel
from learnt.study.judgement._judge import COVERAGE

MOST_LEVELS = 100  # of a column that are listed


def describe(model: SavedModel) -> dict[str, Any]:
    """The model as plain data: file, target, classes or interval, and a record for each column."""
    classify = model.classes is not None
    found: dict[str, Any] = {
        "model": model.path.name,
        "target": model.about.get("target"),
        "task": "classify" if classify else "regress",
        "columns": _columns(model),
    }
    if classify:
        found["classes"] = model.classes
        if model.positive is not None:
            found |= {"positive": model.about["positive"], "threshold": model.threshold}
    elif model.about.get("half_width") is not None:
        found["interval"] = {"half_width": model.about["half_width"], "coverage": COVERAGE}
    return found


def example_row(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """One row that the model takes, from the records of its columns."""
    return {column["name"]: column["example"] for column in columns}


def columns_wanted(model: SavedModel) -> list[str]:
    """Names of the columns; a model that was learnt from an array has column_1, column_2, …"""
    if model.names is not None:
        return model.names
    return [f"column_{k + 1}" for k in range(int(getattr(model.fitted, "n_features_in_", 0)))]


def _columns(model: SavedModel) -> list[dict[str, Any]]:
    encoder = model.encoder
    if encoder is None or encoder.sparse_ or model.names is None:
        kind = "number" if model.names is None else "any"
        return [{"name": name, "kind": kind, "example": 0.0} for name in columns_wanted(model)]
    records = {str(record["name"]): record for record in encoder.columns_}
    return [_column(name, records[name]) for name in model.names]


def _column(name: str, record: dict[str, Any]) -> dict[str, Any]:
    kind, known = record["kind"], record["statistics"]
    column: dict[str, Any] = {"name": name, "kind": kind, "example": None}
    column["missing"] = bool(known.get("missing", 0))  # whether some were when it was learnt
    if kind == "boolean":
        return column | {"example": True}
    if "median" in known:
        return column | {"example": known["median"], "min": known["min"], "max": known["max"]}
    if kind == "date":
        return column | {"example": known["max"], "min": known["min"], "max": known["max"]}
    if "words" in known:
        return column | {"example": " ".join(known["top"][:3]) or None}
    top = [level for level, _ in known.get("top", [])]
    levels = [level for level in record["coding"].get("levels") or top if level is not None]
    if kind == "category":
        column |= {"levels": levels[:MOST_LEVELS], "n_levels": known.get("levels", len(levels))}
    return column | {"example": top[0] if top else None}
