"""Where the pursuits get rows of the Gram matrix from: all at once, or a few at a time when they are needed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.gram import gram
from learnt.engine.pursuit import KnownRows
from learnt.engine.threads import for_blocks, single_blas
from learnt.linear_model._moments import as_columns

_BATCH = 8  # rows computed together: reading X costs more than multiplying with eight columns of it
_LARGEST = 8192  # columns up to which a whole Gram matrix is held
_GRAIN = 1024  # columns a task
_FAR = 100.0  # means beyond this many standard deviations cost four digits: subtract them before squaring


class LazyRows:
    """Rows of G = XᵀX computed when they are asked for, with those of the columns likely to be next.

    X is centred by `mean` without being changed: (X − 1x̄ᵀ)ᵀ(x − x̄) = Xᵀ(x − x̄).
    """

    def __init__(self, X: np.ndarray, mean: np.ndarray, square: np.ndarray) -> None:
        d = X.shape[1]
        self._X, self._mean, self.square = X, mean, square
        self.where = np.full(d, -1, dtype=np.int64)
        self._known = 0
        self.rows = np.empty((min(d, 4 * _BATCH), d))

    def fetch(self, j: int, correlation: np.ndarray) -> None:
        """Row j, and those of the other columns that now look most like being chosen."""
        size = np.where(self.where < 0, np.abs(correlation), -1.0)
        size[j] = np.inf
        count = min(_BATCH, int((self.where < 0).sum()))
        columns = np.sort(np.argpartition(-size, count - 1)[:count])
        end = self._known + count
        if end > len(self.rows):
            more = np.empty((min(len(self.where), 2 * end), len(self.where)))
            more[: self._known] = self.rows[: self._known]
            self.rows = more
        left = np.ascontiguousarray((self._X[:, columns] - self._mean[columns]).T)
        rows = self.rows[self._known : end]

        def fill(lo: int, hi: int) -> None:
            rows[:, lo:hi] = left @ self._X[:, lo:hi]

        for_blocks(fill, len(self.where), grain=_GRAIN)
        self.where[columns] = np.arange(self._known, end)
        self._known = end


def gram_rows(X: np.ndarray, mean: np.ndarray, square: np.ndarray, whole: bool) -> Any:
    """Rows of the Gram matrix of X − mean."""
    if not whole:
        return LazyRows(X, mean, square)
    G = gram(X.T)
    if mean.any():
        G -= len(X) * np.outer(mean, mean)
    return KnownRows(G)


def centred(X: np.ndarray, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X as float64, what is still to be subtracted from it, its means (0 without an intercept), and ‖x_j − x̄_j‖².

    X is copied only where its means are so large that digits would be lost.
    """
    X = X.astype(np.float64, copy=False)
    zero = np.zeros(X.shape[1])
    if not center:
        return X, zero, zero, _squares(X)
    x_mean = X.mean(axis=0)
    raised = len(X) * x_mean**2
    square = np.maximum(_squares(X) - raised, 0.0)
    if not np.any(raised > _FAR**2 * square):
        return X, x_mean, x_mean, square
    X = X - x_mean
    X[:, np.ptp(X, axis=0) == 0] = 0.0  # a constant column is 0, and not the rounding of its mean
    return X, zero, x_mean, _squares(X)


def _squares(X: np.ndarray) -> np.ndarray:
    """The squared norm of each column."""

    def part(lo: int, hi: int) -> np.ndarray:
        return np.einsum("ij,ij->j", X[:, lo:hi], X[:, lo:hi])

    return np.concatenate(for_blocks(part, X.shape[1], grain=_GRAIN))


def correlations(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """YᵀX: one row a target, for Y of mean 0 (or X that has mean 0)."""
    out = np.empty((Y.shape[1], X.shape[1]))

    def fill(lo: int, hi: int) -> None:
        out[:, lo:hi] = Y.T @ X[:, lo:hi]

    for_blocks(fill, X.shape[1], grain=_GRAIN)
    return out


def whole_gram(precompute: Any, n: int, d: int, atoms: int | None, n_targets: int) -> bool:
    """Whether to compute all of XᵀX: where it costs less than the rows that the pursuits will ask for."""
    if precompute != "auto":
        return bool(precompute)
    if d > _LARGEST:
        return False
    return n > d if atoms is None else atoms * n_targets > d // 8


class Problem(NamedTuple):
    """A pursuit to be solved: rows of XᵀX, YᵀX (t, d), the ‖y‖², and the means that were taken out."""

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
    wide, offset, x_mean, square = centred(X, center)
    source = gram_rows(wide, offset, square, whole_gram(precompute, X.shape[0], X.shape[1], atoms, Y.shape[1]))
    return Problem(source, correlations(wide, Y), np.einsum("ij,ij->j", Y, Y), x_mean, y_mean)
