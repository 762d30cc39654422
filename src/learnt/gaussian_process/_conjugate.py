"""(k(X, X) + noise)⁻¹B by conjugate gradients, without the matrix: its products with columns, block by block.

The preconditioner is Q + noise, the matrix approximated by inducing points (a partial, pivoted Cholesky factor), whose
inverse is known from Titsias' bound: with U = D^(−½)K_fz L⁻ᵀLB⁻ᵀ and D the noise, it is D^(−½)(I − UUᵀ)D^(−½).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.progress import task
from learnt.engine.threads import for_blocks, single_blas
from learnt.gaussian_process._bound import Sparse
from learnt.kernels import own_gram_times
from learnt.linalg.tiles import triangle_solve

_BLOCK = 2048
_MOST = 1000  # iterations


def system(smooth: Any, X: np.ndarray, noise: np.ndarray, found: Sparse) -> tuple[Callable, Callable]:
    """The matrix and its preconditioner, each as a function of columns."""
    root = np.sqrt(noise)[:, None]
    U = np.empty((len(X), len(found.Z)))

    def fill(lo: int, hi: int) -> None:
        A = smooth.block(X[lo:hi], found.Z, None)
        A /= root[lo:hi]
        triangle_solve(found.L, A, transposed=True)
        triangle_solve(found.LB, A, transposed=True)
        U[lo:hi] = A

    for_blocks(fill, len(X), grain=_BLOCK)

    def product(V: np.ndarray) -> np.ndarray:
        return own_gram_times(smooth, X, V) + noise[:, None] * V

    def precondition(R: np.ndarray) -> np.ndarray:
        scaled = R / root
        with single_blas():
            scaled -= U @ (U.T @ scaled)
        scaled /= root
        return scaled

    return product, precondition


def solve(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    B: np.ndarray,
    tol: float,
    max_iter: int = _MOST,
) -> tuple[np.ndarray, np.ndarray]:
    """Columns V with ‖B − AV‖ ≤ tol ‖B‖ for each, and B − AV.

    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> solve(lambda V: A @ V, lambda R: R, np.array([[3.0], [4.0]]), 1e-12)[0].round(6).tolist()
    [[1.0], [1.0]]
    """
    V, R = np.zeros_like(B), B.copy()
    goal = tol * np.sqrt((B * B).sum(axis=0))
    open_columns = np.flatnonzero(np.sqrt((R * R).sum(axis=0)) > goal)
    rest, Z = R[:, open_columns], precondition(R[:, open_columns])
    P, energy = Z.copy(), (rest * Z).sum(axis=0)
    with task("conjugate gradients") as bar:
        for _ in range(max_iter):
            if not open_columns.size:
                break
            AP = product(P)
            step = energy / (P * AP).sum(axis=0)
            V[:, open_columns] += step * P
            rest -= step * AP
            R[:, open_columns] = rest
            length = np.sqrt((rest * rest).sum(axis=0))
            bar.advance(note=f"residual {(length / goal[open_columns]).max() * tol:.1e}")
            going = length > goal[open_columns]
            open_columns, rest, P, before = open_columns[going], rest[:, going], P[:, going], energy[going]
            if open_columns.size:
                Z = precondition(rest)
                energy = (rest * Z).sum(axis=0)
                P = Z + energy / before * P
    if open_columns.size:
        worst = float((np.sqrt((rest * rest).sum(axis=0)) / goal[open_columns]).max() * tol)
        warnings.warn(
            f"Conjugate gradients ended after {max_iter} iterations with a relative residual of {worst:.1e} instead of "
            f"{tol:.1e}; take more inducing points (n_inducing), a larger cg_tol, or more noise.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return V, R
