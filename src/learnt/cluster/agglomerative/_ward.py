"""Ward's linkage by a chain of nearest neighbours, from centroids only.

    F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983.

A chain goes from a cluster to its nearest until two are each other's nearest, which are merged: no later merge can be
nearer. The distance of two clusters is that of their centroids times √(2 n m / (n + m)), so that a centroid and a size
for each cluster are all that is kept. Clusters are stored in cells of 64 that are near each other; a cell whose box is
too far away is skipped. When half of the clusters are merged, the others are put into new cells.

Of few rows with many features, where centroids are long and no box is far away, the matrix of squared distances is kept
instead: `_square` with the rule of Lance and Williams.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.cluster.agglomerative._square import all_pairs, merges, squares_between
from learnt.cluster.agglomerative._tree import Merges
from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

_CELL = 64
_NOWHERE = 1e150  # coordinates of a column without a cluster
_MARGIN = 1.0 + 1e-13  # covers the rounding of a bound
_WIDE = 64  # features from which boxes exclude little
_MANY = 6000  # rows whose matrix is not kept
_LONG = 1 << 24  # rows² · features from which Ctrl-C is checked in between


class Cells(NamedTuple):
    """Clusters as columns, 64 to a cell."""

    center: np.ndarray  # d × columns
    size: np.ndarray  # rows in each
    part: np.ndarray  # 1 / size
    row: np.ndarray  # a row of each
    lower: np.ndarray  # d × cells: a box around the centres
    upper: np.ndarray
    most: np.ndarray  # of each cell, the largest part that any of its clusters had


class Chain(NamedTuple):
    """Representative rows of clusters, each the nearest of the one before, and the merges so far."""

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray
    counts: np.ndarray  # the chain's length, merges


@kernel(allocates=False)
def nearest_cluster(cells, a, b, nearest, squares, gaps):
    """The column nearest to column a and its distance, if it is less than that of column b; b if not."""
    center, size, part, row, lower, upper, most = cells
    d, n_cells = lower.shape
    own, own_part = size[a], part[a]
    for q in range(n_cells):
        gaps[q] = 0.0
    for t in range(d):
        x = center[t, a]
        for q in range(n_cells):
            gap = max(max(lower[t, q] - x, x - upper[t, q]), 0.0)
            gaps[q] += gap * gap
    home = a // _CELL
    for step in range(n_cells):
        q = step - 1 if step <= home else step  # a's own cell first
        if step == 0:
            q = home
        if gaps[q] >= nearest * (own_part + most[q]) * _MARGIN:
            continue
        lo = q * _CELL
        for r in range(_CELL):
            squares[r] = 0.0
        for t in range(0, d - 3, 4):  # four features at a time: half the traffic of one
            c0, c1, c2, c3 = (
                center[t, lo : lo + _CELL],
                center[t + 1, lo : lo + _CELL],
                center[t + 2, lo : lo + _CELL],
                center[t + 3, lo : lo + _CELL],
            )
            x0, x1, x2, x3 = center[t, a], center[t + 1, a], center[t + 2, a], center[t + 3, a]
            for r in range(_CELL):
                d0, d1, d2, d3 = c0[r] - x0, c1[r] - x1, c2[r] - x2, c3[r] - x3
                squares[r] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        for t in range(d - d % 4, d):
            x = center[t, a]
            for r in range(_CELL):
                diff = center[t, lo + r] - x
                squares[r] += diff * diff
        limit = nearest * _MARGIN
        least = np.inf
        for r in range(_CELL):
            least = min(least, squares[r] - limit * (own_part + part[lo + r]))
        if not least < 0.0:
            continue
        for r in range(_CELL):
            c = lo + r
            if c != a and row[c] >= 0:
                far = squares[r] * (own * size[c] / (own + size[c]))
                if far < nearest:
                    nearest, b = far, c
    return b, nearest


@kernel
def ward_chain(cells, column, chain, enough, stop):
    """Merge clusters until `enough` merges are done; rows of the merged clusters and squared distances / 2 go out."""
    center, size, part, row, lower, upper, _ = cells
    d = center.shape[0]
    squares, gaps = np.empty(_CELL), np.empty(lower.shape[1])
    length, done, start = chain.counts[0], chain.counts[1], 0
    while done < enough and atomic_load(stop, 0) == 0:
        if length == 0:
            while row[start] < 0:
                start += 1
            chain.rows[0], length = row[start], 1
        a = column[chain.rows[length - 1]]
        before, back = -1, np.inf
        if length > 1:
            # Of equals the one before in the chain, or the chain would never end.
            before, back = column[chain.rows[length - 2]], 0.0
            for t in range(d):
                diff = center[t, before] - center[t, a]
                back += diff * diff
            back *= size[a] * size[before] / (size[a] + size[before])
        b, nearest = nearest_cluster(cells, a, before, back, squares, gaps)
        if b != before:
            chain.rows[length] = row[b]
            length += 1
            continue
        length -= 2
        chain.first[done], chain.second[done], chain.distance[done] = row[a], row[b], nearest
        done += 1
        total = size[a] + size[b]
        for t in range(d):
            center[t, a] = (size[a] * center[t, a] + size[b] * center[t, b]) / total
            center[t, b] = _NOWHERE
            lower[t, a // _CELL] = min(lower[t, a // _CELL], center[t, a])
            upper[t, a // _CELL] = max(upper[t, a // _CELL], center[t, a])
        size[a], part[a], row[b] = total, 1.0 / total, -1
    chain.counts[0], chain.counts[1] = length, done


def in_cells(center: np.ndarray, size: np.ndarray, row: np.ndarray) -> Cells:
    """Clusters in cells of 64 neighbours: halves along the widest feature, again and again."""
    d, n = center.shape
    order, waiting = np.arange(n), [(0, n)]
    while waiting:
        lo, hi = waiting.pop()
        if hi - lo > _CELL:
            some = order[lo:hi]
            widest = np.ptp(center[:, some], axis=1).argmax()
            middle = _CELL * -(-(hi - lo) // (2 * _CELL))
            order[lo:hi] = some[np.argpartition(center[widest, some], middle)]
            waiting += [(lo, lo + middle), (lo + middle, hi)]
    n_cells = -(-n // _CELL)
    room = n_cells * _CELL - n
    C = np.concatenate([center[:, order], np.full((d, room), _NOWHERE)], axis=1)
    sizes, rows = np.r_[size[order], np.ones(room)], np.r_[row[order], np.full(room, -1)]
    starts = np.arange(0, n, _CELL)
    inside = C[:, :n]
    lower, upper = np.minimum.reduceat(inside, starts, axis=1), np.maximum.reduceat(inside, starts, axis=1)
    part = 1.0 / sizes
    return Cells(C, sizes, part, rows, lower, upper, np.maximum.reduceat(part[:n], starts))


def ward_merges(X: np.ndarray) -> Merges:
    """All merges of the rows of X."""
    n, d = X.shape
    scale = 2.0 ** int(np.frexp(np.abs(X).max())[1])  # brings cells to at most 1, so that no square overflows
    Z = np.asarray(X / scale, dtype=np.float64)
    Z -= Z.mean(axis=0)
    if d >= _WIDE and n <= _MANY:
        found = merges(all_pairs(Z, squares_between), "ward")
        return found._replace(distance=scale * np.sqrt(np.maximum(found.distance, 0.0)))
    center = np.ascontiguousarray(Z.T)
    size, row = np.ones(n), np.arange(n)
    first, second = np.empty((2, n - 1), dtype=np.int64)
    chain = Chain(np.empty(n, np.int64), first, second, np.empty(n - 1), np.zeros(2, np.int64))
    column, stop = np.empty(n, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def merge_all() -> None:
        nonlocal center, size, row
        while chain.counts[1] < n - 1 and not stop[0]:
            cells = in_cells(center, size, row)
            used = cells.row >= 0
            column[cells.row[used]] = np.flatnonzero(used)
            left = len(row)
            ward_chain(cells, column, chain, n - 1 if left <= _CELL else int(n - left // 2), stop)
            used = cells.row >= 0
            center, size, row = cells.center[:, used], cells.size[used], cells.row[used]

    stoppable(merge_all, stop, long=n * n * d > _LONG)
    return Merges(chain.first, chain.second, scale * np.sqrt(2.0 * chain.distance))
