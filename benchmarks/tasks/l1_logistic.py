"""LogisticRegression with the absolute penalty against liblinear, saga and skglm, at equal objective."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task
from scipy import sparse

TOY = 200  # rows up to which scikit-learn stands in for skglm, which compiles for half a minute in every process


def dense(d: int, classes: int = 2, rho: float = 0.0, k: int = 20):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        for j in range(1, d) if rho else ():
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        W = np.zeros((d, classes))
        W[rng.permutation(d)[:k]] = rng.normal(size=(min(k, d), classes))
        return {"X": X, "y": (X @ W + rng.gumbel(size=(n, classes))).argmax(axis=1)}

    return data


def text(d: int, density: float, k: int = 200):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = sparse.csr_matrix(sparse.random_array((n, d), density=density, rng=rng, format="csr"))
        X.data = np.log1p(rng.geometric(0.5, size=X.nnz).astype(float))
        chosen = rng.permutation(d)[: min(k, d)]
        scores = np.asarray(X[:, chosen] @ rng.normal(size=len(chosen)))
        return {"X": X, "y": (scores + 0.3 * scores.std() * rng.normal(size=n) > np.median(scores)).astype(int)}

    return data


def fit(package: str, C: float, **params):
    def work(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if package == "skglm" and len(data["y"]) <= TOY:
                model = import_module("sklearn.linear_model").LogisticRegression(C=C, l1_ratio=1.0, **LIBLINEAR)
            elif package == "skglm":
                model = import_module("skglm").SparseLogisticRegression(1 / (C * len(data["y"])), **params)
            else:
                model = import_module(f"{package}.linear_model").LogisticRegression(C=C, l1_ratio=1.0, **params)
            return model.fit(data["X"], data["y"])

    return work


def objective(C: float):
    def quality(model, data: dict) -> float:
        """Σ log loss + ‖coef‖₁ / C, over n."""
        Z = np.asarray(data["X"] @ model.coef_.T) + model.intercept_
        Z = np.c_[np.zeros(len(Z)), Z] if Z.shape[1] == 1 else Z
        loss = np.logaddexp.reduce(Z, axis=1) - Z[np.arange(len(Z)), data["y"]]
        return float((loss.sum() + np.abs(model.coef_).sum() / C) / len(Z))

    return quality


# Settings at which each peer comes within about 1e-6 of the minimum. liblinear penalises the intercept: its scale is
# large enough for that not to matter.
LIBLINEAR = {"solver": "liblinear", "max_iter": 2000, "intercept_scaling": 100.0}
SAGA = {"solver": "saga", "max_iter": 500}


def task(name: str, make, n: int, C: float, peers: dict, toy: int = 200) -> Task:
    return Task(
        name=name,
        family="l1_logistic",
        make=make,
        rows=n,
        ours=fit("learnt", C),
        peers={peer: fit(peer.split()[0], C, **params) for peer, params in peers.items()},
        quality=objective(C),
        quality_name="objective",
        required=2.0,
        tolerance=1e-6,
        toy=toy,
    )


TASKS = [
    task(
        "L1 logistic 50k×100",
        dense(100),
        50_000,
        0.01,
        {"sklearn liblinear": {**LIBLINEAR, "tol": 1e-3}, "sklearn saga": {**SAGA, "tol": 1e-4}},
    ),
    task(
        "L1 logistic correlated 20k×100",
        dense(100, rho=0.9),
        20_000,
        0.05,
        {"sklearn liblinear": {**LIBLINEAR, "tol": 1e-4}, "sklearn saga": {**SAGA, "tol": 1e-4}},
    ),
    task(
        "L1 logistic 400×5000",
        dense(5000),
        400,
        0.3,
        {"sklearn liblinear": {**LIBLINEAR, "tol": 1e-5}, "skglm": {"tol": 1e-5}},
    ),
    task(
        "L1 logistic sparse 10k×20k",
        text(20_000, 0.002),
        10_000,
        1.0,
        {"sklearn liblinear": {**LIBLINEAR, "tol": 1e-4}, "skglm": {"tol": 1e-6}},
    ),
    task("L1 logistic 4 classes 5k×50", dense(50, classes=4), 5_000, 0.02, {"sklearn saga": {**SAGA, "tol": 1e-5}}),
]
