"""exp(−½‖x − z‖²) of every pair of two tables: one matrix product gives the exponents, a compiled loop exponentiates.

The exponent is x·z − ½‖x‖² − ½‖z‖². Where x is near z, terms as large as R = ‖x‖² + ‖z‖² cancel. With u = 2⁻⁵³ and d
features, the product has an error of at most ½duR, the squares by ½duR, the two sums by 2uR, and the rows, rounded by
their scale and when a mean is taken away, by 6uR:

    |error of the exponent| ≤ 2(d + 4)uR,

which is the relative error of the result. Where that can be more than 1e-12, rows are taken about the mean of Z; where
it still can, distances are summed from differences. Sparse rows, of which d cells are stored, have no mean taken away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import at_most
from learnt.engine.matrices import Route, product, route, row_squares
from learnt.linalg.exponential import exp_nonpositive

ERROR = 1e-12  # the largest bound of the error of an exponent, unless the caller allows more
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


@kernel
def _from_stored_differences(X_data, X_indices, X_indptr, Z_data, Z_indices, Z_indptr, unit, out):
    """The same of rows of which few cells are stored, in order of their columns; one unit for all features."""
    for r in range(out.shape[0]):
        for t in range(out.shape[1]):
            a, b, total = X_indptr[r], Z_indptr[t], 0.0
            while a < X_indptr[r + 1] or b < Z_indptr[t + 1]:
                ahead = b == Z_indptr[t + 1] or (a < X_indptr[r + 1] and X_indices[a] < Z_indices[b])
                behind = a == X_indptr[r + 1] or (b < Z_indptr[t + 1] and Z_indices[b] < X_indices[a])
                gap = ((0.0 if behind else X_data[a]) - (0.0 if ahead else Z_data[b])) * unit
                total += gap * gap
                a, b = a + (not behind), b + (not ahead)
            out[r, t] = exp_nonpositive(-0.5 * total)


def gaussian(X: Any, Z: Any, unit: np.ndarray | float, start: int | None, error: float = ERROR) -> np.ndarray:
    """Return exp(−½‖(x − z)·unit‖²) of every pair.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        Rows.
    Z : ndarray or CSR matrix of shape (m, n_features)
        Rows to compare them with.
    unit : float or ndarray of shape (n_features,)
        What the columns are multiplied by; sparse tables take one for all.
    start : int or None
        Where X begins in Z, if both are of one table; None if they are not.
    error : float, default=1e-12
        How far an exponent may be off: where one matrix product may be off by more, differences of cells are summed.

    Returns
    -------
    ndarray of shape (n, m)
        The values.

    See Also
    --------
    RBF : The kernel that calls it.
    products_are_exact : Whether one matrix product is exact enough.

    Examples
    --------
    >>> gaussian(np.array([[0.0]]), np.array([[0.0], [2.0]]), 0.5, None).round(4)
    array([[1.    , 0.6065]])
    """
    if Route.SPARSE in (route(X), route(Z)):
        return _of_sparse(X, Z, float(unit), start, error)
    n, m, d = len(X), len(Z), X.shape[1]
    if d <= _NARROW:
        return _by_differences(X, Z, unit)
    left, right, X_squares, Z_squares = _scaled(X, Z, unit, error)
    if not _error_bound(d, X_squares, Z_squares) <= error:
        return _by_differences(X, Z, unit)
    out, step = np.empty((n, m)), max(256, _CELLS // max(n, 1))
    for lo in range(0, m, step):
        hi = min(lo + step, m)
        np.matmul(left, right[lo:hi].T, out=out[:, lo:hi])
        _exponentiate(out, lo, hi, X_squares, Z_squares)
    return _one_for_itself(out, start)


def products_are_exact(X: Any, Z: Any, unit: np.ndarray | float, error: float = ERROR) -> bool:
    """Return whether square distances may be taken from products of the rows, dense ones about their mean.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        Rows.
    Z : ndarray or CSR matrix of shape (m, n_features)
        Rows to compare them with.
    unit : float or ndarray of shape (n_features,)
        What the columns are multiplied by; sparse tables take one for all.
    error : float, default=1e-12
        How far an exponent may be off.

    Returns
    -------
    bool
        Whether the bound of the rounding error is no more than `error`.

    See Also
    --------
    gaussian : What decides by it.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0]])
    >>> products_are_exact(rows, rows, 1.0), products_are_exact(rows, rows, 1e9)
    (True, False)
    """
    if Route.SPARSE in (route(X), route(Z)):
        square = float(unit) * float(unit)
        return _error_bound(_most_stored(X, Z), square * row_squares(X), square * row_squares(Z)) <= error
    return _error_bound(X.shape[1], *_scaled(X, Z, unit, error)[2:]) <= error


def from_products(P: np.ndarray, X_squares: np.ndarray, Z_squares: np.ndarray) -> np.ndarray:
    """Return exp(x·z − ½‖x‖² − ½‖z‖²) of rows in units, written into their products P.

    Parameters
    ----------
    P : ndarray of shape (n, m)
        The products x·z; overwritten.
    X_squares : ndarray of shape (n,)
        ‖x‖² of each row.
    Z_squares : ndarray of shape (m,)
        ‖z‖² of each other row.

    Returns
    -------
    ndarray of shape (n, m)
        P itself.

    See Also
    --------
    gaussian : From the rows.

    Examples
    --------
    >>> from_products(np.array([[1.0, 0.0]]), np.array([1.0]), np.array([1.0, 1.0])).round(3)
    array([[1.   , 0.368]])
    """
    _exponentiate(P, 0, P.shape[1], X_squares, Z_squares)
    return P


def _of_sparse(X: Any, Z: Any, unit: float, start: int | None, error: float) -> np.ndarray:
    square = unit * unit
    X_squares, Z_squares = square * row_squares(X), square * row_squares(Z)
    if _error_bound(_most_stored(X, Z), X_squares, Z_squares) <= error:
        P = np.ascontiguousarray(product(X, Z.T), dtype=np.float64)
        P *= square
        return _one_for_itself(from_products(P, X_squares, Z_squares), start)
    out = np.empty((X.shape[0], Z.shape[0]))
    _from_stored_differences(*_in_order(X), *_in_order(Z), unit, out)
    return out


def _one_for_itself(K: np.ndarray, start: int | None) -> np.ndarray:
    if start is not None:
        own = np.arange(len(K))
        K[own, own + start] = 1.0
    return K


def _most_stored(X: Any, Z: Any) -> int:
    """How many terms a product of two rows has at most."""
    stored = (int(np.diff(A.indptr).max(initial=0)) for A in (X, Z) if route(A) is Route.SPARSE)
    return min(stored)


def _in_order(X: Any) -> tuple[np.ndarray, ...]:
    """The arrays of CSR rows, each sorted by its columns."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X.data.astype(np.float64, copy=False), X.indices.astype(np.int64), X.indptr.astype(np.int64)


def _scaled(X: np.ndarray, Z: np.ndarray, unit: np.ndarray | float, error: float) -> tuple[np.ndarray, ...]:
    """Two tables whose product is that of the rows in units, and the squares of these rows.

    X itself is one of them where one unit serves all features and no mean must be taken away.
    """
    if np.ndim(unit) == 0 and X.dtype == np.float64:
        square = float(unit) * float(unit)  # infinite where a power would raise OverflowError
        squares = square * row_squares(X), square * row_squares(Z)
        if _error_bound(X.shape[1], *squares) <= error:
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
