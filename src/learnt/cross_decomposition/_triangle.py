"""Few rows with the same products as many: the triangle of a QR factorisation.

[X Y] = Q [A B] with QᵀQ = I: then XᵀX = AᵀA, XᵀY = AᵀB and YᵀY = BᵀB, and whatever follows from products of columns is
the same for A and B, which have d + q rows. Products themselves would do too, but square the condition number.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from learnt.cross_decomposition._standard import Units
from learnt.engine.threads import for_blocks, single_blas

_CELLS = 1 << 18  # of a block: it stays in the processor's cache


def triangle(X: np.ndarray, Y: np.ndarray, units: Units | None, y_units: Units | None) -> tuple:
    """A and B for the standardised columns of X and Y."""
    width = X.shape[1] + Y.shape[1]

    def part(lo: int, hi: int) -> np.ndarray:
        both = np.empty((hi - lo, width), order="F")
        for side, cells, unit in ((both[:, : X.shape[1]], X, units), (both[:, X.shape[1] :], Y, y_units)):
            if unit is None:
                side[...] = cells[lo:hi]
            else:
                np.subtract(cells[lo:hi], unit.mean, out=side)
                side *= unit.inverse
        return triangular(both)

    parts = for_blocks(part, len(X), grain=max(_CELLS // width, 3 * width))
    with single_blas():
        R = parts[0]
        for more in parts[1:]:
            R = triangular(np.asfortranarray(np.concatenate([R, more])))
    return np.ascontiguousarray(R[:, : X.shape[1]]), np.ascontiguousarray(R[:, X.shape[1] :])


def triangular(Z: np.ndarray) -> np.ndarray:
    """R of Z = QR, whose memory is used; Z itself while it has no more rows than columns."""
    if Z.shape[0] <= Z.shape[1]:
        return Z
    return linalg.qr(Z, mode="r", overwrite_a=True, check_finite=False)[0][: Z.shape[1]]
