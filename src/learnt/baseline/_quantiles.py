"""Quantiles of weighted rows."""

from __future__ import annotations

import numpy as np


def quantiles(values: np.ndarray, weight: np.ndarray | None, shares: np.ndarray) -> np.ndarray:
    """Quantiles of the vector `values` at `shares`.

    Without weights, NumPy's rule (linear between order statistics). Integer weights count rows, and the rule is
    the same on the repeated rows. Other weights: the value where the share of the weight is reached, or the mean of
    the two values it lies between.

    >>> quantiles(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0]), np.array([0.5, 1.0]))
    array([2., 4.])
    """
    if weight is None:
        return np.quantile(values, shares)
    present = weight > 0
    order = np.argsort(values[present], kind="stable")
    values, weight = values[present][order].astype(np.float64), weight[present][order]
    reached = np.cumsum(weight)
    total = reached[-1]
    last = values.size - 1
    if (weight == np.rint(weight)).all():
        place = shares * (total - 1)
        below = np.floor(place)
        low = values[np.minimum(np.searchsorted(reached, below, side="right"), last)]
        high = values[np.minimum(np.searchsorted(reached, np.minimum(below + 1, total - 1), side="right"), last)]
        return low + (high - low) * (place - below)
    wanted, slack = shares * total, 4 * np.finfo(np.float64).eps * total  # equal up to rounding is equal
    first = np.minimum(np.searchsorted(reached, wanted - slack), last)
    split = (np.abs(reached[first] - wanted) <= slack) & (first < last)
    return (values[first] + values[np.where(split, first + 1, first)]) / 2


def row_worth(weight: np.ndarray | None, n: int) -> float:
    """The effective number of rows: integer weights count rows, others by Kish, (Σw)² / Σw²."""
    if weight is None:
        return float(n)
    total = weight.sum()
    are_counts = bool((weight == np.rint(weight)).all())
    return float(total if are_counts else total**2 / (weight**2).sum())
