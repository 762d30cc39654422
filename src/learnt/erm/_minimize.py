"""One driver for all solvers: it owns the loop, the budget, the finiteness test, early stopping, history and path."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.erm._gap import duality_gap
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver

# A line search compares objectives, whose digits end where the gradient, relatively, is the root of rounding.
_ROUNDING = 1e-6
_STANDING = 100


@dataclass(frozen=True, eq=False)
class Result:
    """What a solver found: coefficients, how good they are, and how the run went.

    Parameters
    ----------
    coef : array of shape (n_features,) or (n_features, n_outputs)
        The coefficients.
    intercept : array or float
        The intercept of each score; 0 without one.
    objective : float
        The objective there.
    gradient_norm : float
        The largest entry of the gradient; of the proximal step where the penalty has corners.
    gap : float or None
        An upper bound on objective − minimum, where one is known.
    n_iter : int
        Iterations.
    status : str
        How it ended: "converged"; "budget" (after `max_iter` iterations); "stalled" (no step lowers the objective);
        "diverged" (the last finite iterate is kept); "early" (the validation loss rose); "stopped" (by the callback).
    history : list of float
        The residual that each iteration reported, which `tol` is compared with.
    curve : list of float
        The objective over all rows after each iteration.
    validation : list of float
        The mean loss of the validation rows after each iteration; empty without such.
    best_iter : int or None
        The iteration of the lowest validation loss, which was kept.
    path : list of (coef, intercept) or None
        The coefficients at the start and after each iteration, if asked for.

    See Also
    --------
    minimize : Runs a solver on a problem, and returns this.
    """

    coef: Any
    intercept: Any
    objective: float
    gradient_norm: float
    gap: float | None
    n_iter: int
    status: str
    history: list[float] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best_iter: int | None = None
    path: list[tuple[Any, Any]] | None = None

    @property
    def converged(self) -> bool:
        """Whether the run ended as it should: converged, or stopped early by its validation rows.

        Returns
        -------
        converged : bool
            True for the status "converged" and "early".
        """
        return self.status in ("converged", "early")


def minimize(
    problem: Problem,
    solver: Solver,
    start: Any = None,
    *,
    validation: Problem | None = None,
    patience: int = 10,
    callback: Callable[[int, Any], Any] | None = None,
    record: bool = False,
) -> Result:
    """Run `solver` on `problem` from θ = `start`: the loop, the stopping rules, the record.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    solver : Solver
        How: an object of `learnt.erm.solvers`, with its `tol` and `max_iter`.
    start : array of shape (n_parameters,) or (n_parameters, n_outputs), default=None
        θ to start from; None for 0.
    validation : Problem or None, default=None
        The same problem on other rows. Where it is given, the run ends when their mean loss has not fallen for
        `patience` iterations, and the best iterate is what comes back (early stopping).
    patience : int, default=10
        Iterations without a better validation loss that end the run.
    callback : callable or None, default=None
        Called as `callback(n, theta)` after each iteration; what it returns stops the run where it is true.
    record : bool, default=False
        Whether to keep the coefficients after each iteration in `Result.path`.

    Returns
    -------
    result : Result
        The coefficients, how good they are, and how the run went.

    See Also
    --------
    ERMRegressor : The same as an estimator.
    ERMClassifier : The same as an estimator, for classes.
    duality_gap : A bound on how far an objective is above its minimum.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.erm.losses import Squared
    >>> from learnt.erm.solvers import Newton
    >>> problem = Problem(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), Squared())
    >>> result = minimize(problem, Newton())
    >>> result.coef.round(8), round(float(result.intercept), 8), result.converged
    (array([2.]), 1.0, True)
    """
    solver.check(problem)
    with np.errstate(all="ignore"):  # a step too long may overflow: that is detected below, and reported
        return _run(problem, solver, start, _Watch(validation, patience), callback, record)


def _run(
    problem: Problem, solver: Solver, start: Any, watch: _Watch, callback: Callable | None, record: bool
) -> Result:
    theta = problem.zero() if start is None else start
    status, n_iter = "budget", 0
    history: list[float] = []
    curve: list[float] = []
    path = [_parts(problem, theta)] if record else None
    watch.begin(theta)
    for n, (proposal, residual) in enumerate(solver.iterates(problem, theta), 1):
        if not math.isfinite(float(namespace(proposal).sum(proposal))) or math.isnan(residual):
            status = "diverged"
            break
        theta, n_iter = proposal, n
        history.append(residual)
        curve.append(_objective(problem, solver, theta))
        if path is not None:
            path.append(_parts(problem, theta))
        if watch.sees(n, theta):
            status = "early"
        elif callback is not None and callback(n, theta):
            status = "stopped"
        elif residual <= solver.tol:
            status = "converged"
        elif _stands(history):
            status = "stalled"
        if status != "budget" or n >= solver.max_iter:
            break
    else:
        status = "stalled"  # the solver gave up by itself
    theta = watch.best if watch.losses else theta
    result = _report(problem, solver, theta, n_iter, status, history)
    best_iter = watch.best_iter if watch.losses else None
    return replace(result, curve=curve, validation=watch.losses, best_iter=best_iter, path=path)


def _objective(problem: Problem, solver: Solver, theta: Any) -> float:
    """The objective over all rows. The gradient is computed too where the solver will need it at this point anyway."""
    if getattr(solver, "batch_size", None) is not None:
        return problem.objective(theta)
    return problem.smooth(theta)[0] + problem.rest(theta)


def _report(problem: Problem, solver: Solver, theta: Any, n_iter: int, status: str, history: list[float]) -> Result:
    _, gradient = problem.smooth(theta)
    norm, gap = problem.stationarity(theta, gradient), duality_gap(problem, theta)
    tol = max(solver.tol, _ROUNDING if status == "stalled" else 0.0)
    near = norm <= tol * problem.scale or (gap is not None and gap <= solver.tol * problem.height)
    near = near or (status == "stalled" and bool(history) and history[-1] <= tol)
    if status in ("budget", "stalled") and near:
        status = "converged"
    coef, intercept = _parts(problem, theta)
    return Result(coef, intercept, problem.objective(theta), norm, gap, n_iter, status, history)


def _stands(history: list[float]) -> bool:
    """Whether changes are rounding only: near the minimum, without progress in the last iterations."""
    n = len(history)
    return n % _STANDING == 0 and n > _STANDING and min(history[-_STANDING:]) >= 0.99 * min(history[:-_STANDING]) < 1e-5


class _Watch:
    """Early stopping: the lowest validation loss so far, and how long ago it was."""

    def __init__(self, problem: Problem | None, patience: int) -> None:
        self.problem, self.patience = problem, patience
        self.best: Any = None
        self.best_iter, self.lowest = 0, math.inf
        self.losses: list[float] = []

    def begin(self, theta: Any) -> None:
        if self.problem is not None:
            self.best, self.lowest = theta, self.problem.risk(theta)

    def sees(self, n: int, theta: Any) -> bool:
        """One more iterate; True where it is time to stop."""
        if self.problem is None:
            return False
        loss = self.problem.risk(theta)
        self.losses.append(loss)
        if loss < self.lowest:
            self.lowest, self.best, self.best_iter = loss, theta, n
        return n - self.best_iter >= self.patience


def _parts(problem: Problem, theta: Any) -> tuple[Any, Any]:
    return problem.coef(theta), problem.intercept(theta)
