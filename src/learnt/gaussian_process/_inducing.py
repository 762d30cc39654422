"""Choice of inducing points: greedily by conditional variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.gaussian_process._pivoted import PivotedFactor

_ENOUGH = 1e-10  # as a share of the largest variance: rows with less conditional variance are not worth a point
_SOME, _A_POINT = 4000, 4  # rows to choose among: at least, and for each point


def inducing_rows(smooth: Any, X: np.ndarray, m: int, random: Any) -> np.ndarray:
    """At most m different rows of X, each the one of largest variance given those before it.

    Of many rows, some are drawn first: 4,000, or four for each point.

    >>> from learnt.kernels import RBF
    >>> inducing_rows(RBF(1.0), np.array([[0.0], [0.1], [5.0]]), 2, np.random.RandomState(0)).tolist()
    [[0.0], [5.0]]
    """
    if m >= len(X):
        return np.unique(X, axis=0)
    some = max(_SOME, _A_POINT * m)
    rows = X if len(X) <= some else X[np.sort(random.choice(len(X), some, replace=False))]
    return rows[PivotedFactor(smooth, rows, m).grow(m, _ENOUGH).pivots]
