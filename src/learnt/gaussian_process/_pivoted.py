"""Pivoted Cholesky factors: rows chosen greedily, each of nearly the largest variance given those before it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnt.engine.threads import single_blas

_TOGETHER = 16  # candidates whose columns are computed together, in products of matrices
_NEARLY = 0.5  # of the largest variance left: what a candidate must have to be taken


class PivotedFactor:
    """k(X, X) = VᵀV + a remainder whose diagonal is `left`; column pivots[j] of V is 0 below row j.

    >>> from learnt.kernels import RBF
    >>> PivotedFactor(RBF(1.0), np.array([[0.0], [0.1], [5.0]]), 2).grow(2).pivots
    [0, 2]
    """

    def __init__(self, smooth: Any, X: np.ndarray, most: int) -> None:
        self.smooth, self.X, self.most = smooth, X, min(most, len(X))
        self.left = np.array(smooth.diag(X), dtype=np.float64)
        self.top = float(self.left.max())
        self.pivots: list[int] = []
        self._V = np.empty((self.most, len(X)))

    @property
    def V(self) -> np.ndarray:
        return self._V[: len(self.pivots)]

    def grow(self, rank: int, least: float = 0.0) -> PivotedFactor:
        """Add pivots up to this rank, while one has more than `least` times the largest variance left."""
        rank = min(rank, self.most)
        with single_blas():
            while len(self.pivots) < rank and self.left.max() > least * self.top:
                self._add(rank, least)
        return self

    def _add(self, rank: int, least: float) -> None:
        """Add those of some candidates that have enough left when it is their turn: at least the first has."""
        left, V = self.left, self._V
        rows = np.flatnonzero(left >= _NEARLY * left.max())
        if len(rows) > _TOGETHER:  # from all over the table: neighbours of a pivot tell nothing more
            rows = np.append(rows[:: -(-len(rows) // _TOGETHER)], left.argmax())
        columns = self.smooth.block(self.X[rows], self.X, None)
        before = len(self.pivots)
        columns -= V[:before, rows].T @ V[:before]
        waiting = np.ones(len(rows), dtype=bool)
        while len(self.pivots) < rank and waiting.any():
            first = int(np.where(waiting, left[rows], -1.0).argmax())
            pivot, variance = int(rows[first]), float(left[rows[first]])
            if variance <= least * self.top or variance < _NEARLY * left.max():
                return
            j = len(self.pivots)
            column = np.subtract(columns[first], V[before:j, pivot] @ V[before:j], out=V[j])
            column /= math.sqrt(variance)
            left -= column * column
            np.maximum(left, 0.0, out=left)  # rounding
            left[pivot] = 0.0
            waiting[first] = False
            self.pivots.append(pivot)
