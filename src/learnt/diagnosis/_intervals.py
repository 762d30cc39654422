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
    """An estimate and the two ends of its confidence interval, as a named tuple.

    Parameters
    ----------
    estimate : float
        The number that was measured.
    low : float
        The lower end.
    high : float
        The upper end.

    See Also
    --------
    wilson_interval : Of a share, such as accuracy.
    bootstrap_interval : Of any function of means.
    auc_interval : Of the area under the ROC curve.

    Examples
    --------
    >>> from learnt.diagnosis import wilson_interval
    >>> estimate, low, high = wilson_interval(20, 100)
    >>> round(low, 2), round(high, 2)
    (0.13, 0.29)
    """

    estimate: float
    low: float
    high: float

    def covers(self, value: float) -> bool:
        """Whether a value lies in the interval, its ends included.

        Parameters
        ----------
        value : float
            Such as 0 for a difference, or the score of chance.

        Returns
        -------
        inside : bool
            True where `low <= value <= high`.
        """
        return self.low <= value <= self.high


def wilson_interval(errors: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's interval for a share: it keeps its coverage for small counts, and never leaves [0, 1].

        (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)

    For the error or the accuracy of a classifier on a test set, or any other share of independent rows.

    Parameters
    ----------
    errors : float
        How many of the trials count; may be fractional.
    n : float
        How many trials there are.
    level : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    interval : Interval
        The share and its two ends; NaN, 0 and 1 without trials.

    See Also
    --------
    bootstrap_interval : Of any function of means, and of rows that hang together.
    auc_interval : Of the area under the ROC curve.
    learnt.model_selection.corrected_interval : Of a mean over folds.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
       Statistical Association, 1927.

    Examples
    --------
    >>> from learnt.diagnosis import wilson_interval
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
    random_state: Any = 0,
) -> Interval:
    """Percentile bootstrap of a function of column means; whole groups are drawn where rows hang together.

    For the mean loss of a model on a test set, or anything computed from means: a root mean squared error from squared
    errors, R² from two columns of squares.

    Parameters
    ----------
    values : array-like of shape (n_samples,) or (n_samples, n_columns)
        One row a case; each resample draws rows with replacement and averages the columns.
    statistic : callable, default=None
        Maps the (m, n_columns) averages of m resamples to m numbers; None for the average of the first column.
    groups : array-like of shape (n_samples,), default=None
        Labels of rows that were drawn together, such as those of one patient; None where all are independent.
    level : float, default=0.95
        Confidence of the interval.
    n_resamples : int, default=1000
        How many resamples; more make the ends steadier.
    random_state : int, RandomState, Generator or None, default=0
        Where the draws come from.

    Returns
    -------
    interval : Interval
        The statistic of the rows themselves, and the two ends.

    See Also
    --------
    wilson_interval : Of a share, in closed form.
    auc_interval : Of the area under the ROC curve, in closed form.
    learnt.model_selection.corrected_interval : Of a mean over folds.

    Notes
    -----
    Of more than 2,000 rows (or groups), averages are drawn from their normal distribution instead of drawing the rows:
    the time no longer grows with n times the resamples.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import bootstrap_interval
    >>> interval = bootstrap_interval(np.arange(100.0))
    >>> round(interval.estimate, 1), interval.covers(49.5)
    (49.5, True)
    >>> errors = np.random.default_rng(0).normal(size=500)
    >>> rmse = bootstrap_interval(errors**2, lambda means: np.sqrt(means[:, 0]))
    >>> rmse.covers(1.0)
    True
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

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels: True or not 0 for the positive class.
    score : array-like of shape (n_samples,)
        The larger, the more positive: probabilities of the positive class, or decision values.
    level : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    interval : Interval
        The area and its two ends; NaN, 0 and 1 where a class is absent.

    See Also
    --------
    learnt.metrics.roc_auc_score : The area alone.
    bootstrap_interval : Of any function of means.

    Notes
    -----
    O(n log n) time, by ranks. Perfect separation gets an interval too, by the binomial bound.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import auc_interval
    >>> y, score = np.array([0, 0, 0, 1, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> interval = auc_interval(y, score)
    >>> round(interval.estimate, 4), bool(interval.low < 0.5)  # six rows prove little
    (0.7778, True)
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
