"""Compiled traversals of a tree of boxes or balls.

Distances are sums of p-th powers in order of the features, without fused operations: the bits of brute force. Those of
a leaf are summed side by side. A bound over a box is computed by the same steps from gaps that are no larger (or
smaller), so rounding never puts it on the wrong side of a distance; a bound over a ball allows for rounding errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.distances._power_sums import add_power, power_of, power_root
from learnt.distances._sort_kernels import sift, sort_heap
from learnt.distances._tree_build import power_sum
from learnt.engine.kernel import kernel

_SHORT = 32  # neighbours that are kept as a list
_EARLY = 8  # features after which a leaf is left if none of its points can be near enough


class Tree(NamedTuple):
    """A balanced tree: the children of node i are 2i + 1 and 2i + 2, its points `order[starts[i, 0]:starts[i, 1]]`.

    `nodes[i]` is a box (lower and upper corner), or where `radii` are given a ball's centre; `cells[leaf]` its points,
    feature by feature. `slack` is the relative tolerance for rounding errors.
    """

    order: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    radii: np.ndarray
    cells: np.ndarray
    p: float
    slack: float


class Workspace(NamedTuple):
    """Memory of a traversal: the stack of nodes with their bounds, and the sums of a leaf."""

    stack: np.ndarray
    bounds: np.ndarray
    sums: np.ndarray


def workspace_for(tree: Tree) -> Workspace:
    """Memory for one traversal at a time."""
    return Workspace(np.empty(64, dtype=np.int64), np.empty(64), np.empty(tree.cells.shape[2]))


@kernel(fuse=False, allocates=False)
def _box_bound(p, nodes, node, Q, i):
    """Σ of p-th powers for the point of a box that is nearest to the query."""
    total = 0.0
    for j in range(Q.shape[1]):
        v = Q[i, j]
        below, above = nodes[node, 0, j] - v, v - nodes[node, 1, j]
        gap = below if below > above else above
        total = add_power(p, total, gap if gap > 0.0 else 0.0)
    return total


@kernel(fuse=False, allocates=False)
def _box_end(p, nodes, node, Q, i):
    """The same for the farthest point of a box."""
    total = 0.0
    for j in range(Q.shape[1]):
        v = Q[i, j]
        total = add_power(p, total, max(abs(nodes[node, 0, j] - v), abs(nodes[node, 1, j] - v)))
    return total


@kernel(fuse=False, allocates=False)
def _square_bound(nodes, node, Q, i):
    """`_box_bound` for p = 2, so short that the compiler puts it in line."""
    total = 0.0
    for j in range(Q.shape[1]):
        below, above = nodes[node, 0, j] - Q[i, j], Q[i, j] - nodes[node, 1, j]
        gap = below if below > above else above
        gap = gap if gap > 0.0 else 0.0
        total += gap * gap
    return total


@kernel(fuse=False, allocates=False)
def _square_end(nodes, node, Q, i):
    """`_box_end` for p = 2."""
    total = 0.0
    for j in range(Q.shape[1]):
        below, above = abs(nodes[node, 0, j] - Q[i, j]), abs(nodes[node, 1, j] - Q[i, j])
        gap = below if below > above else above
        total += gap * gap
    return total


@kernel(fuse=False, allocates=False)
def _least(p, slack, nodes, radii, node, Q, i):
    """No point of the node has a smaller sum."""
    if radii.size == 0:
        return _box_bound(p, nodes, node, Q, i) * (1.0 - slack)
    distance, radius = power_root(p, power_sum(p, nodes[node, 0], Q[i])), radii[node]
    gap = distance - radius - slack * (distance + radius)
    return power_of(p, gap) * (1.0 - slack) if gap > 0.0 else 0.0


@kernel(fuse=False, allocates=False)
def _most(p, slack, nodes, radii, node, Q, i):
    """No point of the node has a larger sum."""
    if radii.size == 0:
        return _box_end(p, nodes, node, Q, i) * (1.0 + slack)
    distance, radius = power_root(p, power_sum(p, nodes[node, 0], Q[i])), radii[node]
    return power_of(p, (distance + radius) * (1.0 + slack)) * (1.0 + slack)


@kernel(fuse=False, allocates=False)
def _leaf_sums(p, cells, leaf, Q, i, limit, sums):
    """Sums of p-th powers for all points of a leaf; false where all are soon seen to be above the limit."""
    sums[:] = 0.0
    for j in range(Q.shape[1]):
        v, column = Q[i, j], cells[leaf, j]
        if p == 2.0:
            for t in range(sums.size):
                gap = column[t] - v
                sums[t] += gap * gap
        elif p == 1.0:
            for t in range(sums.size):
                sums[t] += abs(column[t] - v)
        elif p == np.inf:
            for t in range(sums.size):
                gap = abs(column[t] - v)
                sums[t] = gap if gap > sums[t] else sums[t]
        else:
            for t in range(sums.size):
                sums[t] += abs(column[t] - v) ** p
        if j % _EARLY == _EARLY - 1 and j + 1 < Q.shape[1]:
            near = 0
            for t in range(sums.size):
                near += sums[t] <= limit
            if near == 0:
                return False
    return True


@kernel(fuse=False, allocates=False)
def _insert(values, index, i, value, at):
    """Put (value, at) in its place of a short ascending list of i entries; of a full one the last goes out."""
    while i > 0 and (values[i - 1] > value or (values[i - 1] == value and index[i - 1] > at)):
        values[i], index[i] = values[i - 1], index[i - 1]
        i -= 1
    values[i], index[i] = value, at


@kernel(fuse=False, allocates=False)
def nearest_leaves(tree, Q, leaves):
    """The leaf that each query comes to by the nearer child: queries of one leaf look at the same memory."""
    n_nodes = tree.starts.shape[0]
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    squares = p == 2.0 and radii.size == 0
    for i in range(Q.shape[0]):
        node = 0
        while 2 * node + 2 < n_nodes:
            node = 2 * node + 1
            if squares:
                a, b = _square_bound(nodes, node, Q, i), _square_bound(nodes, node + 1, Q, i)
            else:
                a, b = _least(p, slack, nodes, radii, node, Q, i), _least(p, slack, nodes, radii, node + 1, Q, i)
            if b < a:
                node += 1
        leaves[i] = node


@kernel(fuse=False, allocates=False)
def nearest_points(tree, workspace, Q, query_order, values, index):
    """values[q], index[q]: the nearest points of query q by (sum of powers, index), ascending.

    Queries are answered in `query_order`. Those found so far are an ascending list where they are few, else a heap with
    the largest first.
    """
    order, starts, cells = tree.order, tree.starts, tree.cells
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    n_nodes, k = starts.shape[0], values.shape[1]
    few, squares = k <= _SHORT, p == 2.0 and radii.size == 0
    last = k - 1 if few else 0  # where the farthest of those found is
    stack, bounds = workspace.stack, workspace.bounds
    for place in range(query_order.size):
        i = query_order[place]
        best, rows = values[i], index[i]
        best[:], rows[:] = np.inf, order.size
        worst, filled = np.inf, 0
        stack[0], bounds[0], size = 0, 0.0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            if bounds[size] > worst:
                continue
            while 2 * node + 2 < n_nodes:
                near, far = 2 * node + 1, 2 * node + 2
                if squares:
                    a, b = _square_bound(nodes, near, Q, i), _square_bound(nodes, far, Q, i)
                else:
                    a, b = _least(p, slack, nodes, radii, near, Q, i), _least(p, slack, nodes, radii, far, Q, i)
                if b < a:
                    near, far, a, b = far, near, b, a
                if b <= worst:
                    stack[size], bounds[size] = far, b
                    size += 1
                node = near
                if a > worst:
                    node = -1
                    break
            if node < 0:
                continue
            lo = starts[node, 0]
            sums = workspace.sums[: starts[node, 1] - lo]
            if not _leaf_sums(p, cells, node - n_nodes // 2, Q, i, worst, sums):
                continue
            for t in range(sums.size):
                total = sums[t]
                if total < worst or (total == worst and order[lo + t] < rows[last]):
                    if few:
                        filled = min(filled, k - 1)
                        _insert(best, rows, filled, total, order[lo + t])
                        filled += 1
                    else:
                        sift(best, rows, 0, k, total, order[lo + t])
                    worst = best[last]
        if not few:
            sort_heap(best, rows)


@kernel(fuse=False, allocates=False)
def points_within(tree, workspace, Q, limits, first, stop, counts, index, sums):
    """The points within its limit of each query from `first` on, and their sums if an array is given for these.

    Returns how many were found, and the query that was not begun because the arrays might be too small. Where the whole
    of a node is within the limit and no sums are wanted, its points are not looked at.
    """
    order, starts, cells = tree.order, tree.starts, tree.cells
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    n_nodes, found = starts.shape[0], 0
    stack, squares = workspace.stack, p == 2.0 and radii.size == 0
    for i in range(first, stop):
        limit, before = limits[i], found
        stack[0], size = 0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            lo, hi = starts[node, 0], starts[node, 1]
            all_inside = False
            if sums.size == 0:
                end = _square_end(nodes, node, Q, i) if squares else _most(p, slack, nodes, radii, node, Q, i)
                all_inside = end <= limit
            if not all_inside and 2 * node + 2 < n_nodes:
                node = 2 * node + 1
                if squares:
                    a, b = _square_bound(nodes, node, Q, i), _square_bound(nodes, node + 1, Q, i)
                else:
                    a, b = _least(p, slack, nodes, radii, node, Q, i), _least(p, slack, nodes, radii, node + 1, Q, i)
                if not b > limit:
                    stack[size] = node + 1
                    size += 1
                if not a > limit:
                    stack[size] = node
                    size += 1
                continue
            if found + hi - lo > index.size:
                return before, i
            if all_inside:
                for t in range(lo, hi):
                    index[found] = order[t]
                    found += 1
                continue
            part = workspace.sums[: hi - lo]
            if not _leaf_sums(p, cells, node - n_nodes // 2, Q, i, limit, part):
                continue
            for t in range(part.size):
                index[found] = order[lo + t]
                if sums.size > 0:
                    sums[found] = part[t]
                found += part[t] <= limit
        counts[i] = found - before
    return found, stop


@kernel(fuse=False, allocates=False)
def count_within(tree, workspace, Q, limits, counts):
    """counts[q, r]: how many points are within limits[q, r], which ascend; one row of limits serves all queries."""
    starts, cells = tree.starts, tree.cells
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    n_nodes, n_limits = starts.shape[0], limits.shape[1]
    stack, squares = workspace.stack, p == 2.0 and radii.size == 0
    for i in range(Q.shape[0]):
        count = counts[i]
        limit = limits[min(i, limits.shape[0] - 1)]
        count[:] = 0
        stack[0], size = 0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            if squares:
                least, most = _square_bound(nodes, node, Q, i), _square_end(nodes, node, Q, i)
            else:
                least, most = _least(p, slack, nodes, radii, node, Q, i), _most(p, slack, nodes, radii, node, Q, i)
            if least > limit[n_limits - 1]:
                continue
            some, every = 0, 0  # the first limit that some points may be within, and that all are
            while limit[some] < least:
                some += 1
            every = some
            while every < n_limits and limit[every] < most:
                every += 1
            lo, hi = starts[node, 0], starts[node, 1]
            if some == every:
                count[every] += hi - lo
            elif 2 * node + 2 < n_nodes:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
            else:
                part = workspace.sums[: hi - lo]
                if _leaf_sums(p, cells, node - n_nodes // 2, Q, i, limit[n_limits - 1], part):
                    for t in range(part.size):
                        at = some
                        while at < n_limits and limit[at] < part[t]:
                            at += 1
                        if at < n_limits:
                            count[at] += 1
        for r in range(1, n_limits):
            count[r] += count[r - 1]
