"""Sets that coefficients must stay in: a penalty that is 0 inside and infinite outside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.erm.penalties._base import Penalty


@dataclass(frozen=True)
class Box(Penalty):
    """low ≤ wⱼ ≤ high for every coefficient.

    Parameters
    ----------
    low : float, default=-inf
        The lowest value that a coefficient may have.
    high : float, default=inf
        The highest value that a coefficient may have.

    See Also
    --------
    NonNegative : The set of coefficients of at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0.0, 1.0).prox(np.array([-1.0, 0.5, 2.0]), 1.0)
    array([0. , 0.5, 1. ])
    """

    is_set = True
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"Box needs low ≤ high and got low={self.low!r}, high={self.high!r}; exchange them.")

    @property
    def form(self) -> np.ndarray:
        """Its parameters in compiled functions: weights of |w|, w² and w ≠ 0, lowest and highest w."""
        return np.array([0.0, 0.0, 0.0, self.low, self.high])

    def value(self, w: Any) -> float:
        """r(w), the price of the coefficients w."""
        inside = (w >= self.low) & (w <= self.high)
        return 0.0 if bool(namespace(w).all(inside)) else math.inf

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return namespace(w).clip(w, self.low, self.high)

    def project(self, w: Any, bound: float) -> Any:
        """The nearest v to w with r(v) ≤ bound."""
        return self.prox(w, 1.0)


@dataclass(frozen=True)
class NonNegative(Penalty):
    """wⱼ ≥ 0 for every coefficient.

    For columns that can only add to the target, such as parts of a mixture.

    See Also
    --------
    Box : Bounds of any kind.

    Examples
    --------
    >>> import numpy as np
    >>> NonNegative().prox(np.array([-1.0, 0.5]), 1.0)
    array([0. , 0.5])
    """

    is_set = True

    @property
    def form(self) -> np.ndarray:
        """Its parameters in compiled functions: weights of |w|, w² and w ≠ 0, lowest and highest w."""
        return Box(low=0.0).form

    def value(self, w: Any) -> float:
        """r(w), the price of the coefficients w."""
        return Box(low=0.0).value(w)

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return namespace(w).where(w > 0, w, 0 * w)

    def project(self, w: Any, bound: float) -> Any:
        """The nearest v to w with r(v) ≤ bound."""
        return self.prox(w, 1.0)
