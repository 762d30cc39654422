"""Newton's equations  (I + A_FᵀT⁻¹A_F) p = −g,  by columns, by rows or by conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.linalg.positive import spd_solve
from learnt.svm._design import Design

COLUMNS = 1500  # up to which a D × D matrix is formed
ROWS = 1500  # and an |F| × |F| one
_CG_STEPS, _CG_LEFT = 100, 0.01


class Curvature:
    """Solves with the second derivative; where few rows changed since the last time, it is updated by them."""

    def __init__(self, design: Design, columns: int = COLUMNS, rows: int = ROWS) -> None:
        self._design, self._most_columns, self._most_rows = design, columns, rows
        self._weight: np.ndarray | None = None  # of each row, in the matrix below
        self._gram = np.empty((0, 0))

    def solve(self, g: np.ndarray, moving: np.ndarray, give: np.ndarray) -> np.ndarray:
        """−(I + Σ over `moving` rows of aaᵀ/give)⁻¹ g."""
        rows = np.flatnonzero(moving)
        if rows.size == 0:
            return -g
        columns = self._design.D
        if rows.size <= min(columns, self._most_rows):
            return self._by_rows(g, rows, give[rows])
        if columns <= self._most_columns:
            return self._by_columns(g, rows, give[rows])
        return self._by_gradients(g, rows, give[rows])

    def _by_rows(self, g: np.ndarray, rows: np.ndarray, give: np.ndarray) -> np.ndarray:
        A = self._design.take(rows)
        Q = self._design.rows_gram(rows)
        Q.flat[:: Q.shape[0] + 1] += give
        return A.T @ spd_solve(Q, A @ g) - g

    def _by_columns(self, g: np.ndarray, rows: np.ndarray, give: np.ndarray) -> np.ndarray:
        n = self._design.n
        weight = np.zeros(n)
        weight[rows] = 1.0 / give
        if self._weight is not None:
            changed = np.flatnonzero(weight != self._weight)
            if changed.size < 0.4 * rows.size:
                if changed.size:
                    self._gram += self._design.gram(changed, (weight - self._weight)[changed])
                self._weight = weight
        if self._weight is not weight:
            self._gram, self._weight = self._design.gram(rows, weight[rows]), weight
        H = self._gram.copy()
        H.flat[:: H.shape[0] + 1] += 1.0
        return -spd_solve(H, g)

    def _by_gradients(self, g: np.ndarray, rows: np.ndarray, give: np.ndarray) -> np.ndarray:
        """Preconditioned by the diagonal: a step downhill however early it stops."""
        A = self._design.take(rows)
        squares = A.multiply(A) if self._design.sparse else A * A
        diagonal = 1.0 + np.asarray(squares.T @ (1.0 / give)).ravel()

        def product(x: np.ndarray, out: np.ndarray) -> None:
            np.add(x, A.T @ ((A @ x) / give), out=out)

        return conjugate_gradients(product, -g, diagonal)


def conjugate_gradients(product: Any, b: np.ndarray, diagonal: np.ndarray, steps: int = _CG_STEPS) -> np.ndarray:
    """x with product(x) near b: the error a hundredth of what it was, or `steps` products. In place: no new arrays."""
    x, q = np.zeros_like(b), np.empty_like(b)
    r = b.copy()
    z = r / diagonal
    p = z.copy()
    rz = first = float(r @ z)
    for _ in range(steps):
        if rz <= _CG_LEFT**2 * first:
            break
        product(p, q)
        curve = float(p @ q)
        if not curve > 0.0:  # so small a step that its square is 0
            break
        a = rz / curve
        np.multiply(p, a, out=z)
        x += z
        q *= a
        r -= q
        np.divide(r, diagonal, out=z)
        rz, old = float(r @ z), rz
        p *= rz / old
        p += z
    return x
