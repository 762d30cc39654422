"""Which method finds the minimum: chosen by the shape of the data; all of them reach the same one.

    newton_small         a copy of the rows in their units, and its second derivative; for two classes `_newton_dense`
    newton_from_samples  the minimum over a sample first, whose second derivative then serves for all rows
    newton_dense         the second derivative over all rows
    row_space            the second derivative in the space of the rows, where they are fewer than the columns
    newton_cg            products with the second derivative, for two classes and thousands of columns, mostly zeros
    newton_cg_classes    products with the second derivative in the columns' principal axes, for many classes
    quasi_newton         every column in its unit and no second derivative, for thousands of other columns

`solver` says how often the second derivative is computed: "newton" at every step, "lbfgs" once, "auto" when the last
one no longer serves.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import Route
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block
from learnt.erm.solvers.curved import Outcome, Point, minimize, when_it_pays, when_left
from learnt.linear_model.least_squares._centred import CentredTable
from learnt.linear_model.logistic._curvature import Diagonal
from learnt.linear_model.logistic._loss import Target, codes_of, floats, row_weights
from learnt.linear_model.logistic._newton_cg import Columns, descend
from learnt.linear_model.logistic._newton_cg_classes import Classes, principal_axes
from learnt.linear_model.logistic._newton_dense import newton
from learnt.linear_model.logistic._problem import ALL_AT_ONCE, Problem
from learnt.linear_model.logistic._row_multipliers import RowProblem
from learnt.linear_model.logistic._row_multipliers import descend as by_multipliers
from learnt.linear_model.logistic._row_space import RowSpace
from learnt.linear_model.logistic._start import (
    Units,
    sample,
    scale_of,
    standardised,
    units,
    units_of_few,
    weighted_mean,
)

_COMPILE_FROM = 1 << 15  # cells; below, NumPy is as quick and Numba need not be loaded
_SMALL = 1 << 17  # cells of which a copy costs nothing
_FULL_COLUMNS = 600  # columns up to which a d × d matrix pays
_MANY_CLASSES = 8  # from which one D × D matrix a class costs more than products with all of them
_COARSE = 1e-3  # distance from the minimum, relative to it, up to which single precision is enough
_MOST_SCORES = 1 << 24  # cells of the table and its scores, of which there are some copies
_PRODUCTS = 64  # rows from which conjugate gradients are no slower than factors
_FEW_ROWS = 1000  # rows up to which an n × n matrix pays, where columns are more
# Where scaled columns alone converge slowly: a d × d matrix of up to so many columns, and cells for all classes
# together, if it costs no more than so many steps; and n × n for up to so many rows.
_MOST_COLUMNS, _MOST_CELLS, _MOST_STEPS, _MOST_ROWS = 4000, 1 << 25, 500, 3000
_COLUMNS_PER_STEP = 20  # a d × d matrix over all rows costs as much as one step for each so many columns
_ROWS_PER_COLUMN = 20  # in the smallest sample
_SAMPLE_SHARE, _SAMPLE_CELLS = 16, 1 << 23  # the largest sample: a share of the rows, and no more than 64 MiB
_SUPPORT = 25.0  # rows that a column's variance must rest on for a sample to be used
_FEW_RARE = 4  # columns that a sample may leave out
_MEMORY = 10
_NEGLIGIBLE = 1e-6  # a loss this small, relative to that of the class shares, needs no relative measure of its own
# "auto" asks for a second derivative again where a step leaves more than this share of the distance. An exact one pays
# soon: the next steps are the better for it. But over many rows it costs as much as several steps; and one that leaves
# something out always takes several.
_EXACT, _LARGE, _SAMPLED, _APPROXIMATE = 0.1, 0.5, 0.8, 0.9


class Task(NamedTuple):
    """All that decides the minimum, and how closely to approach it."""

    rows: Rows
    target: Target
    alpha: float
    fit_intercept: bool
    counts: np.ndarray  # rows of each class
    weight: float  # of all rows together
    tol: float  # the distance from the minimum, relative to it
    max_iter: int
    solver: str = "auto"  # or "newton" or "lbfgs"
    start: np.ndarray | None = None  # coefficients and intercepts to start from, K × (d + 1)
    watch: Any = None  # (how to find coefficients and intercepts, value, n_iter) → whether to stop

    @property
    def dense(self) -> bool:
        return self.rows.route is not Route.SPARSE


class Solution(NamedTuple):
    theta: np.ndarray  # coefficients and intercepts, K × (d + 1)
    outcome: Outcome


def solve(task: Task) -> Solution:
    """The minimum, by the method that suits the shape of the data."""
    rows = task.rows
    cells = rows.n_rows * rows.n_features if rows.in_memory else np.inf
    stored = cells if task.dense else rows.n_stored
    task = task._replace(target=task.target._replace(compiled=stored > _COMPILE_FROM and compilation_enabled()))
    if rows.on_host and task.dense and has_many_classes(task):
        return newton_cg_classes(task)
    if rows.n_features <= _FULL_COLUMNS:
        return newton_small(task) if rows.on_host and cells <= _SMALL else newton_from_samples(task)
    thin = not task.dense and rows.n_features > _MOST_COLUMNS
    if thin and task.target.compiled and task.target.binary and task.alpha > 0 and task.solver != "lbfgs":
        return newton_cg(task)
    few = _FEW_ROWS if rows.n_features <= _MOST_COLUMNS else _MOST_ROWS
    if rows.in_memory and rows.n_rows <= min(few, rows.n_features) and task.alpha > 0:
        return row_space(task)
    return quasi_newton(task)


def newton_small(task: Task) -> Solution:
    problem = pose(task, units_of_few(task.rows, task.target, task.fit_intercept))
    copy = standardised(problem)
    start = starting_point(task, problem)
    if task.target.binary and task.solver != "lbfgs":
        block = Block(copy.rows.X, copy.rows.y, copy.rows.w)
        weighted = task.target.weighted or copy.rows.w is not None
        outcome = newton(
            copy.rows.X,
            codes_of(block, task.target),
            row_weights(block, copy.rows.X, task.target) if weighted else None,
            copy.penalty,
            start,
            tol=task.tol,
            enough=negligible(task),
            max_iter=task.max_iter,
            watch=watcher(task, problem.coefficients),
        )
        if outcome is not None:
            return Solution(problem.coefficients(outcome.theta), outcome)
    return minimise(task, copy, copy.curvature, start, of=problem)


def newton_dense(task: Task) -> Solution:
    problem = pose(task, units(task.rows, task.target, task.fit_intercept))
    return minimise(
        task, problem, problem.curvature, starting_point(task, problem), renew=renew_while_far(task, problem)
    )


def quasi_newton(task: Task) -> Solution:
    """Steps in the columns' units while that converges; then with the second derivative, where that pays."""
    rows = task.rows
    problem = pose(task, units(rows, task.target, task.fit_intercept))
    K, D = problem.shape
    steps = D / _COLUMNS_PER_STEP * (1.0 if task.dense else rows.n_rows * D / max(rows.n_stored, 1))
    payable = D <= _MOST_COLUMNS and K * D * D <= _MOST_CELLS and steps <= _MOST_STEPS and task.solver != "lbfgs"
    n_calls = 0

    def curvature_at(u: np.ndarray) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls > 1:
            return problem.curvature(u)
        return Diagonal(np.append(np.ones(D - 1), curve_at_start(task)))

    def renew(left: list[float], goal: float) -> bool:
        budget = 0.8 * (task.max_iter - len(left))
        exact = n_calls > 1 and problem.all_at_once  # one that leaves something out is never worth its price at once
        slow = when_left(_LARGE) if exact else when_it_pays(min(steps, budget))
        return payable and slow(left, goal)

    def confirm_at(u: np.ndarray, n_iter: int) -> Any:
        return curvature_at(u) if payable and n_iter > steps else None

    return minimise(task, problem, curvature_at, starting_point(task, problem), renew=renew, confirm_at=confirm_at)


