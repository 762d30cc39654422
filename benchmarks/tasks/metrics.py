"""AUC, log loss, confusion matrix and friends at a million rows, and at a thousand: the same number."""

from __future__ import annotations

import numpy as np
from harness import Task


def binary(n: int) -> dict:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    score = np.clip(rng.normal(size=n) * 0.2 + 0.3 + 0.3 * y, 1e-6, 1 - 1e-6)
    return {"y": y, "score": score, "label": (score > 0.5).astype(int)}


def ten_classes(n: int) -> dict:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n)
    return {"y": y, "label": np.where(rng.random(n) < 0.7, y, rng.integers(10, size=n))}


def numbers(n: int) -> dict:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n)
    return {"y": y, "score": y + rng.normal(size=n)}


def call(package: str, name: str, second: str):
    def work(data: dict):
        from importlib import import_module

        return getattr(import_module(f"{package}.metrics"), name)(data["y"], data[second])

    return work


def as_number(result, data: dict) -> float:
    array = np.asarray(result, dtype=float)
    return float((array.ravel() * np.arange(1, array.size + 1)).sum())


def task(name: str, make, second: str, required: float, n: int = 1_000_000) -> Task:
    return Task(
        name=f"{name} {'1M' if n == 1_000_000 else n}{', 10 classes' if make is ten_classes else ''}",
        family="metrics",
        make=make,
        rows=n,
        ours=call("learnt", name, second),
        peers={"scikit-learn": call("sklearn", name, second)},
        quality=as_number,
        quality_name="value",
        required=required,
        better="same",
        tolerance=1e-9,
    )


TASKS = [
    task("roc_auc_score", binary, "score", 10.0),
    task("log_loss", binary, "score", 10.0),
    task("confusion_matrix", binary, "label", 10.0),
    task("confusion_matrix", ten_classes, "label", 10.0),
    task("accuracy_score", binary, "label", 1.0),
    task("f1_score", binary, "label", 1.0),
    task("average_precision_score", binary, "score", 1.0),
    task("mean_squared_error", numbers, "score", 1.0),
    task("r2_score", numbers, "score", 1.0),
    task("roc_auc_score", binary, "score", 1.0, 1000),
    task("log_loss", binary, "score", 1.0, 1000),
]
