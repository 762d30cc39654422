"""A tree of boxes or balls in the form that kernels take: bounds over a node, and the distances of a leaf.

Distances are sums of p-th powers in order of the features, without fused operations: the bits of brute force. Those of
a leaf are summed side by side. A bound over a box is computed by the same steps from gaps that are no larger (or
smaller), so rounding never puts it on the wrong side of a distance; a bound over a ball allows for rounding errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.distances._power_sums import add_power, power_of, power_root
from learnt.distances.trees._build import power_sum
from learnt.engine.kernel import kernel

_EARLY = 8  # features after which a leaf is skipped if none of its points can be near enough


class Tree(NamedTuple):
    """A balanced tree: the children of node i are 2i + 1 and 2i + 2, its points `order[starts[i, 0]:starts[i, 1]]`.

    `nodes[i]` is a box (lower and upper corner), or where `radii` are given a ball's centre and the unit vector along
    which its points were parted; `ends[i]` is where the points of node i begin and end along the vector of its parent,
    `reach` the largest distance of a point from zero. `cells[leaf]` has the points of a leaf, feature by feature, and
    infinity in places that are left over.
    `slack` is the relative tolerance for rounding errors.
    """

    order: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    radii: np.ndarray
    ends: np.ndarray
    cells: np.ndarray
    p: float
    slack: float
    reach: float


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
def square_bound(nodes, node, Q, i):
    """`_box_bound` for p = 2, short enough to be inlined."""
    if Q.shape[1] == 3:  # the usual case without a loop: the same sum
        a, b, c = (
            _square_gap(nodes, node, Q, i, 0),
            _square_gap(nodes, node, Q, i, 1),
            _square_gap(nodes, node, Q, i, 2),
        )
        return a + b + c
    total = 0.0
    for j in range(Q.shape[1]):
        total += _square_gap(nodes, node, Q, i, j)
    return total


@kernel(fuse=False, allocates=False)
def _square_gap(nodes, node, Q, i, j):
    """The square of how far the query is outside of a box along feature j."""
    below, above = nodes[node, 0, j] - Q[i, j], Q[i, j] - nodes[node, 1, j]
    gap = below if below > above else above
    gap = gap if gap > 0.0 else 0.0
    return gap * gap


@kernel(fuse=False, allocates=False)
def square_end(nodes, node, Q, i):
    """`_box_end` for p = 2."""
    total = 0.0
    for j in range(Q.shape[1]):
        below, above = abs(nodes[node, 0, j] - Q[i, j]), abs(nodes[node, 1, j] - Q[i, j])
        gap = below if below > above else above
        total += gap * gap
    return total


@kernel(fuse=False, allocates=False)
def least_sum(p, slack, nodes, radii, node, Q, i):
    """No point of the node has a smaller sum."""
    if radii.size == 0:
        return _box_bound(p, nodes, node, Q, i) * (1.0 - slack)
    distance, radius = power_root(p, power_sum(p, nodes[node, 0], Q[i])), radii[node]
    gap = distance - radius - slack * (distance + radius)
    return power_of(p, gap) * (1.0 - slack) if gap > 0.0 else 0.0


@kernel(fuse=False, allocates=False)
def most_sum(p, slack, nodes, radii, node, Q, i):
    """No point of the node has a larger sum."""
    if radii.size == 0:
        return _box_end(p, nodes, node, Q, i) * (1.0 + slack)
    distance, radius = power_root(p, power_sum(p, nodes[node, 0], Q[i])), radii[node]
    return power_of(p, (distance + radius) * (1.0 + slack)) * (1.0 + slack)


@kernel(reassociate=True, allocates=False)
def place_along(nodes, node, Q, i):
    """Where the query lies along the vector of a node."""
    total, axis, q = 0.0, nodes[node, 1], Q[i]
    for j in range(q.size):
        total += axis[j] * q[j]
    return total


@kernel(reassociate=True, allocates=False)
def square_sum(Q, i):
    """The squared distance of the query from zero."""
    total, q = 0.0, Q[i]
    for j in range(q.size):
        total += q[j] * q[j]
    return total


@kernel(fuse=False, allocates=False)
def axis_gap(ends, node, place):
    """How far that place is outside of the ends of a node; negative inside."""
    below, above = ends[node, 0] - place, place - ends[node, 1]
    return below if below > above else above


@kernel(fuse=False, allocates=False)
def axis_bound(gap, doubt, slack, bound):
    """The square of a gap that may be too large by `doubt`, or the bound of the parent; that one too for no number."""
    gap -= doubt
    square = gap * gap * (1.0 - slack)
    return square if gap > 0.0 and square > bound else bound


@kernel(fuse=False, allocates=False)
def leaf_sums(p, cells, leaf, Q, i, limit, sums):
    """Sums of p-th powers for all places of a leaf; false where all are soon seen to be above the limit."""
    if p == 2.0 and Q.shape[1] == 3:  # the usual case in one pass: the same sums
        _squares_of_three(cells[leaf], Q[i], sums)
        return True
    return _sums_by_feature(p, cells, leaf, Q, i, limit, sums)


@kernel(fuse=False, allocates=False)
def _squares_of_three(leaf, query, sums):
    x, y, z = query[0], query[1], query[2]
    for t in range(sums.size):
        a, b, c = leaf[0, t] - x, leaf[1, t] - y, leaf[2, t] - z
        sums[t] = a * a + b * b + c * c


@kernel(fuse=False, allocates=False)
def _sums_by_feature(p, cells, leaf, Q, i, limit, sums):
    """`leaf_sums` for any p and number of features."""
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
