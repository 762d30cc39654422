"""Starts of mean shift on a grid: fewer than there are rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def get_bin_seeds(X: Any, bin_size: float, min_bin_freq: int = 1) -> Any:
    """The points of a grid that are the nearest of at least `min_bin_freq` rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    bin_size : float
        The distance of neighbouring points of the grid; with 0 all rows are starts.
    min_bin_freq : int, default=1

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
