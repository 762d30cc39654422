"""LogisticRegressionCV, ten penalties and five folds, against scikit-learn's solvers."""

from __future__ import annotations

import warnings

from harness import Task

from tasks.logistic import dense, text


def fit(package: str, **params):
    def work(data: dict):
        from importlib import import_module

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = import_module(f"{package}.linear_model").LogisticRegressionCV(
                scoring="neg_log_loss", l1_ratios=(0.0,), use_legacy_attributes=False, **params
            )
            return model.fit(data["X"], data["y"])

    return work


def best_score(model, data: dict) -> float:
    """Log loss on what the folds left out, of the penalty that was chosen."""
    return -float(model.scores_.mean(axis=0).max())


def task(name: str, make, n: int, solvers: list[str], **params) -> Task:
    return Task(
        name=name,
        family="logistic_cv",
        make=make,
        rows=n,
        ours=fit("learnt", **params),
        peers={f"sklearn {s}": fit("sklearn", solver=s, max_iter=1000, **params) for s in solvers},
        quality=best_score,
        quality_name="log loss",
        required=1.5,
        tolerance=1e-4,
        toy=150,
    )


TASKS = [
    task("LogisticCV 20k×50", dense(50), 20_000, ["lbfgs", "newton-cholesky"]),
    task("LogisticCV 569×30", dense(30), 569, ["lbfgs", "newton-cholesky"]),
    task("LogisticCV 5 classes 10k×20", dense(20, classes=5), 10_000, ["lbfgs", "newton-cholesky"]),
    task("LogisticCV sparse 5k×20k", text(20_000, 0.002), 5_000, ["lbfgs"], Cs=5),
]
