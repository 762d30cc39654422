"""Compiled loops that build trees: boxes split at the median of the widest feature, balls along their longest axis.

Boxes are those of the leaves, then of their parents. The widest feature is the one with the largest variance, by some
rows of a large node.

A level has its rows in one half of `rows` and the next level in the other half: a node's points lie side by side, and
nothing is copied back. A median is found among pairs (where a point lies along the axis, in single precision; its
place) that are one integer each: parting them takes no branch, and no two are equal.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_SAMPLE = 64  # rows that tell the widest feature, at least, and fewer than twice as many


@kernel
def _select(keys, middle):
    """Reorder so that what comes before `middle` is smaller, and what comes after larger."""
    lo, hi = 0, keys.size
    while hi - lo > 1:
        # The pivot is the median of three; it is kept at the end during the partition.
        a, b, c = keys[lo], keys[(lo + hi) // 2], keys[hi - 1]
        at = (lo + hi) // 2
        if (a <= b) != (a <= c):
            at = lo
        elif (c <= a) != (c <= b):
            at = hi - 1
        pivot = keys[at]
        keys[at], keys[hi - 1] = keys[hi - 1], pivot
        part = keys[lo : hi - 1]
        below = 0
        for i in range(part.size):
            key = part[i]
            part[i] = part[below]
            part[below] = key
            below += key < pivot
        store = lo + below
        keys[hi - 1], keys[store] = keys[store], pivot
        if middle < store:
            hi = store
        elif middle > store:
            lo = store + 1
        else:
            return


@kernel
def _pack(along, low, high, rounded, keys):
    """Pairs (place between low and high, row) as integers: nonnegative floats are ordered like their bits."""
    width = high - low
    unit = 1.0 / width if 0.0 < width < np.inf else 0.0
    for i in range(along.size):
        rounded[i] = (along[i] - low) * unit
    bits = rounded.view(np.int32)
    for i in range(along.size):
        keys[i] = (np.int64(bits[i]) << 32) | i


@kernel(reassociate=True)
def _spread(column):
    """Least, largest, and the sum of squares about the mean."""
    low = high = shift = column[0]
    total = squares = 0.0
    for i in range(column.size):
        v = column[i]
        low = v if v < low else low
        high = v if v > high else high
        total += v - shift
        squares += (v - shift) * (v - shift)
    return low, high, squares - total * total / column.size


@kernel
def _widest(rows, along):
    """The feature with the largest variance among rows that are evenly spread; else the one with the widest range.

    `along` gets its values. Returns their ends.
    """
    n, step = along.size, max(1, along.size // _SAMPLE)
    chosen, best = -1, 0.0
    for j in range(rows.shape[1]):
        m = 0
        for i in range(0, n, step):
            along[m] = rows[i, j]
            m += 1
        low, high, variance = _spread(along[:m])
        if variance > best and high > low:
            chosen, best = j, variance
    for j in range(rows.shape[1] if chosen < 0 else 0):
        low, high = _ends(rows, j, along)
        if chosen < 0 or high - low > best:
            chosen, best = j, high - low
    return _ends(rows, chosen, along)


@kernel
def _ends(rows, j, along):
    """`along` gets feature j; its least and its largest value."""
    low = high = rows[0, j]
    for i in range(along.size):
        v = along[i] = rows[i, j]
        low, high = v if v < low else low, v if v > high else high
    return low, high


@kernel
def _box(leaf, box):
    """The box of the points of a leaf, which are given feature by feature; without points it is nowhere."""
    for j in range(leaf.shape[0]):
        low, high = np.inf, -np.inf
        for i in range(leaf.shape[1]):
            v = leaf[j, i]
            low, high = v if v < low else low, v if v > high else high
        box[0, j], box[1, j] = low, high


@kernel(reassociate=True)
def _farthest(rows, center):
    """The row of the point that is farthest from the centre, by Euclidean distance."""
    best, at = -1.0, 0
    for i in range(rows.shape[0]):
        row = rows[i]
        total = 0.0
        for j in range(row.size):
            total += (row[j] - center[j]) * (row[j] - center[j])
        if total > best:
            best, at = total, i
    return at


@kernel(reassociate=True)
def _axis(rows, center, axis, along):
    """How far each point lies along the line through two that are far apart, whose unit vector is `axis`; the ends."""
    one = rows[_farthest(rows, center)]
    other = rows[_farthest(rows, one)]
    total = 0.0
    for j in range(axis.size):
        axis[j] = other[j] - one[j]
        total += axis[j] * axis[j]
    length = np.sqrt(total)
    for j in range(axis.size):
        axis[j] = axis[j] / length if 0.0 < length < np.inf else 0.0
    low, high = np.inf, -np.inf
    for i in range(along.size):
        row = rows[i]
        total = 0.0
        for j in range(row.size):
            total += row[j] * axis[j]
        along[i] = total
        low, high = min(low, total), max(high, total)
    return low, high


@kernel
def _set_ends(along, keys, ends):
    """Where the points with these keys begin and end along the axis."""
    low, high = np.inf, -np.inf
    for i in range(keys.size):
        v = along[keys[i] & 0xFFFFFFFF]
        low, high = min(low, v), max(high, v)
    ends[0], ends[1] = low, high


@kernel
def _ball(rows, p, center):
    """The mean of the points, and the largest sum of p-th powers of their differences from it."""
    n, d = rows.shape
    center[:] = 0.0
    for i in range(n):
        row = rows[i]
        for j in range(d):
            center[j] += row[j] / n
    largest = 0.0
    for i in range(n):
        largest = max(largest, power_sum(p, rows[i], center))
    return largest


@kernel(reassociate=True, allocates=False)
def power_sum(p, a, b):
    """Σⱼ |aⱼ − bⱼ|^p in any order, or the largest for p = ∞."""
    total = 0.0
    if p == 2.0:
        for j in range(a.size):
            total += (a[j] - b[j]) * (a[j] - b[j])
    elif p == 1.0:
        for j in range(a.size):
            total += abs(a[j] - b[j])
    elif p == np.inf:
        for j in range(a.size):
            gap = abs(a[j] - b[j])
            total = gap if gap > total else total
    else:
        for j in range(a.size):
            total += abs(a[j] - b[j]) ** p
    return total


@kernel
def split_nodes(tree, rows, order, root, level, depth):
    """Split the node `root` of this level and those below it, `depth` levels in all.

    The children of node i are 2i + 1 and 2i + 2. The last level's points go to its leaves, feature by feature.
    """
    starts, nodes, radii, cells, p = tree.starts, tree.nodes, tree.radii, tree.cells, tree.p
    n_nodes, d = starts.shape[0], rows.shape[2]
    most = starts[root, 1] - starts[root, 0]
    keys, rounded = np.empty(most, np.int64), np.empty(most, np.float32)
    along = np.empty(most)
    first, count = root, 1
    for step in range(depth):
        here = (level + step) % 2
        for node in range(first, first + count):
            lo, hi = starts[node, 0], starts[node, 1]
            part, m = rows[here, lo:hi], hi - lo
            inner = 2 * node + 2 < n_nodes
            low, high = 0.0, 0.0
            if radii.size > 0:
                radii[node] = _ball(part, p, nodes[node, 0])
                if inner:
                    low, high = _axis(part, nodes[node, 0], nodes[node, 1], along[:m])
            elif inner and m > 0:
                low, high = _widest(part, along[:m])
            if not inner:
                leaf = cells[node - n_nodes // 2]
                for i in range(m):
                    for j in range(d):
                        leaf[j, i] = part[i, j]
                if radii.size == 0:
                    _box(leaf[:, :m], nodes[node])
                tree.order[lo:hi] = order[here, lo:hi]
                continue
            _pack(along[:m], low, high, rounded[:m], keys[:m])
            middle = m // 2
            _select(keys[:m], middle)
            if radii.size > 0:
                _set_ends(along, keys[:middle], tree.ends[2 * node + 1])
                _set_ends(along, keys[middle:m], tree.ends[2 * node + 2])
            below, old, new = rows[1 - here, lo:hi], order[here, lo:hi], order[1 - here, lo:hi]
            for i in range(m):
                at = keys[i] & 0xFFFFFFFF
                new[i] = old[at]
                for j in range(d):
                    below[i, j] = part[at, j]
            starts[2 * node + 1, 0], starts[2 * node + 1, 1] = lo, lo + middle
            starts[2 * node + 2, 0], starts[2 * node + 2, 1] = lo + middle, hi
        first, count = 2 * first + 1, 2 * count
