"""Sums over rows that least squares fits from: weighted means, scatter matrices, and triangular factors.

All are statistics for `engine.rows`: written once, they run over arrays, memory maps, files, clusters and devices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.blocks import Block, widen
from learnt.engine.finite import require_finite
from learnt.engine.rows import Rows
from learnt.engine.threads import single_blas
from learnt.linalg.gram import by_tiles
from learnt.linalg.gram import gram as tiled_gram

_FEW_TARGETS = 3
_PASSES = 4  # at most: squares that overflow never satisfy anyone
_FAR = 100.0  # means beyond this many standard deviations cost four digits: subtract them before squaring
_DIGITS_TO_SPARE = 1e5  # mean² against the variance, found afterwards: beyond, another pass is worth it


class Moments(NamedTuple):
    """Second moments about the means (about 0 without an intercept), as float64 NumPy arrays."""

    weight: float  # Σ w
    x_mean: np.ndarray  # (d,)
    y_mean: np.ndarray  # (k,)
    gram: np.ndarray  # (d, d)  Σ w (x − x̄)(x − x̄)ᵀ
    cross: np.ndarray  # (d, k)  Σ w (x − x̄)(y − ȳ)ᵀ


@single_blas()
def moments(rows: Rows, center: bool = True) -> Moments:
    """The moments in one pass.

    Σx² − n x̄² has no correct digit left when the mean is a million times the spread. So columns whose first rows look
    like that are shifted by their mean before they are squared, and if others turn out so, there is a second pass.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows shows in the scatter matrix
        return _moments(rows, center)


def _moments(rows: Rows, center: bool) -> Moments:
    x0, y0 = _provisional_means(rows) if center else (None, None)
    passes = 1 if sparse.issparse(rows.head(1).X) else _PASSES  # zeros that are not stored cannot be shifted
    for _ in range(passes):
        if x0 is None and by_tiles(rows):
            total, joint, sy = rows.sum(shifted_sums, x0, y0)
            gram = tiled_gram(rows.X.T)
        else:
            total, joint, sy, gram = rows.sum(shifted_moments, x0, y0)
        total, joint, sy, gram = float(total), to_numpy(joint), to_numpy(sy), to_numpy(gram)
        sx, cross = joint[:, 0], joint[:, 1:]
        if not center:
            return Moments(total, np.zeros(len(sx)), np.zeros(len(sy)), gram, cross)
        dx, dy = sx / total, sy / total
        x_mean = dx if x0 is None else to_numpy(x0) + dx
        about_mean = gram - total * np.outer(dx, dx)
        if np.all(total * dx**2 <= _DIGITS_TO_SPARE * np.diag(about_mean) + np.finfo(float).tiny):
            break
        if x0 is not None and np.array_equal(x0, like(x_mean, x0)):  # shifted by the mean itself: nothing left to gain
            break
        x0 = like(x_mean, widen(rows.reference))
    return Moments(total, x_mean, to_numpy(y0) + dy, about_mean, cross - total * np.outer(dx, dy))


def _provisional_means(rows: Rows) -> tuple[Any, Any]:
    """What to subtract from X (None: nothing, which saves a copy of every block) and from y."""
    head = rows.head(256)
    Y = widen(as_columns(head.y))
    y0 = namespace(Y).mean(Y, axis=0)
    if sparse.issparse(head.X):
        return None, y0
    X = widen(head.X)
    xp = namespace(X)
    mean = xp.mean(X, axis=0)
    return (mean if far_from_zero(mean, X) else None), y0


def far_from_zero(mean: Any, some: Any) -> bool:
    """Whether a mean is so far from 0, measured by the spread of some rows, that squares about 0 would lose digits."""
    xp = namespace(some)
    with np.errstate(over="ignore"):
        return bool(xp.any(xp.abs(mean) > _FAR * xp.std(some, axis=0)))


def require_finite_cells(estimator: Any, X: np.ndarray) -> None:
    """Raise where a cell of X is not finite: for those who came by the door unasked, since their sums would tell."""
    names = getattr(estimator, "feature_names_in_", None)
    require_finite(X, "X", type(estimator).__name__, None if names is None else [str(name) for name in names])


def as_columns(y: Any) -> Any:
    """y as (n, k)."""
    return y[:, None] if y.ndim == 1 else y


def shifted_moments(block: Block, x0: Any, y0: Any) -> tuple:
    """The sums of `shifted_sums`, and Σw(x−x₀)(x−x₀)ᵀ.

    Products are in float64 whatever the data: squaring a float32 matrix squares its condition number too.
    """
    w = None if block.w is None else widen(block.w)
    if sparse.issparse(block.X):
        X = widen_sparse(block.X)
        weighted = X if w is None else sparse.diags_array(w) @ X
        return *shifted_sums(block, x0, y0), (X.T @ weighted).toarray()
    X = _shifted(block.X, x0)
    sums = shifted_sums(block._replace(X=X), None, y0)
    if w is not None:
        X = X * namespace(X).sqrt(w)[:, None]
    return *sums, X.T @ X


def shifted_sums(block: Block, x0: Any, y0: Any) -> tuple:
    """Σw, Σw(x−x₀)[1, (y−y₀)ᵀ] and Σw(y−y₀) of one block."""
    Y = _shifted(as_columns(block.y), y0)
    xp = namespace(Y)
    w = xp.ones_like(Y[:, 0]) if block.w is None else widen(block.w)
    X = widen_sparse(block.X) if sparse.issparse(block.X) else _shifted(block.X, x0)
    wY = Y if block.w is None else Y * w[:, None]
    weight = Y.shape[0] if block.w is None else xp.sum(w)
    if is_numpy(X) and Y.shape[1] <= _FEW_TARGETS:  # vectors one by one: BLAS is slow at products with thin matrices
        joint = np.stack([w @ X, *(column @ X for column in np.ascontiguousarray(wY.T))], axis=1)
    else:
        joint = X.T @ xp.concat([w[:, None], wY], axis=1)
    return weight, joint, w @ Y


def _shifted(X: Any, point: Any) -> Any:
    return widen(X) if point is None else widen(X) - point


def widen_sparse(X: Any) -> Any:
    return X.astype(np.float64) if X.dtype != np.float64 else X


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
