"""Helpers for output: prediction columns, files written atomically."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from learnt.study.facts import Facts
from learnt.study.judgement._judge import decide


def prediction_columns(
    output: np.ndarray, classes: list | None, positive: int | None, threshold: float, half_width: float | None
) -> dict[str, Any]:
    """Predictions as columns: the decision with a probability for each class, or the amount with its interval."""
    if classes is None:
        columns = {"prediction": output}
        if half_width is not None:
            columns |= {"low": output - half_width, "high": output + half_width}
        return columns
    decided = np.array(classes)[decide(output, classes, positive, threshold)]
    return {"prediction": decided, **{f"p({c})": output[:, k] for k, c in enumerate(classes[:50])}}


def write_text(path: Path, text: str) -> None:
    temporary = path.with_suffix(path.suffix + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def write_facts(folder: Path, facts: Facts) -> None:
    """Every number of a study, in study.json."""
    text = json.dumps(facts.plain(), indent=1, allow_nan=False, ensure_ascii=False)
    write_text(folder / "study.json", text)
