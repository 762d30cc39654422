"""Ridge regression factorised in single precision and corrected to double.

With many columns nearly all the time goes into XᵀX. In single precision that product takes half as long, and its
Cholesky factor is still a good approximate inverse: each correction b ← b + M⁻¹∇(b), with the gradient taken from the
data in double precision, gains the digits the factor has. One or two passes over X end at eleven digits or more (or at
those of a factorisation in double precision, where these are fewer: no gradient went through XᵀX). Where the
corrections do not shrink quickly the matrix is too ill-conditioned for this, and the caller factorises in double.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import as_columns
from learnt.engine.threads import for_blocks
from learnt.linalg.gram import add_gram, products, rows_a_task
from learnt.linear_model.least_squares._centred import CentredRows
from learnt.statistics import far_from_zero

_WORTH, _WORTH_ROWS = 512, 256  # columns or rows from which the product outweighs the passes
_LARGEST = 1e15  # numbers whose squares and their sums single precision can still hold, and their reciprocals
_BLOCK, _ROWS = 2048, 128  # rows that are multiplied together, and rounded by one task
_WELL_CONDITIONED = 1e-4  # reciprocal condition number in single precision: each correction gains two digits or more
# relative changes: not worth another pass, and rounding only; the most passes
_DONE, _ROUNDING, _PASSES = 1e-11, 1e-12, 8


class Centred(NamedTuple):
    """Coefficients, and the means that were subtracted."""

    coef: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray


def pays(rows: Rows) -> bool:
    """Whether the rows are many, wide, dense and in double precision."""
    dense = rows.in_memory and type(rows.X) is np.ndarray and rows.dtype == np.float64
    return dense and rows.n_features >= _WORTH and rows.n_rows >= rows.n_features


def mixed_precision_ridge(
    rows: Rows, center: bool, ridge: float, check_cells: Callable | None = None
) -> Centred | None:
    """The coefficients (d, k) and the means taken off; None where single precision is not enough to start from.

    `check_cells` is called where sums over X do not prove that all its cells are finite.
    """
    start = _first_pass(rows, center)
    if check_cells is not None and not (np.isfinite(start.coef).all() and (rows.w is None or rows.w.all())):
        check_cells()
    x_mean = start.x_mean
    head = rows.head(256).X
    if far_from_zero(x_mean, head) or not np.abs(head).max() <= _LARGEST:
        return None
    solve = _approximate_inverse(_single_gram(rows, x_mean), ridge)
    if solve is None:
        return None

    def gradient(coef: np.ndarray) -> np.ndarray:
        parts = for_blocks(partial(_gradient, rows, start, coef), rows.n_rows, grain=rows_a_task(rows.X))
        return np.sum(parts, axis=0) - ridge * coef

    coef = corrected(solve, gradient, solve(start.coef))
    return None if coef is None else start._replace(coef=coef)


def mixed_precision_dual(Z: CentredRows, ridge: float) -> np.ndarray | None:
    """(ZZᵀ + αI)⁻¹T of fewer rows than columns, likewise; None where single precision is not enough to start from."""
    if len(Z.target) < _WORTH_ROWS or (K := Z.rough_products()) is None:
        return None
    fill = Z.fill(K)
    solve = _approximate_inverse(K, ridge)
    return None if solve is None else corrected(solve, partial(Z.dual_gradient, ridge, fill), solve(Z.target))


def _first_pass(rows: Rows, center: bool) -> Centred:
    """The means, and Σ w (x − x̄)(y − ȳ) in the place of coefficients, in one pass."""
    Y = as_columns(rows.y)
    n, d = rows.X.shape
    w = np.ones(n) if rows.w is None else rows.w
    y_mean = w @ Y / w.sum() if center else np.zeros(Y.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        sums, *cross = products(np.vstack([w, ((Y - y_mean) * w[:, None]).T]), rows.X, rows.n_jobs)
        return Centred(np.stack(cross, axis=1), sums / w.sum() if center else np.zeros(d), y_mean)


def corrected(solve: Callable, gradient: Callable, x: np.ndarray) -> np.ndarray | None:
    """The zero of the gradient, from near it; None where the corrections do not shrink."""
    last = 1.0
    for _ in range(_PASSES):
        step = solve(gradient(x))
        x = x + step
        size = float(np.linalg.norm(step) / (np.linalg.norm(x) or 1.0))
        if size * size / last <= _DONE:  # the estimated size of the next correction
            return x
        if not size < 0.1 * last:  # also where it is NaN
            return x if size <= _ROUNDING else None  # limited by rounding
        last = size
    return None


def _single_gram(rows: Rows, x_mean: np.ndarray) -> np.ndarray:
    """Σ w (x − x̄)(x − x̄)ᵀ from blocks rounded to single precision."""
    n, d = rows.n_rows, rows.n_features
    total = np.zeros((d, d), dtype=np.float32)
    root = None if rows.w is None else np.sqrt(rows.w)[:, None]
    room = np.empty((min(n, _BLOCK), d), dtype=np.float32)

    def round_rows(start: int, lo: int, hi: int) -> None:
        block, some = room[lo:hi], slice(start + lo, start + hi)
        np.subtract(rows.X[some], x_mean, out=block, casting="same_kind")
        if root is not None:
            np.multiply(block, root[some], out=block, casting="same_kind")

    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for_blocks(partial(round_rows, start), size, grain=_ROWS, n_jobs=rows.n_jobs)
        add_gram(room[:size].T, total, rows.n_jobs)
    return total


def _approximate_inverse(gram: np.ndarray, ridge: float) -> Any:
    """Solves with the Cholesky factor of D(G + αI)D, D scaling the diagonal to 1; None where it has no digits."""
    diagonal = np.diag(gram).astype(np.float64) + ridge
    if not np.all(diagonal > 1.0 / _LARGEST**2) or not np.isfinite(diagonal).all():
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


def _gradient(rows: Rows, about: Centred, coef: np.ndarray, lo: int, hi: int) -> np.ndarray:
    """Σ w (x − x̄)(y − ȳ − (x − x̄)ᵀb) of a block, without a centred copy of it."""
    X, x_mean = rows.X[lo:hi], about.x_mean
    residual = as_columns(rows.y[lo:hi]) - (about.y_mean - x_mean @ coef) - X @ coef
    if rows.w is not None:
        residual *= rows.w[lo:hi, None]
    return X.T @ residual - np.outer(x_mean, residual.sum(axis=0))
