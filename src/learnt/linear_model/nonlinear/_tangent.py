"""The tangent problem  min over δ of ‖r − Jδ‖² + τ‖Dδ‖²,  factorised so that every τ is cheap."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from learnt.engine.threads import for_blocks

_EPS = float(np.finfo(np.float64).eps)
_GRAIN = 1 << 15  # rows factorised at a time


class Tangent:
    """The linear problem at one point, factorised so that a step of any length costs O(p²)."""

    def __init__(self, table: np.ndarray, factor: np.ndarray, scale: np.ndarray, free: np.ndarray | None) -> None:
        """`table` is [J, r] and `factor` its triangular factor."""
        p = table.shape[1] - 1
        self.table, self.triangle, self.right = table, factor[:p, :p], factor[:p, p]
        self.free, self.scale = free, scale
        self.pull = self.right @ self.triangle  # Jᵀr, half the descent direction of the cost
        scaled = self.triangle / scale
        if free is not None:
            scaled = scaled[:, free]
        left, self.s, self.vectors = _singular(scaled)
        self.g = self.right @ left
        top = float(self.s[0]) if self.s.size else 0.0
        self.rcond = float(self.s[-1]) / top if top > 0 else 0.0
        if self.rcond > _EPS * len(table):
            self.newton, spanned = self.g / self.s, self.g
        else:
            kept = self.s > _EPS * len(table) * top
            self.newton, spanned = np.divide(self.g, self.s, out=np.zeros_like(self.g), where=kept), self.g[kept]
        self.slope = math.sqrt(float(spanned @ spanned))  # ‖Q₁ᵀr‖

    def step(self, rotated: np.ndarray) -> np.ndarray:
        """The step in parameters from its rotated, scaled coordinates."""
        step = rotated @ self.vectors
        if self.free is not None:
            full = np.zeros(len(self.scale))
            full[self.free] = step
            step = full
        return step / self.scale

    def gain(self, step: np.ndarray) -> float:
        """‖r‖² − ‖r − Jδ‖²: the predicted reduction."""
        image = self.triangle @ step
        return float(2.0 * (self.pull @ step) - image @ image)


def triangular(table: np.ndarray) -> np.ndarray:
    """R of a QR factorisation, square; tall tables in blocks, whose factors are stacked."""
    n, k = table.shape
    if n > _GRAIN:
        table = np.vstack(for_blocks(lambda lo, hi: triangular(table[lo:hi]), n, grain=_GRAIN))
    factor = lapack.dgeqrf(table)[0][:k]
    if len(factor) < k:
        factor = np.vstack([factor, np.zeros((k - len(factor), k))])
    return factor * _upper(k)


@lru_cache(maxsize=32)
def _upper(k: int) -> np.ndarray:
    return np.triu(np.ones((k, k)))


def _singular(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thin singular value decomposition, by LAPACK without NumPy's checks: matrices here are small and finite."""
    if matrix.shape[1] == 0:
        return np.zeros((len(matrix), 0)), np.zeros(0), np.zeros((0, 0))
    left, values, vectors, info = lapack.dgesdd(matrix, full_matrices=0)
    return (left, values, vectors) if info == 0 else np.linalg.svd(matrix, full_matrices=False)


def damping(s: np.ndarray, g: np.ndarray, radius: float) -> tuple[float, np.ndarray]:
    """τ > 0 with ‖s g / (s² + τ)‖ = radius to a tenth, and that vector: Newton on the reciprocal norm, safeguarded."""
    low, high = 0.0, float(np.linalg.norm(s * g)) / radius
    tau = 1e-3 * high
    for _ in range(30):
        shifted = s * s + tau
        rotated = s * g / shifted
        norm = math.sqrt(float(rotated @ rotated))
        if abs(norm - radius) <= 0.1 * radius:
            break
        if norm < radius:
            high = tau
        else:
            low = tau
        tau += (norm - radius) / radius * norm * norm / float(rotated @ (rotated / shifted))
        if not low < tau < high:
            tau = max(1e-3 * high, math.sqrt(low * high))
    return tau, rotated
