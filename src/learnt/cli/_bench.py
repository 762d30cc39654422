"""``learnt bench``: the project's benchmarks where they are, else a small comparison with scikit-learn built in."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import learnt
from learnt.cli._bar import bar
from learnt.engine.random import generator
from learnt.study import StudyError

REPEATS = 5
# Family: model, its peer, kind of target, settings for both, what is compared beside the time.
TASKS: dict[str, list[tuple[str, str, str, dict[str, Any], str]]] = {
    "linear": [
        ("linear_model.LinearRegression", "linear_model.LinearRegression", "amount", {}, "R²"),
        ("linear_model.Ridge", "linear_model.Ridge", "amount", {}, "R²"),
        ("linear_model.LogisticRegression", "linear_model.LogisticRegression", "classes", {}, "accuracy"),
    ],
    "bayes": [("naive_bayes.GaussianNB", "naive_bayes.GaussianNB", "classes", {}, "accuracy")],
    "neighbors": [
        (
            "neighbors.KNeighborsClassifier",
            "neighbors.KNeighborsClassifier",
            "classes",
            {"algorithm": "brute"},
            "accuracy",
        )
    ],
    "decomposition": [("decomposition.PCA", "decomposition.PCA", "none", {"n_components": 5}, "variance")],
    "cluster": [
        ("cluster.KMeans", "cluster.KMeans", "none", {"n_clusters": 8, "n_init": 1, "random_state": 0}, "inertia")
    ],
}


def run_bench(family: str | None) -> int:
    """Run the repository's harness when this is a checkout, else the built-in comparison."""
    script = Path(learnt.__file__).parents[2] / "benchmarks" / "run.py"
    if script.exists():
        return subprocess.call([sys.executable, str(script), *([family] if family else [])])
    if family is not None and family not in TASKS:
        raise StudyError(f"There is no family “{family}”; there are {', '.join(TASKS)}.")
    tasks = [task for name, listed in TASKS.items() if family in (None, name) for task in listed]
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("model", "learnt", "scikit-learn", "ratio", "quality", "learnt", "scikit-learn"):
        table.add_column(name, justify="left" if name in ("model", "quality") else "right")
    with bar("comparing", len(tasks)) as advance:
        for ours, theirs, kind, settings, quality in tasks:
            times, scores = compare(_model("learnt", ours, settings), _model("sklearn", theirs, settings), kind)
            ratio = f"{times[1] / times[0]:.1f}×"
            table.add_row(ours, *(f"{1e3 * t:.1f} ms" for t in times), ratio, quality, *(f"{s:.4g}" for s in scores))
            advance(ours)
    Console(highlight=False).print(table)
    return 0


def compare(
    ours: Callable[[], Any], theirs: Callable[[], Any], kind: str, rows: int = 20_000
) -> tuple[list[float], list[float]]:
    """Median seconds of fit and predict, alternating between the two so that both see the same machine."""
    rng = generator(0)
    X = rng.normal(size=(rows, 20))
    amount = X @ rng.normal(size=20) + rng.normal(size=rows)
    y = {"amount": amount, "classes": (amount > 0).astype(np.int64), "none": None}[kind]
    seconds: list[list[float]] = [[], []]
    quality = [0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn in range(REPEATS + 1):  # the first turn warms up and is not counted
            for k, make in enumerate((ours, theirs)):
                model = make()
                started = time.perf_counter()
                model.fit(X) if y is None else model.fit(X, y)
                (model.predict if hasattr(model, "predict") else model.transform)(X[:2000])
                if turn:
                    seconds[k].append(time.perf_counter() - started)
                quality[k] = _quality(model, X[:2000], None if y is None else y[:2000])
    return [float(np.median(s)) for s in seconds], quality


def _quality(model: Any, X: np.ndarray, y: Any) -> float:
    if y is not None:
        return float(model.score(X, y))
    if hasattr(model, "inertia_"):
        return float(model.inertia_)
    return float(np.sum(model.explained_variance_ratio_))


def _model(package: str, path: str, settings: dict[str, Any]) -> Callable[[], Any]:
    module, _, name = path.rpartition(".")
    return lambda: getattr(import_module(f"{package}.{module}"), name)(**settings)
