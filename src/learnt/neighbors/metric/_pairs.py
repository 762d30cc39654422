"""Objectives over all pairs of rows as functions of A, where d_ij = ‖A(x_i − x_j)‖², for solvers of `erm`.

With w_ij = ∂ objective / ∂ d_ij and e = Ax the slope is  2 Σ w_ij (e_i − e_j)(x_i − x_j)ᵀ  =  2 A Σ w_ij (x_i − x_j)
(x_i − x_j)ᵀ: two products of the n × n matrix w with the rows e, or one with the rows x where these are not much
longer. Only blocks of d and w exist, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks, single_blas

_CELLS = 1 << 16  # of a block
_SUMS = 8  # partial sums at most, each of the size of e


class PairsObjective:
    """A sum over pairs of rows (`add` is one of `_kernels`), to be minimised over A."""

    scale = 1.0

    def __init__(self, X: np.ndarray, codes: np.ndarray, add: Callable[..., float], *more: Any) -> None:
        order = np.argsort(codes, kind="stable")
        X = X[order].astype(np.float64, copy=False)
        self.rows = X - X.mean(axis=0)  # distances do not change, and keep their digits
        self.codes = codes[order]
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        self._add, self._more = add, more
        self.value = np.nan  # the value of the last call of `smooth`

    def smooth(self, A: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and its slope in A."""
        # A step too long may overflow: the line search turns back.
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            E = self.rows @ A.T
            if 2 * A.shape[0] >= A.shape[1]:
                self.value, matrix = self.in_features(E)
                return self.value, 2.0 * (A @ matrix)
            self.value, pulls = self._in_components(E)
            return self.value, 2.0 * (pulls.T @ self.rows)

    def in_features(self, E: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and  Σ w_ij (x_i − x_j)(x_i − x_j)ᵀ, its slope in M = AᵀA."""
        X, d = self.rows, self.rows.shape[1]

        def some(blocks: Any) -> tuple[np.ndarray, ...]:
            cross = np.zeros((d, d))
            for lo, weights in blocks:
                cross += X[lo : lo + len(weights)].T @ (weights @ X)
            return (cross,)

        value, degree, (cross,) = self._sums(E, some)
        return value, (X.T * degree) @ X - cross - cross.T

    def _in_components(self, E: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and  Σⱼ (w_ij + w_ji)(e_i − e_j)  of each row."""

        def some(blocks: Any) -> tuple[np.ndarray, ...]:
            both = np.zeros(E.shape[::-1])
            for lo, weights in blocks:
                mine = E[lo : lo + len(weights)]
                both += mine.T @ weights
                both[:, lo : lo + len(mine)] += (weights @ E).T
            return (both,)

        value, degree, (both,) = self._sums(E, some)
        return value, degree[:, None] * E - both.T

    def _sums(self, E: np.ndarray, some: Callable) -> tuple[float, np.ndarray, list[np.ndarray]]:
        """The value, the sum of the slopes at each row, and the sums that `some` makes of blocks of w."""
        n, columns = len(E), E.T.copy()
        squares = np.einsum("ij,ij->i", E, E)
        height = max(1, _CELLS // n, E.shape[1] // 2)
        grain = max(height, -(-n // _SUMS))

        def part(lo: int, hi: int) -> tuple[np.ndarray, ...]:
            value, degree, buffer = np.zeros(1), np.zeros(n), np.empty((min(height, hi - lo), n))

            def blocks() -> Any:
                for first in range(lo, hi, height):
                    mine = E[first : min(first + height, hi)]
                    weights = np.matmul(mine, columns, out=buffer[: len(mine)])
                    value[0] += self._add(weights, squares, self.codes, self.ends, first, degree, *self._more)
                    yield first, weights

            sums = some(blocks())
            return value, degree, *sums

        parts: Any = zip(*for_blocks(part, n, grain=grain), strict=True)
        value, degree, *sums = (np.sum(part, axis=0) for part in parts)
        return float(value[0]), degree, sums

    def stationarity(self, A: np.ndarray, slope: np.ndarray) -> float:
        """The largest entry of the slope."""
        return float(np.abs(slope).max())
