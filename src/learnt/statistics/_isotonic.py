"""Isotonic regression: the monotonic function nearest to y in weighted squares, as the corners of its graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Corners(NamedTuple):
    """Points in rising order of x between which the function is linear."""

    x: np.ndarray
    y: np.ndarray


def monotonic_corners(
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    increasing: bool = True,
    low: float = -np.inf,
    high: float = np.inf,
) -> Corners:
    """The monotonic function of x nearest to y, cut off at `low` and `high`.

    Rows of equal x share the mean of their y. Inside a constant stretch only its two ends are kept.

    >>> monotonic_corners(np.array([1.0, 2, 3, 4]), np.array([0.0, 1, 0, 1]))
    Corners(x=array([1., 2., 3., 4.]), y=array([0. , 0.5, 0.5, 1. ]))
    """
    dtype = y.dtype
    x, y, weights = _without_ties(x, y, weights)
    level = np.clip(nearest_monotonic(y, weights, increasing).astype(dtype, copy=False), low, high)
    corner = np.ones(len(x), dtype=bool)
    corner[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    return Corners(x[corner], level[corner])


def nearest_monotonic(y: np.ndarray, weights: np.ndarray | None, increasing: bool) -> np.ndarray:
    """The monotonic sequence nearest to y in weighted squares, by pooling of adjacent violators."""
    from scipy.optimize import isotonic_regression  # SciPy's optimisers take longer to load than most fits

    return isotonic_regression(y, weights=weights, increasing=increasing).x


def _without_ties(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Different x in rising order, the mean of y at each, and its weight."""
    order = np.argsort(x)
    values = x[order]
    first = _first_of_equal(values)
    if len(first) == len(x):
        return values, y[order], None if weights is None else weights[order]
    order = np.lexsort((y, x))  # sums do not depend on the order in which the rows were given
    place = np.zeros(len(x), dtype=np.intp)
    place[first[1:]] = 1
    place = np.cumsum(place)
    y, weights = y[order], None if weights is None else weights[order]
    weight = np.bincount(place, weights).astype(np.float64)
    mean = np.bincount(place, y if weights is None else weights * y) / weight
    return values[first], mean, weight


def _first_of_equal(x: np.ndarray) -> np.ndarray:
    """Where each group of equal numbers begins in sorted x.

    Numbers that differ by less than the resolution of their precision (absolutely, 1e-15 in float64) from the first of
    their group are equal: a line between them could be too steep for a number.
    """
    least = np.finfo(x.dtype).resolution
    begins = np.ones(len(x), dtype=bool)
    with np.errstate(invalid="ignore"):  # scores of −∞ are equal
        begins[1:] = np.diff(x) >= least
        first = np.flatnonzero(begins)
        spans = x[np.r_[first[1:], len(x)] - 1] - x[first]
    if not (spans >= least).any():  # every chain of close numbers is one group
        return first
    # The group after that of each number, and then the groups that are reached from the first.
    following = np.searchsorted(x, x + least)
    while (short := (following < len(x)) & (x[np.minimum(following, len(x) - 1)] - x < least)).any():
        following += short
    steps, at, found = following.tolist(), 0, []
    while at < len(steps):
        found.append(at)
        at = steps[at]
    return np.array(found)
