"""A dense table of few rows and many columns, centred without a copy."""

from __future__ import annotations

import numpy as np

from learnt.engine.gram import add_gram
from learnt.engine.threads import for_blocks
from learnt.linear_model._moments import far_from_zero

_SOME = 256  # rows to measure the spread by
_GRAIN = 1 << 17  # cells for one task
_PIECE = 1 << 19  # cells that are centred, rounded and multiplied while they are in a cache


class CentredTable:
    """Z = X − mean, as products."""

    def __init__(self, X: np.ndarray, mean: np.ndarray, n_jobs: int | None) -> None:
        self.mean, self._X, self._n_jobs = mean, X, n_jobs
        self._far = far_from_zero(mean, X[:_SOME])  # there the mean is taken off before anything is summed

    def times(self, v: np.ndarray) -> np.ndarray:
        """Z v."""
        n, d = self._X.shape
        offset = self.mean @ v

        def some(lo: int, hi: int) -> np.ndarray:
            return (self._X[lo:hi] - self.mean) @ v if self._far else self._X[lo:hi] @ v - offset

        return np.concatenate(for_blocks(some, n, grain=max(1, _GRAIN // d), n_jobs=self._n_jobs))

    def transposed_times(self, u: np.ndarray) -> np.ndarray:
        """Zᵀ u."""
        n, d = self._X.shape
        total = u.sum()

        def some(lo: int, hi: int) -> np.ndarray:
            X, mean = self._X[:, lo:hi], self.mean[lo:hi]
            return u @ (X - mean) if self._far else u @ X - total * mean

        return np.concatenate(for_blocks(some, d, grain=max(64, _GRAIN // n), n_jobs=self._n_jobs))

    def inner_products(self) -> np.ndarray:
        """Z Zᵀ from products in single precision; not finite where squares are too large for it."""
        n, d = self._X.shape
        out = np.zeros((n, n))
        width = min(d, max(64, _PIECE // n))
        piece = np.empty((n, width), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, d, width):
                columns = slice(start, min(start + width, d))
                part = piece[:, : columns.stop - start]

                def centre(lo: int, hi: int, part: np.ndarray = part, columns: slice = columns) -> None:
                    np.subtract(self._X[lo:hi, columns], self.mean[columns], out=part[lo:hi], casting="same_kind")

                for_blocks(centre, n, grain=max(1, _GRAIN // width), n_jobs=self._n_jobs)
                add_gram(part, out, self._n_jobs)
        return out
