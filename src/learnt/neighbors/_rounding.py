"""Rows rounded for fast matrix products, and how far the products can be off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.rounding import round_rows
from learnt.engine.threads import for_blocks


class Rounding(NamedTuple):
    """Rows become (x − origin) · scale in `dtype`; scale is a power of two.

    A score ‖t‖² − 2 q·t is then off by at most  product_error ‖q‖ ‖t‖ + norm_error (‖q‖² + ‖t‖²).
    """

    origin: np.ndarray
    scale: float
    dtype: type
    product_error: float
    norm_error: float

    def rows(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rounded rows, and their squared norms in float64."""
        out: np.ndarray = np.empty(X.shape, dtype=self.dtype)
        norms = np.empty(X.shape[0])
        round_rows(X, self.origin, self.scale, out, norms)
        return out, norms

    def slack(self, a2: np.ndarray, b2: np.ndarray) -> np.ndarray:
        """The bound, for squared norms a2 and b2."""
        return self.product_error * np.sqrt(a2 * b2) + self.norm_error * (a2 + b2)


def rounding(T: np.ndarray, Q: np.ndarray, dtype: type) -> Rounding:
    """About the mean of some rows and in units of their spread.

    Whole numbers so small that products do not round them are left as they are: ties among them, which are many, are
    then settled by the products alone.
    """
    d = T.shape[1]
    unit = float(np.finfo(dtype).eps) / 2
    if _whole(T[:64], unit) and _whole(Q[:64], unit) and _all_whole(T, unit) and _all_whole(Q, unit):
        return Rounding(np.zeros(d), 1.0, dtype, 0.0, 0.0)
    some = T[:: -(-T.shape[0] // 1024)].astype(np.float64)
    origin = some.mean(axis=0)
    spread = float(np.sqrt(np.square(some - origin).mean()))
    scale = 2.0 ** -int(np.clip(np.rint(np.log2(spread)), -500, 500)) if spread > 0 else 1.0
    return Rounding(origin, scale, dtype, unit * (2 * d + 12), 4 * unit)


def _whole(X: np.ndarray, unit: float) -> bool:
    most = np.sqrt(1.0 / (8.0 * unit * X.shape[1]))
    return bool(np.abs(X).max(initial=0) <= most and (np.rint(X) == X).all())


def _all_whole(X: np.ndarray, unit: float) -> bool:
    grain = max(1, (1 << 18) // X.shape[1])
    return all(for_blocks(lambda lo, hi: _whole(X[lo:hi], unit), X.shape[0], grain=grain))
