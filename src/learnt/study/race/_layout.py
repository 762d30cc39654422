"""The rows of a study, written to files for the worker processes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MOST_CELLS = 40_000_000  # of one prepared training fold


def write_rows(
    folder: Path,
    X: pl.DataFrame,
    y: np.ndarray,
    folds: list,
    classes: list | None,
    seed: int,
    metric: dict[str, Any] | None = None,
) -> None:
    """Write the development rows for the worker processes; `y` holds class numbers or amounts."""
    folder.mkdir(parents=True, exist_ok=True)
    X.write_ipc(folder / "rows.arrow")
    np.save(folder / "y.npy", y)
    arrays = {f"{part}{k}": rows for k, pair in enumerate(folds) for part, rows in zip(("train", "valid"), pair)}
    np.savez(folder / "folds.npz", **arrays)
    meta = {"folds": len(folds), "classes": classes, "seed": seed, "metric": metric}
    part = folder / "meta.json.part"
    part.write_text(json.dumps(meta), encoding="utf-8")
    os.replace(part, folder / "meta.json")


def write_all_rows(folder: Path, X: pl.DataFrame, y: np.ndarray) -> None:
    """Write all labelled rows for the last fit, once the test set has been opened."""
    X.write_ipc(folder / "all.arrow")
    np.save(folder / "all-y.npy", y)
