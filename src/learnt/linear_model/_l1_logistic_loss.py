"""The log loss as proximal Newton sees it: residuals u = ω(1[y = k] − p), curvatures, and the entropy of its dual."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

_TINY, _ROUNDING = np.finfo(float).tiny, np.finfo(float).epsneg


class TwoClasses:
    """One score: p = 1/(1 + e⁻ᶻ) is the probability of the second class."""

    n_outputs = 1

    def __init__(self, y: np.ndarray, w: np.ndarray) -> None:
        self._y, self.weights = y.astype(np.float64), w
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
            z = Z[:, 0]
            small = np.exp(-np.abs(z))
            losses = np.log1p(small) + np.maximum(z, 0.0) - self._y * z
            self._p = np.where(z >= 0, 1.0, small) / (1.0 + small)
            self._total, self._at = float(self.weights @ losses), Z
        return self._total

    def scores(self) -> np.ndarray:
        """Where the loss was looked at last."""
        assert self._at is not None
        return self._at[:, 0]

    def residuals(self) -> np.ndarray:
        """(n, 1): how the loss falls with each score."""
        return (self.weights * (self._y - self._p))[:, None]

    def curvature(self) -> np.ndarray:
        return self.weights * self._p * (1.0 - self._p)

    def imbalance(self) -> tuple[np.ndarray, np.ndarray]:
        """Σu, and how it answers to a change of the intercept."""
        return self.residuals().sum(axis=0), np.array([[self.curvature().sum()]])

    def entropy(self, share: float) -> float:
        """Σ ω H(p̃) where p̃ lies `share` of the way from what was seen to what is thought."""
        wrong = share * np.abs(self._p - self._y)  # the probability of the class that was not seen
        wrong = np.clip(wrong, _TINY, 1.0 - _ROUNDING)
        return -float(self.weights @ (wrong * np.log(wrong) + (1.0 - wrong) * np.log1p(-wrong)))


class ManyClasses:
    """A score for each class; probabilities are their softmax."""

    def __init__(self, y: np.ndarray, w: np.ndarray, n_classes: int) -> None:
        self._y, self.weights, self.n_outputs = y.astype(np.intp), w, n_classes
        self._seen = np.eye(n_classes)[self._y]

    def start(self) -> np.ndarray:
        log = np.log(self.weights @ self._seen)
        return log - log.mean()

    def look(self, Z: np.ndarray) -> None:
        E = np.exp(Z - Z.max(axis=1, keepdims=True))
        self.probabilities = E / E.sum(axis=1, keepdims=True)

    def total(self, Z: np.ndarray) -> float:
        top = Z.max(axis=1)
        spread = np.log(np.exp(Z - top[:, None]).sum(axis=1)) + top
        return float(self.weights @ (spread - Z[np.arange(len(Z)), self._y]))

    def residuals(self) -> np.ndarray:
        return self.weights[:, None] * (self._seen - self.probabilities)

    def imbalance(self) -> tuple[np.ndarray, np.ndarray]:
        P = self.probabilities
        weighted = self.weights[:, None] * P
        return self.residuals().sum(axis=0), np.diag(weighted.sum(axis=0)) - P.T @ weighted

    def entropy(self, share: float) -> float:
        p = self._seen + share * (self.probabilities - self._seen)
        return -float(self.weights @ xlogy(p, p).sum(axis=1))
