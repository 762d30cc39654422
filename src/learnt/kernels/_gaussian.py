"""exp(−½‖x − z‖²) of every pair of two tables: one matrix product gives the exponents, a compiled loop exponentiates.

The exponent is x·z − ½‖x‖² − ½‖z‖². Where x is near z, terms as large as R = ‖x‖² + ‖z‖² cancel. With u = 2⁻⁵³ and d
features, the product has an error of at most ½duR, the squares by ½duR, the two sums by 2uR, and the rows, rounded by
their scale and when a mean is taken away, by 6uR:

    |error of the exponent| ≤ 2(d + 4)uR,

which is the relative error of the result. Where that can be more than 1e-12, rows are taken about the mean of Z; where
it still can, distances are summed from differences.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import at_most
from learnt.engine.matrices import row_squares
from learnt.linalg.exponential import exp_nonpositive

_ERROR = 1e-12  # the largest bound of the error of an exponent
_NARROW = 6  # features up to which differences are quicker
_CELLS = 1 << 16  # of a tile, which is exponentiated while it is in the cache
_COLUMNS = 1024  # that stay in the cache while the squares of one feature after the other are added


@kernel
def _exponentiate(P, lo, hi, X_squares, Z_squares):
    """exp(p − ½‖x‖² − ½‖z‖²) of the columns lo to hi in their place; exponents that rounding leaves above 0 are 0."""
    squares = Z_squares[lo:hi]
    for r in range(len(P)):
        row, own = P[r][lo:hi], X_squares[r]
        for t in range(len(row)):
            row[t] = exp_nonpositive(at_most(row[t] - 0.5 * (own + squares[t]), 0.0))


@kernel
def _from_differences(X, columns, unit, out):
    """exp(−½ Σⱼ ((xⱼ − zⱼ) unitⱼ)²) of rows X and a table of which each feature is a row."""
    for r in range(len(X)):
        for lo in range(0, out.shape[1], _COLUMNS):
            hi = min(lo + _COLUMNS, out.shape[1])
            part = out[r][lo:hi]
            part[:] = 0.0
            for j in range(len(columns)):
                x, z, u = X[r, j], columns[j][lo:hi], unit[j]
                for t in range(len(part)):
                    gap = (x - z[t]) * u
                    part[t] += gap * gap
            for t in range(len(part)):
                part[t] = exp_nonpositive(-0.5 * part[t])


def gaussian(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float, start: int | None) -> np.ndarray:
    """exp(−½‖(x − z)·unit‖²) of every pair; `start`: where X begins in Z if both are of one table.

    >>> gaussian(np.array([[0.0]]), np.array([[0.0], [2.0]]), 0.5, None).round(4)
    array([[1.    , 0.6065]])
    """
    n, m, d = len(X), len(Z), X.shape[1]
    if d <= _NARROW:
        return _by_differences(X, Z, unit)
    left, right, X_squares, Z_squares = _scaled(X, Z, unit)
    if not _error_bound(d, X_squares, Z_squares) <= _ERROR:
        return _by_differences(X, Z, unit)
    out, step = np.empty((n, m)), max(256, _CELLS // max(n, 1))
    for lo in range(0, m, step):
        hi = min(lo + step, m)
        np.matmul(left, right[lo:hi].T, out=out[:, lo:hi])
        _exponentiate(out, lo, hi, X_squares, Z_squares)
    if start is not None:
        own = np.arange(n)
        out[own, own + start] = 1.0
    return out


def products_are_exact(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> bool:
    """Whether square distances may be taken from products of the rows about their mean."""
    return _error_bound(X.shape[1], *_scaled(X, Z, unit)[2:]) <= _ERROR


def _scaled(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> tuple[np.ndarray, ...]:
    """Two tables whose product is that of the rows in units, and the squares of these rows.

    X itself is one of them where one unit serves all features and no mean must be taken away.
    """
    if np.ndim(unit) == 0 and X.dtype == np.float64:
        square = float(unit) ** 2
        squares = square * row_squares(X), square * row_squares(Z)
        if _error_bound(X.shape[1], *squares) <= _ERROR:
            return X, Z * square, *squares
    middle = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
    left, right = (X - middle) * unit, (Z - middle) * unit
    return left, right, row_squares(left), row_squares(right)


def _error_bound(d: int, left: np.ndarray, right: np.ndarray) -> float:
    """How far an exponent may be off, for rows of d features with these squared lengths."""
    return (d + 4) * float(np.finfo(np.float64).eps) * (float(left.max(initial=0.0)) + float(right.max(initial=0.0)))


def _by_differences(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> np.ndarray:
    out = np.empty((len(X), len(Z)))
    scales = np.ascontiguousarray(np.broadcast_to(np.asarray(unit, dtype=np.float64), X.shape[1:]))
    _from_differences(np.ascontiguousarray(X), np.ascontiguousarray(Z.T), scales, out)
    return out
