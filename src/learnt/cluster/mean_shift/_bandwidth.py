"""The radius of mean shift from the distances of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import Search
from learnt.engine.documentation import documented
from learnt.engine.mixins import BaseEstimator
from learnt.engine.params import check_number
from learnt.engine.random import random_state_of
from learnt.engine.validation import check_fit


class _Bandwidth(BaseEstimator):
    """Carries parameters and columns to the checks, and the function's name to their messages."""

    def __init__(self, quantile: float, n_samples: int | None) -> None:
        self.quantile, self.n_samples = quantile, n_samples


_Bandwidth.__name__ = "estimate_bandwidth"


@documented
def estimate_bandwidth(
    X: Any, *, quantile: float = 0.3, n_samples: int | None = None, random_state: Any = 0, n_jobs: int | None = None
) -> float:
    """The mean distance of a row to its k-th nearest, itself counted, where k is a share of the rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    quantile : float, default=0.3
        The share of rows, from 0 to 1. Smaller values give a smaller radius, and more clusters.
    n_samples : int or None, default=None
        Estimate from as many rows drawn at random: the time grows with their square. None for all.
    random_state : int, RandomState, Generator or None, default=0
        Which rows are drawn.

    Returns
    -------
    bandwidth : float
        A radius for `MeanShift`.

    See Also
    --------
    MeanShift : Takes the radius.
    get_bin_seeds : Starts on a grid of this width.

    Examples
    --------
    >>> float(estimate_bandwidth([[0.0], [1.0], [3.0]], quantile=0.7))  # the nearest other: 1, 1 and 2 away
    1.3333333333333333
    """
    checks = _Bandwidth(quantile, n_samples)
    check_number(checks, "quantile", 0, 1)
    check_number(checks, "n_samples", 1, integer=True, also=(None,))
    points = check_fit(checks, X, order="C").X.astype(np.float64, copy=False)
    if n_samples is not None:
        points = points[random_state_of(random_state).permutation(len(points))[:n_samples]]
    k = max(1, int(len(points) * quantile))
    farthest = np.empty(len(points))

    def keep(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
        farthest[lo:hi] = distances[:, -1]

    Search.build(points, algorithm="auto", n_jobs=n_jobs).nearest_blocks(points, k, keep, n_jobs=n_jobs)
    return farthest.mean()
