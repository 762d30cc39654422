"""Rows that are centred without being copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.gram import add_gram, gram
from learnt.engine.threads import for_blocks
from learnt.linear_model._moments import as_columns, means

_NEAR = 25.0  # ‖x̄‖² against the rows' own variance: up to here sums about 0 keep their digits
_PIECE = 1 << 19  # cells that are centred and multiplied while they are in a cache
_GRAIN = 1 << 17  # cells for one task


class CentredRows:
    """√w (X − x̄) and √w (y − ȳ) of fewer rows than columns, in memory, as an operator."""

    def __init__(self, rows: Any, center: bool) -> None:
        X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
        self.shape = n, _ = X.shape
        self.x_mean, self.y_mean = means(rows, center)
        self.root = np.ones(n) if rows.w is None else np.sqrt(rows.w)
        self.target = (as_columns(rows.y) - self.y_mean) * self.root[:, None]
        self._X, self._n_jobs, self._plain = X, rows.n_jobs, rows.w is None
        self._centred, self._near = center, _is_near(X, self.x_mean)

    def times(self, v: np.ndarray) -> np.ndarray:
        offset = self.x_mean @ v

        def rows(lo: int, hi: int) -> np.ndarray:
            return self._X[lo:hi] @ v - offset if self._near else (self._X[lo:hi] - self.x_mean) @ v

        n, d = self.shape
        parts = for_blocks(rows, n, grain=max(1, _GRAIN // d), n_jobs=self._n_jobs)
        return self.root[:, None] * np.concatenate(parts)

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        u = self.root[:, None] * u
        total = u.sum(axis=0)

        def columns(lo: int, hi: int) -> np.ndarray:
            some, mean = self._X[:, lo:hi], self.x_mean[lo:hi]
            return some.T @ u - np.outer(mean, total) if self._near else (some - mean).T @ u

        n, d = self.shape
        return np.concatenate(for_blocks(columns, d, grain=max(64, _GRAIN // n), n_jobs=self._n_jobs))

    def inner_products(self, dtype: Any = np.float64) -> np.ndarray:
        """(n, n): ⟨xᵢ − x̄, xⱼ − x̄⟩ √(wᵢwⱼ) from products in this precision; not finite where squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self._near or self._X.dtype != dtype:
                return self._by_pieces(dtype)
            K = gram(self._X, self._n_jobs)
            along = self._X @ self.x_mean
            K -= along[:, None]
            K -= along - self.x_mean @ self.x_mean
            if not self._plain:
                K *= self.root
                K *= self.root[:, None]
            return K

    def fill(self, K: np.ndarray) -> float:
        """Make K = ZZᵀ regular: centring leaves it singular along √w, where no target and no answer has a part.

        Adds c √w √wᵀ with c of the size of K's other eigenvalues, and says c.
        """
        if not self._centred:
            return 0.0
        c = float(np.trace(K)) / len(K) / float(self.root @ self.root)
        K += c * np.outer(self.root, self.root)
        return c

    def dual_gradient(self, ridge: float, fill: float, dual: np.ndarray) -> np.ndarray:
        """T − (ZZᵀ + c √w √wᵀ + αI) u: zero at the solution u of the dual problem, and computed from the data."""
        gradient = self.target - self.times(self.transposed_times(dual)) - ridge * dual
        return gradient - fill * np.outer(self.root, self.root @ dual) if fill else gradient

    def _by_pieces(self, dtype: Any) -> np.ndarray:
        """Some columns at a time, centred and rounded."""
        n, d = self.shape
        K = np.zeros((n, n))
        width = min(d, max(64, _PIECE // n))
        piece = np.empty((n, width), dtype=dtype)
        for start in range(0, d, width):
            columns = slice(start, min(start + width, d))
            part = piece[:, : columns.stop - start]

            def centre(lo: int, hi: int, part: np.ndarray = part, columns: slice = columns) -> None:
                some = self._X[lo:hi, columns] - self.x_mean[columns]
                part[lo:hi] = some if self._plain else some * self.root[lo:hi, None]

            for_blocks(centre, n, grain=max(1, _GRAIN // width), n_jobs=self._n_jobs)
            add_gram(part, K, self._n_jobs)
        return K


def _is_near(X: np.ndarray, mean: np.ndarray) -> bool:
    """Whether the mean is small beside the spread, by some of the rows."""
    some = X[: max(32, min(256, (1 << 18) // max(X.shape[1], 1)))]
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.sum(mean**2) <= _NEAR * np.var(some, axis=0).sum())
