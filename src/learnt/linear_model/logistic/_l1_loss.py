"""The log loss as proximal Newton sees it: residuals u = ω(1[y = k] − p), curvatures, and the entropy of its dual."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.linear_model.logistic._margins import margin_losses

_TINY, _ROUNDING = np.finfo(float).tiny, np.finfo(float).epsneg


class TwoClasses:
    """One score: p = 1/(1 + e⁻ᶻ) is the probability of the second class."""

    n_outputs = 1

    def __init__(self, y: np.ndarray, w: np.ndarray) -> None:
        self._y, self.weights = y.astype(np.float64), w
        self._side = 2.0 * self._y - 1.0
        self._at: np.ndarray | None = None

    def start(self) -> np.ndarray:
        """The intercept without columns."""
        share = self.weights @ self._y / self.weights.sum()
        return np.array([np.log(share / (1.0 - share))])

    def look(self, Z: np.ndarray) -> None:
        """Probabilities at these scores."""
        self.total(Z)

    def total(self, Z: np.ndarray) -> float:
        """The loss at these scores; what was computed for them last is kept."""
        if Z is not self._at:
            losses, self._wrong, curve = margin_losses(self._side * Z[:, 0])
            self._curve = self.weights * curve
            self._total, self._at = float(self.weights @ losses), Z
        return self._total

    def scores(self) -> np.ndarray:
        """Where the loss was looked at last."""
        assert self._at is not None
        return self._at

    def residuals(self) -> np.ndarray:
        """(n, 1): how the loss falls with each score."""
        return (self.weights * self._side * self._wrong)[:, None]

    def curvature(self) -> np.ndarray:
        return self._curve

    def curved(self, rows: np.ndarray, part: slice) -> np.ndarray:
        """(1, m, 1, m): Σ h x xᵀ of a part of the rows, which are columns here and are changed."""
        rows *= np.sqrt(self._curve[part])
        return (rows @ rows.T)[None, :, None, :]

    def imbalance(self) -> tuple[np.ndarray, np.ndarray]:
        """Σu, and how it answers to a change of the intercept."""
        return self.residuals().sum(axis=0), np.array([[self.curvature().sum()]])

    def entropy(self, share: float) -> float:
        """Σ ω H(p̃) where p̃ lies `share` of the way from the observed class to the predicted probability."""
        wrong = np.clip(share * self._wrong, _TINY, 1.0 - _ROUNDING)
        return -float(self.weights @ (wrong * np.log(wrong) + (1.0 - wrong) * np.log1p(-wrong)))


class ManyClasses:
    """A score for each class; probabilities are their softmax. Arrays (n, K) lie class by class."""

    def __init__(self, y: np.ndarray, w: np.ndarray, n_classes: int) -> None:
        self.weights, self.n_outputs = w, n_classes
        self._seen = by_class(np.eye(n_classes)[:, y])
        self._own = y.astype(np.intp) * len(y) + np.arange(len(y))  # where a row's own class lies
        self._at: np.ndarray | None = None

    def start(self) -> np.ndarray:
        log = np.log(self.weights @ self._seen)
        return log - log.mean()

    def look(self, Z: np.ndarray) -> None:
        self.total(Z)

    def total(self, Z: np.ndarray) -> float:
        if Z is not self._at:
            below = Z - Z.max(axis=1)[:, None]
            own = below.T.ravel()[self._own]
            E = np.exp(below, out=below)
            others = (E * (1.0 - self._seen)).sum(axis=1)  # alone, for all digits of 1 − p and −log p where p is near 1
            sums = others + np.exp(own)
            self.probabilities, self._wrong = E / sums[:, None], others / sums
            losses = np.where(own == 0.0, np.log1p(others), np.log(sums) - own)
            self._total, self._at = float(self.weights @ losses), Z
        return self._total

    def scores(self) -> np.ndarray:
        assert self._at is not None
        return self._at

    def residuals(self) -> np.ndarray:
        fall = np.where(self._seen > 0, self._wrong[:, None], -self.probabilities)
        return self.weights[:, None] * fall

    def curved(self, rows: np.ndarray, part: slice) -> np.ndarray:
        """(K, m, K, m): Σ ω pₖ(1[k = l] − pₗ) x xᵀ of a part of the rows, which are columns here.

        Probabilities sum to 1, so that what a class has with itself is what it has with all others.
        """
        (m, n), K = rows.shape, self.n_outputs
        out, weighted = np.zeros((K, m, K, m)), np.empty((m, n))
        roots, of_row = np.sqrt(self.probabilities[part].T), np.sqrt(self.weights[part])
        for k in range(K):
            for j in range(k):
                np.multiply(rows, of_row * roots[k] * roots[j], out=weighted)
                product = weighted @ weighted.T
                out[k, :, j] = out[j, :, k] = -product
                out[k, :, k] += product
                out[j, :, j] += product
        return out

    def imbalance(self) -> tuple[np.ndarray, np.ndarray]:
        P = self.probabilities
        weighted = self.weights[:, None] * P
        return self.residuals().sum(axis=0), np.diag(weighted.sum(axis=0)) - P.T @ weighted

    def entropy(self, share: float) -> float:
        p = self._seen + share * (self.probabilities - self._seen)
        p *= np.log(np.maximum(p, _TINY))
        return -float(self.weights @ p.sum(axis=1))


def by_class(rows: Any) -> np.ndarray:
    """(K, n) numbers as an array (n, K) whose columns lie together: sums over classes then run along the rows."""
    return np.ascontiguousarray(rows).T
