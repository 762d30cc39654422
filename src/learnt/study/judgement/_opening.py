"""Step 6, opening the test set: once, written down, with the file that will be used."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from learnt.diagnosis import row_losses
from learnt.engine import progress
from learnt.study._journal import Journal
from learnt.study._settings import Settings
from learnt.study.judgement import _judge as judge
from learnt.study.judgement._ceiling import bracket
from learnt.study.judgement._output import prediction_columns
from learnt.study.judgement._rare import criterion, judge_metric, rare_class
from learnt.study.race._budget import Budget
from learnt.study.race._metric import Metric, metric_of
from learnt.study.report._words import ordinal
from learnt.study.table._problem import Problem
from learnt.study.table._seal import Sealed, record_opening

Rows = tuple[np.ndarray, np.ndarray]


class Run(Protocol):
    """What is needed of the study under way."""

    settings: Settings
    folder: Path
    work: Path
    journal: Journal
    say: Callable[[str], None]
    budget: Budget
    seconds: dict[str, float]


def open_test_set(
    facts: dict[str, Any], problem: Problem, sealed: Sealed, oof: Rows, run: Run, model: Any
) -> Rows | None:
    """Judge a model on the test rows and add what they say to `facts`.

    `oof` are positions of development rows and what models that had not seen them predicted: threshold and interval
    come from there, so that the test rows decide nothing. Returns observed and predicted amounts of a regression.
    """
    s, development = run.settings, sealed.development
    use = _written_down(facts, problem, sealed, run)
    level = 1 - 0.05 / use  # Bonferroni: every look at the same rows spends confidence
    X, y = sealed.box.open(reason=f"study of {problem.name}, {ordinal(use)} use")
    if use > 1:
        run.say(f"{ordinal(use)} use of this test set: its intervals are widened to {100 * level:.1f}% confidence.")
    held, predicted = oof
    truth = problem.y[development][held]
    groups = None if problem.groups is None else problem.groups[sealed.test]
    output = judge.predict(model, X, problem.classes)
    threshold, metric = 0.5, _metric(problem, s)
    learnt_from = problem.y[development]
    if problem.classes is not None:
        shares = np.array([np.mean(learnt_from == c) for c in problem.classes])
        if problem.positive is not None:
            facts["threshold"] = _threshold(problem, shares, truth, predicted, metric, s)
            facts["threshold"]["used"] &= facts["chosen"]["family"] != "constant"  # of a constant all cuts are alike
            threshold = facts["threshold"]["threshold"] if facts["threshold"]["used"] else 0.5
        test = judge.judge_classes(
            y,
            output,
            problem.classes,
            shares,
            positive=problem.positive,
            threshold=threshold,
            cost=s.cost,
            groups=groups,
            level=level,
            seed=s.seed,
        )
        gain = test["brier_gain"]
    else:
        half = float(np.quantile(np.abs(truth - predicted), judge.COVERAGE))
        mean = float(learnt_from.mean())
        test = judge.judge_amounts(y, output, mean, half, groups=groups, level=level, seed=s.seed)
        gain = test["gain"]
    test["use"] = use
    facts["test"] = test
    better = gain["low"] > 0 or test.get("ranks", False)
    if metric is not None:
        constant = np.tile(shares, (len(y), 1)) if problem.classify else np.full(len(y), mean)
        codes = np.searchsorted(np.array(problem.classes), y) if problem.classify else y
        options: dict[str, Any] = {"groups": groups, "level": level, "seed": s.seed}
        options["threshold"] = threshold if metric.at_best_threshold else None
        test["metric"] = judge_metric(metric, codes, output, constant, **options)
        better = test["metric"]["gain"]["low"] > 0
    facts["beats_constant"] = bool(facts["chosen"]["family"] != "constant" and better)
    facts["bracket"] = _bracket(facts, problem, truth, predicted)
    facts["importances"] = []
    _write_predictions(run.work, problem, sealed, oof, output, threshold, test)
    run.seconds["predict one row"] = _latency(model, X[:1], run.budget)
    return None if problem.classify else (y, output)


def add_importances(facts: dict[str, Any], problem: Problem, sealed: Sealed, model: Any, run: Run) -> None:
    """What the judged model uses, measured on the opened test rows in the time that is left."""
    if not facts["beats_constant"] or facts["data"]["image"] is not None:  # one pixel alone says nothing
        return
    if run.budget.left() <= run.budget.report:
        return
    rows = sealed.test
    with progress.task("importances"):
        facts["importances"] = judge.importances(
            model,
            problem.X[rows],
            problem.y[rows],
            problem.classes,
            seed=run.settings.seed,
            deadline=run.budget.end - run.budget.report,
        )


def _metric(problem: Problem, settings: Settings) -> Metric | None:
    if settings.metric is None:
        return None
    classes = len(problem.classes) if problem.classes is not None else 2
    return metric_of(settings.metric, problem.task, classes, problem.positive, settings.cost)


def _threshold(
    problem: Problem,
    shares: np.ndarray,
    truth: np.ndarray,
    predicted: np.ndarray,
    metric: Metric | None,
    settings: Settings,
) -> dict[str, Any]:
    """The best threshold on development rows: by costs, the metric asked for, the F1 of a rare class, or errors."""
    assert problem.classes is not None
    assert problem.positive is not None
    is_positive = truth == problem.classes[problem.positive]
    score = predicted[:, problem.positive]
    wanted = None if settings.cost else criterion(metric, rare_class(shares), problem.positive)
    by = "lowest cost" if settings.cost else "fewest errors" if wanted is None else wanted[0]
    value = None if wanted is None else wanted[1]
    found = judge.choose_threshold(is_positive, score, settings.cost or (1.0, 1.0), settings.seed, value)
    return {**found, "by": by, "used": settings.cost is not None or wanted is not None}


def _written_down(facts: dict[str, Any], problem: Problem, sealed: Sealed, run: Run) -> int:
    """Record the opening; which use of these rows it is. The same question asked again is the same use."""
    fresh = str(run.journal.add("fresh run", "", time.time_ns())) if run.settings.fresh else ""
    asked = f"{run.journal.key}|{facts['chosen']['id']}|{run.settings.cost}|{facts['model']['judged_rows']}|{fresh}"
    opening = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return record_opening(sealed.hash, opening, problem.name, run.folder / "test-sets.jsonl")


def _write_predictions(
    folder: Path,
    problem: Problem,
    sealed: Sealed,
    oof: Rows,
    output: np.ndarray,
    threshold: float,
    test: dict[str, Any],
) -> None:
    held, held_output = oof
    rows = np.concatenate([sealed.development[held], sealed.test])
    columns: dict[str, Any] = {
        "row": problem.rows[rows],
        "part": ["out of fold"] * len(held) + ["test"] * len(sealed.test),
        problem.target: problem.y[rows],
    }
    half_width = test.get("interval", {}).get("half_width")
    both = np.concatenate([held_output, output])
    columns |= prediction_columns(both, problem.classes, problem.positive, threshold, half_width)
    temporary = folder / "predictions.tmp"
    pl.DataFrame(columns).write_parquet(temporary)
    os.replace(temporary, folder / "predictions.parquet")


def _latency(model: Any, row: pl.DataFrame, budget: Budget) -> float:
    """Seconds to predict one raw row, the first call not counted where there is time for more."""
    took: list[float] = []
    while len(took) < 6 and (not took or budget.left() > budget.report):
        started = time.perf_counter()
        model.predict(row)
        took.append(time.perf_counter() - started)
    return float(np.mean(took[1:] or took))


def _bracket(facts: dict[str, Any], problem: Problem, truth: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """The best possible error, compared with the model on rows it had not seen, and never above its own on the test."""
    names = None if problem.classes is None else np.array(problem.classes)
    wrong = None if names is None else names[predicted.argmax(axis=1)] != truth
    found = bracket(facts["ceiling"], row_losses(truth, predicted, names), wrong)
    now = facts["test"]["error" if problem.classify else "rmse"]
    if now["estimate"] < found["lower"]:  # a bound that the test rows do not bear out is not said
        found |= {"lower": 0.0, "known": found["upper"] < found["reached"]}
    return found
