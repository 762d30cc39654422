"""In which order columns are filled, from which others, and within which limits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.params import ParameterError

ORDERS = ("ascending", "descending", "roman", "arabic", "random")
_LEAST = 1e-6  # a correlation that every two columns are taken to have, so that each may be drawn


class ImputerTriplet(NamedTuple):
    """One step: the column that was filled, the columns it was predicted from, and the fitted estimator."""

    feat_idx: int
    neighbor_feat_idx: np.ndarray
    estimator: Any


def column_order(missing: np.ndarray, order: str, skip_complete: bool, random: np.random.RandomState) -> np.ndarray:
    """The columns in the order in which they are filled.

    >>> cells = np.array([[True, False, True], [True, False, False]])
    >>> column_order(cells, "ascending", True, None).tolist(), column_order(cells, "arabic", False, None).tolist()
    ([2, 0], [2, 1, 0])
    """
    share = missing.mean(axis=0)
    columns = np.flatnonzero(share) if skip_complete else np.arange(len(share))
    if order in ("ascending", "descending"):
        columns = np.argsort(share, kind="stable")[len(share) - len(columns) :]
    if order == "random":
        random.shuffle(columns)
    return columns[::-1] if order in ("arabic", "descending") else columns


def chances_of_neighbours(X: np.ndarray) -> np.ndarray:
    """Column j: the chances of the columns to help predict column j, in proportion to their absolute correlations."""
    with np.errstate(invalid="ignore", divide="ignore"):
        chances = np.abs(np.corrcoef(X.T))
    chances[np.isnan(chances)] = _LEAST  # of a constant column
    np.clip(chances, _LEAST, None, out=chances)
    np.fill_diagonal(chances, 0.0)
    return chances / chances.sum(axis=0)


def neighbours(column: int, d: int, some: int | None, chances: Any, random: np.random.RandomState) -> np.ndarray:
    """The columns that a column is predicted from: all others, or `some` drawn by their chances."""
    if chances is not None:
        return random.choice(np.arange(d), some, replace=False, p=chances[:, column])
    return np.r_[0:column, column + 1 : d]


def limits(low: Any, high: Any, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits of the kept columns; each is given as a number, one for each column, or None.

    >>> limits(0, [1.0, 2.0, 3.0], np.array([True, False, True]))
    (array([0., 0.]), array([1., 3.]))
    """
    both = []
    for name, given, free in (("min_value", low, -np.inf), ("max_value", high, np.inf)):
        limit = np.asarray(free if given is None else given, dtype=np.float64)
        if limit.ndim and limit.shape != kept.shape:
            raise ValueError(
                f"'{name}' should be of shape ({len(kept)},) when an array-like is provided. Got {limit.shape}, "
                "instead; give one number for each column."
            )
        both.append(np.broadcast_to(limit, kept.shape)[kept])
    if not (both[1] > both[0]).all():
        raise ParameterError(
            "One (or more) features have min_value >= max_value; every column needs room between its two limits."
        )
    return both[0], both[1]


def truncated_draws(
    mean: np.ndarray, deviation: np.ndarray, low: float, high: float, random: np.random.RandomState
) -> np.ndarray:
    """Draws from normal distributions cut off at low and high; where one cannot be drawn from, its nearest value."""
    from scipy.stats import truncnorm  # seconds to import, and seldom needed

    drawn = np.clip(mean, low, high)
    good = (deviation > 0) & (mean >= low) & (mean <= high) & np.isfinite(mean) & np.isfinite(deviation)
    if good.any():
        m, s = mean[good], deviation[good]
        drawn[good] = truncnorm(a=(low - m) / s, b=(high - m) / s, loc=m, scale=s).rvs(random_state=random)
    return drawn
