"""The gradient of least squares, computed from the data themselves and not from their squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import like, namespace
from learnt.engine.rows.blocks import Block, as_columns, widen


def residual_products(block: Block, x_mean: Any, y_mean: Any, coef: Any) -> tuple:
    """Σ w (x − x̄)(y − ȳ − (x − x̄)ᵀb): zero at the least-squares solution b, and computed from the data themselves."""
    Y = widen(as_columns(block.y)) - like(y_mean, block.y, widen(block.y[:1]).dtype)
    if sparse.issparse(block.X):
        X = widen(block.X)
        residual = Y - (X @ coef - x_mean @ coef)
        residual = residual if block.w is None else residual * block.w[:, None]
        return (np.asarray(X.T @ residual) - np.outer(x_mean, residual.sum(axis=0)),)
    X = widen(block.X)
    X = X - like(x_mean, X)
    residual = Y - X @ like(coef, X)
    if block.w is not None:
        residual = residual * widen(block.w)[:, None]
    return (X.T @ residual,)


def column_squares(block: Block, mean: Any) -> tuple:
    """Σ w (x − x̄)² of each column."""
    if sparse.issparse(block.X):
        X = widen(block.X)
        w = np.ones(X.shape[0]) if block.w is None else block.w
        return (X.power(2).T @ w - 2 * mean * (X.T @ w) + mean**2 * w.sum(),)
    Z = widen(block.X) - like(mean, widen(block.X[:0]))
    xp = namespace(Z)
    return (xp.sum(Z * Z if block.w is None else Z * Z * widen(block.w)[:, None], axis=0),)
