"""Statistics of k-means as functions of blocks: labels, distances, errors, and the sums of an iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.distances import DEVICE_CELLS, center_distances, center_errors, nearest_center
from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.matrices import dense, on_host
from learnt.engine.rows.blocks import Block, add

_LANES, _LANE_WORK = 64, 1 << 18  # of sparse rows: how many at most, and multiplications in each


def sparse_lane_rows(n_rows: int, n_entries: int, k: int) -> int:
    """Rows of a CSR matrix in a lane: at most 64 lanes, each of about 2¹⁸ multiplications or more.

    >>> sparse_lane_rows(5000, 250_000, 8), sparse_lane_rows(5000, 10**8, 8)
    (715, 79)
    """
    lanes = min(_LANES, max(1, n_entries * k // _LANE_WORK))
    return max(1, -(-n_rows // lanes))


def label_block(block: Block, C: Any, origin: Any) -> Any:
    """`nearest_center` for `rows.map`."""
    return nearest_center(block.X, C, origin)


def label_finite(block: Block, C: Any, origin: Any) -> Any:
    """The same, and −1 for a row with a cell that is not finite."""
    X = block.X
    sums = np.asarray(abs(X).sum(axis=1)).ravel()
    finite, labels = np.isfinite(sums), np.full(X.shape[0], -1, dtype=np.int32)
    labels[finite] = nearest_center(X[finite], C, origin)
    return labels


def distance_block(block: Block, C: Any, origin: Any) -> Any:
    """`center_distances` for `rows.map`."""
    return center_distances(block.X, C, origin)


def error_block(block: Block, C: Any, origin: Any) -> Any:
    """`center_errors` from the nearest centre, for `rows.map`."""
    return center_errors(block.X, C, nearest_center(block.X, C, origin))


def inertia_sum(block: Block, C: Any, origin: Any) -> tuple:
    """The statistic Σ w ‖x − nearest centre‖²."""
    e = error_block(block, C, origin)
    return (namespace(e).sum(e if block.w is None else e * block.w),)


def cluster_sums(block: Block, C: Any, origin: Any) -> tuple:
    """The statistic of a Lloyd iteration: for each centre, of the rows nearest to it, Σ w (x − origin), Σ w, count."""
    X, w = block.X, block.w
    n, k = X.shape[0], C.shape[0]
    if n * k > DEVICE_CELLS and n > 1 and not on_host(X):
        middle = n // 2
        first = Block(X[:middle, ...], w=None if w is None else w[:middle])
        rest = Block(X[middle:, ...], w=None if w is None else w[middle:])
        return add(add(None, cluster_sums(first, C, origin)), cluster_sums(rest, C, origin))  # type: ignore[return-value]
    labels = nearest_center(X, C, origin)
    if sparse.issparse(X) or (is_numpy(X) and n * k > 1 << 16):
        values = np.ones(n) if w is None else w
        members = sparse.csr_array((values, (labels, np.arange(n))), shape=(k, n))
        mass = members.sum(axis=1)
        sums = dense(members @ X) - mass[:, None] * origin
        counts = np.bincount(labels if w is None else labels[w > 0], minlength=k)
        return np.asarray(sums, dtype=np.float64), mass, counts.astype(np.float64)
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
