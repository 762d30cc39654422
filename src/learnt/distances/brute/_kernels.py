"""Compiled inner loops of brute-force neighbour search.

Scores of a tile, all pairs of some training rows (down) and some queries (across), come from a matrix product; the
kernels keep the smallest for each query, the worst of them first. Training rows come in order, so that of equal ones
the first are kept.
"""

from __future__ import annotations

import numpy as np

from learnt.distances._rounding import square_distance
from learnt.engine.kernel import kernel

SHORT = 48


@kernel(reassociate=True)
def plain_distances(Q, T, out):
    """out[q, t] = ‖Q[q] − T[t]‖² in float64, summed in whatever order is quickest."""
    for t in range(T.shape[0]):
        for q in range(Q.shape[0]):
            total = 0.0
            for j in range(T.shape[1]):
                v = np.float64(T[t, j]) - np.float64(Q[q, j])
                total += v * v
            out[q, t] = total


@kernel
def _replace_worst(values, index, q, value, at):
    """Put (value, at) in place of the worst of those kept for query q, which comes first; `at` is greater than all.

    A short list is kept in descending order, a long one as a heap. Of equal values the later row is the worse.
    """
    size = values.shape[1]
    i = 0
    if size <= SHORT:
        while i + 1 < size and values[q, i + 1] > value:
            values[q, i] = values[q, i + 1]
            index[q, i] = index[q, i + 1]
            i += 1
    else:
        while True:
            child = 2 * i + 1
            if child >= size:
                break
            v = values[q, child]
            if child + 1 < size:
                w = values[q, child + 1]
                if w > v or (w == v and index[q, child + 1] > index[q, child]):
                    child += 1
                    v = w
            if v <= value:
                break
            values[q, i] = v
            index[q, i] = index[q, child]
            i = child
    values[q, i] = value
    index[q, i] = at


@kernel
def _group_minima(scores, extra, out):
    """out[g, q] = the least of scores[t, q] + extra[t] over the eight rows t of group g; vector instructions only."""
    m = scores.shape[1]
    for g in range(out.shape[0]):
        t = 8 * g
        e0, e1, e2, e3 = extra[t], extra[t + 1], extra[t + 2], extra[t + 3]
        e4, e5, e6, e7 = extra[t + 4], extra[t + 5], extra[t + 6], extra[t + 7]
        for q in range(m):
            a = scores[t, q] + e0
            b = scores[t + 1, q] + e1
            c = scores[t + 2, q] + e2
            d = scores[t + 3, q] + e3
            e = scores[t + 4, q] + e4
            f = scores[t + 5, q] + e5
            h = scores[t + 6, q] + e6
            i = scores[t + 7, q] + e7
            a = a if a < b else b
            c = c if c < d else d
            e = e if e < f else f
            h = h if h < i else i
            a = a if a < c else c
            e = e if e < h else h
            out[g, q] = a if a < e else e


@kernel
def _first_guess(minima, values):
    """Fill empty lists with a value that enough rows of this tile are below: the k-th smallest minimum of a group."""
    n_groups, keep = minima.shape[0], values.shape[1]
    if n_groups < keep or keep > SHORT:
        return
    for q in range(values.shape[0]):
        best = values[q]
        if best[keep - 1] < np.inf:
            continue
        for g in range(n_groups):
            v = minima[g, q]
            if v < best[0]:
                i = 0
                while i + 1 < keep and best[i + 1] > v:
                    best[i] = best[i + 1]
                    i += 1
                best[i] = v
        best[:] = best[0] + abs(best[0]) * 1e-5 + 1e-30


@kernel
def keep_smallest(scores, extra, first, minima, values, index):
    """Bring each query's heap of smallest scores up to date with a tile whose first training row is `first`.

    The tile has a multiple of eight rows; a padding row has extra = ∞.
    """
    n_groups = scores.shape[0] // 8
    _group_minima(scores, extra, minima[:n_groups])
    _first_guess(minima[:n_groups], values)
    for g in range(n_groups):
        for q in range(scores.shape[1]):
            if minima[g, q] < values[q, 0]:
                for t in range(8 * g, 8 * g + 8):
                    s = scores[t, q] + extra[t]
                    if s < values[q, 0]:
                        _replace_worst(values, index, q, s, first + t)


