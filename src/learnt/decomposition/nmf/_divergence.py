"""How far a product W H is from a matrix X: the β-divergence.

β = 2 is half the squared Frobenius norm, 1 the Kullback–Leibler divergence, 0 that of Itakura and Saito.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.rows import Block, as_rows

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
TINY = float(np.finfo(np.float32).eps)  # what is smaller counts as 0 where it is divided by
_CELLS = 1 << 20  # of W H at once, where X is sparse


def beta_of(loss: Any) -> float:
    """The number behind the parameter `beta_loss`.

    >>> beta_of("kullback-leibler"), beta_of(1.5)
    (1.0, 1.5)
    """
    return LOSSES[loss] if isinstance(loss, str) else float(loss)


def distance(X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> float:
    """√(2 D(X, W H)), which for β = 2 is the Frobenius norm of X − W H."""
    return math.sqrt(2.0 * max(divergence(X, W, H, beta), 0.0))


def divergence(X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> float:
    """D(X, W H), summed over all cells.

    >>> divergence(np.array([[2.0, 0.0]]), np.array([[1.0]]), np.array([[1.0, 1.0]]), 2.0)
    1.0
    """
    if beta == 2:
        return _half_square(X, W, H)
    if sparse.issparse(X):
        x, wh = X.data, product_at(X, W, H)
    else:
        x, wh = X.ravel(), (W @ H).ravel()
    some = x > TINY
    x = x[some].astype(np.float64)
    wh_some = np.maximum(wh[some], TINY).astype(np.float64)
    if beta == 1:
        return float(x @ np.log(x / wh_some) + W.sum(axis=0) @ H.sum(axis=1) - x.sum())
    if beta == 0:
        ratio = x / wh_some
        return float(ratio.sum() - X.shape[0] * X.shape[1] - np.log(ratio).sum())
    powers = _sum_of_powers(W, H, beta)
    total = (x**beta).sum() - beta * (x @ wh_some ** (beta - 1)) + powers * (beta - 1)
    return float(total / (beta * (beta - 1)))


def _half_square(X: Any, W: np.ndarray, H: np.ndarray) -> float:
    if sparse.issparse(X):
        norm = float(X.data @ X.data) + float(np.sum((W.T @ W) * (H @ H.T)))
        return (norm - 2.0 * float(np.sum((X @ H.T) * W))) / 2.0
    return as_rows(X).sum(square_left, W, H)[0] / 2.0


def square_left(block: Block, W: np.ndarray, H: np.ndarray) -> tuple[float]:
    """‖X − W H‖² of a block of rows."""
    rest = np.asarray(block.X - W[block.start : block.start + block.X.shape[0]] @ H)
    return (float(np.vdot(rest, rest)),)


def product_at(X: Any, W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """W H where the CSR matrix X has entries, in the order of `X.data`."""
    out = np.empty(X.nnz, dtype=W.dtype)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    Ht = np.ascontiguousarray(H.T)
    step = max(1, _CELLS // W.shape[1])
    for lo in range(0, X.nnz, step):
        some = slice(lo, lo + step)
        np.einsum("ij,ij->i", W[rows[some]], Ht[X.indices[some]], out=out[some])
    return out


def _sum_of_powers(W: np.ndarray, H: np.ndarray, beta: float) -> float:
    """Σ (W H)^β over all cells, a few rows at a time."""
    step = max(1, _CELLS // H.shape[1])
    least = TINY if beta < 0 else 0.0
    parts = (np.maximum(W[lo : lo + step] @ H, least) for lo in range(0, len(W), step))
    return float(sum((part**beta).sum() for part in parts))
