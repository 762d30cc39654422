"""The losses of linear support vector machines as one family.

Each row's loss of a score s is a maximum over one bounded multiplier β:

    φ(s) = max over lo ≤ β ≤ hi of  β (y − s) − ε |β| − β²/(2 stiffness)

    hinge                  y = ±1, β between 0 and ±C, stiffness ∞        C max(0, 1 − y s)
    squared hinge          y = ±1, β on the side of y, stiffness 2C       C max(0, 1 − y s)²
    ε-insensitive          |β| ≤ C, stiffness ∞                           C max(0, |y − s| − ε)
    squared ε-insensitive  β free, stiffness 2C                           C max(0, |y − s| − ε)²

so that one dual,  max over β of  Σ yβ − ε|β| − β²/(2 stiffness) − ‖Xᵀβ‖²/2,  and one solver serve all four.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Loss(NamedTuple):
    """The loss of each of n rows: target, bounds of its multiplier, and 1/stiffness."""

    y: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    soft: np.ndarray  # 1/stiffness: 0 for the losses that are not squared
    epsilon: float
    weight: np.ndarray  # C times the weight of the row

    @property
    def smooth(self) -> bool:
        return bool(self.soft[0] > 0)

    def take(self, rows: np.ndarray, factor: float) -> Loss:
        """Some rows, each standing for `factor` of them."""
        lo, hi, weight = (column[rows] * factor for column in (self.lo, self.hi, self.weight))
        return Loss(self.y[rows], lo, hi, self.soft[rows] / factor, self.epsilon, weight)

    def start(self, s: np.ndarray | None) -> np.ndarray:
        """Initial multipliers: 0, or those of given scores."""
        return np.zeros_like(self.y) if s is None else np.where(self.y > s, self.hi, self.lo)

    def multipliers(self, s: np.ndarray, centre: np.ndarray | None, pull: np.ndarray | None) -> tuple:
        """The best β for scores s, and the rows whose β moves with s.

        With `pull`, β is also drawn to `centre` by pull (β − centre)²/2: the proximal point's smoothing.
        """
        r = self.y - s
        give = self.soft
        if pull is not None:
            r += pull * centre
            give = give + pull
        if self.epsilon:
            r = np.sign(r) * np.maximum(np.abs(r) - self.epsilon, 0.0)
        free = r / give
        beta = np.clip(free, self.lo, self.hi)
        return beta, (free == beta) & (r != 0.0)

    def value(self, s: np.ndarray) -> np.ndarray:
        """φ of each row."""
        r = self.y - s
        if self.epsilon:
            r = np.sign(r) * np.maximum(np.abs(r) - self.epsilon, 0.0)
        if self.smooth:
            beta = np.clip(r / self.soft, self.lo, self.hi)
            return beta * (r - 0.5 * self.soft * beta)
        return np.maximum(self.hi * r, self.lo * r)

    def slack(self, s: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The gap of each row between φ(s) and its value at β: 0 at the best β."""
        return self.value(s) - self.reward(beta) + beta * s

    def reward(self, beta: np.ndarray) -> np.ndarray:
        """What each row adds to the dual objective."""
        return beta * self.y - self.epsilon * np.abs(beta) - 0.5 * self.soft * beta * beta


def hinge(sign: np.ndarray, weight: np.ndarray, squared: bool) -> Loss:
    """Classes as ±1; `weight` is C times that of each row."""
    top = np.full_like(weight, np.inf) if squared else weight
    none = np.zeros_like(weight)
    up = sign > 0
    return Loss(sign, np.where(up, none, -top), np.where(up, top, none), 0.5 / weight if squared else none, 0.0, weight)


def insensitive(y: np.ndarray, weight: np.ndarray, epsilon: float, squared: bool) -> Loss:
    """The epsilon-insensitive loss for targets y."""
    top = np.full_like(weight, np.inf) if squared else weight
    return Loss(y, -top, top, 0.5 / weight if squared else np.zeros_like(weight), epsilon, weight)
