"""log p(y | X, θ) = −½ yᵀK⁻¹y − ½ log det K − n/2 log 2π with K = k(X, X) + noise, summed over the columns of y.

Its gradient is ½ tr((ααᵀ − K⁻¹) ∂K/∂θ) with α = K⁻¹y (Rasmussen and Williams, 2.30 and 5.9). NumPy rows are computed in
blocks of the lower triangle on all threads and no derivative of K is ever whole; elsewhere the Array API is asked.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import is_numpy, like, namespace, to_numpy
from learnt.engine.threads import single_blas
from learnt.kernels import lower_gram, pull_back
from learnt.linalg.any_array import solve_lower, solve_upper
from learnt.linalg.tiles import cholesky_in_place, lower_inverse


class Posterior(NamedTuple):
    """L with K = LLᵀ, α = K⁻¹y, and the likelihood."""

    L: Any
    alpha: Any
    likelihood: float


def on_blocks(kernel: Any, X: Any) -> bool:
    """Whether the matrix is computed in blocks: NumPy rows, and a kernel that can."""
    return is_numpy(X) and X.dtype.kind == "f" and getattr(kernel, "in_blocks", False)


def factor(kernel: Any, X: Any, noise: Any) -> Any:
    """The lower Cholesky factor of k(X, X) + noise; None where that is not positive definite."""
    if on_blocks(kernel, X):
        K = lower_gram(kernel, X)
        K.ravel()[:: len(K) + 1] += noise
        return K if cholesky_in_place(K) else None
    K = kernel(X)
    xp = namespace(K)
    if xp is np:
        K = np.array(K, dtype=np.float64)
        K.ravel()[:: len(K) + 1] += noise
        return K if cholesky_in_place(K) else None
    K = K + xp.eye(K.shape[0], dtype=K.dtype, device=K.device) * like(to_numpy(np.asarray(noise)), K)
    try:
        L = xp.linalg.cholesky(K)
    except Exception as error:  # every library has its own; anything else shows itself again
        if "linalg" not in f"{type(error).__module__}.{type(error).__name__}".lower():
            raise
        return None
    return L if bool(xp.all(xp.isfinite(L))) else None


def solve(L: Any, y: Any) -> Any:
    """(LLᵀ)⁻¹y."""
    columns = y[:, None] if y.ndim == 1 else y
    with single_blas():
        found = solve_upper(L.T, solve_lower(L, columns))
    return found[:, 0] if y.ndim == 1 else found


def posterior(kernel: Any, X: Any, y: Any, noise: Any) -> Posterior | None:
    """What predictions need; None where the matrix is not positive definite."""
    L = factor(kernel, X, noise)
    if L is None:
        return None
    alpha = solve(L, y)
    return Posterior(L, alpha, _value(L, alpha, y))


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
    L, alpha, value = found
    columns = alpha[:, None] if alpha.ndim == 1 else alpha
    outputs = columns.shape[1]
    if on_blocks(kernel, X):
        W = lower_inverse(L)
        W *= -0.5 * outputs
        for column in columns.T:  # one rank at a time: the product as a whole would be another matrix
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
    if hasattr(kernel, "terms"):
        xp = namespace(W)
        _, terms = kernel.terms(X, X, 0)
        return np.array([float(xp.sum(W * term())) for term in terms])
    _, gradient = kernel(X, eval_gradient=True)
    return np.einsum("ij,ijk->k", W, gradient)


def _add_outer(W: np.ndarray, left: np.ndarray, right: np.ndarray, step: int = 256) -> None:
    for lo in range(0, len(W), step):
        W[lo : lo + step] += left[lo : lo + step, None] * right
