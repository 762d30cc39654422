"""Limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver
from learnt.erm.solvers._memory import Pair, dot, inverse_times


@dataclass(frozen=True)
class LBFGS(Solver):
    """Newton's step from the last `memory` changes of the gradient: no Hessian, two products with X an iteration.

    For smooth problems of many coefficients.

    Parameters
    ----------
    memory : int, default=10
        How many changes are remembered; more take fewer iterations and more memory.
    tol : float, default=1e-8
        Convergence tolerance: how small the gradient may be beside that at 0.
    max_iter : int, default=2000
        The most iterations.

    See Also
    --------
    Newton : Second derivatives themselves, for few coefficients.
    FISTA : For penalties with corners.

    References
    ----------
    .. [1] D. C. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical
       Programming, 1989.
    """

    memory: int = 10
    tol: float = 1e-8
    max_iter: int = 2000

    needs_smooth_loss = True
    needs_smooth_penalty = True

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        value, gradient = problem.smooth(theta)
        pairs: list[Pair] = []
        while True:
            left = problem.stationarity(theta, gradient) / problem.scale
            move = -inverse_times(pairs, gradient, partial(_last_scale, pairs))
            step = self._search(problem, theta, value, gradient, move, first=not pairs)
            if step is None and pairs:  # old curvature may mislead: restart
                pairs = []
                continue
            if step is None:
                yield theta, left
                return
            point, value, new = step
            change, bend = point - theta, new - gradient
            curved = dot(change, bend)
            if curved > 1e-12 * dot(bend, bend) ** 0.5 * dot(change, change) ** 0.5:
                pairs = [*pairs[-self.memory + 1 :], (change, bend, curved)]
            theta, gradient = point, new
            yield theta, left

    def _search(self, problem: Problem, theta: Any, value: float, gradient: Any, move: Any, first: bool) -> Any:
        """A step that lowers the objective and whose end is less steep: bisection on Wolfe's two conditions."""
        slope = dot(gradient, move)
        if not slope < 0:
            return None
        low, high, t = 0.0, float("inf"), min(1.0, 1 / dot(move, move) ** 0.5) if first else 1.0
        best = None
        for _ in range(50):
            point = theta + t * move
            reached, new = problem.smooth(point)
            if not reached <= value + 1e-4 * t * slope:
                high = t
            else:
                best = (point, reached, new)
                if dot(new, move) >= 0.9 * slope:
                    break
                low = t
            t = (low + high) / 2 if high < float("inf") else 2 * t
        return best


def _last_scale(pairs: list[Pair], v: Any) -> Any:
    """H⁻¹ before any step, of the size that the last one showed."""
    if not pairs:
        return v
    _, change, product = pairs[-1]
    return v * (product / dot(change, change))
