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
    """Return the kernel with all noise left out; as many parameters in the same order.

    Parameters
    ----------
    kernel : Kernel
        A kernel, with or without `White` in it.

    Returns
    -------
    Kernel
        The same, each `White` of which is 0 everywhere.

    See Also
    --------
    White : The noise that is left out.

    Examples
    --------
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
    """Return Σᵢ wᵢ ∂k(xᵢ, xᵢ)/∂θ.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, n_features)
        Rows.
    weights : ndarray of shape (n,)
        The weight w of each row.

    Returns
    -------
    ndarray of shape (n_dims,)
        One sum for each entry of the kernel's `theta`.

    See Also
    --------
    pull_back : The same for a whole matrix of weights.

    Examples
    --------
    >>> pull_diagonal(White(0.5), np.zeros((3, 1)), np.ones(3))
    array([1.5])
    """
    if kernel.is_stationary():
        X, weights = X[:1], weights.sum()[None]
    found = np.zeros(kernel.n_dims)
    for lo in range(0, len(X), _TOGETHER):
        rows = X[lo : lo + _TOGETHER]
        found += kernel.pull(rows, rows, 0)[1](np.diag(weights[lo : lo + _TOGETHER]))
    return found
