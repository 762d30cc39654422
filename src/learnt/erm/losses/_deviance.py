"""Deviances: losses of a positive amount, whose mean is e^s. Twice the log-likelihood lost against a perfect fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm.losses import codes
from learnt.erm.losses._base import Loss, entropy_term


class _Deviance(Loss):
    def mean(self, score: Any) -> Any:
        """e^s."""
        return namespace(score).exp(score)


@dataclass(frozen=True)
class Poisson(_Deviance):
    """2(y log y − ys − y + e^s): counts, whose variance is their mean.

    Twice the log-likelihood lost against a perfect fit; the score is the logarithm of the mean, y at least 0.

    See Also
    --------
    Gamma : Amounts whose spread is proportional to their mean.
    Tweedie : What lies between the two.

    Examples
    --------
    >>> float(Poisson().value(1.0, 0.0)), float(Poisson().mean(0.0))
    (0.0, 1.0)
    """

    lowest = (0.0, True)
    code = codes.POISSON

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return 2 * (entropy_term(y + 0 * score) - y * score - y + namespace(y, score).exp(score))

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return 2 * (namespace(y, score).exp(score) - y)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 2 * namespace(y, score).exp(score + 0 * y)


@dataclass(frozen=True)
class Gamma(_Deviance):
    """2(s − log y + y e^−s − 1): amounts, whose spread is proportional to their mean.

    Twice the log-likelihood lost against a perfect fit; the score is the logarithm of the mean, y above 0.

    See Also
    --------
    Poisson : Counts, whose variance is their mean.
    Tweedie : Amounts that are often exactly 0.

    Examples
    --------
    >>> float(Gamma().value(1.0, 0.0)), round(float(Gamma().value(2.0, 0.0)), 4)
    (0.0, 0.6137)
    """

    lowest = (0.0, False)
    code = codes.GAMMA

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        xp = namespace(y, score)
        return 2 * (score - xp.log(y + 0 * score) + y * xp.exp(-score) - 1)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return 2 * (1 - y * namespace(y, score).exp(-score))

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 2 * y * namespace(y, score).exp(-score)


@dataclass(frozen=True)
class Tweedie(_Deviance):
    """The deviance of variance ∝ mean^power, 1 < power < 2: amounts that are often exactly 0, such as claims.

    2( y^(2−p)/((1−p)(2−p)) − y e^((1−p)s)/(1−p) + e^((2−p)s)/(2−p) ), the score s the logarithm of the mean, y at least
    0. Powers 1 and 2 are `Poisson` and `Gamma`.

    Parameters
    ----------
    power : float, default=1.5
        p, between 1 and 2: how fast the variance grows with the mean.

    See Also
    --------
    Poisson : Power 1.
    Gamma : Power 2.

    Examples
    --------
    >>> float(Tweedie(1.5).value(1.0, 0.0)), float(Tweedie(1.5).value(0.0, 0.0))
    (0.0, 4.0)
    """

    power: float = 1.5
    lowest = (0.0, True)
    code = codes.TWEEDIE

    def __post_init__(self) -> None:
        if not 1 < self.power < 2:
            raise ValueError(
                f"Tweedie needs a power between 1 and 2 and got {self.power!r}; for 1 use Poisson, for 2 Gamma."
            )

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.power)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        a, b = 1 - self.power, 2 - self.power
        xp = namespace(y, score)
        return 2 * (y**b / (a * b) - y * xp.exp(a * score) / a + xp.exp(b * score) / b)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        a, b = 1 - self.power, 2 - self.power
        xp = namespace(y, score)
        return 2 * (xp.exp(b * score) - y * xp.exp(a * score))

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        a, b = 1 - self.power, 2 - self.power
        xp = namespace(y, score)
        return 2 * (b * xp.exp(b * score) - a * y * xp.exp(a * score))
