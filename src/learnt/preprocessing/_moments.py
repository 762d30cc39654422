"""Weighted count, mean and sum of squared deviations of every column, block by block.

Each block is centred at its own mean before squaring; two blocks are put together by Chan's rule: with δ = m_b − m_a,

    n = n_a + n_b,   m = m_a + δ n_b / n,   S = S_a + S_b + δ² n_a n_b / n,

so that nothing cancels, however far from zero the data lie. NaN counts as not there, column by column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace
from learnt.engine.blocks import Block, widen

Moments = tuple[Any, Any, Any]


def moments(block: Block) -> Moments:
    """Weight, mean and sum of squared deviations of each column of a block."""
    if sparse.issparse(block.X):
        return _sparse_moments(block)
    X = widen(block.X)
    xp = namespace(X)
    total = xp.sum(X, axis=0)
    if not bool(xp.all(xp.isfinite(total))):
        return _gappy_moments(X, block.w, xp)
    if block.w is None:
        mean = total / X.shape[0]
        Z = X - mean
        rest = xp.sum(Z, axis=0)  # what rounding left in the mean
        return xp.full_like(total, X.shape[0]), mean, xp.sum(Z * Z, axis=0) - rest * rest / X.shape[0]
    w = widen(block.w)
    weight = xp.sum(w)
    mean = (w @ X) / (weight if weight > 0 else 1.0)
    Z = X - mean
    return xp.full_like(total, float(weight)), mean, w @ (Z * Z)


def _gappy_moments(X: Any, w: Any, xp: Any) -> Moments:
    """The same where some cells are NaN."""
    if bool(xp.any(xp.isinf(X))):
        raise ValueError(
            "X contains inf, which has no mean; replace infinities by NaN, which is left out, or by numbers."
        )
    there = ~xp.isnan(X)
    rows = xp.astype(there, X.dtype) if hasattr(xp, "astype") else there.astype(X.dtype)
    if w is not None:
        rows = rows * widen(w)[:, None]
    X = xp.where(there, X, xp.zeros_like(X))
    weight = xp.sum(rows, axis=0)
    mean = xp.sum(rows * X, axis=0) / xp.where(weight > 0, weight, xp.ones_like(weight))
    Z = X - mean
    return weight, mean, xp.sum(rows * Z * Z, axis=0)


def _sparse_moments(block: Block) -> Moments:
    """The same from the stored entries alone; the rest of each column is zeros."""
    X = block.X
    n_rows, n_features = X.shape
    values = X.data.astype(np.float64, copy=False)
    w = np.ones(n_rows) if block.w is None else block.w
    entry = np.repeat(w, np.diff(X.indptr))
    if np.isinf(values).any():
        raise ValueError(
            "X contains inf, which has no mean; replace infinities by NaN, which is left out, or by numbers."
        )
    absent = np.isnan(values)
    weight = np.full(n_features, w.sum())
    columns = X.indices
    if absent.any():
        weight -= np.bincount(columns[absent], weights=entry[absent], minlength=n_features)
        values, columns, entry = values[~absent], columns[~absent], entry[~absent]
    stored = np.bincount(columns, weights=entry, minlength=n_features)
    mean = np.bincount(columns, weights=entry * values, minlength=n_features) / np.where(weight > 0, weight, 1.0)
    squares = np.bincount(columns, weights=entry * (values - mean[columns]) ** 2, minlength=n_features)
    return weight, mean, squares + np.maximum(weight - stored, 0.0) * mean**2


def merge_moments(a: Any, b: Any) -> Any:
    """Chan's rule; None is no rows."""
    if a is None or b is None:
        return b if a is None else a
    xp = namespace(a[0])
    weight = a[0] + b[0]
    share = b[0] / xp.where(weight > 0, weight, xp.ones_like(weight))
    step = b[1] - a[1]
    return weight, a[1] + step * share, a[2] + b[2] + step * step * a[0] * share
