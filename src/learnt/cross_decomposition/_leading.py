"""The first pair of weights (w, v) of two tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

_LOSSY = 1e6 * float(np.finfo(np.float64).eps)  # of the largest singular value: directions below do not count


class Pair(NamedTuple):
    """Weights of X and of Y, and how many steps they took."""

    w: np.ndarray
    v: np.ndarray
    n_iter: int
    converged: bool


def by_power(A: np.ndarray, B: np.ndarray, start: int, max_iter: int, tol: float) -> Pair | None:
    """Repeat w ← A v / ‖A v‖, v ← Bᵀ w / ‖Bᵀ w‖ until ‖w − its last value‖² < tol, from v = e_start.

    With A = B = XᵀY these are its first singular vectors; with A = X⁺Y and B = (Y⁺X)ᵀ the first canonical pair. One
    step is all there is for one column of Y. None: the tables have nothing in common.
    """
    v: np.ndarray = np.zeros(A.shape[1])
    v[start] = 1.0
    before: np.ndarray | None = None
    for n_iter in range(1, max_iter + 1):
        w, some = _unit(A @ v)
        v, too = _unit(w @ B)
        if not (some and too):
            return None
        if A.shape[1] == 1 or (before is not None and (gap := w - before) @ gap < tol):
            return Pair(w, v, n_iter, True)
        before = w
    return Pair(w, v, max_iter, False)


def by_svd(C: np.ndarray) -> Pair:
    """The first singular vectors of XᵀY."""
    U, _, Vt = linalg.svd(C, full_matrices=False, check_finite=False)
    return Pair(U[:, 0].copy(), Vt[0].copy(), 0, True)


def pseudo_inverse(Z: np.ndarray) -> np.ndarray:
    """Z⁺ without the directions of Z that are nearly 0."""
    U, s, Vt = linalg.svd(Z, full_matrices=False, check_finite=False)
    rank = int((s > _LOSSY * s[0]).sum())
    return (Vt[:rank].T / s[:rank]) @ U[:, :rank].T


def _unit(x: np.ndarray) -> tuple[np.ndarray, bool]:
    """x with length 1, and whether it has a direction at all."""
    length = np.linalg.norm(x)
    return (x / length, True) if length > 0 else (x, False)
