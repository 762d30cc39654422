"""Orthogonal matching pursuit of one signal by matrix products: nothing to compile, and little to do at each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular


def pursue_alone(
    source: Any, start: np.ndarray, energy: float, limit: int, tol: float, floor: float
) -> tuple[np.ndarray, int, bool]:
    """What `pursuit_kernels.pursue` does: the coefficients, how many there are, and whether it was spent too early.

    `source` makes rows of G = XᵀX orthogonal to the atoms at hand when it computes them, several in one product; what
    is left to be done when one of them is taken are the atoms that came after.
    """
    correlation, size, basis = start.copy(), np.empty(start.size), np.empty((limit, start.size))
    factor, share = np.zeros((limit, limit)), np.zeros(limit)
    atoms: list[int] = []
    spent = False
    while len(atoms) < limit and energy > 0.0 and abs(energy - share @ share) > tol:
        k = len(atoms)
        j = int(np.abs(correlation, out=size).argmax())
        best = float(size[j])
        spent = not best > 0.0 or j in atoms
        if not spent and source.where[j] < 0:
            source.fetch(j, correlation, basis[:k])
        own = float(source.own[j])
        weights = basis[:k, j]
        pivot = own - float(weights @ weights)
        spent = spent or best * best <= floor * own * energy or pivot <= floor * own
        if spent:
            break
        pivot = np.sqrt(pivot)
        factor[k, :k], factor[k, k], share[k] = weights, pivot, correlation[j] / pivot
        done = source.done[source.where[j]]
        new = basis[k]
        np.divide(source.rows[source.where[j]] - weights[done:] @ basis[done:k], pivot, out=new)
        correlation -= share[k] * new
        atoms.append(j)
    k, coef = len(atoms), np.zeros(start.size)
    if k:
        coef[atoms] = solve_triangular(factor[:k, :k], share[:k], lower=True, trans=1, check_finite=False)
    return coef, k, spent
