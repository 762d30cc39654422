"""Sums over rows that least squares fits from: weighted means, scatter matrices, and triangular factors.

All are statistics for `engine.rows`: written once, they run over arrays, memory maps, files, clusters and devices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.blocks import Block, widen
from learnt.engine.rows import Rows


class Moments(NamedTuple):
    """Second moments about the means (about 0 without an intercept), as float64 NumPy arrays."""

    weight: float  # Σ w
    x_mean: np.ndarray  # (d,)
    y_mean: np.ndarray  # (k,)
    gram: np.ndarray  # (d, d)  Σ w (x − x̄)(x − x̄)ᵀ
    cross: np.ndarray  # (d, k)  Σ w (x − x̄)(y − ȳ)ᵀ


def moments(rows: Rows, center: bool = True) -> Moments:
    """The moments in one pass.

    Rows are shifted by the mean of the first few before they are squared: with a mean a million times the spread,
    Σx² − n x̄² would have no correct digit left.
    """
    y_head = widen(as_columns(rows.head(256).y))
    xp = namespace(y_head)
    x0 = rows.first_mean() if center else None
    y0 = xp.mean(y_head, axis=0) if center else None
    total, sx, sy, gram, cross = rows.sum(shifted_moments, x0, y0)
    total, sx, sy, gram, cross = (
        to_numpy(part) if not np.isscalar(part) else part for part in (total, sx, sy, gram, cross)
    )
    total = float(total)
    if not center:
        return Moments(total, np.zeros(len(sx)), np.zeros(len(sy)), gram, cross)
    dx, dy = sx / total, sy / total
    gram = gram - total * np.outer(dx, dx)
    cross = cross - total * np.outer(dx, dy)
    return Moments(total, to_numpy(x0) + dx, to_numpy(y0) + dy, gram, cross)


def as_columns(y: Any) -> Any:
    """y as (n, k)."""
    return y[:, None] if y.ndim == 1 else y


def shifted_moments(block: Block, x0: Any, y0: Any) -> tuple:
    """Σw, Σw(x−x₀), Σw(y−y₀) and the products, of one block. Products are in float64 whatever the data: squaring a
    float32 matrix squares its condition number too."""
    Y = widen(as_columns(block.y))
    Y = Y if y0 is None else Y - y0
    if sparse.issparse(block.X):
        return _sparse_moments(widen_sparse(block.X), Y, block.w)
    X = widen(block.X)
    X = X if x0 is None else X - x0
    xp = namespace(X)
    w = block.w
    if w is None:
        return X.shape[0], xp.sum(X, axis=0), xp.sum(Y, axis=0), X.T @ X, X.T @ Y
    w = widen(w)
    root = xp.sqrt(w)[:, None]
    sums = xp.sum(w), w @ X, w @ Y
    X, Y = X * root, Y * root
    return *sums, X.T @ X, X.T @ Y


def widen_sparse(X: Any) -> Any:
    return X.astype(np.float64) if X.dtype != np.float64 else X


def _sparse_moments(X: Any, Y: np.ndarray, w: np.ndarray | None) -> tuple:
    if w is None:
        w = np.ones(X.shape[0])
    weighted = sparse.diags_array(w) @ X
    gram = (X.T @ weighted).toarray()
    return w.sum(), np.asarray(weighted.sum(axis=0)).ravel(), w @ Y, gram, np.asarray(weighted.T @ Y)


def residual_moments(block: Block, x_mean: Any, y_mean: Any, coef: Any) -> tuple:
    """Σ w (x − x̄)(y − ȳ − (x − x̄)ᵀb): zero at the least-squares solution b, and computed from the data themselves."""
    Y = widen(as_columns(block.y)) - like(y_mean, block.y, widen(block.y[:1]).dtype)
    if sparse.issparse(block.X):
        X = widen_sparse(block.X)
        residual = Y - (X @ coef - x_mean @ coef)
        residual = residual if block.w is None else residual * block.w[:, None]
        return (np.asarray(X.T @ residual) - np.outer(x_mean, residual.sum(axis=0)),)
    X = widen(block.X)
    X = X - like(x_mean, X)
    residual = Y - X @ like(coef, X)
    if block.w is not None:
        residual = residual * widen(block.w)[:, None]
    return (X.T @ residual,)


def triangular_factor(block: Block, x_mean: np.ndarray, y_mean: np.ndarray) -> tuple:
    """R of the QR factorisation of a block's weighted, centred [X, y]."""
    X = block.X.toarray() if sparse.issparse(block.X) else to_numpy(widen(block.X))
    Z = np.hstack([X - x_mean, to_numpy(widen(as_columns(block.y))) - y_mean])
    if block.w is not None:
        Z *= np.sqrt(to_numpy(block.w))[:, None]
    return (np.linalg.qr(Z, mode="r"),)


def merge_factors(total: tuple | None, part: tuple | None) -> tuple | None:
    """R of two stacked matrices from the R of each: QR of tall data in blocks, at any scale."""
    if total is None or part is None:
        return total if part is None else part
    return (np.linalg.qr(np.vstack([total[0], part[0]]), mode="r"),)


def means(rows: Rows, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means of X and y; zeros without an intercept."""
    if not center:
        return np.zeros(rows.n_features), np.zeros(as_columns(rows.head(1).y).shape[1])
    total, sx, sy = rows.sum(_sums)
    return to_numpy(sx) / float(total), to_numpy(sy) / float(total)


def _sums(block: Block) -> tuple:
    Y = widen(as_columns(block.y))
    xp = namespace(Y)
    if block.w is None:
        X = widen_sparse(block.X) if sparse.issparse(block.X) else widen(block.X)
        x_sum = X.sum(axis=0) if is_numpy(X) else (np.asarray(X.sum(axis=0)).ravel() if xp is np else xp.sum(X, axis=0))
        return X.shape[0], x_sum, xp.sum(Y, axis=0)
    w = widen(block.w)
    X = widen_sparse(block.X) if sparse.issparse(block.X) else widen(block.X)
    return xp.sum(w), (X.T @ w if sparse.issparse(X) else w @ X), w @ Y
