"""Logistic regression by the methods that have names in `learnt.erm.solvers`: gradient descent, Adagrad, IRLS, SGD, …

They come to the minimum that `solver="auto"` finds, most of them later. They see the columns as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import Route, double
from learnt.erm import Problem, Result, minimize, solvers
from learnt.erm.losses import Log, Softmax
from learnt.erm.penalties import L2, ElasticNet
from learnt.erm.solvers.curved import Flat, Outcome
from learnt.linear_model.logistic._strategy import Solution, Task

NAMED = (
    "gd",
    "momentum",
    "nesterov",
    "adagrad",
    "adam",
    "sgd",
    "newton-diagonal",
    "hybrid",
    "irls",
    "ista",
    "fista",
    "cd",
)
_MOST = 500  # coefficients whose second derivatives are worth a factorisation at the end
_STATUS = {"budget": "iterations", "early": "stopped"}


def solve_named(task: Task, ratio: float, tol: float, random_state: Any) -> Solution:
    """The minimum by `task.solver`, whose penalty is task.alpha · ((1 − ratio)‖coef‖²/2 + ratio‖coef‖₁)."""
    problem = _pose(task, ratio)
    solver = replace(solvers.NAMES[task.solver](), tol=tol, max_iter=max(task.max_iter, 1))  # type: ignore[type-var]
    if random_state is not None and hasattr(solver, "random_state"):
        solver = replace(solver, random_state=random_state)  # type: ignore[type-var]

    def seen(n: int, theta: Any) -> bool:
        return bool(task.watch(lambda: _table(problem, theta), task.weight * problem.objective(theta), n))

    result = minimize(problem, solver, _start(problem, task.start), callback=seen)
    theta = _joined(result.coef, result.intercept, problem)
    status = _STATUS.get(result.status, result.status)
    if status == "iterations" and getattr(solver, "batch_size", None) is not None:
        status = "stopped"  # a method of mini-batches runs its epochs and has no gap
    gap = _distance(problem, result) if result.gap is None else result.gap
    value, gap = result.objective * task.weight, gap * task.weight
    return Solution(theta, Outcome(theta, value, gap, result.n_iter, status, Flat()))


def _pose(task: Task, ratio: float) -> Problem:
    rows, target = task.rows, task.target
    if not rows.in_memory:
        raise ValueError(f"solver={task.solver!r} needs X in memory, and it is read in blocks; use solver='auto'.")
    codes = to_numpy(rows.y).astype(np.intp)
    w = target.weights[codes] * (1.0 if rows.w is None else to_numpy(rows.w))
    X, y = rows.X, np.where(codes == 1, 1.0, -1.0) if target.binary else codes
    X = double(X)
    if rows.route is Route.DEVICE:
        y, w = like(y, X, None if target.binary else namespace(X).int64), like(w, X)
    loss: Any = Log() if target.binary else Softmax()
    price = task.alpha * (1.0 + ratio) / (2.0 * task.weight)  # the loss is a mean here, and L2 is ‖coef‖²
    penalty = ElasticNet(2.0 * ratio / (1.0 + ratio)) if ratio else L2()
    return Problem(X, y, loss, penalty, price, None, w, task.fit_intercept, target.n_outputs)


def _distance(problem: Problem, result: Result) -> float:
    """objective − minimum ≈ gᵀH⁻¹g / 2, where H is small enough to be computed; NaN elsewhere."""
    if not problem.smooth_penalty or problem.n_features * problem.n_outputs > _MOST:
        return math.nan
    parts = [to_numpy(result.coef), to_numpy(result.intercept)[None]][: 1 + problem.fit_intercept]
    theta = like(np.concatenate(parts), problem.zero())
    g = to_numpy(problem.gradient(theta)).ravel()
    return 0.5 * float(g @ np.linalg.lstsq(to_numpy(problem.hessian(theta)), g, rcond=None)[0])


def _start(problem: Problem, start: np.ndarray | None) -> Any:
    if start is None:
        return None
    theta = start.T if problem.fit_intercept else start[:, :-1].T
    return like(theta if problem.n_outputs > 1 else theta[:, 0], problem.zero())


def _table(problem: Problem, theta: Any) -> np.ndarray:
    return _joined(problem.coef(theta), problem.intercept(theta), problem)


def _joined(coef: Any, intercept: Any, problem: Problem) -> np.ndarray:
    """Coefficients and intercepts, K × (d + 1); what all classes share in their intercepts changes nothing."""
    coef, intercept = np.atleast_2d(to_numpy(coef).T), np.atleast_1d(to_numpy(intercept))
    if problem.n_outputs > 1:
        intercept = intercept - intercept.mean()
    return np.column_stack([coef, intercept])
