"""Neighbours against scikit-learn: the same neighbours, means, factors and densities."""

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


def plain_rows(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        return {"X": X, "y": X[:, 0] ** 2 + rng.normal(size=n), "queries": rng.normal(size=(n // 10, d))}

    return data


def of(package: str, name: str, answer):
    """Fit an estimator of a room of one package, and what is asked of it."""

    def work(data: dict):
        from importlib import import_module

        room, kind = name.split(".")
        return answer(getattr(import_module(f"{package}.{room}"), kind), data)

    return work


def estimator_task(title: str, n: int, d: int, name: str, answer, required: float) -> Task:
    return Task(
        name=f"{title}, {n // 1000}k rows, d={d}",
        family="neighbors",
        make=plain_rows(d),
        rows=n,
        ours=of("learnt", name, answer),
        peers={"scikit-learn": of("sklearn", name, answer)},
        quality=lambda values, data: float(np.sum(values)),
        quality_name="sum of the answers",
        required=required,
        better="same",
    )


def by_k(kind, data):
    return kind(10, algorithm="kd_tree", n_jobs=2).fit(data["X"], data["y"]).predict(data["queries"])


def by_radius(radius: float):
    def answer(kind, data):
        model = kind(radius, algorithm="kd_tree", n_jobs=2).fit(data["X"], data["y"])
        return model.predict(0.5 * data["queries"])

    return answer


def factors(kind, data):
    return kind(algorithm="kd_tree", n_jobs=2).fit(data["X"]).negative_outlier_factor_


def densities(kind, data):
    return kind(bandwidth=0.3).fit(data["X"]).score_samples(data["queries"])


def clusters(kind, data):
    return kind(0.1, min_samples=5, algorithm="kd_tree", n_jobs=2).fit(data["X"]).labels_


TASKS += [
    estimator_task("KNeighborsRegressor, KD-tree", 50_000, 3, "neighbors.KNeighborsRegressor", by_k, 2.0),
    estimator_task("radius 0.5, KD-tree", 10_000, 3, "neighbors.RadiusNeighborsRegressor", by_radius(0.5), 3.0),
    estimator_task("radius 1.5, KD-tree", 10_000, 3, "neighbors.RadiusNeighborsRegressor", by_radius(1.5), 3.0),
    estimator_task("LocalOutlierFactor, KD-tree", 20_000, 3, "neighbors.LocalOutlierFactor", factors, 3.0),
    estimator_task("KernelDensity, Gaussian", 10_000, 3, "neighbors.KernelDensity", densities, 3.0),
    estimator_task("DBSCAN", 100_000, 3, "cluster.DBSCAN", clusters, 2.0),
]
