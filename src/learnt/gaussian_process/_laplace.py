"""Laplace's approximation: the posterior of a latent function at labelled rows as a Gaussian about its mode.

p(y = 1 | f) = 1/(1 + e⁻ᶠ), f a Gaussian process. Newton finds the mode (Rasmussen and Williams, algorithm 3.1); with
B = I + W½KW½ = LLᵀ all is stable, whatever K is. The gradient of the likelihood (algorithm 5.1) is one weighted sum of
∂K/∂θ.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf, expit

from learnt.engine.threads import single_blas
from learnt.gaussian_process._likelihood import solve, weighted_gradients
from learnt.linalg.tiles import cholesky_in_place, lower_inverse, solve_rows

# The logistic function as a sum of error functions (Williams and Barber, 1998), whose Gaussian mean is known.
_SLOPES = np.array([0.41, 0.4, 0.37, 0.44, 0.39])[:, None]
_SHARES = np.array([-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654])[:, None]


class Mode(NamedTuple):
    """The latent function at its mode, its probabilities, W½, the factor of B, K⁻¹f and the likelihood."""

    latent: np.ndarray
    probability: np.ndarray
    root: np.ndarray
    L: np.ndarray
    weights: np.ndarray
    likelihood: float


def find_mode(K: np.ndarray, y: np.ndarray, max_iter: int, start: np.ndarray | None = None) -> Mode | None:
    """The mode for labels of 0 and 1, from `start` or from 0; None where B has no factor, as K is no kernel matrix."""
    f = np.zeros(len(y)) if start is None or len(start) != len(y) else start
    best = -math.inf
    with single_blas():
        for _ in range(max_iter):
            p = expit(f)
            root = np.sqrt(p * (1.0 - p))
            L = root[:, None] * K
            L *= root
            L.ravel()[:: len(L) + 1] += 1.0
            if not cholesky_in_place(L):
                return None
            b = root**2 * f + (y - p)
            a = b - root * solve(L, root * (K @ b))
            f = K @ a
            value = float(-0.5 * a @ f - np.logaddexp(0.0, -(2.0 * y - 1.0) * f).sum() - np.log(L.diagonal()).sum())
            if value - best < 1e-10:
                break
            best = value
    return Mode(f, p, root, np.tril(L), a, value)


def likelihood_gradient(kernel: Any, X: Any, K: np.ndarray, y: np.ndarray, mode: Mode) -> np.ndarray:
    """The gradient of the approximate log p(y | X, θ) in θ."""
    R = lower_inverse(mode.L)
    R = np.tril(R) + np.tril(R, -1).T
    R *= mode.root[:, None]
    R *= mode.root
    p = mode.probability
    C = solve_rows(mode.L, np.ascontiguousarray(K * mode.root))  # rows are columns of L⁻¹W½K
    third = -0.5 * (K.diagonal() - np.einsum("ij,ij->i", C, C)) * p * (1.0 - p) * (1.0 - 2.0 * p)
    with single_blas():
        u = third - R @ (K @ third)
    W = np.multiply.outer(mode.weights, mode.weights)
    W -= R
    W *= 0.5
    cross = 0.5 * np.multiply.outer(u, y - p)
    W += cross
    W += cross.T
    return weighted_gradients(kernel, X, W)


def mean_probability(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E[1/(1 + e⁻ᶠ)] for f of this mean and variance."""
    alpha = 1.0 / (2.0 * variance)
    integrals = erf(_SLOPES * mean * np.sqrt(alpha / (alpha + _SLOPES**2))) / 2.0
    return (_SHARES * integrals).sum(axis=0) + 0.5 * _SHARES.sum()
