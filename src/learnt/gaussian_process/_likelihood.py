"""log p(y | X, θ) = −½ yᵀK⁻¹y − ½ log det K − n/2 log 2π with K = k(X, X) + noise, summed over the columns of y.

Its gradient is ½ tr((ααᵀ − K⁻¹) ∂K/∂θ) with α = K⁻¹y (Rasmussen and Williams, 2.30 and 5.9). NumPy rows are computed in
blocks of the lower triangle on all threads and no derivative of K is ever whole; elsewhere the Array API is used.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.threads import single_blas
from learnt.kernels import lower_gram, pull_back
from learnt.linalg.any_array import cholesky_anywhere, solve_lower, solve_upper
from learnt.linalg.tiles import cholesky_in_place, lower_inverse

_JITTER = (0.0, 1e-10, 1e-8, 1e-6)


class Posterior(NamedTuple):
    """L with K = LLᵀ, α = K⁻¹y, the likelihood, and what was added to the diagonal of K for its sake."""

    L: Any
    alpha: Any
    likelihood: float
    added: float


def on_blocks(kernel: Any, X: Any) -> bool:
    """Whether the matrix is computed in blocks: NumPy rows, and a kernel that can."""
    return is_numpy(X) and X.dtype.kind == "f" and getattr(kernel, "in_blocks", False)


def factor(kernel: Any, X: Any, noise: Any) -> tuple[Any, float]:
    """The lower Cholesky factor of k(X, X) + noise, and what had to be added to the noise.

    Repeated rows without noise leave a matrix that is singular but for rounding: 1e-10 to 1e-6 of its mean diagonal
    make it positive. None where even that does not.
    """
    added = 0.0
    for share in _JITTER:
        if share:
            diagonal = kernel.diag(X)
            added = share * max(float(namespace(diagonal).mean(diagonal)), np.finfo(float).tiny)
        L = _factor(kernel, X, noise + added)
        if L is not None:
            return L, added
    return None, added


def _factor(kernel: Any, X: Any, noise: Any) -> Any:
    if on_blocks(kernel, X):
        K = lower_gram(kernel, X)
        K.ravel()[:: len(K) + 1] += noise
        return K if cholesky_in_place(K) else None
    K = kernel(X)
    if is_numpy(K):
        K = np.array(K, dtype=np.float64)
        K.ravel()[:: len(K) + 1] += noise
        return K if cholesky_in_place(K) else None
    return cholesky_anywhere(K, noise)


def solve(L: Any, y: Any) -> Any:
    """(LLᵀ)⁻¹y."""
    columns = y[:, None] if y.ndim == 1 else y
    with single_blas():
        found = solve_upper(L.T, solve_lower(L, columns))
    return found[:, 0] if y.ndim == 1 else found


def posterior(kernel: Any, X: Any, y: Any, noise: Any) -> Posterior | None:
    """What predictions need; None where the matrix is not positive definite."""
    L, added = factor(kernel, X, noise)
    if L is None:
        return None
    alpha = solve(L, y)
    return Posterior(L, alpha, _value(L, alpha, y), added)


def _value(L: Any, alpha: Any, y: Any) -> float:
    xp = namespace(L)
    n, outputs = L.shape[0], 1 if y.ndim == 1 else y.shape[1]
    half_log_det = float(xp.sum(xp.log(xp.linalg.diagonal(L))))
    return -0.5 * float(xp.sum(y * alpha)) - outputs * (half_log_det + 0.5 * n * math.log(2.0 * math.pi))


def likelihood_and_gradient(kernel: Any, X: Any, y: Any, noise: Any) -> tuple[float, np.ndarray]:
    """The likelihood and its gradient in `kernel.theta`; −∞ where the matrix is not positive definite."""
    found = posterior(kernel, X, y, noise)
    if found is None:
        return -math.inf, np.zeros(kernel.n_dims)
    L, alpha, value, _ = found
    columns = alpha[:, None] if alpha.ndim == 1 else alpha
    outputs = columns.shape[1]
    if on_blocks(kernel, X):
        W = lower_inverse(L)
        W *= -0.5 * outputs
        for column in columns.T:  # one rank at a time: the full product would be another matrix
            _add_outer(W, 0.5 * column, column)
        return value, pull_back(kernel, X, W)
    xp = namespace(L)
    if xp is np:
        inverse = lower_inverse(L)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
    else:
        half = solve_lower(L, xp.eye(L.shape[0], dtype=L.dtype, device=L.device))
        inverse = half.T @ half
    W = 0.5 * (columns @ columns.T - outputs * inverse)
    return value, weighted_gradients(kernel, X, W)


def weighted_gradients(kernel: Any, X: Any, W: Any) -> np.ndarray:
    """Σᵢⱼ Wᵢⱼ ∂K/∂θ of any kernel; W is symmetric."""
    if not kernel.n_dims:
        return np.zeros(0)
    if on_blocks(kernel, X):
        return pull_back(kernel, X, W)
    if hasattr(kernel, "pull"):
        return np.array(kernel.pull(X, X, 0)[1](W))
    _, gradient = kernel(X, eval_gradient=True)
    return np.einsum("ij,ijk->k", W, gradient)


def _add_outer(W: np.ndarray, left: np.ndarray, right: np.ndarray, step: int = 256) -> None:
    for lo in range(0, len(W), step):
        W[lo : lo + step] += left[lo : lo + step, None] * right
