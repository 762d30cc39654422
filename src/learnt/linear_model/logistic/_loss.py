"""Log loss, its gradient and its curvature as sums over rows: statistics for `engine.rows`.

A row of weight w with class y and scores s (one score where there are two classes, K otherwise) costs

    two classes   w (log(1 + eˢ) − y s),            y = 0 or 1
    K classes     w (log Σₖ e^{sₖ} − s_y)

computed so that a small loss has all its digits, and so has its derivative: with weights of 1e10 they are what counts.

Each statistic is written once against the Array API and serves every library; NumPy arrays and CSR matrices that are
large enough go to compiled twins in `_kernels`. Coefficients come as `theta`: K × (d + 1) with the
intercept last, K = 1 for two classes, always float64, and so is the arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_foreign_array, is_numpy, like, namespace
from learnt.engine.matrices import cast, dense, double, join
from learnt.engine.rows.blocks import Block
from learnt.linear_model.logistic import _kernels as kernels

_NO_WEIGHTS = np.empty(0)


class CsrRows(NamedTuple):
    """Some rows of a CSR matrix by reference: `indptr` points into the whole of `data` and `indices`."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]

    def matrix(self) -> Any:
        start, end = self.indptr[0], self.indptr[-1]
        parts = (self.data[start:end], self.indices[start:end], self.indptr - start)
        return sparse.csr_matrix(parts, shape=self.shape)


class Target(NamedTuple):
    """How a block's y is to be read."""

    n_classes: int
    weights: np.ndarray  # of the classes; they multiply those of the rows
    weighted: bool = True  # False: all of them are 1
    labels: Any = None  # the classes in order, or None where y is 0…K−1 already
    compiled: bool = False  # whether there is enough work for compiled code

    @property
    def binary(self) -> bool:
        return self.n_classes == 2

    @property
    def n_outputs(self) -> int:
        return 1 if self.binary else self.n_classes


def codes_of(block: Block, target: Target) -> Any:
    """The block's classes as 0…K−1."""
    if target.labels is None:
        return block.y
    return np.minimum(np.searchsorted(target.labels, block.y), target.n_classes - 1)


def loss_gradient(block: Block, theta: np.ndarray, target: Target) -> tuple[Any, Any]:
    """Σ loss, and its gradient in theta."""
    if target.compiled and not is_foreign_array(block.X):
        return _sparse_compiled(block, theta, target) if is_sparse(block.X) else _compiled(block, theta, target)
    X = floats(block.X)
    loss, residuals = _residuals(block, scores_of(X, theta), target)
    return loss, _gradient(X, residuals)


def hessian(block: Block, theta: np.ndarray, target: Target, shift: Any = None, scale: Any = None) -> tuple[Any]:
    """The second derivative of Σ loss in the coefficients of (x − shift)/scale and 1; of x and 1 without them.

    Σᵢ wᵢ Hᵢ ⊗ zᵢzᵢᵀ with Hᵢ = p(1 − p), or diag(p) − ppᵀ for K classes (KD × KD).
    """
    if target.binary and target.compiled and is_numpy(block.X):
        X, y, w, table = kernel_arrays(block, target)
        A = np.empty((X.shape[0], X.shape[1] + 1))
        shift, unit = (np.zeros(X.shape[1]), np.ones(X.shape[1])) if shift is None else (shift, 1.0 / scale)
        kernels.dense_curvature_rows(X, y, w, table, _as(theta[0], np.float64), _as(shift, np.float64), unit, A)
        return (A.T @ A,)
    Z, scores, w = _in_units(block, theta, target, shift, scale)
    xp = namespace(Z)
    if target.binary:
        A = Z * xp.sqrt(w * curve(scores, target))
        return (A.T @ A,)
    p = softmax(scores)
    K, D = target.n_classes, Z.shape[1]
    A = xp.reshape((p * xp.sqrt(w))[:, :, None] * Z[:, None, :], (-1, K * D))
    roots = [Z * xp.sqrt(w * p[:, k : k + 1]) for k in range(K)]
    own = xp.stack([B.T @ B for B in roots])  # K × D × D, spread along the diagonal below
    eye = like(np.eye(K), Z)
    return (xp.reshape(own[:, :, None, :] * eye[:, None, :, None], (K * D, K * D)) - A.T @ A,)


