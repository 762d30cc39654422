"""Using a model of a study on raw tables."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.persistence import load
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._judge import predict
from learnt.study._output import prediction_columns


def predict_table(model: str | Path, table: pl.DataFrame) -> pl.DataFrame:
    """Predictions for the rows of a table: the decision and the probabilities, or the amount and its interval.

    Threshold and interval come from the study.json beside the model, where there is one that belongs to it.

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
    about = _study_of(path)
    classes = getattr(fitted, "classes_", None)
    if classes is None:
        output = predict(fitted, X, None)
        return pl.DataFrame(prediction_columns(output, None, None, 0.5, about.get("half_width")))
    labels = np.asarray(classes).tolist()
    output = predict(fitted, X, labels)
    positive = labels.index(about["positive"]) if about.get("positive") in labels else None
    return pl.DataFrame(prediction_columns(output, labels, positive, about.get("threshold", 0.5), None))


def _study_of(path: Path) -> dict[str, Any]:
    """Threshold, positive class and interval of the study that made this very file; empty where unknown."""
    try:
        facts = json.loads((path.parent / "study.json").read_text(encoding="utf-8"))
        if facts["model"]["sha256"] != hashlib.sha256(path.read_bytes()).hexdigest():
            return {}
        test = facts["test"]
        about = {"positive": facts["positive"], "threshold": test.get("threshold", 0.5)}
        return about | {"half_width": test.get("interval", {}).get("half_width")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
