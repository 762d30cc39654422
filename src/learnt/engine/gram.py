"""Symmetric products of large matrices on all threads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.threads import run_tasks

_TILE = 256


def by_tiles(rows: Any) -> bool:
    """Whether XᵀX is better computed tile by tile than block by block: many columns, all of X there, no weights."""
    dense = rows.in_memory and type(rows.X) is np.ndarray and rows.w is None
    return dense and rows.dtype == np.float64 and rows.n_features >= _TILE


def gram(A: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """A Aᵀ in tiles: every tile is one product over all columns, so nothing depends on the number of threads."""
    n = A.shape[0]
    out = np.empty((n, n))
    starts = range(0, n, _TILE)

    def fill(i: int, j: int) -> None:
        rows, columns = slice(i, min(i + _TILE, n)), slice(j, min(j + _TILE, n))
        left = A[rows]
        if i == j:
            out[rows, rows] = left @ left.T  # a symmetric product costs half
        else:
            tile = left @ A[columns].T
            out[rows, columns] = tile
            out[columns, rows] = tile.T

    run_tasks([partial(fill, i, j) for i in starts for j in starts if j <= i], n_jobs=n_jobs)
    return out
