"""Columns of sparse rows that are nearly dense and far from 0: their scatter is computed again about their means.

Zeros that are not stored cannot be shifted, so products of sparse rows are taken about 0. That costs the digits of a
column only where hardly any of its cells is 0 (a year, a constant). Such columns are few; as dense columns z they are
multiplied once more, about their means:  Σw z zᵀ,  and with the others  Σw (x − mean) zᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._groups import Groups
from learnt.statistics._record import POOLED, Moments, divisor, products
from learnt.statistics._sparse import pieces


def with_far_columns(rows: Rows, groups: Groups | None, found: Moments, far: Any) -> Moments:
    """The moments with the columns of the scatter that lost digits (the mask `far`) computed again."""
    d = found.mean.shape[-1]
    columns = np.flatnonzero(far.reshape(-1, d).any(axis=0))
    weight, mean = np.atleast_1d(found.weight), np.atleast_2d(found.mean)
    first, cross, square = rows.sum(_sums, groups, mean, columns)
    cross -= mean[:, :, None] * first[:, None, :]
    off = first / divisor(weight)[:, None]  # the rounding difference between the means and those given
    square -= products(off, 1.0, weight, "full")
    if found.kind == POOLED:
        cross, square = cross.sum(axis=0)[None], square.sum(axis=0)[None]
    scatter = found.scatter.copy()
    for S, C, Q in zip(scatter.reshape(-1, d, d), cross, square, strict=True):
        S[:, columns], S[columns, :] = C, C.T
        S[np.ix_(columns, columns)] = Q
    better = mean.copy()
    better[:, columns] += off
    return found._replace(mean=better.reshape(found.mean.shape), scatter=scatter)


def _sums(block: Block, groups: Groups | None, mean: np.ndarray, columns: np.ndarray) -> tuple:
    """Σwz, Σwxzᵀ and Σwzzᵀ of each group, z being the listed columns about their means."""
    X = widen(block.X)
    parts = [(X, block.w)] if groups is None else pieces(X, groups(block), groups.n, block.w)
    sums = []
    for (rows, w), centre in zip(parts, mean, strict=True):
        Z = rows[:, columns].toarray() - centre[columns]
        wZ = Z if w is None else Z * w[:, None]
        sums.append((wZ.sum(axis=0), rows.T @ wZ, Z.T @ wZ))
    return tuple(np.stack(part) for part in zip(*sums, strict=True))
