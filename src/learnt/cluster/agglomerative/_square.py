"""Average, complete and single linkage from the square matrix of all distances, and Ward's from that of their squares.

A chain of nearest neighbours, as in `_ward`; the distances of a merged cluster replace those of one of its parts. Only
its row is written then: to write its column too would touch one cache line for each number. The row of another cluster
is updated when it is next read, from the rows of clusters merged since. When half of the clusters are merged, the
matrix is compacted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.cluster.agglomerative._tree import Merges
from learnt.distances import distance_function
from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.threads import for_blocks

AVERAGE, COMPLETE, SINGLE, WARD = 0, 1, 2, 3
RULES = {"average": AVERAGE, "complete": COMPLETE, "single": SINGLE, "ward": WARD}
_CHUNK = 64  # distances whose smallest is found at once
_FEW = 64  # clusters from which the matrix is not made smaller any more
_LONG = 1 << 22  # distances from which Ctrl-C is checked in between
_CELLS = 1 << 20
_CANCELS = 1e-3  # of ‖a‖² + ‖b‖²: below, products lose more than three digits of a squared distance


class Clusters(NamedTuple):
    """The clusters of a stage, by their place in the matrix of distances."""

    D: np.ndarray  # n × n
    gone: np.ndarray  # 0, or infinite where the cluster has been merged into another
    size: np.ndarray
    row: np.ndarray  # a row of X in each
    read: np.ndarray  # how many merges of this stage its distances include
    merged: np.ndarray  # the merge that made it, counted from 1 in this stage; 0 before


class Chain(NamedTuple):
    """Clusters, each the nearest of the one before, and all merges so far."""

    places: np.ndarray
    made: np.ndarray  # what each merge of this stage made
    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray
    counts: np.ndarray  # the chain's length, merges


@kernel(allocates=False)
def refresh(clusters, made, now, a):
    """Update the distances of a: merges since they were last read have changed those to the merged clusters."""
    D = clusters.D
    for t in range(clusters.read[a], now):
        c = made[t]
        if c != a and clusters.merged[c] == t + 1 and clusters.gone[c] == 0.0:
            D[a, c] = D[c, a]
    clusters.read[a] = now


@kernel(allocates=False)
def smallest(distances, gone):
    """The first of the smallest distances to clusters that are not gone; −1 where all are infinite."""
    n = distances.size
    nearest, where = np.inf, -1
    for lo in range(0, n, _CHUNK):
        hi = min(lo + _CHUNK, n)
        m0, m1, m2, m3 = np.inf, np.inf, np.inf, np.inf
        q = lo
        while q + 4 <= hi:
            m0 = min(m0, distances[q] + gone[q])
            m1 = min(m1, distances[q + 1] + gone[q + 1])
            m2 = min(m2, distances[q + 2] + gone[q + 2])
            m3 = min(m3, distances[q + 3] + gone[q + 3])
            q += 4
        while q < hi:
            m0 = min(m0, distances[q] + gone[q])
            q += 1
        least = min(min(m0, m1), min(m2, m3))
        if least < nearest:
            nearest, where = least, lo
    if where >= 0:
        while distances[where] + gone[where] != nearest:
            where += 1
    return where, nearest


@kernel(allocates=False)
def merge_chain(clusters, chain, rule, enough, stop):
    """Merge clusters until `enough` merges are done; a row of each merged cluster goes out."""
    D, gone, size, row = clusters.D, clusters.gone, clusters.size, clusters.row
    n = gone.size
    length, done, now, start = chain.counts[0], chain.counts[1], 0, 0
    while done < enough:
        if atomic_load(stop, 0) != 0:
            break
        if length == 0:
            while gone[start] != 0.0:
                start += 1
            chain.places[0], length = start, 1
        a = chain.places[length - 1]
        before = chain.places[length - 2] if length > 1 else -1
        refresh(clusters, chain.made, now, a)
        own = D[a]
        gone[a] = np.inf
        b, nearest = smallest(own, gone)
        gone[a] = 0.0
        # Of equals the one before in the chain, or the chain would never end.
        if before >= 0 and (b < 0 or own[before] <= nearest):
            b, nearest = before, own[before]
        if b < 0:  # all distances are infinite
            b = 0
            while gone[b] != 0.0 or b == a:
                b += 1
        if b != before:
            chain.places[length] = b
            length += 1
            continue
        length -= 2
        chain.first[done], chain.second[done], chain.distance[done] = row[a], row[b], nearest
        done += 1
        refresh(clusters, chain.made, now, b)
        other = D[b]
        of_a, of_b = size[a], size[b]
        if rule == AVERAGE:
            for c in range(n):
                other[c] = (of_a * own[c] + of_b * other[c]) / (of_a + of_b)
        elif rule == COMPLETE:
            for c in range(n):
                other[c] = max(own[c], other[c])
        elif rule == WARD:
            for c in range(n):
                of_c = size[c]
                both = (of_a + of_c) * own[c] + (of_b + of_c) * other[c]
                other[c] = (both - of_c * nearest) / (of_a + of_b + of_c)
        else:
            for c in range(n):
                other[c] = min(own[c], other[c])
        gone[a] = np.inf
        size[b] += of_a
        chain.made[now] = b
        now += 1
        clusters.merged[b] = clusters.read[b] = now
    for a in range(n):
        if gone[a] == 0.0:
            refresh(clusters, chain.made, now, a)
    chain.counts[0], chain.counts[1] = length, done


def merges(D: np.ndarray, linkage: str) -> Merges:
    """All merges of n rows by the n × n distances D, which are changed."""
    n = len(D)
    first, second = np.empty((2, n - 1), dtype=np.int64)
    places, made = np.empty((2, n), dtype=np.int64)
    chain = Chain(places, made, first, second, np.empty(n - 1), np.zeros(2, np.int64))
    stop = np.zeros(1, dtype=np.int64)

    def merge_all() -> None:
        distances, size, row = D, np.ones(n), np.arange(n)
        while chain.counts[1] < n - 1 and not stop[0]:
            left = len(row)
            clusters = Clusters(distances, np.zeros(left), size, row, *np.zeros((2, left), dtype=np.int64))
            merge_chain(clusters, chain, RULES[linkage], n - 1 if left <= _FEW else n - left // 2, stop)
            kept = np.flatnonzero(clusters.gone == 0.0)
            length = chain.counts[0]
            places[:length] = np.searchsorted(kept, places[:length])
            distances, size, row = distances[np.ix_(kept, kept)], size[kept], row[kept]

    stoppable(merge_all, stop, long=D.size > _LONG)
    return Merges(first, second, chain.distance)


def all_distances(X: np.ndarray, metric: Any) -> np.ndarray:
    """The distances of all pairs of rows by a metric of `learnt.distances`; both of a pair to the last bit."""
    return all_pairs(X, distance_function(X, metric))


def squares_between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """‖a − b‖² of all rows, by products where these leave the digits; of near rows from their differences."""
    of_a, of_b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    D = A @ B.T
    D *= -2.0
    D += of_a[:, None]
    D += of_b
    for i, (a, of) in enumerate(zip(A, of_a, strict=True)):
        near = np.flatnonzero(D[i] < _CANCELS * (of + of_b))
        if near.size:
            gaps = B[near] - a
            D[i, near] = np.einsum("ij,ij->i", gaps, gaps)
    return D


def all_pairs(X: np.ndarray, distances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """What a function says of all pairs of rows, each pair asked once."""
    n = len(X)
    D = np.empty((n, n))

    def some(lo: int, hi: int) -> None:
        block = distances(X[lo:hi], X[lo:])
        block[:, : hi - lo] = mirrored(block[:, : hi - lo])
        D[lo:hi, lo:] = block
        D[hi:, lo:hi] = block[:, hi - lo :].T

    for_blocks(some, n, grain=max(1, _CELLS // n))
    return D


def mirrored(square: np.ndarray) -> np.ndarray:
    """A symmetric copy of a square matrix: the numbers below its diagonal are those above."""
    upper = np.triu(np.asarray(square, dtype=np.float64), 1)
    return upper + upper.T
