"""What QR leaves of centred rows, in blocks: small singular values keep their digits, which squares would cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.matrices import join
from learnt.engine.rows import Block


class Triangle:
    """What QR leaves of some rows: RᵀR = ZᵀZ, with at most d rows. Two of them add to that of all rows together."""

    def __init__(self, R: Any) -> None:
        self.R = R

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle(triangular(joined(self.R, other.R, axis=0)))


def joined(a: Any, b: Any, axis: int) -> Any:
    """Two matrices of one library below or beside each other."""
    return join([a, b], axis)


def triangular(Z: Any) -> Any:
    """R of Z = QR; Z itself while it has no more rows than columns."""
    if Z.shape[0] <= Z.shape[1]:
        return Z
    return np.linalg.qr(Z, mode="r") if is_numpy(Z) else namespace(Z).linalg.qr(Z, mode="reduced")[1]


def triangles(block: Block, mean: Any, Q: Any = None) -> tuple:
    """The triangle of the centred rows, or of their projections on Q."""
    X = block.X
    Z = X - mean if Q is None else (X @ Q - mean @ Q if sparse.issparse(X) else (X - mean) @ Q)
    return (Triangle(triangular(Z)),)
