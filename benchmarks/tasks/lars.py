"""Least angle regression and robust lines against scikit-learn's: the objective, or the error of the truth."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def sparse_truth(d: int):
    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
        return {"X": X, "y": X[:, :10] @ rng.normal(size=10) + rng.normal(size=n)}

    return make


def with_outliers(d: int):
    """A third of the targets have nothing to do with the line."""

    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        X, coef = rng.normal(size=(n, d)), np.arange(1.0, d + 1)
        y = X @ coef + rng.normal(size=n)
        far = rng.random(n) < 1 / 3
        return {"X": X, "y": np.where(far, 30.0 * rng.normal(size=n), y), "coef": coef}

    return make


def fit(name: str, **settings):
    def of(package: str):
        def work(data: dict):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = getattr(import_module(f"{package}.linear_model"), name)(**settings)
                return model.fit(data["X"], data["y"])

        return work

    return {"ours": of("learnt"), "peers": {"sklearn": of("sklearn")}}


def squared_error(model, data: dict) -> float:
    return float(np.mean((data["y"] - model.predict(data["X"])) ** 2))


def distance(model, data: dict) -> float:
    """Of the coefficients from the truth."""
    coef = model.estimator_.coef_ if hasattr(model, "estimator_") else model.coef_
    return float(np.linalg.norm(coef - data["coef"]))


def task(name: str, n: int, d: int, make, settings: dict, quality, said: str, toy: int = 200) -> Task:
    return Task(
        name=f"{name} {n // 1000}k×{d}",
        family="lars",
        make=make(d),
        rows=n,
        **fit(name, **settings),
        quality=quality,
        quality_name=said,
        required=1.0,
        tolerance=1e-6,
        toy=toy,
    )


TASKS = [
    task("Lars", 5_000, 300, sparse_truth, {"n_nonzero_coefs": 100}, squared_error, "squared error", 400),
    task("LassoLars", 5_000, 300, sparse_truth, {"alpha": 1e-3}, squared_error, "squared error", 400),
    task("LassoLarsCV", 2_000, 100, sparse_truth, {}, squared_error, "squared error"),
    task("RANSACRegressor", 20_000, 10, with_outliers, {"random_state": 0}, distance, "distance from the truth"),
    task("TheilSenRegressor", 2_000, 5, with_outliers, {"random_state": 0}, distance, "distance from the truth"),
]
