"""Sources of rows of the Gram matrix for pursuits: all at once, or a few at a time when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.cached import cached_property
from learnt.engine.rows.blocks import as_columns
from learnt.engine.threads import for_blocks, single_blas
from learnt.linalg.gram import gram, products, rows_a_task
from learnt.linalg.pursuit import KnownRows
from learnt.linear_model.coordinate._folds import complements
from learnt.linear_model.coordinate._problem import Products
from learnt.statistics import far_from_zero

# Rows computed together: reading X costs more than multiplying with eight columns of it. More where X has many rows,
# since its products with y then predict well which columns will be chosen.
_BATCH, _LARGE_BATCH, _SURE = 8, 24, 80
_LARGEST = 8192  # columns up to which a whole Gram matrix is held
_LARGEST_FOLD = 2048  # columns up to which every fold may have a Gram matrix of its own
_WORTH = 3  # factor by which rows of a Gram matrix cost more when computed a few at a time
_GRAIN = 1024  # columns a task
_LOST, _LOST_MEAN = 1e-13, 1e-14  # relative rounding errors of a sum of squares, and of a mean
_SOME, _CELLS = 256, 1 << 17  # rows for provisional means, or as many as have so many cells


class LazyRows:
    """Rows of G = XᵀX computed when they are asked for, with those of the columns likely to be next.

    X is centred without being changed: (X − 1x̄ᵀ)ᵀ(x − x̄) = Xᵀ(x − x̄), so that only the means of those columns count.
    They are written into `mean`.
    """

    def __init__(self, X: np.ndarray, center: bool, mean: np.ndarray, atoms: int | None) -> None:
        n, d = X.shape
        self._X, self._mean, self._all_means = X, mean, not center
        self._batch = max(_BATCH, min(n // _SURE, _LARGE_BATCH, (atoms or 0) * 5 // 4))
        self.where, self.own = np.full(d, -1, dtype=np.int64), np.zeros(d)
        self._known = 0
        # The system allocates memory only when it is written to.
        self.rows, self.done = np.empty((min(d, 2 * (atoms or 0) + 4 * self._batch), d)), np.zeros(d, dtype=np.int64)

    def fetch(self, j: int, correlation: np.ndarray, basis: np.ndarray | None = None) -> None:
        """Row j, and those of the columns most likely to be chosen next; made orthogonal to `basis`."""
        size = np.where(self.where < 0, np.abs(correlation), -1.0)
        size[j] = np.inf
        count = min(self._batch, int((self.where < 0).sum()))
        columns = np.sort(np.argpartition(-size, count - 1)[:count])
        end = self._known + count
        if end > len(self.rows):
            more = np.empty((min(len(self.where), 2 * end), len(self.where)))
            more[: self._known] = self.rows[: self._known]
            self.rows = more
        multiply = self._by_rows if self._X.shape[0] > self._X.shape[1] else self._by_columns
        found = multiply(columns)
        self.own[columns] = found[np.arange(count), columns]
        if basis is not None and len(basis):
            found -= basis[:, columns].T @ basis
            self.done[self._known : end] = len(basis)
        self.rows[self._known : end] = found
        self.where[columns] = np.arange(self._known, end)
        self._known = end

    def _by_columns(self, columns: np.ndarray) -> np.ndarray:
        """These rows of G for a wide X."""
        left = np.take(self._X, columns, axis=1)
        if not self._all_means:
            self._mean[columns] = left.mean(axis=0)
        left -= self._mean[columns]
        return products(left.T, self._X)

    def _by_rows(self, columns: np.ndarray) -> np.ndarray:
        """These rows of G for a tall X, read once: columns are copied from the block that they are multiplied with.

        The first time only provisional means are subtracted; a column of ones gives the means of all columns.
        """
        X, q, ones = self._X, len(columns), int(not self._all_means)
        guess = self._mean[columns] if self._all_means else X[:_SOME, columns].mean(axis=0)

        def part(lo: int, hi: int) -> np.ndarray:
            block = X[lo:hi]
            left = np.empty((hi - lo, q + ones))
            np.subtract(np.take(block, columns, axis=1), guess, out=left[:, :q])
            left[:, q:] = 1.0
            return left.T @ block

        found = np.sum(for_blocks(part, len(X), grain=rows_a_task(X)), axis=0)
        if ones:
            self._mean[:] = found[q] / len(X)
            self._all_means = True
            found = found[:q] - np.outer(len(X) * (self._mean[columns] - guess), self._mean)
        return found

    @cached_property
    def square(self) -> np.ndarray:
        """‖x − x̄‖² of every column."""

        def part(lo: int, hi: int) -> np.ndarray:
            return np.einsum("ij,ij->j", self._X[:, lo:hi], self._X[:, lo:hi])

        if not self._all_means:
            self._mean[:] = _means(self._X)
            self._all_means = True
        total = np.concatenate(for_blocks(part, self._X.shape[1], grain=_GRAIN))
        return np.maximum(total - len(self._X) * self._mean**2, 0.0)


def _means(X: np.ndarray) -> np.ndarray:
    return products(np.full((1, len(X)), 1.0 / len(X)), X)[0]


def centred(X: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """X less its means, and the means, where the means are so large that digits would be lost; None elsewhere."""
    head = X[: max(min(_SOME, _CELLS // X.shape[1]), 16)]
    if not far_from_zero(head.mean(axis=0), head):
        return None
    mean = X.mean(axis=0)
    Z = X - mean
    Z[:, np.ptp(X, axis=0) == 0] = 0.0  # a constant column is exactly 0, without rounding errors of its mean
    return Z, mean


def full_gram(precompute: Any, n: int, d: int, atoms: int | None, n_targets: int) -> bool:
    """Whether to compute all of XᵀX: where it costs less than the rows that the pursuits will ask for."""
    if precompute != "auto":
        return bool(precompute)
    if d > _LARGEST:
        return False
    return n > d if atoms is None else atoms * n_targets > d // 8


class Problem(NamedTuple):
    """A pursuit to be solved: rows of XᵀX, YᵀX (t, d), the ‖y‖², and the means that were taken out.

    `x_mean` is filled in as columns are fetched: it may still be 0 for columns without a coefficient.
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
@np.errstate(over="ignore", invalid="ignore")
def make_problem(
    X: np.ndarray, y: np.ndarray, center: bool, precompute: Any, atoms: int | None, check_cells: Callable | None = None
) -> Problem:
    """The products that a pursuit of every column of y needs, about the means where `center`.

    `check_cells` is called where products do not prove that all cells of X are finite.
    """
    Y = as_columns(y).astype(np.float64)
    y_mean = Y.mean(axis=0) if center else np.zeros(Y.shape[1])
    Y -= y_mean
    X = X.astype(np.float64, copy=False)
    x_mean = np.zeros(X.shape[1])
    if center and (shifted := centred(X)) is not None:
        (X, x_mean), center = shifted, False
    starts = products(np.ascontiguousarray(Y.T), X)
    if check_cells is not None and not (Y[:, 0].all() and np.isfinite(starts).all()):  # a BLAS may skip factors of 0
        check_cells()
    source: Any
    if full_gram(precompute, X.shape[0], X.shape[1], atoms, Y.shape[1]):
        G = gram(X.T)
        if center:
            x_mean = _means(X)
            G -= len(X) * np.outer(x_mean, x_mean)
        source = KnownRows(G)
    else:
        source = LazyRows(X, center, x_mean if center else np.zeros(len(x_mean)), atoms)
    return Problem(source, starts, np.einsum("ij,ij->j", Y, Y), x_mean, y_mean)


