"""Least squares as inner products of columns with each other and with the residual, which is all that coordinate
descent needs.

    F(w) = ½ Σᵢ ωᵢ (yᵢ − ȳ − (xᵢ − x̄)ᵀw)² + penalty

`Products` holds XᵀX of all columns: a path of many penalties over a tall table then costs one pass. `Columns` keeps the
data, copies the few columns of the working set (centred, weighted), and passes over X for the slopes of all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import to_numpy
from learnt.engine.matrices import n_stored
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.engine.threads import for_blocks
from learnt.linalg.gram import by_tiles, gram
from learnt.statistics import far_from_zero, joint_moments

_BLOCK = 1 << 17  # cells of X for one task
_MOST_BLOCKS = 64
_ROWS, _LARGE_BLOCKS = 2500, 16  # rows of a block for all products, and the most blocks
_FEW = 3  # targets
_ROOM = 64  # columns allocated at first
_LARGEST = 1e280


class Products:
    """All inner products: Q = XᵀX, q = Xᵀy, ‖y‖²."""

    def __init__(self, Q: np.ndarray, q: np.ndarray, square: np.ndarray, weight: float, means: Any = None) -> None:
        self.Q, self.q, self.squares, self.weight = Q, q, square, weight
        self.cost = float(len(q) ** 2)  # of computing all slopes, in multiplications
        self.x_mean: np.ndarray = np.zeros(len(q)) if means is None else means[0]
        self.y_mean: np.ndarray = np.zeros(q.shape[1]) if means is None else means[1]

    def restart(self) -> None:
        """Empty the working set."""

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
    """Columns of X, dense or sparse, taken as they are needed.

    The target has mean 0, and so has every residual: products of all columns with it need no means. The means of the
    columns in the working set are computed when they are added, into `x_mean`.
    """

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool) -> None:
        n, p = X.shape
        self.cost = float(n_stored(X))  # of computing all slopes, in multiplications
        self.weight = float(n) if w is None else float(w.sum())
        self._w, self._root = w, None if w is None else np.sqrt(w)[:, None]
        self._center = center
        Y = Y.astype(np.float64, copy=False)
        self.y_mean = _sums(Y, w) / self.weight if center else np.zeros(Y.shape[1])
        Y = Y - self.y_mean
        self.x_mean = np.zeros(p)
        self._sparse = sparse.issparse(X)
        self._X = X.tocsc() if self._sparse else X
        if center and not self._sparse and _far(X):
            self.x_mean, self._center = _sums(X, w) / self.weight, False
            self._X = X - self.x_mean
        with np.errstate(over="ignore", invalid="ignore"):
            self.q = self._transposed(Y if w is None else Y * w[:, None])
            self._target: np.ndarray = Y if self._root is None else Y * self._root
            self.squares = np.einsum("ij,ij->j", self._target, self._target)
        refuse_overflow(self.q, self.squares)
        self.restart()

    def restart(self) -> None:
        """Empty the working set."""
        self._taken = np.empty((self._X.shape[0], 0), order="F")

    def inner(self, taken: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Inner products of the new columns with all taken ones and each other; the new ones are now taken too."""
        m, end = len(taken), len(taken) + len(new)
        if end > self._taken.shape[1]:  # the system allocates memory only when it is written to
            wider = np.empty((self._X.shape[0], max(2 * end, _ROOM)), order="F")
            wider[:, :m] = self._taken[:, :m]
            self._taken = wider
        fresh = self._taken[:, m:end]
        self._copy(new, fresh)
        out = transposed_product(self._taken[:, :end], fresh).T
        refuse_overflow(out[np.arange(len(new)), np.arange(m, end)])
        return out

    def _copy(self, new: np.ndarray, fresh: np.ndarray) -> None:
        """fresh ← √ω(x − x̄) of the new columns."""
        n = len(fresh)
        X = self._X[:, new].toarray() if self._sparse else self._X
        grain = max(_BLOCK // (8 * len(new)), -(-n // _MOST_BLOCKS))  # each cell reads a whole cache line

        def take(lo: int, hi: int) -> np.ndarray:
            fresh[lo:hi] = X[lo:hi] if self._sparse else np.take(X[lo:hi], new, axis=1)
            return _sums(fresh[lo:hi], None if self._w is None else self._w[lo:hi])

        def center(lo: int, hi: int) -> None:
            fresh[lo:hi] -= self.x_mean[new]
            if self._root is not None:
                fresh[lo:hi] *= self._root[lo:hi]

        sums = for_blocks(take, n, grain=grain)
        if self._center:
            self.x_mean[new] = np.sum(sums, axis=0) / self.weight
            for_blocks(center, n, grain=grain)
        elif self._root is not None:
            fresh *= self._root

    def slopes(self, taken: np.ndarray, w: np.ndarray, target: int | slice) -> np.ndarray:
        """Xᵀ(y − Xw) for every column, where only the taken ones have weights."""
        rest = self._target[:, target] - self._taken[:, : len(taken)] @ w
        if self._root is not None:
            rest = rest * (self._root[:, 0] if rest.ndim == 1 else self._root)
        return self._transposed(rest)

    def curves(self) -> np.ndarray:
        """‖x‖² of every column."""
        ones = np.ones(self._X.shape[0]) if self._w is None else self._w
        squares = self._X.multiply(self._X) if self._sparse else self._X**2
        shift = self._transposed(ones) / self.weight if self._center else 0.0
        return np.asarray(squares.T @ ones).ravel() - self.weight * shift**2

    def _transposed(self, R: np.ndarray) -> np.ndarray:
        return self._X.T @ R if self._sparse else transposed_product(self._X, R)


def _sums(X: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """Σ ω x."""
    return np.add.reduce(X, axis=0, dtype=np.float64) if w is None else w @ X


def _far(X: np.ndarray) -> bool:
    """Whether the first rows have means so large that squares about 0 would lose digits."""
    head = X[: max(min(256, _BLOCK // X.shape[1]), 16)].astype(np.float64, copy=False)
    return far_from_zero(head.mean(axis=0), head)


def transposed_product(X: np.ndarray, R: np.ndarray) -> np.ndarray:
    """XᵀR by blocks of rows or of columns, by the memory order of X: the blocks do not depend on the threads."""
    n, p = X.shape
    parts: list[np.ndarray]
    if p > n and X.flags.f_contiguous and not X.flags.c_contiguous:
        parts = for_blocks(lambda lo, hi: _product(X[:, lo:hi], R), p, grain=max(_BLOCK // n, 16))
        return np.concatenate(parts)
    grain = max(_BLOCK // p, 64, -(-n // _MOST_BLOCKS))
    parts = for_blocks(lambda lo, hi: _product(X[lo:hi], R[lo:hi]), n, grain=grain)
    return np.sum(parts, axis=0) if len(parts) > 1 else parts[0]


def _product(X: np.ndarray, R: np.ndarray) -> np.ndarray:
    X = X.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        if R.ndim == 2 and R.shape[1] <= _FEW:  # vectors one by one: BLAS is slow at products with thin matrices
            return np.stack([r @ X for r in np.ascontiguousarray(R.T)], axis=1)
        return X.T @ R


def refuse_overflow(*products: np.ndarray) -> None:
    """Refuse numbers whose squares are infinite, or nearly."""
    if not all(np.abs(part).max(initial=0.0) <= _LARGEST for part in products):  # also where one is NaN
        raise ValueError(
            "Coordinate descent iterations resulted in non-finite parameter values, or would: products of columns "
            f"exceed {_LARGEST:g}; bring columns and target to ordinary units first."
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


def products(X: np.ndarray, Y: np.ndarray, w: np.ndarray | None, center: bool) -> Products:
    """All inner products in one pass over the rows."""
    rows = as_rows(X, Y, w)
    if center or w is not None:
        m = joint_moments(rows, center)
        Q, q, means = m.gram, m.cross, (m.x_mean, m.y_mean)
    elif by_tiles(rows):
        Q, q, means = gram(X.T), transposed_product(X, Y), None
    elif X.dtype == np.float64:  # nothing is copied, so blocks may be large, which is quicker in BLAS
        grain = max(_ROWS, -(-len(X) // _LARGE_BLOCKS))
        parts = for_blocks(lambda lo, hi: _plain_products(Block(X[lo:hi], Y[lo:hi])), len(X), grain=grain)
        Q, q, means = sum(part[0] for part in parts), sum(part[1] for part in parts), None
    else:
        (Q, q), means = rows.sum(_plain_products), None
    with np.errstate(over="ignore", invalid="ignore"):
        Y = Y.astype(np.float64, copy=False) - (0.0 if means is None else means[1])
        square = np.einsum("ij,ij->j", Y, Y if w is None else Y * w[:, None])
    refuse_overflow(np.diag(Q), q, square)
    return Products(Q, q, square, float(len(Y)) if w is None else float(w.sum()), means)


def gathered(rows: Any, center: bool) -> Products:
    """All inner products of rows that are not in memory, or on another device: a pass for X and y, one for ‖y‖²."""
    m = joint_moments(rows, center)
    (square,) = rows.sum(_target_squares, m.y_mean)
    refuse_overflow(np.diag(m.gram), m.cross, square)
    return Products(m.gram, m.cross, square, m.weight, (m.x_mean, m.y_mean))


def _target_squares(block: Block, y_mean: np.ndarray) -> tuple:
    Y = to_numpy(as_columns(block.y)).astype(np.float64) - y_mean
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.einsum("ij,ij->j", Y, Y if block.w is None else Y * to_numpy(block.w)[:, None]),)


def _plain_products(block: Block) -> tuple:
    X = widen(block.X)
    with np.errstate(over="ignore", invalid="ignore"):
        return X.T @ X, _product(X, widen(block.y))
