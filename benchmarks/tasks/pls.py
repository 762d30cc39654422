"""Partial least squares against scikit-learn's: the share of the targets' variance explained."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from harness import Task


def factors(d: int, targets: int):
    """Columns and targets of the same eight factors."""

    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(n, 8))
        X = Z @ rng.normal(size=(8, d)) + rng.normal(size=(n, d))
        return {"X": X, "Y": Z @ rng.normal(size=(8, targets)) + rng.normal(size=(n, targets))}

    return make


def fit(name: str, components: int):
    def of(package: str):
        def work(data: dict):
            room = import_module(f"{package}.cross_decomposition")
            return getattr(room, name)(n_components=components).fit(data["X"], data["Y"])

        return work

    return {"ours": of("learnt"), "peers": {"sklearn": of("sklearn")}}


def explained(model, data: dict) -> float:
    return float(model.score(data["X"], data["Y"]))


TASKS = [
    Task(
        name=f"{name} {n // 1000}k×{d}, {targets} target{'s' if targets > 1 else ''}, k={components}",
        family="pls",
        make=factors(d, targets),
        rows=n,
        **fit(name, components),
        quality=explained,
        quality_name="R²",
        required=1.0,
        better="higher",
        tolerance=1e-6,
        toy=200,
    )
    for name, n, d, targets, components in (
        ("PLSRegression", 20_000, 50, 1, 5),
        ("PLSRegression", 20_000, 50, 5, 5),
        ("PLSCanonical", 20_000, 50, 5, 3),
        ("CCA", 20_000, 50, 5, 3),
    )
]
