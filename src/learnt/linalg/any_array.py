"""Triangular systems in every array library, where the Array API has no name for them."""

from __future__ import annotations

from typing import Any

from learnt.engine.arrays import is_numpy, namespace


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
