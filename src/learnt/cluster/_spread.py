"""Where the rows lie and how far apart: what k-means asks of its data before it starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.rows import Rows, as_rows
from learnt.statistics import moments


class Spread(NamedTuple):
    """The weighted mean (zeros for sparse rows, which are not centred), and the mean variance of the features."""

    mean: np.ndarray
    variance: float


def spread_of(rows: Rows) -> Spread:
    """One pass over the rows.

    >>> spread_of(as_rows(np.array([[0.0, 1.0], [2.0, 1.0]])))
    Spread(mean=array([1., 1.]), variance=0.5)
    """
    found = moments(rows, shared_scale=True).to_numpy()
    variance = float(found.covariance().mean())
    if sparse.issparse(getattr(rows, "X", None)):
        return Spread(np.zeros_like(found.mean), variance)
    return Spread(found.mean, variance)


def row_size(X: Any, w: Any, spread: Spread) -> float:
    """The root mean square of a row about the mean, every row counted once whatever its weight."""
    if w is None:
        return float(np.sqrt(spread.variance * X.shape[1]))
    plain = moments(as_rows(X), shared_scale=True)
    return float(np.sqrt((plain.covariance() + (plain.mean - spread.mean) ** 2).sum()))
