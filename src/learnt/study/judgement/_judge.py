"""Step 6, the test: the test set opened once, every error with its interval."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from learnt.diagnosis import Interval, auc_interval, bootstrap_interval, row_losses, spread_columns, wilson_interval
from learnt.engine.random import stream
from learnt.study.facts import (
    Area,
    CalibrationBins,
    ClassRow,
    Coverage,
    Estimate,
    Importance,
    Rates,
    Roc,
    TestOfAmounts,
    TestOfClasses,
    Threshold,
    ThresholdCurve,
)
from learnt.study.judgement._rare import imbalanced, judge_rare, rare_class
from learnt.study.race._metric import area_under_roc, counts_by_threshold
from learnt.study.race._objective import row_losses as log_losses

COVERAGE = 0.9
_POINTS = 200


def predict(model: Any, X: pl.DataFrame, classes: list | None) -> np.ndarray:
    """Probabilities over all classes, or numbers; cells that cannot be read count as missing without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return output_of(model, X, classes)


def output_of(model: Any, X: pl.DataFrame, classes: list | None) -> np.ndarray:
    """Probabilities over all classes, or numbers."""
    if classes is None:
        return np.asarray(model.predict(X), dtype=np.float64)
    have = np.asarray(model.classes_)
    return spread_columns(np.asarray(model.predict_proba(X), dtype=np.float64), have, np.array(classes))


def _figure(interval: Interval) -> Estimate:
    return Estimate(interval.estimate, interval.low, interval.high)


# --- classes -------------------------------------------------------------------------------------------------


def decide(probability: np.ndarray, classes: list, positive: int | None, threshold: float) -> np.ndarray:
    """Class numbers: the likeliest, or with two classes the positive one from `threshold` on."""
    if positive is None or threshold == 0.5:
        return probability.argmax(axis=1)
    return np.where(probability[:, positive] >= threshold, positive, 1 - positive)


