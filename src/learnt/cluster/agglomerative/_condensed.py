"""Average, complete and single linkage from all distances, the upper triangle of their matrix in one array.

A chain of nearest neighbours, as in `_ward`; the distances of a merged cluster replace those of one of its parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster.agglomerative._tree import Merges
from learnt.distances import distance_function
from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.threads import for_blocks

AVERAGE, COMPLETE, SINGLE = 0, 1, 2
RULES = {"average": AVERAGE, "complete": COMPLETE, "single": SINGLE}
_LONG = 1 << 22
_CELLS = 1 << 20


@kernel
def place(n, i, j):
    """Where the distance of i and j is."""
    if i > j:
        i, j = j, i
    return n * i - (i * (i + 1)) // 2 + (j - i - 1)


@kernel
def merge_chain(D, n, rule, first, second, distance, stop):
    """Merge n clusters to one by the distances D, which are changed; a row of each merged cluster goes out."""
    size = np.ones(n)
    alive = np.arange(n)  # the clusters that are left, in order
    chain = np.empty(n, np.int64)
    length = 0
    left = n
    for done in range(n - 1):
        while True:
            if atomic_load(stop, 0) != 0:
                return
            if length == 0:
                chain[0] = alive[0]
                length = 1
            a = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            # Of equals the one before in the chain, or the chain would never end.
            b = before
            nearest = D[place(n, a, before)] if before >= 0 else np.inf
            for q in range(left):
                c = alive[q]
                if c == a:
                    continue
                value = D[place(n, a, c)]
                if value < nearest:
                    nearest = value
                    b = c
            if b == before and before >= 0:
                break
            if b < 0:  # all distances are infinite
                b = alive[0] if alive[0] != a else alive[1]
            chain[length] = b
            length += 1
        length -= 2
        first[done], second[done], distance[done] = a, b, nearest
        for q in range(left):
            c = alive[q]
            if c in (a, b):
                continue
            to_a, to_b = D[place(n, a, c)], D[place(n, b, c)]
            if rule == AVERAGE:
                new = (size[a] * to_a + size[b] * to_b) / (size[a] + size[b])
            elif rule == COMPLETE:
                new = max(to_a, to_b)
            else:
                new = min(to_a, to_b)
            D[place(n, b, c)] = new
        size[b] += size[a]
        k = 0
        while alive[k] != a:
            k += 1
        left -= 1
        for q in range(k, left):
            alive[q] = alive[q + 1]


def condensed_merges(D: np.ndarray, n: int, linkage: str) -> Merges:
    """All merges of n rows by their condensed distances D, which are changed."""
    first, second = np.empty((2, n - 1), dtype=np.int64)
    distance, stop = np.empty(n - 1), np.zeros(1, dtype=np.int64)
    stoppable(lambda: merge_chain(D, n, RULES[linkage], first, second, distance, stop), stop, long=D.size > _LONG)
    return Merges(first, second, distance)


def condensed_distances(X: np.ndarray, metric: Any) -> np.ndarray:
    """The distances of all pairs i < j, row by row, by a metric of `learnt.distances`."""
    n = len(X)
    distances = distance_function(metric, {})
    D = np.empty(n * (n - 1) // 2)

    def some(lo: int, hi: int) -> None:
        block = distances(X[lo:hi], X[lo:])
        for i in range(lo, hi):
            start = n * i - i * (i + 1) // 2
            D[start : start + n - i - 1] = block[i - lo, i - lo + 1 :]

    for_blocks(some, n, grain=max(1, _CELLS // n))
    return D


def condensed(square: np.ndarray) -> np.ndarray:
    """The upper triangle of a square matrix of distances."""
    return np.ascontiguousarray(square[np.triu_indices(len(square), k=1)], dtype=np.float64)
