"""Rows judged: everything they say about a model, the constant beside it; for the test set and for any other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnt.study.facts import Test, Usual
from learnt.study.judgement import _judge as judge
from learnt.study.judgement._rare import judge_metric
from learnt.study.race._metric import Metric


@dataclass(frozen=True)
class Terms:
    """What rows are judged by; all of it is settled before they are seen."""

    classes: list | None
    positive: int | None
    threshold: float
    half_width: float | None  # of the intervals of amounts
    constant: Usual
    metric: Metric | None
    cost: tuple[float, float] | None
    level: float = 0.95
    seed: int = 0


def judge_rows(y: np.ndarray, output: np.ndarray, terms: Terms, groups: np.ndarray | None = None) -> tuple[Test, bool]:
    """The figures of a model with this output on these rows, and whether it beats the constant beyond doubt."""
    t = terms
    options: dict[str, Any] = {"groups": groups, "level": t.level, "seed": t.seed}
    found: Test
    if t.classes is not None:
        assert t.constant.shares is not None
        shares = np.array(t.constant.shares)
        about: dict[str, Any] = {"positive": t.positive, "threshold": t.threshold, "cost": t.cost}
        found = judge.judge_classes(y, output, t.classes, shares, **about, **options)
        codes, constant = np.searchsorted(np.array(t.classes), y), np.tile(shares, (len(y), 1))
        better = found.brier_gain.low > 0 or bool(found.ranks)
    else:
        assert t.constant.mean is not None
        found = judge.judge_amounts(y, output, t.constant.mean, t.half_width, **options)
        codes, constant = y, np.full(len(y), t.constant.mean)
        better = found.gain.low > 0
    if t.metric is not None:
        at = t.threshold if t.metric.at_best_threshold else None
        asked = judge_metric(t.metric, codes, output, constant, threshold=at, **options)
        # Few rows may leave the metric open where the order of rows does not
        better = asked.gain.low > 0 or (better and asked.gain.estimate > 0)
        found = replace(found, metric=asked)
    return found, bool(better)
