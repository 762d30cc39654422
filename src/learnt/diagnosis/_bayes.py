"""The ceiling: how small the error could be, whatever the model, estimated from nearest neighbours."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnt.diagnosis._intervals import bootstrap_interval, wilson_interval
from learnt.distances import Search, chosen_algorithm
from learnt.engine.arrays import to_numpy
from learnt.engine.random import generator


class BayesErrorBounds(NamedTuple):
    """Bounds on the Bayes error with their confidence interval; see `bayes_error_bounds`."""

    lower: float
    upper: float
    nearest_neighbor_error: float
    low: float
    high: float
    n_rows: int


class NoiseBounds(NamedTuple):
    """Bounds on the noise variance with their confidence interval; see `noise_bounds`."""

    lower: float
    upper: float
    low: float
    high: float
    n_rows: int


def cover_hart_lower(nn_error: float, n_classes: int) -> float:
    """The Bayes error p* that solves R = p*(2 − c/(c−1)·p*) for the nearest-neighbour error R of c classes.

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


def bayes_error_bounds(X, y, *, max_rows: int = 5000, level: float = 0.95, random_state=0) -> BayesErrorBounds:
    """Bracket the Bayes error p* by the leave-one-out error R of the nearest neighbour (Cover and Hart, 1967).

        p* ≤ R∞ ≤ p*(2 − c/(c−1)·p*)   ⟹   (c−1)/c·(1 − √(1 − c/(c−1)·R)) ≤ p* ≤ R

    The inequality holds for infinitely many rows. With few rows in many dimensions the neighbour is far away, R is
    too large, and so is ``lower``; ``low`` therefore takes away what the distance may have added (`without_distance`),
    and is 0 where nothing is left. A model whose error is below ``lower`` proves R too large. Scale columns first.

    Parameters
    ----------
    X : array (n, p) of numbers without gaps, on comparable scales.
    y : n labels.
    max_rows : at most so many rows are used, drawn at random.
    level : confidence of ``low`` and ``high``.
    random_state : seed of the draw.

    Returns
    -------
    BayesErrorBounds
        ``lower``, ``upper``, ``nearest_neighbor_error``; ``low`` and ``high`` are the ends of a confidence interval
        around the whole bracket; ``n_rows`` used.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=4000); y = rng.uniform(size=4000) < x      # p(y=1|x) = x: Bayes error 1/4
    >>> bounds = bayes_error_bounds(x[:, None], y)
    >>> bool(bounds.low < 0.25 < bounds.high), bool(0.3 < bounds.nearest_neighbor_error < 0.37)
    (True, True)
    """
    X, y = _drawn(X, y, max_rows, random_state)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return BayesErrorBounds(0.0, 0.0, 0.0, 0.0, 0.0, len(y))
    distance, index = _neighbors(X, 1)
    wrong = float(np.sum(codes[index[:, 0]] != codes))
    rate = wilson_interval(wrong, len(y), level)
    c = len(classes)
    any_other = 1 - float(np.sum((np.bincount(codes) / len(codes)) ** 2))  # the error of a row drawn at random
    near = without_distance(rate.low, any_other, _closeness(X, distance))
    return BayesErrorBounds(
        cover_hart_lower(rate.estimate, c),
        rate.estimate,
        rate.estimate,
        cover_hart_lower(min(near, rate.low), c),
        rate.high,
        len(y),
    )


def noise_bounds(
    X, y, *, n_neighbors: int = 10, max_rows: int = 5000, level: float = 0.95, random_state=0
) -> NoiseBounds:
    """Bracket the noise variance σ² of y = f(x) + noise by differences between neighbours.

    For the k-th neighbour, γ(k) = ½ mean (yᵢ − yₙₙ)² = σ² + ½ mean (f(xᵢ) − f(xₙₙ))², so γ(1) is an upper bound in
    the mean; the intercept of γ(k) against the mean squared distance δ(k) (the Gamma test of Stefánsson, Končar and
    Jones, 1997) takes the second term away where f is smooth, and serves as the lower one, never below zero. Both are
    good estimates in few dimensions only; ``low`` allows for neighbours that are far away (`without_distance`).

    Parameters
    ----------
    X, y : array (n, p) of numbers on comparable scales, and n targets, or (n, t) of them whose variances are added up.
    n_neighbors : neighbours in the Gamma regression.
    max_rows, level, random_state : as in `bayes_error_bounds`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(3000, 2)); y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=3000)
    >>> bounds = noise_bounds(X, y)
    >>> bool(bounds.low < 0.09 < bounds.high), bool(abs(bounds.upper - 0.09) < 0.015)
    (True, True)
    """
    X, y = _drawn(X, y, max_rows, random_state)
    y = y.astype(np.float64)
    k = min(n_neighbors, len(y) - 1)
    if k < 1:
        return NoiseBounds(0.0, float("inf"), 0.0, float("inf"), len(y))
    distance, index = _neighbors(X, k)
    y = y[:, None] if y.ndim == 1 else y
    halves = sum(0.5 * (column[index] - column[:, None]) ** 2 for column in y.T)
    delta = (distance**2).mean(axis=0)
    gamma = bootstrap_interval(halves[:, 0], level=level, random_state=random_state)
    near = without_distance(gamma.low, float(y.var(axis=0).sum()), _closeness(X, distance))
    if k < 3 or np.ptp(delta) <= 1e-12 * max(delta.max(), 1e-300):
        return NoiseBounds(gamma.estimate, gamma.estimate, min(max(gamma.low, 0.0), near), gamma.high, len(y))
    # The intercept of the least-squares line is a fixed linear form of the γ(k): Σ w_k γ(k).
    centered = delta - delta.mean()
    weights = 1 / k - delta.mean() * centered / np.sum(centered**2)
    intercept = bootstrap_interval(halves @ weights, level=level, random_state=random_state)
    lower = min(max(intercept.estimate, 0.0), gamma.estimate)
    low = min(max(intercept.low, 0.0), lower, near)
    return NoiseBounds(lower, gamma.estimate, low, gamma.high, len(y))


def _neighbors(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances and indices of the k nearest of every row, among the others."""
    X = np.ascontiguousarray(X)
    return Search.build(X, algorithm=chosen_algorithm(X, "euclidean", {}, "auto", k)).nearest(None, k)


def _drawn(X, y, max_rows: int, random_state) -> tuple[np.ndarray, np.ndarray]:
    X, y = np.asarray(to_numpy(X), dtype=np.float64), np.asarray(to_numpy(y))
    X = X[:, None] if X.ndim == 1 else X
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y has {len(y)}; they must describe the same rows.")
    if not np.all(np.isfinite(X)):
        row = int(np.argwhere(~np.isfinite(X))[0][0])
        raise ValueError(f"X has a missing or infinite cell in row {row}; encode it first, e.g. with TableEncoder.")
    if len(X) < 2:
        raise ValueError(f"X has {len(X)} rows; two are needed for one to be the neighbour of the other.")
    if len(X) > max_rows:
        rows = np.sort(generator(random_state).permutation(len(X))[:max_rows])
        X, y = X[rows], y[rows]
    return X, y
