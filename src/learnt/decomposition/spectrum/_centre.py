"""Number of rows, mean and scatter, without a centred copy of the data.

Sums are taken about the mean of the first rows, or about 0 where their mean is small relative to their spread, which
saves a subtraction; `statistics.moments` checks afterwards whether that was accurate enough.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.matrices import diagonals
from learnt.engine.rows import Rows
from learnt.statistics import Moments, moments

# Products of float32 blocks are taken in float64 up to about this many operations, where they cost nothing, and in
# float32 beyond; blocks are added in float64 either way.
WIDE_WORK = 1 << 27
_NEAR = 25.0  # ‖mean‖² against the total variance: small enough not to subtract


class NotFiniteError(ValueError):
    """A sum came out as NaN or infinite: so is a cell, or its square."""


class Centre(NamedTuple):
    """Number of rows, mean of each column, and the total variance (divisor n − 1)."""

    n: int
    mean: Any
    total: float


def centre(rows: Rows) -> Centre:
    """One pass: n, the mean and the total variance."""
    found = moments(rows, about=starting_point(rows), shared_scale=True)
    return _centre(found, namespace(found.mean).sum(found.scatter))


def scatter(rows: Rows) -> tuple[Centre, Any]:
    """One pass: the centre, and S = Σ (x − mean)(x − mean)ᵀ (d × d)."""
    found = moments(rows, scatter="full", about=_working(rows, starting_point(rows)), shared_scale=True)
    S = found.scatter
    return _centre(found, namespace(S).sum(diagonals(S))), S


def _centre(found: Moments, squares: Any) -> Centre:
    n, squares = int(found.weight), float(squares)
    if not math.isfinite(squares):
        raise NotFiniteError
    return Centre(n, found.mean, max(squares, 0.0) / max(n - 1, 1))


def starting_point(rows: Rows) -> Any:
    """The point to take sums about: the mean of the first rows, or None for 0."""
    head = rows.head(256).X
    if sparse.issparse(head):
        return None
    with np.errstate(all="ignore"):
        mean = rows.first_mean()
        xp = namespace(mean)
        spread = float(xp.sum((head - mean) ** 2)) / max(head.shape[0], 1)
        near = float(xp.sum(mean * mean)) <= _NEAR * spread
    # In float32 the sums themselves are kept small.
    return None if near and str(rows.dtype).endswith("float64") else mean


def _working(rows: Rows, point: Any) -> Any:
    """`point` in the precision that blocks are multiplied in."""
    large = rows.n_rows * rows.n_features**2 > WIDE_WORK
    return single(point, rows) if large else point


def single(A: Any, rows: Rows) -> Any:
    """`A` in float32 where NumPy rows are: products with it then run in float32, and are added in float64."""
    return A.astype(np.float32) if A is not None and is_numpy(A) and str(rows.dtype) == "float32" else A
