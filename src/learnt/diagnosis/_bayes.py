"""The ceiling: how small the error could be, whatever the model, estimated from nearest neighbours."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from learnt.diagnosis._intervals import Interval, bootstrap_interval, wilson_interval
from learnt.distances import Search
from learnt.engine.arrays import to_numpy
from learnt.engine.random import generator
from learnt.engine.targets import check_array_target

_SQUARE_FITS = 400  # binary digits before or after the point up to which sums of squares stay numbers
_LARGEST = 1e150  # of targets
_BRUTE_ROWS = 5000  # up to which all distances are computed


class BayesErrorBounds(NamedTuple):
    """Bounds on the Bayes error with their confidence interval: what `bayes_error_bounds` returns, a named tuple.

    Parameters
    ----------
    lower : float
        The Cover–Hart lower bound: as a rule no model has a smaller error.
    upper : float
        The upper bound, which is the error of the nearest neighbour.
    nearest_neighbor_error : float
        The leave-one-out error of the nearest neighbour.
    low : float
        Lower end of a confidence interval around the whole bracket; 0 where neighbours are too far away to say.
    high : float
        Upper end of that interval.
    n_rows : int
        How many rows were used.

    See Also
    --------
    bayes_error_bounds : Computes them.
    NoiseBounds : The same for targets that are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import bayes_error_bounds
    >>> x = np.linspace(0, 1, 500)
    >>> bounds = bayes_error_bounds(x[:, None], x > 0.5)  # no noise at all
    >>> bounds.lower < 0.01, bounds.n_rows
    (True, 500)
    """

    lower: float
    upper: float
    nearest_neighbor_error: float
    low: float
    high: float
    n_rows: int


class NoiseBounds(NamedTuple):
    """Bounds on the noise variance with their confidence interval: what `noise_bounds` returns, a named tuple.

    Parameters
    ----------
    lower : float
        The intercept of the Gamma test, at least 0.
    upper : float
        Half the mean squared difference to the nearest neighbour.
    low : float
        Lower end of a confidence interval around both; 0 where neighbours are too far away to say.
    high : float
        Upper end of that interval.
    n_rows : int
        How many rows were used.

    See Also
    --------
    noise_bounds : Computes them.
    BayesErrorBounds : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import noise_bounds
    >>> x = np.linspace(0, 1, 500)
    >>> bounds = noise_bounds(x[:, None], np.sin(6 * x))  # no noise at all
    >>> bounds.upper < 0.001, bounds.n_rows
    (True, 500)
    """

    lower: float
    upper: float
    low: float
    high: float
    n_rows: int


def cover_hart_lower(nn_error: float, n_classes: int) -> float:
    """The Bayes error p* that solves R = p*(2 − c/(c−1)·p*) for the nearest-neighbour error R of c classes.

    The error of the best possible classifier is no smaller than this, where R is the error of the nearest neighbour
    among infinitely many rows.

    Parameters
    ----------
    nn_error : float
        The error R of the nearest neighbour, between 0 and 1.
    n_classes : int
        How many classes c there are.

    Returns
    -------
    error : float
        The lower bound of the Bayes error; (c − 1)/c where R is that of guessing or more, and 0 for one class.

    See Also
    --------
    bayes_error_bounds : Measures R on rows and gives an interval.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information Theory,
       1967.

    Examples
    --------
    >>> from learnt.diagnosis import cover_hart_lower
    >>> cover_hart_lower(0.375, 2)
    0.25
    >>> round(cover_hart_lower(0.5, 2), 3), cover_hart_lower(0.0, 3)
    (0.5, 0.0)
    """
    if n_classes < 2:
        return 0.0
    ratio = (n_classes - 1) / n_classes
    return ratio * (1 - math.sqrt(max(0.0, 1 - nn_error / ratio)))


def without_distance(gamma: float, spread: float, closeness: float) -> float:
    """The part of a difference between neighbours that is left when their distance has explained all it could.

    γ = noise + κ·(spread − noise), where κ is the share of what the columns explain that the distance to the neighbour
    lets through: 1 for a row drawn at random, and, for a function whose differences grow at least in proportion to the
    distance, at most √(δ₁/δ), with δ₁ the mean squared distance to the neighbour and δ to any other row. We take twice
    that for steps and waves. In many dimensions neighbours are hardly nearer than other rows, κ reaches 1, and nothing
    is left: then there is no lower bound.

    >>> without_distance(0.3, 1.0, 0.0), without_distance(0.3, 1.0, 0.5)
    (0.3, 0.0)
    """
    share = 2 * math.sqrt(max(closeness, 0.0))
    return max((gamma - share * spread) / (1 - share), 0.0) if share < 1 else 0.0


def _closeness(X: np.ndarray, distance: np.ndarray) -> float:
    """Mean squared distance to the nearest neighbour as a share of that between any two rows."""
    apart = 2 * float(np.sort(X, axis=0).var(axis=0).sum())  # sorted: the same sum for any order of the rows
    return float(np.mean(np.sort(distance[:, 0]) ** 2)) / apart if apart > 0 else 0.0


def dependence(values: np.ndarray, neighbor: np.ndarray) -> float:
    """By how much the variance of the mean of `values` exceeds that of independent ones.

    A value belongs to a row and its nearest neighbour, so two that have a row in common depend on each other, and two
    rows that are each other's neighbours have one value between them. The variance of the sum is that of all pairs of
    values with a row in common, estimated by the products of their deviations.

    >>> dependence(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1, 0, 3, 2]))      # two values, each counted twice
    2.0
    """
    off = len(values) * values - values.sum()  # n times the deviation: of zeros and ones an integer, in any order
    single = float(off @ off)
    if single <= 0:
        return 1.0
    at_row = off + np.bincount(neighbor, weights=off, minlength=len(off))  # all values that a row has a part in
    mutual = neighbor[neighbor] == np.arange(len(off))  # counted at both rows
    pairs = float(at_row @ at_row) - single - float(np.sum(off[mutual] * off[neighbor[mutual]]))
    return max(pairs / single, 1.0)


def _widened(found: Interval, alike: float) -> Interval:
    """The interval of a mean of values that depend on each other, from that of independent ones."""
    wide = math.sqrt(alike)
    return Interval(
        found.estimate,
        found.estimate - wide * (found.estimate - found.low),
        found.estimate + wide * (found.high - found.estimate),
    )


def bayes_error_bounds(
    X: Any, y: Any, *, max_rows: int = 5000, level: float = 0.95, random_state: Any = 0
) -> BayesErrorBounds:
    """Bracket the Bayes error p* by the leave-one-out error R of the nearest neighbour (Cover and Hart, 1967).

        p* ≤ R∞ ≤ p*(2 − c/(c−1)·p*)   ⟹   (c−1)/c·(1 − √(1 − c/(c−1)·R)) ≤ p* ≤ R

    How small the error of any classifier could be on these columns: the ceiling of its accuracy. A model near it gains
    from new columns only, not from tuning. Scale columns first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers without gaps, on comparable scales.
    y : array-like of shape (n_samples,)
        Class labels.
    max_rows : int, default=5000
        At most so many rows are used, drawn at random: more narrow the interval and take longer.
    level : float, default=0.95
        Confidence of `low` and `high`.
    random_state : int, RandomState, Generator or None, default=0
        Where the draw of rows comes from.

    Returns
    -------
    bounds : BayesErrorBounds
        With `lower`, `upper` and `nearest_neighbor_error`; `low` and `high`, the ends of a confidence interval around
        the whole bracket; and `n_rows`, how many rows were used.

    See Also
    --------
    noise_bounds : The same for targets that are numbers.
    dimensionality : Whether neighbours are near enough for this.
    diagnose : What a model's error is made of, and what to do about it.
    cover_hart_lower : The formula of the lower bound.

    Notes
    -----
    The inequality holds for infinitely many rows. With few rows in many dimensions the neighbour is far away, R is too
    large, and so is `lower`; `low` therefore takes away what the distance may have added, and is 0 where nothing is
    left. A model whose error is below `lower` proves R too large. The interval is Wilson's, widened because rows share
    their neighbours.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information Theory,
       1967.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import bayes_error_bounds
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=4000)
    >>> y = rng.uniform(size=4000) < x  # p(y=1|x) = x: Bayes error 1/4
    >>> bounds = bayes_error_bounds(x[:, None], y)
    >>> bool(bounds.low < 0.25 < bounds.high), bool(0.3 < bounds.nearest_neighbor_error < 0.37)
    (True, True)
    """
    _check_choices(max_rows, level)
    X, y = _drawn(X, y, max_rows, random_state)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return BayesErrorBounds(0.0, 0.0, 0.0, 0.0, 0.0, len(y))
    distance, index = _neighbors(X, 1)
    wrong = (codes[index[:, 0]] != codes).astype(np.float64)
    error, alike = float(wrong.mean()), dependence(wrong, index[:, 0])
    rate = wilson_interval(error * len(y) / alike, len(y) / alike, level)
    c = len(classes)
    any_other = 1 - float(np.sum((np.bincount(codes) / len(codes)) ** 2))  # the error of a row drawn at random
    near = without_distance(rate.low, any_other, _closeness(X, distance))
    return BayesErrorBounds(
        cover_hart_lower(error, c),
        error,
        error,
        cover_hart_lower(min(near, rate.low), c),
        rate.high,
        len(y),
    )


def noise_bounds(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_neighbors: int = 10,
    max_rows: int = 5000,
    level: float = 0.95,
    random_state: Any = 0,
) -> NoiseBounds:
    """Bracket the noise variance σ² of y = f(x) + noise by differences between neighbours.

    How small the squared error of any model could be on these columns. For the k-th neighbour, γ(k) = ½ mean (yᵢ −
    yₙₙ)² = σ² + ½ mean (f(xᵢ) − f(xₙₙ))², so γ(1) is an upper bound in the mean; the intercept of γ(k) against the mean
    squared distance δ(k), the Gamma test, takes the second term away where f is smooth, and serves as the lower one,
    never below zero.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers without gaps, on comparable scales.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets; the variances of several outputs are added up.
    groups : array-like of shape (n_samples,), default=None
        Neighbours are looked for within a group. The errors y − ŷ(x) of models on rows that they had not seen, grouped
        by the model, have the noise of y, and less of f for their distance to let through.
    n_neighbors : int, default=10
        How many neighbours the Gamma regression takes; fewer than 3 give no regression, and `lower` is then `upper`.
    max_rows : int, default=5000
        At most so many rows are used, drawn at random: more narrow the interval and take longer.
    level : float, default=0.95
        Confidence of `low` and `high`.
    random_state : int, RandomState, Generator or None, default=0
        Where the draw of rows and the bootstrap come from.

    Returns
    -------
    bounds : NoiseBounds
        With `lower` and `upper`; `low` and `high`, the ends of a confidence interval around both; and `n_rows`, how
        many rows were used.

    See Also
    --------
    bayes_error_bounds : The same for classes.
    dimensionality : Whether neighbours are near enough for this.
    diagnose : What a model's error is made of, and what to do about it.

    Notes
    -----
    Both are good estimates in few dimensions only; `low` allows for neighbours that are far away, and is 0 where
    nothing is left. Where a group has a single row, nothing can be said: the bounds are 0 and infinity.

    References
    ----------
    .. [1] A. Stefánsson, N. Končar and A. J. Jones, "A note on the Gamma test", Neural Computing & Applications, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.diagnosis import noise_bounds
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(3000, 2))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=3000)
    >>> bounds = noise_bounds(X, y)
    >>> bool(bounds.low < 0.09 < bounds.high), bool(abs(bounds.upper - 0.09) < 0.015)
    (True, True)
    """
    _check_choices(max_rows, level)
    X, y = _checked(X, y)
    y = check_array_target(y, "numbers", X, "noise_bounds")
    if np.abs(y).max() > _LARGEST:
        raise ValueError(
            f"y has values up to {np.abs(y).max():.3g}, whose squares are infinite; give it in other units."
        )
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and len(groups) != len(y):
        raise ValueError(f"groups has {len(groups)} entries and X has {len(y)} rows; give one label for each row.")
    rows = drawn_rows(len(y), max_rows, random_state)
    X, y = X[rows], y[rows].astype(np.float64)
    y = y[:, None] if y.ndim == 1 else y
    labels = np.zeros(len(y)) if groups is None else groups[rows]
    parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    k = min(n_neighbors, min(map(len, parts)) - 1)
    if k < 1:
        return NoiseBounds(0.0, float("inf"), 0.0, float("inf"), len(y))
    found = [_neighbors(X[part], k) for part in parts]
    halves = np.concatenate([_half_squares(y[part], index) for part, (_, index) in zip(parts, found, strict=True)])
    distance = np.concatenate([d for d, _ in found])
    delta = (distance**2).mean(axis=0)
    starts = np.cumsum([0, *map(len, parts)])
    first = np.concatenate([at + index[:, 0] for at, (_, index) in zip(starts, found, strict=False)])
    alike = dependence(halves[:, 0], first)
    gamma = _widened(bootstrap_interval(halves[:, 0], level=level, random_state=random_state), alike)
    near = without_distance(gamma.low, float(y.var(axis=0).sum()), _closeness(X, distance))
    if k < 3 or np.ptp(delta) <= 1e-12 * max(delta.max(), 1e-300):
        return NoiseBounds(gamma.estimate, gamma.estimate, min(max(gamma.low, 0.0), near), gamma.high, len(y))
    # The intercept of the least-squares line is a fixed linear form of the γ(k): Σ w_k γ(k).
    centered = delta - delta.mean()
    weights = 1 / k - delta.mean() * centered / np.sum(centered**2)
    intercept = _widened(bootstrap_interval(halves @ weights, level=level, random_state=random_state), alike)
    lower = min(max(intercept.estimate, 0.0), gamma.estimate)
    low = min(max(intercept.low, 0.0), lower, near)
    return NoiseBounds(lower, gamma.estimate, low, gamma.high, len(y))


def _half_squares(y: np.ndarray, index: np.ndarray) -> np.ndarray:
    """½ (yᵢ − yₙₙ)², added up over the targets, for each neighbour of each row."""
    return np.sum([0.5 * (column[index] - column[:, None]) ** 2 for column in y.T], axis=0)


def _neighbors(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances and indices of the k nearest of every row, among the others."""
    X = np.ascontiguousarray(X)
    # A tree would save a fraction of a second, and compiling it takes several on a machine's first use.
    algorithm = "brute" if len(X) <= _BRUTE_ROWS else "auto"
    return Search.build(X, algorithm=algorithm).nearest(None, k)


