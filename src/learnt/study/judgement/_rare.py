"""A rare class: judged by recall and precision, never by accuracy.

Where one class makes up nine rows in ten, always predicting it has an accuracy of 0.9 and is of no use.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learnt.diagnosis import wilson_interval
from learnt.engine.random import stream
from learnt.metrics import average_precision_score
from learnt.study.facts import Estimate, MetricTest, Rare
from learnt.study.race._metric import Metric, metric_of

RARE = 0.1  # of the rows
_DRAWS = 200


def rare_class(shares: np.ndarray) -> int | None:
    """The number of the rarer of two classes where it is rare.

    >>> rare_class(np.array([0.97, 0.03])), rare_class(np.array([0.3, 0.7]))
    (1, None)
    """
    return int(shares.argmin()) if len(shares) == 2 and shares.min() < RARE else None


def imbalanced(shares: np.ndarray) -> bool:
    """Whether one of several classes makes up nearly all rows."""
    return len(shares) > 2 and bool(shares.max() > 1 - RARE)


def criterion(metric: Metric | None, rare: int | None, positive: int) -> tuple[str, Callable[..., np.ndarray]] | None:
    """What a threshold is chosen by where no costs are given: in words, and as a function of counts, larger is better.

    The metric asked for, where it judges decisions; else, for a rare class, its F1; else None: a threshold of one half.
    """
    if metric is not None and metric.at_best_threshold:
        sign = 1.0 if metric.greater else -1.0
        return f"best {metric.words}", lambda tp, fp, fn, tn: sign * metric.by_counts(tp, fp, fn, tn)
    if rare is None or (metric is not None and metric.takes == "decision"):
        return None
    f1 = metric_of("f1", "classify")
    if rare == positive:
        return "best F1", lambda tp, fp, fn, tn: f1.by_counts(tp, fp, fn, tn)
    return "best F1", lambda tp, fp, fn, tn: f1.by_counts(tn, fn, fp, tp)


def judge_rare(y: np.ndarray, decided: np.ndarray, score: np.ndarray, share: float, level: float, seed: int) -> Rare:
    """Recall, precision and the area under the precision–recall curve of a class, each with its interval.

    Parameters
    ----------
    y, decided : whether each row is of the class, and whether it was called so.
    score : its probability.
    share : of the class among the development rows: the precision of calling rows at random.
    """
    found, called, actual = int((y & decided).sum()), int(decided.sum()), int(y.sum())
    recall = wilson_interval(found, actual, level) if actual else None
    precision = wilson_interval(found, called, level) if called else None
    return Rare(
        class_=None,
        share=share,
        rows=actual,
        found=found,
        missed=actual - found,
        false_alarms=called - found,
        recall=None if recall is None else Estimate(recall.estimate, recall.low, recall.high),
        precision=None if precision is None else Estimate(precision.estimate, precision.low, precision.high),
        average_precision=_area(y, score, level, seed) if 0 < actual < len(y) else None,
    )


def _area(y: np.ndarray, score: np.ndarray, level: float, seed: int) -> Estimate:
    """Average precision with a bootstrap interval; each draw has as many rows of either kind as the table."""
    rng = stream(seed, 13)
    inside, outside = np.flatnonzero(y), np.flatnonzero(~y)
    areas = []
    for _ in range(_DRAWS):
        rows = np.concatenate([rng.choice(inside, len(inside)), rng.choice(outside, len(outside))])
        areas.append(float(average_precision_score(y[rows].astype(int), score[rows])))
    low, high = np.quantile(areas, [(1 - level) / 2, (1 + level) / 2])
    whole = float(average_precision_score(y.astype(int), score))
    return Estimate(whole, min(float(low), whole), max(float(high), whole))


def judge_metric(
    metric: Metric,
    y: np.ndarray,
    predicted: np.ndarray,
    constant: np.ndarray,
    *,
    threshold: float | None,
    groups: np.ndarray | None,
    level: float,
    seed: int,
) -> MetricTest:
    """The metric asked for on the test rows, that of the best constant, and their difference, with bootstrap intervals.

    `y` are class numbers or amounts; `constant` is what the constant predicts for each row. Whole groups are drawn.
    """
    rng = stream(seed, 17)
    sign = 1.0 if metric.greater else -1.0

    def both(rows: np.ndarray) -> tuple[float, float]:
        ours = metric.score(y[rows], predicted[rows], threshold=threshold)
        return ours, metric.score(y[rows], constant[rows], threshold=threshold)

    whole = both(np.arange(len(y)))
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    members = [np.flatnonzero(units == k) for k in range(units.max() + 1)] if groups is not None else None
    drawn = []
    for _ in range(_DRAWS):
        picked = rng.integers(0, units.max() + 1, units.max() + 1)
        drawn.append(both(picked if members is None else np.concatenate([members[k] for k in picked])))
    values = np.array(drawn)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(values[:, 0], ends)
    gain = sign * (values[:, 0] - values[:, 1])
    gained = sign * (whole[0] - whole[1])
    return MetricTest(
        name=metric.name,
        words=metric.words,
        greater=metric.greater,
        estimate=whole[0],
        low=min(float(low), whole[0]),
        high=max(float(high), whole[0]),
        constant=whole[1],
        gain=Estimate(gained, float(np.quantile(gain, ends[0])), float(np.quantile(gain, ends[1]))),
    )
