"""PCA and NMF against scikit-learn: variance explained by the components that were asked for, error left."""

from __future__ import annotations

import numpy as np
from harness import Task


def make(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        rank = min(n, d, 50)
        factors = rng.normal(size=(n, rank)) * np.linspace(10, 1, rank)
        return {"X": factors @ rng.normal(size=(rank, d)) / np.sqrt(d) + 0.5 * rng.normal(size=(n, d)) + 3.0}

    return data


def fit(package: str, **params):
    def work(data: dict):
        from importlib import import_module

        return import_module(f"{package}.decomposition").PCA(**params).fit(data["X"])

    return work


def explained(model, data: dict) -> float:
    """Share of the variance along the components, by projecting the rows: independent of what the model claims."""
    X = data["X"] - data["X"].mean(axis=0)
    return float(np.square(X @ model.components_.T).sum() / np.square(X).sum())


def task(name: str, n: int, d: int, required: float = 1.3, **params) -> Task:
    return Task(
        name=f"PCA {name}",
        family="decomposition",
        make=make(d),
        rows=n,
        ours=fit("learnt", **params),
        peers={"scikit-learn": fit("sklearn", **params)},
        quality=explained,
        quality_name="variance kept",
        required=required,
        better="higher",
        tolerance=1e-5,
        toy=200 if d <= 500 else 40,
    )


def topics(n: int) -> dict:
    rng = np.random.default_rng(0)
    return {"X": rng.gamma(0.5, size=(n, 15)) @ rng.gamma(0.5, size=(15, 1000)) + 0.1 * rng.uniform(size=(n, 1000))}


def factorise(package: str, passes: int):
    """As many passes over the rows as reach the same error: ours makes several sweeps for each of them."""

    def work(data: dict):
        from importlib import import_module

        return import_module(f"{package}.decomposition").NMF(10, max_iter=passes, tol=0, random_state=0).fit(data["X"])

    return work


TASKS = [
    task("100k×100, all", 100_000, 100, required=2.0),
    task("10k×5000, k=20", 10_000, 5000, required=2.0, n_components=20, random_state=0),
    Task(
        name="NMF 10k×1000, k=10, 30 iterations; ours 15",
        family="decomposition",
        make=topics,
        rows=10_000,
        ours=factorise("learnt", 15),
        peers={"scikit-learn": factorise("sklearn", 30)},
        quality=lambda model, data: float(model.reconstruction_err_),
        quality_name="error",
        required=2.0,
        tolerance=1e-3,
        toy=100,
    ),
    task("200k×100, k=10", 200_000, 100, n_components=10),
    task("1M×20, k=5", 1_000_000, 20, n_components=5),
    task("20k×500, k=20", 20_000, 500, n_components=20),
    # Product and eigenvectors, both at LAPACK's speed on either side: there is little to gain.
    task("20k×500, all", 20_000, 500, required=1.0),
    task("5k×1000, k=10", 5_000, 1000, n_components=10, random_state=0),
    task("500×5000, k=10", 500, 5000, n_components=10, random_state=0),
    task("500×5000, all", 500, 5000),
    task("20k×2000, k=10 randomized", 20_000, 2000, n_components=10, svd_solver="randomized", random_state=0),
]
