"""Brute-force nearest neighbours against scikit-learn (and faiss where it is installed): the same neighbours."""

from __future__ import annotations

import numpy as np
from harness import Task


def make(n_queries: int, d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(5, size=n)
        X = rng.normal(size=(n, d)) + rng.normal(size=(5, d))[y]
        return {"X": X, "y": y, "queries": rng.normal(size=(min(n_queries, 2 * n), d))}

    return data


def predict(package: str, k: int):
    def work(data: dict):
        from importlib import import_module

        model = import_module(f"{package}.neighbors").KNeighborsClassifier(k, algorithm="brute")
        return model.fit(data["X"], data["y"]).predict(data["queries"])

    return work


def checksum(labels, data: dict) -> float:
    """Labels of all queries as one number: equal neighbours vote equally."""
    return float((np.arange(1, len(labels) + 1) % 97 * labels).sum())


def task(n: int, queries: int, d: int, k: int) -> Task:
    return Task(
        name=f"brute kNN {n // 1000}k × {queries // 1000}k queries, d={d}, k={k}",
        family="neighbors",
        make=make(queries, d),
        rows=n,
        ours=predict("learnt", k),
        peers={"scikit-learn": predict("sklearn", k)},
        quality=checksum,
        quality_name="label checksum",
        required=1.5,
        better="same",
    )


TASKS = [task(20_000, 20_000, 64, 10), task(5_000, 5_000, 20, 5), task(50_000, 2_000, 784, 5)]
