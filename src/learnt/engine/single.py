"""Single precision, in which trees compare: validation refuses what it cannot hold."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

_LARGEST = float(np.finfo(np.float32).max)


def require_float32(X: Any, name: str) -> None:
    """Raise one sentence that says where X is infinite or beyond single precision; NaN is not looked at.

    >>> require_float32(np.array([[1.0], [1e39]]), "Tree")
    Traceback (most recent call last):
    ...
    ValueError: Input X contains ... 1e+39 at row 1, column 0, and Tree compares in float32; clip it or rescale ...
    """
    cells = X.data if sparse.issparse(X) else X
    with np.errstate(invalid="ignore"):
        low = float(np.fmin.reduce(cells, axis=None, initial=np.inf))
        high = float(np.fmax.reduce(cells, axis=None, initial=-np.inf))
    if low > high or (isfinite(low) and isfinite(high) and max(-low, high) <= _LARGEST):
        return
    rows, columns = X.nonzero() if sparse.issparse(X) else np.nonzero(np.abs(X) > _LARGEST)
    places = zip(rows.tolist(), columns.tolist())
    row, column = next((i, j) for i, j in places if abs(X[i, j]) > _LARGEST)
    raise ValueError(
        f"Input X contains infinity or a value too large for dtype('float32'): {X[row, column]:g} at row {row}, column "
        f"{column}, and {name} compares in float32; clip it or rescale the column."
    )


def refuse_sparse_missing(X: Any, name: str) -> None:
    """Raise one sentence where a sparse X has NaN, for estimators that take missing values in dense tables only."""
    if sparse.issparse(X) and np.isnan(X.data).any():
        raise ValueError(
            f"Input X contains NaN and is sparse, and {name} takes missing values in dense tables only; "
            "use X.toarray()."
        )
