"""Confidence intervals: how far a measured number may be from the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri  # quantiles of the normal distribution, without the seconds that scipy.stats takes

from learnt.engine.random import generator

MANY = 2000  # rows from which averages are taken as normal


class Interval(NamedTuple):
    """An estimate and the two ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def covers(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson_interval(errors: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's interval for a share: it keeps its coverage for small counts, and never leaves [0, 1].

        (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    errors, n : count of errors (may be fractional) and of trials.
    level : confidence, 0.95.

    >>> [round(v, 4) for v in wilson_interval(20, 100)]
    [0.2, 0.1334, 0.2888]
    """
    if n <= 0:
        return Interval(math.nan, 0.0, 1.0)
    z = float(ndtri(0.5 + level / 2))
    p = errors / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(p, max(center - half, 0.0), min(center + half, 1.0))


def bootstrap_interval(
    values: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray] | None = None,
    *,
    groups: np.ndarray | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state=0,
) -> Interval:
    """Percentile bootstrap of a function of column means; whole groups are drawn where rows hang together.

    Parameters
    ----------
    values : array (n,) or (n, q); each resample draws rows with replacement and averages the columns.
    statistic : maps the (m, q) averages to m numbers; the average itself when None.
    groups : labels of rows that were drawn together, or None.
    level, n_resamples, random_state : confidence, number of resamples, seed.

    >>> interval = bootstrap_interval(np.arange(100.0))
    >>> round(interval.estimate, 1), interval.covers(49.5)
    (49.5, True)
    """
    values = np.asarray(values, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if groups is not None:
        _, codes = np.unique(np.asarray(groups), return_inverse=True)
        sums = np.zeros((codes.max() + 1, values.shape[1]))
        np.add.at(sums, codes, values)
        sizes = np.bincount(codes).astype(np.float64)
    else:
        sums, sizes = values, np.ones(len(values))
    statistic = (lambda means: means[:, 0]) if statistic is None else statistic
    rng = generator(random_state)
    n = len(sums)
    means = np.empty((n_resamples, values.shape[1]))
    if n > MANY:
        # So many units are averaged that the averages are normal: draw them instead of the rows.
        both = np.column_stack([sums, sizes])
        spread = both.std(axis=0, ddof=1)
        scaled = (both - both.mean(axis=0)) / np.where(spread > 0, spread, 1.0)  # columns may differ by any factor
        correlation = scaled.T @ scaled / (n - 1)
        options: dict[str, Any] = {"method": "eigh", "check_valid": "ignore"}  # it is one but for rounding
        unit = rng.multivariate_normal(np.zeros(len(spread)), correlation, size=n_resamples, **options)
        drawn = both.mean(axis=0) + unit * spread / np.sqrt(n)
        means = drawn[:, :-1] / drawn[:, -1:]
    else:
        step = max(1, 100_000 // n)
        for start in range(0, n_resamples, step):
            rows = rng.integers(0, n, (min(step, n_resamples - start), n))
            means[start : start + step] = sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)[:, None]
    found = np.asarray(statistic(means))
    estimate = float(statistic((sums.sum(axis=0) / sizes.sum())[None])[0])
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))


def auc_interval(y_true: np.ndarray, score: np.ndarray, level: float = 0.95) -> Interval:
    """DeLong's interval for the area under the ROC curve, on the logit scale so that it stays inside (0, 1).

    The area is the mean over pairs of [s⁺ > s⁻] + ½[s⁺ = s⁻]; its variance is S₁₀/m + S₀₁/n with the variances
    of the row means of that comparison among the m positives and the n negatives.

    >>> y = np.array([0, 0, 0, 1, 1, 1]); score = np.array([0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> round(auc_interval(y, score).estimate, 4)
    0.7778
    """
    y_true = np.asarray(y_true).astype(bool)
    score = np.asarray(score, dtype=np.float64)
    m, n = int(y_true.sum()), int((~y_true).sum())
    if m == 0 or n == 0:
        return Interval(math.nan, 0.0, 1.0)
    ranks = ranks_of(score)
    among_positive = ranks_of(score[y_true])
    among_negative = ranks_of(score[~y_true])
    v10 = (ranks[y_true] - among_positive) / n
    v01 = 1 - (ranks[~y_true] - among_negative) / m
    area = float(v10.mean())
    variance = (v10.var(ddof=1) / m if m > 1 else 0.25) + (v01.var(ddof=1) / n if n > 1 else 0.25)
    z = float(ndtri(0.5 + level / 2))
    edge = 0.5 / (m * n)
    inside = min(max(area, edge), 1 - edge)
    # Perfect separation has zero plug-in variance; the binomial bound keeps the coverage there.
    spread = math.sqrt(max(variance, inside * (1 - inside) / (m * n))) / (inside * (1 - inside))
    logit = math.log(inside / (1 - inside))
    low, high = (1 / (1 + math.exp(-min(max(logit + s * z * spread, -700), 700))) for s in (-1, 1))
    return Interval(area, low, high)


def ranks_of(values: np.ndarray) -> np.ndarray:
    """1 for the smallest, and for equal values the mean of their ranks.

    >>> ranks_of(np.array([0.3, 0.1, 0.3, 0.9]))
    array([2.5, 1. , 2.5, 4. ])
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]
