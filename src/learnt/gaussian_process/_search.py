"""The parameters with the highest likelihood: from the kernel's own, and from random starts within its bounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.params import ParameterError

# Gradients that L-BFGS remembers: a value costs n³ operations, a pair of vectors nothing. The default of ten costs a
# fifth more values than these (RBF and Matérn kernels of 3 to 10 length scales).
_PAIRS = 40

Objective = Callable[..., Any]


def check_optimizer(estimator: Any) -> None:
    """The parameter `optimizer` is "fmin_l_bfgs_b", a function or None."""
    value = estimator.optimizer
    if not (value is None or callable(value) or (isinstance(value, str) and value == "fmin_l_bfgs_b")):
        raise ParameterError(
            f"The 'optimizer' parameter of {type(estimator).__name__} must be 'fmin_l_bfgs_b', a function of the "
            f"objective, a start and bounds, or None. Got {value!r} instead."
        )


def best_theta(
    objective: Objective, kernel: Any, optimizer: Any, restarts: int, random: Any, ftol: float | None = None
) -> tuple[Any, float]:
    """θ and the least value of `objective`, from the kernel's own θ and from `restarts` random ones.

    `ftol` is the relative gain at which L-BFGS ends, None: SciPy's.
    """
    bounds = kernel.bounds
    if restarts and not np.isfinite(bounds).all():
        raise ValueError("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")
    starts = [kernel.theta] + [random.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(restarts)]
    found = [_one(objective, start, bounds, optimizer, ftol) for start in starts]
    return min(found, key=lambda pair: pair[1])


def _one(
    objective: Objective, start: np.ndarray, bounds: np.ndarray, optimizer: Any, ftol: float | None
) -> tuple[np.ndarray, float]:
    if callable(optimizer):
        return optimizer(objective, start, bounds=bounds)
    options: dict[str, Any] = {"maxcor": _PAIRS} if ftol is None else {"maxcor": _PAIRS, "ftol": ftol}
    result = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options)
    if result.status != 0:
        warnings.warn(
            f"lbfgs failed to converge after {result.nit} iteration(s) (status={result.status}): {result.message} The "
            "likelihood may be flat or the kernel matrix nearly singular: scale the features, or increase alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return result.x, float(result.fun)


def warn_at_bounds(kernel: Any) -> None:
    """Warn of parameters that ended at a bound: the best value may lie beyond."""
    theta, bounds, at = kernel.theta, kernel.bounds, 0
    for h in kernel.hyperparameters:
        if h.fixed:
            continue
        for dimension in range(h.n_elements):
            for side, name, verb in ((0, "lower", "Decreasing"), (1, "upper", "Increasing")):
                if np.isclose(bounds[at, side], theta[at]):
                    warnings.warn(
                        f"The optimal value found for dimension {dimension} of parameter {h.name} is close to the "
                        f"specified {name} bound {h.bounds[dimension][side]}. {verb} the bound and calling fit again "
                        "may find a better value.",
                        ConvergenceWarning,
                        stacklevel=4,
                    )
            at += 1
