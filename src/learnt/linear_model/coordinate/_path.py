"""One penalty after another: the grid of penalties, the solutions along it, and a warning where one was not reached."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.linear_model.coordinate._descent import Descent
from learnt.linear_model.coordinate._gram import MOST, gram_path
from learnt.linear_model.coordinate._problem import Columns, Products, dense_problem, refuse_overflow
from learnt.linear_model.coordinate._sparse import SparseColumns, SparseDescent
from learnt.linear_model.coordinate._tasks import TaskDescent
from learnt.linear_model.least_squares._solvers import least_squares

_RESOLUTION = float(np.finfo(np.float64).resolution)
_FEW_CELLS = 1 << 14


class Path(NamedTuple):
    """Solutions at each penalty."""

    coefs: np.ndarray  # (p, A), or (p, k, A) for targets that share their columns
    gaps: np.ndarray  # (A,), of the objective per unit of weight
    n_iters: list[int]


def penalty_grid(q: np.ndarray, weight: float, l1_ratio: float, eps: float, n: int, positive: bool) -> np.ndarray:
    """`n` penalties from the smallest at which all coefficients are 0 down to `eps` of it; q = Xᵀy."""
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by providing your "
            "estimator with the appropriate `alphas=` argument: without an absolute in the penalty none is large "
            "enough to leave no weights."
        )
    top = max(float(q.max()), 0.0) if positive else float(np.linalg.norm(q, axis=1).max())
    largest = top / (weight * l1_ratio)
    if largest <= _RESOLUTION:
        return np.full(n, _RESOLUTION)
    return np.geomspace(largest, largest * eps, num=n)


def unpacked(X: Any) -> Any:
    """A small sparse X as a dense one: that costs less, and gives the same model as dense input to the last digit."""
    return X.toarray() if sparse.issparse(X) and X.shape[0] * X.shape[1] <= _FEW_CELLS else X


def make_problem(
    X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool, n_penalties: int, tasks: bool = False
) -> Products | Columns | SparseColumns:
    """The problem in the form that is cheapest for this X and this many penalties; `tasks`: targets share columns."""
    if not sparse.issparse(X):
        return dense_problem(X, Y, w, center, n_penalties)
    with np.errstate(over="ignore"):
        refuse_overflow(X.data**2, Y**2)
    return Columns(X, Y, w, center) if tasks else SparseColumns(X, Y, w, center)


def descent(problem: Any, target: int | None, positive: bool, start: np.ndarray | None) -> Descent:
    """The solver for one target, or (None) for all together."""
    if target is None:
        return TaskDescent(problem, start)
    kind = SparseDescent if isinstance(problem, SparseColumns) else Descent
    return kind(problem, target, positive, start)


def solve_path(
    problem: Any,
    target: int | None,
    alphas: np.ndarray,
    l1_ratio: float,
    *,
    positive: bool = False,
    start: np.ndarray | None = None,
    tol: float = 1e-4,
    max_iter: int | None = 1000,
    name: str,
    after_paths: bool = False,
) -> Path:
    """min  1/(2N) ‖y − Xw‖² + α (ratio ‖w‖₁ + (1 − ratio)/2 ‖w‖²)  for each α, N the weight of all rows.

    `after_paths`: the kernel for paths is compiled already, and is used for one penalty too.
    """
    most = 1000 if max_iter is None else int(max_iter)
    scale = np.asarray(alphas, dtype=np.float64) * problem.weight
    penalties, ridges = scale * l1_ratio, scale * (1.0 - l1_ratio)
    several = (len(alphas) > 1 or after_paths) and scale.min() > 0.0
    if several and target is not None and isinstance(problem, Products) and len(problem.q) <= MOST:
        coefs, gaps, sweeps = gram_path(problem, target, penalties, ridges, tol, most, positive, start)
    else:
        search = descent(problem, target, positive, start)
        coefs, gaps, sweeps = search.path(penalties, ridges, tol, most)
    gaps /= problem.weight
    if not np.isfinite(coefs).all():
        raise ValueError(
            f"Coordinate descent iterations resulted in non-finite parameter values: squares of the numbers given to "
            f"{name} exceed float64; bring columns and target to ordinary units first."
        )
    goal = tol * float(np.sum(problem.squares if target is None else problem.squares[target])) / problem.weight
    _warn(name, gaps, goal, alphas, sweeps, most)
    return Path(coefs, gaps, sweeps)


def solve_directly(problem: Any, rows: Any, alpha: float, fit_intercept: bool, tasks: bool) -> list[Path]:
    """Without an L1 penalty this is ridge regression, which has a closed form: α ≥ 0 is its whole penalty."""
    coef = least_squares(rows, "auto", fit_intercept, alpha * problem.weight).coef
    l2 = alpha * problem.weight
    ends = [descent(problem, None, False, coef)] if tasks else []
    if not tasks:
        ends = [descent(problem, k, False, coef[:, k]) for k in range(coef.shape[1])]
    gaps = [end.gap(0.0, l2) / problem.weight for end in ends]
    coefs = [coef[..., None]] if tasks else [coef[:, k : k + 1] for k in range(coef.shape[1])]
    return [Path(c, np.array([gap]), [1]) for c, gap in zip(coefs, gaps, strict=True)]


def _warn(name: str, gaps: np.ndarray, goal: float, alphas: np.ndarray, sweeps: list[int], max_iter: int) -> None:
    far = np.flatnonzero(~(gaps <= goal))
    if not len(far):
        return
    worst = far[np.argmax(gaps[far])]
    where = "" if len(gaps) == 1 else f" at alpha={alphas[worst]:.3g} (and {len(far) - 1} others)"
    if sweeps[worst] >= max_iter:
        after, advice = f"max_iter={max_iter} sweeps", "raise max_iter, alpha or tol"
    else:
        after, advice = f"{sweeps[worst]} sweeps that end in rounding", "raise tol, or bring columns to similar scales"
    warnings.warn(
        f"Objective did not converge. You might want to increase the number of iterations. {name} stopped after {after}"
        f"{where} with a duality gap of {gaps[worst]:.3e}, where tol asks for {goal:.3e}; {advice}.",
        ConvergenceWarning,
        stacklevel=5,
    )
