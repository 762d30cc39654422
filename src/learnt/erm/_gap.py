"""How far above its minimum an objective can be at most: the duality gap of Fenchel.

With u a slope for every row and v = −Σᵢ shareᵢ uᵢ xᵢ, every u with Σ shareᵢ uᵢ = 0 (where there is an intercept) gives
    minimum  ≥  −Σᵢ shareᵢ loss*(yᵢ, uᵢ) − (alpha·penalty)*(v),
and u = the loss's gradient, scaled into the penalty's reach, makes the two meet at the solution.
"""

from __future__ import annotations

import math
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm._problem import Problem


def duality_gap(problem: Problem, theta: Any) -> float | None:
    """Objective minus a lower bound of its minimum: at most how far θ is from the best value.

    The bound is Fenchel's dual, at the gradient of the loss scaled into the reach of the penalty; it is tight at the
    solution.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    theta : array of shape (n_parameters,)
        The coefficients, and below them the intercept.

    Returns
    -------
    gap : float or None
        At least 0, and infinite where the bound says nothing. None where loss or penalty have no conjugate, there are
        several scores a row, or rows are read in blocks.

    See Also
    --------
    minimize : Reports the gap of what it found as `Result.gap`.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.erm import Problem
    >>> from learnt.erm.losses import Squared
    >>> from learnt.erm.penalties import L2
    >>> X, y = np.array([[1.0], [3.0]]), np.array([2.0, 6.0])
    >>> problem = Problem(X, y, Squared(), L2(), alpha=1.0, fit_intercept=False)
    >>> round(duality_gap(problem, np.array([5 / 3])), 6)
    0.0
    >>> duality_gap(problem, np.array([0.0])) > 1
    True
    """
    loss, penalty = problem.loss, problem.penalty
    constrained = problem.bound is not None
    if problem.n_outputs > 1 or not hasattr(loss, "conjugate") or not problem.in_memory:
        return None
    if not hasattr(penalty, "support" if constrained else "conjugate") or not (constrained or problem.alpha > 0):
        return None
    u = loss.gradient(problem.y, problem.scores(theta))
    if problem.fit_intercept:
        u = _balanced(u, problem.share, loss.target == "sign")
    xp = namespace(u)
    v = problem.coef(problem.pull(u))
    reach = 1.0
    if not constrained and getattr(penalty, "parts", None) is not None and penalty.parts[1] == 0:
        largest = float(xp.max(xp.abs(v)))
        reach = min(1.0, problem.alpha * penalty.parts[0] / largest) if largest > 0 else 1.0
    u, v = reach * u, reach * v
    price = penalty.support(v, problem.bound) if constrained else penalty.conjugate(v, problem.alpha)
    lower = -float(xp.sum(loss.conjugate(problem.y, u) * problem.share)) - price
    return max(problem.objective(theta) - lower, 0.0) if math.isfinite(lower) else math.inf


def _balanced(u: Any, share: Any, signed: bool) -> Any:
    """Slopes moved so that their weighted sum is 0, within what the loss's conjugate allows."""
    xp = namespace(u)
    if not signed:
        total = share * u.shape[0] if isinstance(share, float) else xp.sum(share)
        return u - xp.sum(u * share) / total
    up, down = (float(xp.sum(xp.where(side, u, 0 * u) * share)) for side in (u > 0, u < 0))
    if up == 0 or down == 0:
        return 0 * u
    return xp.where(u > 0, u * min(1.0, -down / up), u * min(1.0, -up / down))
