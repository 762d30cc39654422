"""Step 6, opening the test set: once, written down, with the file that will be used."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from learnt.diagnosis import row_losses
from learnt.engine import progress
from learnt.study._session import Session
from learnt.study._settings import Settings
from learnt.study.facts import Bracket, Facts, Importance, Settled, TestOfClasses, Threshold, Usual
from learnt.study.judgement import _judge as judge
from learnt.study.judgement._ceiling import bracket
from learnt.study.judgement._output import prediction_columns
from learnt.study.judgement._rare import criterion, rare_class
from learnt.study.judgement._verdict import Terms, judge_rows
from learnt.study.race._metric import Metric, metric_of
from learnt.study.report._words import ordinal
from learnt.study.table._problem import Problem
from learnt.study.table._seal import SPARE, Sealed, record_opening

AFTERWARDS = 0.4  # share of the time that is left after the test, for the further sections of the report
LONG_ENOUGH = 0.05  # seconds in which predictions of one row are timed

Rows = tuple[np.ndarray, np.ndarray]


def settle(
    facts: Facts, problem: Problem, sealed: Sealed, oof: Rows, settings: Settings, *, model: bool = True
) -> Facts:
    """The facts with what is decided without the test rows: constant, threshold, width of intervals, bracket.

    `oof` are positions of development rows and what models that had not seen them predicted. Where there is no `model`
    but a constant for lack of time, there is no threshold either.
    """
    held, predicted = oof
    learnt_from = problem.y[sealed.development]
    truth = learnt_from[held]
    found: Threshold | None = None
    if problem.classes is not None:
        shares = np.array([np.mean(learnt_from == c) for c in problem.classes])
        usual = Usual(shares=shares.tolist())
        if problem.positive is not None and model:
            found = _threshold(problem, shares, truth, predicted, asked_metric(problem, settings), settings)
            if facts.chosen.family == "constant":  # all thresholds of a constant are alike
                found = replace(found, used=False)
        decision = Settled(found.threshold if found is not None and found.used else 0.5, None)
    else:
        usual = Usual(mean=float(learnt_from.mean()))
        decision = Settled(0.5, float(np.quantile(np.abs(truth - predicted), judge.COVERAGE)))
    best = _bracket(facts, problem, truth, predicted)
    return replace(facts, constant=usual, threshold=found, decision=decision, bracket=best)


def open_test_set(
    facts: Facts, problem: Problem, sealed: Sealed, run: Session, model: Any
) -> tuple[Facts, Rows | None, pl.DataFrame]:
    """Judge a model on the test rows by what is settled; the facts with what they say.

    Also returns observed and predicted amounts of a regression, and the predictions as they are written.
    """
    s, decision, best = run.settings, facts.decision, facts.bracket
    assert decision is not None
    assert best is not None
    assert facts.constant is not None
    use, when = _record(facts, problem, sealed, run)
    level = 1 - 0.05 / use  # Bonferroni: every look at the same rows spends confidence
    X, y = sealed.box.open(reason=f"study of {problem.name}, {ordinal(use)} use")
    if use > 1:
        run.say(f"{ordinal(use)} use of this test set: its intervals are widened to {100 * level:.1f}% confidence.")
    output = judge.predict(model, X, problem.classes)
    settled = (problem.classes, problem.positive, decision.threshold, decision.half_width, facts.constant)
    terms = Terms(*settled, asked_metric(problem, s), s.cost, level, s.seed)
    groups = None if problem.groups is None else problem.groups[sealed.test]
    test, better = judge_rows(y, output, terms, groups)
    now = test.error if isinstance(test, TestOfClasses) else test.rmse
    if now.estimate < best.lower:  # a lower bound that the test rows contradict is not reported
        best = replace(best, lower=0.0, known=best.upper < best.reached)
    facts = replace(
        facts,
        test=replace(test, use=use, opened=when),
        beats_constant=facts.chosen.family != "constant" and better,
        bracket=best,
    )
    run.seconds["predict one row"] = _latency(model, X[:1])
    points = None if problem.classify else (y, output)
    return facts, points, predictions(facts, problem, sealed.test, "test", output)


def importances(facts: Facts, problem: Problem, sealed: Sealed, model: Any, run: Session) -> tuple[Importance, ...]:
    """What the judged model uses, measured on the opened test rows in the time that is left."""
    if not facts.beats_constant or facts.data.image is not None:  # one pixel alone says nothing
        return ()
    if run.budget.left() <= run.budget.report:
        return ()
    rows = sealed.test
    with progress.task("importances"):
        return judge.importances(
            model,
            problem.X[rows],
            problem.y[rows],
            problem.classes,
            seed=run.settings.seed,
            deadline=run.budget.end - run.budget.report - AFTERWARDS * (run.budget.left() - run.budget.report),
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
) -> Threshold:
    """The best threshold on development rows: by costs, the metric asked for, the F1 of a rare class, or errors."""
    assert problem.classes is not None
    assert problem.positive is not None
    is_positive = truth == problem.classes[problem.positive]
    score = predicted[:, problem.positive]
    wanted = None if settings.cost else criterion(metric, rare_class(shares), problem.positive)
    by = "lowest cost" if settings.cost else "fewest errors" if wanted is None else wanted[0]
    value = None if wanted is None else wanted[1]
    found = judge.choose_threshold(is_positive, score, settings.cost or (1.0, 1.0), settings.seed, value, by)
    return replace(found, used=settings.cost is not None or wanted is not None)


def _record(facts: Facts, problem: Problem, sealed: Sealed, run: Session) -> tuple[int, str]:
    """Record the opening; which use of these rows it is, and since when. The same question again is the same use."""
    fresh = str(run.journal.add("fresh run", "", time.time_ns())) if run.settings.fresh else ""
    asked = f"{run.journal.key}|{facts.chosen.id}|{run.settings.cost}|{facts.model.judged_rows}|{fresh}"
    opening = hashlib.sha256(asked.encode()).hexdigest()[:16]
    return record_opening(sealed.hash, opening, problem.name, run.folder / SPARE)


def predictions(facts: Facts, problem: Problem, rows: np.ndarray, part: str, output: np.ndarray) -> pl.DataFrame:
    """Predictions for rows of the table as they are written, with their place in the file and their target."""
    columns: dict[str, Any] = {"row": problem.rows[rows], "part": [part] * len(rows), problem.target: problem.y[rows]}
    assert facts.decision is not None
    settled = (facts.decision.threshold, facts.decision.half_width)
    columns |= prediction_columns(output, problem.classes, problem.positive, *settled)
    return pl.DataFrame(columns)


def _latency(model: Any, row: pl.DataFrame) -> float:
    """Seconds to predict one raw row, without the first call, which loads and looks up what later ones have.

    Slow predictions need fewer repetitions: a second call is always made.
    """
    model.predict(row)
    took: list[float] = []
    while len(took) < 5 and sum(took) < LONG_ENOUGH:
        started = time.perf_counter()
        model.predict(row)
        took.append(time.perf_counter() - started)
    return float(np.mean(took))


def _bracket(facts: Facts, problem: Problem, truth: np.ndarray, predicted: np.ndarray) -> Bracket:
    """The best possible error, compared with the model on rows it had not seen."""
    names = None if problem.classes is None else np.array(problem.classes)
    wrong = None if names is None else names[predicted.argmax(axis=1)] != truth
    return bracket(facts.ceiling, row_losses(truth, predicted, names), wrong)
