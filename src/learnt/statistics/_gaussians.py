"""Gaussian densities of rows, one or several of them, however their covariances are kept.

    log N(x; μ, Σ) = −½ d log 2π + log |F| − ½ ‖(x − μ) F‖²,      Σ⁻¹ = F Fᵀ

    kind          covariances and factors F
    "full"        (K, d, d)     a matrix for each
    "tied"        (d, d)        one matrix for all
    "diag"        (K, d)        variances; 1 / σ
    "spherical"   (K,)          one variance for each; 1 / σ

The squares are taken of differences and never multiplied out, so that no digits are lost far from the origin.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from learnt.engine.arrays import namespace
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import on_host, to_device_of_as_double
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._quadratic_forms import full_log_densities

_COMPILED_PRODUCTS = 1 << 20  # products in a block from which compiled code pays
_MOST_COLUMNS = 64  # a factor with more does not stay in the nearest cache, and products are better at it
COVARIANCES = ("full", "tied", "diag", "spherical")


class Gaussians(NamedTuple):
    """K densities: the kind of covariance, means (K, d), factors, and all that does not depend on x (K,)."""

    kind: str
    mean: Any
    factor: Any
    constant: Any

    def to_device_of(self, X: Any) -> Gaussians:
        """The same numbers where the rows X are, in float64."""
        return self._replace(
            **{name: to_device_of_as_double(getattr(self, name), X) for name in ("mean", "factor", "constant")}
        )


def gaussians(kind: str, mean: np.ndarray, factor: np.ndarray, log_weight: Any = 0.0) -> Gaussians:
    """The densities with these means and factors, each times exp(log_weight)."""
    n, d = mean.shape
    constant = log_weight + log_determinants(kind, factor, d) - 0.5 * d * math.log(2.0 * math.pi)
    return Gaussians(kind, mean, factor, constant + np.zeros(n))


def inverse_factors(kind: str, covariance: np.ndarray) -> np.ndarray:
    """F of each covariance; LinAlgError where one is not positive definite."""
    if kind in ("diag", "spherical"):
        if not (covariance > 0).all():
            raise np.linalg.LinAlgError("A variance is not positive.")
        return 1.0 / np.sqrt(covariance)
    if kind == "tied":
        return _inverse_factor(covariance)
    return np.stack([_inverse_factor(C) for C in covariance])


def _inverse_factor(covariance: np.ndarray) -> np.ndarray:
    root = np.linalg.cholesky(covariance)
    return solve_triangular(root, np.eye(len(root)), lower=True).T


def log_determinants(kind: str, factor: np.ndarray, d: int) -> Any:
    """log |F| of each factor: minus half the logarithm of the covariance's determinant."""
    if kind == "full":
        return np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    if kind == "tied":
        return np.log(np.diagonal(factor)).sum()
    return np.log(factor).sum(axis=1) if kind == "diag" else d * np.log(factor)


def log_densities(block: Block, densities: Gaussians) -> Any:
    """The logarithm of each density at each row of a block, (rows, K), in any array library."""
    kind, mean, factor, constant = densities
    X = widen(block.X)
    if kind == "full" and on_host(X) and _many_small_products(X, factor) and compilation_enabled():
        return full_log_densities(X, mean, factor, constant)
    xp = namespace(X)
    if kind == "tied":  # all rows once in units of the covariance
        centre = xp.mean(mean, axis=0)
        X, mean = (X - centre) @ factor, (mean - centre) @ factor
    columns = []
    for k in range(mean.shape[0]):
        Z = X - mean[k, :]
        if kind == "full":
            Z = Z @ factor[k, :, :]
        elif kind == "diag":
            Z = Z * factor[k, :]
        elif kind == "spherical":
            Z = Z * factor[k]
        columns.append(constant[k] - 0.5 * xp.sum(Z * Z, axis=1))
    return xp.stack(columns, axis=1)


def _many_small_products(X: np.ndarray, factor: np.ndarray) -> bool:
    """Whether compiled code, which takes half the operations of a matrix product, is quicker than that."""
    small = X.shape[1] <= _MOST_COLUMNS and X.shape[0] * factor.size >= _COMPILED_PRODUCTS
    return small and not np.tril(factor, -1).any()


def log_sum_exp(values: Any) -> Any:
    """log Σ_k exp(values[:, k]), −∞ where all are −∞."""
    xp = namespace(values)
    top = xp.max(values, axis=1)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    with np.errstate(divide="ignore"):
        return top + xp.log(xp.sum(xp.exp(values - top[:, None]), axis=1))