@kernel
def exact_order(Q, T, index, out):
    """out[q] = ‖Q[q] − T[index[q]]‖² for the kept rows of each query; short lists are sorted by (distance, index)."""
    short = index.shape[1] <= SHORT
    squares = np.empty(Q.shape[1], np.float64)
    for q in range(index.shape[0]):
        fours = index.shape[1] - index.shape[1] % 4
        for c in range(0, fours, 4):
            _four_distances(Q, q, T, index[q, c:], out[q, c:])
        for c in range(fours, index.shape[1]):
            out[q, c] = square_distance(Q, q, T, index[q, c], squares)
        if not short:
            continue
        for c in range(1, index.shape[1]):
            at, value, i = index[q, c], out[q, c], c
            while i > 0 and (out[q, i - 1] > value or (out[q, i - 1] == value and index[q, i - 1] > at)):
                out[q, i] = out[q, i - 1]
                index[q, i] = index[q, i - 1]
                i -= 1
            out[q, i] = value
            index[q, i] = at


@kernel
def keep_exact(scores, extra, first, limits, minima, Q, T, values, index):
    """`keep_smallest` by exact squared distances, computed only where the score is within the query's limit."""
    squares = np.empty(Q.shape[1], np.float64)
    n_groups = scores.shape[0] // 8
    _group_minima(scores, extra, minima[:n_groups])
    for g in range(n_groups):
        for q in range(scores.shape[1]):
            if not minima[g, q] > limits[q]:
                for t in range(8 * g, 8 * g + 8):
                    if first + t < T.shape[0] and not scores[t, q] + extra[t] > limits[q]:
                        exact = square_distance(Q, q, T, first + t, squares)
                        if exact < values[q, 0]:
                            _replace_worst(values, index, q, exact, first + t)


@kernel
def scores_within(scores, extra, first, n_points, bounds, minima, query, index):
    """The pairs of a tile whose score is not above the query's bound, points ascending; how many there are.

    A score that is not a number counts; a padding row, after the last of the points, does not.
    """
    n_groups, found = scores.shape[0] // 8, 0
    _group_minima(scores, extra, minima[:n_groups])
    for g in range(n_groups):
        for q in range(scores.shape[1]):
            if not minima[g, q] > bounds[q]:
                for t in range(8 * g, 8 * g + 8):
                    query[found], index[found] = q, first + t
                    found += not scores[t, q] + extra[t] > bounds[q] and first + t < n_points
    return found


@kernel(fuse=False, allocates=False)
def _four_distances(Q, q, T, index, out):
    """`square_distance` of a query and four rows at once: four independent sums."""
    t0, t1, t2, t3 = index[0], index[1], index[2], index[3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(T.shape[1]):
        v = np.float64(Q[q, j])
        d0, d1 = v - np.float64(T[t0, j]), v - np.float64(T[t1, j])
        d2, d3 = v - np.float64(T[t2, j]), v - np.float64(T[t3, j])
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
    out[0], out[1], out[2], out[3] = s0, s1, s2, s3


@kernel(fuse=False, allocates=False)
def exact_pairs(Q, T, query, rows, ends, squares, index, out):
    """Pairs (query, row) put in order of the queries, and their exact squared distances.

    Those of query q go to ends[q]…ends[q + 1] − 1.
    """
    for i in range(query.size):
        q = query[i]
        index[ends[q]] = rows[i]
        ends[q] += 1
    lo = 0
    for q in range(Q.shape[0]):  # each query's pairs now end where the next one's began
        hi = ends[q]
        fours = hi - (hi - lo) % 4
        for i in range(lo, fours, 4):
            _four_distances(Q, q, T, index[i:], out[i:])
        for i in range(fours, hi):
            out[i] = square_distance(Q, q, T, index[i], squares)
        lo = hi
