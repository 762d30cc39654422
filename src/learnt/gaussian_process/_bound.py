"""Titsias' bound: a Gaussian process that depends on its rows through a few inducing points Z, without an n × n matrix.

With Q = K_fz K_zz⁻¹ K_zf and noise variances s of the rows,

    log p(y) ≥ F = log N(y; 0, Q + diag(s)) − ½ Σᵢ (kᵢᵢ − qᵢᵢ)/sᵢ,

equal where Z are all rows. Everything is a sum over blocks of rows of a = L⁻¹k(Z, x)/√s with K_zz = LLᵀ:
B = I + Σ aaᵀ and Σ ay/√s. The gradient is such a sum too: weights of ∂k(Z, x)/∂θ are passed down the kernel's
expression tree.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from learnt.engine.threads import run_tasks, single_blas
from learnt.kernels import pull_back, pull_diagonal, smooth_part
from learnt.linalg.any_array import solve_lower, solve_upper
from learnt.linalg.tiles import solve_rows, triangle_solve

_CELLS = 1 << 19  # of a block of k(x, Z)
_JITTER = 1e-10  # of the largest entry of the diagonal, on K_zz; more where that is not enough


class Sparse(NamedTuple):
    """A posterior through inducing points.

    The mean is k(x, Z) `alpha`; the variance k(x, x) − ‖L⁻¹k(Z, x)‖² + ‖LB⁻¹L⁻¹k(Z, x)‖². `bound` is F.
    """

    Z: np.ndarray
    L: np.ndarray
    LB: np.ndarray
    u: np.ndarray
    alpha: np.ndarray
    bound: float


def noise_of(kernel: Any, smooth: Any, X: np.ndarray, alpha: Any) -> tuple[np.ndarray, np.ndarray]:
    """Noise variance of every row, and the smooth kernel's own variance there."""
    own = smooth.diag(X)
    return kernel.diag(X) - own + alpha, own


def sparse_posterior(kernel: Any, X: np.ndarray, y: np.ndarray, alpha: Any, Z: np.ndarray) -> Sparse | None:
    """The posterior through Z and its bound; None where K_zz or the noise is not positive."""
    smooth = smooth_part(kernel)
    noise, own = noise_of(kernel, smooth, X, alpha)
    L = _factor(smooth, Z)
    if L is None or not (noise > 0).all():
        return None
    targets = y[:, None] if y.ndim == 1 else y
    outputs = targets.shape[1]

    def part(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
        unit = 1.0 / np.sqrt(noise[lo:hi])
        A = smooth.block(X[lo:hi], Z, None)
        A *= unit[:, None]
        triangle_solve(L, A, transposed=True)
        return A.T @ A, A.T @ (targets[lo:hi] * unit[:, None])

    B, projected = _summed(part, _blocks(len(X), len(Z)))
    explained = B.trace()
    B.ravel()[:: len(B) + 1] += 1.0
    with single_blas():
        LB = np.ascontiguousarray(lapack.dpotrf(B, lower=1, clean=1)[0])
        c = solve_lower(LB, projected)
        u = solve_upper(LB.T, c)
        weights = solve_upper(L.T, u)
    value = -0.5 * outputs * (len(X) * math.log(2.0 * math.pi) + np.log(noise).sum() + (own / noise).sum() - explained)
    value += -outputs * np.log(LB.diagonal()).sum() - 0.5 * ((targets**2 / noise[:, None]).sum() - (c * c).sum())
    return Sparse(Z, L, LB, u, weights[:, 0] if y.ndim == 1 else weights, float(value))


def bound_and_gradient(
    kernel: Any, X: np.ndarray, y: np.ndarray, alpha: Any, Z: np.ndarray
) -> tuple[float, np.ndarray]:
    """F and its gradient in `kernel.theta`; −∞ where there is no posterior."""
    found = sparse_posterior(kernel, X, y, alpha, Z)
    if found is None or not math.isfinite(found.bound):
        return -math.inf, np.zeros(kernel.n_dims)
    smooth = smooth_part(kernel)
    noise, own = noise_of(kernel, smooth, X, alpha)
    targets = y[:, None] if y.ndim == 1 else y
    outputs, m = targets.shape[1], len(Z)
    L, LB, u = found.L, found.LB, found.u
    with single_blas():
        half = solve_lower(LB, np.eye(m))
        inverse, B = half.T @ half, LB @ LB.T
        M = outputs * (np.eye(m) - inverse) - u @ u.T

    def part(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
        value, pulled = smooth.pull(X[lo:hi], Z, None)
        A = value().copy()
        triangle_solve(L, A, transposed=True)
        W = A @ M
        seen, s = targets[lo:hi], noise[lo:hi]
        missed = (seen * (seen - 2.0 * (A @ u))).sum(axis=1) - np.einsum("ij,ij->i", W, A)
        slope = 0.5 * ((missed + outputs * own[lo:hi]) / s - outputs) / s
        W += seen @ u.T
        W /= s[:, None]
        triangle_solve(L, W, transposed=False)
        return np.array(pulled(W)), slope

    parts = run_tasks([partial(part, lo, hi) for lo, hi in _blocks(len(X), m)])
    gradient = np.sum([found for found, _ in parts], axis=0)
    slope = np.concatenate([found for _, found in parts])
    # K_zz, whose jitter is taken as fixed
    with single_blas():
        G = outputs * (np.eye(m) - 0.5 * inverse - 0.5 * B) - 0.5 * u @ u.T
        W = solve_upper(L.T, solve_upper(L.T, G).T)
    gradient += pull_back(smooth, Z, np.ascontiguousarray(0.5 * (W + W.T)))
    # kᵢᵢ by itself, and as a part of the noise
    gradient += pull_diagonal(kernel, X, slope) - pull_diagonal(smooth, X, slope + 0.5 * outputs / noise)
    return found.bound, gradient


def projections(kernel: Any, found: Sparse, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows L⁻¹k(Z, x) and LB⁻¹L⁻¹k(Z, x) of every row."""
    V = solve_rows(found.L, np.ascontiguousarray(kernel(X, found.Z)))
    return V, solve_rows(found.LB, V.copy())


def _factor(smooth: Any, Z: np.ndarray) -> np.ndarray | None:
    """The factor of K_zz, with as much jitter on its diagonal as rounding needs."""
    with single_blas():
        K = smooth.block(Z, Z, 0)
        jitter = _JITTER * max(K.diagonal().max(), np.finfo(float).tiny)
        for _ in range(5):
            A = K.copy()
            A.ravel()[:: len(A) + 1] += jitter
            L, failed = lapack.dpotrf(A, lower=1, clean=1)
            if not failed and np.isfinite(L[-1, -1]):
                return np.ascontiguousarray(L)
            jitter *= 100.0
    return None


def _summed(part: Any, blocks: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Two sums over blocks, in eight partial sums, so that there are never more than eight matrices."""
    runs = [blocks[i::8] for i in range(min(8, len(blocks)))]

    def run(own: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        first, second = part(*own[0])
        for lo, hi in own[1:]:
            more = part(lo, hi)
            first += more[0]
            second += more[1]
        return first, second

    found = run_tasks([partial(run, own) for own in runs])
    first, second = found[0]
    for more in found[1:]:
        first += more[0]
        second += more[1]
    return first, second


def _blocks(n: int, m: int) -> list[tuple[int, int]]:
    step = max(64, _CELLS // max(m, 1))
    return [(lo, min(lo + step, n)) for lo in range(0, n, step)]
