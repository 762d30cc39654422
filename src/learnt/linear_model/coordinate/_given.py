"""XᵀX given by the caller."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.engine.matrices import dense
from learnt.linear_model.coordinate._problem import Products


def given(estimator: Any, X: Any, Y: np.ndarray, w: np.ndarray | None) -> Products | None:
    """The problem with the XᵀX of `precompute`; None where there is none, or where its columns were not centred."""
    Q = estimator.precompute
    if isinstance(Q, bool | np.bool_) or (isinstance(Q, str) and Q == "auto"):
        return None
    try:
        Q = np.array(Q, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError):
        Q = np.empty(0)
    p, name = X.shape[1], type(estimator).__name__
    if Q.shape != (p, p):
        raise ValueError(
            f"The precompute parameter of {name} can be True, False or an array of shape ({p}, {p}); it has shape "
            f"{Q.shape}."
        )
    X = dense(X)
    weights = np.ones(X.shape[0]) if w is None else w * (X.shape[0] / w.sum())
    Y = Y.astype(np.float64, copy=False)
    x_mean, y_mean = np.zeros(p), np.zeros(Y.shape[1])
    if estimator.fit_intercept:
        x_mean, y_mean = weights @ X / weights.sum(), weights @ Y / weights.sum()
    Z, Y = X - x_mean, Y - y_mean
    if w is not None:  # weights are scaled by convention, by a factor that counts rows of weight 0
        Q = Q * _scale(Q, Z, weights)
    if not _agrees(Q, Z, weights):
        if estimator.fit_intercept and _agrees(Q, X, weights):
            warnings.warn(
                "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix.", stacklevel=3
            )
            return None
        raise ValueError(
            f"Gram matrix passed to {name} as precompute did not pass validation: it is not XᵀX of the centred, "
            "weighted X given to fit; leave precompute at False."
        )
    weighted = Y * weights[:, None]
    squares = np.einsum("ij,ij->j", Y, weighted)
    return Products(Q, Z.T @ weighted, squares, float(weights.sum()), (x_mean, y_mean))


def _agrees(Q: np.ndarray, Z: np.ndarray, weights: np.ndarray) -> bool:
    """Whether the first rows of Q are those of ZᵀZ, to single precision."""
    right = _first_products(Z, weights)
    return np.allclose(Q[:2], right, rtol=1e-4, atol=1e-4 * max(float(np.abs(right).max()), 1e-300))


def _scale(Q: np.ndarray, Z: np.ndarray, weights: np.ndarray) -> float:
    """The positive factor that brings the first rows of Q closest to those of ZᵀZ; 1 where there is none."""
    right = _first_products(Z, weights)
    given, both = float(np.sum(Q[:2] ** 2)), float(np.sum(Q[:2] * right))
    return both / given if given > 0 and both > 0 else 1.0


def _first_products(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return Z[:, :2].T @ (Z * weights[:, None])
