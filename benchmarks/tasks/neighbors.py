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


def total(values, data: dict) -> float:
    return float(np.sum(values))


def estimator_task(title: str, n: int, d: int, name: str, answer, required: float, quality=total) -> Task:
    return Task(
        name=f"{title}, {n // 1000}k rows, d={d}",
        family="neighbors",
        make=plain_rows(d),
        rows=n,
        ours=of("learnt", name, answer),
        peers={"scikit-learn": of("sklearn", name, answer)},
        quality=quality,
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


def noise(kind, data):
    """Rows in clusters; which of equal distances comes first settles some of them, so that counts agree roughly."""
    labels = kind(min_cluster_size=20, n_jobs=2, copy=True).fit(data["X"]).labels_
    return np.round(np.mean(labels >= 0), 1)


def clusters(kind, data):
    return kind(0.1, min_samples=5, algorithm="kd_tree", n_jobs=2).fit(data["X"]).labels_


TASKS += [
    estimator_task("KNeighborsRegressor, KD-tree", 50_000, 3, "neighbors.KNeighborsRegressor", by_k, 2.0),
    estimator_task("radius 0.5, KD-tree", 10_000, 3, "neighbors.RadiusNeighborsRegressor", by_radius(0.5), 3.0),
    estimator_task("radius 1.5, KD-tree", 10_000, 3, "neighbors.RadiusNeighborsRegressor", by_radius(1.5), 3.0),
    estimator_task("LocalOutlierFactor, KD-tree", 20_000, 3, "neighbors.LocalOutlierFactor", factors, 3.0),
    estimator_task("KernelDensity, Gaussian", 10_000, 3, "neighbors.KernelDensity", densities, 3.0),
    estimator_task("HDBSCAN", 20_000, 3, "cluster.HDBSCAN", noise, 2.0),
    estimator_task("DBSCAN", 100_000, 3, "cluster.DBSCAN", clusters, 2.0),
]


def build_and_query(name: str, k: int):
    """A tree built, and every point asked for its k nearest; their distances."""

    def work(package: str):
        return of(package, f"neighbors.{name}", lambda kind, data: kind(data["X"]).query(data["X"], k=k)[0])

    return work


def scipy_tree(k: int):
    def work(data: dict):
        from scipy.spatial import cKDTree

        return cKDTree(data["X"]).query(data["X"], k=k, workers=2)[0]

    return work


def sorted_within(radius: float, algorithm: str):
    """The distances of all points within a radius, nearest first."""

    def answer(kind, data):
        model = kind(radius=radius, algorithm=algorithm, n_jobs=2).fit(data["X"])
        return model.radius_neighbors(data["queries"], sort_results=True)[0]

    return answer


def weighed_by_place(found, data: dict) -> float:
    """The sum of distances times their places, which tells their order; it is no part of the time."""
    return float(sum(d @ np.arange(1, d.size + 1) for d in found))


def manifold(dimension: int, d: int):
    """Points of a curved surface of few dimensions in a space of many."""

    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        inner = rng.normal(size=(n, dimension))
        return {"X": np.tanh(inner @ rng.normal(size=(dimension, d)) / np.sqrt(dimension))}

    return data


def tree_task(title: str, n: int, make_rows, name: str, k: int, required: float, **more_peers) -> Task:
    work = build_and_query(name, k)
    return Task(
        name=f"{name} build + query, {n // 1000}k points, {title}, k={k}",
        family="neighbors",
        make=make_rows,
        rows=n,
        ours=work("learnt"),
        peers={"scikit-learn": work("sklearn"), **more_peers},
        quality=lambda distances, data: float(np.sum(distances)),
        quality_name="sum of the distances",
        required=required,
        better="same",
    )


NEAREST = "neighbors.NearestNeighbors"
TASKS += [
    *(tree_task(f"d={d}", 200_000, plain_rows(d), "KDTree", 10, 1.0, scipy=scipy_tree(10)) for d in (3, 8)),
    tree_task("10 dimensions in d=50", 5_000, manifold(10, 50), "BallTree", 10, 3.0),
    estimator_task(
        "radius 0.5 nearest first, KD-tree", 20_000, 3, NEAREST, sorted_within(0.5, "kd_tree"), 3.0, weighed_by_place
    ),
    estimator_task(
        "radius 2 nearest first, KD-tree", 20_000, 8, NEAREST, sorted_within(2.0, "kd_tree"), 3.0, weighed_by_place
    ),
    estimator_task(
        "radius 5 nearest first, brute", 5_000, 20, NEAREST, sorted_within(5.0, "brute"), 1.0, weighed_by_place
    ),
]


def labelled_rows(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(4, size=n)
        X = rng.normal(size=(n, d))
        X[:, :2] += y[:, None]
        return {"X": X, "y": y}

    return data


def neighbourhood_components(package: str, m: int):
    def work(data: dict):
        from importlib import import_module

        kind = import_module(f"{package}.neighbors").NeighborhoodComponentsAnalysis
        return kind(m, init="pca", random_state=0).fit(data["X"], data["y"]).components_

    return work


def stochastic_score(components, data: dict) -> float:
    """The objective: the mean chance that a random near neighbour has the row's class."""
    E = data["X"] @ components.T
    squares = (E**2).sum(axis=1)
    d = squares[:, None] + squares - 2 * (E @ E.T)
    np.fill_diagonal(d, np.inf)
    p = np.exp(d.min(axis=1, keepdims=True) - d)
    return float(((p * (data["y"][:, None] == data["y"])).sum(axis=1) / p.sum(axis=1)).mean())


TASKS += [
    Task(
        name=f"NeighborhoodComponentsAnalysis, {n:,} rows, d={d}, {m} components",
        family="neighbors",
        make=labelled_rows(d),
        rows=n,
        ours=neighbourhood_components("learnt", m),
        peers={"scikit-learn": neighbourhood_components("sklearn", m)},
        quality=stochastic_score,
        quality_name="mean chance of the right class",
        required=3.0,
        better="higher",
        tolerance=0.005,  # equal to 14 digits after ten steps; then rounding leads to one plateau or another
    )
    for n, d, m in ((2_000, 10, 2), (2_000, 30, 30))
]
