"""The constructor parameters of `NonlinearLeastSquares`, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.linear_model.nonlinear._autodiff import check_library

_METHODS = ("lm", "levenberg", "gauss-newton")
_JACOBIANS = (None, "2-point", "3-point", "torch", "jax")


def check_settings(estimator: Any) -> None:
    """Checks that need no data."""
    check_choice(estimator, "method", _METHODS)
    check_number(estimator, "tol", 0)
    check_number(estimator, "max_iter", 1, integer=True)
    if estimator.model is not None and not callable(estimator.model):
        raise ParameterError(
            "The 'model' parameter of NonlinearLeastSquares must be a function of X and the parameters, or None. "
            f"Got {estimator.model!r} instead."
        )
    if not callable(estimator.jac):
        check_choice(estimator, "jac", _JACOBIANS)
    check_library(estimator.jac)


def check_start(estimator: Any, n_features: int) -> tuple[list[str], np.ndarray]:
    """Names and first values of the parameters."""
    names, given = None, estimator.start
    if given is None:
        if estimator.model is not None:
            raise ParameterError(
                "NonlinearLeastSquares needs start=, one number for each parameter of the model: without it the number "
                "of parameters is not known."
            )
        given = np.zeros(n_features + 1)
    if isinstance(given, dict):
        names, given = [str(name) for name in given], list(given.values())
    try:
        start = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        start = np.empty(0)
    if start.ndim != 1 or start.size == 0 or not np.isfinite(start).all():
        raise ParameterError(
            "The 'start' parameter of NonlinearLeastSquares must be a list of finite numbers, one for each parameter "
            f"of the model. Got {estimator.start!r} instead."
        )
    if estimator.model is None and start.size != n_features + 1:
        raise ValueError(
            f"start has {start.size} numbers, but the linear model of {n_features} columns has {n_features + 1} "
            "parameters: give one for each column and one for the constant."
        )
    return names or [f"b{j}" for j in range(start.size)], start


def check_bounds(bounds: Any, start: np.ndarray, names: list[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper bounds, one for each parameter, with the start between them."""
    if bounds is None:
        return None
    if isinstance(bounds, dict):
        bounds = _named_bounds(bounds, names)
    try:
        lower, upper = (np.broadcast_to(np.asarray(side, dtype=np.float64), start.shape).copy() for side in bounds)
    except (TypeError, ValueError):
        raise ParameterError(
            "The 'bounds' parameter of NonlinearLeastSquares must be (lower, upper), each a number or one for each of "
            f"the {start.size} parameters. Got {bounds!r} instead."
        ) from None
    wrong = np.flatnonzero(~(lower < upper))
    if wrong.size:
        j = wrong[0]
        raise ParameterError(
            f"The 'bounds' parameter of NonlinearLeastSquares must have lower < upper, but parameter {j} has "
            f"{lower[j]:g} and {upper[j]:g}; a parameter that is known belongs in the model."
        )
    outside = np.flatnonzero((start < lower) | (start > upper))
    if outside.size:
        j = outside[0]
        raise ValueError(
            f"start has {start[j]:g} for parameter {j}, outside its bounds {lower[j]:g} to {upper[j]:g}; start inside."
        )
    return lower, upper


def _named_bounds(bounds: dict[Any, Any], names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, pair in bounds.items():
        if name not in names:
            raise ParameterError(
                f"The 'bounds' parameter of NonlinearLeastSquares names {name!r}, but the parameters are "
                f"{', '.join(names)}; name them in start=."
            )
        try:
            low, high = pair
            lower[names.index(name)] = -np.inf if low is None else low
            upper[names.index(name)] = np.inf if high is None else high
        except (TypeError, ValueError):
            raise ParameterError(
                f"The 'bounds' parameter of NonlinearLeastSquares must give {name!r} as (lower, upper). "
                f"Got {pair!r} instead."
            ) from None
    return lower, upper
