"""What a penalty is."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np


class Penalty:
    """A price r(w) on coefficients: used as `alpha`·r(w), or as the constraint r(w) ≤ `bound`.

    It has `value(w)`; `prox(w, step)`, the argmin over v of  step·r(v) + ‖v − w‖²/2;  and `project(w, bound)`, the
    nearest v with r(v) ≤ bound. `gradient(w)` is one subgradient where there is no gradient. A custom penalty needs
    `value` and `prox` or, if it is smooth, `gradient`; it need not inherit from this class.

    Attributes
    ----------
    smooth : bool
        Whether `gradient` is continuous and `curvature` there.
    convex : bool
        Whether r is convex, so that a minimum found is the minimum.
    is_set : bool
        Whether r is 0 in a set and infinite outside: then any alpha, 0 too, means the same.
    parts : tuple of float, or None
        Weights of |w| and w² where r is a sum of these, as coordinate descent needs it; None elsewhere.

    See Also
    --------
    learnt.erm.ERMRegressor : Fits a linear model with any penalty.
    learnt.erm.ERMClassifier : The same for classes.
    """

    #: Whether `gradient` is continuous and `curvature` there.
    smooth: ClassVar[bool] = False
    #: Whether r is convex, so that a minimum found is the minimum.
    convex: ClassVar[bool] = True
    #: Whether r is 0 in a set and infinite outside: then any alpha, 0 too, means the same.
    is_set: ClassVar[bool] = False
    #: Weights of |w| and w² where r is a sum of these, as coordinate descent needs it; None elsewhere.
    parts: tuple[float, float] | None = None

    @property
    def form(self) -> np.ndarray | None:
        """Its parameters in compiled functions: weights of |w|, w² and w ≠ 0, lowest and highest w.

        Returns
        -------
        form : ndarray of shape (5,) or None
            None where the compiled functions do not have this penalty.
        """
        return None if self.parts is None else np.array([*self.parts, 0.0, -math.inf, math.inf])


class NoPenalty(Penalty):
    """r(w) = 0: nothing is shrunk.

    See Also
    --------
    L2 : Shrinks all coefficients.

    Examples
    --------
    >>> NoPenalty().value(np.array([3.0]))
    0.0
    """

    smooth = True
    parts = (0.0, 0.0)

    def __repr__(self) -> str:
        return "NoPenalty()"

    def value(self, w: Any) -> Any:
        """r(w), the price of the coefficients w."""
        return 0.0

    def gradient(self, w: Any) -> Any:
        """The gradient of r at w; one subgradient at a corner."""
        return 0 * w

    def curvature(self, w: Any) -> Any:
        """The second derivative of r in each coefficient."""
        return 0 * w

    def prox(self, w: Any, step: float) -> Any:
        """argmin over v of  step·r(v) + ‖v − w‖²/2."""
        return w

    def project(self, w: Any, bound: float) -> Any:
        """The nearest v to w with r(v) ≤ bound."""
        return w
