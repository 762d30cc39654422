"""GaussianNB against scikit-learn: fit, and fit with prediction."""

from __future__ import annotations

import numpy as np
from harness import Task


def make(d: int, classes: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(classes, size=n)
        return {"X": rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[y], "y": y}

    return data


def work(package: str, predict: bool):
    def run(data: dict):
        from importlib import import_module

        model = import_module(f"{package}.naive_bayes").GaussianNB().fit(data["X"], data["y"])
        return model.predict(data["X"]) if predict else model

    return run


def log_likelihood(model, data: dict) -> float:
    """Mean log joint of the first rows under the fitted model, by the formula."""
    X, y = data["X"][:2000], data["y"][:2000]
    var, theta = model.var_[y], model.theta_[y]
    return float((-0.5 * (np.log(2 * np.pi * var) + (X - theta) ** 2 / var).sum(axis=1)).mean())


def accuracy(labels, data: dict) -> float:
    return float((labels == data["y"]).mean())


def task(n: int, d: int, classes: int, predict: bool) -> Task:
    return Task(
        name=f"GaussianNB {'fit+predict' if predict else 'fit'} {n // 1000}k×{d}, {classes} classes",
        family="bayes",
        make=make(d, classes),
        rows=n,
        ours=work("learnt", predict),
        peers={"scikit-learn": work("sklearn", predict)},
        quality=accuracy if predict else log_likelihood,
        quality_name="accuracy" if predict else "log likelihood",
        required=2.0,
        better="higher",
    )


TASKS = [task(n, d, k, p) for n, d, k in ((100_000, 50, 10), (1_000_000, 10, 2)) for p in (False, True)]
