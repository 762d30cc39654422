"""Least squares by products with X only: X is a SciPy operator, a memory map, or is read in blocks.

An operator gives Xv and Xᵀu and nothing else, which is all that LSQR needs. Rows that are read in blocks give more:
one pass over them makes XᵀWXv without ever holding a vector of their length, so conjugate gradients on the normal
equations run in memory that does not grow with the number of rows. They are restarted with the gradient computed from
the data until that is small, which recovers the digits that squaring X loses.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.engine.validation import check_target, check_weights
from learnt.linear_model.least_squares._residuals import column_squares, residual_products
from learnt.linear_model.least_squares._solvers import Solution
from learnt.statistics import joint_means

_RESTARTS = 12
_INNER = 1e-5  # tolerance of one run of conjugate gradients


def is_operator(X: Any) -> bool:
    """Whether X is known by its products only."""
    return isinstance(X, LinearOperator)


def by_operator(model: Any, X: LinearOperator, y: Any, sample_weight: Any) -> tuple[Solution, Any]:
    """LSQR on the centred, weighted operator; also y as it was checked."""
    name = type(model).__name__
    if model.positive or model.solver not in ("auto", "lsqr"):
        raise ValueError(
            f"X is a LinearOperator, which gives products only; fit {name} with solver='lsqr' and positive=False."
        )
    y = check_target(y, "numbers", X, name)
    w = check_weights(sample_weight, X)
    n, d = X.shape
    Y = as_columns(y).astype(np.float64)
    weights = np.ones(n) if w is None else w
    total = float(weights.sum())
    x_mean, y_mean = np.zeros(d), np.zeros(Y.shape[1])
    if model.fit_intercept:
        x_mean, y_mean = X.rmatvec(weights) / total, weights @ Y / total
    root = np.sqrt(weights)
    centred = LinearOperator(
        (n, d),
        matvec=lambda v: root * (X.matvec(v.ravel()) - x_mean @ v.ravel()),
        rmatvec=lambda u: X.rmatvec(root * u.ravel()) - x_mean * (root @ u.ravel()),
        dtype=np.float64,
    )
    tol = float(model.tol)
    found = [lsqr(centred, root * (Y[:, j] - y_mean[j]), atol=tol, btol=tol, conlim=0) for j in range(Y.shape[1])]
    coef = np.column_stack([result[0] for result in found])
    if not np.isfinite(coef).all():
        raise ValueError(f"The products of the LinearOperator given to {name} are not finite; check its matvec.")
    if any(result[1] == 7 for result in found):
        far = max(result[7] / max(result[5] * result[3], 1e-300) for result in found if result[1] == 7)
        _warn(name, max(result[2] for result in found), far, tol)
    model.n_features_in_ = d
    vars(model).pop("feature_names_in_", None)
    return Solution(coef, x_mean, y_mean, "lsqr", n_iter=max(result[2] for result in found)), y


def operator_scores(model: Any, X: LinearOperator) -> np.ndarray:
    """X coefᵀ + intercept of an operator."""
    check_is_fitted(model)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features."
        )
    coef = to_numpy(model.coef_)
    return (X.matvec(coef) if coef.ndim == 1 else X.matmat(coef.T)) + to_numpy(model.intercept_)


def reads_blocks(rows: Rows) -> bool:
    """Whether the rows are not in memory: in a file, on a cluster, or a memory map."""
    X = rows.X
    while isinstance(X, np.ndarray) and not isinstance(X, np.memmap) and X.base is not None:
        X = X.base
    return not rows.in_memory or isinstance(X, np.memmap)


def by_blocks(rows: Rows, center: bool, tol: float, name: str) -> Solution:
    """Conjugate gradients on XᵀWX b = XᵀWy, a pass over the rows each, in units where the columns have length 1."""
    x_mean, y_mean = joint_means(rows, center)
    dtype = widen(rows.reference).dtype
    as_rows_are = lambda a: like(a, rows.reference, dtype)  # noqa: E731
    mean = as_rows_are(x_mean)
    lengths = np.sqrt(np.clip(to_numpy(rows.sum(column_squares, mean)[0]), 0.0, None))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)[:, None]
    coef = np.zeros((len(x_mean), len(y_mean)))
    first, far, n_iter = None, np.inf, 0
    for _ in range(_RESTARTS):
        (slope,) = rows.sum(residual_products, mean, y_mean, coef)
        gradient = scale * to_numpy(slope)
        size = np.linalg.norm(gradient, axis=0)
        first = np.maximum(size, np.finfo(float).tiny) if first is None else first
        last, far = far, float((size / first).max())
        if far <= 0.01 * tol or far > 0.5 * last:  # small enough, or all that rounding allows
            break

        def product(v: np.ndarray) -> np.ndarray:
            return scale * to_numpy(rows.sum(_normal_product, mean, as_rows_are(scale * v))[0])

        step, taken = _conjugate_gradients(product, gradient, 2 * len(coef) + 10)
        coef, n_iter = coef + scale * step, n_iter + taken
    if far > max(tol, 1e-9):
        _warn(name, n_iter, far, tol)
    return Solution(coef, x_mean, y_mean, "lsqr", n_iter=n_iter)


def _conjugate_gradients(product: Any, right: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    """All targets at once: each has its own step lengths, and stops once it has converged."""
    x, r, p = np.zeros_like(right), right.copy(), right.copy()
    rho = np.einsum("ij,ij->j", r, r)
    goal = _INNER**2 * rho
    n_iter = 0
    while n_iter < limit and np.any(rho > goal):
        n_iter += 1
        q = product(p)
        bend = np.einsum("ij,ij->j", p, q)
        moving = (rho > goal) & (bend > 0)
        if not moving.any():
            break
        step = np.where(moving, rho / np.where(moving, bend, 1.0), 0.0)
        x, r = x + step * p, r - step * q
        new = np.where(moving, np.einsum("ij,ij->j", r, r), rho)
        p = r + np.where(moving, new / np.where(rho > 0, rho, 1.0), 0.0) * p
        rho = new
    return x, n_iter


def _normal_product(block: Block, mean: Any, v: Any) -> tuple:
    """Σ w (x − x̄)(x − x̄)ᵀv of one block, without a centred copy of it."""
    X = widen(block.X)
    p = X @ v - mean @ v
    if block.w is not None:
        p = p * widen(block.w)[:, None]
    return (X.T @ p - mean[:, None] * namespace(p).sum(p, axis=0)[None, :],)


def _warn(name: str, n_iter: int, far: float, tol: float) -> None:
    warnings.warn(
        f"{name} stopped after {n_iter} iterations of LSQR with a gradient {far:.1e} of its start (tol={tol:g}); the "
        "columns may be nearly collinear: scale them, or take solver='auto'.",
        ConvergenceWarning,
        stacklevel=4,
    )
