"""Few rows of many columns, centred without being copied."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.matrices import dense
from learnt.engine.rows.blocks import as_columns
from learnt.engine.threads import for_blocks
from learnt.linalg.gram import add_gram, gram, products
from learnt.statistics import far_from_zero

_NEAR = 25.0  # ‖x̄‖² over the rows' variance: up to here products about 0 keep enough digits
_PIECE = 1 << 19  # cells that are centred, rounded and multiplied while in cache
_GRAIN = 1 << 17  # cells for one task
_SOME = 256  # rows to measure the spread by
_GUESS, _ROUGH = 32, 1 << 20  # rows for a provisional mean, and cells that are rounded and multiplied together


class CentredTable:
    """Z = X − mean, as products.

    Where the mean is `near` 0 (judged by some rows, unless it is known) it is subtracted after the products, elsewhere
    before, so that no digits are lost. A mean that is None is Σ shareᵢ xᵢ, computed in the first product that reads
    whole columns.
    """

    def __init__(
        self, X: np.ndarray, mean: Any, n_jobs: int | None, near: bool | None = None, share: Any = None
    ) -> None:
        self.mean, self._X, self._n_jobs, self._share = mean, X, n_jobs, share
        self._near = not far_from_zero(mean, X[:_SOME]) if near is None else near

    def times(self, v: np.ndarray) -> np.ndarray:
        """Z v, of one vector or the columns of several; the mean is known."""
        n, d = self._X.shape
        offset = self.mean @ v

        def some(lo: int, hi: int) -> np.ndarray:
            return self._X[lo:hi] @ v - offset if self._near else (self._X[lo:hi] - self.mean) @ v

        return np.concatenate(for_blocks(some, n, grain=max(1, _GRAIN // d), n_jobs=self._n_jobs))

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        """Zᵀ u, of one vector or the columns of several."""
        vectors = np.ascontiguousarray(np.atleast_2d(u.T))
        if not self._near:
            found = self._far_times(vectors)
        elif self.mean is None:
            self.mean, *rest = products(np.vstack([self._share, vectors]), self._X, self._n_jobs)
            found = np.array(rest) - np.outer(vectors.sum(axis=1), self.mean)
        else:
            found = products(vectors, self._X, self._n_jobs) - np.outer(vectors.sum(axis=1), self.mean)
        return found.T if u.ndim == 2 else found[0]

    def _far_times(self, vectors: np.ndarray) -> np.ndarray:
        """The products, with the mean subtracted before anything is summed."""
        n, d = self._X.shape
        mean = np.empty(d) if self.mean is None else self.mean

        def some(lo: int, hi: int) -> np.ndarray:
            X = self._X[:, lo:hi]
            if self.mean is None:
                mean[lo:hi] = self._share @ X
            return vectors @ (X - mean[lo:hi])

        found = np.concatenate(for_blocks(some, d, grain=max(64, _GRAIN // n), n_jobs=self._n_jobs), axis=1)
        self.mean = mean
        return found

    def inner_products(self, dtype: Any = np.float32, root: np.ndarray | None = None) -> np.ndarray:
        """Z Zᵀ, or that of √w Z, from products in this precision; not finite where squares are too large for it."""
        n, d = self._X.shape
        out = np.zeros((n, n))
        mean = np.empty(d) if self.mean is None else self.mean
        width = min(d, max(64, _PIECE // n))
        piece = np.empty((n, width), dtype=dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, d, width):
                part = piece[:, : min(width, d - start)]

                def centre(lo: int, hi: int, part: np.ndarray = part, start: int = start) -> None:
                    columns = slice(start + lo, start + hi)
                    if self.mean is None:
                        mean[columns] = self._share @ self._X[:, columns]
                    np.subtract(self._X[:, columns], mean[columns], out=part[:, lo:hi], casting="same_kind")
                    if root is not None:
                        part[:, lo:hi] *= root[:, None]

                for_blocks(centre, part.shape[1], grain=max(16, _GRAIN // n), n_jobs=self._n_jobs)
                add_gram(part, out, self._n_jobs)
        self.mean = mean
        return out


class CentredRows:
    """Z = √w (X − x̄) and T = √w (y − ȳ) of fewer rows than columns, in memory, as an operator."""

    def __init__(self, rows: Any, center: bool) -> None:
        self._X = X = dense(rows.X)
        self._n_jobs, self._centred, self._plain = rows.n_jobs, center, rows.w is None
        self.shape = n, d = X.shape
        Y = as_columns(rows.y)
        self._share = np.full(n, 1.0 / n) if rows.w is None else rows.w / rows.w.sum()
        self._table = CentredTable(X, None if center else np.zeros(d), rows.n_jobs, True, self._share)
        self.y_mean = self._share @ Y if center else np.zeros(Y.shape[1])
        self.root = np.ones(n) if rows.w is None else np.sqrt(rows.w)
        self.target = (Y - self.y_mean) * self.root[:, None]

    @property
    def x_mean(self) -> Any:
        """Known after the first product with Zᵀ."""
        return self._table.mean

    def inner_products(self) -> np.ndarray:
        """ZZᵀ; not finite where squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._X.dtype != np.float64:
                return self._by_pieces()
            K = gram(self._X, self._n_jobs)
            if self._centred:
                # Centring X's columns is the same as double-centring K.
                along = K @ self._share
                square = float(self._share @ along)  # ‖x̄‖²
                if not square <= _NEAR * (float(self._share @ np.diag(K)) - square):
                    self._table = CentredTable(self._X, None, self._n_jobs, False, self._share)
                    return self._by_pieces()
                K -= along[:, None]
                K -= along - square
            if not self._plain:
                K *= self.root
                K *= self.root[:, None]
            return K

    def rough_products(self) -> np.ndarray | None:
        """ZZᵀ in single precision; None where it overflows, or X is not in double.

        The mean is subtracted afterwards, as above. Where it is larger than the spread of the rows, a provisional mean
        is subtracted before X is rounded, so that no digits are lost to it.
        """
        X, (n, d) = self._X, self.shape
        if X.dtype != np.float64:
            return None
        guess = self._guess()
        K, width = np.zeros((n, n), dtype=np.float32), min(d, max(64, _ROUGH // n))
        room = np.empty((n, width), dtype=np.float32)

        def rounded(start: int, lo: int, hi: int) -> None:
            columns = slice(start, start + width)
            part = X[lo:hi, columns]
            target = room[lo:hi, : part.shape[1]]
            with np.errstate(over="ignore", invalid="ignore"):
                if guess is None:
                    np.copyto(target, part, casting="same_kind")
                else:
                    np.subtract(part, guess[columns], out=target, casting="same_kind")

        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, d, width):
                for_blocks(partial(rounded, start), n, grain=max(16, _GRAIN // width), n_jobs=self._n_jobs)
                add_gram(room[:, : min(width, d - start)], K, self._n_jobs)
            if not np.isfinite(K.diagonal()).all():  # no off-diagonal entry is larger
                return None
            if self._centred:
                share = self._share.astype(np.float32)
                along = K @ share
                K -= along[:, None]
                K -= along - share @ along
                if guess is not None and not guess @ guess <= _NEAR * float(self._share @ K.diagonal()):
                    self._table = CentredTable(X, None, self._n_jobs, False, self._share)
            if not self._plain:
                root = self.root.astype(np.float32)
                K *= root
                K *= root[:, None]
        return K

    def _guess(self) -> np.ndarray | None:
        """The mean of the first rows; None where it is small relative to their spread, or without an intercept."""
        if not self._centred:
            return None
        head = self._X[:_GUESS]
        with np.errstate(over="ignore", invalid="ignore"):
            guess = head.mean(axis=0)
            square = guess @ guess
            return None if square <= np.vdot(head, head) / len(head) - square else guess

    def _by_pieces(self) -> np.ndarray:
        return self._table.inner_products(np.float64, None if self._plain else self.root)

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        """Zᵀu."""
        return self._table.transposed_times(self.root[:, None] * u)

    def times(self, v: np.ndarray) -> np.ndarray:
        """Zv, after a product with Zᵀ."""
        return self.root[:, None] * self._table.times(v)

    def fill(self, K: np.ndarray) -> float:
        """Make K = ZZᵀ regular: centring leaves it singular along √w, to which targets and solutions are orthogonal.

        Adds c √w √wᵀ with c of the size of K's other eigenvalues, and returns c.
        """
        if not self._centred:
            return 0.0
        c = float(np.trace(K)) / len(K) / float(self.root @ self.root)
        root = self.root.astype(K.dtype)
        K += np.outer(np.asarray(c, dtype=K.dtype) * root, root)
        return c

    def dual_gradient(self, ridge: float, fill: float, dual: np.ndarray) -> np.ndarray:
        """T − (ZZᵀ + c √w √wᵀ + αI) u: zero at the solution u of the dual problem, and computed from the data."""
        gradient = self.target - self.times(self.transposed_times(dual)) - ridge * dual
        return gradient - fill * np.outer(self.root, self.root @ dual)
