"""exp(−½‖x − z‖²) of every pair of two tables: one matrix product gives the exponents, a compiled loop exponentiates.

With two columns more on each side, [x, −½‖x‖², 1]·[z, 1, −½‖z‖²] is −½‖x − z‖² itself. Where x is near z, terms as
large as R = ‖x‖² + ‖z‖² cancel. With u = 2⁻⁵³, d features and rows about the mean of Z, the product is off by (d + 2)uR
at most, the squares in it by ½duR, and the rows, rounded when the mean is taken away and by their scale, by 6uR:

    |error of the exponent| ≤ 2(d + 4)uR,

which is the relative error of the result. Where that can be more than 1e-12, distances are summed from differences.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.matrices import row_squares
from learnt.linalg.exponential import exp_nonpositive

_ERROR = 1e-12  # the largest bound of the error of an exponent
_NARROW = 6  # features up to which differences are quicker
_CELLS = 1 << 16  # of a tile, which is exponentiated while it is in the cache
_COLUMNS = 1024  # that stay in the cache while the squares of one feature after the other are added


@kernel
def _exponentiate(P, lo, hi):
    """exp of the columns lo to hi in their place; exponents that rounding leaves above 0 are 0."""
    for r in range(len(P)):
        row = P[r][lo:hi]
        for t in range(len(row)):
            row[t] = exp_nonpositive(min(row[t], 0.0))


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
    left, right = _centred(X, Z, unit)
    rows, others = left[:, :d], right[:, :d]
    X_squares, Z_squares = row_squares(rows), row_squares(others)
    if not _error_bound(d, X_squares, Z_squares) <= _ERROR:
        return _by_differences(X, Z, unit)
    left[:, d], left[:, d + 1] = -0.5 * X_squares, 1.0
    right[:, d], right[:, d + 1] = 1.0, -0.5 * Z_squares
    out, step = np.empty((n, m)), max(256, _CELLS // max(n, 1))
    for lo in range(0, m, step):
        hi = min(lo + step, m)
        np.matmul(left, right[lo:hi].T, out=out[:, lo:hi])
        _exponentiate(out, lo, hi)
    if start is not None:
        own = np.arange(n)
        out[own, own + start] = 1.0
    return out


def products_are_exact(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> bool:
    """Whether square distances may be taken from products of the rows about their mean."""
    d = X.shape[1]
    left, right = _centred(X, Z, unit)
    return _error_bound(d, row_squares(left[:, :d]), row_squares(right[:, :d])) <= _ERROR


def _centred(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Rows about the mean of Z in units, with room for two columns more."""
    d = X.shape[1]
    middle, found = Z.mean(axis=0) if len(Z) else np.zeros(d), []
    for rows in (X, Z):
        wide = np.empty((len(rows), d + 2))
        np.subtract(rows, middle, out=wide[:, :d])
        wide[:, :d] *= unit
        found.append(wide)
    return found[0], found[1]


def _error_bound(d: int, left: np.ndarray, right: np.ndarray) -> float:
    """How far an exponent may be off, for rows of d features with these squared lengths."""
    return (d + 4) * float(np.finfo(np.float64).eps) * (float(left.max(initial=0.0)) + float(right.max(initial=0.0)))


def _by_differences(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float) -> np.ndarray:
    out = np.empty((len(X), len(Z)))
    scales = np.ascontiguousarray(np.broadcast_to(np.asarray(unit, dtype=np.float64), X.shape[1:]))
    _from_differences(np.ascontiguousarray(X), np.ascontiguousarray(Z.T), scales, out)
    return out
