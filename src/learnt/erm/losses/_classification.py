"""Losses of a side: y is −1 or +1, and what matters is the margin m = y·s, how far the score lies on the right side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm.losses import codes
from learnt.erm.losses._base import Loss, entropy_term, positive_part, sigmoid


class _Margin(Loss):
    target = "sign"


@dataclass(frozen=True)
class Log(_Margin):
    """log(1 + e^−m): logistic regression; its scores are log-odds.

    m = y·s is the margin, y being −1 or +1. Smooth, and `mean` makes calibrated probabilities of scores.

    See Also
    --------
    Softmax : The same for more than two classes.
    Hinge : The loss of support vector machines.

    Examples
    --------
    >>> round(float(Log().value(1.0, 0.0)), 4), float(Log().mean(0.0))
    (0.6931, 0.5)
    """

    steepest = 0.25
    code = codes.LOG

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        m = y * score
        xp = namespace(m)
        return xp.log1p(xp.exp(-xp.abs(m))) + positive_part(-m)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return -y * sigmoid(-y * score)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        p = sigmoid(y * score)
        return p * sigmoid(-y * score)

    def conjugate(self, y: Any, u: Any) -> Any:
        """max over s of us − value, for −uy in 0…1."""
        p = namespace(y, u).clip(-u * y, 0.0, 1.0)
        return entropy_term(p) + entropy_term(1 - p)

    def mean(self, score: Any) -> Any:
        """The probability of +1."""
        return sigmoid(score)


@dataclass(frozen=True)
class Hinge(_Margin):
    """max(threshold − m, 0): support vector machines; with threshold 0 the perceptron's.

    m = y·s is the margin, y being −1 or +1. Rows beyond the margin cost nothing and do not shape the fit.

    Parameters
    ----------
    threshold : float, default=1.0
        The margin from which a row costs nothing.

    See Also
    --------
    SquaredHinge : Its square, which is smooth.
    Log : Smooth too, with probabilities.

    Examples
    --------
    >>> float(Hinge().value(1.0, 0.5)), float(Hinge().value(1.0, 2.0))
    (0.5, 0.0)
    """

    threshold: float = 1.0
    smooth = False
    code = codes.HINGE

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss."""
        return float(self.threshold)

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return positive_part(self.threshold - y * score)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        m = y * score
        return namespace(m).where(m <= self.threshold, 0 * m - y, 0 * m)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return 0 * y * score

    def prox(self, y: Any, score: Any, step: float) -> Any:
        """argmin over s of  value(y, s) + (s − score)²/(2 step)."""
        short = self.threshold - y * score
        return score + y * namespace(short).clip(short, 0.0, step)

    def pieces(self, y: Any) -> list[tuple[Any, Any]]:
        """Slopes and offsets of the lines whose highest is the loss."""
        return [(0 * y, 0 * y), (-y, 0 * y + self.threshold)]


@dataclass(frozen=True)
class SquaredHinge(_Margin):
    """max(1 − m, 0)²: a hinge without its corner.

    m = y·s is the margin, y being −1 or +1. Quicker to minimise than `Hinge`, less robust to outliers.

    See Also
    --------
    Hinge : Linear in what is missing to the margin.
    ModifiedHuber : The same, but linear far on the wrong side.

    Examples
    --------
    >>> float(SquaredHinge().value(1.0, 0.5)), float(SquaredHinge().value(1.0, -1.0))
    (0.25, 4.0)
    """

    steepest = 2.0
    code = codes.SQUARED_HINGE

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return positive_part(1 - y * score) ** 2

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return -2 * y * positive_part(1 - y * score)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        m = y * score
        return namespace(m).where(m < 1, 0 * m + 2, 0 * m)


@dataclass(frozen=True)
class Exponential(_Margin):
    """e^−m: boosting's loss; a mistake costs exponentially in how wrong it is.

    m = y·s is the margin, y being −1 or +1. Wrong labels weigh very heavily: take `Log` where there are some.

    See Also
    --------
    Log : Linear in the margin far on the wrong side.

    Examples
    --------
    >>> float(Exponential().value(1.0, 0.0)), round(float(Exponential().value(1.0, -2.0)), 2)
    (1.0, 7.39)
    """

    code = codes.EXPONENTIAL

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        return namespace(y, score).exp(-y * score)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        return -y * namespace(y, score).exp(-y * score)

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        return namespace(y, score).exp(-y * score)

    def mean(self, score: Any) -> Any:
        """The probability of +1: its best score is half the log-odds."""
        return sigmoid(2 * score)


@dataclass(frozen=True)
class ModifiedHuber(_Margin):
    """max(1 − m, 0)² down to m = −1, then −4m: a squared hinge that outliers cannot command.

    m = y·s is the margin, y being −1 or +1. `mean` makes probabilities of scores, linear between −1 and 1.

    See Also
    --------
    SquaredHinge : Quadratic on all of the wrong side.
    Log : Smooth, with better calibrated probabilities.

    Examples
    --------
    >>> float(ModifiedHuber().value(1.0, -1.0)), float(ModifiedHuber().value(1.0, -2.0))
    (4.0, 8.0)
    """

    steepest = 2.0
    code = codes.MODIFIED_HUBER

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        m = y * score
        return namespace(m).where(m < -1, -4 * m, positive_part(1 - m) ** 2)

    def gradient(self, y: Any, score: Any) -> Any:
        """The derivative of each loss in its score, elementwise; one subgradient at a corner."""
        m = y * score
        return -y * namespace(m).where(m < -1, 0 * m + 4, 2 * positive_part(1 - m))

    def curvature(self, y: Any, score: Any) -> Any:
        """The second derivative of each loss in its score, elementwise."""
        m = y * score
        return namespace(m).where((m < 1) & (m >= -1), 0 * m + 2, 0 * m)

    def mean(self, score: Any) -> Any:
        """The probability of +1."""
        return (namespace(score).clip(score, -1.0, 1.0) + 1) / 2


@dataclass(frozen=True)
class ZeroOne(_Margin):
    """1 where the score is on the wrong side or on the border, 0 elsewhere: what is meant, and cannot be descended.

    Its mean is the error rate. It has a value alone: estimators need one of the losses that bound it.

    See Also
    --------
    Log : A smooth loss in its place.
    Hinge : A bound on it.

    Examples
    --------
    >>> float(ZeroOne().value(1.0, 0.5)), float(ZeroOne().value(1.0, -0.5))
    (0.0, 1.0)
    """

    smooth = False

    def value(self, y: Any, score: Any) -> Any:
        """The loss of each score where y was seen, elementwise."""
        m = y * score
        return namespace(m).where(m > 0, 0 * m, 0 * m + 1)
