"""SGD, ten epochs, against scikit-learn's: the same steps on rows shuffled otherwise."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task
from scipy import sparse


def dense(d: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        score = X @ rng.normal(size=d) / np.sqrt(d) + 0.5 * rng.normal(size=n)
        return {"X": X, "label": (score > 0).astype(int), "number": score}

    return data


def text(d: int, entries: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        columns = np.minimum(rng.zipf(1.3, size=n * entries) - 1 + rng.integers(0, d // 100, size=n * entries), d - 1)
        values = np.log1p(rng.geometric(0.5, size=n * entries).astype(float))
        starts = np.arange(0, n * entries + 1, entries)
        X = sparse.csr_matrix((values, columns.astype(np.int32), starts), shape=(n, d))
        X.sum_duplicates()
        score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
        return {"X": X, "label": (score > 0).astype(int), "number": score}

    return data


def fit(package: str, name: str, **params):
    def work(data: dict):
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(import_module(f"{package}.linear_model"), name)(
                max_iter=10, tol=None, random_state=0, **params
            )
            return model.fit(data["X"], data["number" if name == "SGDRegressor" else "label"])

    return work


def quality(model, data: dict) -> float:
    """Accuracy, or R²."""
    return float(
        model.score(data["X"], data["number" if hasattr(model, "eta0") and model.coef_.ndim == 1 else "label"])
    )


def task(name: str, make, n: int, kind: str = "SGDClassifier", **params) -> Task:
    return Task(
        name=name,
        family="sgd",
        make=make,
        rows=n,
        ours=fit("learnt", kind, **params),
        peers={"sklearn": fit("sklearn", kind, **params)},
        quality=quality,
        quality_name="R²" if kind == "SGDRegressor" else "accuracy",
        required=1.5,
        better="higher",
        tolerance=0.02,  # what two orders of the rows differ by
    )


TASKS = [
    task("SGD hinge 200k×20", dense(20), 200_000),
    task("SGD hinge 50k×100", dense(100), 50_000),
    task("SGD log 200k×20", dense(20), 200_000, loss="log_loss"),
    task("SGD L1 50k×100", dense(100), 50_000, penalty="l1"),
    task("SGD averaged 50k×100", dense(100), 50_000, average=True),
    task("SGD squared 200k×20", dense(20), 200_000, kind="SGDRegressor"),
    task("SGD hinge sparse 50k×20k", text(20_000, 40), 50_000),
    task("SGD log sparse 50k×20k", text(20_000, 40), 50_000, loss="log_loss"),
]
