"""Ward's linkage by a chain of nearest neighbours, from centroids alone.

    F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983.

A chain walks from a cluster to its nearest until two are each other's nearest, which are merged: no later merge can be
nearer. The distance of two clusters is that of their centroids times √(2 n m / (n + m)), so that a centroid and a size
for each cluster are all that is kept.
"""

from __future__ import annotations

import numpy as np

from learnt.cluster.agglomerative._tree import Merges
from learnt.engine.interrupts import stoppable
from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel

_LANES = 512
_LONG = 1 << 24  # rows² · features from which Ctrl-C must be heard in between


@kernel
def nearest_cluster(C, size, m, c, acc, best, which):
    """The column of the first m of C (d × n, clusters) that is nearest to column c; how far, in best[0].

    Lane by lane: the loops over r become vector instructions.
    """
    lanes = acc.shape[0]
    own = size[c]
    for r in range(lanes):
        best[r] = np.inf
        which[r] = 0
    for lo in range(0, m, lanes):
        width = min(lanes, m - lo)
        for r in range(width):
            acc[r] = 0.0
        for t in range(C.shape[0]):
            x = C[t, c]
            for r in range(width):
                diff = C[t, lo + r] - x
                acc[r] += diff * diff
        for r in range(width):
            other = size[lo + r]
            acc[r] *= own * other / (own + other)
        if lo <= c < lo + width:
            acc[c - lo] = np.inf
        for r in range(width):
            less = acc[r] < best[r]
            best[r] = acc[r] if less else best[r]
            which[r] = lo if less else which[r]
    at = 0
    for r in range(1, min(lanes, m)):
        if best[r] < best[at]:
            at = r
    best[0], which[0] = best[at], which[at] + at
    return which[0]


@kernel
def ward_chain(C, size, first, second, distance, stop):
    """Merge all columns of C (d × n) to one; rows of the merged clusters and squared distances / 2 go out."""
    n = C.shape[1]
    row = np.arange(n)  # of each column: a row of its cluster
    column = np.arange(n)  # of each row that stands for a cluster
    chain = np.empty(n, np.int64)
    acc, best, which = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES, np.int64)
    length = 0
    m = n
    done = 0
    while done < n - 1:
        if atomic_load(stop, 0) != 0:
            return
        if length == 0:
            chain[0] = row[0]
            length = 1
        a = column[chain[length - 1]]
        b = nearest_cluster(C, size, m, a, acc, best, which)
        nearest = best[0]
        if length > 1:
            # Of equals the one before in the chain, or the chain would never end.
            p = column[chain[length - 2]]
            back = 0.0
            for t in range(C.shape[0]):
                diff = C[t, p] - C[t, a]
                back += diff * diff
            back *= size[a] * size[p] / (size[a] + size[p])
            if not nearest < back:
                b = p
        if length > 1 and row[b] == chain[length - 2]:
            length -= 2
            first[done], second[done], distance[done] = row[a], row[b], nearest
            done += 1
            total = size[a] + size[b]
            for t in range(C.shape[0]):
                C[t, a] = (size[a] * C[t, a] + size[b] * C[t, b]) / total
            size[a] = total
            m -= 1
            # The last column takes the place of the one that is gone.
            for t in range(C.shape[0]):
                C[t, b] = C[t, m]
            size[b], row[b] = size[m], row[m]
            column[row[b]] = b
        else:
            chain[length] = row[b]
            length += 1


def ward_merges(X: np.ndarray) -> Merges:
    """All merges of the rows of X."""
    n, d = X.shape
    centre = X.mean(axis=0)
    C = np.ascontiguousarray((X - centre).T, dtype=np.float64)
    first, second = np.empty((2, n - 1), dtype=np.int64)
    distance, stop = np.empty(n - 1), np.zeros(1, dtype=np.int64)
    stoppable(lambda: ward_chain(C, np.ones(n), first, second, distance, stop), stop, long=n * n * d > _LONG)
    return Merges(first, second, np.sqrt(2.0 * distance))
