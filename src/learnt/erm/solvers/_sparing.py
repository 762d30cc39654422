"""Newton's method that is sparing with curvature: for sums over many rows, or over rows that are read from afar.

A pass for the curvature costs most. One is kept, and updated by the steps taken (BFGS), for as long as steps
with it are quick. How far the minimum is can be read off the step, whatever the units:  f − min f ≈ gᵀH⁻¹g / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import linalg

from learnt.engine.arrays import like, to_numpy
from learnt.engine.threads import single_blas
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver
from learnt.erm.solvers._memory import Pair, inverse_times
from learnt.erm.solvers.curved import Progress

_SMALLEST_RCOND = 1e-10  # below, eigenvalues are used to separate signal from rounding


class Sums(NamedTuple):
    """The objective, its gradient and, where asked for, its curvature, at one point, as NumPy arrays.

    Parameters
    ----------
    value : float
        The objective.
    gradient : ndarray of shape (n_parameters,)
        Its gradient.
    curvature : ndarray of shape (n_parameters, n_parameters) or None
        Its second derivatives, where asked for.
    """

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None


class Objective(Protocol):
    """What is minimised. Where it is not `convex`, "expected" is a curvature that is never negative."""

    convex: bool

    def at(self, point: np.ndarray, curvature: str = "none") -> Sums:
        """The sums at a point; curvature is "none", "own" or "expected"."""


class Curvature:
    """A curvature that steps are solved with, updated by the steps taken since it was computed (BFGS).

    Parameters
    ----------
    solve : callable
        v ↦ H⁻¹v for the curvature as it was computed.

    See Also
    --------
    solver_of : Makes `solve` from a matrix.
    """

    def __init__(self, solve: Callable[[np.ndarray], np.ndarray]) -> None:
        self._solve = solve
        self._pairs: list[Pair] = []

    def solve(self, v: np.ndarray) -> np.ndarray:
        """H⁻¹v, with what was learnt from steps.

        Parameters
        ----------
        v : ndarray of shape (n_parameters,)
            The right-hand side.

        Returns
        -------
        solution : ndarray of shape (n_parameters,)
            H⁻¹v.
        """
        return inverse_times(self._pairs, v, self._solve)

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Learn that the gradient changed by `change` over `step`.

        Parameters
        ----------
        step : ndarray of shape (n_parameters,)
            The step that was taken.
        change : ndarray of shape (n_parameters,)
            The gradient after it less that before.
        """
        product = float(step @ change)
        if product > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self._pairs.append((step, change, product))


class Stage(NamedTuple):
    """The state of the search. `decrement` is about twice what the objective is above its minimum, `goal` what it must
    come down to, `floor` what rounding leaves of it; `done` where the search ends by itself."""

    point: np.ndarray
    sums: Sums
    curvature: Curvature
    decrement: float
    goal: float
    floor: float
    n_iter: int
    done: bool

    @property
    def converged(self) -> bool:
        """Whether the search has come down to its goal, or to rounding."""
        return self.decrement <= max(self.goal, self.floor)


def sparing_newton(
    objective: Objective,
    start: np.ndarray,
    tol: float,
    curvature: Curvature | None = None,
    sums: Sums | None = None,
) -> Iterator[Stage]:
    """The stages of Newton's method with a line search until the decrement is below tol² of the objective.

    Parameters
    ----------
    objective : object with at(point, curvature)
        What is minimised: `at` returns `Sums`, and `convex` says whether it is convex.
    start : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        Convergence tolerance, whose square the decrement is compared with.
    curvature : Curvature or None, default=None
        A curvature to start with, of a sample say, which saves a pass.
    sums : Sums or None, default=None
        The sums at the start, where they are known.

    Yields
    ------
    stage : Stage
        The state of the search, after each step.

    See Also
    --------
    SparingNewton : The same as a solver of problems.
    """
    point, n_iter, told, fresh, kind = start, 0, -1, curvature is None, "own"
    if curvature is None:
        sums, curvature = _curved(objective, point)
    elif sums is None:
        sums = objective.at(point)
    scale = 0.0  # of the objective: what is small is small against this
    progress = Progress()
    patience = 2.0 + len(start) / 20  # gradients that one more pass for the curvature costs
    while True:
        with single_blas():
            step = -curvature.solve(sums.gradient)
            decrement = float(-sums.gradient @ step)
        scale = max(scale, abs(sums.value), decrement if n_iter == 0 else 0.0)
        goal = tol**2 * max(abs(sums.value), 1e-9 * scale)
        # Where rounding ends the search, what is left is rounding too.
        stage = Stage(point, sums, curvature, max(decrement, 0.0), goal, 1e-13 * scale, n_iter, decrement <= goal)
        if n_iter > told and progress.over(sums.value, stage.decrement):
            stage = stage._replace(done=True)
        if stage.done or n_iter > told:
            yield stage
            told = n_iter
        if stage.done:
            return
        found = _search(objective, point, sums, step, decrement, 1e-14 * scale)
        if found is None:
            if fresh and (kind == "expected" or objective.convex):
                yield stage._replace(done=True)
                return
            kind = "expected" if fresh else kind  # the curvature may be to blame
            (sums, curvature), fresh = _curved(objective, point, kind), True
            continue
        length = float(np.linalg.norm(found[0] - point) / np.linalg.norm(step))
        kind = "expected" if length < 0.2 and not objective.convex else "own" if length > 0.9 else kind
        n_iter, fresh = n_iter + 1, False
        curvature.learn(found[0] - point, found[1].gradient - sums.gradient)
        point, sums = found
        with single_blas():
            left = float(sums.gradient @ curvature.solve(sums.gradient))
        if left > goal and _slow(left, decrement, max(goal, 1e-300), patience):
            (sums, curvature), fresh = _curved(objective, point, kind), True


