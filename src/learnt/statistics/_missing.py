"""Sums of each column over the cells that are not missing: NaN is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._dense import about, dense_sums
from learnt.statistics._record import DIAGONAL
from learnt.statistics._sparse import column_sums_about

_INFINITE = "Input X contains infinity, which has no mean; replace infinities by NaN, which is left out."


def sums_of_present_cells(block: Block, point: Any) -> tuple:
    """Σw, Σwz and Σwz² of each column, z = x − point."""
    if sparse.issparse(block.X):
        return _sparse(block, point)
    weight, first, second = dense_sums(block, point, DIAGONAL)
    xp = namespace(first)
    if not bool(xp.all(xp.isfinite(first))):
        return _gappy(block, point)
    return xp.full_like(first, float(weight)), first, second


def _gappy(block: Block, point: Any) -> tuple:
    Z = about(block.X, point)
    xp = namespace(Z)
    if bool(xp.any(xp.isinf(Z))):
        raise ValueError(_INFINITE)
    present = ~xp.isnan(Z)
    weight = xp.where(present, xp.ones_like(Z), xp.zeros_like(Z))
    if block.w is not None:
        weight = weight * widen(block.w)[:, None]
    Z = xp.where(present, Z, xp.zeros_like(Z))
    return xp.sum(weight, axis=0), xp.sum(weight * Z, axis=0), xp.sum(weight * Z * Z, axis=0)


def _sparse(block: Block, point: Any) -> tuple:
    X = widen(block.X)
    n_rows, n_features = X.shape
    if np.isinf(X.data).any():
        raise ValueError(_INFINITE)
    w = np.ones(n_rows) if block.w is None else np.asarray(block.w, dtype=np.float64)
    weight, cells = np.full(n_features, w.sum()), np.full(n_features, n_rows)
    absent = np.isnan(X.data)
    if absent.any():
        rows = np.repeat(np.arange(n_rows), np.diff(X.indptr))
        weight -= np.bincount(X.indices[absent], weights=w[rows[absent]], minlength=n_features)
        cells -= np.bincount(X.indices[absent], minlength=n_features)
        weight = np.where(cells > 0, np.maximum(weight, 0.0), 0.0)  # and not what rounding leaves of the difference
        present = ~absent
        X = sparse.csr_array((X.data[present], (rows[present], X.indices[present])), shape=X.shape)
    return weight, *column_sums_about(X, w, point, weight, cells)
