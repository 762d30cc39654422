"""Helpers for output: prediction columns, plain data, files written atomically."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

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


def write_facts(folder: Path, facts: dict[str, Any]) -> None:
    """Every number of a study, in study.json."""
    text = json.dumps(plain_data(facts), indent=1, allow_nan=False, ensure_ascii=False)
    write_text(folder / "study.json", text)


def plain_data(value: Any) -> Any:
    """Plain data: NumPy scalars and arrays as Python's, numbers that are not finite as null."""
    if isinstance(value, dict):
        return {str(k): plain_data(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain_data(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
