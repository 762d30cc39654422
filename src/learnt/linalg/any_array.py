"""Cholesky factors and triangular systems in every array library, since the Array API has no functions for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import full_precision, is_numpy, like, namespace


def solve_lower(L: Any, B: Any) -> Any:
    """L⁻¹B for a lower triangular L.

    >>> import numpy as np
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[2.0], [3.0]])).tolist()
    [[1.0], [1.0]]
    """
    return _solve(L, B, lower=True)


def solve_upper(U: Any, B: Any) -> Any:
    """U⁻¹B for an upper triangular U."""
    return _solve(U, B, lower=False)


def _solve(T: Any, B: Any, lower: bool) -> Any:
    root = type(T).__module__.partition(".")[0]
    if is_numpy(T):
        from scipy.linalg import solve_triangular

        return solve_triangular(T, B, lower=lower, check_finite=False)
    if root == "torch":
        import torch

        return torch.linalg.solve_triangular(T, B, upper=not lower)
    if root in ("jax", "jaxlib"):
        from jax.scipy.linalg import solve_triangular as solve_on_device

        return solve_on_device(T, B, lower=lower)
    if root == "cupy":
        from cupyx.scipy.linalg import solve_triangular as solve_on_gpu

        return solve_on_gpu(T, B, lower=lower)
    return namespace(T).linalg.solve(T, B)


def cholesky_anywhere(K: Any, noise: Any) -> Any:
    """The lower Cholesky factor of K + diag(noise); None where that is not positive definite.

    Matrices of torch and CuPy are overwritten by the factor, which saves a second matrix.
    """
    root = type(K).__module__.partition(".")[0]
    noise = like(np.asarray(noise, dtype=np.float64), K)
    if root in ("torch", "cupy"):
        K = K.detach() if root == "torch" else K
        diagonal = K.diagonal()  # a view, for any memory order
        diagonal += noise
        return _in_tiles(K)
    xp = namespace(K)
    if root in ("jax", "jaxlib"):
        places = xp.arange(K.shape[0])
        K = K.at[places, places].add(noise)  # a copy: the caller keeps the other one
    else:
        K = K + xp.eye(K.shape[0], dtype=K.dtype, device=K.device) * noise
    with full_precision(K):
        L = _corner(K)
    return L if L is not None and bool(xp.all(xp.isfinite(xp.linalg.diagonal(L)))) else None


_TILE = 2048


def _in_tiles(K: Any) -> Any:
    """Overwrite K by L tile by tile: nearly all of the work is matrix products."""
    xp, n = namespace(K), K.shape[0]
    for lo in range(0, n, _TILE):
        hi = min(lo + _TILE, n)
        corner = _corner(K[lo:hi, lo:hi])
        if corner is None or not bool(xp.isfinite(corner[-1, -1])):
            return None
        K[lo:hi, lo:hi] = corner
        if hi < n:
            K[hi:, lo:hi] = solve_lower(corner, K[hi:, lo:hi].T).T
        for first in range(hi, n, _TILE):  # the lower triangle of what is left
            last = min(first + _TILE, n)
            K[first:, first:last] -= K[first:, lo:hi] @ K[first:last, lo:hi].T
        K[lo:hi, hi:] = 0.0
    return K


def _corner(K: Any) -> Any:
    """The factor of a small matrix by its own library; None where there is none."""
    try:
        return namespace(K).linalg.cholesky(K)
    except Exception as error:  # every library has its own exception; anything else is raised again
        if "linalg" not in f"{type(error).__module__}.{type(error).__name__}".lower():
            raise
        return None
