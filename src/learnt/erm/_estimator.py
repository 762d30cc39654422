"""What `ERMRegressor` and `ERMClassifier` share: check, pose, solve, record, and how scores are made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.engine import progress
from learnt.engine.arrays import is_foreign_array, is_lazy, like, namespace, to_device_of, to_numpy
from learnt.engine.estimator import Takes
from learnt.engine.matrices import affine, double, take_rows
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.random import generator
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import Check, anyof, count, flag, none, number, real, record, text
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_predict
from learnt.erm._minimize import Result, minimize
from learnt.erm._parts import check_solver, penalty_of
from learnt.erm._problem import Problem
from learnt.erm._rows_problem import RowsProblem
from learnt.erm.solvers import as_solver

_FAR = 3.0  # spreads between a column's mean and 0


# What both keep of their fit in a model file.
FIT_RECORD: dict[str, Check] = {
    "n_iter_": count(),
    "objective_": number(finite=False),
    "gradient_norm_": number(finite=False),
    "gap_": anyof(none, number(finite=False)),
    "converged_": flag,
    "loss_curve_": real(None, finite=False),
    "solver_": text,
    "path_": record,
    "validation_losses_": real(None, finite=False),
}


class LinearRisk(progress.CallbackSupportMixin):
    """The parameters, the fit and the scores of a linear model that minimises a mean loss and a penalty."""

    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)

    def __init__(
        self,
        loss: Any = "squared",
        *,
        penalty: Any = "l2",
        alpha: float = 1e-4,
        bound: float | None = None,
        solver: Any = "auto",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        record_path: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.bound = bound
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.record_path = record_path
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "alpha", 0)
        check_number(self, "bound", 0, also=(None,))
        check_number(self, "max_iter", 1, integer=True, also=(None,))
        check_number(self, "tol", 0, also=(None,))
        check_number(self, "validation_fraction", 0, 0.9, open_low=True)
        check_number(self, "n_iter_no_change", 1, integer=True)
        check_flag(self, "fit_intercept", "early_stopping", "record_path")
        check_solver(self)
        if not np.isfinite(self.alpha):
            raise ParameterError(
                f"The 'alpha' parameter of {type(self).__name__} must be finite. Got {self.alpha!r} instead."
            )

    def _pose(self, X: Any, y: Any, w: Any, loss: Any, n_outputs: int = 1) -> Problem:
        """The problem in double precision, so that what is found does not hang on how X is stored."""
        lowest, included = getattr(loss, "lowest", (-np.inf, True))
        if is_lazy(X):
            rows = as_rows(X, y, w)
            impossible = lowest > -np.inf and float(rows.sum(_out_of_range, lowest, included)[0]) > 0
        else:
            impossible = lowest > -np.inf and bool(namespace(y).any(y < lowest if included else y <= lowest))
        if impossible:
            raise ValueError(
                f"y has values {'below' if included else 'of or below'} {lowest:g}, where {loss!r} is not defined; "
                "drop these rows, or use the squared loss."
            )
        parts = (loss, penalty_of(self), float(self.alpha), self.bound)
        if is_lazy(X):
            return RowsProblem(rows, None, *parts, None, bool(self.fit_intercept), n_outputs)
        X, w = double(X), None if w is None else double(w)
        return Problem(X, y, *parts, w, bool(self.fit_intercept), n_outputs)

    def _solve(self, problem: Problem, start: Any, watch: Any = None) -> Result:
        shift = _far_means(problem) if self.solver == "auto" else None
        if shift is not None:  # columns are centred, which changes the intercept only
            problem = replace(problem, X=problem.X - shift)
            start = None if start is None else _with_intercept(problem, start, shift)
        solver = as_solver(self.solver, problem)
        given = {name: getattr(self, name) for name in ("max_iter", "tol") if getattr(self, name) is not None}
        solver = replace(solver, **given) if given else solver  # type: ignore[type-var]
        validation = None
        if self.early_stopping:
            problem, validation = self._split(problem)
        with single_blas(), progress.fit_loop(self, solver.max_iter, None, None) as loop:

            def step(n: int, theta: Any) -> bool:
                stop = bool(loop.step(state=lambda: {"n_iter_": n}))
                return stop or bool(watch is not None and watch(problem, theta))

            result = minimize(
                problem,
                solver,
                start,
                validation=validation,
                patience=self.n_iter_no_change,
                callback=step,
                record=self.record_path,
            )
        self.solver_ = type(solver).__name__
        self._warn(problem, solver, result)
        return result if shift is None else _moved_back(result, shift)

    def _split(self, problem: Problem) -> tuple[Problem, Problem]:
        """The problem on the training rows, and on the validation rows."""
        if not problem.in_memory:
            raise ValueError("early_stopping holds out rows, and X is read in blocks; set early_stopping=False.")
        n = problem.X.shape[0]
        held = round(n * self.validation_fraction)
        if not 0 < held < n:
            raise ValueError(
                f"early_stopping holds out {held} of {n} rows; give more rows or another validation_fraction."
            )
        order = generator(self.random_state).permutation(n)
        parts = []
        for rows in (np.sort(order[held:]), np.sort(order[:held])):
            w = None if problem.weight is None else take_rows(problem.weight, rows)
            if w is not None and float(w.sum()) == 0:
                raise ValueError("early_stopping held out rows of weight 0 only; give another random_state.")
            parts.append(replace(problem, X=take_rows(problem.X, rows), y=take_rows(problem.y, rows), weight=w))
        return parts[0], parts[1]

    def _warn(self, problem: Problem, solver: Any, result: Result) -> None:
        name, by = type(self).__name__, type(solver).__name__
        if result.status == "diverged":
            text = (
                f"{name}: {by} ran away after {result.n_iter} iterations; take a shorter step, scale X, or use 'auto'."
            )
        elif result.status in ("budget", "stalled") and not (
            self.early_stopping or getattr(solver, "batch_size", None)
        ):
            far = f"with a gradient {result.gradient_norm / problem.scale:.1e} of that at 0 where tol={solver.tol:g}"
            if result.history and not getattr(problem.loss, "smooth", True):  # subgradients do not go to 0 at a kink
                far = f"with a residual of {result.history[-1]:.1e} where tol={solver.tol:g}"
            if result.gap is not None:
                far = f"at most {result.gap:.1e} above the minimum"
            cure = f"raise max_iter above {solver.max_iter}" if result.status == "budget" else "scale X, or raise tol"
            text = f"{name}: {by} stopped after {result.n_iter} iterations {far}; {cure}."
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=5)

    def _record(self, X: Any, results: list[Result], coef: Any, intercept: Any) -> None:
        """`coef` and `intercept` as NumPy arrays, kept where X is and in its precision."""
        if is_foreign_array(X):
            self.coef_, self.intercept_ = like(coef, X), like(intercept, X)
        else:
            dtype = np.float64 if is_lazy(X) else X.dtype
            self.coef_, self.intercept_ = coef.astype(dtype), np.asarray(intercept).astype(dtype)[()]
        self.n_iter_ = max(result.n_iter for result in results)
        self.objective_ = float(sum(result.objective for result in results))
        self.gradient_norm_ = max(result.gradient_norm for result in results)
        gaps = [result.gap for result in results]
        self.gap_ = None if any(gap is None for gap in gaps) else float(sum(gaps))  # type: ignore[arg-type]
        self.converged_ = all(result.converged for result in results)
        self.loss_curve_ = _added_up([result.curve for result in results])
        for name in ("path_", "validation_losses_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.record_path:
            paths = [[(to_numpy(w), to_numpy(b)) for w, b in result.path or []] for result in results]
            self.path_ = paths[0] if len(paths) == 1 else paths
        if self.early_stopping:
            self.validation_losses_ = np.asarray(max((result.validation for result in results), key=len))

    def _scores(self, X: Any, then: Callable[[Any], Any] = lambda scores: scores) -> Any:
        """What `then` makes of the scores of each row."""
        X = check_predict(self, X)
        coef, intercept = to_device_of(self.coef_, X), to_device_of(self.intercept_, X)
        if is_lazy(X):
            return as_rows(X).map(_from_scores, coef, intercept, then)
        return then(affine(X, coef, intercept))


def _added_up(curves: list[list[float]]) -> np.ndarray:
    """The sum of the objectives after each iteration; one that ended stays where it was."""
    longest = max(len(curve) for curve in curves)
    return np.sum([curve + curve[-1:] * (longest - len(curve)) for curve in curves], axis=0)


def _out_of_range(block: Block, lowest: float, included: bool) -> tuple:
    y = to_numpy(block.y)
    return (float((y < lowest if included else y <= lowest).sum()),)


def _from_scores(block: Block, coef: np.ndarray, intercept: Any, then: Callable[[Any], Any]) -> np.ndarray:
    return then(affine(block.X, coef, intercept))


def _far_means(problem: Problem) -> Any:
    """The means of the columns, where they are far from 0 and can be subtracted: solvers then need fewer iterations."""
    if not (problem.fit_intercept and problem.in_memory) or sparse.issparse(problem.X):
        return None
    X, xp = problem.X, namespace(problem.X)
    share = problem.share if problem.weight is not None else 0 * X[:, 0] + problem.share
    mean = share @ X
    spread = xp.sqrt(xp.clip(share @ X**2 - mean**2, 0.0, None))
    return mean if bool(xp.any(xp.abs(mean) > _FAR * spread)) else None


def _with_intercept(problem: Problem, theta: Any, shift: Any) -> Any:
    """θ for columns that were moved by `shift`."""
    b = problem.intercept(theta) + shift @ problem.coef(theta)
    return namespace(theta).concat([problem.coef(theta), namespace(theta).reshape(b, (1,) + tuple(theta.shape[1:]))])


def _moved_back(result: Result, shift: Any) -> Result:
    """The intercepts for the columns as they were."""
    path = None if result.path is None else [(w, b - shift @ w) for w, b in result.path]
    return replace(result, intercept=result.intercept - shift @ result.coef, path=path)


def start_of(problem: Problem, coef: Any, intercept: Any) -> Any:
    """θ from a user's `coef_init` and `intercept_init`, None where neither is given."""
    if coef is None and intercept is None:
        return None
    theta = to_numpy(problem.zero()).copy()
    d = problem.n_features
    if coef is not None:
        given = np.asarray(to_numpy(coef), dtype=np.float64)
        given = (
            given.T if given.ndim == 2 and problem.n_outputs > 1 else given.reshape(-1) if given.size == d else given
        )
        if given.shape != theta[:d].shape:
            raise ValueError(
                f"coef_init has shape {np.shape(coef)} and the model has {d} coefficients a score; give as many."
            )
        theta[:d] = given
    if intercept is not None and problem.fit_intercept:
        theta[d] = np.asarray(intercept, dtype=np.float64).reshape(theta[d].shape)
    return like(theta, problem.zero())
