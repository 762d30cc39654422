"""Ridge regression factorised in single precision and corrected to double.

With many columns nearly all the time goes into XᵀX. In single precision that product takes half as long, and its
Cholesky factor is still a good approximate inverse: each correction b ← b + M⁻¹∇(b), with the gradient taken from the
data in double precision, gains the digits the factor has. Two or three passes over X end at the answer of a
factorisation in double precision or a better one, since no gradient went through XᵀX. Where the corrections do not
shrink quickly the matrix is too ill-conditioned for this, and the caller factorises in double. (Fewer rows than columns
gain nothing from it: there the passes cost what the product saves.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from learnt.engine.blocks import Block
from learnt.engine.gram import add_gram
from learnt.engine.rows import Rows
from learnt.engine.threads import for_blocks
from learnt.linear_model._moments import as_columns, far_from_zero

_WORTH = 512  # columns from which the product outweighs the passes
_LARGEST = 1e15  # whose square single precision can still hold many of
_BLOCK, _COLUMNS = 2048, 256
_WELL_CONDITIONED = 1e-4  # reciprocal condition number in single precision: each correction gains two digits or more
_DONE, _PASSES = 1e-14, 8


def pays(rows: Rows) -> bool:
    """Whether the rows are many, wide, dense and in double precision."""
    dense = rows.in_memory and type(rows.X) is np.ndarray and rows.dtype == np.float64
    return dense and rows.n_features >= _WORTH and rows.n_rows >= rows.n_features


def mixed_precision_ridge(rows: Rows, x_mean: np.ndarray, y_mean: np.ndarray, ridge: float) -> np.ndarray | None:
    """The coefficients (d, k); None where single precision is not enough to start from."""
    head = rows.head(256).X
    if far_from_zero(x_mean, head) or np.abs(head).max() > _LARGEST:
        return None
    solve = _approximate_inverse(_single_gram(rows, x_mean), ridge)
    if solve is None:
        return None

    def gradient(coef: np.ndarray) -> np.ndarray:
        (found,) = rows.sum(_gradient, x_mean, y_mean, coef)
        return found - ridge * coef

    return _corrected(solve, gradient, np.zeros((rows.n_features, len(y_mean))))


def _corrected(solve: Callable, gradient: Callable, zero: np.ndarray) -> np.ndarray | None:
    """The zero of the gradient, to the last digit; None where the corrections do not shrink."""
    x, last = solve(gradient(zero)), 1.0
    for _ in range(_PASSES):
        step = solve(gradient(x))
        x = x + step
        size = float(np.linalg.norm(step) / (np.linalg.norm(x) or 1.0))
        if size * size / last <= _DONE:  # the size of the next
            return x
        if not size < 0.1 * last:  # also where it is NaN
            return x if size <= 100 * _DONE else None  # as small as rounding lets it be
        last = size
    return None


def _single_gram(rows: Rows, x_mean: np.ndarray) -> np.ndarray:
    """Σ w (x − x̄)(x − x̄)ᵀ from blocks rounded to single precision."""
    n, d = rows.n_rows, rows.n_features
    total = np.zeros((d, d), dtype=np.float32)
    root = None if rows.w is None else np.sqrt(rows.w)[:, None]
    room = np.empty((min(n, _BLOCK), d), dtype=np.float32)

    def round_columns(block: np.ndarray, start: int, lo: int, hi: int) -> None:
        part = rows.X[start : start + len(block), lo:hi] - x_mean[lo:hi]
        block[:, lo:hi] = part if root is None else part * root[start : start + len(block)]

    for start in range(0, n, _BLOCK):
        block = room[: min(_BLOCK, n - start)]
        for_blocks(partial(round_columns, block, start), d, grain=_COLUMNS, n_jobs=rows.n_jobs)
        add_gram(block.T, total, rows.n_jobs)
    return total


def _approximate_inverse(gram: np.ndarray, ridge: float) -> Any:
    """Solves with the Cholesky factor of D(G + αI)D, D scaling the diagonal to 1; None where it has no digits."""
    diagonal = np.diag(gram).astype(np.float64) + ridge
    if not np.all(diagonal > 0) or not np.isfinite(diagonal).all():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    gram *= scale.astype(np.float32)
    gram *= scale.astype(np.float32)[:, None]
    np.fill_diagonal(gram, 1.0)
    norm = float(np.abs(gram).sum(axis=0).max())
    triangle, info = linalg.lapack.spotrf(gram.T, lower=False, clean=False, overwrite_a=True)
    if info:
        return None
    rcond, _ = linalg.lapack.spocon(triangle, norm, uplo="U")
    if rcond < _WELL_CONDITIONED / norm:
        return None

    def solve(right: np.ndarray) -> np.ndarray:
        scaled = (right * scale[:, None]).astype(np.float32)
        return linalg.lapack.spotrs(triangle, scaled, lower=False)[0] * scale[:, None]

    return solve


def _gradient(block: Block, x_mean: np.ndarray, y_mean: np.ndarray, coef: np.ndarray) -> tuple:
    """Σ w (x − x̄)(y − ȳ − (x − x̄)ᵀb) without a centred copy of the block."""
    residual = as_columns(block.y) - (y_mean - x_mean @ coef) - block.X @ coef
    if block.w is not None:
        residual *= block.w[:, None]
    return (block.X.T @ residual - np.outer(x_mean, residual.sum(axis=0)),)
