"""Maps and clusters of any shape against scikit-learn's: the divergence, stress or agreement reached."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def groups(d: int, k: int):
    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        truth = rng.integers(k, size=n)
        return {"X": 3.0 * rng.normal(size=(k, d))[truth] + rng.normal(size=(n, d)), "truth": truth}

    return make


def sheet(n: int) -> dict:
    """A rolled plane in ten dimensions."""
    rng = np.random.default_rng(0)
    t, h = 4.0 + 8.0 * rng.random(n), 10.0 * rng.random(n)
    X = np.column_stack([t * np.cos(t), t * np.sin(t), h]) @ rng.normal(size=(3, 10))
    return {"X": X + 0.01 * rng.normal(size=X.shape)}


def fit(room: str, name: str, **settings):
    def of(package: str):
        def work(data: dict):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return getattr(import_module(f"{package}.{room}"), name)(**settings).fit(data["X"])

        return work

    return {"ours": of("learnt"), "peers": {"sklearn": of("sklearn")}}


def agreement(model, data: dict) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(data["truth"], model.labels_))


def divergence(model, data: dict) -> float:
    return float(model.kl_divergence_)


def reconstruction(model, data: dict) -> float:
    return float(model.reconstruction_error())


def cluster(name: str, n: int, d: int, k: int, contenders: dict, required: float, toy: int = 300) -> Task:
    return Task(
        name=f"{name} {n // 1000}k×{d}",
        family="maps",
        make=groups(d, k),
        rows=n,
        **contenders,
        quality=agreement,
        quality_name="adjusted Rand index",
        required=required,
        better="higher",
        tolerance=0.01,  # cuts of equal weight
        toy=toy,
    )


TASKS = [
    Task(
        name="TSNE 3k×20",
        family="maps",
        make=groups(20, 6),
        rows=3_000,
        **fit("manifold", "TSNE", random_state=0),
        quality=divergence,
        quality_name="divergence",
        required=2.0,
        tolerance=0.02,  # other sums of far points lead to another map
        toy=100,
    ),
    Task(
        name="Isomap 2k×10",
        family="maps",
        make=sheet,
        rows=2_000,
        **fit("manifold", "Isomap"),
        quality=reconstruction,
        quality_name="reconstruction error",
        required=1.0,
        toy=200,
    ),
    cluster("SpectralClustering", 2_000, 5, 4, fit("cluster", "SpectralClustering", n_clusters=4, random_state=0), 1.0),
    cluster("OPTICS", 10_000, 3, 5, fit("cluster", "OPTICS", min_samples=20), 3.0),
    cluster("Birch", 20_000, 5, 5, fit("cluster", "Birch", n_clusters=5, threshold=1.5), 1.0),
    cluster("AffinityPropagation", 1_000, 2, 4, fit("cluster", "AffinityPropagation", random_state=0), 1.0),
    cluster("MeanShift", 1_000, 2, 4, fit("cluster", "MeanShift", bandwidth=2.0), 3.0),
]
