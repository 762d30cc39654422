"""The triangular factor of centred [X, y], block by block: QR of tall data at any scale."""

from __future__ import annotations

import numpy as np

from learnt.engine.arrays import to_numpy
from learnt.engine.matrices import dense
from learnt.engine.rows.blocks import Block, as_columns, widen
from learnt.linalg import decompositions


def triangular_factor(block: Block, x_mean: np.ndarray, y_mean: np.ndarray) -> tuple:
    """R of the QR factorisation of a block's weighted, centred [X, y]."""
    X = to_numpy(widen(dense(block.X)))
    Z = np.hstack([X - x_mean, to_numpy(widen(as_columns(block.y))) - y_mean])
    if block.w is not None:
        Z *= np.sqrt(to_numpy(block.w))[:, None]
    return (decompositions.triangle(Z),)


def merge_factors(total: tuple | None, part: tuple | None) -> tuple | None:
    """R of two stacked matrices from the R of each: QR of tall data in blocks, at any scale."""
    if total is None or part is None:
        return total if part is None else part
    return (decompositions.triangle(np.vstack([total[0], part[0]])),)
