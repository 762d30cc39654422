"""Joint log densities of rows and classes, log p(x, c) = log π_c − ½ Σ_j [log 2πσ²_cj + (x_j − θ_cj)² / σ²_cj].

The squares are taken of differences and never multiplied out: far from the origin, or with tiny variances, the
expanded form loses all its digits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import namespace
from learnt.engine.kernel import kernel
from learnt.engine.rows.blocks import Block, kernel_matrix


class Normals(NamedTuple):
    """K normal densities with diagonal covariance: means, precisions (K × d), and all that does not depend on x."""

    mean: Any
    precision: Any
    constant: Any


def normals(prior: Any, mean: Any, variance: Any) -> Normals:
    xp = namespace(mean)
    with np.errstate(divide="ignore"):  # a class without rows has prior 0 and log prior −∞
        log_prior = xp.log(prior)
    constant = log_prior - 0.5 * xp.sum(xp.log(2.0 * math.pi * variance), axis=1)
    return Normals(mean, 1.0 / variance, constant)


def joint_log_density(block: Block, density: Normals) -> Any:
    """log p(x, c) of each row and class (n × K), in any array library."""
    xp = namespace(block.X)
    columns = []
    for k in range(density.mean.shape[0]):
        z = block.X - density.mean[k, :]
        columns.append(density.constant[k] - 0.5 * ((z * z) @ density.precision[k, :]))
    return xp.stack(columns, axis=1)


def compiled_joint_log_density(block: Block, density: Normals) -> np.ndarray:
    """The same in one pass over a NumPy block."""
    out = np.empty((block.X.shape[0], density.mean.shape[0]))
    fill_joint_log_density(kernel_matrix(block.X), *density, out)
    return out


def normal_contributions(X: np.ndarray, prior: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Shapley values of log p(x, c), (n, K, d + 1), the last being the expectation; of two classes their difference.

    The expectation of (x_j − θ_cj)² in the mixture is  Σ_k π_k [σ²_kj + (θ_kj − θ_cj)²].

    >>> two = np.array([[0.0], [2.0]])
    >>> normal_contributions(np.array([[2.0]]), np.array([0.5, 0.5]), two, np.ones((2, 1)))
    array([[2., 0.]])
    """
    constant = normals(prior, mean, variance).constant
    parts = []
    for k in range(len(mean)):
        expected = prior @ (variance + (mean - mean[k]) ** 2)
        values = -0.5 * ((X - mean[k]) ** 2 - expected) / variance[k]
        base = np.full((len(X), 1), constant[k] - 0.5 * (expected / variance[k]).sum())
        parts.append(np.concatenate([values, base], axis=1))
    return parts[1] - parts[0] if len(parts) == 2 else np.stack(parts, axis=1)


@kernel(reassociate=True)
def fill_joint_log_density(X, mean, precision, constant, out):
    n_classes, n_features = mean.shape
    for i in range(X.shape[0]):
        for k in range(n_classes):
            s = 0.0
            for j in range(n_features):
                z = X[i, j] - mean[k, j]
                s += z * z * precision[k, j]
            out[i, k] = constant[k] - 0.5 * s
