"""Topics of documents against scikit-learn's: the perplexity, or the divergence that is left."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task
from scipy import sparse


def documents(n: int) -> dict:
    """Counts of 2,000 words in documents of twenty planted topics."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(2_000, 0.02), size=20)
    shares = rng.dirichlet(np.full(20, 0.1), size=n)
    return {"X": sparse.csr_array([rng.multinomial(100, p / p.sum()) for p in shares @ topics], dtype=np.float64)}


def fit(name: str, **settings):
    def of(package: str):
        def work(data: dict):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return getattr(import_module(f"{package}.decomposition"), name)(**settings).fit(data["X"])

        return work

    return {"ours": of("learnt"), "peers": {"sklearn": of("sklearn")}}


def perplexity(model, data: dict) -> float:
    return float(model.bound_)


def left(model, data: dict) -> float:
    return float(model.reconstruction_err_)


TASKS = [
    Task(
        name=f"{name} {said}2k×2k",
        family="topics",
        make=documents,
        rows=2_000,
        **fit(name, n_components=20, random_state=0, **settings),
        quality=quality,
        quality_name=quality_name,
        required=required,
        tolerance=1e-3,
        toy=150,
    )
    for name, said, settings, quality, quality_name, required in (
        ("LatentDirichletAllocation", "", {}, perplexity, "perplexity", 5.0),
        ("LatentDirichletAllocation", "online ", {"learning_method": "online"}, perplexity, "perplexity", 4.0),
        ("MiniBatchNMF", "", {}, left, "error", 1.0),
    )
]
