"""Outliers and robust covariances against scikit-learn's: the area under the ROC curve, the determinant reached."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from harness import Task


def planted(d: int):
    """One cloud in d dimensions, and one row in fifty that lies elsewhere."""

    def make(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
        odd = np.arange(n) % 50 == 0
        X[odd] = 4.0 * rng.normal(size=(int(odd.sum()), d)) + 3.0
        return {"X": X, "odd": odd}

    return make


def area(scores, data: dict) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(data["odd"], -scores))


def forest(package: str):
    def work(data: dict):
        model = import_module(f"{package}.ensemble").IsolationForest(random_state=0)
        return model.fit(data["X"]).score_samples(data["X"])

    return work


def robust(package: str):
    def work(data: dict):
        return import_module(f"{package}.covariance").MinCovDet(random_state=0).fit(data["X"])

    return work


def sparse_inverse(package: str):
    def work(data: dict):
        model = import_module(f"{package}.covariance").GraphicalLasso(alpha=0.05, tol=1e-5, max_iter=500)
        return model.fit(data["X"])

    return work


def log_determinant(model, data: dict) -> float:
    """Of the rows chosen first: what the method minimises."""
    return float(np.linalg.slogdet(np.cov(data["X"][model.raw_support_].T, bias=True))[1])


def penalised(model, data: dict) -> float:
    S, P = np.cov(data["X"].T, bias=True), model.precision_
    return float((S * P).sum() - np.linalg.slogdet(P)[1] + 0.05 * (np.abs(P).sum() - np.abs(np.diag(P)).sum()))


def both(work) -> dict:
    return {"ours": work("learnt"), "peers": {"sklearn": work("sklearn")}}


TASKS = [
    Task(
        name="IsolationForest 100k×20, fit and score",
        family="outliers",
        make=planted(20),
        rows=100_000,
        **both(forest),
        quality=area,
        quality_name="ROC area",
        required=2.0,
        better="higher",
        toy=400,
    ),
    Task(
        name="MinCovDet 5k×10",
        family="outliers",
        make=planted(10),
        rows=5_000,
        **both(robust),
        quality=log_determinant,
        quality_name="log determinant",
        required=2.0,
        tolerance=1e-3,  # a random search
        toy=100,
    ),
    Task(
        name="GraphicalLasso 1k×50",
        family="outliers",
        make=planted(50),
        rows=1_000,
        **both(sparse_inverse),
        quality=penalised,
        quality_name="objective",
        required=2.0,
        tolerance=1e-5,
        toy=200,
    ),
]
