"""What the linear machines share: scores, the checks of parameters, and the warning where a fit ended early."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnt.engine import progress
from learnt.engine.matrices import stored
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.validation import check_predict
from learnt.linalg.positive import TOO_LARGE

_SMALL = 1 << 17  # cells below which a plain product is quicker than blocks on the pool
_HUGE, _LARGEST_POWER = 1e100, 290  # cells that are looked at, and the power of ten that sums of squares may reach
_ROUNDING = 1e-13  # a gap, relative to the objective, that is rounding in float64


def linear_scores(estimator: Any, X: Any) -> np.ndarray:
    """X coef + intercept, one number a row."""
    X = check_predict(estimator, X)
    if not sparse.issparse(X) and X.size <= _SMALL:
        return X @ estimator.coef_ + estimator.intercept_
    return as_rows(X).map(_block_scores, estimator.coef_, estimator.intercept_)


def _block_scores(block: Block, coef: np.ndarray, intercept: Any) -> np.ndarray:
    return np.asarray(block.X @ coef) + intercept


def check_common(estimator: Any) -> None:
    """The parameters that both machines have."""
    check_number(estimator, "tol", 0)
    check_number(estimator, "C", 0, open_low=True)
    check_number(estimator, "max_iter", 0, integer=True)
    check_flag(estimator, "fit_intercept")
    check_number(estimator, "intercept_scaling", 0, open_low=bool(estimator.fit_intercept))
    if not (isinstance(estimator.dual, bool | np.bool_) or estimator.dual == "auto"):
        name = type(estimator).__name__
        raise ParameterError(f"The 'dual' parameter of {name} must be True, False or 'auto'. Got {estimator.dual!r}.")
    if not np.isfinite(estimator.C):
        raise ParameterError(
            f"The 'C' parameter of {type(estimator).__name__} must be finite. Got {estimator.C!r} instead."
        )


def check_squares(X: Any, w: np.ndarray) -> None:
    """Refuse columns whose weighted squares are infinite, or nearly: no step is computed from those."""
    largest = float(np.abs(stored(X)).max(initial=0.0))
    if largest > _HUGE and 2 * np.log10(largest) + np.log10(X.shape[0] * max(float(w.max()), 1.0)) > _LARGEST_POWER:
        raise ValueError(TOO_LARGE)


def goal(tol: float) -> float:
    """The duality gap, relative to the objective, at which a fit ends."""
    return max(tol**2, _ROUNDING)


def watcher(estimator: Any, loop: progress.FitLoop) -> Callable[[float, int], bool]:
    """Reports every step to callbacks and progress bars, from any thread."""
    lock = threading.Lock()

    def watch(value: float, n_iter: int) -> bool:
        if not n_iter:
            return False
        with lock:
            return loop.step(f"{value:.6g}")

    return watch


def warn_unfinished(estimator: Any, gap: float, goal: float) -> None:
    """One sentence: how far off, and what to raise."""
    name = type(estimator).__name__
    if estimator.n_iter_ >= estimator.max_iter:
        remedy = f"raise max_iter above {estimator.max_iter}, bring the columns to like units, or lower C"
    else:
        remedy = "float64 can go no further: bring the columns to like units, or lower C"
    warnings.warn(
        f"{name} failed to converge: after {estimator.n_iter_} steps its objective may be {gap:.1e} (relative) above "
        f"the minimum, where tol={estimator.tol:g} asks for {goal:.1e}; {remedy}.",
        ConvergenceWarning,
        stacklevel=4,
    )
