"""Single linkage: its merges are the edges of the minimum spanning tree, by increasing length (Gower and Ross 1969).

Prim's algorithm adds the nearest row to the tree again and again, and keeps a distance and a neighbour for each row.
"""

from __future__ import annotations

import numpy as np

from learnt.cluster.agglomerative._tree import Merges
from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

_LONG = 1 << 24


@kernel
def prim(C, first, second, length, stop):
    """The spanning tree of the columns of C (d × n): n − 1 edges and their squared lengths."""
    d, n = C.shape
    near = np.full(n, np.inf)  # squared distance from the tree, of the columns that are not in it
    owner = np.zeros(n, np.int64)
    row = np.arange(n)
    acc = np.empty(n)
    now = np.empty(d)
    m = n - 1  # the last column is the first in the tree; the columns of the tree are moved behind m
    for done in range(n - 1):
        if atomic_load(stop, 0) != 0:
            return
        at_tree = row[m]
        for t in range(d):
            now[t] = C[t, m]
        for j in range(m):
            acc[j] = 0.0
        for t in range(d):
            x = now[t]
            for j in range(m):
                diff = C[t, j] - x
                acc[j] += diff * diff
        for j in range(m):
            less = acc[j] < near[j]
            near[j] = acc[j] if less else near[j]
            owner[j] = at_tree if less else owner[j]
        at = 0
        for j in range(1, m):
            if near[j] < near[at]:
                at = j
        first[done], second[done], length[done] = owner[at], row[at], near[at]
        m -= 1
        near[at], owner[at] = near[m], owner[m]
        row[at], row[m] = row[m], row[at]
        for t in range(d):
            C[t, at], C[t, m] = C[t, m], C[t, at]


def spanning_merges(X: np.ndarray) -> Merges:
    """The merges of single linkage, for Euclidean distances."""
    n, d = X.shape
    C = np.ascontiguousarray((X - X.mean(axis=0)).T, dtype=np.float64)
    first, second = np.empty((2, n - 1), dtype=np.int64)
    length, stop = np.empty(n - 1), np.zeros(1, dtype=np.int64)
    stoppable(lambda: prim(C, first, second, length, stop), stop, long=n * n * d > _LONG)
    return Merges(first, second, np.sqrt(length))