def known(part: Products, all_rows: Products) -> Problem:
    """The pursuit of one target from known products, of some rows as those of all rows minus others.

    A column that is constant there is set to exactly 0.
    """
    Q, q, left = part.Q, part.q, np.diag(part.Q)
    none = (left <= _LOST * np.diag(all_rows.Q)) | (left <= _LOST_MEAN**2 * part.weight * part.x_mean**2)
    if none.any():
        Q, q = Q.copy(), q.copy()
        Q[none], Q[:, none], q[none] = 0.0, 0.0, 0.0
    return Problem(KnownRows(Q), np.ascontiguousarray(q.T), part.squares, part.x_mean, part.y_mean)


def fold_problems(
    X: np.ndarray, y: np.ndarray, folds: list, center: bool, steps: int, n_jobs: int | None
) -> tuple[Problem | None, list]:
    """The pursuit of all rows, and a function for that of every fold by subtraction; None where rows are few.

    `steps` is how many columns each fold will ask for.
    """
    n, d = X.shape
    alone = None, [None] * len(folds)
    if 2 * d > n or d > min(_LARGEST_FOLD, _WORTH * steps * len(folds)):
        return alone
    found = complements(X, y[:, None], None, center, folds, n_jobs)
    if found is None:
        return alone
    all_rows, parts = found
    return known(all_rows, all_rows), [lambda part=part: known(part(), all_rows) for part in parts]
