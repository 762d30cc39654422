"""Weight, mean and sum of squared deviations of every column, as sums over rows.

The sums are taken about a provisional mean s of a few hundred rows, so that nothing cancels however far from zero the
data lie:

    W = Σ w,   a = Σ w (x − s) / W,   mean = s + a,   S = Σ w (x − s)² − W a².

Two sets of rows are put together by Chan's rule: with δ = mean_b − mean_a and W = W_a + W_b,

    mean = mean_a + δ W_b / W,   S = S_a + S_b + δ² W_a W_b / W.

NaN counts as not there, column by column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace
from learnt.engine.blocks import Block, widen
from learnt.engine.rows import Rows

Moments = tuple[Any, Any, Any]
_HEAD = 256


def moments(rows: Rows, before: Moments | None = None) -> Moments:
    """Weight, mean and sum of squared deviations of each column, of these rows and those `before`."""
    shift = provisional_mean(rows)
    xp = namespace(shift)
    weight, total, squares = rows.sum(shifted_sums, shift)
    some = xp.where(weight > 0, weight, xp.ones_like(weight))
    rest = total / some
    squares = xp.where(squares > total * rest, squares - total * rest, xp.zeros_like(squares))
    if before is None:
        return weight, shift + rest, squares
    old_weight, old_mean, old_squares = before
    both = old_weight + weight
    share = weight / xp.where(both > 0, both, xp.ones_like(both))
    step = (shift - old_mean) + rest  # the large parts first: their difference is exact
    return both, old_mean + step * share, old_squares + squares + step * step * old_weight * share


def provisional_mean(rows: Rows) -> Any:
    """The mean of the first rows, cells that are NaN left out."""
    X = rows.head(_HEAD).X
    if sparse.issparse(X):
        X = X.toarray()
    X = widen(X)
    xp = namespace(X)
    there = xp.isfinite(X)
    count = xp.sum(xp.where(there, xp.ones_like(X), xp.zeros_like(X)), axis=0)
    return xp.sum(xp.where(there, X, xp.zeros_like(X)), axis=0) / xp.where(count > 0, count, xp.ones_like(count))


def shifted_sums(block: Block, shift: Any) -> Moments:
    """Σ w, Σ w z and Σ w z² of each column of a block, with z = x − shift."""
    if sparse.issparse(block.X):
        return _sparse_sums(block, shift)
    Z = widen(block.X) - shift
    xp = namespace(Z)
    if block.w is None:
        total = xp.sum(Z, axis=0)
        weight, squares = xp.full_like(total, Z.shape[0]), xp.sum(Z * Z, axis=0)
    else:
        w = widen(block.w)
        total = w @ Z
        weight, squares = xp.full_like(total, float(xp.sum(w))), w @ (Z * Z)
    return (weight, total, squares) if bool(xp.all(xp.isfinite(total))) else _gappy_sums(Z, block.w, xp)


def _gappy_sums(Z: Any, w: Any, xp: Any) -> Moments:
    """The same where some cells are NaN."""
    if bool(xp.any(xp.isinf(Z))):
        raise ValueError("X contains inf, which has no mean; replace infinities by NaN, which is left out.")
    there = ~xp.isnan(Z)
    weight = xp.where(there, xp.ones_like(Z), xp.zeros_like(Z))
    if w is not None:
        weight = weight * widen(w)[:, None]
    Z = xp.where(there, Z, xp.zeros_like(Z))
    return xp.sum(weight, axis=0), xp.sum(weight * Z, axis=0), xp.sum(weight * Z * Z, axis=0)


def _sparse_sums(block: Block, shift: np.ndarray) -> Moments:
    """The same from the stored entries; what is not stored is −shift."""
    X = block.X
    n_rows, n_features = X.shape
    values, columns = X.data.astype(np.float64, copy=False), X.indices
    w = np.ones(n_rows) if block.w is None else block.w
    entry = np.repeat(w, np.diff(X.indptr))
    if np.isinf(values).any():
        raise ValueError("X contains inf, which has no mean; replace infinities by NaN, which is left out.")
    weight = np.full(n_features, w.sum())
    absent = np.isnan(values)
    if absent.any():
        weight -= np.bincount(columns[absent], weights=entry[absent], minlength=n_features)
        values, columns, entry = values[~absent], columns[~absent], entry[~absent]
    z = values - shift[columns]
    zeros = np.maximum(weight - np.bincount(columns, weights=entry, minlength=n_features), 0.0)
    total = np.bincount(columns, weights=entry * z, minlength=n_features) - zeros * shift
    return weight, total, np.bincount(columns, weights=entry * z * z, minlength=n_features) + zeros * shift**2
