"""All classes at once:  min over W of  ‖W‖²/2 + Σ Cᵢ max over m of (1[m ≠ yᵢ] + (w_m − w_{yᵢ})·aᵢ).

The loss of a row's K scores s is a maximum over shares p ≥ 0 with Σ p = C,

    φ(s) = max over p of  p·(s + 1 − e_y) − C s_y,

so that the multipliers are β = C e_y − p, and a proximal point is a projection onto a simplex. The rest is as for two
classes: semismooth Newton in `_newton`, over K coefficients a column.

Reference: Crammer & Singer, On the algorithmic implementation of multiclass kernel-based vector machines,
JMLR 2 (2001) 265-292.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.linalg.positive import spd_solve
from learnt.svm._curvature import COLUMNS, conjugate_gradients
from learnt.svm._design import Design


class JointLoss(NamedTuple):
    """The class of each row as one-hot, and C times its weight; both n × …"""

    own: np.ndarray  # n × K
    weight: np.ndarray  # n × 1

    @property
    def smooth(self) -> bool:
        return False

    @property
    def soft(self) -> float:
        return 0.0

    def start(self, s: np.ndarray | None) -> np.ndarray:
        """Multipliers to begin with: those of no mistake at all."""
        return np.zeros_like(self.own)

    def multipliers(self, s: np.ndarray, centre: np.ndarray, pull: np.ndarray) -> tuple:
        """The best β for scores s when drawn to `centre`, and which shares move with s."""
        height = self.weight * self.own - centre + (s + 1.0 - self.own) / pull
        shares = on_simplex(height, self.weight)
        return self.weight * self.own - shares, shares > 0.0

    def value(self, s: np.ndarray) -> np.ndarray:
        """φ of each row."""
        own = np.sum(s * self.own, axis=1)
        return self.weight[:, 0] * (np.max(s + 1.0 - self.own, axis=1) - own)

    def slack(self, s: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The gap of each row between φ(s) and its value at β."""
        shares = self.weight * self.own - beta
        return (
            self.value(s) - np.sum(shares * (s + 1.0 - self.own), axis=1) + np.sum(self.weight * self.own * s, axis=1)
        )


def on_simplex(height: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The projection onto p ≥ 0 with Σ p = total, row by row: the positive part above a threshold."""
    fallen = -np.sort(-height, axis=1)
    over = (np.cumsum(fallen, axis=1) - total) / np.arange(1, height.shape[1] + 1)
    last = np.count_nonzero(fallen > over, axis=1) - 1
    return np.maximum(height - over[np.arange(len(over)), last][:, None], 0.0)


class JointCurvature:
    """I + Σ over rows of J ⊗ aaᵀ/pull, where J = I − 11ᵀ/k on the k classes that share a row; 0 where k = 1."""

    def __init__(self, design: Design) -> None:
        self._design = design

    def solve(self, g: np.ndarray, moving: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """−H⁻¹ g, with g D × K."""
        sharing = moving.sum(axis=1)
        rows = np.flatnonzero(sharing > 1)
        if not rows.size:
            return -g
        member = moving[rows].astype(np.float64)
        k, give = sharing[rows][:, None], 1.0 / pull[rows]
        D, K = g.shape
        if D * K > COLUMNS:
            return self._by_gradients(g, rows, member, k, give)
        blocks = np.empty((K, D, K, D))
        for m in range(K):
            for l in range(m + 1):
                pair = member[:, m] * ((m == l) - member[:, l] / k[:, 0]) * give[:, 0]
                own = np.flatnonzero(pair)
                blocks[m, :, l] = self._design.gram(rows[own], pair[own])
                blocks[l, :, m] = blocks[m, :, l].T
        H = blocks.reshape(K * D, K * D)
        H.flat[:: K * D + 1] += 1.0
        return -spd_solve(H, g.T.ravel()).reshape(K, D).T

    def _by_gradients(
        self, g: np.ndarray, rows: np.ndarray, member: np.ndarray, k: np.ndarray, give: np.ndarray
    ) -> np.ndarray:
        A = self._design.take(rows)
        squares = A.multiply(A) if self._design.sparse else A * A
        diagonal = 1.0 + np.asarray(squares.T @ (give * member * (1.0 - 1.0 / k)))

        def product(x: np.ndarray, out: np.ndarray) -> None:
            X = x.reshape(g.shape)
            s = member * (A @ X)
            s -= member * (s.sum(axis=1, keepdims=True) / k)
            np.add(x, np.asarray(A.T @ (give * s)).ravel(), out=out)

        return conjugate_gradients(product, -g.ravel(), diagonal.ravel()).reshape(g.shape)
