"""Nearest other rows of a small table, by matrix products in blocks."""

from __future__ import annotations

import numpy as np


def nearest(X: np.ndarray, k: int, block: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest *other* rows of every row: indices and squared distances, both (n, k), nearest first.

    >>> index, squared = nearest(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> index[:, 0].tolist(), squared[:, 0].tolist()
    ([1, 0, 1], [1.0, 1.0, 4.0])
    """
    X = np.ascontiguousarray(X - X.mean(axis=0))  # centring keeps the expansion of ‖a−b‖² accurate
    n, k = len(X), min(k, len(X) - 1)
    norms = np.einsum("ij,ij->i", X, X)
    index = np.empty((n, k), dtype=np.int64)
    squared = np.empty((n, k))
    for start in range(0, n, block):
        rows = slice(start, min(start + block, n))
        distance = norms[rows, None] - 2 * (X[rows] @ X.T) + norms
        here = np.arange(rows.start, rows.stop)
        distance[here - start, here] = np.inf
        part = np.argpartition(distance, k - 1, axis=1)[:, :k]
        found = np.take_along_axis(distance, part, axis=1)
        order = np.lexsort((part, found), axis=1)
        index[rows] = np.take_along_axis(part, order, axis=1)
        squared[rows] = np.maximum(np.take_along_axis(found, order, axis=1), 0.0)
    return index, squared
