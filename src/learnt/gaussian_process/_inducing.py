"""Choice of inducing points: greedily by conditional variance (pivoted Cholesky)."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.threads import single_blas

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
    left = np.array(smooth.diag(rows), dtype=np.float64)
    V = np.empty((m, len(rows)))
    chosen: list[int] = []
    least = _ENOUGH * left.max()
    with single_blas():
        for j in range(m):
            pivot = int(left.argmax())
            if left[pivot] <= least:
                break
            column = smooth.block(rows[pivot : pivot + 1], rows, None)[0]
            column -= V[:j, pivot] @ V[:j]
            column /= np.sqrt(left[pivot])
            V[j] = column
            left -= column * column
            left[pivot] = 0.0
            chosen.append(pivot)
    return rows[chosen]
