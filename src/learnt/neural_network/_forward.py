"""Prediction with NumPy alone: a trained network is a list of matrices.

Rows go through all layers in blocks that stay in a core's cache, on all threads. An intercept is the last row of its
matrix of weights, and a 1 stands behind the inputs of every row: the product of the two adds it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from learnt.engine.matrices import Route, route
from learnt.engine.threads import for_blocks

_SLOPE = 0.01  # of leaky ReLU below 0
_BYTES = 1 << 19  # of a layer in one block of rows: two of them stay in a core's cache
_LEAST_ROWS = 256  # of a block
_PRODUCTS = 1 << 17  # below which BLAS has no use for threads


def raw_outputs(X: Any, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str) -> np.ndarray:
    """z of every row, (n, outputs), in the precision of the weights; X is dense or CSR."""
    n, dtype = X.shape[0], coefs[0].dtype
    sparse = route(X) is Route.SPARSE
    if n * sum(W.size for W in coefs) < _PRODUCTS or (sparse and len(coefs) == 1):
        return _at_once(X, coefs, intercepts, activation)
    out = np.empty((n, coefs[-1].shape[1]), dtype=dtype)
    layers = [with_intercept(W, b, dtype) for W, b in zip(coefs[sparse:], intercepts[sparse:])]
    own = memory_of_threads(n, layers)

    def work(lo: int, hi: int) -> None:
        rows = X[lo:hi]
        if sparse:  # its first layer by SciPy, the others read dense rows
            rows = _at_once(rows, coefs[:1], intercepts[:1], activation)
            activate(rows, activation)
        *_, h = own().inputs(rows, activation)
        np.matmul(h, layers[-1], out=out[lo:hi])

    for_blocks(work, n, grain=rows_at_once(n, layers))
    return out


def _at_once(X: Any, coefs: Sequence[np.ndarray], intercepts: Sequence[np.ndarray], activation: str) -> np.ndarray:
    """`raw_outputs` in one piece, on the calling thread."""
    h, last = X if X.dtype == coefs[0].dtype else X.astype(coefs[0].dtype), len(coefs) - 1
    for i, (W, b) in enumerate(zip(coefs, intercepts)):
        h = h @ W
        h += b
        if i < last:
            activate(h, activation)
    return h


def with_intercept(W: np.ndarray, b: np.ndarray, dtype: Any) -> np.ndarray:
    """The intercept as the last row of the weights, (k + 1, n)."""
    return np.concatenate([W, b[None]], dtype=dtype, casting="same_kind")


def rows_at_once(n: int, layers: Sequence[np.ndarray]) -> int:
    """How many of n rows make a block: small enough for the cache and, of few rows, for several threads."""
    fit_cache = _BYTES // (layers[0].itemsize * max(len(W) for W in layers))
    return max(_LEAST_ROWS, min(fit_cache, -(-n // 8)))


class Memory:
    """Memory for the inputs of all layers of a block of rows, used for one block after the other by one thread."""

    def __init__(self, rows: int, layers: Sequence[np.ndarray]) -> None:
        self.layers = layers
        self._inputs = [np.ones((rows, len(W)), dtype=W.dtype) for W in layers]
        self._zeros = [np.zeros_like(h) for h in self._inputs[1:]]

    def inputs(self, X: np.ndarray, activation: str) -> Iterator[np.ndarray]:
        """What each layer reads of these rows, (m, k + 1), 1 in the last column; the next block overwrites it."""
        m = len(X)
        h = self._inputs[0][:m]
        h[:, :-1] = X
        yield h
        for i, W in enumerate(self.layers[:-1]):
            following = self._inputs[i + 1][:m]
            np.matmul(h, W, out=following[:, :-1])
            if activation == "relu":
                # with an array of zeros: NumPy compares with a single number one by one
                np.maximum(following, self._zeros[i][:m], out=following)
            else:
                activate(following[:, :-1], activation)
            h = following
            yield h


def memory_of_threads(n: int, layers: Sequence[np.ndarray]) -> Any:
    """A function that gives the calling thread its own `Memory` for blocks of n rows."""
    rows, local = min(n, rows_at_once(n, layers)), threading.local()

    def own() -> Memory:
        if not hasattr(local, "memory"):
            local.memory = Memory(rows, layers)
        return local.memory

    return own


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
