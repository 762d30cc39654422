"""The point to take sums about: near the mean, so that large means do not cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import namespace
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._record import divisor

_FAR = 100.0  # means beyond this many standard deviations cost four digits: subtract them before squaring


def first_point(head: Block, missing: bool) -> Any:
    """The mean of the first rows, without their `missing` cells; None, which stands for 0, for sparse rows."""
    if sparse.issparse(head.X):
        return None
    X = widen(head.X)
    xp = namespace(X)
    mean = xp.mean(X, axis=0)
    if not missing or bool(xp.all(xp.isfinite(mean))):
        return mean
    present = xp.isfinite(X)
    count = xp.sum(xp.where(present, xp.ones_like(X), xp.zeros_like(X)), axis=0)
    return xp.sum(xp.where(present, X, xp.zeros_like(X)), axis=0) / divisor(count)


def far_from_zero(mean: Any, some: Any) -> bool:
    """Whether a mean is so far from 0, measured by the spread of some rows, that squares about 0 would lose digits."""
    xp = namespace(some)
    with np.errstate(over="ignore"):
        return bool(xp.any(xp.abs(mean) > _FAR * xp.std(some, axis=0)))
