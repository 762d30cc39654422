"""What a generalised linear model assumes of y: its deviance, as a function of the linear score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import namespace


class Family(NamedTuple):
    """The Tweedie family: variance of y ∝ mean^power, mean = exp(score) or, with `log` False, the score itself.

        half deviance = μ^(2−p)/(2−p) − y μ^(1−p)/(1−p) + what depends on y alone

    p = 0 is normal, 1 Poisson, 2 gamma, 3 inverse Gaussian; 1 < p < 2 has a point mass at 0. As a loss of `erm.losses`
    it has `value`, `gradient` and `curvature`, entry by entry over arrays of any library.
    """

    power: float
    log: bool

    @property
    def convex(self) -> bool:
        """Whether the loss is convex everywhere, so that its second derivative can always be used for a Newton step."""
        return 1 <= self.power <= 2 if self.log else 0 <= self.power <= 1

    def mean(self, score: Any) -> Any:
        """The mean that belongs to a score."""
        with np.errstate(over="ignore"):  # a mean above what numbers hold is infinite
            return namespace(score).exp(score) if self.log else score

    def link(self, mean: Any) -> Any:
        """The score that belongs to a mean (NumPy)."""
        return namespace(mean).log(mean) if self.log else mean

    def value(self, y: Any, score: Any) -> Any:
        """Half the deviance up to what depends on y alone; infinite where the mean is out of range."""
        xp, p = namespace(score), self.power
        if self.log:
            if p == 1:
                return xp.exp(score) - y * score
            if p == 2:
                return score + y * xp.exp(-score)
            return xp.exp((2 - p) * score) / (2 - p) - y * xp.exp((1 - p) * score) / (1 - p)
        if p == 0:
            return 0.5 * (y - score) ** 2
        possible = score > 0
        mean = xp.where(possible, score, xp.ones_like(score))
        if p == 1:
            value = mean - y * xp.log(mean)
        elif p == 2:
            value = xp.log(mean) + y / mean
        else:
            value = mean ** (2 - p) / (2 - p) - y * mean ** (1 - p) / (1 - p)
        return xp.where(possible, value, xp.full_like(score, float("inf")))

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of the loss by the score."""
        xp, p = namespace(score), self.power
        if self.log:
            if p == 1:
                return xp.exp(score) - y
            if p == 2:
                return 1 - y * xp.exp(-score)
            return xp.exp((2 - p) * score) - y * xp.exp((1 - p) * score)
        if p == 0:
            return score - y
        return (score - y) * score**-p

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative."""
        xp, p = namespace(score), self.power
        if p == (1 if self.log else 0):
            return self.expected_curvature(y, score)
        if self.log and p == 2:
            return y * xp.exp(-score)
        if self.log:
            return (2 - p) * xp.exp((2 - p) * score) - (1 - p) * y * xp.exp((1 - p) * score)
        return (1 - p) * score**-p + p * y * score ** (-p - 1)

    def expected_curvature(self, y: Any, score: Any) -> Any:
        """The second derivative at the expected y: never negative."""
        xp, p = namespace(score), self.power
        if self.log:
            return xp.exp((2 - p) * score)
        return xp.ones_like(score) if p == 0 else score**-p

    def deviance(self, y: Any, mean: Any) -> Any:
        """The deviance of each row: 0 where the mean is y."""
        xp, p = namespace(y, mean), self.power
        if p == 0:
            return (y - mean) ** 2
        if p == 1:
            safe = xp.where(y > 0, y, xp.ones_like(y))
            return 2 * (xp.where(y > 0, y * xp.log(safe / mean), xp.zeros_like(y)) - y + mean)
        if p == 2:
            return 2 * (xp.log(mean / y) + y / mean - 1)
        above = xp.where(y > 0, y, xp.zeros_like(y))
        return 2 * (above ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))

    def impossible(self, y: Any) -> Any:
        """Which y are out of range: negative where 0 < p, or zero too where 2 ≤ p."""
        xp = namespace(y)
        if self.power <= 0:
            return xp.zeros_like(y, dtype=xp.bool)
        return y < 0 if self.power < 2 else y <= 0

    @property
    def allowed(self) -> str:
        """The range of y, in words."""
        return "any number" if self.power <= 0 else "0 or more" if self.power < 2 else "greater than 0"
