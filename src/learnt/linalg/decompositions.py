"""NumPy's decompositions, interruptible by Ctrl-C: LAPACK itself cannot be stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.interrupts import abandonable, check_stopped
from learnt.engine.matrices import Route, route

_PANEL = 256  # columns of a step of QR
_SECONDS = 5e8  # entries times the smaller side: from about here on a decomposition takes tenths of a second


def eigh(A: np.ndarray) -> Any:
    """Eigenvalues, rising, and eigenvectors of a symmetric matrix.

    >>> eigh(np.diag([3.0, 1.0]))[0].tolist()
    [1.0, 3.0]
    """
    return _interruptible(A, lambda: np.linalg.eigh(A))


def svd(A: np.ndarray, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """U, s, Vᵀ with A = U diag(s) Vᵀ, or s alone.

    >>> svd(np.diag([3.0, 4.0]), compute_uv=False).tolist()
    [4.0, 3.0]
    """
    if not compute_uv:
        return _interruptible(A, lambda: np.linalg.svd(A, compute_uv=False))
    return _interruptible(A, lambda: np.linalg.svd(A, full_matrices=full_matrices))


def triangle(A: Any) -> np.ndarray:
    """R of A = QR, where A lies; many columns are taken in panels, between which work on the pool can be stopped.

    >>> abs(triangle(np.array([[3.0], [4.0]]))).round(12).tolist()
    [[5.0]]
    """
    if route(A) is Route.DEVICE:
        return to_numpy(namespace(A).linalg.qr(A)[1])
    if not _long(A):
        found: np.ndarray = np.linalg.qr(A, mode="r")  # type: ignore[assignment]
        return found
    R = np.array(A, dtype=np.float64, order="F")
    k = min(R.shape)
    for first in range(0, k, _PANEL):
        check_stopped()
        last = min(first + _PANEL, k)
        turned, scales, _, _ = lapack.dgeqrf(R[first:, first:last])
        R[first:, first:last] = turned
        if last < R.shape[1]:
            rest = R[first:, last:]
            R[first:, last:] = lapack.dormqr("L", "T", turned, scales, rest, lwork=64 * rest.shape[1])[0]
    return np.triu(R[:k])


def _interruptible(A: np.ndarray, call: Callable[[], Any]) -> Any:
    return abandonable(call, long=_long(A))


def _long(A: np.ndarray) -> bool:
    return float(A.size) * min(A.shape[-2:]) > _SECONDS
