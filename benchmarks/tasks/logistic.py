"""LogisticRegression against every solver of scikit-learn that fits the shape; the best one is the one to beat."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Task
from scipy import sparse

# Both stop where the objective agrees to 1e-6: scikit-learn needs these settings to get there.
TOLERANCE = 1e-6


def dense(d: int, classes: int = 2, scales: float = 0.0):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) * np.exp(scales * rng.normal(size=d)) + 0.5 * rng.normal(size=d)
        W = 2 * rng.normal(size=(d, classes)) / np.sqrt(d)
        scores = (X - X.mean(axis=0)) / X.std(axis=0) @ W + rng.gumbel(size=(n, classes))
        return {"X": X, "y": scores.argmax(axis=1)}

    return data


def text(d: int, density: float):
    def data(n: int) -> dict:
        rng = np.random.default_rng(0)
        X = sparse.random_array((n, d), density=density, rng=rng, format="csr")
        X.data = np.log1p(rng.geometric(0.5, size=X.nnz).astype(float))
        y = (X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0).astype(int)
        return {"X": sparse.csr_matrix(X), "y": y}

    return data


def clusters(d: int, most: int):
    """Classes around centres of their own, two rows each at least, with columns that depend on each other."""

    def data(n: int) -> dict:
        classes = min(most, n // 2)
        rng = np.random.default_rng(0)
        y = np.concatenate([np.arange(classes), rng.integers(classes, size=max(n - classes, 0))])
        centres = 4.5 * rng.normal(size=(classes, d)) / np.sqrt(d)
        return {"X": centres[y] + rng.normal(size=(len(y), d)) @ rng.normal(size=(d, d)) / np.sqrt(d), "y": y}

    return data


def fit(package: str, **params):
    def work(data: dict):
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = import_module(f"{package}.linear_model").LogisticRegression(**params)
            return model.fit(data["X"], data["y"])

    return work


def objective(model, data: dict) -> float:
    """Σ log loss + ½‖coef‖², over n."""
    scores = np.asarray(data["X"] @ model.coef_.T) + model.intercept_
    if scores.shape[1] == 1:
        margin = np.where(data["y"] == 1, scores[:, 0], -scores[:, 0])
        loss = np.logaddexp(0, -margin).sum()
    else:
        top = scores.max(axis=1)
        loss = (np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - scores[np.arange(len(top)), data["y"]]).sum()
    return float((loss + 0.5 * np.sum(model.coef_**2)) / len(data["y"]))


def task(name: str, make, n: int, solvers: list[str], toy: int = 300) -> Task:
    return Task(
        name=name,
        family="logistic",
        make=make,
        rows=n,
        ours=fit("learnt", max_iter=1000),
        peers={f"sklearn {s}": fit("sklearn", solver=s, tol=TOLERANCE, max_iter=2000) for s in solvers},
        quality=objective,
        quality_name="objective",
        required=1.5,
        tolerance=1e-6,
        toy=toy,
    )


TASKS = [
    task("Logistic 200k×50", dense(50), 200_000, ["lbfgs", "newton-cholesky", "newton-cg"]),
    task("Logistic 1M×10", dense(10), 1_000_000, ["lbfgs", "newton-cholesky"]),
    task("Logistic 50k×200", dense(200), 50_000, ["lbfgs", "newton-cholesky", "newton-cg"]),
    task("Logistic 500×5000", dense(5000), 500, ["lbfgs", "newton-cg", "liblinear"]),
    task("Logistic unscaled 100k×30", dense(30, scales=4.0), 100_000, ["newton-cholesky", "newton-cg"]),
    task("Logistic 10 classes 50k×50", dense(50, classes=10), 50_000, ["lbfgs", "newton-cg", "newton-cholesky"]),
    task("Logistic 200 classes 2k×100", clusters(100, 200), 2_000, ["lbfgs"], toy=40),
    task("Logistic 200 classes 5k×50", clusters(50, 200), 5_000, ["lbfgs"], toy=40),
    task("Logistic 100 classes 200×400", clusters(400, 100), 200, ["lbfgs"], toy=40),
    task("Logistic 50 classes 10k×100", clusters(100, 50), 10_000, ["lbfgs"], toy=40),
    task("Logistic sparse 20k×50k", text(50_000, 0.001), 20_000, ["lbfgs", "newton-cg", "liblinear"]),
    task("Logistic 569×30", dense(30), 569, ["lbfgs", "newton-cholesky", "newton-cg"]),
]
