"""The learning curve of the chosen recipe and its interpretation, in the time that is left after everything else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.diagnosis import curve_sizes, is_average, read_curve, row_losses
from learnt.engine import progress
from learnt.plots import number
from learnt.study._journal import Journal
from learnt.study.facts import Ceiling, Curve, Diagnosis, Part, Parts, Test, TestOfClasses
from learnt.study.race._budget import Budget
from learnt.study.race._ground import Ground
from learnt.study.race._recipe import Recipe, bare
from learnt.study.race._remote import Failed, TooSlow, Worker

MOST_FOLDS = 5
SIZES = 5


def diagnose(
    workers: Sequence[Worker],
    journal: Journal,
    ground: Ground,
    budget: Budget,
    recipe: Recipe,
    rows: int,
    ceiling: Ceiling,
) -> Diagnosis | None:
    """Noise, bias and variance from the learning curve; None when there was no time for it.

    The largest size comes first, since one size is enough for a verdict; `rows` is what the race trained on.
    """
    until = budget.end - budget.closing
    folds = min(ground.parts, MOST_FOLDS)
    top = min(min(len(train) for train, _ in ground.folds), rows)
    sizes = curve_sizes(top, SIZES)
    jobs = [(size, fold) for size in reversed(sizes) for fold in range(folds)]
    points: dict[tuple[int, int], dict[str, Any]] = {}
    with progress.task("learning curve", total=len(jobs)) as bar, ThreadPoolExecutor(len(workers)) as pool:
        waiting = _Shared(jobs)

        def work(worker: Worker) -> None:
            for size, fold in waiting:
                found = _point(worker, journal, budget, recipe, size, fold, rows, until)
                if found is not None:
                    points[size, fold] = found
                bar.advance()

        list(pool.map(work, workers))
    complete = [size for size in sizes if all((size, fold) in points for fold in range(folds))]
    if not complete:
        return None
    loss = lambda key: np.array([[points[size, fold][key] for fold in range(folds)] for size in complete])  # noqa: E731
    train, valid = loss("train_loss"), loss("loss")
    # The final model is fitted on all rows; a curve that ends before cannot be extrapolated beyond them.
    seen = 1.0 if complete[-1] >= 0.9 * ground.training_rows else None
    members = recipe["members"]
    averages = len(members) > 1 or is_average(bare(members[0]["spec"]))
    return _read(complete, train, valid, ceiling, _level(ground, folds), seen, averages)


def reconciled(diagnosis: Diagnosis | None, test: Test | None, beats_constant: bool | None) -> Diagnosis | None:
    """The diagnosis in words that agree with a test set on which the model beat the constant by another measure.

    The curve measures squared losses; a model chosen by another metric, or one that only ranks rows well, may be no
    better than a constant by them.
    """
    if diagnosis is None or diagnosis.regime != "no signal" or not beats_constant or test is None:
        return diagnosis
    by = f"by {test.metric.words}" if test.metric is not None else "on the test rows"
    none = f"By its {diagnosis.loss_name} the model is no better than the best constant"
    advice = ["Do not take its probabilities as they are."] if isinstance(test, TestOfClasses) else []
    first, *_, last = diagnosis.treatments  # the one between doubts the target
    return replace(diagnosis, finding=f"{none}, although it beats it {by}.", treatments=[*advice, first, last])


class _Shared:
    """Jobs that several threads take from, each once."""

    def __init__(self, jobs: list) -> None:
        self._jobs = list(reversed(jobs))

    def __iter__(self) -> _Shared:
        return self

    def __next__(self) -> Any:
        try:
            return self._jobs.pop()  # list.pop is atomic: no lock is needed
        except IndexError:
            raise StopIteration from None


def _point(
    worker: Worker, journal: Journal, budget: Budget, recipe: Recipe, size: int, fold: int, rows: int, until: float
) -> dict[str, Any] | None:
    text = json.dumps(recipe, sort_keys=True)
    name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}@{size}#{fold}"
    result = journal.get("curve", name)
    if result is not None:
        return result
    left = until - budget.clock()
    if left <= 0.1:
        return None
    try:
        result = worker.call("learn", left, recipe=recipe, fold=fold, rows=size, most=rows, threads=1)
    except (TooSlow, Failed):  # no time, or too few rows for this model
        return None
    return journal.add("curve", name, result)


def _level(ground: Ground, folds: int) -> np.ndarray:
    """The loss of the constant on each fold, as the curve measures it."""
    classes = None if ground.n_classes is None else np.arange(ground.n_classes)
    losses = [row_losses(ground.y[ground.held[k]], ground.constant(k), classes).mean() for k in range(folds)]
    return np.array(losses)


def _read(
    sizes: list[int],
    train: np.ndarray,
    valid: np.ndarray,
    ceiling: Ceiling,
    constant: np.ndarray,
    seen: float | None,
    averages: bool,
) -> Diagnosis:
    noise = (ceiling.noise.low, ceiling.noise.lower, ceiling.noise.upper)
    words: dict[str, Any] = {"form": lambda v: number(math.sqrt(max(v, 0.0))), "loss_name": "RMSE"}
    if ceiling.bayes_error is not None:
        words = {"form": number, "loss_name": "Brier score"}
    about: dict[str, Any] = {"constant": constant, "signal": ceiling.signal, "averages": averages, "seen": seen}
    verdict = read_curve(np.array(sizes), train, valid, noise=noise, **about, **words)
    noise_part, bias, variance = (Part(*getattr(verdict, part)) for part in ("noise", "bias", "variance"))
    return Diagnosis(
        regime=verdict.regime,
        finding=verdict.finding,
        evidence=list(verdict.evidence),
        treatments=list(verdict.treatments),
        parts=Parts(noise_part, bias, variance),
        loss=verdict.loss,
        train_loss=verdict.train_loss,
        constant=verdict.constant,
        loss_name=words["loss_name"],
        curve=Curve(sizes, train.tolist(), valid.tolist()),
    )
