"""train_test_split: the same rows as scikit-learn's, at least as fast."""

from __future__ import annotations

import numpy as np
from harness import Task


def make(n: int) -> dict:
    rng = np.random.default_rng(0)
    return {"X": rng.normal(size=(n, 20)), "y": rng.integers(3, size=n)}


def split(package: str, stratify: bool):
    def work(data: dict):
        from importlib import import_module

        labels = data["y"] if stratify else None
        select = import_module(f"{package}.model_selection")
        return select.train_test_split(data["X"], data["y"], random_state=0, stratify=labels)

    return work


def checksum(parts, data: dict) -> float:
    return float(sum(float(p.ravel()[: 10**6].sum()) * (i + 1) for i, p in enumerate(parts)))


TASKS = [
    Task(
        name=f"train_test_split 1M×20{', stratified' if stratify else ''}",
        family="selection",
        make=make,
        rows=1_000_000,
        ours=split("learnt", stratify),
        peers={"scikit-learn": split("sklearn", stratify)},
        quality=checksum,
        quality_name="checksum of parts",
        required=1.0,
        better="same",
    )
    for stratify in (False, True)
]
