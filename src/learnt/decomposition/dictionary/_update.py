"""Better atoms for given codes, and atoms to start from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.extmath import svd_flip

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks, single_blas
from learnt.linalg import decompositions

_UNUSED = 1e-6  # Σ w² of an atom that no row uses
_GRAIN = 4096


@kernel
def update_atoms(A, B, positive, D):
    """One round of  min over D of ‖X − WD‖²  with ‖dₖ‖ ≤ 1, an atom at a time, from A = WᵀW and B = WᵀX.

    Atoms that no row uses are left alone.
    """
    for k in range(D.shape[0]):
        weight = A[k, k]
        if weight <= _UNUSED:
            continue
        atom = D[k]
        for c in range(atom.size):
            atom[c] = B[k, c] / weight  # bₖ − Σⱼ aₖⱼdⱼ, j ≠ k: what the atom was before cancels
        for other in range(D.shape[0]):
            share = A[k, other] / weight
            if other != k and share != 0.0:
                row = D[other]
                for c in range(atom.size):
                    atom[c] -= share * row[c]
        if positive:
            for c in range(atom.size):
                atom[c] = max(atom[c], 0.0)
        norm = 0.0
        for c in range(atom.size):
            norm += atom[c] * atom[c]
        if norm > 1.0:
            norm = math.sqrt(norm)
            for c in range(atom.size):
                atom[c] /= norm


def statistics(X: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """WᵀW and WᵀX, in blocks of rows."""

    def part(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
        W = np.ascontiguousarray(code[lo:hi].T)
        return W @ W.T, W @ X[lo:hi]

    parts = for_blocks(part, len(X), grain=_GRAIN)
    return sum(p[0] for p in parts), sum(p[1] for p in parts)  # type: ignore[return-value]


def refresh(
    X: np.ndarray, code: np.ndarray, A: np.ndarray, B: np.ndarray, positive: bool, random_state: Any, D: np.ndarray
) -> None:
    """Update D in place; an atom that no row uses becomes a random row, slightly changed, and its codes 0."""
    update_atoms(A, B, positive, D)
    for k in np.flatnonzero(np.diag(A) <= _UNUSED):
        row = X[random_state.choice(len(X))]
        atom = row + random_state.normal(0, 0.01 * (row.std() or 1.0), size=len(row))
        D[k] = np.maximum(atom, 0.0) if positive else atom
        D[k] /= max(float(np.linalg.norm(D[k])), 1.0)
        code[:, k] = 0.0


def cost(X: np.ndarray, code: np.ndarray, D: np.ndarray, alpha: float) -> float:
    """½‖X − WD‖² + α Σ|w|."""

    def part(lo: int, hi: int) -> float:
        rest = X[lo:hi] - code[lo:hi] @ D
        return 0.5 * float(np.einsum("ij,ij->", rest, rest)) + alpha * float(np.abs(code[lo:hi]).sum())

    return math.fsum(for_blocks(part, len(X), grain=_GRAIN))


@single_blas()
def leading_atoms(X: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """W (n, size) and D (size, d) from the singular vectors of X: W D is the best approximation of that rank."""
    U, S, V = decompositions.svd(X, full_matrices=False)
    U, V = svd_flip(U, V)
    code, D = np.zeros((len(X), size)), np.zeros((size, X.shape[1]))
    rank = min(size, len(S))
    code[:, :rank], D[:rank] = U[:, :rank], S[:rank, None] * V[:rank]
    return code, D


@single_blas()
def leading_rows(X: np.ndarray, size: int) -> np.ndarray:
    """At most `size` right singular vectors of X times their singular values, from the smaller of XᵀX and XXᵀ."""
    tall = X.shape[0] >= X.shape[1]
    values, vectors = decompositions.eigh(X.T @ X if tall else X @ X.T)
    order = np.argsort(values)[::-1][:size]
    scale = np.sqrt(np.maximum(values[order], 0.0))
    rows = scale[:, None] * vectors[:, order].T if tall else vectors[:, order].T @ X
    peak = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(peak < 0, -1.0, 1.0)
