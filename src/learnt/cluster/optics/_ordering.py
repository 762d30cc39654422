"""Compiled loops of OPTICS: the row with the smallest reachability comes next, and makes its neighbours reachable.

A row reaches its neighbours at  max(its core distance, their distance).  Of equal reachabilities the row with
the smaller number comes first, and where no row is reachable the first of those that are left.
"""

from __future__ import annotations

import numpy as np

from learnt.distances import square_distance
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load


@kernel
def order_by_neighbors(starts, indices, distances, core, ordering, reach, predecessor, stop):
    """The order from stored neighbours; the rows that are reachable and not yet in it are a list."""
    n = core.size
    done, front, size, first = np.zeros(n, np.bool_), np.empty(n, np.int64), 0, 0
    for step in range(n):
        if atomic_load(stop, 0) != 0:
            return
        if size == 0:
            while done[first]:
                first += 1
            now = np.int64(first)
        else:
            best = 0
            for k in range(1, size):
                gap = reach[front[k]] - reach[front[best]]
                if gap < 0 or (gap == 0 and front[k] < front[best]):
                    best = k
            now = front[best]
            size -= 1
            front[best] = front[size]
        done[now] = True
        ordering[step] = now
        if core[now] == np.inf:
            continue
        for at in range(starts[now], starts[now + 1]):
            j = indices[at]
            length = max(core[now], distances[at])
            if not done[j] and length < reach[j]:
                if reach[j] == np.inf:
                    front[size] = j
                    size += 1
                reach[j], predecessor[j] = length, now


@kernel
def order_by_rows(points, core, limit, ordering, reach, predecessor, stop):
    """The order from Euclidean distances up to a limit, computed when they are needed."""
    n = points.shape[0]
    done, squares, now = np.zeros(n, np.bool_), np.empty(points.shape[1]), 0
    for step in range(n):
        if atomic_load(stop, 0) != 0:
            return
        done[now] = True
        ordering[step] = now
        reaches = core[now] < np.inf
        best, at = np.inf, -1
        for j in range(n):
            if done[j]:
                continue
            if reaches:
                length = np.sqrt(square_distance(points, now, points, j, squares))
                if length <= limit and max(length, core[now]) < reach[j]:
                    reach[j], predecessor[j] = max(length, core[now]), now
            if at < 0 or reach[j] < best:
                best, at = reach[j], j
        now = at
