"""The kernels of support vector machines, from matrix products: between rows, and of a training table row by row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.params import ParameterError
from learnt.engine.threads import for_blocks

NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")
_COLUMNS = 1024  # of a product that one thread takes
_CELLS = 1 << 21  # of a block of new rows against the support vectors


class Kernel(NamedTuple):
    """A kernel with its parameters; `name` is one of `NAMES`, or a function of two tables."""

    name: Any
    gamma: float
    degree: float
    coef0: float

    def of_products(self, P: np.ndarray, left: Any, right: Any) -> np.ndarray:
        """k(x, z) from x·z and, where the kernel asks for them, ‖x‖² and ‖z‖²; writes into P."""
        if self.name == "linear":
            return P
        if self.name == "rbf":
            P *= -2.0
            P += left[:, None]
            P += right
            np.maximum(P, 0.0, out=P)
            P *= -self.gamma
            return np.exp(P, out=P)
        P *= self.gamma
        P += self.coef0
        if self.name == "sigmoid":
            return np.tanh(P, out=P)
        return P**self.degree if self.degree != int(self.degree) else np.power(P, int(self.degree), out=P)

    def between(self, X: Any, Z: Any) -> np.ndarray:
        """(rows of X, rows of Z)."""
        if callable(self.name):
            return checked(self.name(X, Z), (X.shape[0], Z.shape[0]))
        X, Z = self._about(X, Z)
        return self.of_products(products(X, Z), square_norms(X), square_norms(Z))

    def scores(self, X: Any, Z: Any, coefficients: np.ndarray) -> np.ndarray:
        """Kernel between X and Z times `coefficients` (rows of Z, columns), block by block on all threads."""
        out = np.zeros((X.shape[0], coefficients.shape[1]))
        if Z.shape[0] == 0:  # a function that is its intercept alone
            return out
        if callable(self.name):
            return self.between(X, Z) @ coefficients
        X, Z = self._about(X, Z)
        Z_norms = square_norms(Z)

        def part(lo: int, hi: int) -> None:
            rows = X[lo:hi]
            out[lo:hi] = self.of_products(products(rows, Z), square_norms(rows), Z_norms) @ coefficients

        for_blocks(part, X.shape[0], grain=max(1, min(4096, _CELLS // max(Z.shape[0], 1))))
        return out

    def _about(self, X: Any, Z: Any) -> tuple[Any, Any]:
        """For distances, dense rows about the mean of Z, where fewer digits cancel."""
        if self.name != "rbf" or sparse.issparse(X) or sparse.issparse(Z):
            return X, Z
        origin = Z.mean(axis=0)
        return X - origin, Z - origin


def checked(K: Any, shape: tuple[int, int]) -> np.ndarray:
    """What a user's kernel gave, as an array of the right shape."""
    K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)
    if K.shape != shape:
        raise ParameterError(
            f"The kernel function gave an array of shape {K.shape} for {shape[0]} and {shape[1]} rows: it must give "
            f"one of shape {shape}, with an entry for every pair."
        )
    if not np.isfinite(K).all():
        raise ValueError("The kernel function gave NaN or infinity: it must give finite numbers.")
    return K


def products(X: Any, Z: Any) -> np.ndarray:
    """Inner products of rows, dense."""
    P = X @ Z.T
    return P.toarray() if sparse.issparse(P) else np.asarray(P)


def square_norms(X: Any) -> np.ndarray:
    """‖x‖² of every row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


class TrainingKernel:
    """Rows of the kernel matrix of one table, written where they are asked for."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.n = kernel, X.shape[0]
        plain = callable(kernel.name) or kernel.name == "precomputed"
        self.X = X if plain else kernel._about(X, X)[0]
        self.norms = square_norms(self.X) if kernel.name == "rbf" else np.zeros(self.n)

    def largest(self) -> float:
        """The largest k(x, x), or infinity where it is not known."""
        if self.kernel.name == "rbf":
            return 1.0
        if callable(self.kernel.name):
            return np.inf
        if self.kernel.name == "precomputed":
            return float(np.abs(np.diagonal(self.X)).max())
        top = square_norms(self.X).max(keepdims=True)
        return float(np.abs(self.kernel.of_products(top, top, top)).max())

    def __call__(self, places: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Kernel rows of `places` into the rows `slots` of `out`."""
        if self.kernel.name == "precomputed":
            out[slots] = self.X[places]
            return
        if callable(self.kernel.name):
            out[slots] = checked(self.kernel.name(self.X[places], self.X), (len(places), self.n))
            return
        left, norms = self.X[places], self.norms[places]

        def part(lo: int, hi: int) -> None:
            P = products(left, self.X[lo:hi]).astype(out.dtype, copy=False)
            out[slots, lo:hi] = self.kernel.of_products(P, norms.astype(P.dtype), self.norms[lo:hi].astype(P.dtype))

        for_blocks(part, self.n, grain=_COLUMNS)
