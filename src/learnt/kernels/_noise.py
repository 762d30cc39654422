"""A kernel as a smooth part and noise:  k(x, z) = s(x, z) + noise(x)·[x is z].

Approximations of large matrices see rows against other rows, where `White` is 0; what it adds for a row paired with
itself is a diagonal. `smooth_part` is the kernel with every `White` silent: the same parameters, the same formula.
"""

from __future__ import annotations

import numpy as np

from learnt.kernels._algebra import Composed
from learnt.kernels._base import Kernel
from learnt.kernels._constant import Silent, White

_TOGETHER = 16  # rows whose diagonal is taken from one small block


def smooth_part(kernel: Kernel) -> Kernel:
    """The kernel with all noise left out; as many parameters in the same order.

    >>> from learnt.kernels import RBF
    >>> (smooth_part(2 * RBF(1.0) + White(0.5))([[0.0], [0.0]])).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    if isinstance(kernel, White):
        return Silent(kernel.noise_level, kernel.noise_level_bounds)
    if not isinstance(kernel, Composed):
        return kernel
    parts = {name: smooth_part(k) for name, k in kernel._kernels()}
    return kernel.with_params(**parts)


def pull_diagonal(kernel: Kernel, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σᵢ wᵢ ∂k(xᵢ, xᵢ)/∂θ."""
    if kernel.is_stationary():
        X, weights = X[:1], weights.sum()[None]
    found = np.zeros(kernel.n_dims)
    for lo in range(0, len(X), _TOGETHER):
        rows = X[lo : lo + _TOGETHER]
        found += kernel.pull(rows, rows, 0)[1](np.diag(weights[lo : lo + _TOGETHER]))
    return found
