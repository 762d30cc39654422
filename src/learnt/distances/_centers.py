"""Which centre is nearest to each row: the definition, on NumPy, SciPy and any Array API library.

A distance comes from the expansion ‖x − c‖² = ‖x‖² − 2 x·c + ‖c‖², a matrix product, after subtracting an origin so
that large means do not cancel. Where rounding could change the result, dense NumPy rows are compared again by the plain
sum of squared differences, and the first of equals wins: the result is the same for a row alone and among others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from learnt.distances._rounding import square_distances
from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.matrices import on_host

_CELLS = 1 << 22  # distances held at once
DEVICE_CELLS = 1 << 26
_NARROW = 16  # features up to which plain differences are as quick as a matrix product


def squared_norms(X: Any) -> np.ndarray:
    """‖x‖² of the rows of a CSR matrix, in float64.

    >>> squared_norms(sparse.csr_array(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])))
    array([25.,  0.])
    """
    return _row_sums(X, np.square(X.data, dtype=np.float64))


def _row_sums(X: Any, data: np.ndarray) -> np.ndarray:
    """Row sums of a CSR matrix with the sparsity pattern of X and the values `data`."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape) @ np.ones(X.shape[1])


def expanded(X: Any, C: Any, origin: Any) -> tuple[Any, Any]:
    """‖c‖² − 2 x·c for every row and centre (n × k), and ‖x‖² (n,), both about `origin`.

    Dense NumPy and SciPy rows in float64; rows of other libraries in their own precision.
    """
    if sparse.issparse(X):
        C = np.asarray(C, dtype=np.float64)
        scores = np.asarray(X @ C.T)
        return np.einsum("ij,ij->i", C, C) - 2.0 * scores, squared_norms(X)
    if is_numpy(X):
        Z = X - origin
        D = C - origin
        scores = Z @ D.T
        scores *= -2.0
        scores += np.einsum("ij,ij->i", D, D)
        return scores, np.einsum("ij,ij->i", Z, Z)
    xp = namespace(X)
    Z = X - xp.astype(origin, X.dtype)
    D = xp.astype(C - origin, X.dtype)
    return xp.sum(D * D, axis=1) - 2.0 * (Z @ D.T), xp.sum(Z * Z, axis=1)


def nearest_center(X: Any, C: Any, origin: Any) -> Any:
    """The index of the nearest centre of every row, int32.

    >>> nearest_center(np.array([[0.0], [4.0], [5.0]]), np.array([[1.0], [5.0]]), np.zeros(1))
    array([0, 1, 1], dtype=int32)
    """
    n, k = X.shape[0], C.shape[0]
    step = max(1, (_CELLS if on_host(X) else DEVICE_CELLS) // k)
    if n > step:
        parts = [nearest_center(X[lo : min(lo + step, n), ...], C, origin) for lo in range(0, n, step)]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else namespace(X).concat(parts)
    scores, norms = expanded(X, C, origin)
    if not on_host(X):
        xp = namespace(X)
        return xp.astype(xp.argmin(scores, axis=1), xp.int32)
    labels = scores.argmin(axis=1)
    if k > 1:
        best = scores[np.arange(n), labels]
        D = C - origin if is_numpy(X) else C
        radius = float(np.sqrt(np.einsum("ij,ij->i", D, D).max()))
        limit = best + 2.0 * (X.shape[1] + 8) * np.finfo(np.float64).eps * (np.sqrt(norms) + radius) ** 2
        close = scores <= limit[:, None]
        if np.count_nonzero(close) > n:
            if sparse.issparse(X):
                labels = close.argmax(axis=1)
            else:
                _compare_exactly(X, C, close, labels)
    return labels.astype(np.int32)


def _compare_exactly(X: np.ndarray, C: np.ndarray, close: np.ndarray, labels: np.ndarray) -> None:
    rows = np.flatnonzero(np.count_nonzero(close, axis=1) > 1)
    row, centre = np.nonzero(close[rows])
    exact = np.full((rows.size, C.shape[0]), np.inf)
    exact[row, centre] = square_distances(X[rows[row]], C[centre])
    labels[rows] = exact.argmin(axis=1)


def center_errors(X: Any, C: Any, labels: Any) -> Any:
    """‖xᵢ − c(i)‖², the squared distance of each row from its assigned centre.

    >>> center_errors(np.array([[1.0], [4.0]]), np.array([[1.0], [5.0]]), np.array([0, 1]))
    array([0., 1.])
    """
    if sparse.issparse(X):
        C = np.asarray(C, dtype=np.float64)
        # For every stored entry, its centre's value in the entry's column: C[labels] would be a dense table of all
        # rows.
        own = C[np.repeat(labels, np.diff(X.indptr)), X.indices]
        cross = _row_sums(X, X.data * own)
        return np.maximum(squared_norms(X) - 2.0 * cross + np.einsum("ij,ij->i", C, C)[labels], 0.0)
    if is_numpy(X):
        D = X - C[labels]
        return np.einsum("ij,ij->i", D, D)
    xp = namespace(X)
    D = xp.astype(X, xp.float64) - xp.take(C, xp.astype(labels, xp.int64), axis=0)
    return xp.sum(D * D, axis=1)


def center_distances(X: Any, C: Any, origin: Any) -> Any:
    """Euclidean distances of every row to every centre (n × k), accurate also where they are small."""
    if is_numpy(X) and X.shape[1] <= _NARROW:
        return cdist(X, C).astype(X.dtype, copy=False)
    scores, norms = expanded(X, C, origin)
    if not on_host(X):
        xp = namespace(X)
        return xp.sqrt(xp.clip(scores + norms[:, None], min=0.0))
    scores += norms[:, None]
    np.maximum(scores, 0.0, out=scores)
    if not sparse.issparse(X):
        # Half the digits of a distance that is 1e-4 of the norms are lost to the expansion; take differences there.
        row, centre = np.nonzero(scores < 1e-8 * norms[:, None])
        if row.size:
            scores[row, centre] = square_distances(X[row], C[centre])
    np.sqrt(scores, out=scores)
    return scores.astype(X.dtype, copy=False)
