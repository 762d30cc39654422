"""Ensembles of any estimators against scikit-learn's: boosted stumps above all."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def table(d: int, classes: int = 2):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n + n // 4, d))
        score = X[:, 0] + X[:, 1] ** 2 - X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=len(X))
        labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
        return {
            "X": X[:n], "y": labels[:n], "number": score[:n],
            "X_test": X[n:], "y_test": labels[n:], "number_test": score[n:],
        }  # fmt: skip

    return data


def fit(package: str, name: str, target: str = "y", **params):
    def work(data: dict):
        model = getattr(import_module(f"{package}.ensemble"), name)(random_state=0, **params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(data["X"], data[target])

    return work


def predict(package: str, rows: int | None, **params):
    """Predictions of a model that is fitted once and kept with the data."""

    def work(data: dict):
        key = f"{package} {params}"
        if key not in data:
            data[key] = fit(package, "AdaBoostClassifier", **params)({"X": data["X"][:2000], "y": data["y"][:2000]})
        return data[key].predict(data["X"] if rows is None else data["X"][:rows])

    return work


def held_out(target: str = "y"):
    def quality(model, data: dict) -> float:
        return float(model.score(data["X_test"], data[f"{target}_test"]))

    return quality


def agreement(labels, data: dict) -> float:
    return float(np.mean(labels == data["y"][: len(labels)]))


def boosting(name: str, d: int, n: int, classes: int, rounds: int, required: float) -> Task:
    return Task(
        name=name,
        family="ensembles",
        make=table(d, classes),
        rows=n,
        ours=fit("learnt", "AdaBoostClassifier", n_estimators=rounds),
        peers={"sklearn": fit("sklearn", "AdaBoostClassifier", n_estimators=rounds)},
        quality=held_out(),
        quality_name="test accuracy",
        required=required,
        better="higher",
        tolerance=0.005,
    )


TASKS = [
    boosting("AdaBoost stumps 20k×20, 100 rounds", 20, 20_000, 2, 100, 10.0),
    boosting("AdaBoost stumps 1k×10, 100 rounds", 10, 1_000, 2, 100, 10.0),
    boosting("AdaBoost stumps 10k×20, 4 classes, 100 rounds", 20, 10_000, 4, 100, 5.0),
    Task(
        name="AdaBoost stumps predict 50k×20",
        family="ensembles",
        make=table(20),
        rows=50_000,
        ours=predict("learnt", None, n_estimators=100),
        peers={"sklearn": predict("sklearn", None, n_estimators=100)},
        quality=agreement,
        quality_name="accuracy",
        required=3.0,
        better="higher",
        tolerance=0.005,
    ),
    Task(
        name="AdaBoostRegressor 10k×10, 30 rounds",
        family="ensembles",
        make=table(10),
        rows=10_000,
        ours=fit("learnt", "AdaBoostRegressor", "number", n_estimators=30),
        peers={"sklearn": fit("sklearn", "AdaBoostRegressor", "number", n_estimators=30)},
        quality=held_out("number"),
        quality_name="test R²",
        required=1.0,
        better="higher",
        tolerance=0.02,
    ),
    Task(
        name="BaggingClassifier 10k×20, 20 trees",
        family="ensembles",
        make=table(20),
        rows=10_000,
        ours=fit("learnt", "BaggingClassifier", n_estimators=20),
        peers={"sklearn": fit("sklearn", "BaggingClassifier", n_estimators=20)},
        quality=held_out(),
        quality_name="test accuracy",
        required=1.0,
        better="higher",
        tolerance=0.01,
    ),
]
