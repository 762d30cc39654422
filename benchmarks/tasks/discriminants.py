"""Naive Bayes of counts and discriminant analysis against scikit-learn: fit, and predict of a fitted model."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from harness import Task
from scipy import sparse


def counts(d: int, classes: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(classes, size=n)
        return {"X": rng.poisson(rng.uniform(0.1, 2.0, size=(classes, d))[y]).astype(float), "y": y}

    return data


def words(d: int, classes: int):
    """Rows of about a hundred words out of d, as text has them."""

    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = sparse.random_array((n, d), density=100 / d, format="csr", rng=rng)
        X.data = np.ceil(3 * X.data)
        return {"X": X, "y": rng.integers(classes, size=n)}

    return data


def clouds(d: int, classes: int):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        y = rng.integers(classes, size=n)
        return {"X": rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[y], "y": y}

    return data


def work(package: str, room: str, name: str, settings: dict, predict: bool):
    def run(data: dict):
        key = f"{package} model"
        if not predict or key not in data:
            data[key] = getattr(import_module(f"{package}.{room}"), name)(**settings).fit(data["X"], data["y"])
        return data[key].predict(data["X"]) if predict else data[key]

    return run


def accuracy(result, data: dict) -> float:
    labels = result if isinstance(result, np.ndarray) else result.predict(data["X"])
    return float((labels == data["y"]).mean())


def task(room: str, name: str, make, n: int, what: str, predict: bool, **settings) -> Task:
    said = ", ".join(f"{key}={value}" for key, value in settings.items())
    return Task(
        name=f"{name}({said}) {'predict' if predict else 'fit'} {what}",
        family="bayes",
        make=make,
        rows=n,
        ours=work("learnt", room, name, settings, predict),
        peers={"scikit-learn": work("sklearn", room, name, settings, predict)},
        quality=accuracy,
        quality_name="accuracy",
        required=2.0,
        better="same",
        tolerance=1e-3,
    )


COUNTS = ("MultinomialNB", "ComplementNB", "BernoulliNB")
TASKS = [
    *(
        task("naive_bayes", name, counts(50, 10), 100_000, "100k×50, 10 classes", predict)
        for name in (*COUNTS, "CategoricalNB")
        for predict in (False, True)
    ),
    *(
        task("naive_bayes", name, words(20_000, classes), 20_000, f"sparse 20k×20k, {classes} classes", predict)
        for name in COUNTS
        for classes in (2, 20)
        for predict in (False, True)
    ),
    *(
        task("discriminant_analysis", name, clouds(20, 5), 100_000, "100k×20, 5 classes", predict, **settings)
        for name, settings in (
            ("LinearDiscriminantAnalysis", {}),
            ("LinearDiscriminantAnalysis", {"solver": "eigen", "shrinkage": "auto"}),
            ("QuadraticDiscriminantAnalysis", {}),
        )
        for predict in (False, True)
    ),
]
