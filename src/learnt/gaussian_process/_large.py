"""Gaussian processes of many rows: parameters by Titsias' bound, answers through inducing points or by conjugate
gradients. Memory is in proportion to rows × inducing points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.gaussian_process._bound import Sparse, bound_and_gradient, noise_of, projections, sparse_posterior
from learnt.gaussian_process._conjugate import solve, system
from learnt.gaussian_process._inducing import inducing_rows
from learnt.gaussian_process._likelihood import likelihood_and_gradient, on_blocks
from learnt.gaussian_process._search import best_theta
from learnt.kernels import Kernel, smooth_part

METHODS = ("exact", "inducing", "cg", "auto")
_EXACT_ROWS = 10_000  # up to which "auto" is exact
_FIRST = 1000  # rows on which parameters are learnt first, exactly
_ROUNDS = 3  # choices of inducing points, each with the parameters that the last has led to
_GAIN = 1e-4  # gain of the bound for each row, from which another round is worth while
_LITTLE = 1e-9  # of the variance of the function: noise that inducing points cannot work with
_FTOL = 1e-7
_QUERIES = 256
_A_STAND_IN, _STAND_INS = 32, 2000  # rows for each point of a preconditioner, and its most points


def method_of(model: Any, kernel: Any, X: Any) -> str:
    """Which method a fit takes; raises where it cannot take the one that is asked for."""
    able = isinstance(kernel, Kernel) and on_blocks(kernel, X)
    if model.method == "auto":
        return "inducing" if able and len(X) > _EXACT_ROWS else "exact"
    if model.method != "exact" and not able:
        raise ValueError(
            f"GaussianProcessRegressor(method={model.method!r}) takes NumPy rows and kernels of learnt.kernels or "
            f"learnt.gaussian_process.kernels that are computed in blocks; it got {type(X).__name__} rows and the "
            f"kernel {kernel}. Use method='exact' for others."
        )
    return model.method


def learn(model: Any, kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, random: Any) -> tuple[Any, Sparse]:
    """The kernel with its parameters, and the posterior through inducing points chosen with them."""
    variance, own = noise_of(kernel, smooth_part(kernel), X, noise)
    if (variance <= _LITTLE * own.max()).any():
        raise ValueError(
            f"GaussianProcessRegressor(method={model.method!r}) needs noise, and rows have a variance of "
            f"{variance.min():.3g} of it here: add WhiteKernel() to the kernel, or increase alpha."
        )
    if model.optimizer is not None and kernel.n_dims:
        kernel = _first_guess(model, kernel, X, y, noise, random)
    found = _posterior(kernel, X, y, noise, model.n_inducing, random)
    for _ in range(_ROUNDS if model.optimizer is not None and kernel.n_dims else 0):
        theta, value = best_theta(_objective(kernel, X, y, noise, found.Z), kernel, model.optimizer, 0, random, _FTOL)
        better = kernel.clone_with_theta(theta)
        again = _posterior(better, X, y, noise, model.n_inducing, random)
        gain = max(again.bound, -value) - found.bound
        kernel, found = better, again if again.bound >= -value else _through(better, X, y, noise, found.Z)
        if gain < _GAIN * len(X):
            break
    return kernel, found


def _first_guess(model: Any, kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, random: Any) -> Any:
    """Parameters from some rows, with all restarts: there the likelihood itself is quick."""
    if len(X) < 2 * _FIRST:
        return kernel
    some = np.sort(random.choice(len(X), _FIRST, replace=False))
    own = noise if np.ndim(noise) == 0 else noise[some]
    rows, targets = X[some], y[some]

    def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
        value, gradient = likelihood_and_gradient(kernel.clone_with_theta(theta), rows, targets, own)
        return (-value, -gradient) if eval_gradient else -value

    theta, _ = best_theta(objective, kernel, model.optimizer, model.n_restarts_optimizer, random, _FTOL)
    return kernel.clone_with_theta(theta)


def _objective(kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, Z: np.ndarray) -> Any:
    def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
        value, gradient = bound_and_gradient(kernel.clone_with_theta(theta), X, y, noise, Z)
        return (-value, -gradient) if eval_gradient else -value

    return objective


def _posterior(kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, m: int, random: Any) -> Sparse:
    return _through(kernel, X, y, noise, inducing_rows(smooth_part(kernel), X, m, random))


def _through(kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, Z: np.ndarray) -> Sparse:
    found = sparse_posterior(kernel, X, y, noise, Z)
    if found is None:
        raise np.linalg.LinAlgError(
            f"The kernel, {kernel}, is not returning a positive definite matrix; learnt.kernels.is_kernel shows why."
        )
    return found


def finer(kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, found: Sparse, random: Any) -> Sparse:
    """A posterior that preconditions the system of many rows: a product with it costs n², and more points save some."""
    m = min(len(X) // _A_STAND_IN, _STAND_INS)
    return _posterior(kernel, X, y, noise, m, random) if m > len(found.Z) else found


def exact_weights(kernel: Any, X: np.ndarray, y: np.ndarray, noise: Any, found: Sparse, tol: float) -> np.ndarray:
    """(k(X, X) + noise)⁻¹y by conjugate gradients."""
    product, precondition = _system(kernel, X, noise, found)
    V, _ = solve(product, precondition, y[:, None] if y.ndim == 1 else y, tol)
    return V[:, 0] if y.ndim == 1 else V


def _system(kernel: Any, X: np.ndarray, noise: Any, found: Sparse) -> Any:
    smooth = smooth_part(kernel)
    return system(smooth, X, noise_of(kernel, smooth, X, noise)[0], found)


def explained(model: Any, X: np.ndarray, found: Sparse, noise: Any, full: bool) -> np.ndarray:
    """The reduction of the prior variance at X, or of its `full` covariance, by the training rows.

    By conjugate gradients this is kᵀv + vᵀr with v ≈ K⁻¹k and r = k − Kv: never more than kᵀK⁻¹k, off by the square of
    the error of v.
    """
    kernel = model.kernel_
    if model.method_ == "inducing":
        V, W = projections(kernel, found, X)
        return V @ V.T - W @ W.T if full else np.einsum("ij,ij->i", V, V) - np.einsum("ij,ij->i", W, W)
    product, precondition = _system(kernel, model.X_train_, noise, found)
    parts = []
    for lo in range(0, len(X), len(X) if full else _QUERIES):
        B = kernel(model.X_train_, X if full else X[lo : lo + _QUERIES])
        V, R = solve(product, precondition, B, model.cg_tol)
        parts.append(B.T @ V + V.T @ R if full else np.einsum("ij,ij->j", B + R, V))
    return parts[0] if full else np.concatenate(parts)
