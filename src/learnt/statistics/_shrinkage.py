"""Covariances moved towards a multiple of the identity, by a share that the rows themselves tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import namespace, to_device_of, to_numpy
from learnt.engine.rows import Block, Rows
from learnt.engine.rows.blocks import widen
from learnt.statistics._groups import Groups


def shrunk(C: np.ndarray, share: float | None) -> np.ndarray:
    """(1 − s) C + s · mean variance · 1, of one matrix or of several (…, d, d).

    >>> shrunk(np.array([[1.0, 1.0], [1.0, 3.0]]), 0.5).tolist()
    [[1.5, 0.5], [0.5, 2.5]]
    """
    if not share:
        return C
    d = C.shape[-1]
    mean = np.trace(C, axis1=-2, axis2=-1) / d
    return (1.0 - share) * C + share * mean[..., None, None] * np.eye(d)


def ledoit_wolf_share(C: np.ndarray, weight: float, quartic: float) -> float:
    """The share of least expected squared error (Ledoit and Wolf 2004), from a covariance C of rows of this weight.

    `quartic` is Σw ‖z‖⁴ of the rows about their mean. With μ the mean variance,

        β = (quartic / W − ‖C‖²) / W,     δ = ‖C − μ1‖²,     share = min(β, δ) / δ

    >>> z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> round(ledoit_wolf_share(z.T @ z / 4, 4, float(((z**2).sum(axis=1) ** 2).sum())), 3)
    0.944
    """
    d = len(C)
    beta = (quartic / weight - (C**2).sum()) / weight
    apart = ((C - np.trace(C) / d * np.eye(d)) ** 2).sum()
    return float(min(beta, apart) / apart) if apart > 0 and beta > 0 else 0.0


def oas_share(C: np.ndarray, n: float) -> float:
    """The share of the oracle approximating shrinkage (Chen, Wiesel, Eldar and Hero 2010) for n normal rows.

        share = (tr C² + tr² C) / ((n + 1) (tr C² − tr² C / d)),     at most 1

    Terms of order 1/d of the article are left out, as scikit-learn does. One feature is not shrunk.

    >>> oas_share(np.eye(3), 10), oas_share(np.eye(1), 10)
    (1.0, 0.0)
    """
    d = len(C)
    if d == 1:
        return 0.0
    C = C / (np.abs(C).max(initial=0.0) or 1.0)  # the share has no unit, and squares in that of C may overflow
    square, trace = (C**2).sum(), np.trace(C) ** 2
    below = (n + 1.0) * (square - trace / d)
    return float(min((square + trace) / below, 1.0)) if below > 0 else 1.0


def quartics(rows: Rows, mean: Any, scale: Any = None, groups: Groups | None = None) -> Any:
    """Σw ‖z‖⁴ with z = (x − mean) · scale: a number, or one of each group about its own mean (K, d)."""
    if groups is None:
        return float(to_numpy(rows.sum(_fourth_powers, mean, scale)[0]))
    return to_numpy(rows.sum(_fourth_powers_by_group, groups, mean, scale)[0])


def _fourth_powers(block: Block, mean: Any, scale: Any) -> tuple:
    X = widen(block.X)
    xp = namespace(X)
    Z = X - to_device_of(mean, X)
    Z = Z if scale is None else Z * to_device_of(scale, X)
    if xp is np or isinstance(Z, np.ndarray):
        squares = np.einsum("ij,ij->i", Z, Z)
        return (squares @ (squares if block.w is None else block.w * squares),)
    squares = xp.sum(Z * Z, axis=1) ** 2
    return (xp.sum(squares if block.w is None else block.w * squares),)


def _fourth_powers_by_group(block: Block, groups: Groups, mean: np.ndarray, scale: np.ndarray) -> tuple:
    X, codes = to_numpy(widen(block.X)), to_numpy(groups(block))
    w = None if block.w is None else to_numpy(block.w)
    Z = (X - mean[codes]) * scale[codes]
    squares = np.einsum("ij,ij->i", Z, Z)
    return (np.bincount(codes, squares**2 if w is None else w * squares**2, minlength=len(mean)),)
