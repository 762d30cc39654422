"""What the caller and its workers leave for each other in a folder: estimator and model as model files, rows."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

ESTIMATOR, MODEL, CHECKPOINT, JOB = "estimator.learnt", "model.learnt", "checkpoint.npz", "job.json"


def write_table(folder: Path, name: str, table: Any) -> None:
    """An array as it is, for all workers to map; all else (a data frame, a list) pickled, between our processes."""
    if type(table) is np.ndarray and table.dtype != object:
        np.save(folder / f"{name}.npy", table)
    else:
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(table))


def read_table(folder: Path, name: str) -> Any:
    """What `write_table` wrote."""
    path = folder / f"{name}.npy"
    if path.exists():
        return np.load(path, mmap_mode="r")
    return pickle.loads((folder / f"{name}.pickle").read_bytes())


def result_path(folder: Path, rank: int) -> Path:
    return folder / f"result{rank}.json"


def read_result(folder: Path, rank: int) -> dict[str, Any] | None:
    """The report of a worker on how it ended; None where it left none."""
    try:
        return json.loads(result_path(folder, rank).read_text())
    except (OSError, ValueError):
        return None


def epochs_of(checkpoint: Path) -> int:
    """The number of epochs in a checkpoint; 0 where there is none."""
    try:
        with np.load(checkpoint, allow_pickle=False) as file:
            return int(json.loads(str(file["numbers"]))["n_iter"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return 0
