"""Multiplicative updates from a few rows at a time, which older rows are slowly forgotten by.

    A. Lefèvre, F. Bach and C. Févotte, "Online algorithms for nonnegative matrix factorization with the Itakura-Saito
    divergence", 2011

The sums over rows in the numerator and the denominator of the update of H become sums over all batches so far, each
batch before counting `forget` times as much as the one after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition.nmf._descent import Penalties
from learnt.decomposition.nmf._divergence import divergence
from learnt.decomposition.nmf._updates import column_ratio, damping, drop_tiny, new_rows, penalised
from learnt.engine.rows import as_rows


class Sums(NamedTuple):
    """Over batches, for H = up / down to the power that damps."""

    up: np.ndarray
    down: np.ndarray


def first_sums(H: np.ndarray) -> Sums:
    """As if one batch before had found H."""
    return Sums(H.copy(), np.ones_like(H))


def solved_rows(X: Any, H: np.ndarray, penalties: Penalties, beta: float, *, tol: float, max_iter: int) -> np.ndarray:
    """W for a given H, from equal entries until an iteration changes it by less than `tol` of its norm."""
    W = np.full((X.shape[0], len(H)), np.sqrt(X.mean() / len(H)), dtype=X.dtype)
    if beta == 2:  # what does not depend on W is computed once
        up, gram = np.asarray(X @ H.T), H @ H.T
    rows = as_rows(X)
    for _ in range(max_iter):
        before = W.copy()
        if beta == 2:
            W *= up / penalised(W @ gram, penalties.l1_W, penalties.l2_W, W)
        else:
            rows.map(new_rows, W, H, penalties, beta, damping(beta))
        if tol > 0 and np.linalg.norm(W - before) <= tol * np.linalg.norm(W):
            break
    return W


def better_rows(X: Any, W: np.ndarray, H: np.ndarray, penalties: Penalties, beta: float) -> np.ndarray:
    """One update of W, in place."""
    as_rows(X).map(new_rows, W, H, penalties, beta, damping(beta))
    drop_tiny(W, beta < 1)
    return W


def mean_objective(X: Any, W: np.ndarray, H: np.ndarray, penalties: Penalties, beta: float) -> float:
    """The penalised divergence of a batch over its rows; squares count twice: it only stops fits."""
    total = divergence(X, W, H, beta)
    for factor, l1, l2 in ((W, penalties.l1_W, penalties.l2_W), (H, penalties.l1_H, penalties.l2_H)):
        total += (l1 * float(factor.sum()) if l1 else 0.0) + (l2 * float(np.vdot(factor, factor)) if l2 else 0.0)
    return total / len(W)


def update_parts(
    X: Any, W: np.ndarray, H: np.ndarray, sums: Sums, penalties: Penalties, beta: float, forget: float
) -> None:
    """Add a batch to the sums, and make H anew of them, in place."""
    power = damping(beta)
    up, down = as_rows(X).sum(column_ratio, W, H, beta)
    if beta == 1:  # as scikit-learn: a part that no row of the batch has fades, and H goes on changing
        down[~W.any(axis=0)] = 1.0
    down = penalised(down, penalties.l1_H, penalties.l2_H, H)
    for total, new in zip(sums, (up * (H ** (1.0 / power) if power != 1 else H), down), strict=True):
        total *= forget
        total += new
    np.divide(sums.up, sums.down, out=H)
    if power != 1:
        H **= power
    drop_tiny(H, beta <= 1)
