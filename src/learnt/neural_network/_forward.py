"""Prediction with NumPy alone: a trained network is a list of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from learnt.engine.threads import for_blocks

_SLOPE = 0.01  # of leaky ReLU below 0
_BYTES = 1 << 20  # of a layer in one block of rows: it stays in a core's cache
_LEAST_ROWS = 512  # of a block
_PRODUCTS = 1 << 17  # below which BLAS has no use for threads


def raw_outputs(X: Any, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str) -> np.ndarray:
    """z of every row, (n, outputs), in the precision of the weights; X is dense or CSR."""
    n, dtype = X.shape[0], coefs[0].dtype
    if n * sum(W.size for W in coefs) < _PRODUCTS:
        return block_outputs(X, coefs, intercepts, activation)
    out = np.empty((n, coefs[-1].shape[1]), dtype=dtype)

    def work(lo: int, hi: int) -> None:
        out[lo:hi] = block_outputs(X[lo:hi], coefs, intercepts, activation)

    for_blocks(work, n, grain=rows_at_once(n, coefs, dtype.itemsize))
    return out


def rows_at_once(n: int, coefs: Sequence[np.ndarray], itemsize: int) -> int:
    """How many of n rows make a block: small enough for the cache and, of few rows, for several threads."""
    fit_cache = _BYTES // (itemsize * max(W.shape[1] for W in coefs))
    return max(_LEAST_ROWS, min(fit_cache, -(-n // 8)))


def block_outputs(X: Any, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str) -> np.ndarray:
    """`raw_outputs` of a few rows, on the calling thread."""
    h, last = X if X.dtype == coefs[0].dtype else X.astype(coefs[0].dtype), len(coefs) - 1
    for i, (W, b) in enumerate(zip(coefs, intercepts)):
        h = h @ W
        h += b
        if i < last:
            activate(h, activation)
    return h


def activate(h: np.ndarray, activation: str) -> None:
    """The activation of hidden layers, in place."""
    if activation == "relu":
        np.maximum(h, 0, out=h)
    elif activation == "tanh":
        np.tanh(h, out=h)
    elif activation in ("logistic", "sigmoid"):
        expit(h, out=h)
    elif activation == "leaky_relu":
        np.maximum(h, h * h.dtype.type(_SLOPE), out=h)


def predictions(z: np.ndarray, activation: str) -> np.ndarray:
    """Apply the output activation in place: "identity", "logistic", "softmax" or "exp"."""
    if activation == "logistic":
        expit(z, out=z)
    elif activation == "exp":
        np.exp(z, out=z)
    elif activation == "softmax":
        z -= z.max(axis=1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=1, keepdims=True)
    return z


def folded(
    coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], norms: Sequence[np.ndarray], epsilon: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Weights that do what dense layers and the batch norms behind them do:  γ(z − μ)/√(σ² + ε) + β.

    A norm is four rows: γ, β, μ and σ².
    """
    new_coefs, new_intercepts = list(coefs), list(intercepts)
    for i, (gamma, beta, mean, variance) in enumerate(norms):
        factor = gamma / np.sqrt(variance + variance.dtype.type(epsilon))
        new_coefs[i] = coefs[i] * factor
        new_intercepts[i] = (intercepts[i] - mean) * factor + beta
    return new_coefs, new_intercepts
