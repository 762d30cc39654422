"""Rows and kernels as Gaussian processes take them: vectors, or anything that the kernel compares."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from learnt.engine.params import ParameterError
from learnt.engine.rows.blocks import widen
from learnt.engine.validation import check_fit, check_predict, check_target
from learnt.gaussian_process.kernels import RBF, ConstantKernel
from learnt.kernels import is_kernel_object, is_positive_semidefinite


def check_gp_kernel(estimator: Any) -> None:
    """The parameter `kernel` is a kernel or None."""
    if estimator.kernel is not None and not is_kernel_object(estimator.kernel):
        raise ParameterError(
            f"The 'kernel' parameter of {type(estimator).__name__} must be a kernel of "
            f"learnt.gaussian_process.kernels or learnt.kernels, or None. Got {estimator.kernel!r} instead."
        )
    if estimator.kernel is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            theta = estimator.kernel.theta
        if np.isnan(theta).any():
            raise ParameterError(
                f"The 'kernel' parameter of {type(estimator).__name__} has parameters to be learnt that are below 0, "
                f"in {estimator.kernel}: a kernel times such a number is none; give positive ones."
            )


def prior_kernel(estimator: Any) -> Any:
    """The kernel before it has learnt anything."""
    return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed") if estimator.kernel is None else estimator.kernel


def fit_rows(estimator: Any, X: Any, y: Any, kernel: Any, target: str) -> tuple[Any, Any]:
    """Rows in float64 (tensors in their own precision) and targets, for a kernel of vectors; else rows as they are."""
    if kernel.requires_vector_input:
        X, y, _ = check_fit(estimator, X, y, target=target)
        return widen(X), widen(y) if target != "label" else y
    X = validate_data(estimator, X, ensure_2d=False, dtype=None, skip_check_array=True)
    X = np.asarray(X)
    return X, check_target(y, target, X, type(estimator).__name__)


def predict_rows(estimator: Any, X: Any) -> Any:
    """Rows to answer for; before `fit` any number of features."""
    if not prior_kernel(estimator).requires_vector_input:
        return np.asarray(X)
    if not hasattr(estimator, "X_train_") and not hasattr(estimator, "base_estimator_"):
        return widen(check_fit(copy(estimator), X).X)  # the copy remembers the columns, not the unfitted estimator
    return widen(check_predict(estimator, X))


def no_factor(kernel: Any, X: Any, advice: str) -> np.linalg.LinAlgError:
    """The error of a matrix that has no Cholesky factor, with its smallest eigenvalue."""
    verdict = is_positive_semidefinite(kernel(X))
    shown = verdict.reason if verdict.answer == "no" else "the smallest eigenvalue is 0 up to rounding"
    return np.linalg.LinAlgError(
        f"The kernel, {kernel}, is not returning a positive definite matrix. {advice} Of this matrix {shown}."
    )
