"""Using a model of a study on raw tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.persistence import inspect, load, save
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._judge import predict
from learnt.study._output import plain_data, prediction_columns


def predict_table(model: str | Path, table: pl.DataFrame) -> pl.DataFrame:
    """Predictions for the rows of a table: the decision and the probabilities, or the amount and its interval.

    Threshold and interval are in the model file, where a study wrote it; without, the likelier class is chosen.

    Parameters
    ----------
    model : path of a model file, or of the folder of a study.
    table : a data frame with the columns the model was learnt from; others are ignored.
    """
    path = Path(model)
    path = path / "model.learnt" if path.is_dir() else path
    fitted = load(path)
    if not hasattr(fitted, "predict"):
        raise StudyError(f"{path} holds a {type(fitted).__name__}, which does not predict.")
    names = getattr(fitted, "feature_names_in_", None)
    X: Any = table
    if names is not None:
        lacking = [str(n) for n in names if n not in table.columns]
        if lacking:
            hint = did_you_mean(lacking[0], table.columns)
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise StudyError(f'The table lacks the column "{lacking[0]}"{more} that the model was learnt from; {hint}')
        X = table.select([str(n) for n in names])
    about = inspect(path).notes.get("study", {})
    classes = getattr(fitted, "classes_", None)
    if classes is None:
        output = predict(fitted, X, None)
        return pl.DataFrame(prediction_columns(output, None, None, 0.5, about.get("half_width")))
    labels = np.asarray(classes).tolist()
    output = predict(fitted, X, labels)
    positive = labels.index(about["positive"]) if about.get("positive") in labels else None
    return pl.DataFrame(prediction_columns(output, labels, positive, about.get("threshold", 0.5), None))


def keep_with_model(path: Path, facts: dict[str, Any]) -> None:
    """Write threshold, positive class and interval of a study into its model file, so that they move with it."""
    test = facts["test"]
    notes = {"positive": facts["positive"], "threshold": test.get("threshold", 0.5)}
    notes["half_width"] = test.get("interval", {}).get("half_width")
    save(load(path), path, notes={"study": plain_data(notes)})
