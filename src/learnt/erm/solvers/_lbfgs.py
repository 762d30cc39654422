"""Limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver


@dataclass(frozen=True)
class LBFGS(Solver):
    """Newton's step from the last `memory` changes of the gradient: no Hessian, two products with X an iteration."""

    memory: int = 10
    tol: float = 1e-8
    max_iter: int = 2000

    needs_smooth_loss = True
    needs_smooth_penalty = True

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        value, gradient = problem.smooth(theta)
        pairs: list[tuple[Any, Any, float]] = []
        while True:
            left = problem.stationarity(theta, gradient) / problem.scale
            move = -_inverse_times(pairs, gradient)
            step = self._search(problem, theta, value, gradient, move, first=not pairs)
            if step is None and pairs:  # curvature of long ago may mislead: begin anew
                pairs = []
                continue
            if step is None:
                yield theta, left
                return
            there, value, new = step
            change, bend = there - theta, new - gradient
            curved = _dot(change, bend)
            if curved > 1e-12 * _dot(bend, bend) ** 0.5 * _dot(change, change) ** 0.5:
                pairs = [*pairs[-self.memory + 1 :], (change, bend, 1 / curved)]
            theta, gradient = there, new
            yield theta, left

    def _search(self, problem: Problem, theta: Any, value: float, gradient: Any, move: Any, first: bool) -> Any:
        """A step that lowers the objective and whose end is less steep: bisection on Wolfe's two conditions."""
        slope = _dot(gradient, move)
        if not slope < 0:
            return None
        low, high, t = 0.0, float("inf"), min(1.0, 1 / _dot(move, move) ** 0.5) if first else 1.0
        best = None
        for _ in range(50):
            there = theta + t * move
            reached, new = problem.smooth(there)
            if not reached <= value + 1e-4 * t * slope:
                high = t
            else:
                best = (there, reached, new)
                if _dot(new, move) >= 0.9 * slope:
                    break
                low = t
            t = (low + high) / 2 if high < float("inf") else 2 * t
        return best


def _inverse_times(pairs: list, gradient: Any) -> Any:
    """The two loops: gradients back through the pairs, a scale, and forward again."""
    q, kept = gradient, []
    for change, bend, rho in reversed(pairs):
        a = rho * _dot(change, q)
        q = q - a * bend
        kept.append(a)
    if pairs:
        change, bend, rho = pairs[-1]
        q = q / (rho * _dot(bend, bend))
    for (change, bend, rho), a in zip(pairs, reversed(kept)):
        q = q + (a - rho * _dot(bend, q)) * change
    return q


def _dot(a: Any, b: Any) -> float:
    return float(namespace(a).sum(a * b))
