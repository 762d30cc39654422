"""Moments of X and y together: what least squares fits from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.matrices import Route, route
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.engine.threads import single_blas
from learnt.linalg.gram import by_tiles
from learnt.linalg.gram import gram as tiled_gram
from learnt.linalg.scatter import scatter, worth_compiling
from learnt.statistics._dense import takes_compiled
from learnt.statistics._far_columns import with_far_columns
from learnt.statistics._points import far_from_zero
from learnt.statistics._record import FULL, Moments

_FEW_TARGETS = 3
_PASSES = 4  # at most: squares that overflow never satisfy anyone
_CONSTANT = 4 * float(np.finfo(np.float64).eps)
_DIGITS_TO_SPARE = 1e5  # mean² over the variance, checked afterwards: beyond, another pass is needed


class JointMoments(NamedTuple):
    """Second moments about the means (about 0 without an intercept), as float64 NumPy arrays."""

    weight: float  # Σ w
    x_mean: np.ndarray  # (d,)
    y_mean: np.ndarray  # (k,)
    gram: np.ndarray  # (d, d)  Σ w (x − x̄)(x − x̄)ᵀ
    cross: np.ndarray  # (d, k)  Σ w (x − x̄)(y − ȳ)ᵀ


@single_blas()
def joint_moments(rows: Rows, center: bool = True) -> JointMoments:
    """The moments in one pass.

    Σx² − n x̄² has no correct digit left when the mean is a million times the spread. So columns whose first rows show
    that are shifted by their mean before they are squared, and if others turn out so, there is a second pass.

    >>> from learnt.engine.rows import as_rows
    >>> joint_moments(as_rows(np.array([[0.0], [2.0]]), np.array([1.0, 5.0]))).cross
    array([[4.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows shows in the scatter matrix
        return _moments(rows, center)


def _moments(rows: Rows, center: bool) -> JointMoments:
    x0, y0 = _provisional_means(rows) if center else (None, None)
    head = rows.head(1)
    no_shift = sparse.issparse(head.X)  # zeros that are not stored cannot be shifted
    compiled = worth_compiling(rows.n_rows if rows.in_memory else np.inf, rows.n_features)
    compiled = compiled and as_columns(head.y).shape[1] <= _FEW_TARGETS
    for _ in range(_PASSES):
        if x0 is None and by_tiles(rows):
            total, joint, sy = rows.sum(joint_sums, x0, y0)
            gram = tiled_gram(rows.X.T)
        else:
            total, joint, sy, gram = rows.sum(joint_products, x0, y0, compiled)
        total, joint, sy, gram = float(total), to_numpy(joint), to_numpy(sy), to_numpy(gram)
        sx, cross = joint[:, 0], joint[:, 1:]
        if not center:
            return JointMoments(total, np.zeros(len(sx)), np.zeros(len(sy)), gram, cross)
        dx, dy = sx / total, sy / total
        x_mean = dx if x0 is None else to_numpy(x0) + dx
        about_mean = gram - total * np.outer(dx, dx)
        far = total * dx**2 > _DIGITS_TO_SPARE * np.diag(about_mean) + np.finfo(float).tiny
        if not far.any():
            break
        if no_shift:
            found = with_far_columns(rows, None, Moments(total, x_mean, about_mean, FULL), far)
            x_mean, about_mean = found.mean, found.scatter
            break
        if x0 is not None and np.array_equal(x0, like(x_mean, x0)):  # shifted by the mean itself: no correction needed
            break
        x0 = like(x_mean, widen(rows.reference))
    cross = cross - total * np.outer(dx, dy)
    # x − x̄ has rounding errors relative to x: a column with no more spread than these is constant.
    constant = np.diag(about_mean) <= _CONSTANT**2 * total * x_mean**2
    if constant.any():
        about_mean[constant], about_mean[:, constant], cross[constant] = 0.0, 0.0, 0.0
    return JointMoments(total, x_mean, to_numpy(y0) + dy, about_mean, cross)


def _provisional_means(rows: Rows) -> tuple[Any, Any]:
    """The shifts of X (None: none, which saves a copy of every block) and of y."""
    head = rows.head(256)
    Y = widen(as_columns(head.y))
    y0 = namespace(Y).mean(Y, axis=0)
    if sparse.issparse(head.X):
        return None, y0
    X = widen(head.X)
    mean = namespace(X).mean(X, axis=0)
    return (mean if far_from_zero(mean, X) else None), y0


def joint_products(block: Block, x0: Any, y0: Any, compiled: bool = False) -> tuple:
    """The sums of `joint_sums`, and Σw(x−x₀)(x−x₀)ᵀ; with `compiled` in one pass over float64 rows of NumPy.

    Products are in float64 whatever the data: squaring a float32 matrix squares its condition number too.
    """
    w = None if block.w is None else widen(block.w)
    if compiled and takes_compiled(block):
        d, Y = block.X.shape[1], as_columns(block.y)
        first, S = scatter(block.X, x0, w, Y, y0)
        weight = block.X.shape[0] if w is None else w.sum()
        return weight, np.column_stack([first[:d], S[:d, d:]]), first[d:], S[:d, :d]
    if sparse.issparse(block.X):
        X = widen(block.X)
        weighted = X if w is None else sparse.diags_array(w) @ X
        return *joint_sums(block, x0, y0), (X.T @ weighted).toarray()
    X = _shifted(block.X, x0)
    sums = joint_sums(block._replace(X=X), None, y0)
    if w is not None:
        X = X * namespace(X).sqrt(w)[:, None]
    return *sums, X.T @ X


def joint_sums(block: Block, x0: Any, y0: Any) -> tuple:
    """Σw, Σw(x−x₀)[1, (y−y₀)ᵀ] and Σw(y−y₀) of one block."""
    Y = _shifted(as_columns(block.y), y0)
    xp = namespace(Y)
    w = xp.ones_like(Y[:, 0]) if block.w is None else widen(block.w)
    X = widen(block.X) if sparse.issparse(block.X) else _shifted(block.X, x0)
    wY = Y if block.w is None else Y * w[:, None]
    weight = Y.shape[0] if block.w is None else xp.sum(w)
    if is_numpy(X) and Y.shape[1] <= _FEW_TARGETS:  # vectors one by one: BLAS is slow at products with thin matrices
        joint = np.stack([w @ X, *(column @ X for column in np.ascontiguousarray(wY.T))], axis=1)
    else:
        joint = X.T @ xp.concat([w[:, None], wY], axis=1)
    return weight, joint, w @ Y


def _shifted(X: Any, point: Any) -> Any:
    return widen(X) if point is None else widen(X) - point


def joint_means(rows: Rows, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means of X and y; zeros without an intercept.

    Sums are taken about the first row, so that the mean of a constant column is its value exactly.
    """
    if not center:
        return np.zeros(rows.n_features), np.zeros(as_columns(rows.head(1).y).shape[1])
    head = rows.head(1)
    x0 = None if route(head.X) is Route.SPARSE else widen(head.X)[0, :]
    total, sx, sy = rows.sum(_sums, x0)
    first = 0.0 if x0 is None else to_numpy(x0)
    return first + to_numpy(sx) / float(total), to_numpy(sy) / float(total)


def _sums(block: Block, x0: Any) -> tuple:
    Y, X = widen(as_columns(block.y)), _shifted(block.X, x0)
    xp = namespace(Y)
    if block.w is None:
        x_sum = X.sum(axis=0) if is_numpy(X) else (np.asarray(X.sum(axis=0)).ravel() if xp is np else xp.sum(X, axis=0))
        return X.shape[0], x_sum, xp.sum(Y, axis=0)
    w = widen(block.w)
    return xp.sum(w), (X.T @ w if sparse.issparse(X) else w @ X), w @ Y