def hessian_blocks(block: Block, theta: np.ndarray, target: Target, shift: Any = None, scale: Any = None) -> tuple[Any]:
    """The blocks of `hessian` on its diagonal, one a class (K × D × D); one for all where theta is 0."""
    Z, scores, w = _in_units(block, theta, target, shift, scale)
    xp = namespace(Z)
    roots = xp.sqrt(w * curve(scores, target))
    parts = [Z * roots[:, k : k + 1] for k in range(target.n_classes if theta.any() else 1)]
    return (xp.stack([A.T @ A for A in parts]),)


def curve(scores: Any, target: Target) -> Any:
    """By how much a unit more in each score curves the loss of a row: p(1 − p)."""
    xp = namespace(scores)
    if target.binary:
        e = xp.exp(-xp.abs(scores))
        return e / (1 + e) ** 2
    p = softmax(scores)
    return p * (1 - p)


def _in_units(block: Block, theta: np.ndarray, target: Target, shift: Any, scale: Any) -> tuple[Any, Any, Any]:
    """The rows in their units with a column of ones, their scores, and their weights as a column."""
    X = dense(floats(block.X))
    scores = scores_of(X, theta)
    if shift is not None:
        X = (X - like(shift, X)) / like(scale, X)
    Z = join([X, namespace(X).ones_like(X[:, :1])], axis=1)
    return Z, scores, row_weights(block, scores, target)[:, None]


def mistakes(block: Block, theta: np.ndarray, target: Target) -> tuple[int]:
    """How many rows of positive weight are not strictly on the side of their class."""
    scores = scores_of(floats(block.X), theta)
    xp = namespace(scores)
    if target.binary:
        wrong = scores[:, 0] * (2 * _indicator(block, scores, target) - 1) <= 0
    else:
        own = _one_hot(block, scores, target)
        others = xp.where(own > 0, xp.full_like(scores, -xp.inf), scores)
        wrong = xp.sum(own * scores, axis=1) <= xp.max(others, axis=1)
    return (int(xp.sum(cast(wrong & (row_weights(block, scores, target) > 0), xp.int64))),)


