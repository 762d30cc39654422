"""Gaussian log densities with full covariances in one pass over a NumPy block, compiled."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.rows.blocks import kernel_matrix


def full_log_densities(X: np.ndarray, mean: np.ndarray, factor: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """constant − ½ ‖(x − μ) F‖² of each row and density, F (K × d × d) upper triangular."""
    d = X.shape[1]
    rows = np.zeros((len(factor), -(-d // 4) * 4, d))  # of Fᵀ, and rows of 0 up to a multiple of 4
    rows[:, :d] = np.swapaxes(factor, 1, 2)
    out = np.empty((X.shape[0], len(mean)))
    fill_log_densities(kernel_matrix(X), np.ascontiguousarray(mean), rows, np.ascontiguousarray(constant), out)
    return out


@kernel(reassociate=True)
def fill_log_densities(X, mean, rows, constant, out):
    """Two rows of X and four of the factor at a time; past the end, the last row of X is used again."""
    n, d = X.shape
    z, v = np.empty(d), np.empty(d)
    for i in range(0, n, 2):
        other = min(i + 1, n - 1)
        for k in range(mean.shape[0]):
            for j in range(d):
                z[j] = X[i, j] - mean[k, j]
                v[j] = X[other, j] - mean[k, j]
            square, other_square = 0.0, 0.0
            for j in range(0, rows.shape[1], 4):
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
                for a in range(min(j + 4, d)):  # the factor is triangular: the rest of these rows is 0
                    f0, f1, f2, f3 = rows[k, j, a], rows[k, j + 1, a], rows[k, j + 2, a], rows[k, j + 3, a]
                    s0 += z[a] * f0
                    s1 += z[a] * f1
                    s2 += z[a] * f2
                    s3 += z[a] * f3
                    t0 += v[a] * f0
                    t1 += v[a] * f1
                    t2 += v[a] * f2
                    t3 += v[a] * f3
                square += (s0 * s0 + s1 * s1) + (s2 * s2 + s3 * s3)
                other_square += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
            out[i, k] = constant[k] - 0.5 * square
            out[other, k] = constant[k] - 0.5 * other_square