def _slow(left: float, before: float, goal: float, patience: float) -> bool:
    """Whether, at a rate of left/before a step, more than `patience` steps are needed from left to goal."""
    return left >= before or float(np.log(left / goal)) > patience * float(np.log(before / left))


def _curved(objective: Objective, point: np.ndarray, kind: str = "own") -> tuple[Sums, Curvature]:
    """The sums with a curvature to step by: the loss's own, or the expected one where that is not positive."""
    sums = objective.at(point, kind)
    with single_blas():
        solve = positive_solver(sums.curvature)
        if solve is None and kind == "own" and not objective.convex:
            sums = objective.at(point, "expected")
            solve = positive_solver(sums.curvature)
        return sums, Curvature(solve if solve is not None else _shortest(sums.curvature))


def solver_of(H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """v ↦ H⁻¹v, or the shortest solution where H is singular.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        A symmetric positive semidefinite matrix.

    Returns
    -------
    solve : callable
        From v to the solution.

    See Also
    --------
    positive_solver : Only where H is safely positive.
    """
    return positive_solver(H) or _shortest(H)


def positive_solver(H: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """v ↦ H⁻¹v by Cholesky in units where the diagonal is 1; None where H is not safely positive.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        A symmetric matrix.

    Returns
    -------
    solve : callable or None
        From v to the solution.

    See Also
    --------
    solver_of : The shortest solution where H is singular.
    """
    diagonal = np.diag(H)
    if not np.isfinite(H).all() or not (diagonal > 0).all():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    scaled = H * scale * scale[:, None]
    norm = np.abs(scaled).sum(axis=0).max()
    triangle, failed = linalg.lapack.dpotrf(scaled, lower=1, clean=1, overwrite_a=1)
    if failed or linalg.lapack.dpocon(triangle, norm, uplo="L")[0] < _SMALLEST_RCOND:
        return None
    return lambda v: scale * linalg.lapack.dpotrs(triangle, scale * v, lower=1)[0]


def _shortest(H: Any) -> Any:
    """v ↦ the shortest solution, for collinear columns without a penalty."""
    if not np.isfinite(H).all():
        raise ValueError("The columns of X are too large for float64 once squared and weighted; rescale them.")
    values, vectors = np.linalg.eigh(H)
    kept = values > values.max() * len(values) * np.finfo(float).eps * 8
    vectors = vectors[:, kept]
    return lambda v: vectors @ ((vectors.T @ v) / values[kept])


def _search(
    objective: Objective, point: np.ndarray, sums: Sums, step: np.ndarray, decrement: float, slack: float
) -> Any:
    """The first of 1, ½, ¼, … of the step that lowers the objective; or the slope, where values are all rounding."""
    t = 1.0
    for _ in range(40):
        trial = point + t * step
        tried = objective.at(trial)
        if np.isfinite(tried.value):
            if tried.value <= sums.value - 1e-4 * t * decrement:
                return trial, tried
            slope = float(tried.gradient @ step)
            if tried.value <= sums.value + slack and abs(slope) <= 0.5 * decrement and t * decrement <= 1e3 * slack:
                return trial, tried
        t *= 0.5
    return None


class _OfProblem:
    """A problem as an objective of plain vectors."""

    def __init__(self, problem: Problem, like_this: Any) -> None:
        self.problem, self._theta = problem, like_this
        self.convex = getattr(problem.loss, "convex", True)

    def theta(self, point: np.ndarray) -> Any:
        return like(point.reshape(tuple(self._theta.shape)), self._theta)

    def at(self, point: np.ndarray, curvature: str = "none") -> Sums:
        theta = self.theta(point)
        value, gradient = self.problem.smooth(theta)
        H = None if curvature == "none" else to_numpy(self.problem.hessian(theta))
        return Sums(value, to_numpy(gradient).ravel(), H)


@dataclass(frozen=True)
class SparingNewton(Solver):
    """Newton's method that computes second derivatives again only where steps with the old ones have become slow.

    It makes the fewest passes over the rows, so that it is what "auto" takes for rows that are read in blocks.

    Parameters
    ----------
    tol : float, default=1e-7
        Convergence tolerance: its square is compared with the decrement of Newton's method beside the objective.
    max_iter : int, default=100
        The most iterations.

    See Also
    --------
    Newton : Second derivatives in every step.
    LBFGS : Without second derivatives, for many coefficients.
    """

    tol: float = 1e-7
    max_iter: int = 100

    needs_curvature = True
    needs_smooth_loss = True
    needs_smooth_penalty = True

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        objective = _OfProblem(problem, theta)
        height = max(problem.height, 1e-300)
        for stage in sparing_newton(objective, to_numpy(theta).ravel(), self.tol):
            left = min((stage.decrement / height) ** 0.5, 1.0)
            yield objective.theta(stage.point), 0.0 if stage.done and stage.converged else left
