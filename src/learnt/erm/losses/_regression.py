"""Losses of a number: y is any number, the score is the prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm.losses import codes
from learnt.erm.losses._base import Loss, positive_part

_NEWTON = 25  # steps to the prox of log cosh


@dataclass(frozen=True)
class Squared(Loss):
    """(s − y)²: estimates the mean.

    The loss of least squares. Outliers weigh heavily: take `Huber` or `Absolute` where there are some.

    See Also
    --------
    Absolute : Estimates the median.
    Huber : The squared loss for small residuals, linear for large ones.

    Examples
    --------
    >>> float(Squared().value(1.0, 3.0)), float(Squared().gradient(1.0, 3.0))
    (4.0, 4.0)
    """

    steepest = 2.0
    code = codes.SQUARED

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return (score - y) ** 2

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return 2 * (score - y)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 0 * (score - y) + 2

    def conjugate(self, y: Any, u: Any) -> Any:
        """max over s of us − value."""
        return u * y + u**2 / 4


@dataclass(frozen=True)
class Absolute(Loss):
    """|s − y|: estimates the median.

    Robust to outliers in y: a residual counts by its size, not its square.

    See Also
    --------
    Quantile : Any quantile in place of the median.
    Huber : Nearly the same, and smooth.

    Examples
    --------
    >>> float(Absolute().value(1.0, 3.0)), float(Absolute().gradient(1.0, 3.0))
    (2.0, 1.0)
    """

    smooth = False
    code = codes.ABSOLUTE

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return abs(score - y)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return namespace(y, score).sign(score - y)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 0 * (score - y)

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """argmin over s of  value(y, s) + (s − score)²/(2 step)."""
        return Quantile(0.5).prox(y, score, 2 * step)

    def pieces(self, y: Any) -> list[tuple[Any, Any]]:
        """Slopes and offsets of the lines whose highest is the loss."""
        return [(0 * y + 1, -y), (0 * y - 1, y)]

    def majoriser(self, y: Any, score: Any, floor: float) -> Any:
        """ω with ω(s − y) the gradient; `floor` keeps it finite where the residual is 0."""
        return 1 / _at_least(abs(score - y), floor)


@dataclass(frozen=True)
class Huber(Loss):
    """(s − y)²/2 up to a residual of δ, δ|s − y| − δ²/2 beyond: a squared loss that outliers cannot command.

    Parameters
    ----------
    delta : float, default=1.0
        δ, the residual from which the loss is linear, in the unit of y. Smaller values are more robust to outliers,
        larger ones nearer to least squares.

    See Also
    --------
    LogCosh : Much the same, smooth everywhere.
    Absolute : Linear for all residuals.

    Examples
    --------
    >>> float(Huber(1.0).value(0.0, 0.5)), float(Huber(1.0).value(0.0, 10.0))
    (0.125, 9.5)
    """

    delta: float = 1.0
    steepest = 1.0
    code = codes.HUBER

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.delta)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        r = abs(score - y)
        return namespace(r).where(r <= self.delta, r**2 / 2, self.delta * (r - self.delta / 2))

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        r = score - y
        return namespace(r).clip(r, -self.delta, self.delta)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        r = abs(score - y)
        return namespace(r).where(r <= self.delta, 0 * r + 1, 0 * r)

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """argmin over s of  value(y, s) + (s − score)²/(2 step)."""
        r = score - y
        beyond = namespace(r).sign(r) * positive_part(abs(r) - step * self.delta)
        return y + namespace(r).where(abs(r) <= self.delta * (1 + step), r / (1 + step), beyond)

    def majoriser(self, y: Any, score: Any, floor: float) -> Any:
        """ω with ω(s − y) the gradient; `floor` keeps it finite where the residual is 0."""
        return self.delta / _at_least(abs(score - y), self.delta)


@dataclass(frozen=True)
class LogCosh(Loss):
    """log cosh(s − y): near ½r² for small residuals, |r| − log 2 for large ones, smooth everywhere.

    Robust to outliers in y, and all its derivatives are continuous.

    See Also
    --------
    Huber : The same with a threshold to choose.
    Squared : The squared loss for all residuals.

    Examples
    --------
    >>> round(float(LogCosh().value(0.0, 10.0)), 4)
    9.3069
    """

    steepest = 1.0
    code = codes.LOG_COSH

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        r = abs(score - y)
        xp = namespace(r)
        return r + xp.log1p(xp.exp(-2 * r)) - math.log(2)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return namespace(y, score).tanh(score - y)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 1 - namespace(y, score).tanh(score - y) ** 2

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """The root of r + step·tanh r, by Newton's method from below, where it never overshoots."""
        q = abs(score - y)
        xp = namespace(q)
        r = _at_least(q - step, 0.0)
        r = xp.where(r > q / (1 + step), r, q / (1 + step))
        for _ in range(_NEWTON):
            bent = xp.tanh(r)
            r = r - (r + step * bent - q) / (1 + step * (1 - bent**2))
        return y + xp.sign(score - y) * r

    def majoriser(self, y: Any, score: Any, floor: float) -> Any:
        """ω with ω(s − y) the gradient; `floor` keeps it finite where the residual is 0."""
        r = _at_least(abs(score - y), 1e-8)
        return namespace(r).tanh(r) / r


