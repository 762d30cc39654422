"""Σw, Σwz and Σwz² or Σwzzᵀ of a dense block in any array library, z = x − point."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.engine.matrices import column_squares, column_sum
from learnt.engine.rows.blocks import Block, widen
from learnt.linalg.scatter import scatter as scatter_of
from learnt.statistics._record import DIAGONAL, NONE


def dense_sums(block: Block, point: Any, scatter: str) -> tuple:
    """The sums over all rows of the block. With a float32 point, float32 rows are multiplied in float32."""
    Z = about(block.X, point)
    xp = namespace(Z)
    if block.w is None:
        weight, first = Z.shape[0], column_sum(Z)
        if scatter == NONE:
            return weight, first
        return weight, first, column_squares(Z) if scatter == DIAGONAL else Z.T @ Z
    w = widen(block.w)
    weight, first = xp.sum(w), w @ Z
    if scatter == NONE:
        return weight, first
    if scatter == DIAGONAL:
        return weight, first, w @ (Z * Z)
    Z = Z * xp.sqrt(w)[:, None]  # so that the product is that of a matrix with itself, which costs half
    return weight, first, Z.T @ Z


def takes_compiled(block: Block) -> bool:
    """Whether the compiled loop is for these rows: those of single precision are multiplied in it by BLAS."""
    return type(block.X) is np.ndarray and block.X.dtype == np.float64


def compiled_sums(block: Block, point: Any) -> tuple:
    """Σw, Σwz and Σwzzᵀ of a float64 block in one compiled pass."""
    weight = block.X.shape[0] if block.w is None else widen(block.w).sum()
    return weight, *scatter_of(block.X, point, block.w)


def about(X: Any, point: Any) -> Any:
    """x − point in the wider precision of the two; in float64 without a point."""
    return widen(X) if point is None else X - point
