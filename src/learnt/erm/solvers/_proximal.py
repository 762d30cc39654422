"""Descent on the smooth part, then the prox of the rest: line search, ISTA, FISTA, ADMM.

A penalty with corners and a constraint are the same here: the prox of a constraint is its projection, so that ISTA on
a problem with `bound` is projected gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.engine.matrices import identity
from learnt.erm._gap import duality_gap
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver

_GAP_EVERY = 10


def backtrack(problem: Problem, theta: Any, value: float, gradient: Any, step: float) -> tuple[Any, float]:
    """The first of step, step/2, step/4, … whose quadratic model is not exceeded, and where it leads.

    The step comes back as 0 where none does: θ is a minimum to rounding.
    """
    xp = namespace(theta)
    slack = 4 * np.finfo(np.float64).eps * abs(value)
    while step > 1e-18:
        trial = problem.prox(theta - step * gradient, step)
        move = trial - theta
        model = value + float(xp.sum(gradient * move)) + float(xp.sum(move**2)) / (2 * step)
        if problem.smooth(trial)[0] <= model + slack:
            return trial, step
        step /= 2
    return theta, 0.0


def first_step(problem: Problem, gradient: Any) -> float:
    """A first step that is not too short: one over a lower bound of the steepest curvature, or a unit move."""
    xp = namespace(gradient)
    if hasattr(problem.loss, "curvature"):
        steepest = float(xp.max(problem.hessian_diagonal(0 * gradient)))
        if 0 < steepest < math.inf:
            return 1 / steepest
    size = float(xp.max(xp.abs(gradient)))
    return 1 / size if size > 0 else 1.0


def residual(problem: Problem, theta: Any, gradient: Any, n: int) -> float:
    """The relative gap at some iterations where there is one, the relative proximal step otherwise."""
    if n % _GAP_EVERY == 1:
        gap = duality_gap(problem, theta)
        if gap is not None and math.isfinite(gap):
            return gap / problem.height
    return problem.stationarity(theta, gradient) / problem.scale


@dataclass(frozen=True)
class ISTA(Solver):
    """θ ← prox(θ − step·gradient), the step halved until its quadratic model holds.

    For penalties with corners and for constraints, where it is projected gradient. The objective falls in every step.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance: how small the gradient may be beside that at 0, or the duality gap beside the objective
        at 0.
    max_iter : int, default=10000
        The most iterations.

    See Also
    --------
    FISTA : The same with momentum, faster.
    CoordinateDescent : One coefficient at a time, faster for sparse solutions.

    References
    ----------
    .. [1] A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse problems", SIAM
       Journal on Imaging Sciences, 2009.
    """

    tol: float = 1e-8
    max_iter: int = 10_000

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        value, gradient = problem.smooth(theta)
        step, n = first_step(problem, gradient), 0
        while step > 0:
            n += 1
            left = residual(problem, theta, gradient, n)
            theta, step = backtrack(problem, theta, value, gradient, step)
            yield theta, left
            value, gradient = problem.smooth(theta)


@dataclass(frozen=True)
class FISTA(Solver):
    """ISTA from a point ahead of the last two iterates; the momentum restarts where it points uphill.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance: how small the gradient may be beside that at 0, or the duality gap beside the objective
        at 0.
    max_iter : int, default=10000
        The most iterations.

    See Also
    --------
    ISTA : Without momentum: the objective falls in every step.
    CoordinateDescent : One coefficient at a time, faster for sparse solutions.

    References
    ----------
    .. [1] A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse problems", SIAM
       Journal on Imaging Sciences, 2009.
    .. [2] B. O'Donoghue, E. Candès, "Adaptive restart for accelerated gradient schemes", Foundations of Computational
       Mathematics, 2015.
    """

    tol: float = 1e-8
    max_iter: int = 10_000

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        xp = namespace(theta)
        ahead, t, n = theta, 1.0, 0
        value, gradient = problem.smooth(theta)
        step = first_step(problem, gradient)
        while step > 0:
            n += 1
            left = residual(problem, ahead, gradient, n)
            trial, step = backtrack(problem, ahead, value, gradient, step)
            if float(xp.sum((ahead - trial) * (trial - theta))) > 0:
                t = 1.0
            t_next = (1 + math.sqrt(1 + 4 * t * t)) / 2
            ahead = trial + ((t - 1) / t_next) * (trial - theta)
            theta, t = trial, t_next
            yield theta, left
            value, gradient = problem.smooth(ahead)


@dataclass(frozen=True)
class ADMM(Solver):
    """Scores and coefficients in turn, each by its own prox: for losses with corners (absolute, quantile, hinge).

    min loss(z) + penalty(w) subject to z = Xw + b: z by the loss's prox, (w, b) by least squares, w by the penalty's
    prox, and multipliers that remember by how much they disagree.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance: how far z and Xw + b may be apart, and may still move, relatively.
    max_iter : int, default=20000
        The most iterations.

    See Also
    --------
    AugmentedLagrangian : Fewer and longer iterations, for smooth penalties.
    LinearProgram : Exact, for losses and penalties made of straight pieces.

    References
    ----------
    .. [1] S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein, "Distributed optimization and statistical learning via
       the alternating direction method of multipliers", Foundations and Trends in Machine Learning, 2011.
    """

    tol: float = 1e-8
    max_iter: int = 20_000

    needs_rows = True

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver cannot take, in one sentence that names those that could."""
        super().check(problem)
        if not hasattr(problem.loss, "prox") or problem.n_outputs > 1:
            raise ValueError(
                f"ADMM needs the prox of {type(problem.loss).__name__}, which has none; use 'lbfgs' or 'fista'."
            )

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        gram = problem.bent_gram(0 * problem.y + 1)
        # A quadratic penalty goes into the least squares; any other has its own copy v of w, weighted by `unit`.
        unit = 0.0 if problem.smooth_penalty else float(namespace(gram).sum(gram * identity(gram))) / gram.shape[0]
        rho, n = 1.0, 0
        inverse = self._inverse(problem, gram, unit, rho)
        z, v = problem.scores(theta), problem.coef(theta)
        du, dv = 0 * z, 0 * v
        while True:
            n += 1
            right = problem.pull(z - du)
            theta = inverse @ problem.join(problem.coef(right) + unit * (v - dv), right)
            fitted, w = problem.scores(theta), problem.coef(theta)
            ahead_z, ahead_w = 1.6 * fitted - 0.6 * z, 1.6 * w - 0.6 * v
            z_old, v_old = z, v
            z = problem.loss.prox(problem.y, ahead_z + du, 1.0 / rho)
            if unit:
                v = problem.coef(problem.penalty_prox(problem.join(ahead_w + dv, theta), 1.0 / (rho * unit)))
                dv = dv + ahead_w - v
            else:
                v = w
            du = du + ahead_z - z
            apart = _length(problem, fitted - z, w - v, unit) / (_length(problem, z, v, unit) + 1e-12)
            moved = rho * _length(problem, z - z_old, v - v_old, unit)
            yield problem.join(v, theta), max(apart, moved)
            if n % 20 == 0 and n <= 1000 and max(apart, moved) > 5 * min(apart, moved):
                factor = 2.0 if apart > moved else 0.5
                rho, du, dv = rho * factor, du / factor, dv / factor
                inverse = self._inverse(problem, gram, unit, rho)

    def _inverse(self, problem: Problem, gram: Any, unit: float, rho: float) -> Any:
        row = 0 * gram[0]
        price = (
            problem.alpha * problem.penalty.curvature(problem.coef(row)) / rho if not unit else problem.coef(row) + unit
        )
        lift = 1e-12 * float(namespace(gram).max(namespace(gram).abs(gram)))
        return namespace(gram).linalg.inv(gram + identity(gram) * (problem.join(price, row) + lift))


def _length(problem: Problem, z: Any, v: Any, unit: float) -> float:
    xp = namespace(z)
    return math.sqrt(float(xp.sum(z**2 * problem.share)) + unit * float(xp.sum(v**2)))
