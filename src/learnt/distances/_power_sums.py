"""Minkowski distances piece by piece: Σⱼ gapⱼ^p in order of the features (the largest gap for p = ∞), and the root."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


@kernel(fuse=False, allocates=False)
def add_power(p, total, gap):
    """The sum with one more feature."""
    if p == 2.0:
        return total + gap * gap
    if p == 1.0:
        return total + gap
    if p == np.inf:
        return max(total, gap)
    return total + gap**p


@kernel(fuse=False, allocates=False)
def power_root(p, total):
    """The distance that has this sum."""
    if p == 2.0:
        return np.sqrt(total)
    if p == 1.0 or p == np.inf:
        return total
    return total ** (1.0 / p)


@kernel(fuse=False, allocates=False)
def power_of(p, distance):
    """The sum that has this distance."""
    if p == 2.0:
        return distance * distance
    if p == 1.0 or p == np.inf:
        return distance
    return distance**p