def row_space(task: Task) -> Solution:
    """Over as many variables as there are rows; rounding errors are corrected in all columns at the end."""
    if found := newton_by_rows(task):
        return found
    d = task.rows.n_features
    mean = weighted_mean(task.rows, task.target) if task.fit_intercept else np.zeros(d)
    scale = np.full(d, np.sqrt(task.alpha))
    problem = Problem(task.rows, task.target, penalty_of(task), mean, scale)
    space = RowSpace(problem, task.alpha)
    start, reduced = space.reduce(starting_point(task, problem)), space.reduced
    found = minimise(task, reduced, space.reduced_curvature, start, of=problem, expand=space.expand)
    first = found.outcome
    if first.status != "converged":
        return found
    rest = task._replace(max_iter=task.max_iter - first.n_iter)
    last = minimise(rest, problem, space.curvature, space.expand(first.theta))
    return last._replace(outcome=last.outcome._replace(n_iter=first.n_iter + last.outcome.n_iter))


def newton_by_rows(task: Task) -> Solution | None:
    """Two classes without a factorisation; None where that does not converge."""
    rows, target = task.rows, task.target
    dense = type(rows.X) is np.ndarray
    if not (dense and target.binary and task.start is None and rows.n_rows >= _PRODUCTS and task.solver != "lbfgs"):
        return None
    block = Block(rows.X, rows.y, rows.w)
    y, w = codes_of(block, target), row_weights(block, np.empty(0), target)
    mean = w @ rows.X / w.sum() if task.fit_intercept else np.zeros(rows.n_features)
    problem = RowProblem(CentredTable(rows.X, mean, rows.n_jobs), y, w, task.alpha, task.fit_intercept)
    if not problem.usable:
        return None
    outcome = by_multipliers(problem, tol=task.tol, enough=negligible(task), max_iter=task.max_iter, watch=task.watch)
    return None if outcome is None else Solution(outcome.theta, outcome)


