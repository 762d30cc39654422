"""The inner loops of orthogonal matching pursuit, on rows of the Gram matrix G = XᵀX.

A pursuit needs row j of G only once it considers column j. `rows[where[j]]` is that row; where[j] is −1 until it is
computed. A loop that needs a missing row returns its number, and resumes when called again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel


class Work(NamedTuple):
    """Memory of one pursuit: correlations of the residual, an orthonormal basis of the atoms and its triangle, the
    atoms with their shares, the coefficients before and now.
    """

    correlation: np.ndarray
    basis: np.ndarray
    factor: np.ndarray
    share: np.ndarray
    atoms: np.ndarray
    held: np.ndarray
    coef: np.ndarray


DONE = -1  # the limit or the tolerance is reached
SPENT = -2  # no column explains any more of the residual


@kernel(allocates=False)
def orthogonalise(rows, where, j, k, floor, correlation, basis, factor, share):
    """Make column j the k-th atom; False where it lies in the span of the others, and nothing is changed.

    With q_k its unit part orthogonal to the other atoms: basis[k] = Xᵀq_k, factor[k] = (⟨q_i, x_j⟩)_{i ≤ k},
    share[k] = ⟨q_k, y⟩, and `correlation` = Xᵀ(residual). No triangular system has to be solved in between.
    """
    row = where[j]
    own = rows[row, j]
    left = own
    for i in range(k):
        w = basis[i, j]
        factor[k, i] = w
        left -= w * w
    if left <= floor * own:
        return False
    pivot = math.sqrt(left)
    factor[k, k] = pivot
    new, source = basis[k], rows[row]
    for c in range(new.size):
        new[c] = source[c]
    i = 0
    while i + 4 <= k:
        a, b, e, f = factor[k, i], factor[k, i + 1], factor[k, i + 2], factor[k, i + 3]
        one, two, three, four = basis[i], basis[i + 1], basis[i + 2], basis[i + 3]
        for c in range(new.size):
            new[c] -= a * one[c] + b * two[c] + e * three[c] + f * four[c]
        i += 4
    while i < k:
        a, one = factor[k, i], basis[i]
        for c in range(new.size):
            new[c] -= a * one[c]
        i += 1
    z = correlation[j] / pivot
    share[k] = z
    for c in range(new.size):
        scaled = new[c] / pivot
        new[c] = scaled
        correlation[c] -= z * scaled
    return True


@kernel(allocates=False)
def back_substitute(factor, share, k, coef):
    """The least-squares coefficients of the first k atoms."""
    for i in range(k - 1, -1, -1):
        s = share[i]
        for m in range(i + 1, k):
            s -= factor[m, i] * coef[m]
        coef[i] = s / factor[i, i]


@kernel(allocates=False)
def keep_positive(rows, where, start, floor, k, correlation, basis, factor, share, atoms, held, coef):
    """Move from non-negative `held` towards least squares until a coefficient reaches 0; drop that atom; repeat.

    It is the inner loop of Lawson and Hanson. On return coef[:k] > 0 are the least squares of the k atoms left.
    """
    while True:
        back_substitute(factor, share, k, coef)
        step = 1.0
        for i in range(k):
            if coef[i] <= 0.0:
                step = min(step, held[i] / (held[i] - coef[i]) if held[i] > 0.0 else 0.0)
        if step == 1.0:
            return k
        kept = 0
        for i in range(k):
            moved = held[i] + step * (coef[i] - held[i])
            if coef[i] > 0.0 or moved > 1e-14 * held[i]:
                atoms[kept] = atoms[i]
                held[kept] = moved
                kept += 1
        for c in range(start.size):
            correlation[c] = start[c]
        k = np.int64(0)  # not a literal, whose type would have `orthogonalise` compiled again
        for i in range(kept):
            if orthogonalise(rows, where, atoms[i], k, floor, correlation, basis, factor, share):
                atoms[k] = atoms[i]
                held[k] = held[i]
                k += 1


@kernel(allocates=False)
def next_column(rows, where, energy, floor, positive, correlation, atoms, k):
    """The column with the largest product with the residual, or SPENT where no new one explains anything."""
    j, best = 0, -1.0
    for c in range(correlation.size):
        size = correlation[c] if positive else abs(correlation[c])
        if size > best:
            j, best = c, size
    if best <= 0.0 or (where[j] >= 0 and best * best <= floor * rows[where[j], j] * energy):
        return SPENT
    for i in range(k):
        if atoms[i] == j:
            return SPENT
    return j


@kernel(allocates=False)
def finish(factor, share, atoms, k, coef, out):
    """The coefficients of the atoms, in their places."""
    back_substitute(factor, share, k, coef)
    for c in range(out.size):
        out[c] = 0.0
    for i in range(k):
        out[atoms[i]] = coef[i]


@kernel(allocates=False)
def unexplained(share, k, energy):
    """‖residual‖²."""
    for i in range(k):
        energy -= share[i] * share[i]
    return abs(energy)


@kernel(allocates=False)
def pursue(rows, where, starts, energies, limit, tol, floor, work, progress, path, out, counts):
    """Orthogonal matching pursuit of every signal: starts = YᵀX, energies = the ‖y‖².

    Each ends with `limit` atoms or ‖residual‖² ≤ tol; counts are negative (−1 − atoms) where it was spent before.
    progress = (signal, its atoms so far or −1); path, where it has rows, gets the coefficients of every step. Returns
    DONE, or the column whose row of G is needed next.
    """
    correlation, basis, factor, share, atoms, _, coef = work
    s, k = progress[0], progress[1]
    while s < starts.shape[0]:
        if k < 0:
            k = 0
            for c in range(correlation.size):
                correlation[c] = starts[s, c]
        end = DONE
        while k < limit and energies[s] > 0.0 and unexplained(share, k, energies[s]) > tol:
            j = next_column(rows, where, energies[s], floor, False, correlation, atoms, k)
            if j >= 0 and where[j] < 0:
                progress[0], progress[1] = s, k
                return j
            if j < 0 or not orthogonalise(rows, where, j, k, floor, correlation, basis, factor, share):
                end = SPENT
                break
            atoms[k] = j
            k += 1
            if path.shape[0] > 0:
                finish(factor, share, atoms, k, coef, path[s, k - 1])
        finish(factor, share, atoms, k, coef, out[s])
        counts[s] = k if end == DONE else -1 - k
        s += 1
        k = -1
    return DONE


@kernel(allocates=False)
def pursue_positive(rows, where, starts, energies, limit, tol, floor, work, progress, path, out, counts):
    """`pursue` with coefficients of at least 0; progress has a third entry, the rounds so far."""
    correlation, basis, factor, share, atoms, held, coef = work
    s, k, rounds = progress[0], progress[1], progress[2]
    while s < starts.shape[0]:
        if k < 0:
            k = rounds = 0
            for c in range(correlation.size):
                correlation[c] = starts[s, c]
        end = DONE
        while k < limit and energies[s] > 0.0 and unexplained(share, k, energies[s]) > tol:
            j = next_column(rows, where, energies[s], floor, True, correlation, atoms, k)
            if j >= 0 and where[j] < 0:
                progress[0], progress[1], progress[2] = s, k, rounds
                return j
            if j < 0:  # the minimum: no other atom would get a positive coefficient
                end = DONE if tol < 0.0 else SPENT
                break
            rounds += 1
            if rounds > 3 * limit + 10:  # rounding could make atoms enter and leave for ever
                end = SPENT
                break
            if not orthogonalise(rows, where, j, k, floor, correlation, basis, factor, share):
                end = SPENT
                break
            atoms[k] = j
            held[k] = 0.0
            k = keep_positive(
                rows, where, starts[s], floor, k + 1, correlation, basis, factor, share, atoms, held, coef
            )
            for i in range(k):
                held[i] = coef[i]
            if path.shape[0] > 0:
                finish(factor, share, atoms, k, coef, path[s, k - 1])
        finish(factor, share, atoms, k, coef, out[s])
        counts[s] = k if end == DONE else -1 - k
        s += 1
        k = -1
    return DONE
