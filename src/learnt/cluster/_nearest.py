"""Which centre is nearest to each row: the definition, on NumPy, SciPy and any Array API library.

A distance comes from the expansion ‖x − c‖² = ‖x‖² − 2 x·c + ‖c‖², a matrix product, after subtracting an origin so
that large means do not cancel. Where rounding could change the answer, dense NumPy rows are compared again by the plain
sum of squared differences, and the first of equals wins: the answer is the same for a row alone and among others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from learnt.engine.arrays import is_numpy, like, namespace
from learnt.engine.blocks import Block, add

_CELLS = 1 << 22  # distances held at once
_DEVICE_CELLS = 1 << 26
_LANES, _LANE_WORK = 64, 1 << 18  # of sparse rows: how many at most, and multiplications in each
_NARROW = 16  # features up to which plain differences are as quick as a matrix product


def square_distances(X: np.ndarray, C: np.ndarray) -> np.ndarray:
    """‖xᵢ − cᵢ‖² row by row in float64, summed in order of the features, as the kernel of that name does.

    >>> square_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([25.])
    """
    squares = np.asfortranarray(X, dtype=np.float64) - C
    squares *= squares
    total = np.zeros(squares.shape[0])
    for j in range(squares.shape[1]):
        total += squares[:, j]
    return total


def sparse_lane_rows(n_rows: int, n_entries: int, k: int) -> int:
    """Rows of a CSR matrix in a lane: at most 64 lanes, each of about 2¹⁸ multiplications or more.

    >>> sparse_lane_rows(5000, 250_000, 8), sparse_lane_rows(5000, 10**8, 8)
    (715, 79)
    """
    lanes = min(_LANES, max(1, n_entries * k // _LANE_WORK))
    return max(1, -(-n_rows // lanes))


def squared_norms(X: Any) -> np.ndarray:
    """‖x‖² of the rows of a CSR matrix, in float64.

    >>> squared_norms(sparse.csr_array(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])))
    array([25.,  0.])
    """
    return _row_sums(X, np.square(X.data, dtype=np.float64))


def _row_sums(X: Any, data: np.ndarray) -> np.ndarray:
    """Sums over the rows of a CSR matrix that has other values in the places of X's."""
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


def nearest(X: Any, C: Any, origin: Any) -> Any:
    """The index of the nearest centre of every row, int32.

    >>> nearest(np.array([[0.0], [4.0], [5.0]]), np.array([[1.0], [5.0]]), np.zeros(1))
    array([0, 1, 1], dtype=int32)
    """
    n, k = X.shape[0], C.shape[0]
    step = max(1, (_CELLS if is_numpy(X) or sparse.issparse(X) else _DEVICE_CELLS) // k)
    if n > step:
        parts = [nearest(X[lo : min(lo + step, n), ...], C, origin) for lo in range(0, n, step)]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else namespace(X).concat(parts)
    scores, norms = expanded(X, C, origin)
    if not (is_numpy(X) or sparse.issparse(X)):
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


def errors(X: Any, C: Any, labels: Any) -> Any:
    """‖xᵢ − c(i)‖², how far each row is from the centre that it is assigned to.

    >>> errors(np.array([[1.0], [4.0]]), np.array([[1.0], [5.0]]), np.array([0, 1]))
    array([0., 1.])
    """
    if sparse.issparse(X):
        C = np.asarray(C, dtype=np.float64)
        # The centre of every entry's row, in the entry's column: C[labels] would be a dense table of all rows.
        own = C[np.repeat(labels, np.diff(X.indptr)), X.indices]
        cross = _row_sums(X, X.data * own)
        return np.maximum(squared_norms(X) - 2.0 * cross + np.einsum("ij,ij->i", C, C)[labels], 0.0)
    if is_numpy(X):
        D = X - C[labels]
        return np.einsum("ij,ij->i", D, D)
    xp = namespace(X)
    D = xp.astype(X, xp.float64) - xp.take(C, xp.astype(labels, xp.int64), axis=0)
    return xp.sum(D * D, axis=1)


def distances(X: Any, C: Any, origin: Any) -> Any:
    """Euclidean distances of every row to every centre (n × k), accurate also where they are small."""
    if is_numpy(X) and X.shape[1] <= _NARROW:
        return cdist(X, C).astype(X.dtype, copy=False)
    scores, norms = expanded(X, C, origin)
    if not (is_numpy(X) or sparse.issparse(X)):
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


def label_block(block: Block, C: Any, origin: Any) -> Any:
    """`nearest` for `rows.map`."""
    return nearest(block.X, C, origin)


def distance_block(block: Block, C: Any, origin: Any) -> Any:
    """`distances` for `rows.map`."""
    return distances(block.X, C, origin)


def error_block(block: Block, C: Any, origin: Any) -> Any:
    """`errors` from the nearest centre, for `rows.map`."""
    return errors(block.X, C, nearest(block.X, C, origin))


def inertia_sum(block: Block, C: Any, origin: Any) -> tuple:
    """The statistic Σ w ‖x − nearest centre‖²."""
    e = error_block(block, C, origin)
    return (namespace(e).sum(e if block.w is None else e * block.w),)


def cluster_sums(block: Block, C: Any, origin: Any) -> tuple:
    """The statistic of one Lloyd iteration: for each centre, over the rows nearest to it, Σ w (x − origin), Σ w, count.

    Sparse rows are summed as they are, about 0.
    """
    X, w = block.X, block.w
    n, k = X.shape[0], C.shape[0]
    if n * k > _DEVICE_CELLS and n > 1 and not (is_numpy(X) or sparse.issparse(X)):
        middle = n // 2
        first = Block(X[:middle, ...], w=None if w is None else w[:middle])
        rest = Block(X[middle:, ...], w=None if w is None else w[middle:])
        return add(add(None, cluster_sums(first, C, origin)), cluster_sums(rest, C, origin))  # type: ignore[return-value]
    labels = nearest(X, C, origin)
    if sparse.issparse(X) or (is_numpy(X) and n * k > 1 << 16):
        values = np.ones(n) if w is None else w
        members = sparse.csr_array((values, (labels, np.arange(n))), shape=(k, n))
        sums = members @ X
        sums = sums.toarray() if sparse.issparse(X) else sums - members.sum(axis=1)[:, None] * origin
        counts = np.bincount(labels if w is None else labels[w > 0], minlength=k)
        return np.asarray(sums, dtype=np.float64), members.sum(axis=1), counts.astype(np.float64)
    if is_numpy(X):
        members = (labels == np.arange(k, dtype=np.int32)[:, None]).astype(np.float64)
        counts = members.sum(axis=1) if w is None else members @ (w > 0)
        if w is not None:
            members *= w
        return members @ (X - origin), members.sum(axis=1), counts
    xp = namespace(X)
    here = xp.arange(k, dtype=xp.int32, device=X.device)
    members = xp.astype(labels[None, :] == here[:, None], X.dtype)
    counts = xp.sum(members if w is None else members * xp.astype(w > 0, X.dtype), axis=1)
    if w is not None:
        members = members * xp.astype(w, X.dtype)
    return members @ (X - xp.astype(origin, X.dtype)), xp.sum(members, axis=1), counts


def to_reference(values: np.ndarray, reference: Any) -> Any:
    """Centres (NumPy float64) in the library and on the device of the rows, still float64."""
    if is_numpy(reference):
        return values
    return like(values, reference, namespace(reference).float64)
