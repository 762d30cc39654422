"""Numbers mapped smoothly into (−3, 3), so that outliers dominate neither a linear model nor a distance."""

from __future__ import annotations

import numpy as np

_NORMAL = 1.349  # the interquartile range of a normal variable of variance 1
_TINY = float(np.finfo(np.float64).tiny)


def squash(values: np.ndarray, centre: float, spread: float) -> np.ndarray:
    """z / √(1 + (z/3)²) of z = (value − centre)/spread: nearly z in the middle, never beyond ±3.

    >>> squash(np.array([0.0, 1.0, 1e9]), 0.0, 1.0).round(2)
    array([0.  , 0.95, 3.  ])
    """
    with np.errstate(over="ignore"):
        z = np.clip((values / 2 - centre / 2) / spread * 2, -1e100, 1e100)
    return 3 * z / np.hypot(3, z)


def robust_spread(values: np.ndarray) -> float:
    """The interquartile range as a standard deviation, or the standard deviation where half of the values are equal.

    >>> [robust_spread(np.array(x)) for x in ([0.0, 1, 2, 3, 4], [0.0, 0, 0, 0, 10], [1.0, 1, 1])]
    [1.483, 4.0, 1.0]
    """
    quarter, three_quarters = np.quantile(values, [0.25, 0.75])
    width = (three_quarters / 2 - quarter / 2) / _NORMAL * 2  # halves: the difference of two huge numbers overflows
    if width > 0 and np.isfinite(width):
        return float(width)
    largest = float(np.abs(values).max())
    deviation = float(np.std(values / largest) * largest) if largest > 0 else 0.0
    return deviation if deviation > _TINY else 1.0
