"""Cells that are filled in against scikit-learn's: the error of what was hidden."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def gaps(d: int):
    """Columns of five factors; one cell in ten is hidden."""

    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        whole = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + 0.3 * rng.normal(size=(n, d))
        hidden = rng.random((n, d)) < 0.1
        return {"X": np.where(hidden, np.nan, whole), "whole": whole, "hidden": hidden}

    return make


def fill(name: str, **settings):
    def work(module: str):
        def of(data: dict):
            import sklearn.experimental.enable_iterative_imputer  # noqa: F401

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # rounds that were not enough for the tolerance
                return getattr(import_module(module), name)(**settings).fit_transform(data["X"])

        return of

    return {"ours": work("learnt.impute"), "peers": {"sklearn": work("sklearn.impute")}}


def error(found: np.ndarray, data: dict) -> float:
    return float(np.sqrt(np.mean((found - data["whole"])[data["hidden"]] ** 2)))


TASKS = [
    Task(
        name=f"{name} {n // 1000}k×{d}",
        family="imputers",
        make=gaps(d),
        rows=n,
        **fill(name, **settings),
        quality=error,
        quality_name="RMSE of hidden cells",
        required=required,
        tolerance=1e-3,
        toy=200,
    )
    for name, n, d, settings, required in (
        ("KNNImputer", 5_000, 20, {}, 2.0),
        ("IterativeImputer", 20_000, 15, {"max_iter": 5, "random_state": 0}, 1.0),
    )
]
