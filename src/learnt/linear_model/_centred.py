"""Rows that are centred without being copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.gram import add_gram, gram
from learnt.engine.threads import for_blocks
from learnt.linear_model._moments import as_columns

_NEAR = 25.0  # ‖x̄‖² against the rows' own variance: up to here products about 0 keep their digits
_PIECE = 1 << 19  # cells that are centred and multiplied while they are in a cache
_GRAIN = 1 << 17  # cells for one task


class CentredRows:
    """Z = √w (X − x̄) and T = √w (y − ȳ) of fewer rows than columns, in memory, as an operator."""

    def __init__(self, rows: Any, center: bool) -> None:
        self._X = X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
        self._n_jobs, self._centred, self._plain = rows.n_jobs, center, rows.w is None
        self.shape = n, d = X.shape
        Y = as_columns(rows.y)
        self._share = np.full(n, 1.0 / n) if rows.w is None else rows.w / rows.w.sum()
        self.x_mean: Any = None if center else np.zeros(d)  # known after the first product with Zᵀ
        self.y_mean = self._share @ Y if center else np.zeros(Y.shape[1])
        self.root = np.ones(n) if rows.w is None else np.sqrt(rows.w)
        self.target = (Y - self.y_mean) * self.root[:, None]
        self._near = True

    def inner_products(self) -> np.ndarray:
        """ZZᵀ; not finite where squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._X.dtype != np.float64:
                return self._by_pieces()
            K = gram(self._X, self._n_jobs)
            if self._centred:
                # To subtract the mean of X's rows is to subtract the means of K's rows and columns.
                along = K @ self._share
                square = float(self._share @ along)  # ‖x̄‖²
                self._near = square <= _NEAR * (float(self._share @ np.diag(K)) - square)
                if not self._near:
                    return self._by_pieces()
                K -= along[:, None]
                K -= along - square
            return self._weighted(K)

    def _weighted(self, K: np.ndarray) -> np.ndarray:
        if not self._plain:
            K *= self.root
            K *= self.root[:, None]
        return K

    def _by_pieces(self) -> np.ndarray:
        """Some columns at a time, with their means while they are in a cache: no digit goes to a mean far from 0."""
        n, d = self.shape
        K = np.zeros((n, n))
        width = min(d, max(64, _PIECE // n))
        piece = np.empty((n, width))
        for start in range(0, d, width):
            part = piece[:, : min(width, d - start)]

            def centre(lo: int, hi: int, part: np.ndarray = part, start: int = start) -> None:
                some = self._X[:, start + lo : start + hi]
                part[:, lo:hi] = some
                if self._centred:
                    part[:, lo:hi] -= self._share @ part[:, lo:hi]

            for_blocks(centre, part.shape[1], grain=max(16, _GRAIN // n), n_jobs=self._n_jobs)
            add_gram(part, K, self._n_jobs)
        return self._weighted(K)

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        """Zᵀu; the first time, also x̄, in the same pass."""
        n, d = self.shape
        u = self.root[:, None] * u
        total = u.sum(axis=0)
        mean = np.empty(d) if self.x_mean is None else self.x_mean

        def columns(lo: int, hi: int) -> np.ndarray:
            some = self._X[:, lo:hi]
            if self.x_mean is None:
                mean[lo:hi] = self._share @ some
            if not self._near:
                return (some - mean[lo:hi]).T @ u
            # vectors one by one: BLAS is slow at products with thin matrices
            return np.stack([column @ some for column in np.ascontiguousarray(u.T)], axis=1) - np.outer(
                mean[lo:hi], total
            )

        parts = for_blocks(columns, d, grain=max(64, _GRAIN // n), n_jobs=self._n_jobs)
        self.x_mean = mean
        return np.concatenate(parts)

    def times(self, v: np.ndarray) -> np.ndarray:
        """Zv, after a product with Zᵀ."""
        n, d = self.shape
        offset = self.x_mean @ v

        def rows(lo: int, hi: int) -> np.ndarray:
            return self._X[lo:hi] @ v - offset if self._near else (self._X[lo:hi] - self.x_mean) @ v

        parts = for_blocks(rows, n, grain=max(1, _GRAIN // d), n_jobs=self._n_jobs)
        return self.root[:, None] * np.concatenate(parts)

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
        return gradient - fill * np.outer(self.root, self.root @ dual)
