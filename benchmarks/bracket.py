"""How often the best possible error can be bracketed: 20 generated problems, whose truth is known, and ten real tables.

    python benchmarks/bracket.py

For each: the bounds that a study would print, what two quick models reached on rows they had not seen, and, where the
generator is known, the truth. "both" says that there is a lower bound too; an upper one there always is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.study.judgement.test_bracket import AMOUNTS, CLASSES, N, signal  # noqa: E402

from learnt.diagnosis import row_losses  # noqa: E402
from learnt.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: E402
from learnt.linear_model import LogisticRegression, Ridge  # noqa: E402
from learnt.pipeline import make_pipeline  # noqa: E402
from learnt.preprocessing import StandardScaler, TableEncoder  # noqa: E402
from learnt.study import example_path, read_table  # noqa: E402
from learnt.study.facts import Bracket  # noqa: E402
from learnt.study.judgement._ceiling import bracket, floor_and_ceiling  # noqa: E402
from learnt.study.table._problem import Problem, pose  # noqa: E402

MOST = 4000
REAL = {
    "adult": "income",
    "housing": "median_house_value",
    "titanic": "Survived",
}


def generated() -> list[tuple[str, pl.DataFrame, str, float]]:
    """Name, table, task and the best possible error."""
    found = []
    for k, (used, idle, shape, sigma) in enumerate(AMOUNTS):
        rng = np.random.default_rng(1000 + k)
        X = rng.normal(size=(N, used + idle))
        y = signal(X, shape, used) + sigma * rng.normal(size=N)
        found.append((f"{shape}, {used} + {idle} columns, noise {sigma}", framed(X, y), "regress", sigma))
    for k, (used, idle, shape, steep, classes) in enumerate(CLASSES):
        rng = np.random.default_rng(2000 + k)
        X = rng.normal(size=(N, used + idle))
        score = steep * signal(X, shape, used)
        logits = np.column_stack([np.zeros(N), score, score**2 - 1][:classes])
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        y = np.array(["a", "b", "c"])[(rng.uniform(size=N)[:, None] > p.cumsum(axis=1)).sum(axis=1)]
        name = f"{classes} classes, {shape}, {used} + {idle} columns"
        found.append((name, framed(X, y), "classify", float(np.mean(1 - p.max(axis=1)))))
    return found


def framed(X: np.ndarray, y: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})


def real() -> list[tuple[str, pl.DataFrame, str, str]]:
    """Name, table, target and task."""
    from sklearn import datasets

    found = [("deliveries (truth 9.6%)", read_table(example_path()), "late", "classify")]
    for name in ("iris", "wine", "breast_cancer", "digits", "diabetes"):
        bunch = getattr(datasets, f"load_{name}")()
        task = "regress" if name == "diabetes" else "classify"
        target = bunch.target if task == "regress" else np.array([f"k{c}" for c in bunch.target])
        found.append((name, framed(bunch.data, target), "y", task))
    from statsmodels import datasets as econometrics

    for name, target in (("fair", "affairs"), ("anes96", "vote")):
        rows = getattr(econometrics, name).load_pandas().data
        found.append((name, pl.from_pandas(rows), target, "auto"))
    shared = Path(os.environ.get("LEARNT_BENCH_DATA", ROOT.parent / "shared" / "data"))
    for file in sorted(shared.glob("*.csv")):
        frame = read_table(file)
        target = REAL.get(file.stem, frame.columns[-1])
        target = target if target in frame.columns else frame.columns[-1]
        found.append((file.stem, frame.sample(min(len(frame), MOST), seed=0), target, "auto"))
    return found


def out_of_fold(problem: Problem) -> np.ndarray:
    """Of a linear model and a forest, the predictions of the better one for rows it did not see."""
    X, y, fold = problem.X, problem.y, np.arange(len(problem.y)) % 5
    forest = RandomForestClassifier if problem.classify else RandomForestRegressor
    line = LogisticRegression() if problem.classify else Ridge()
    names = np.array(problem.classes) if problem.classify else None
    tried = []
    for model in (make_pipeline(TableEncoder(), StandardScaler(), line), make_pipeline(TableEncoder(), forest(100))):
        parts: list = [None] * 5
        for k in range(5):
            model.fit(X.filter(fold != k), y[fold != k])
            parts[k] = (model.predict_proba if problem.classify else model.predict)(X.filter(fold == k))
        out = np.empty((len(y), *parts[0].shape[1:]))
        for k in range(5):
            out[fold == k] = parts[k]
        tried.append((row_losses(y, out, names).mean(), out))
    return min(tried, key=lambda pair: pair[0])[1]


def bracketed(frame: pl.DataFrame, target: str, task: str) -> tuple[Bracket, float]:
    """The bounds and the constant's error."""
    problem = pose(frame, target, task=task, time="none")
    ceiling = floor_and_ceiling(problem, np.arange(len(problem.y)), 0)
    out = out_of_fold(problem)
    names = np.array(problem.classes) if problem.classify else None
    wrong = None if names is None else names[out.argmax(axis=1)] != problem.y
    found = bracket(ceiling, row_losses(problem.y, out, names), wrong)
    usual = ceiling.constant.error if problem.classify else ceiling.constant.rmse
    return found, float(usual or 0.0)


def main() -> None:
    print("| problem | constant | reached | lower | upper | truth | both | inside |\n|---|---|---|---|---|---|---|---|")
    both, inside, count = [0, 0], 0, [0, 0]
    for name, frame, task, truth in generated():
        found, usual = bracketed(frame, "y", task)
        holds = found.lower <= truth <= found.upper
        both[0], inside, count[0] = both[0] + (found.lower > 0), inside + holds, count[0] + 1
        line(name, usual, found, f"{truth:.3g}", "yes" if holds else "no")
    for name, frame, target, task in real():
        found, usual = bracketed(frame, target, task)
        both[1], count[1] = both[1] + (found.lower > 0), count[1] + 1
        line(name, usual, found, "", "")
    print(f"\ngenerated: the truth inside {inside} of {count[0]}, both bounds in {both[0]}")
    print(f"real: both bounds in {both[1]} of {count[1]}")


def line(name: str, usual: float, found: Bracket, truth: str, holds: str) -> None:
    figures = " | ".join(f"{v:.3g}" for v in (usual, found.reached, found.lower, found.upper))
    print(f"| {name} | {figures} | {truth} | {'yes' if found.lower > 0 else ''} | {holds} |", flush=True)


if __name__ == "__main__":
    main()