def class_totals(block: Block, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Rows of positive weight, and weight, of each class."""
    codes = codes_of(block, target)
    xp = namespace(codes)
    K = target.n_classes
    if xp is not np:
        w = None if block.w is None else cast(block.w, xp.float64)
        own = [codes == k for k in range(K)]
        counts = [int(xp.sum(cast(o if w is None else o & (w > 0), xp.int64))) for o in own]
        weights = counts if w is None else [float(xp.sum(xp.where(o, w, xp.zeros_like(w)))) for o in own]
        return np.asarray(counts, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    codes = codes.astype(np.int64, copy=False)
    if block.w is None:
        present = np.bincount(codes, minlength=K).astype(np.float64)
        return present, present.copy()  # sums are added up in place
    return np.bincount(codes, block.w > 0, minlength=K), np.bincount(codes, block.w, minlength=K)


def is_sparse(X: Any) -> bool:
    return isinstance(X, CsrRows) or sparse.issparse(X)


def floats(X: Any) -> Any:
    """X for arithmetic in float64: an array of that type, or a SciPy matrix."""
    if is_sparse(X):
        return X.matrix() if isinstance(X, CsrRows) else X
    return double(X)


def scores_of(X: Any, theta: np.ndarray) -> Any:
    """X coefᵀ + intercept, dense n × K."""
    if is_sparse(X):
        return np.asarray(X @ theta[:, :-1].T) + theta[:, -1]
    return X @ like(theta[:, :-1], X).T + like(theta[:, -1], X)


def _indicator(block: Block, scores: Any, target: Target) -> Any:
    """1.0 for rows of the second of two classes."""
    return cast(codes_of(block, target), scores.dtype)


def _one_hot(block: Block, scores: Any, target: Target) -> Any:
    codes = codes_of(block, target)
    columns = like(np.arange(target.n_classes), codes)
    return cast(codes[:, None] == columns[None, :], scores.dtype)


def row_weights(block: Block, reference: Any, target: Target) -> Any:
    """The weight of each row, its own times that of its class, as an array like `reference`."""
    w = None if block.w is None else cast(block.w, reference.dtype)
    if target.weighted:
        own = _indicator(block, reference, target) if target.binary else _one_hot(block, reference, target)
        table = target.weights
        of_class = own @ like(table, reference) if own.ndim == 2 else float(table[0]) + float(table[1] - table[0]) * own
        return of_class if w is None else w * of_class
    if w is None:
        return like(np.ones(block.X.shape[0]), reference)
    return w


def _residuals(block: Block, scores: Any, target: Target) -> tuple[Any, Any]:
    """Σ loss, and its derivative in the scores (n × K)."""
    xp = namespace(scores)
    if target.binary:
        side = 2 * _indicator(block, scores, target) - 1
        margin = side * scores[:, 0]
        e = xp.exp(-xp.abs(margin))
        loss = xp.log1p(e) + xp.where(margin < 0, -margin, xp.zeros_like(margin))
        residuals = (-side * xp.where(margin > 0, e, xp.ones_like(e)) / (1 + e))[:, None]
    else:
        own = _one_hot(block, scores, target)
        shifted = scores - xp.max(scores, axis=1, keepdims=True)
        e, below = xp.exp(shifted), xp.sum(own * shifted, axis=1)
        others = xp.sum((1 - own) * e, axis=1, keepdims=True)
        totals = others + xp.sum(own * e, axis=1, keepdims=True)
        loss = xp.where(below == 0, xp.log1p(others[:, 0]), xp.log(totals[:, 0]) - below)
        residuals = ((1 - own) * e - own * others) / totals
    if block.w is None and not target.weighted:
        return xp.sum(loss), residuals
    w = row_weights(block, scores, target)
    return xp.sum(w * loss), w[:, None] * residuals


def _gradient(X: Any, residuals: Any) -> Any:
    product = np.asarray((X.T @ residuals).T) if is_sparse(X) else residuals.T @ X
    return join([product, namespace(residuals).sum(residuals, axis=0)[:, None]], axis=1)


def softmax(scores: Any) -> Any:
    """exp(sₖ)/Σ exp(s), row by row, without overflow."""
    xp = namespace(scores)
    e = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def _compiled(block: Block, theta: np.ndarray, target: Target) -> tuple[float, np.ndarray]:
    X, y, w, table = kernel_arrays(block, target)
    if target.binary:
        gradient = np.zeros((1, X.shape[1] + 1))
        loss = kernels.dense_loss_gradient(X, y, w, table, _as(theta[0], np.float64), gradient[0])
        return loss, gradient
    X = floats(X)
    S = X @ theta[:, :-1].T
    S += theta[:, -1]
    loss = kernels.softmax_link(S, y, w, table)
    gradient = np.empty(theta.shape)
    gradient[:, :-1] = S.T @ X
    gradient[:, -1] = S.sum(axis=0)
    return loss, gradient


def _sparse_compiled(block: Block, theta: np.ndarray, target: Target) -> tuple[float, np.ndarray]:
    X, y, w, table = kernel_arrays(block, target)
    data, indices, indptr = csr_arrays(X)
    if target.binary:
        gradient = np.zeros((1, X.shape[1] + 1))
        loss = kernels.csr_loss_gradient(data, indices, indptr, y, w, table, _as(theta[0], np.float64), gradient[0])
        return loss, gradient
    S = np.empty((X.shape[0], theta.shape[0]))
    S[:] = theta[:, -1]
    kernels.csr_scores(data, indices, indptr, np.ascontiguousarray(theta[:, :-1].T), S)
    loss = kernels.softmax_link(S, y, w, table)
    gradient = np.zeros((X.shape[1] + 1, theta.shape[0]))
    kernels.csr_gradient(data, indices, indptr, S, gradient)
    gradient[-1] = S.sum(axis=0)
    return loss, np.ascontiguousarray(gradient.T)


def kernel_arrays(block: Block, target: Target) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """X, classes, weights (empty: all 1) and those of the classes in the types that the kernels are compiled for."""
    X = block.X if is_sparse(block.X) else _as(block.X, block.X.dtype)
    y = _as(codes_of(block, target), np.float64 if target.binary else np.int64)
    return X, y, _NO_WEIGHTS if block.w is None else _as(block.w, np.float64), _as(target.weights, np.float64)


def csr_arrays(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, column numbers and row bounds in the types that the kernels are compiled for."""
    return _as(X.data, X.data.dtype), _as(X.indices, np.int32).view(np.uint32), _as(X.indptr, np.int64)


def _as(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Row order and writable, for columns would stride and a read-only array would mean a second compilation."""
    return np.require(values, dtype, ["C", "W"])