def newton_cg(task: Task) -> Solution:
    """No matrix at all: Newton's equations by products with the rows."""
    d = task.rows.n_features
    mean = weighted_mean(task.rows, task.target) if task.fit_intercept else np.zeros(d)
    problem = Problem(task.rows, task.target, penalty_of(task), mean, np.ones(d))
    columns = Columns(task.rows, task.target, task.alpha, mean, task.fit_intercept)
    first = columns.look(starting_point(task, problem))
    if not np.isfinite(first.diagonal).all():
        return quasi_newton(task)  # which names the column that is too large
    outcome = descend(
        columns,
        first,
        tol=task.tol,
        enough=negligible(task),
        max_iter=task.max_iter,
        watch=watcher(task, problem.coefficients),
    )
    return Solution(problem.coefficients(outcome.theta), outcome)


def has_many_classes(task: Task) -> bool:
    """Whether a matrix for each class costs more than it saves."""
    n, d, K = task.rows.n_rows, task.rows.n_features, task.target.n_classes
    if K < _MANY_CLASSES or task.alpha == 0 or task.solver == "lbfgs" or not compilation_enabled():
        return False
    together = K * (d + 1) <= ALL_AT_ONCE  # one matrix for all of them
    return not together and min(n, d) <= _FULL_COLUMNS and _COMPILE_FROM < n * (d + K) <= _MOST_SCORES


def newton_cg_classes(task: Task) -> Solution:
    """Newton's equations for many classes by products."""
    rows, target = task.rows, task.target
    block = Block(rows.X, rows.y, rows.w)
    X, codes = floats(rows.X), codes_of(block, target).astype(np.int64)
    w = row_weights(block, X, target)
    axes = principal_axes(X, w, task.alpha, curve_at_start(task), task.fit_intercept)
    K = target.n_classes
    problem = Classes(X, codes, w, axes, K=K, fit_intercept=task.fit_intercept, n_jobs=rows.n_jobs)
    start = problem.variables(np.zeros((K, rows.n_features + 1)) if task.start is None else task.start)
    enough, watch = negligible(task), watcher(task, problem.coefficients)
    n_iter = 0
    if task.start is None and task.tol < _COARSE:
        problem.coarse = True
        far = descend(problem, problem.look(start), tol=_COARSE, enough=enough, max_iter=task.max_iter, watch=watch)
        if far.status == "stopped":
            return Solution(problem.coefficients(far.theta), far)
        problem.coarse, start, n_iter = False, far.theta, far.n_iter
    most = task.max_iter - n_iter
    last = descend(problem, problem.look(start), tol=task.tol, enough=enough, max_iter=most, watch=watch)
    return Solution(problem.coefficients(last.theta), last._replace(n_iter=n_iter + last.n_iter))