def _drawn(X, y, max_rows: int, random_state) -> tuple[np.ndarray, np.ndarray]:
    X, y = _checked(X, y)
    y = check_array_target(y, "label", X, "bayes_error_bounds")
    rows = drawn_rows(len(X), max_rows, random_state)
    return X[rows], y[rows]


def drawn_rows(n: int, max_rows: int, random_state) -> np.ndarray:
    return np.sort(generator(random_state).permutation(n)[:max_rows]) if n > max_rows else np.arange(n)


def _checked(X, y) -> tuple[np.ndarray, np.ndarray]:
    X, y = as_numbers(X), np.asarray(to_numpy(y))
    if y.ndim == 0:  # None, or one value
        raise ValueError(f"y is {y.item()!r}; give one target for each row of X.")
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y has {len(y)}; they must describe the same rows.")
    if not np.all(np.isfinite(X)):
        row = int(np.argwhere(~np.isfinite(X))[0][0])
        raise ValueError(f"X has a missing or infinite cell in row {row}; encode it first, e.g. with TableEncoder.")
    if len(X) < 2:
        raise ValueError(f"X has {len(X)} rows; two are needed for one to be the neighbour of the other.")
    return _in_units_that_square(X), y


def as_numbers(X) -> np.ndarray:
    """A table of float64; a vector is one column."""
    array = np.asarray(to_numpy(X))
    try:
        if array.dtype.kind == "c":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("X holds cells that are not real numbers; encode it first, e.g. with TableEncoder.") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"X has the shape {array.shape}; give a table with one column at least.")
    return array


def _in_units_that_square(X: np.ndarray) -> np.ndarray:
    """X times a power of two where squares of its numbers would be infinite or 0; neighbours stay neighbours."""
    power = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    return np.ldexp(X, -power) if abs(power) > _SQUARE_FITS else X


def _check_choices(max_rows: int, level: float) -> None:
    if not isinstance(max_rows, Integral) or max_rows < 2:
        raise ValueError(f"max_rows must be a whole number of at least 2; got {max_rows!r}.")
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level must be a number between 0 and 1, such as 0.95; got {level!r}.")
