"""Random forests and extra trees against scikit-learn's, grown to the end, two threads each."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from harness import Task


def table(d: int, classes: int):
    """Half of the columns say something; a tenth of the labels is noise."""

    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n + n // 4, d)).astype(np.float32)
        k = max(4, min(d // 2, 30))
        score = X[:, :k] @ rng.normal(size=k) + 2 * X[:, 0] * X[:, 1] - X[:, 2] ** 2
        score = score + 0.2 * score.std() * rng.normal(size=len(X))
        y = score if classes == 0 else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
        return {"X": X[:n], "y": y[:n], "X_test": X[n:], "y_test": y[n:]}

    return data


def fit(package: str, name: str, **params):
    def work(data: dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(import_module(f"{package}.ensemble"), name)(random_state=0, n_jobs=2, **params)
            return model.fit(data["X"], data["y"])

    return work


def predict(package: str, name: str, rows: int | None, **params):
    """Predictions of a forest that is grown once and kept with the data."""

    def work(data: dict):
        key = f"{package} {name}"
        if key not in data:
            data[key] = fit(package, name, **params)(data)
        return data[key].predict(data["X_test"] if rows is None else data["X_test"][:rows])

    return work


def held_out(model, data: dict) -> float:
    return float(model.score(data["X_test"], data["y_test"]))


def right(labels, data: dict) -> float:
    return float(np.mean(labels == data["y_test"][: len(labels)]))


def explained(found, data: dict) -> float:
    y = data["y_test"][: len(found)]
    return float(1 - np.mean((found - y) ** 2) / np.var(y))


def growth(name: str, n: int, d: int, classes: int, trees: int, required: float, splitter: str = "binned") -> Task:
    what = f"{classes} classes" if classes else "a number"
    params = {"n_estimators": trees}
    if not classes:
        params["max_features"] = 0.33
    return Task(
        name=f"{name} {splitter}, {n // 1000}k×{d}, {what}, {trees} trees",
        family="forests",
        make=table(d, classes),
        rows=n,
        ours=fit("learnt", name, splitter=splitter, **params),
        peers={"sklearn": fit("sklearn", name, **params)},
        quality=held_out,
        quality_name="score on new rows",
        required=required,
        better="higher",
        tolerance=0.01,
        toy=400,
    )


def linear(name: str, small: int, times: int) -> Task:
    """`times` as many rows against `times` fits of the first rows: 1.0 where the cost of a row does not grow."""
    params = {"n_estimators": 8, "max_depth": 10, "splitter": "binned"}
    whole = fit("learnt", name, **params)

    def parts(data: dict):
        share = len(data["X"]) // times
        for k in range(times):
            part = slice(k * share, (k + 1) * share)
            model = whole({"X": data["X"][part], "y": data["y"][part]})
        return model

    return Task(
        name=f"{name} binned, depth 10, {times * small // 1000}k×20 against {times} times {small // 1000}k×20",
        family="forests",
        make=table(20, 2),
        rows=times * small,
        ours=whole,
        peers={"learnt, fewer rows": parts},
        quality=held_out,
        quality_name="score on new rows",
        required=0.8,
        better="higher",
        tolerance=0.01,
        toy=800,
    )


def prediction(rows: int | None, required: float, name: str = "RandomForestClassifier") -> Task:
    number = name.endswith("Regressor")
    params = {"n_estimators": 100, "min_samples_leaf": 1} | ({"max_features": 0.33} if number else {})
    return Task(
        name=f"{name} predicts " + ("one row" if rows == 1 else "20k rows"),
        family="forests",
        make=table(20, 0 if number else 2),
        rows=80_000 if rows is None else 20_000,
        ours=predict("learnt", name, rows, **params),
        peers={"sklearn": predict("sklearn", name, rows, **params)},
        quality=explained if number else right,
        quality_name="R²" if number else "share right",
        required=required,
        better="higher",
        tolerance=1.0 if rows == 1 else 0.01,
        toy=400,
    )


TASKS = [
    growth("RandomForestClassifier", 100_000, 20, 2, 20, 4.0),
    growth("RandomForestClassifier", 10_000, 500, 2, 50, 4.0),
    growth("RandomForestClassifier", 100_000, 20, 2, 20, 2.5, "exact"),
    growth("RandomForestClassifier", 10_000, 500, 2, 50, 2.5, "exact"),
    growth("RandomForestClassifier", 100_000, 20, 7, 20, 2.5, "exact"),  # as `auto` has it
    growth("RandomForestRegressor", 100_000, 20, 0, 20, 4.0),
    growth("RandomForestRegressor", 100_000, 20, 0, 20, 2.5, "exact"),
    growth("ExtraTreesClassifier", 100_000, 20, 2, 20, 4.0),
    growth("ExtraTreesClassifier", 10_000, 500, 2, 50, 4.0),
    growth("ExtraTreesClassifier", 100_000, 20, 2, 20, 2.5, "exact"),
    growth("ExtraTreesClassifier", 10_000, 500, 2, 50, 2.5, "exact"),
    growth("ExtraTreesRegressor", 100_000, 20, 0, 20, 4.0),
    growth("ExtraTreesRegressor", 100_000, 20, 0, 20, 2.5, "exact"),
    growth("RandomForestClassifier", 400_000, 20, 2, 10, 4.0),
    linear("RandomForestClassifier", 100_000, 8),
    prediction(None, 5.0),
    prediction(None, 5.0, "RandomForestRegressor"),
    prediction(1, 5.0),
]
