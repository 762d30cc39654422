"""Step 6, opening the test set: once, written down, with the file that will be used."""

from __future__ import annotations

import hashlib
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
from learnt.study.judgement._rare import criterion, rare_class
from learnt.study.judgement._verdict import Terms, judge_rows
from learnt.study.race._budget import Budget
from learnt.study.race._metric import Metric, metric_of
from learnt.study.report._words import ordinal
from learnt.study.table._problem import Problem
from learnt.study.table._seal import SPARE, Sealed, record_opening

LONG_ENOUGH = 0.05  # seconds in which predictions of one row are timed

Rows = tuple[np.ndarray, np.ndarray]


class Run(Protocol):
    """The attributes of a running study that are read here."""

    settings: Settings
    folder: Path
    work: Path
    journal: Journal
    say: Callable[[str], None]
    budget: Budget
    seconds: dict[str, float]


def settle(
    facts: dict[str, Any], problem: Problem, sealed: Sealed, oof: Rows, settings: Settings, *, model: bool = True
) -> None:
    """Add to `facts` what is decided without the test rows: constant, threshold, width of intervals, bracket.

    `oof` are positions of development rows and what models that had not seen them predicted. Where there is no `model`
    but a constant for lack of time, there is no threshold either.
    """
    held, predicted = oof
    learnt_from = problem.y[sealed.development]
    truth = learnt_from[held]
    decision: dict[str, Any] = {"threshold": 0.5, "half_width": None}
    if problem.classes is not None:
        shares = np.array([np.mean(learnt_from == c) for c in problem.classes])
        facts["constant"] = {"shares": shares.tolist()}
        if problem.positive is not None and model:
            found = _threshold(problem, shares, truth, predicted, asked_metric(problem, settings), settings)
            found["used"] &= facts["chosen"]["family"] != "constant"  # all thresholds of a constant are alike
            facts["threshold"] = found
            decision["threshold"] = found["threshold"] if found["used"] else 0.5
    else:
        facts["constant"] = {"mean": float(learnt_from.mean())}
        decision["half_width"] = float(np.quantile(np.abs(truth - predicted), judge.COVERAGE))
    facts["decision"] = decision
    facts["bracket"] = _bracket(facts, problem, truth, predicted)
    facts |= {"test": None, "beats_constant": None, "importances": []}


def open_test_set(
    facts: dict[str, Any], problem: Problem, sealed: Sealed, run: Run, model: Any
) -> tuple[Rows | None, pl.DataFrame]:
    """Judge a model on the test rows by what is settled, and add what they say to `facts`.

    Returns observed and predicted amounts of a regression, and the predictions as they are written.
    """
    s, decision = run.settings, facts["decision"]
    use, when = _record(facts, problem, sealed, run)
    level = 1 - 0.05 / use  # Bonferroni: every look at the same rows spends confidence
    X, y = sealed.box.open(reason=f"study of {problem.name}, {ordinal(use)} use")
    if use > 1:
        run.say(f"{ordinal(use)} use of this test set: its intervals are widened to {100 * level:.1f}% confidence.")
    output = judge.predict(model, X, problem.classes)
    settled = (problem.classes, problem.positive, decision["threshold"], decision["half_width"], facts["constant"])
    terms = Terms(*settled, asked_metric(problem, s), s.cost, level, s.seed)
    groups = None if problem.groups is None else problem.groups[sealed.test]
    test, better = judge_rows(y, output, terms, groups)
    facts["test"] = {**test, "use": use, "opened": when}
    facts["beats_constant"] = bool(facts["chosen"]["family"] != "constant" and better)
    now = test["error" if problem.classify else "rmse"]
    if now["estimate"] < facts["bracket"]["lower"]:  # a lower bound that the test rows contradict is not reported
        bracketed = facts["bracket"]
        facts["bracket"] = {**bracketed, "lower": 0.0, "known": bracketed["upper"] < bracketed["reached"]}
    run.seconds["predict one row"] = _latency(model, X[:1], run.budget)
    points = None if problem.classify else (y, output)
    return points, predictions(facts, problem, sealed.test, "test", output)


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


def asked_metric(problem: Problem, settings: Settings) -> Metric | None:
    """The metric that was asked for, if one was."""
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


def _record(facts: dict[str, Any], problem: Problem, sealed: Sealed, run: Run) -> tuple[int, str]:
    """Record the opening; which use of these rows it is, and since when. The same question again is the same use."""
    fresh = str(run.journal.add("fresh run", "", time.time_ns())) if run.settings.fresh else ""
    asked = f"{run.journal.key}|{facts['chosen']['id']}|{run.settings.cost}|{facts['model']['judged_rows']}|{fresh}"
    opening = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return record_opening(sealed.hash, opening, problem.name, run.folder / SPARE)


def predictions(
    facts: dict[str, Any], problem: Problem, rows: np.ndarray, part: str, output: np.ndarray
) -> pl.DataFrame:
    """Predictions for rows of the table as they are written, with their place in the file and their target."""
    columns: dict[str, Any] = {"row": problem.rows[rows], "part": [part] * len(rows), problem.target: problem.y[rows]}
    decision = facts["decision"]
    columns |= prediction_columns(
        output, problem.classes, problem.positive, decision["threshold"], decision["half_width"]
    )
    return pl.DataFrame(columns)


def _latency(model: Any, row: pl.DataFrame, budget: Budget) -> float:
    """Seconds to predict one raw row, the first call not counted where there is time for more.

    Slow predictions need fewer repetitions.
    """
    took: list[float] = []
    while len(took) < 6 and (not took or (sum(took) < LONG_ENOUGH and budget.left() > budget.report)):
        started = time.perf_counter()
        model.predict(row)
        took.append(time.perf_counter() - started)
    return float(np.mean(took[1:] or took))


def _bracket(facts: dict[str, Any], problem: Problem, truth: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """The best possible error, compared with the model on rows it had not seen."""
    names = None if problem.classes is None else np.array(problem.classes)
    wrong = None if names is None else names[predicted.argmax(axis=1)] != truth
    return bracket(facts["ceiling"], row_losses(truth, predicted, names), wrong)
