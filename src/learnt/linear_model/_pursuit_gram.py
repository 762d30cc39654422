"""Where the pursuits get rows of the Gram matrix from: all at once, or a few at a time when they are needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.gram import gram
from learnt.engine.pursuit import KnownRows
from learnt.engine.threads import for_blocks, single_blas
from learnt.linear_model._coordinate_problem import Products
from learnt.linear_model._moments import as_columns, far_from_zero

# Rows computed together: reading X costs more than multiplying with eight columns of it. More where many rows of X make
# its products with y say well which columns will be chosen.
_BATCH, _LARGE_BATCH, _SURE = 8, 24, 125
_LARGEST = 8192  # columns up to which a whole Gram matrix is held
_GRAIN = 1024  # columns a task
_LOST, _LOST_MEAN = 1e-13, 1e-14  # what rounding leaves of a sum of squares, and of a mean
_CELLS = 1 << 17  # of X that a task takes, where it takes rows


class LazyRows:
    """Rows of G = XᵀX computed when they are asked for, with those of the columns likely to be next.

    X is centred without being changed: (X − 1x̄ᵀ)ᵀ(x − x̄) = Xᵀ(x − x̄), so that only the means of those columns count.
    They are written into `mean`.
    """

    def __init__(self, X: np.ndarray, center: bool, mean: np.ndarray, atoms: int | None) -> None:
        n, d = X.shape
        self._X, self._center, self._mean = X, center, mean
        self._batch = max(_BATCH, min(n // _SURE, _LARGE_BATCH, (atoms or 0) * 5 // 4))
        self.where = np.full(d, -1, dtype=np.int64)
        self._known = 0
        self.rows = np.empty((min(d, 4 * _BATCH), d))

    def fetch(self, j: int, correlation: np.ndarray) -> None:
        """Row j, and those of the other columns that now look most like being chosen."""
        size = np.where(self.where < 0, np.abs(correlation), -1.0)
        size[j] = np.inf
        count = min(self._batch, int((self.where < 0).sum()))
        columns = np.sort(np.argpartition(-size, count - 1)[:count])
        end = self._known + count
        if end > len(self.rows):
            more = np.empty((min(len(self.where), 2 * end), len(self.where)))
            more[: self._known] = self.rows[: self._known]
            self.rows = more
        self.rows[self._known : end] = products(self._centred(columns), self._X)
        self.where[columns] = np.arange(self._known, end)
        self._known = end

    def _centred(self, columns: np.ndarray) -> np.ndarray:
        """Some columns of X less their means, as rows."""
        X, left = self._X, np.empty((len(columns), len(self._X)))

        def take(lo: int, hi: int) -> None:
            left[:, lo:hi] = X[lo:hi, columns].T

        for_blocks(take, len(X), grain=_rows_a_task(X))
        if self._center:
            self._mean[columns] = left.mean(axis=1)
            left -= self._mean[columns, None]
        return left

    @cached_property
    def square(self) -> np.ndarray:
        """‖x − x̄‖² of every column."""

        def part(lo: int, hi: int) -> np.ndarray:
            return np.einsum("ij,ij->j", self._X[:, lo:hi], self._X[:, lo:hi])

        total = np.concatenate(for_blocks(part, self._X.shape[1], grain=_GRAIN))
        return np.maximum(total - len(self._X) * _means(self._X) ** 2, 0.0) if self._center else total


def products(left: np.ndarray, X: np.ndarray) -> np.ndarray:
    """left X for a few rows of `left`, by blocks of rows of a tall X or of columns of a wide one."""
    n, d = X.shape
    if n > d:
        parts = for_blocks(lambda lo, hi: left[:, lo:hi] @ X[lo:hi], n, grain=_rows_a_task(X))
        return np.sum(parts, axis=0) if len(parts) > 1 else parts[0]
    out = np.empty((len(left), d))

    def fill(lo: int, hi: int) -> None:
        out[:, lo:hi] = left @ X[:, lo:hi]

    for_blocks(fill, d, grain=_GRAIN)
    return out


def _rows_a_task(X: np.ndarray) -> int:
    return max(_CELLS // X.shape[1], 64, -(-len(X) // 64))


def _means(X: np.ndarray) -> np.ndarray:
    return products(np.full((1, len(X)), 1.0 / len(X)), X)[0]


def centred(X: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """X less its means, and the means, where these are so large that digits would be lost; None elsewhere."""
    head = X[: max(min(256, _CELLS // X.shape[1]), 16)]
    if not far_from_zero(head.mean(axis=0), head):
        return None
    mean = X.mean(axis=0)
    Z = X - mean
    Z[:, np.ptp(X, axis=0) == 0] = 0.0  # a constant column is 0, and not the rounding of its mean
    return Z, mean


def whole_gram(precompute: Any, n: int, d: int, atoms: int | None, n_targets: int) -> bool:
    """Whether to compute all of XᵀX: where it costs less than the rows that the pursuits will ask for."""
    if precompute != "auto":
        return bool(precompute)
    if d > _LARGEST:
        return False
    return n > d if atoms is None else atoms * n_targets > d // 8


class Problem(NamedTuple):
    """A pursuit to be solved: rows of XᵀX, YᵀX (t, d), the ‖y‖², and the means that were taken out.

    `x_mean` is filled in by the source as columns are asked for: where no coefficient is, it may still be 0.
    """

    source: Any
    starts: np.ndarray
    energies: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        """What to add to X coef (d, t)."""
        return self.y_mean - self.x_mean @ coef


@single_blas()
def pose(X: np.ndarray, y: np.ndarray, center: bool, precompute: Any, atoms: int | None) -> Problem:
    """The products that a pursuit of every column of y needs, about the means where `center`."""
    Y = as_columns(y).astype(np.float64)
    y_mean = Y.mean(axis=0) if center else np.zeros(Y.shape[1])
    Y -= y_mean
    X = X.astype(np.float64, copy=False)
    x_mean = np.zeros(X.shape[1])
    if center and (shifted := centred(X)) is not None:
        (X, x_mean), center = shifted, False
    source: Any
    if whole_gram(precompute, X.shape[0], X.shape[1], atoms, Y.shape[1]):
        G = gram(X.T)
        if center:
            x_mean = _means(X)
            G -= len(X) * np.outer(x_mean, x_mean)
        source = KnownRows(G)
    else:
        source = LazyRows(X, center, x_mean, atoms)
    starts = products(np.ascontiguousarray(Y.T), X)
    return Problem(source, starts, np.einsum("ij,ij->j", Y, Y), x_mean, y_mean)


def known(part: Products, whole: Products) -> Problem:
    """The pursuit of one target whose products are at hand, those of some rows as the whole less others.

    A column that is constant there is 0, and not what rounding left of it.
    """
    Q, q, left = part.Q, part.q, np.diag(part.Q)
    none = (left <= _LOST * np.diag(whole.Q)) | (left <= _LOST_MEAN**2 * part.weight * part.x_mean**2)
    if none.any():
        Q, q = Q.copy(), q.copy()
        Q[none], Q[:, none], q[none] = 0.0, 0.0, 0.0
    return Problem(KnownRows(Q), np.ascontiguousarray(q.T), part.squares, part.x_mean, part.y_mean)
