"""Linear equations with a symmetric matrix that is positive definite up to rounding."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

TOO_LARGE = (
    "Floating-point under-/overflow occurred: the columns of X are too large to be squared in float64; rescale them."
)
_JITTER = 1e-14
_CORNER = 128  # rows of a triangle that is inverted whole
_ROUNDING = 1e-15  # relative rounding error of a number


def spd_solve(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹ g with equilibrated variables; a multiple of the identity is added where rounding left H singular."""
    diagonal = H.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    H = H * unit[:, None] * unit
    jitter = 0.0
    while True:
        A = H.copy()
        A.flat[:: A.shape[0] + 1] += jitter
        factor, failed = lapack.dpotrf(A, lower=1)
        if not failed or jitter > 1.0:
            return unit * lapack.dpotrs(factor, unit * g, lower=1)[0]
        jitter = max(100.0 * jitter, _JITTER)


def cholesky(H: np.ndarray, jitter: float = _JITTER) -> np.ndarray:
    """The lower Cholesky factor of H and `jitter` of its diagonal, or more where rounding left H singular."""
    diagonal = H.diagonal()
    floor = np.maximum(diagonal, 1e-3 * diagonal.max(initial=np.finfo(float).tiny))
    while jitter < 1e3:
        A = H.copy()
        A.ravel()[:: A.shape[0] + 1] += jitter * floor
        factor, failed = lapack.dpotrf(A, lower=1, clean=1)
        if not failed and np.isfinite(factor[-1, -1]):
            return factor
        jitter *= 100.0
    raise ValueError(TOO_LARGE)


def keep_signs(H: np.ndarray, fall: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The step H⁻¹ fall to the minimum of a quadratic, restricted so that no coefficient changes its sign.

    A coefficient that would cross 0 (the kink of the penalty) ends there; if that does not lower the quadratic, the
    whole step is shortened to the first such crossing. A coefficient that is 0 may go either way.
    """
    step = spd_solve(H, fall)
    across = (old + step) * old < 0.0
    change = np.where(across, -old, step)
    if across.any() and not change @ (fall - 0.5 * (H @ change)) > 0.0:
        change = step * np.min(-old[across] / step[across])
    return np.where(np.abs(old + change) <= _ROUNDING * np.abs(old), -old, change)


def inverse_factor(A: np.ndarray) -> np.ndarray | None:
    """L⁻¹ for A = LLᵀ, in the precision of A, which is changed; None where A is not positive.

    The GIL is released. The inverse is computed by halves: all but small corners is matrix products.

    >>> inverse_factor(np.array([[4.0, 2.0], [2.0, 17.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    n = len(A)
    letter = "s" if A.dtype == np.float32 else "d"
    if call_lapack(f"{letter}potrf", b"U", n, A.ctypes.data, n):  # LAPACK's upper triangle is our lower one
        return None
    out = np.zeros_like(A)

    def fill(lo: int, hi: int) -> None:
        own = slice(lo, hi)
        if hi - lo <= _CORNER:
            call_lapack(f"{letter}trtri", b"UN", hi - lo, A[own, own].ctypes.data, n)
            out[own, own] = np.tril(A[own, own])
            return
        middle = (lo + hi) // 2
        fill(lo, middle)
        fill(middle, hi)
        above, below = slice(lo, middle), slice(middle, hi)
        np.negative(out[below, below] @ (A[below, above] @ out[above, above]), out=out[below, above])

    fill(0, n)
    return out


def inverse_from_factor(inverse: np.ndarray) -> np.ndarray:
    """The lower triangle of A⁻¹ = L⁻ᵀL⁻¹ in the place of L⁻¹.

    >>> inverse_from_factor(np.array([[0.5, 0.0], [-0.125, 0.25]]))
    array([[ 0.265625,  0.      ],
           [-0.03125 ,  0.0625  ]])
    """
    name, n = "slauum" if inverse.dtype == np.float32 else "dlauum", len(inverse)
    call_lapack(name, b"U", n, inverse.ctypes.data, n)
    return inverse


def call_lapack(name: str, letters: bytes, order: int, place: int, leading: int) -> int:
    """Call a routine on a square matrix in place without the GIL, which SciPy's own call would hold."""
    info = ctypes.c_int(0)
    flags = [bytes([letter]) for letter in letters]
    numbers = ctypes.byref(ctypes.c_int(order)), place, ctypes.byref(ctypes.c_int(leading)), ctypes.byref(info)
    _routine(name, len(letters))(*flags, *numbers)
    return info.value


@cache
def _routine(name: str, n_letters: int) -> Any:
    """SciPy's function for compiled code of this name: its character arguments first, then addresses."""
    place = capsule_address(cython_lapack.__pyx_capi__[name])
    return ctypes.CFUNCTYPE(None, *[ctypes.c_char_p] * n_letters, *[ctypes.c_void_p] * 4)(place)


def capsule_address(capsule: Any) -> int:
    """The address of the function in one of SciPy's capsules."""
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
