"""Starts of mean shift on a grid: fewer than there are rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.engine.documentation import documented


@documented
def get_bin_seeds(X: Any, bin_size: float, min_bin_freq: int = 1) -> Any:
    """The points of a grid that are the nearest of at least `min_bin_freq` rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    bin_size : float
        The distance of neighbouring points of the grid; with 0 all rows are starts.
    min_bin_freq : int, default=1
        The fewest rows of a point: more leave out starts in sparse regions.

    Returns
    -------
    seeds : ndarray of shape (n_seeds, n_features)
        The points to start from.

    See Also
    --------
    MeanShift : Starts from them with `bin_seeding=True`.
    estimate_bandwidth : A radius from the rows.

    Examples
    --------
    >>> get_bin_seeds(np.array([[0.1], [0.2], [2.9]]), 1.0)
    array([[0.],
           [3.]])
    """
    if bin_size == 0:
        return X
    X = np.asarray(X)
    cells, first, counts = np.unique(np.round(X / bin_size), axis=0, return_index=True, return_counts=True)
    often = counts >= min_bin_freq
    cells = cells[often][np.argsort(first[often])]
    if len(cells) == len(X):
        warnings.warn(
            f"Every row has a bin of bin_size={bin_size:g} to itself, so that all rows are seeds; a larger "
            "bin_size gives fewer.",
            stacklevel=2,
        )
        return X
    return cells * bin_size
