"""Rows that are centred without being copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.gram import gram
from learnt.linear_model._moments import as_columns, far_from_zero


def _few_rows(n_columns: int) -> int:
    """Rows that tell a spread well enough, fewer where they are wide."""
    return max(32, min(256, (1 << 18) // max(n_columns, 1)))


class CentredRows:
    """√w (X − x̄) and √w (y − ȳ) of rows in memory, as an operator: X is copied only where its means are far from 0."""

    def __init__(self, rows: Any, x_mean: np.ndarray, y_mean: np.ndarray) -> None:
        X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
        X = X.astype(np.float64, copy=False)
        self._mean = x_mean
        if far_from_zero(x_mean, X[: _few_rows(X.shape[1])]):
            X, self._mean = X - x_mean, np.zeros(X.shape[1])
        self._X = X
        self.root = np.ones(X.shape[0]) if rows.w is None else np.sqrt(rows.w)
        self.target = (as_columns(rows.y) - y_mean) * self.root[:, None]
        self.shape = X.shape

    def times(self, v: np.ndarray) -> np.ndarray:
        return self.root[:, None] * (self._X @ v - self._mean @ v)

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        u = self.root[:, None] * u
        return self._X.T @ u - np.outer(self._mean, u.sum(axis=0))

    def inner_products(self) -> np.ndarray:
        """(n, n): ⟨xᵢ − x̄, xⱼ − x̄⟩ √(wᵢwⱼ); not finite where squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._inner_products()

    def _inner_products(self) -> np.ndarray:
        K = gram(self._X)
        along = self._X @ self._mean
        K -= along[:, None]
        K -= along - self._mean @ self._mean
        if self.root.min() != 1.0 or self.root.max() != 1.0:
            K *= self.root
            K *= self.root[:, None]
        return K
