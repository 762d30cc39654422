"""Newton's method and what is built on second derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from learnt.engine.arrays import namespace
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver, solve_symmetric
from learnt.erm.solvers._descent import GradientDescent


@dataclass(frozen=True)
class Newton(Solver):
    """θ ← θ − H⁻¹·gradient: exact where the objective is quadratic, and quick near the minimum.

    Far from the minimum it is free to diverge; with `line_search` steps are halved until the objective falls, and it is
    not.

    Parameters
    ----------
    line_search : bool, default=False
        Whether to halve steps until the objective falls.
    tol : float, default=1e-10
        Convergence tolerance: how small the gradient may be beside that at 0.
    max_iter : int, default=100
        The most iterations; each takes time in n·d² + d³.

    See Also
    --------
    Hybrid : Descends first, which is safe from anywhere.
    SparingNewton : Computes second derivatives seldom.
    LBFGS : Without second derivatives, for many coefficients.
    """

    line_search: bool = False
    tol: float = 1e-10
    max_iter: int = 100

    needs_curvature = True
    needs_smooth_loss = True
    needs_smooth_penalty = True

    def direction(self, problem: Problem, theta: Any, gradient: Any) -> Any:
        """The move from θ where the gradient is `gradient`."""
        xp = namespace(theta)
        step = solve_symmetric(problem.hessian(theta), xp.reshape(gradient, (-1,)))
        return -xp.reshape(step, tuple(theta.shape))

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        value, gradient = problem.smooth(theta)
        while True:
            left = problem.stationarity(theta, gradient) / problem.scale
            move = self.direction(problem, theta, gradient)
            if self.line_search:
                shorter = halve(problem, theta, value, gradient, move)
                if shorter is None:
                    yield theta, left
                    return
                move = shorter
            theta = theta + move
            yield theta, left
            value, gradient = problem.smooth(theta)


@dataclass(frozen=True)
class DiagonalNewton(Newton):
    """Newton with the diagonal of the Hessian alone: gradient descent with a step for each coefficient.

    Parameters
    ----------
    line_search : bool, default=True
        Whether to halve steps until the objective falls.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0.
    max_iter : int, default=10000
        The most iterations.

    See Also
    --------
    Newton : The whole Hessian.
    LBFGS : Curvature remembered from the gradients.
    """

    line_search: bool = True
    tol: float = 1e-7
    max_iter: int = 10_000

    def direction(self, problem: Problem, theta: Any, gradient: Any) -> Any:
        """The move from θ where the gradient is `gradient`."""
        diagonal = problem.hessian_diagonal(theta)
        xp = namespace(theta)
        floor = 1e-10 * float(xp.max(diagonal)) or 1.0
        return -gradient / xp.where(diagonal < floor, 0 * diagonal + floor, diagonal)


@dataclass(frozen=True)
class Hybrid(Solver):
    """Descent first, Newton last: line-search steps from wherever one is, then Newton with its steps halved as needed.

    Parameters
    ----------
    descent : int, default=5
        Steps of gradient descent before Newton's method.
    tol : float, default=1e-10
        Convergence tolerance: how small the gradient may be beside that at 0.
    max_iter : int, default=200
        The most iterations, of both kinds.

    See Also
    --------
    Newton : Newton's method from the start.
    LBFGS : Without second derivatives, for many coefficients.
    """

    descent: int = 5
    tol: float = 1e-10
    max_iter: int = 200

    needs_curvature = True
    needs_smooth_loss = True
    needs_smooth_penalty = True

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        steps = GradientDescent().iterates(problem, theta)
        for _, (theta, left) in zip(range(self.descent), steps):
            yield theta, left
        yield from Newton(line_search=True).iterates(problem, theta)


@dataclass(frozen=True)
class IRLS(Solver):
    """Iteratively reweighted least squares: each step solves  min Σ ωᵢ(zᵢ − xᵢᵀw − b)² + penalty.

    For a loss of residuals (absolute, Huber, log-cosh, quantile) ω is slope over residual, with a floor for residuals
    near 0 that shrinks as the iterations go on, and z is y. For any other, ω is the curvature and z the score minus
    slope over curvature: Newton's step, read as least squares.

    Parameters
    ----------
    floor : float, default=1e-12
        The smallest residual that ω is computed with.
    tol : float, default=1e-10
        Convergence tolerance: how small the gradient may be beside that at 0, or for a loss with corners the change of
        the objective beside its value at 0.
    max_iter : int, default=500
        The most iterations.

    See Also
    --------
    Newton : The same for smooth losses, without the least squares.
    AugmentedLagrangian : Losses with corners, to a duality gap.
    """

    floor: float = 1e-12
    tol: float = 1e-10
    max_iter: int = 500

    needs_smooth_penalty = True
    needs_rows = True

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver cannot take, in one sentence that names those that could."""
        super().check(problem)
        if not hasattr(problem.loss, "majoriser"):
            replace(Newton(), tol=self.tol).check(problem)
        if problem.n_outputs > 1:
            raise ValueError("IRLS takes one score a row and Softmax has several; use 'newton', 'hybrid' or 'lbfgs'.")

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        loss, y = problem.loss, problem.y
        residual_form = hasattr(loss, "majoriser")
        xp = namespace(theta)
        floor, before = None, float("inf")
        while True:
            scores = problem.scores(theta)
            if residual_form:
                if floor is None:
                    floor = float(xp.max(xp.abs(scores - y))) or 1.0
                floor = max(0.5 * floor, self.floor)
                weight, z = loss.majoriser(y, scores, floor), y
            else:
                weight = loss.curvature(y, scores)
                weight = xp.where(weight < 1e-12, 0 * weight + 1e-12, weight)
                z = scores - loss.gradient(y, scores) / weight
            theta = _weighted_least_squares(problem, weight, z)
            value = problem.objective(theta)
            change = abs(before - value) / problem.height
            # The majoriser's gradient at the new point is 0 up to what the weights still change.
            left = change if not getattr(loss, "smooth", True) else self._slope(problem, theta)
            before = value
            yield theta, left if floor is None or floor <= max(self.floor, 1e-3 * self.tol) else max(left, 2 * self.tol)

    def _slope(self, problem: Problem, theta: Any) -> float:
        return problem.stationarity(theta, problem.gradient(theta)) / problem.scale


def _weighted_least_squares(problem: Problem, weight: Any, z: Any) -> Any:
    H, right = problem.bent_gram(weight), problem.pull(weight * z)
    if problem.alpha and problem.smooth_penalty:  # quadratic, so its curvature is exact
        ridge = problem.alpha * problem.penalty.curvature(problem.coef(right))
        H = H + namespace(H).eye(H.shape[0]) * problem.join(ridge, 0 * right)
    return solve_symmetric(H, right)


def halve(problem: Problem, theta: Any, value: float, gradient: Any, move: Any) -> Any:
    """move, move/2, move/4, …: the first with a decrease of a ten-thousandth of the predicted one; None if none."""
    slope = float(namespace(move).sum(move * gradient))
    if not slope < 0:
        return None
    for _ in range(60):
        reached = problem.smooth(theta + move)[0]
        if reached <= value + 1e-4 * slope:
            return move
        move, slope = move / 2, slope / 2
    return None
