"""LinearSVC and LinearSVR against scikit-learn's liblinear, at the objective it reaches with a tighter tolerance."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task

from tasks.logistic import dense, text


def fit(package: str, name: str, **params):
    def work(data: dict):
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(import_module(f"{package}.svm"), name)(**params)
            return model.fit(data["X"], data["y"])

    return work


def classes(loss: str):
    def objective(model, data: dict) -> float:
        """(‖coef‖² + b²)/2 + Σ loss, over n; summed over planes."""
        scores = np.asarray(data["X"] @ model.coef_.T) + model.intercept_
        planes = range(scores.shape[1])
        sign = np.stack([np.where(data["y"] == (k if len(planes) > 1 else 1), 1.0, -1.0) for k in planes], axis=1)
        miss = np.maximum(0.0, 1.0 - sign * scores)
        size = 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2))
        return float((size + np.sum(miss if loss == "hinge" else miss**2)) / len(data["y"]))

    return objective


def few(model, data: dict) -> float:
    """‖coef‖₁ + |b| + Σ squared hinge, over n."""
    scores = np.asarray(data["X"] @ model.coef_[0]) + model.intercept_[0]
    miss = np.maximum(0.0, 1.0 - np.where(data["y"] == 1, scores, -scores))
    return float((np.abs(model.coef_).sum() + np.abs(model.intercept_[0]) + np.sum(miss**2)) / len(data["y"]))


def numbers(squared: bool):
    def objective(model, data: dict) -> float:
        miss = np.abs(data["y"] - data["X"] @ model.coef_ - model.intercept_)
        size = 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2))
        return float((size + np.sum(miss**2 if squared else miss)) / len(data["y"]))

    return objective


def amounts(d: int):
    def data(n: int) -> dict:
        made = dense(d)(n)
        rng = np.random.default_rng(1)
        return {"X": made["X"], "y": made["X"] @ rng.normal(size=d) + rng.standard_t(3, size=n)}

    return data


def task(name: str, make, n: int, estimator: str, quality, toy: int = 300, peer: dict | None = None, **params) -> Task:
    return Task(
        name=name,
        family="svm",
        make=make,
        rows=n,
        ours=fit("learnt", estimator, **params),
        peers={"sklearn liblinear": fit("sklearn", estimator, **params, **(peer or {}))},
        quality=quality,
        quality_name="objective",
        required=1.5,
        tolerance=1e-6,
        toy=toy,
    )


HINGE, SQUARED = classes("hinge"), classes("squared_hinge")
CLOSE = {"tol": 1e-6, "max_iter": 3000}  # what liblinear needs to come within 1e-6 of the minimum
MANY = {"max_iter": 5000}
TASKS = [
    task("LinearSVC 200k×50", dense(50), 200_000, "LinearSVC", SQUARED),
    task("LinearSVC 500×5000", dense(5000), 500, "LinearSVC", SQUARED),
    task("LinearSVC sparse 20k×50k", text(50_000, 0.001), 20_000, "LinearSVC", SQUARED),
    task("LinearSVC 10 classes 50k×50", dense(50, classes=10), 50_000, "LinearSVC", SQUARED),
    task("LinearSVC hinge 20k×50", dense(50), 20_000, "LinearSVC", HINGE, loss="hinge"),
    task("LinearSVC hinge 500×5000", dense(5000), 500, "LinearSVC", HINGE, loss="hinge", peer=CLOSE),
    task("LinearSVC hinge sparse 20k×50k", text(50_000, 0.001), 20_000, "LinearSVC", HINGE, loss="hinge", peer=CLOSE),
    task(
        "LinearSVC L1 sparse 5k×50k", text(50_000, 0.001), 5_000, "LinearSVC", few, peer=MANY, penalty="l1", dual=False
    ),
    task("LinearSVR 20k×50", amounts(50), 20_000, "LinearSVR", numbers(False)),
    task(
        "LinearSVR squared 200k×50",
        amounts(50),
        200_000,
        "LinearSVR",
        numbers(True),
        loss="squared_epsilon_insensitive",
    ),
]
