"""Single trees against scikit-learn's, grown to the end. Both grow the same tree, up to equal splits.

The same table at 50k, 200k and 800k rows shows how the cost grows: n log n is 4.4 times for 4 times the rows.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from harness import Task


def table(kind: str, d: int = 20):
    """A few columns decide, some of them together; the labels have noise, so that trees are large."""

    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n + n // 4, d)).astype(np.float32)
        score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3])
        noisy = score + rng.normal(size=len(X))
        if kind == "missing":
            X[rng.random(X.shape) < 0.1] = np.nan
        y = noisy if kind == "number" else np.digitize(noisy, [0.0] if kind != "many" else [-2, -1, 0, 1, 2])
        return {"X": X[:n], "y": y[:n], "X_test": X[n:], "y_test": y[n:]}

    return data


def fit(package: str, name: str, **params):
    def work(data: dict):
        return getattr(import_module(f"{package}.tree"), name)(random_state=0, **params).fit(data["X"], data["y"])

    return work


def path(package: str, name: str, **params):
    def work(data: dict):
        model = getattr(import_module(f"{package}.tree"), name)(random_state=0, **params)
        return model.cost_complexity_pruning_path(data["X"], data["y"])

    return work


def predict(package: str, name: str, rows: int | None):
    """Predictions of a tree that is grown once and kept with the data."""

    def work(data: dict):
        key = f"{package} {name}"
        if key not in data:
            data[key] = fit(package, name)(data)
        return data[key].predict(data["X_test"][:rows])

    return work


def held_out(model, data: dict) -> float:
    return float(model.score(data["X_test"], data["y_test"]))


def squared_error(model, data: dict) -> float:
    """On new rows; R² is about 0 for a tree that has learnt noise by heart, and has no meaningful share of it."""
    return float(np.mean((model.predict(data["X_test"]) - data["y_test"]) ** 2))


def right(labels, data: dict) -> float:
    return float(np.mean(labels == data["y_test"][: len(labels)]))


def last_alpha(found, data: dict) -> float:
    return float(found.ccp_alphas[-1])


def grown(name: str, kind: str, n: int, required: float = 5.0, estimator: str = "", **params) -> Task:
    estimator = estimator or ("DecisionTreeRegressor" if kind == "number" else "DecisionTreeClassifier")
    return Task(
        name=name,
        family="trees",
        make=table(kind),
        rows=n,
        ours=fit("learnt", estimator, **params),
        peers={"sklearn": fit("sklearn", estimator, **params)},
        quality=squared_error if kind == "number" else held_out,
        quality_name="squared error" if kind == "number" else "accuracy",
        required=required,
        better="lower" if kind == "number" else "higher",
        tolerance=0.02,
        toy=400,
    )


def asked(name: str, rows: int | None, required: float) -> Task:
    return Task(
        name=name,
        family="trees",
        make=table("two"),
        rows=100_000,
        ours=predict("learnt", "DecisionTreeClassifier", rows),
        peers={"sklearn": predict("sklearn", "DecisionTreeClassifier", rows)},
        quality=right,
        quality_name="accuracy",
        required=required,
        better="higher",
        tolerance=0.02,
        toy=400,
    )


TASKS = [
    grown("exact tree, two classes 10k×20", "two", 10_000),
    grown("exact tree, a number 10k×20", "number", 10_000),
    grown("exact tree, two classes 50k×20", "two", 50_000),
    grown("exact tree, two classes 200k×20", "two", 200_000),
    grown("exact tree, two classes 800k×20", "two", 800_000),
    grown("exact tree, six classes, entropy 200k×20", "many", 200_000, criterion="entropy"),
    grown("exact tree, a number 200k×20", "number", 200_000),
    grown("exact tree, absolute error 20k×20", "number", 20_000, criterion="absolute_error"),
    grown("exact tree, 10 % missing 200k×20", "missing", 200_000),
    grown("best-first tree of 64 leaves 200k×20", "two", 200_000, max_leaf_nodes=64),
    grown("extra tree 200k×20", "two", 200_000, 1.0, "ExtraTreeClassifier"),
    Task(
        name="cost-complexity path 5k×20",
        family="trees",
        make=table("two"),
        rows=5_000,
        ours=path("learnt", "DecisionTreeClassifier"),
        peers={"sklearn": path("sklearn", "DecisionTreeClassifier")},
        quality=last_alpha,
        quality_name="largest α",
        required=1.0,
        better="same",
        tolerance=0.01,
        toy=300,
    ),
    asked("one tree predicts 25k rows", None, 1.0),
    asked("one tree predicts one row", 1, 1.0),
]
