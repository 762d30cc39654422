"""Rules for bins of equal width: how many, from the values of one feature; as NumPy's where it has them.

    "scott"      width (24 √π)^⅓ σ n^(−⅓): best for a Gaussian
    "fd"         width 2 IQR n^(−⅓) (Freedman and Diaconis): outliers do not widen it
    "shimazaki"  the least (2 m − v) / width², m and v mean and variance of the counts (Shimazaki and Shinomoto)
    "cv"         the least squared error, estimated by leaving out one row after the other; NumPy calls it "stone"
    "sturges"    log₂ n + 1 bins;    "rice"  2 n^⅓;    "sqrt"  √n
    "auto"       the narrower of "fd" and "sturges"

`density.Histogram` takes them from the values of each feature, `naive_bayes.HistogramNB` from its classes' moments.

With d features n^(−1/3) becomes n^(−1/(d+2)), since a grid of d features has fewer rows in each cell.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

RULES = ("scott", "fd", "shimazaki", "cv", "stone", "sturges", "rice", "sqrt", "auto")
_MOST_BINS = 1 << 20  # the most bins of one feature: a few outliers would otherwise require any number


class Column(NamedTuple):
    """Sorted values of one feature, their weights (None: all 1) and total, and the number of features."""

    x: np.ndarray
    w: np.ndarray | None
    total: float
    n_features: int

    @property
    def range(self) -> float:
        return float(self.x[-1] - self.x[0])

    @property
    def power(self) -> float:
        """n^(1/3), or with d features n^(1/(d+2))."""
        return self.total ** (1.0 / (self.n_features + 2))

    def counts(self, n_bins: int) -> np.ndarray:
        return np.histogram(self.x, bins=n_bins, weights=self.w)[0]


def sorted_column(x: np.ndarray, w: np.ndarray | None, n_features: int) -> Column:
    """The values of a feature as the rules take them."""
    x = np.asarray(x, dtype=np.float64)
    if w is None:
        return Column(np.sort(x), None, float(len(x)), n_features)
    order = np.argsort(x, kind="stable")
    return Column(x[order], np.asarray(w, dtype=np.float64)[order], float(w.sum()), n_features)


def edges_by_rule(column: Column, rule: str | int) -> np.ndarray:
    """The edges of the bins of one feature, by a rule or a number; one bin of width 1 where it is constant.

    >>> edges_by_rule(sorted_column(np.arange(9.0), None, 1), "sqrt")
    array([0.   , 2.667, 5.333, 8.   ])
    """
    low, high = column.x[0], column.x[-1]
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    return np.linspace(low, high, (rule if isinstance(rule, int) else _number(column, rule)) + 1)


def _number(column: Column, rule: str) -> int:
    if rule in ("shimazaki", "cv", "stone"):
        return _best_number(column, rule)
    if rule == "auto":
        width = min(_width(column, "fd") or math.inf, _width(column, "sturges"))
    else:
        width = _width(column, rule)
    return min(_MOST_BINS, math.ceil(column.range / width)) if width > 0 else 1


def _width(column: Column, rule: str) -> float:
    if rule == "scott":
        return scott_width(_deviation(column), column.power)
    if rule == "fd":
        return 2.0 * (_quantile(column, 0.75) - _quantile(column, 0.25)) / column.power
    return column.range / bins_of_size(column.total, rule)


def scott_width(deviation: Any, power: float) -> Any:
    """Scott's width of features with these standard deviations; `power` is n^(1/3)."""
    return (24.0 * math.sqrt(math.pi)) ** (1.0 / 3.0) * deviation / power


def bins_of_size(n: float, rule: str) -> float:
    """The number of bins, not rounded, by the rules that depend on the number of rows only.

    >>> bins_of_size(64, "sturges"), bins_of_size(64, "sqrt")
    (7.0, 8.0)
    """
    return {"sturges": math.log2(n) + 1.0, "rice": 2.0 * n ** (1.0 / 3.0), "sqrt": math.sqrt(n)}[rule]


def _best_number(column: Column, rule: str) -> int:
    """The number of bins with the least cost, of up to √n, and at least up to 100."""
    n, numbers = column.total, range(1, max(100, math.isqrt(int(column.total))) + 1)
    costs = []
    for n_bins in numbers:
        width, counts = column.range / n_bins, column.counts(n_bins)
        if rule == "shimazaki":
            costs.append((2.0 * counts.mean() - counts.var()) / width**2)
        else:
            share = counts / n
            costs.append((2.0 - (n + 1.0) * (share @ share)) / width)
    return numbers[int(np.argmin(costs))]


def _deviation(column: Column) -> float:
    mean = np.average(column.x, weights=column.w)
    return math.sqrt(np.average((column.x - mean) ** 2, weights=column.w))


def _quantile(column: Column, q: float) -> float:
    """As `np.quantile`; a weight of 2 is the value twice."""
    if column.w is None:
        return float(np.quantile(column.x, q))
    reached = np.cumsum(column.w)
    at = q * max(column.total - 1.0, 0.0)
    low, high = (
        column.x[min(int(np.searchsorted(reached, t, side="right")), len(column.x) - 1)]
        for t in (math.floor(at), math.floor(at) + 1)
    )
    return float(low + (at - math.floor(at)) * (high - low))
