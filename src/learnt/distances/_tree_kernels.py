"""Compiled inner loops of the KD-tree: splitting nodes, and walking the tree for a query.

Distances are sums of p-th powers in order of the features, without fused operations: the bits of brute force. A lower
bound over a box is computed by the same steps from gaps that are no larger, so rounding never puts it above a distance.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel


@kernel
def _select(values, order, lo, hi, middle):
    """Reorder lo…hi−1 so that what comes before `middle` is smaller, by (value, index)."""
    while hi - lo > 1:
        at = (lo + hi) // 2
        pivot, pivot_index = values[at], order[at]
        i, j = lo, hi - 1
        while i <= j:
            while values[i] < pivot or (values[i] == pivot and order[i] < pivot_index):
                i += 1
            while values[j] > pivot or (values[j] == pivot and order[j] > pivot_index):
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            hi = j + 1
        elif middle >= i:
            lo = i
        else:
            return


@kernel
def _widest(X, order, lo, hi, lower, upper):
    """The box of the points, and the feature with the largest variance."""
    best, widest = -1.0, 0
    for j in range(X.shape[1]):
        low = high = shift = np.float64(X[order[lo], j])
        total = squares = 0.0
        for i in range(lo, hi):
            v = np.float64(X[order[i], j])
            low = min(low, v)
            high = max(high, v)
            total += v - shift
            squares += (v - shift) * (v - shift)
        lower[j], upper[j] = low, high
        variance = squares - total * total / (hi - lo)
        if high > low and variance > best:
            best, widest = variance, j
    return widest


@kernel
def split_nodes(X, order, values, starts, boxes, root, depth):
    """Split the node `root` and those below it, `depth` levels in all; children of node i are 2i + 1 and 2i + 2."""
    n_nodes = starts.shape[0]
    first, count = root, 1
    for _ in range(depth):
        for node in range(first, first + count):
            lo, hi = starts[node, 0], starts[node, 1]
            j = _widest(X, order, lo, hi, boxes[node, 0], boxes[node, 1])
            if 2 * node + 2 < n_nodes:
                for i in range(lo, hi):
                    values[i] = X[order[i], j]
                middle = (lo + hi) // 2
                _select(values, order, lo, hi, middle)
                starts[2 * node + 1, 0], starts[2 * node + 1, 1] = lo, middle
                starts[2 * node + 2, 0], starts[2 * node + 2, 1] = middle, hi
        first, count = 2 * first + 1, 2 * count


@kernel(fuse=False)
def _sum(p, A, a, B, b):
    """Σⱼ |A[a, j] − B[b, j]|^p, or the largest for p = ∞."""
    total = 0.0
    for j in range(A.shape[1]):
        gap = abs(np.float64(A[a, j]) - np.float64(B[b, j]))
        if p == 2.0:
            total += gap * gap
        elif p == 1.0:
            total += gap
        elif p == np.inf:
            total = max(total, gap)
        else:
            total += gap**p
    return total


@kernel(fuse=False)
def _bound(p, box, Q, q):
    """The same for the point of a box that is nearest to the query."""
    total = 0.0
    for j in range(Q.shape[1]):
        v = np.float64(Q[q, j])
        gap = max(box[0, j] - v, v - box[1, j], 0.0)
        if p == 2.0:
            total += gap * gap
        elif p == 1.0:
            total += gap
        elif p == np.inf:
            total = max(total, gap)
        else:
            total += gap**p
    return total


@kernel
def _sift(values, index, size, value, at):
    """Put (value, at) in place of the first, the largest, of a heap of this size."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            values[other] > values[child] or (values[other] == values[child] and index[other] > index[child])
        ):
            child = other
        if values[child] < value or (values[child] == value and index[child] < at):
            break
        values[i], index[i] = values[child], index[child]
        i = child
    values[i], index[i] = value, at


@kernel
def nearest_points(P, order, starts, boxes, p, shrink, Q, values, index):
    """values[q], index[q]: the nearest points of query q by (sum of powers, index), ascending.

    Of a bound that was computed by `**`, `shrink` of it is sure.
    """
    n_nodes, k = starts.shape[0], values.shape[1]
    stack, bounds = np.empty(64, np.int64), np.empty(64)
    for q in range(Q.shape[0]):
        best, rows = values[q], index[q]
        best[:], rows[:] = np.inf, order.size
        stack[0], bounds[0], size = 0, 0.0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            if bounds[size] * shrink > best[0]:
                continue
            while 2 * node + 2 < n_nodes:
                near, far = 2 * node + 1, 2 * node + 2
                a, b = _bound(p, boxes[near], Q, q), _bound(p, boxes[far], Q, q)
                if b < a:
                    near, far, a, b = far, near, b, a
                if b * shrink <= best[0]:
                    stack[size], bounds[size] = far, b
                    size += 1
                node = near
                if a * shrink > best[0]:
                    node = -1
                    break
            if node < 0:
                continue
            for i in range(starts[node, 0], starts[node, 1]):
                total = _sum(p, P, i, Q, q)
                if total < best[0] or (total == best[0] and order[i] < rows[0]):
                    _sift(best, rows, k, total, order[i])
        for last in range(k - 1, 0, -1):  # the largest goes to the end
            value, at = best[last], rows[last]
            best[last], rows[last] = best[0], rows[0]
            _sift(best, rows, last, value, at)


@kernel
def points_within(P, order, starts, boxes, p, limits, Q, counts, index, sums):
    """How many points each query has within its limit, and where there is room for them, which, and their sums."""
    n_nodes, found, room = starts.shape[0], 0, index.size
    stack = np.empty(64, np.int64)
    for q in range(Q.shape[0]):
        before = found
        stack[0], size = 0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            if _bound(p, boxes[node], Q, q) > limits[q]:
                continue
            if 2 * node + 2 < n_nodes:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
                continue
            for i in range(starts[node, 0], starts[node, 1]):
                total = _sum(p, P, i, Q, q)
                if total <= limits[q]:
                    if room:
                        index[found], sums[found] = order[i], total
                    found += 1
        counts[q] = found - before
