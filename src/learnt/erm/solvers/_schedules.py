"""How long a step is: functions of the number t = 1, 2, … of the update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """The same step always.

    Parameters
    ----------
    step : float
        Its length.

    See Also
    --------
    Decay : Steps that shrink.

    Examples
    --------
    >>> Constant(0.5)(10)
    0.5
    """

    step: float

    def __call__(self, t: int) -> float:
        return self.step


@dataclass(frozen=True)
class Decay:
    """step / t^power: with power 1 the safe and slow t₀/t.

    Parameters
    ----------
    step : float
        Length of the first step.
    power : float, default=1.0
        How fast steps shrink; 0 for not at all, 0.5 is usual for noisy gradients.

    See Also
    --------
    Constant : Steps that do not shrink.

    Examples
    --------
    >>> Decay(0.5)(10), Decay(0.5, power=0)(10)
    (0.05, 0.5)
    """

    step: float
    power: float = 1.0

    def __call__(self, t: int) -> float:
        return self.step / t**self.power


def as_schedule(step: float | Callable[[int], float]) -> Callable[[int], float]:
    """A number becomes the constant schedule."""
    return step if callable(step) else Constant(float(step))
