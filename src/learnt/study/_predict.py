"""Using a model of a study on raw tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.persistence import inspect, load
from learnt.persistence._files import write_notes
from learnt.preprocessing import TableEncoder
from learnt.study._errors import StudyError, did_you_mean
from learnt.study.judgement._judge import predict
from learnt.study.judgement._output import plain_data, prediction_columns


def predict_table(
    model: str | Path,
    table: pl.DataFrame,
    *,
    lenient: bool = False,
    header: bool | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> pl.DataFrame:
    """Predictions for the rows of a table: the decision and the probabilities, or the amount and its interval.

    Threshold and interval are in the model file, where a study wrote it; without, the likelier class is chosen.

    Parameters
    ----------
    model : path of a model file, or of the folder of a study.
    table : a data frame with the columns the model was learnt from; others are ignored.
    lenient : whether text where the model knows numbers or dates counts as missing; refused by default.
    header : False for a table whose columns have no names: they are then taken in the order of the learnt table, its
        target left out or not.
    say : called with a sentence on what was counted as missing.
    """
    path = Path(model)
    path = path / "model.learnt" if path.is_dir() else path
    fitted = load(path)
    if not hasattr(fitted, "predict"):
        raise StudyError(f"{path} holds a {type(fitted).__name__}, which does not predict.")
    about = inspect(path).notes.get("study", {})
    encoders = list(_encoders(fitted))
    names = next(_names(fitted), None)
    if header is False:
        table = _in_order(table, about, path)
    X: Any = table
    if names is not None:
        lacking = [str(n) for n in names if n not in table.columns]
        if lacking:
            hint = did_you_mean(lacking[0], table.columns)
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise StudyError(f'The table lacks the column "{lacking[0]}"{more} that the model was learnt from; {hint}')
        X = table.select([str(n) for n in names])
    if encoders and names is not None:
        _check_cells(encoders[0], X, lenient, say)
    classes = getattr(fitted, "classes_", None)
    if classes is None:
        output = predict(fitted, X, None)
        return pl.DataFrame(prediction_columns(output, None, None, 0.5, about.get("half_width")))
    labels = np.asarray(classes).tolist()
    output = predict(fitted, X, labels)
    positive = labels.index(about["positive"]) if about.get("positive") in labels else None
    return pl.DataFrame(prediction_columns(output, labels, positive, about.get("threshold", 0.5), None))


def _encoders(model: Any) -> Iterator[TableEncoder]:
    """The table encoders inside a model, wherever pipelines and ensembles keep them."""
    if isinstance(model, TableEncoder):
        yield model
    for part in _parts(model):
        yield from _encoders(part)


def _names(model: Any) -> Iterator[Any]:
    """The columns that a model, or a part of it that reads the table, was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        yield names
    for part in _parts(model):
        yield from _names(part)


def _parts(model: Any) -> Iterator[Any]:
    yield from (step for _, step in getattr(model, "steps", ()))
    if getattr(model, "estimator_", None) is not None:
        yield model.estimator_
    members = getattr(model, "estimators_", None)
    yield from members if isinstance(members, list) else ()


def _check_cells(encoder: TableEncoder, X: pl.DataFrame, lenient: bool, say: Callable[[str], None]) -> None:
    """Refuse text where the model was fitted on numbers or dates, or report how much of it counts as missing."""
    found = encoder.unreadable(X)
    if not found:
        return
    words = {"number": "numbers", "date": "dates", "boolean": "yes or no"}
    if lenient:
        told = ", ".join(f'{entry["count"]:,} of "{entry["column"]}"' for entry in found[:10])
        more = f" and {len(found) - 10} more columns" if len(found) > 10 else ""
        say(f"Cells that could not be read count as missing: {told}{more}.")
        return
    first = found[0]
    cell = first["cell"] if len(first["cell"]) <= 30 else first["cell"][:29] + "…"
    others = sum(entry["count"] for entry in found) - 1
    more = f", and {others:,} other cell{'s' * (others > 1)} cannot be read either" if others else ""
    raise StudyError(
        f'Row {first["row"] + 1:,} of the column "{first["column"]}" holds "{cell}" where the model knows '
        f"{words[first['kind']]}{more}; correct them, or add --lenient to count them as missing."
    )


def _in_order(table: pl.DataFrame, about: dict[str, Any], path: Path) -> pl.DataFrame:
    """Give unnamed columns the names of the training table, with or without its target."""
    width, target = about.get("width"), str(about.get("target"))
    if width is None:
        raise StudyError(f"{path} was learnt from a table with names; give the new table a line of names too.")
    learnt = [f"column_{k + 1}" for k in range(width)]
    if table.width == width - 1:
        learnt.remove(target)
    elif table.width != width:
        raise StudyError(
            f"The table has {table.width} columns; the model was learnt from one of {width}, so {width} or {width - 1} "
            f"(without {target}) are needed."
        )
    return table.rename(dict(zip(table.columns, learnt)))


def keep_with_model(path: Path, facts: dict[str, Any]) -> None:
    """Write threshold, positive class and interval of a study into its model file, so that they move with it."""
    test = facts["test"]
    notes = {"positive": facts["positive"], "threshold": test.get("threshold", 0.5)}
    notes["half_width"] = test.get("interval", {}).get("half_width")
    if facts["settings"].get("header") is False:
        notes |= {"width": facts["data"]["width"], "target": facts["target"]}
    write_notes(path, {"study": plain_data(notes)})
