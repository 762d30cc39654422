"""Symmetric products of large matrices on all threads. Nothing here depends on how many there are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.threads import run_tasks

_TILE = 256
_TALL = 16  # rows a column, from which blocks of rows are large enough to multiply well


def by_tiles(rows: Any) -> bool:
    """Whether XᵀX is better computed tile by tile than block by block: many columns, not so many rows, no weights."""
    dense = rows.in_memory and type(rows.X) is np.ndarray and rows.w is None and rows.dtype == np.float64
    return dense and rows.n_features >= _TILE and rows.n_rows < _TALL * rows.n_features


def gram(A: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """A Aᵀ in tiles, each one product over all columns.

    >>> gram(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 5., 11.],
           [11., 25.]])
    """
    out = np.zeros((A.shape[0], A.shape[0]))
    add_gram(A, out, n_jobs)
    return out


def add_gram(A: np.ndarray, out: np.ndarray, n_jobs: int | None = None) -> None:
    """Add A Aᵀ to `out`, in the precision of A."""
    n = A.shape[0]
    step = min(_TILE, max(_TILE // 4, -(-n // 2)))  # two tiles at least, where that is worth a thread
    starts = range(0, n, step)

    def fill(i: int, j: int) -> None:
        rows, columns = slice(i, min(i + step, n)), slice(j, min(j + step, n))
        left = A[rows]
        if i == j:
            out[rows, rows] += left @ left.T  # a symmetric product costs half
        else:
            tile = left @ A[columns].T
            out[rows, columns] += tile
            out[columns, rows] += tile.T

    run_tasks([partial(fill, i, j) for i in starts for j in starts if j <= i], n_jobs=n_jobs)
