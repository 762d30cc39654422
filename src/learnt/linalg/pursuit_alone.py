"""Orthogonal matching pursuit of one signal by matrix products.

Without compiled code, and with little work at each step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack


def pursue_alone(
    source: Any, start: np.ndarray, energy: float, limit: int, tol: float, floor: float, path: bool
) -> tuple[np.ndarray, int, bool]:
    """What `pursuit_kernels.pursue` does: coefficients (of every step, with `path`), steps, whether spent too early.

    `source` makes rows of G = XᵀX orthogonal to the atoms at hand when it computes them, several in one product; when
    one of them is taken, it only has to be made orthogonal to later atoms.
    """
    correlation, work, basis = start.copy(), np.empty(start.size), np.empty((limit, start.size))
    factor, share, atoms = np.zeros((limit, limit)), np.empty(limit), np.empty(limit, dtype=np.int64)
    k, left, spent = 0, energy, False
    while k < limit and energy > 0.0 and abs(left) > tol:
        j = int(np.abs(correlation, out=work).argmax())
        best = float(work[j])
        if not best > 0.0 or j in atoms[:k]:
            spent = True
            break
        if source.where[j] < 0:
            source.fetch(j, correlation, basis[:k])
        row = source.where[j]
        own, done, weights = float(source.own[j]), source.done[row], basis[:k, j].copy()
        square = own - float(weights @ weights)
        if best * best <= floor * own * energy or square <= floor * own:
            spent = True
            break
        pivot, new = math.sqrt(square), basis[k]
        factor[k, :k], factor[k, k] = weights, pivot
        share[k] = z = float(correlation[j]) / pivot
        np.subtract(source.rows[row], np.dot(weights[done:], basis[done:k], out=new), out=new)
        new *= 1.0 / pivot
        correlation -= np.multiply(new, z, out=work)
        left -= z * z
        atoms[k] = j
        k += 1
    out = np.zeros((k if path else 1, start.size))
    if k:
        # The first k unknowns of a triangular system are those of its first k equations: one inverse has every step.
        inverse, _ = lapack.dtrtri(factor[:k, :k], lower=1)
        steps = inverse * share[:k, None]
        out[:, atoms[:k]] = np.cumsum(steps, axis=0) if path else steps.sum(axis=0)
    return out, k, spent
