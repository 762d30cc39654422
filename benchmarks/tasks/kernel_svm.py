"""Support vector machines with kernels against scikit-learn's libsvm, at the objective that both reach."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from harness import Task


def machine(package: str, name: str):
    return getattr(import_module(f"{package}.svm"), name)()


def fit(package: str, name: str):
    def work(data: dict):
        return machine(package, name).fit(data["X"], data["y"])

    return work


def classes(d: int, k: int = 2):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        score = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
        return {"X": X, "y": np.digitize(score, np.quantile(score, np.arange(1, k) / k))}

    return data


def amounts(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        return {"X": X, "y": np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)}

    return data


def hinge(model, data: dict) -> float:
    """½‖w‖² + Σ hinge, over n."""
    f = model.decision_function(data["X"])
    sign = np.where(data["y"] == 1, 1.0, -1.0)
    norm = float(model.dual_coef_[0] @ (f[model.support_] - model.intercept_[0]))
    return (0.5 * norm + np.maximum(0.0, 1.0 - sign * f).sum()) / len(f)


def tube(model, data: dict) -> float:
    """½‖w‖² + Σ max(0, |y − f| − ε), over n."""
    f = model.predict(data["X"])
    norm = float(model.dual_coef_[0] @ (f[model.support_] - model.intercept_[0]))
    return (0.5 * norm + np.maximum(0.0, np.abs(data["y"] - f) - 0.1).sum()) / len(f)


def mistakes(model, data: dict) -> float:
    return float((model.predict(data["X"]) != data["y"]).mean())


def task(name: str, estimator: str, make, n: int, quality, quality_name: str, tolerance: float = 1e-3) -> Task:
    return Task(
        name=name,
        family="kernel svm",
        make=make,
        rows=n,
        ours=fit("learnt", estimator),
        peers={"sklearn libsvm": fit("sklearn", estimator)},
        quality=quality,
        quality_name=quality_name,
        required=4.0,
        tolerance=tolerance,
        toy=300,
    )


TASKS = [
    task("SVC 10k×20", "SVC", classes(20), 10_000, hinge, "objective"),
    task("SVC 20k×20", "SVC", classes(20), 20_000, hinge, "objective"),
    task("SVC 10k×20, 10 classes", "SVC", classes(20, 10), 10_000, mistakes, "mistakes", 0.02),
    task("SVR 10k×20", "SVR", amounts(20), 10_000, tube, "objective"),
]