def choose_threshold(
    y_positive: np.ndarray,
    score: np.ndarray,
    cost: tuple[float, float],
    seed: int,
    value: Callable[..., np.ndarray] | None = None,
    by: str = "lowest cost",
) -> Threshold:
    """The threshold with the lowest cost on out-of-fold predictions, over every value of the score.

    `cost` is (false alarm, missed positive). The reference is Elkan's: with true probabilities the best threshold is
    fp / (fp + fn), whatever the data. `value` is a function of hits, false alarms, misses and true negatives to be
    made as large as possible instead; `by` says in words what was.
    """
    fp, fn = cost

    n, order = len(score), np.argsort(score, kind="stable")
    y_positive, score = y_positive[order], score[order]  # sorted once, for all samples

    def curve(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        there = times > 0
        cuts, *counts = counts_by_threshold(y_positive[there], score[there], times[there])
        if value is not None:
            return cuts, -value(*counts)
        return cuts, (fp * counts[1] + fn * counts[2]) / n

    thresholds, costs = curve(np.ones(n, dtype=np.int64))
    best = float(thresholds[int(costs.argmin())])
    rng = stream(seed, 11)
    again = []
    for _ in range(100):
        t, c = curve(np.bincount(rng.integers(0, n, n), minlength=n)[order])
        again.append(float(t[int(c.argmin())]))
    low, high = np.quantile(again, [0.05, 0.95])
    keep = np.unique(np.linspace(0, len(thresholds) - 1, _POINTS).round().astype(int))
    return Threshold(
        threshold=best,
        low=float(low),
        high=float(high),
        elkan=fp / (fp + fn),
        cost_per_row=float(costs.min()),
        curve=ThresholdCurve(thresholds[keep].tolist(), (costs if value is None else -costs)[keep].tolist()),
        by=by,
        used=True,
    )


def judge_classes(
    y: np.ndarray,
    probability: np.ndarray,
    classes: list,
    shares: np.ndarray,
    *,
    positive: int | None,
    threshold: float,
    cost: tuple[float, float] | None,
    groups: np.ndarray | None,
    level: float,
    seed: int,
) -> TestOfClasses:
    """Everything the test set says about a classifier; `shares` are the class shares of the development rows."""
    names = np.array(classes)
    codes = np.searchsorted(names, y)
    decided = decide(probability, classes, positive, threshold)
    # The likeliest class: costs change decisions, not this error
    wrong = (probability.argmax(axis=1) != codes).astype(float)
    losses = row_losses(y, probability, names)
    constant = row_losses(y, np.tile(shares, (len(y), 1)), names)
    usual = (codes != int(shares.argmax())).astype(float)
    options: dict[str, Any] = {"groups": groups, "level": level, "random_state": seed}
    gain = bootstrap_interval(constant - losses, **options)
    error = wilson_interval(wrong.sum(), len(y), level) if groups is None else bootstrap_interval(wrong, **options)
    confusion = _confusion(codes, decided, len(classes))
    per_class = _per_class(confusion, classes)
    recalls = [row.recall for row in per_class if row.recall is not None]
    at_threshold = float(np.mean(decided != codes))
    more: dict[str, Any] = {}
    if (rare := rare_class(shares)) is not None:
        judged = judge_rare(codes == rare, decided == rare, probability[:, rare], float(shares[rare]), level, seed)
        more["rare"] = replace(judged, class_=classes[rare])
    present = np.unique(codes)
    if len(classes) == 2 and len(present) == 2:
        more |= _two_classes(codes == positive, probability[:, positive], threshold, level, cost)
    elif len(present) == len(classes):
        areas = [area_under_roc(codes == k, probability[:, k]) for k in range(len(classes))]
        more["auc"] = Area(float(np.mean(areas)))  # of each class against all others
    return TestOfClasses(
        rows=len(y),
        level=level,
        error=_figure(error),
        brier=_figure(bootstrap_interval(losses, **options)),
        constant_error=float(usual.mean()),
        constant_brier=float(constant.mean()),
        brier_gain=_figure(gain),
        fewer_errors=_figure(bootstrap_interval(usual - wrong, **options)),
        log_loss=float(log_losses(codes, probability, len(classes)).mean()),
        error_at_threshold=at_threshold,
        accuracy=1 - at_threshold,
        f1=_f1(per_class, positive),
        confusion=confusion.tolist(),
        threshold=threshold,
        per_class=per_class,
        mean_recall=float(np.mean(recalls)),
        lopsided=imbalanced(shares),
        **more,
    )


def _two_classes(
    y: np.ndarray, score: np.ndarray, threshold: float, level: float, cost: tuple[float, float] | None
) -> dict[str, Any]:
    _, hits, alarms, *_ = (part[::-1] for part in counts_by_threshold(y, score))
    fpr, tpr = alarms / alarms[-1], hits / hits[-1]
    keep = np.unique(np.linspace(0, len(fpr) - 1, _POINTS).round().astype(int))
    called = score >= threshold
    area = _figure(auc_interval(y, score, level))
    found: dict[str, Any] = {
        "auc": Area(area.estimate, area.low, area.high),
        "ranks": bool(auc_interval(y, score, 1 - (1 - level) / 5).low > 0.5),  # significantly better than chance
        "roc": Roc(fpr[keep].tolist(), tpr[keep].tolist()),
        "at_threshold": Rates(float(called[~y].mean()), float(called[y].mean())),
        "calibration": calibration_bins(y, score, level),
    }
    if cost is not None:
        paid = cost[0] * (called & ~y) + cost[1] * (~called & y)
        found["cost"] = _figure(bootstrap_interval(paid.astype(float), level=level))
        found["cost_at_half"] = float(np.mean(cost[0] * ((score >= 0.5) & ~y) + cost[1] * ((score < 0.5) & y)))
        found["cost_of_none"], found["cost_of_all"] = float(cost[1] * y.mean()), float(cost[0] * (~y).mean())
    return found


def calibration_bins(y: np.ndarray, score: np.ndarray, level: float, bins: int = 10) -> CalibrationBins:
    """Mean probability and observed share in bins of equal count, each share with its Wilson interval."""
    order = np.argsort(score, kind="stable")
    parts = [p for p in np.array_split(order, min(bins, max(len(y) // 20, 2))) if len(p)]
    shares = [wilson_interval(y[p].sum(), len(p), level) for p in parts]
    return CalibrationBins(
        predicted=[float(score[p].mean()) for p in parts],
        observed=[s.estimate for s in shares],
        low=[s.low for s in shares],
        high=[s.high for s in shares],
        rows=[len(p) for p in parts],
    )


def _confusion(codes: np.ndarray, decided: np.ndarray, n_classes: int) -> np.ndarray:
    """How many rows of each class (lines) were called each class (columns)."""
    return np.bincount(codes * n_classes + decided, minlength=n_classes**2).reshape(n_classes, n_classes)


def _per_class(confusion: np.ndarray, classes: list) -> tuple[ClassRow, ...]:
    rows = []
    for k, name in enumerate(classes):
        hit, true, called = confusion[k, k], confusion[k].sum(), confusion[:, k].sum()
        recall = float(hit / true) if true else None
        precision = float(hit / called) if called else None
        rows.append(ClassRow(name, int(true), recall, precision, float(2 * hit / (true + called)) if true else None))
    return tuple(rows)


def _f1(per_class: tuple[ClassRow, ...], positive: int | None) -> float | None:
    """F1 of the positive of two classes, the mean over the classes that there are of several."""
    if positive is not None:
        return per_class[positive].f1
    return float(np.mean([row.f1 for row in per_class if row.f1 is not None]))


# --- amounts -------------------------------------------------------------------------------------------------


def judge_amounts(
    y: np.ndarray,
    predicted: np.ndarray,
    mean: float,
    half_width: float | None,
    *,
    groups: np.ndarray | None,
    level: float,
    seed: int,
) -> TestOfAmounts:
    """Everything the test set says about a regressor; `mean` and `half_width` come from the development rows."""
    squared, constant = (y - predicted) ** 2, (y - mean) ** 2
    options: dict[str, Any] = {"groups": groups, "level": level, "random_state": seed}
    both = np.column_stack([squared, constant, y, y * y])
    rmse = bootstrap_interval(squared, lambda m: np.sqrt(m[:, 0]), **options)
    r2 = bootstrap_interval(both, lambda m: 1 - m[:, 0] / np.maximum(m[:, 3] - m[:, 2] ** 2, 1e-300), **options)
    quantiles = np.quantile(y - predicted, [0.05, 0.25, 0.5, 0.75, 0.95])
    interval = None
    if half_width is not None:
        covered = wilson_interval((np.abs(y - predicted) <= half_width).sum(), len(y), level)
        interval = Coverage(half_width, COVERAGE, _figure(covered))
    return TestOfAmounts(
        rows=len(y),
        level=level,
        rmse=_figure(rmse),
        mae=_figure(bootstrap_interval(np.abs(y - predicted), **options)),
        r2=_figure(r2),
        constant_rmse=float(math.sqrt(constant.mean())),
        gain=_figure(bootstrap_interval(constant - squared, **options)),
        residual_quantiles=[float(q) for q in quantiles],
        interval=interval,
    )


# --- what it uses --------------------------------------------------------------------------------------------


def importances(
    model: Any,
    X: pl.DataFrame,
    y: np.ndarray,
    classes: list | None,
    *,
    seed: int,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    most_rows: int = 2000,
    repeats: int = 5,
) -> tuple[Importance, ...]:
    """How much the loss grows when one original column is shuffled, largest first, in the time until the deadline.

    Every column is shuffled as many times as every other; none is measured where there is no time for two of each.
    """
    rng = stream(seed, 7)
    if len(X) > most_rows:
        rows = np.sort(rng.permutation(len(X))[:most_rows])
        X, y = X[rows], y[rows]
    names = None if classes is None else np.array(classes)
    repeats = repeats if X.width <= 60 else 2
    started = clock()
    base = row_losses(y, predict(model, X, classes), names).mean()
    if clock() + 2 * X.width * (clock() - started) > deadline:
        return ()
    grown: list[list[float]] = []
    while len(grown) < repeats and clock() <= deadline:
        once = []
        for column in X.columns:
            shuffled = X.with_columns(X[column].gather(pl.Series(rng.permutation(len(X)))).alias(column))
            once.append(float(row_losses(y, predict(model, shuffled, classes), names).mean() - base))
            if clock() > deadline:
                break
        if len(once) < X.width:
            break
        grown.append(once)
    if len(grown) < 2:
        return ()
    means = np.mean(grown, axis=0)
    spreads = 2 * np.std(grown, axis=0, ddof=1) / math.sqrt(len(grown))
    found = [
        Importance(column, float(mean), float(mean - spread), float(mean + spread))
        for column, mean, spread in zip(X.columns, means, spreads)
    ]
    return tuple(sorted(found, key=lambda f: (-f.loss_added, f.column)))
