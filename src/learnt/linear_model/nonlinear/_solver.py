"""min over b of ‖r(b)‖²,  r = √w (y − f(X, b)),  by steps within a trust region.

At b the model is replaced by its tangent, r(b + δ) ≈ r − Jδ, and δ minimises

    ‖r − Jδ‖² + τ‖Dδ‖²      with τ ≥ 0 such that ‖Dδ‖ ≤ Δ

    lm             D² = diag(JᵀJ), the largest seen so far: units of the parameters do not matter
    levenberg      D = I
    gauss-newton   τ = 0, and the step is cut to the length Δ

Δ grows after a step that achieved the predicted reduction and shrinks after one that did not. Damped steps are
corrected by half the acceleration of the model along them (geodesic acceleration; one more call), which follows curved
valleys. Close to the minimum, rounding of the sum of squares hides a step's gain: there a step is accepted when it
lowers the offset

    ‖Q₁ᵀr‖ / ‖r‖,   Q₁ spanning J's columns: the sine of the angle by which r fails to be orthogonal to the tangent,

which is also what is compared with `tol`. It has no units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from learnt.engine.threads import single_blas
from learnt.linear_model.nonlinear._autodiff import ModelError
from learnt.linear_model.nonlinear._problem import Problem, linear_jacobian
from learnt.linear_model.nonlinear._tangent import Tangent, damping, triangular

_EPS, _TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
_FIRST_RADIUS = 10.0  # times ‖D b‖
# the same for repeated attempts, where a fit diverged to where the model does not depend on all parameters
_RETRIES = (1.0, 0.1, 100.0)
_SINGULAR = 1e-8  # reciprocal condition number below which it did: the accuracy of difference quotients
_PATIENCE, _PROGRESS = 20, 1e-4  # stop when so many steps lower the sum of squares by a smaller share than this
_NEAR = 1e-3  # offset from which central differences are taken
_ENOUGH = 1e-6  # offset below which forward differences may be too inaccurate
_DOUBTFUL = 1e-3  # reciprocal condition number below which they are not trusted so far
_UNSEEN = 1e-8  # share of the sum of squares below which a gain is lost in rounding
_LONGEST_ACCELERATION = 0.75  # an acceleration longer than this share of the step is not used


class Outcome(NamedTuple):
    """The final point, and why the iteration ended."""

    beta: np.ndarray
    cost: float
    triangle: np.ndarray  # R of J = QR
    offset: float
    rcond: float  # of J with columns scaled by D; over parameters that are not on a bound
    n_iter: int
    status: str  # "converged", "rounding", "iterations", "flat", "stuck", "stopped"


Watch = Callable[[np.ndarray, float], bool]  # parameters and sum of squares; True: stop here


def fit_curve(problem: Problem, start: np.ndarray, method: str, tol: float, max_iter: int, callback: Watch) -> Outcome:
    """The best fit from `start`; where it diverged, tried again with shorter and longer first steps."""
    with np.errstate(all="ignore"), single_blas():  # a trial step may overflow: it is then rejected
        found = _descend(problem, start, method, tol, max_iter, _FIRST_RADIUS, callback)
        used = found.n_iter
        for radius in _RETRIES if problem.exact is not linear_jacobian else ():
            if found.rcond > _SINGULAR or found.status == "stopped" or used >= max_iter:
                break
            try:
                other = _descend(problem, start, method, tol, max_iter - used, radius, callback)
            except ModelError:  # the model has no value there: keep the last point
                continue
            used += other.n_iter
            if other.cost < found.cost * (1 - _UNSEEN):
                found = other
        return found._replace(n_iter=used)


def _descend(
    problem: Problem, start: np.ndarray, method: str, tol: float, max_iter: int, first_radius: float, callback: Watch
) -> Outcome:
    beta = start.copy()
    residual = problem.start(beta)
    cost = float(residual @ residual)
    magnitude = max(_norm(problem.y if problem.root is None else problem.y * problem.root), math.sqrt(cost))
    natural = np.where(beta == 0.0, 1.0, 0.0)  # a scale for differences at parameters near 0
    central, radius, scale, before, previous = False, 0.0, None, None, 0.0
    n_iter, status = 0, "iterations"
    steps, mark = 0, math.inf
    while True:
        table = problem.tangent(beta, residual, natural, central)
        factor = triangular(table)
        norms = np.sqrt(np.einsum("ij,ij->j", factor, factor)[:-1])  # those of the table: Q keeps lengths
        if not math.isfinite(float(norms.sum())):
            problem.refuse(table)
        if scale is None:
            scale = np.ones(len(beta)) if method == "levenberg" else np.where(norms == 0.0, 1.0, norms)
            radius = first_radius * (_norm(scale * beta) or math.sqrt(cost) or 1.0)
        elif method != "levenberg":
            scale = np.maximum(scale, norms)
        tangent = Tangent(table, factor, scale, _free(problem, beta, factor))
        offset = tangent.slope / math.sqrt(cost) if cost > 0 else 0.0
        natural = 1e-3 * math.sqrt(cost) / np.maximum(norms, _TINY)
        natural[norms == 0.0] = 0.0
        noise = _EPS * (magnitude + _norm(norms * beta))  # rounding of y and of b, seen in the residual
        last = central or problem.differences is not None or problem.exact is not None
        # the last step, accepted without a visible gain, did not lower the offset
        if before is not None and offset >= before[0]:
            if last:
                offset, beta, residual, cost, tangent = before
                status = "rounding"
                break
            central, before = True, None
            continue
        if last and (offset <= tol or tangent.slope <= noise):
            status = "converged" if offset <= tol else "rounding"
            break
        rate, previous = (offset / previous if previous > 0.0 else 1.0), offset
        if offset <= _NEAR and not last and (rate < 0.1 or offset <= _ENOUGH or tangent.rcond < _DOUBTFUL):
            central = True  # from the next point on, unless this one is final
            if offset <= _ENOUGH:
                continue
        if n_iter >= max_iter:
            break
        found = _advance(problem, tangent, beta, residual, cost, radius, method, max_iter - n_iter)
        n_iter += found.trials
        radius = found.radius
        if found.beta is None:
            if last:
                if tangent.slope <= 1e3 * noise:
                    status = "rounding"
                elif n_iter < max_iter:
                    status = "flat" if tangent.rcond <= _SINGULAR else "stuck"
                break
            central = True
            radius = found.length
            continue
        before = (offset, beta, residual, cost, tangent) if found.unseen else None
        beta, residual, cost = found.beta, found.residual, float(found.residual @ found.residual)
        steps += 1
        if steps % _PATIENCE == 0:
            if tangent.rcond <= _SINGULAR and cost > (1.0 - _PROGRESS) * mark:
                status = "flat"
                break
            mark = cost
        if callback(beta, cost):
            status = "stopped"
            break
        if last and found.undamped and offset <= _NEAR and rate < 0.1 and offset * rate <= 0.1 * tol:
            # The next offset, extrapolated at this rate, which saves another Jacobian.
            offset, status = offset * rate, "converged"
            break
    return Outcome(beta, cost, tangent.triangle, offset, tangent.rcond, n_iter, status)


class _Move(NamedTuple):
    beta: np.ndarray | None  # None: no step was good enough
    residual: np.ndarray
    radius: float
    length: float
    trials: int
    unseen: bool = False
    undamped: bool = False  # an undamped step


def _advance(
    problem: Problem,
    tangent: Tangent,
    beta: np.ndarray,
    residual: np.ndarray,
    cost: float,
    radius: float,
    method: str,
    max_trials: int,
) -> _Move:
    """Shorter and shorter steps until one lowers the sum of squares by enough of the predicted reduction."""
    newton_length = _norm(tangent.newton)
    smallest = _EPS * _norm(tangent.scale * beta)
    length = newton_length
    for trial in range(1, max_trials + 1):
        tau, rotated = 0.0, tangent.newton
        if newton_length > 1.1 * radius:
            if method == "gauss-newton":
                rotated = tangent.newton * (radius / newton_length)
            else:
                tau, rotated = damping(tangent.s, tangent.g, radius)
        length = _norm(rotated)
        step = tangent.step(rotated)
        target = beta + step
        if tau > 0.0:
            target = target + _acceleration(problem, tangent, beta, residual, step, tau, length)
        if problem.lower is not None:
            target = np.clip(target, problem.lower, problem.upper)
            step = np.clip(beta + step, problem.lower, problem.upper) - beta
        promised = tangent.gain(step)
        trial_residual = problem.residual(target)
        trial_cost = float(trial_residual @ trial_residual)
        gained = cost - trial_cost if math.isfinite(trial_cost) else -cost
        ratio = gained / promised if promised > 0 else 0.0
        if ratio <= 0.25:
            shrink = 0.5 if gained >= 0 else 0.5 * promised / (promised - gained)
            radius = min(max(shrink, 0.1), 0.5) * min(radius, 10.0 * length)
        elif ratio >= 0.75:
            radius = max(radius, 2.0 * length)
        elif tau == 0.0:
            radius = 2.0 * length
        if ratio > 1e-4:
            return _Move(target, trial_residual, radius, length, trial, undamped=tau == 0.0)
        if tangent.slope**2 <= _UNSEEN * cost and abs(gained) <= 1e-2 * _UNSEEN * cost:
            return _Move(target, trial_residual, max(radius, length), length, trial, unseen=True, undamped=tau == 0.0)
        if radius <= smallest or length == 0.0:
            return _Move(None, residual, radius, length, trial)
    return _Move(None, residual, radius, length, max_trials)


def _acceleration(
    problem: Problem,
    tangent: Tangent,
    beta: np.ndarray,
    residual: np.ndarray,
    step: np.ndarray,
    tau: float,
    length: float,
) -> np.ndarray:
    """½a of the path b + tδ + ½t²a that stays on the model's curve to second order; 0 where a is too long."""
    part = 0.1
    near = beta + part * step
    if problem.lower is not None:
        near = np.clip(near, problem.lower, problem.upper)
    ahead = problem.residual(near)
    second = (2.0 / part) * ((ahead - residual) / part + tangent.table[:, :-1] @ step)
    if not math.isfinite(float(second @ second)):
        return np.zeros_like(step)
    # Qᵀ times the second derivative, Q = J R⁻¹ not being at hand: Jᵀ instead, scaled and rotated.
    pulled = (second @ tangent.table[:, :-1]) / tangent.scale
    if tangent.free is not None:
        pulled = pulled[tangent.free]
    rotated = (tangent.vectors @ pulled) / (tangent.s * tangent.s + tau)
    if 2.0 * math.sqrt(float(rotated @ rotated)) > _LONGEST_ACCELERATION * length:
        return np.zeros_like(step)
    return 0.5 * tangent.step(rotated)


def _free(problem: Problem, beta: np.ndarray, factor: np.ndarray) -> np.ndarray | None:
    """Which parameters may move: not those on a bound that the residuals pull outwards."""
    if problem.lower is None:
        return None
    pull = factor[:, -1] @ factor[:, :-1]
    held = ((beta <= problem.lower) & (pull <= 0)) | ((beta >= problem.upper) & (pull >= 0))
    return ~held


def _norm(x: np.ndarray) -> float:
    return math.sqrt(float(x @ x))
