"""LinearRegression, Ridge and RidgeCV against scikit-learn: mean squared error (plus penalty) on the training rows."""

from __future__ import annotations

import numpy as np
from harness import Task


def make(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
        return {"X": X, "y": X @ rng.normal(size=d) + rng.normal(size=n)}

    return data


def fit(package: str, name: str, **params):
    def work(data: dict):
        from importlib import import_module

        return getattr(import_module(f"{package}.linear_model"), name)(**params).fit(data["X"], data["y"])

    return work


def objective(model, data: dict) -> float:
    """The penalised training error: what both minimise."""
    residual = data["y"] - data["X"] @ model.coef_ - model.intercept_
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    return float((residual @ residual + alpha * model.coef_ @ model.coef_) / len(residual))


def task(name: str, model: str, n: int, d: int, required: float, **params) -> Task:
    return Task(
        name=name,
        family="linear",
        make=make(d),
        rows=n,
        ours=fit("learnt", model, **params),
        peers={"scikit-learn": fit("sklearn", model, **params)},
        quality=objective,
        quality_name="objective",
        required=required,
    )


TASKS = [
    task("LinearRegression 200k×50", "LinearRegression", 200_000, 50, 3.0),
    task("LinearRegression 1M×10", "LinearRegression", 1_000_000, 10, 3.0),
    task("LinearRegression 5k×1000", "LinearRegression", 5_000, 1000, 3.0),
    task("LinearRegression 500×5000", "LinearRegression", 500, 5000, 3.0),
    task("Ridge 200k×50", "Ridge", 200_000, 50, 1.3),
    task("Ridge 1M×10", "Ridge", 1_000_000, 10, 1.3),
    task("Ridge 5k×1000", "Ridge", 5_000, 1000, 1.3),
    task("Ridge 500×5000", "Ridge", 500, 5000, 1.3),
    task("RidgeCV 200k×50", "RidgeCV", 200_000, 50, 2.0, alphas=(0.1, 1.0, 10.0, 100.0)),
    task("RidgeCV 5k×500", "RidgeCV", 5_000, 500, 2.0, alphas=(0.1, 1.0, 10.0, 100.0)),
    task("RidgeCV 500×5000", "RidgeCV", 500, 5000, 2.0, alphas=(0.1, 1.0, 10.0, 100.0)),
]