@dataclass(frozen=True)
class Quantile(Loss):
    """q(y − s) where y is above the score, (1 − q)(s − y) where it is below: estimates the q-quantile.

    Parameters
    ----------
    q : float, default=0.5
        The quantile, between 0 and 1; 0.5 is the median. Two fits, of 0.05 and 0.95 say, make an interval.

    See Also
    --------
    Absolute : Twice this loss at q = 0.5.

    Examples
    --------
    >>> float(Quantile(0.9).value(1.0, 0.0)), round(float(Quantile(0.9).value(0.0, 1.0)), 2)
    (0.9, 0.1)
    """

    q: float = 0.5
    smooth = False
    code = codes.QUANTILE

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.q)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        above = positive_part(y - score)
        return self.q * above + (1 - self.q) * (above - (y - score))

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        r = score - y
        xp = namespace(r)
        return xp.where(r > 0, 0 * r + (1 - self.q), xp.where(r < 0, 0 * r - self.q, 0 * r))

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 0 * (score - y)

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """argmin over s of  value(y, s) + (s − score)²/(2 step)."""
        r = score - y
        return y + positive_part(r - step * (1 - self.q)) - positive_part(-r - step * self.q)

    def pieces(self, y: Any) -> list[tuple[Any, Any]]:
        """Slopes and offsets of the lines whose highest is the loss."""
        up, down = 1 - self.q, -self.q
        return [(0 * y + up, -up * y), (0 * y + down, -down * y)]

    def majoriser(self, y: Any, score: Any, floor: float) -> Any:
        """ω with ω(s − y) the gradient; `floor` keeps it finite where the residual is 0."""
        return abs(self.gradient(y, score)) / _at_least(abs(score - y), floor)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(|s − y| − ε, 0): residuals up to ε cost nothing (support vector regression).

    Parameters
    ----------
    epsilon : float, default=0.1
        ε, the largest residual that costs nothing, in the unit of y.

    See Also
    --------
    SquaredEpsilonInsensitive : Its square, which is smooth.
    Absolute : The same with ε = 0.

    Examples
    --------
    >>> float(EpsilonInsensitive(0.5).value(0.0, 0.25)), float(EpsilonInsensitive(0.5).value(0.0, 2.0))
    (0.0, 1.5)
    """

    epsilon: float = 0.1
    smooth = False
    code = codes.INSENSITIVE

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.epsilon)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return positive_part(abs(score - y) - self.epsilon)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        r = score - y
        xp = namespace(r)
        return xp.where(abs(r) > self.epsilon, xp.sign(r), 0 * r)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 0 * (score - y)

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """argmin over s of  value(y, s) + (s − score)²/(2 step)."""
        r = score - y
        outside = positive_part(abs(r) - self.epsilon)
        kept = namespace(r).where(outside > 0, self.epsilon + positive_part(outside - step), abs(r))
        return y + namespace(r).sign(r) * kept

    def pieces(self, y: Any) -> list[tuple[Any, Any]]:
        """Slopes and offsets of the lines whose highest is the loss."""
        return [(0 * y, 0 * y), (0 * y + 1, -y - self.epsilon), (0 * y - 1, y - self.epsilon)]


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """max(|s − y| − ε, 0)²: residuals up to ε cost nothing, and the gradient is continuous.

    Parameters
    ----------
    epsilon : float, default=0.1
        ε, the largest residual that costs nothing, in the unit of y.

    See Also
    --------
    EpsilonInsensitive : Linear beyond ε: more robust to outliers.
    Squared : The same with ε = 0.

    Examples
    --------
    >>> float(SquaredEpsilonInsensitive(0.5).value(0.0, 2.0))
    2.25
    """

    epsilon: float = 0.1
    steepest = 2.0
    code = codes.SQUARED_INSENSITIVE

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.epsilon)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return positive_part(abs(score - y) - self.epsilon) ** 2

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        r = score - y
        return 2 * namespace(r).sign(r) * positive_part(abs(r) - self.epsilon)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        r = abs(score - y)
        return namespace(r).where(r > self.epsilon, 0 * r + 2, 0 * r)


def _at_least(x: Any, floor: float) -> Any:
    return namespace(x).where(x < floor, 0 * x + floor, x)