def newton_from_samples(task: Task) -> Solution:
    rows, target = task.rows, task.target
    n = float(task.counts.sum())
    D = rows.n_features + 1
    size = max(_ROWS_PER_COLUMN * D, min(int(n) // _SAMPLE_SHARE, _SAMPLE_CELLS // D))
    if 2 * size > n or task.solver == "newton":
        return newton_dense(task)
    sampled, sample_target = sample(rows, target, task.counts, size)
    columns = units(sampled, sample_target, task.fit_intercept)
    rare = columns.support < _SUPPORT
    if rare.any():
        columns = units(rows, target, task.fit_intercept)
    problem = pose(task, columns)
    known = without(standardised(problem.over(sampled, sample_target)), rare)
    start, curvature = minimum_of_sample(known, starting_point(task, problem), n)
    if rare.sum() > _FEW_RARE:  # what the sample cannot tell, all rows must
        return minimise(task, problem, problem.curvature, start, renew=renew_while_far(task, problem))
    once = iter([curvature])

    def curvature_at(u: np.ndarray) -> Any:
        return next(once, None) or problem.curvature(u)

    renew = when_left(_SAMPLED if task.solver == "auto" else np.inf)
    return minimise(task, problem, curvature_at, start, renew=renew, confirm_at=lambda u, n_iter: known.curvature(u))


def minimum_of_sample(problem: Problem, start: np.ndarray, n: float) -> tuple[np.ndarray, Any]:
    """The minimum over a sample, as closely as it matters for all n rows, and the second derivative there."""
    m = problem.rows.n_rows
    fewest = _ROWS_PER_COLUMN * problem.shape[1]
    # Of n rows, the sample's own minimum is about (variables) · n/m/2 above theirs.
    settings: dict[str, Any] = {"tol": 0.0, "enough": 0.05 * start.size * n / m, "max_iter": 30, "memory": _MEMORY}
    if m > 4 * fewest:
        counts = np.bincount(problem.rows.y.astype(np.intp), minlength=problem.target.n_classes).astype(float)
        start, below = minimum_of_sample(problem.over(*sample(problem.rows, problem.target, counts, fewest)), start, n)
        outcome = minimize(problem.evaluate, start, lambda u: below, renew=when_left(np.inf), **settings)
        return outcome.theta, problem.curvature(outcome.theta)
    outcome = minimize(problem.evaluate, start, problem.curvature, renew=when_left(patience(problem)), **settings)
    return outcome.theta, outcome.curvature if outcome.curvature.exact else problem.curvature(outcome.theta)


def without(problem: Problem, rare: np.ndarray) -> Problem:
    """A sample without its `rare` columns: their coefficients stay at 0, with a curvature of one."""
    if rare.any():
        problem.rows.X[:, rare] = 0.0
        problem = Problem(problem.rows, problem.target, problem.penalty + np.append(rare, False))
    return problem


def minimise(
    task: Task,
    problem: Problem,
    curvature_at: Any,
    start: np.ndarray,
    *,
    renew: Any = None,
    confirm_at: Any = None,
    of: Problem | None = None,
    expand: Any = None,
) -> Solution:
    """The minimum to the tolerance asked for.

    `of` is the problem whose coefficients are wanted, where `problem` stands for it; `expand` leads from the variables
    of the one to those of the other.
    """

    def coefficients(u: np.ndarray) -> np.ndarray:
        return (of or problem).coefficients(u if expand is None else expand(u))

    if renew is None:
        newton = 0.0 if problem.all_at_once else _APPROXIMATE
        renew = when_left({"auto": patience(problem), "newton": newton, "lbfgs": np.inf}[task.solver])
    outcome = minimize(
        problem.evaluate,
        start,
        curvature_at,
        tol=task.tol,
        max_iter=task.max_iter,
        memory=_MEMORY,
        renew=renew,
        confirm_at=confirm_at or (lambda u, n_iter: curvature_at(u)),
        enough=negligible(task),
        watch=watcher(task, coefficients),
    )
    return Solution(coefficients(outcome.theta), outcome)


def negligible(task: Task) -> float:
    """A distance from the minimum too small to matter, whatever the minimum is."""
    return task.tol * _NEGLIGIBLE * task.weight * np.log(task.target.n_classes)


def watcher(task: Task, coefficients: Any) -> Any:
    """A callback for every iterate, with a function that gives its coefficients; None where there is no callback."""
    if task.watch is None:
        return None

    def watch(point: Point, n_iter: int) -> bool:
        return task.watch(partial(coefficients, point.theta), point.value, n_iter)

    return watch


def renew_while_far(task: Task, problem: Problem) -> Any:
    return when_left(_LARGE) if task.solver == "auto" and problem.all_at_once else None


def patience(problem: Problem) -> float:
    return _EXACT if problem.all_at_once else _APPROXIMATE


def pose(task: Task, columns: Units) -> Problem:
    scale = scale_of(curve_at_start(task), task.alpha, columns)
    return Problem(task.rows, task.target, penalty_of(task), columns.mean, scale)


def penalty_of(task: Task) -> np.ndarray:
    return np.append(np.full(task.rows.n_features, task.alpha), 0.0 if task.fit_intercept else np.inf)


def curve_at_start(task: Task) -> float:
    """What a unit more in the scores of one class curves the loss by, where all classes are equally likely."""
    K = task.target.n_classes
    return task.weight * (K - 1) / K**2


def starting_point(task: Task, problem: Problem) -> np.ndarray:
    return problem.variables(np.zeros(problem.shape) if task.start is None else task.start)
