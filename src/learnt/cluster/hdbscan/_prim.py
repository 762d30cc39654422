"""Prim's algorithm on a matrix of distances: the nearest row is added to the tree repeatedly."""

from __future__ import annotations

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

_LONG = 1 << 24


@kernel
def _grow(D, core, pairs, lengths, stop):
    n = D.shape[0]
    near, owner, outside = np.full(n, np.inf), np.zeros(n, np.int64), np.ones(n, np.bool_)
    now = 0
    for done in range(n - 1):
        if atomic_load(stop, 0) != 0:
            return
        outside[now] = False
        best, at = np.inf, -1
        for j in range(n):
            if outside[j]:
                length = max(D[now, j], core[now], core[j])
                if length < near[j]:
                    near[j], owner[j] = length, now
                if near[j] < best or at < 0:
                    best, at = near[j], j
        pairs[done, 0], pairs[done, 1], lengths[done] = owner[at], at, best
        now = at


def spanning_tree(D: np.ndarray, core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """n − 1 pairs of rows and their mutual reachabilities  max(c_i, c_j, D_ij)."""
    n = len(D)
    pairs, lengths, stop = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1), np.zeros(1, dtype=np.int64)
    stoppable(lambda: _grow(D, core, pairs, lengths, stop), stop, long=n * n > _LONG)
    return pairs, lengths
