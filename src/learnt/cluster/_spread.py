"""Location and scale of the rows: what k-means needs of its data before it starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.matrices import Route
from learnt.engine.rows import Block, Rows, as_rows
from learnt.statistics import Groups, moments

_SOME_ROWS = 4096


class Spread(NamedTuple):
    """Location and scale of the rows."""

    mean: np.ndarray  # weighted; zeros for sparse rows, which are not centred
    variance: float  # weighted, the mean over the features
    size: float  # root mean square of a row about the mean; in memory every row is counted once, whatever its weight


def spread_of(rows: Rows) -> Spread:
    """One pass over the rows.

    >>> spread_of(as_rows(np.array([[0.0, 1.0], [2.0, 1.0]])))
    Spread(mean=array([1., 1.]), variance=0.5, size=1.0)
    """
    if rows.w is not None and rows.route is Route.DENSE:
        both = moments(as_rows(rows.X, rows.w), Groups(2, _weighted_and_plain), shared_scale=True)
        variance, plain = both.covariance()
        mean = both.mean[0]
        size = np.sqrt((plain + (both.mean[1] - mean) ** 2).sum())
        return Spread(mean, float(variance.mean()), float(size))
    found = moments(rows, shared_scale=True).to_numpy()
    variance = found.covariance()
    centred = rows.route is not Route.SPARSE
    mean = found.mean if centred else np.zeros_like(found.mean)
    return Spread(mean, float(variance.mean()), float(np.sqrt(variance.sum())))


def rough_spread(rows: Rows) -> Spread:
    """The same from some rows, where there are many in memory: a point among them and their scale, without a pass.

    For callers that do not need the variance itself. Sparse rows are neither centred nor scaled, so nothing is computed
    for them.
    """
    if rows.route is Route.SPARSE:
        return Spread(np.zeros(rows.n_features), 0.0, 1.0)
    if rows.route is not Route.DENSE or rows.n_rows < 4 * _SOME_ROWS:
        return spread_of(rows)
    step = rows.n_rows // _SOME_ROWS
    return spread_of(as_rows(rows.X[::step], None, None if rows.w is None else rows.w[::step]))


def _weighted_and_plain(block: Block) -> np.ndarray:
    """Two shares of each row: its weight, which is its y here, and 1."""
    return np.column_stack([block.y, np.ones(len(block.y))])
