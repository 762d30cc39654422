"""Labels that spread to rows without one: the share of hidden labels that is found."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def hidden(n: int) -> dict:
    """Five groups in ten dimensions; one row in twenty has a label."""
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=n)
    X = 2.0 * rng.normal(size=(5, 10))[truth] + rng.normal(size=(n, 10))
    return {"X": X, "y": np.where(rng.random(n) < 0.05, truth, -1), "truth": truth}


def fit(name: str, **settings):
    def of(package: str):
        def work(data: dict):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scikit-learn's about rows that reach their limit of passes
                return getattr(import_module(f"{package}.semi_supervised"), name)(**settings).fit(data["X"], data["y"])

        return work

    return {"ours": of("learnt"), "peers": {"sklearn": of("sklearn")}}


def found(model, data: dict) -> float:
    return float(np.mean(model.transduction_ == data["truth"]))


TASKS = [
    Task(
        name=f"{name} 3k×10, {settings['kernel']}",
        family="semi-supervised",
        make=hidden,
        rows=3_000,
        **fit(name, **settings),
        quality=found,
        quality_name="labels found",
        required=required,
        better="higher",
        tolerance=0.001,
        toy=200,
    )
    for name, settings, required in (
        ("LabelPropagation", {"kernel": "rbf", "gamma": 0.3}, 1.0),
        ("LabelPropagation", {"kernel": "knn", "n_neighbors": 10}, 1.0),
        ("LabelSpreading", {"kernel": "rbf", "gamma": 0.3}, 2.0),
        ("LabelSpreading", {"kernel": "knn", "n_neighbors": 10}, 1.0),
    )
]
