"""What a loss is."""

from __future__ import annotations

from typing import Any, ClassVar

from learnt.engine.arrays import namespace


class Loss:
    """The price of a score s where y was seen: `value(y, s)`, and its first and second derivatives in s.

    All three (`value`, `gradient`, `curvature`) are elementwise over NumPy or any Array API arrays. A custom loss needs
    no more than `value` and `gradient` and need not inherit from this class; the attributes below are then its
    defaults. It goes into `ERMRegressor(loss)`, `ERMClassifier(loss)` or a `Problem`.

    Attributes
    ----------
    target : str
        What y is: "number", "sign" (−1 or +1) or "class" (0…K−1, and a row of K scores).
    smooth : bool
        Whether the gradient is continuous.
    steepest : float or None
        The largest curvature anywhere; None where there is none.
    lowest : tuple of (float, bool)
        The lowest y, and whether it is itself allowed.
    code : int
        The number of the same loss among the compiled functions; −1 where it is not among them.

    See Also
    --------
    learnt.erm.ERMRegressor : Fits a linear model with any loss of numbers.
    learnt.erm.ERMClassifier : Fits a linear model with any loss of classes.

    Examples
    --------
    A loss that costs four times as much above the score as below it:

    >>> import numpy as np
    >>> from learnt.erm import ERMRegressor
    >>> class Lopsided(Loss):
    ...     def value(self, y, score):
    ...         return np.where(y > score, 4.0, 1.0) * (y - score) ** 2
    ...     def gradient(self, y, score):
    ...         return -2.0 * np.where(y > score, 4.0, 1.0) * (y - score)
    >>> model = ERMRegressor(Lopsided(), alpha=0).fit(np.zeros((2, 1)), [0.0, 1.0])
    >>> model.predict([[0.0]]).round(2)
    array([0.8])
    """

    #: What y is: "number", "sign" (−1 or +1) or "class" (0…K−1, and a row of K scores).
    target: ClassVar[str] = "number"
    #: Whether the gradient is continuous.
    smooth: ClassVar[bool] = True
    #: The largest curvature anywhere; None where there is none.
    steepest: ClassVar[float | None] = None
    #: The lowest y, and whether it is itself allowed.
    lowest: ClassVar[tuple[float, bool]] = (float("-inf"), True)
    #: The number of the same loss among the compiled functions; −1 where it is not among them.
    code: ClassVar[int] = -1

    @property
    def parameter(self) -> float:
        """The one parameter that compiled functions take besides the code of the loss.

        Returns
        -------
        parameter : float
            0 for a loss without one.
        """
        return 0.0

    def mean(self, score: Any) -> Any:
        """The prediction that belongs to a score.

        Parameters
        ----------
        score : array
            The scores.

        Returns
        -------
        mean : array of the shape of score
            The score itself, unless a loss says otherwise: a probability, or e^score.
        """
        return score


def positive_part(x: Any) -> Any:
    """max(x, 0), NaN kept."""
    xp = namespace(x)
    return xp.where(x < 0, x * 0, x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^−x) without overflow."""
    xp = namespace(x)
    e = xp.exp(-xp.abs(x))
    return xp.where(x > 0, 1 / (1 + e), e / (1 + e))


def entropy_term(p: Any) -> Any:
    """p log p, 0 at 0."""
    xp = namespace(p)
    return xp.where(p > 0, p * xp.log(xp.where(p > 0, p, p * 0 + 1)), p * 0)
