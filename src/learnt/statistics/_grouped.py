"""The sums of `_dense` for each group of the rows of a dense block.

A group has a point of its own (K × d) where the caller has one, since what is near the mean of one group may be far
from that of another.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import stable_order
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._dense import about, dense_sums
from learnt.statistics._record import DIAGONAL, FULL, NONE


def class_sums(block: Block, codes: Any, n: int, point: Any, scatter: str) -> tuple:
    """Of rows that are in one group each: products with the indicators of the groups."""
    if scatter == FULL:
        return _one_by_one(_in_order(block, codes, n), point)
    Z = about(block.X, _at(point, codes))
    xp = namespace(Z)
    labels = like(np.arange(n), codes)
    member = like(codes[:, None] == labels[None, :], Z)
    if block.w is not None:
        member = member * block.w[:, None]
    sums = xp.sum(member, axis=0), member.T @ Z
    if scatter == NONE:
        return sums
    if scatter == DIAGONAL:
        return *sums, member.T @ (Z * Z)
    if block.w is not None:
        Z = Z * xp.sqrt(widen(block.w))[:, None]
    return *sums, Z.T @ Z


def share_sums(block: Block, shares: Any, point: Any, scatter: str) -> tuple:
    """Of rows that have a share in every group."""
    xp = namespace(block.X)
    R = widen(shares)
    if block.w is not None:
        R = R * widen(block.w)[:, None]
    if scatter in (NONE, DIAGONAL) and (point is None or point.ndim == 1):
        Z = about(block.X, point)
        sums = xp.sum(R, axis=0), R.T @ Z
        return sums if scatter == NONE else (*sums, R.T @ (Z * Z))
    parts = _one_by_one([block._replace(w=R[:, k]) for k in range(R.shape[1])], point, scatter)
    return parts if scatter in (NONE, DIAGONAL, FULL) else (*parts[:2], xp.sum(parts[2], axis=0))


def _one_by_one(blocks: list[Block], point: Any, scatter: str = FULL) -> tuple:
    """`dense_sums` of a block for each group, side by side."""
    of_groups = point is not None and point.ndim == 2
    kind = scatter if scatter in (NONE, DIAGONAL) else FULL
    parts = [dense_sums(block, point[k, :] if of_groups else point, kind) for k, block in enumerate(blocks)]
    xp = namespace(parts[0][1])
    weight = like([float(part[0]) for part in parts], parts[0][1])
    return weight, *(xp.stack(list(sums)) for sums in list(zip(*parts, strict=True))[1:])


def _in_order(block: Block, codes: Any, n: int) -> list[Block]:
    """A block for each group."""
    xp = namespace(block.X)
    order = stable_order(codes)
    edges = to_numpy(xp.searchsorted(xp.take(codes, order), like(np.arange(n + 1), codes))).tolist()
    X = xp.take(block.X, order, axis=0)
    w = None if block.w is None else xp.take(block.w, order)
    return [Block(X[lo:hi, :], None, None if w is None else w[lo:hi]) for lo, hi in pairwise(edges)]


def _at(point: Any, codes: Any) -> Any:
    """The point of each row's group."""
    return point if point is None or point.ndim == 1 else namespace(point).take(point, codes, axis=0)
