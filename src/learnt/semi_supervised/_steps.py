"""How labels move along weights: F has a row for each row of data and a column for each class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.matrices import Route, route
from learnt.engine.threads import for_blocks

_GRAIN = 64  # rows of a dense matrix that stay in the cache while they meet F, which BLAS would not see to


def propagation(W: Any, given: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """One step for the rows without labels: the mean of all labels by weight; `given` are sums of the known ones.

    Weights need not sum to 1 in a row, since the labels of each row are made to.
    """
    return lambda F: shares(times(W, F) + given)


def spreading(W: Any, Y: np.ndarray, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    """One step for all rows: F ← α D^(−½) W D^(−½) F + (1 − α) Y, D the column sums of W."""
    degrees = np.asarray(W.sum(axis=0)).ravel()
    roots = np.sqrt(np.where(degrees == 0, 1.0, degrees))[:, None]
    kept = (1.0 - alpha) * Y
    return lambda F: alpha * (times(W, F / roots) / roots) + kept


def iterate(
    step: Callable[[np.ndarray], np.ndarray], F: np.ndarray, first: float, max_iter: int, tol: float, loop: Any
) -> tuple[np.ndarray, int]:
    """Steps from F until their absolute changes sum to less than `tol`; `first` is that sum of the beginning."""
    change = first
    for n_iter in range(max_iter):
        if change < tol:
            return F, n_iter
        before, F = F, step(F)
        change = float(np.abs(F - before).sum())
        if loop.step(f"change {change:.3g}"):
            return F, n_iter + 1
    warnings.warn(
        f"max_iter={max_iter} was reached without convergence. The last step changed labels by {change:.2g} in all; "
        "raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return F, max_iter


def shares(F: np.ndarray) -> np.ndarray:
    """Rows that sum to 1, in place; rows of zeros stay."""
    total = F.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    F /= total
    return F


def times(W: Any, F: np.ndarray) -> np.ndarray:
    """W F."""
    if route(W) is Route.SPARSE:
        return np.asarray(W @ F)
    out = np.empty((W.shape[0], F.shape[1]))
    if not out.size:
        return out
    for_blocks(lambda lo, hi: np.matmul(W[lo:hi], F, out=out[lo:hi]), len(W), grain=_GRAIN)
    return out
