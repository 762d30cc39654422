"""The nearest monotonic sequence, and whether to look for a rising or a falling one."""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

import numpy as np

from learnt.engine.finite import require_finite
from learnt.engine.params import ParameterError
from learnt.engine.targets import require_same_length
from learnt.engine.validation import check_weights
from learnt.statistics import nearest_monotonic

_WIDTH = 1.96  # standard deviations to either side: 95 % of a normal distribution


def isotonic_regression(
    y: Any,
    *,
    sample_weight: Any = None,
    y_min: float | None = None,
    y_max: float | None = None,
    increasing: bool = True,
) -> np.ndarray:
    """Return the monotonic sequence nearest to y: argmin_z Σ w (y − z)² with z₁ ≤ z₂ ≤ ….

    Parameters
    ----------
    y : array-like of shape (n,)
        The numbers, in their order.
    sample_weight : array-like of shape (n,), default=None
        Weights above 0. None counts every number once.
    y_min : float, default=None
        Lower bound at which the sequence is cut off, which is the best sequence within it. None: no bound.
    y_max : float, default=None
        Upper bound at which the sequence is cut off. None: no bound.
    increasing : bool, default=True
        Whether the sequence rises; False: the nearest falling one.

    Returns
    -------
    z : ndarray of shape (n,)
        The sequence.

    See Also
    --------
    IsotonicRegression : The same as a function of a column.
    check_increasing : Whether to look for a rising sequence.

    Notes
    -----
    Pooling of adjacent violators: O(n) time.

    References
    ----------
    .. [1] Michael J. Best and Nilotpal Chakravarti, "Active Set Algorithms for Isotonic Regression; A Unifying
       Framework", Mathematical Programming, 1990.

    Examples
    --------
    >>> from learnt.isotonic import isotonic_regression
    >>> isotonic_regression([1, 3, 2, 4])
    array([1. , 2.5, 2.5, 4. ])
    """
    name = "isotonic_regression"
    low, high = bounds_of(name, y_min, y_max)
    if type(increasing).__name__ not in ("bool", "bool_"):
        raise ParameterError(f"The 'increasing' parameter of {name} must be True or False. Got {increasing!r} instead.")
    y = _numbers(y, "y", name)
    weights = check_weights(sample_weight, y)
    if weights is not None and not (weights > 0).all():
        raise ValueError(f"sample_weight has a weight of 0, and {name} needs weights above 0; leave that number out.")
    found = nearest_monotonic(y, weights, bool(increasing)).astype(y.dtype, copy=False)
    return np.clip(found, low, high, out=found)


def bounds_of(name: str, y_min: Any, y_max: Any) -> tuple[float, float]:
    """Both bounds as numbers; infinite where there are none."""
    found = []
    for key, value, free in (("y_min", y_min, -math.inf), ("y_max", y_max, math.inf)):
        if value is not None and (not isinstance(value, Real) or isinstance(value, bool) or value != value):
            raise ParameterError(f"The {key!r} parameter of {name} must be a number or None. Got {value!r} instead.")
        found.append(free if value is None else float(value))
    low, high = found
    if low > high:
        raise ParameterError(f"y_min={y_min!r} is above y_max={y_max!r}; give {name} a y_min of at most y_max.")
    return low, high


def check_increasing(x: Any, y: Any) -> np.bool_:
    """Return whether y rises with x: the sign of Spearman's correlation ρ of their ranks.

    Parameters
    ----------
    x : array-like of shape (n,)
        Numbers.
    y : array-like of shape (n,)
        As many numbers.

    Returns
    -------
    bool
        False also where x or y is constant, and so either answer as good.

    See Also
    --------
    IsotonicRegression : Asks it where `increasing` is "auto".

    Notes
    -----
    A warning says where the 95 % interval of ρ by Fisher's transformation, tanh(atanh ρ ± 1.96/√(n − 3)), holds 0.

    References
    ----------
    .. [1] Ronald A. Fisher, "On the 'Probable Error' of a Coefficient of Correlation Deduced from a Small Sample",
       Metron, 1921.

    Examples
    --------
    >>> from learnt.isotonic import check_increasing
    >>> bool(check_increasing([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]))
    True
    """
    x, y = _numbers(x, "x", "check_increasing"), _numbers(y, "y", "check_increasing")
    require_same_length(x, y)
    n, rho = len(x), _rank_correlation(x, y)
    if abs(rho) != 1 and n > 3:
        middle, reach = math.atanh(rho), _WIDTH / math.sqrt(n - 3)
        if not abs(middle) > reach:
            warnings.warn(
                "Confidence interval of the Spearman correlation coefficient spans zero, so that y may as well rise "
                "as fall; set `increasing` to True or False.",
                stacklevel=2,
            )
    return np.bool_(rho >= 0)


def _rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's ρ; NaN where all x or all y are equal."""
    a, b = _centred_ranks(x), _centred_ranks(y)
    square = float(a @ a) * float(b @ b)
    return min(1.0, max(-1.0, float(a @ b) / math.sqrt(square))) if square else math.nan


def _centred_ranks(values: np.ndarray) -> np.ndarray:
    """Twice the ranks less their mean; equal values share their mean rank. Integers, so that sums are exact."""
    _, place, size = np.unique(values, return_inverse=True, return_counts=True)
    end = np.cumsum(size)
    return (2.0 * end - size - len(values))[place.ravel()]


def _numbers(values: Any, what: str, name: str) -> np.ndarray:
    """A vector of finite numbers, float32 where it was."""
    if hasattr(values, "dtype") and values.dtype == np.float32:
        values = np.asarray(values)
    else:
        try:
            values = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{what} holds values that are not numbers; give {name} one number a row.") from None
    if values.ndim != 1 or not values.size:
        raise ValueError(f"{what} should be a 1d array with at least 1 number for {name}; it has shape {values.shape}.")
    require_finite(values, what, name)
    return values
