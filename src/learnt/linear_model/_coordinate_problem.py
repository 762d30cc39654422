"""Least squares as coordinate descent sees it: inner products of columns with each other and with the residual.

    F(w) = ½ Σᵢ ωᵢ (yᵢ − ȳ − (xᵢ − x̄)ᵀw)² + penalty

Two ways to have them. `Products` holds XᵀX of all columns: a path of many penalties over a tall table then costs one
pass. `Columns` keeps the data, copies the few columns that may matter (centred, weighted), and passes over X once to
look at all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.rows import as_rows
from learnt.engine.threads import for_blocks
from learnt.linear_model._moments import far_from_zero, moments

_BLOCK = 1 << 17  # cells of X that one task takes
_LARGEST = 1e140


class Products:
    """All inner products: Q = XᵀX, q = Xᵀy, ‖y‖²."""

    def __init__(self, Q: np.ndarray, q: np.ndarray, square: np.ndarray, weight: float, means: Any = None) -> None:
        self.Q, self.q, self.squares, self.weight = Q, q, square, weight
        self.x_mean: np.ndarray = np.zeros(len(q)) if means is None else means[0]
        self.y_mean: np.ndarray = np.zeros(q.shape[1]) if means is None else means[1]

    def restart(self) -> None:
        """Forget the columns that were taken."""

    def inner(self, taken: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Inner products of the new columns with all taken ones and each other."""
        return self.Q[np.ix_(new, np.concatenate([taken, new]))]

    def slopes(self, taken: np.ndarray, w: np.ndarray, target: int | slice) -> np.ndarray:
        """Xᵀ(y − Xw) for every column, where only the taken ones have weights."""
        support = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
        return self.q[:, target] - self.Q[taken[support]].T @ w[support]

    def curves(self) -> np.ndarray:
        """‖x‖² of every column."""
        return np.diag(self.Q).copy()


class Columns:
    """Columns of X, dense or sparse, taken as they are needed."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool) -> None:
        n, p = X.shape
        self.weight = float(n) if w is None else float(w.sum())
        self._root: Any = None if w is None else np.sqrt(w)
        Y = Y.astype(np.float64, copy=False)
        ones = np.ones(n) if w is None else w
        self.y_mean = (ones @ Y) / self.weight if center else np.zeros(Y.shape[1])
        Y = Y - self.y_mean
        self._sparse = sparse.issparse(X)
        self._X = X.tocsc() if self._sparse else X
        both = self._transposed(np.column_stack([ones, Y * ones[:, None]]))
        self.x_mean = both[:, 0] / self.weight if center else np.zeros(p)
        self.q = both[:, 1:]
        self._shift = self.x_mean
        if center and not self._sparse and far_from_zero(self.x_mean, X[:256]):
            self._X, self._shift = X - self.x_mean, np.zeros(p)
            self.q = self._transposed(Y * ones[:, None])
        self._target: np.ndarray = Y if self._root is None else Y * self._root[:, None]
        self.squares = np.einsum("ij,ij->j", self._target, self._target)
        self._taken = np.empty((n, 0), order="F")

    def restart(self) -> None:
        """Forget the columns that were taken."""
        self._taken = np.empty((self._X.shape[0], 0), order="F")

    def inner(self, taken: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Inner products of the new columns with all taken ones and each other; the new ones are now taken too."""
        m, end = len(taken), len(taken) + len(new)
        if end > self._taken.shape[1]:
            wider = np.empty((self._X.shape[0], max(end, min(2 * m, self._X.shape[1]))), order="F")
            wider[:, :m] = self._taken[:, :m]
            self._taken = wider
        fresh = self._taken[:, m:end]
        fresh[...] = self._X[:, new].toarray() if self._sparse else self._X[:, new]
        fresh -= self._shift[new]
        if self._root is not None:
            fresh *= self._root[:, None]
        out = np.empty((end - m, end))

        def fill(lo: int, hi: int) -> None:
            out[:, lo:hi] = fresh.T @ self._taken[:, lo:hi]

        for_blocks(fill, end, grain=64)
        return out

    def slopes(self, taken: np.ndarray, w: np.ndarray, target: int | slice) -> np.ndarray:
        """Xᵀ(y − Xw) for every column, where only the taken ones have weights."""
        rest = self._target[:, target] - self._taken[:, : len(taken)] @ w
        if self._root is not None:
            rest = rest * (self._root if rest.ndim == 1 else self._root[:, None])
        slopes = self._transposed(rest)
        if self._shift.any():
            slopes -= np.multiply.outer(self._shift, rest.sum(axis=0))
        return slopes

    def curves(self) -> np.ndarray:
        """‖x‖² of every column."""
        if self._sparse:
            total = (self._X.multiply(self._X)).T @ (np.ones(self._X.shape[0]) if self._root is None else self._root**2)
            return np.asarray(total).ravel() - self.weight * self._shift**2
        X = self._X - self._shift
        return np.einsum("ij,ij->j", X, X if self._root is None else X * self._root[:, None] ** 2)

    def _transposed(self, R: np.ndarray) -> np.ndarray:
        return self._X.T @ R if self._sparse else transposed_product(self._X, R)


def transposed_product(X: np.ndarray, R: np.ndarray) -> np.ndarray:
    """XᵀR by blocks of rows or of columns, as X lies in memory: the blocks do not depend on the threads."""
    n, p = X.shape
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        parts = for_blocks(lambda lo, hi: _wide(X[:, lo:hi]).T @ R, p, grain=max(_BLOCK // n, 16))
        return np.concatenate(parts)
    parts = for_blocks(lambda lo, hi: _wide(X[lo:hi]).T @ R[lo:hi], n, grain=max(_BLOCK // p, 16, n // 256))
    return np.sum(parts, axis=0) if len(parts) > 1 else parts[0]


def _wide(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float64, copy=False)


def check_size(X: Any, Y: np.ndarray) -> None:
    """Refuse numbers whose squares are infinite."""
    values = X.data if sparse.issparse(X) else X
    if values.size and max(float(bound) for bound in (values.max(), -values.min(), Y.max(), -Y.min())) > _LARGEST:
        raise ValueError(
            "Coordinate descent iterations resulted in non-finite parameter values, or would: squares of numbers above "
            f"{_LARGEST:g} exceed float64; bring columns and target to ordinary units first."
        )


def dense_problem(
    X: np.ndarray, Y: np.ndarray, w: np.ndarray | None, center: bool, n_penalties: int
) -> Products | Columns:
    """The form that is cheaper for this many penalties.

    A pass over X costs n p at the speed of memory, XᵀX costs n p² at the speed of arithmetic, some eight times higher.
    """
    n, p = X.shape
    if p <= n and p <= max(8 * n_penalties, 32):
        return products(X, Y, w, center)
    return Columns(X, Y, w, center)


def products(X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool) -> Products:
    """All inner products in one pass over the rows."""
    m = moments(as_rows(X, Y, w), center)
    Y = Y.astype(np.float64, copy=False) - m.y_mean
    square = np.einsum("ij,ij->j", Y, Y if w is None else Y * w[:, None])
    return Products(m.gram, m.cross, square, m.weight, (m.x_mean, m.y_mean))
