"""Products of large matrices on all threads. Results do not depend on the number of threads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks, run_tasks

_TILE = 256
_TALL = 16  # rows a column, from which blocks of rows are large enough to multiply well
_THIN = 3  # up to so many rows, a product is quicker row by row
_COLUMNS = 1024  # of a wide matrix for one task
_CELLS, _FEWEST, _MOST = 1 << 18, 64, 64  # of a block of rows: cells and rows at least, and how many blocks at most


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
    step = min(_TILE, max(_TILE // 4, -(-n // 2)))  # at least two tiles, where a second thread is worth while
    starts = range(0, n, step)

    def fill(i: int, j: int) -> None:
        rows, columns = slice(i, min(i + step, n)), slice(j, min(j + step, n))
        left = A[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # overflow shows in `out`
            if i == j:
                out[rows, rows] += left @ left.T  # a symmetric product costs half
            else:
                tile = left @ A[columns].T
                out[rows, columns] += tile
                out[columns, rows] += tile.T

    run_tasks([partial(fill, i, j) for i in starts for j in starts if j <= i], n_jobs=n_jobs)


def rows_a_task(X: np.ndarray) -> int:
    """How many rows of X one task takes, where it reads them once."""
    return max(_CELLS // X.shape[1], _FEWEST, -(-len(X) // _MOST))


def products(left: np.ndarray, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """left X for a few rows of `left`, by blocks of rows of a tall X or of columns of a wide one.

    Very few rows are multiplied one by one, since BLAS is slow at products with thin matrices.

    >>> products(np.array([[1.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[4., 6.]])
    """
    n, d = X.shape
    thin = len(left) <= _THIN

    def part(lo: int, hi: int) -> np.ndarray:
        block, some = X[lo:hi].astype(left.dtype, copy=False), left[:, lo:hi]
        with np.errstate(over="ignore", invalid="ignore"):  # overflow shows in the result
            return np.stack([row @ block for row in some]) if thin else some @ block

    if n > d or (thin and X.flags.c_contiguous):
        return np.sum(for_blocks(part, n, grain=rows_a_task(X), n_jobs=n_jobs), axis=0)
    out = np.empty((len(left), d))

    def fill(lo: int, hi: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            out[:, lo:hi] = left @ X[:, lo:hi]

    for_blocks(fill, d, grain=_COLUMNS, n_jobs=n_jobs)
    return out
