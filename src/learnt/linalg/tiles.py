"""Cholesky factors and inverses of large matrices on all threads, tile by tile.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.linalg import cython_blas

from learnt.engine.threads import run_tasks, single_blas
from learnt.linalg.positive import call_lapack, capsule_address

_TILE = 256
_ROWS = 256  # of a task
_INVERSE_ROWS = 128  # rows of a task of `lower_inverse`, half of whose diagonal block is wasted work


@single_blas()
def cholesky_in_place(A: np.ndarray) -> bool:
    """L with A = LLᵀ in the lower triangle of A, which is C-contiguous; False where A is not positive definite.

    >>> A = np.array([[4.0, 0.0], [2.0, 5.0]])
    >>> cholesky_in_place(A), A.tolist()
    (True, [[2.0, 0.0], [1.0, 2.0]])
    """
    n = len(A)
    for lo in range(0, n, _TILE):
        hi = min(lo + _TILE, n)

        def update(first: int, last: int, lo: int = lo, hi: int = hi) -> None:
            A[first:last, lo:hi] -= A[first:last, :lo] @ A[lo:hi, :lo].T

        def solve(first: int, last: int, lo: int = lo, hi: int = hi) -> None:
            triangle_solve(A[lo:hi, lo:hi], A[first:last, lo:hi], transposed=True)

        if lo:
            run_tasks([partial(update, *rows) for rows in _blocks(lo, n)])
        if call_lapack(
            "dpotrf", b"U", hi - lo, A[lo:hi, lo:hi].ctypes.data, n
        ):  # LAPACK's upper triangle is our lower one
            return False
        if hi < n:
            run_tasks([partial(solve, *rows) for rows in _blocks(hi, n)])
    return bool(np.isfinite(A[-1, -1])) if n else True


def lower_inverse(L: np.ndarray) -> np.ndarray:
    """The lower triangle of (LLᵀ)⁻¹; entries above it are undefined.

    >>> np.tril(lower_inverse(np.array([[2.0, 0.0], [1.0, 2.0]])))
    array([[ 0.3125,  0.    ],
           [-0.125 ,  0.25  ]])
    """
    n = len(L)
    U = np.zeros_like(L)  # L⁻ᵀ, whose rows are columns of L⁻¹; then, tile by tile, its product with its transpose

    def invert(lo: int, hi: int) -> None:
        np.fill_diagonal(U[lo:hi, lo:hi], 1.0)
        triangle_solve(L[lo:, lo:], U[lo:hi, lo:], transposed=True)

    def multiply(lo: int, hi: int) -> None:  # tasks read no rows that others write
        U[lo:hi, :hi] = U[lo:hi, lo:] @ U[:hi, lo:].T

    parts = _blocks(0, n, _INVERSE_ROWS)
    run_tasks([partial(invert, *rows) for rows in parts])
    run_tasks([partial(multiply, *rows) for rows in parts])
    return U


def clear_upper(L: np.ndarray) -> None:
    """Set what is above the diagonal to 0, without another matrix."""
    for lo, hi in _blocks(0, len(L)):
        L[lo:hi, lo:hi] = np.tril(L[lo:hi, lo:hi])
        L[lo:hi, hi:] = 0.0


def solve_rows(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The rows of B times L⁻ᵀ, in place: of Bᵀ the columns L⁻¹b."""
    step = min(_ROWS, -(-len(B) // 2))  # two tasks of few rows: a second thread helps
    run_tasks([partial(triangle_solve, L, B[lo:hi], transposed=True) for lo, hi in _blocks(0, len(B), step)])
    return B


def _blocks(lo: int, hi: int, step: int = _ROWS) -> list[tuple[int, int]]:
    return [(first, min(first + step, hi)) for first in range(lo, hi, step)]


def triangle_solve(L: np.ndarray, B: np.ndarray, transposed: bool) -> None:
    """B L⁻ᵀ (or B L⁻¹) in the place of B, both C-contiguous; the GIL is released."""
    one = ctypes.c_double(1.0)
    # In BLAS's order of columns: op(Lᵀ)⁻¹ Bᵀ, where our lower triangle is an upper one.
    numbers = [ctypes.c_int(size) for size in (L.shape[0], B.shape[0], L.strides[0] // 8, B.strides[0] // 8)]
    rows, columns, leading, leading_b = (ctypes.byref(number) for number in numbers)
    turn = b"T" if transposed else b"N"
    if B.shape[0] == 1:  # takes three fifths of the time (Neoverse-N1)
        _dtrsv()(b"U", turn, b"N", rows, L.ctypes.data, leading, B.ctypes.data, ctypes.byref(ctypes.c_int(1)))
        return
    _dtrsm()(b"L", b"U", turn, b"N", rows, columns, ctypes.byref(one), L.ctypes.data, leading, B.ctypes.data, leading_b)


@cache
def _dtrsm() -> Any:
    address = capsule_address(cython_blas.__pyx_capi__["dtrsm"])
    return ctypes.CFUNCTYPE(None, *[ctypes.c_char_p] * 4, *[ctypes.c_void_p] * 7)(address)


@cache
def _dtrsv() -> Any:
    address = capsule_address(cython_blas.__pyx_capi__["dtrsv"])
    return ctypes.CFUNCTYPE(None, *[ctypes.c_char_p] * 3, *[ctypes.c_void_p] * 5)(address)
