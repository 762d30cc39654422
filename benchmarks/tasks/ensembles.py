"""Ensembles of any estimators, and classical boosting, against scikit-learn's: boosted stumps above all."""

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
    return fit_made(lambda: getattr(import_module(f"{package}.ensemble"), name)(random_state=0, **params), target)


def fit_team(package: str, model: str, target: str):
    """A vote or a stack of a tree and one other model, as small as they come: what is between them counts."""
    kind, other = ("Classifier", "naive_bayes.GaussianNB") if target == "y" else ("Regressor", "linear_model.Ridge")

    def team():
        tree = getattr(import_module(f"{package}.tree"), f"DecisionTree{kind}")(max_depth=8, random_state=0)
        room, name = other.split(".")
        plain = getattr(import_module(f"{package}.{room}"), name)()
        return getattr(import_module(f"{package}.ensemble"), model)([("tree", tree), ("plain", plain)])

    return fit_made(team, target)


def fit_made(make, target: str):
    def work(data: dict):
        model = make()
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


def against(model: str, d: int, n: int, required: float, tolerance: float, toy: int = 200, **params) -> Task:
    """The fit of one ensemble, with the same parameters in both packages."""
    team = model.startswith(("Voting", "Stacking"))
    target = "number" if model.endswith("Regressor") else "y"
    by = fit_team if team else fit
    return Task(
        name=f"{model} {n // 1000}k×{d}" + "".join(f", {count} trees" for count in params.values()),
        family="ensembles",
        make=table(d),
        rows=n,
        ours=by("learnt", model, target, **params),
        peers={"sklearn": by("sklearn", model, target, **params)},
        quality=held_out(target),
        quality_name="test R²" if target == "number" else "test accuracy",
        required=required,
        better="higher",
        tolerance=tolerance,
        toy=toy,
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
    against("AdaBoostRegressor", 10, 10_000, 3.0, 0.02, n_estimators=30),
    against("BaggingClassifier", 20, 10_000, 4.0, 0.01, n_estimators=20),
    against("BaggingRegressor", 20, 10_000, 4.0, 0.01, n_estimators=20),
    against("VotingClassifier", 20, 50_000, 2.0, 0.005),
    against("VotingRegressor", 20, 50_000, 2.0, 0.005),
    against("StackingClassifier", 20, 20_000, 2.0, 0.005),
    against("StackingRegressor", 20, 20_000, 2.0, 0.005),
    against("GradientBoostingClassifier", 20, 10_000, 3.0, 0.005, n_estimators=50),
    against("GradientBoostingRegressor", 20, 10_000, 3.0, 0.005, n_estimators=50),
    # From 20,000 rows on ours has other machine code, which should be loaded before memory is looked at.
    against("GradientBoostingClassifier", 20, 50_000, 5.0, 0.005, 20_000, n_estimators=20),
    against("GradientBoostingClassifier", 10, 1_000, 1.5, 0.02, n_estimators=100),
]
