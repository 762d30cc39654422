"""Compiled traversals of a tree of boxes or balls for the nearest points."""

from __future__ import annotations

import numpy as np

from learnt.distances._sort_kernels import sift, sort_heap
from learnt.distances.trees._bounds import (
    axis_bound,
    axis_gap,
    leaf_sums,
    least_sum,
    place_along,
    square_bound,
    square_sum,
)
from learnt.engine.kernel import kernel

_SHORT = 32  # neighbours that are kept as a list


@kernel(fuse=False, allocates=False)
def _insert(values, index, i, value, at):
    """Put (value, at) in its place of a short ascending list of i entries; of a full one the last goes out."""
    while i > 0 and values[i - 1] > value:
        values[i], index[i] = values[i - 1], index[i - 1]
        i -= 1
    while i > 0 and values[i - 1] == value and index[i - 1] > at:
        values[i], index[i] = values[i - 1], index[i - 1]
        i -= 1
    values[i], index[i] = value, at


@kernel(fuse=False, allocates=False)
def nearest_leaves(tree, Q, leaves):
    """The leaf that each query reaches by the nearer child: queries of one leaf read the same memory."""
    n_nodes = tree.starts.shape[0]
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    squares = p == 2.0 and radii.size == 0
    for i in range(Q.shape[0]):
        node = 0
        while 2 * node + 2 < n_nodes:
            node = 2 * node + 1
            if squares:
                a, b = square_bound(nodes, node, Q, i), square_bound(nodes, node + 1, Q, i)
            elif radii.size > 0:
                place = place_along(nodes, (node - 1) // 2, Q, i)
                a, b = axis_gap(tree.ends, node, place), axis_gap(tree.ends, node + 1, place)
            else:
                a, b = least_sum(p, slack, nodes, radii, node, Q, i), least_sum(p, slack, nodes, radii, node + 1, Q, i)
            if b < a:
                node += 1
        leaves[i] = node


@kernel(fuse=False, allocates=False)
def nearest_points(tree, workspace, Q, query_order, others, values, index):
    """values[q], index[q]: the nearest points of query q by (sum of powers, index), ascending.

    Queries are answered in `query_order`; where `others` are asked for, query q is point q and not its own neighbour.
    Those found so far are an ascending list where they are few, else a heap with the largest first. A ball's children
    by Euclidean distances are told apart along its axis, one product for both; its ball is asked only when the
    traversal comes back to it, and at a leaf.
    """
    order, starts, cells, ends = tree.order, tree.starts, tree.cells, tree.ends
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    n_nodes, k = starts.shape[0], values.shape[1]
    few, squares, by_axes = k <= _SHORT, p == 2.0 and radii.size == 0, p == 2.0 and radii.size > 0
    last = k - 1 if few else 0  # where the farthest of those found is
    stack, bounds = workspace.stack, workspace.bounds
    for place in range(query_order.size):
        i = query_order[place]
        best, rows = values[i], index[i]
        best[:], rows[:] = np.inf, order.size
        worst, filled, doubt = np.inf, 0, 0.0
        if by_axes:
            doubt = slack * (tree.reach + np.sqrt(square_sum(Q, i)))
        stack[0], bounds[0], size = 0, 0.0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            bound, start = bounds[size], node
            if bound > worst or (by_axes and node > 0 and least_sum(p, slack, nodes, radii, node, Q, i) > worst):
                continue
            while 2 * node + 2 < n_nodes:
                near, far = 2 * node + 1, 2 * node + 2
                if squares:
                    a, b = square_bound(nodes, near, Q, i), square_bound(nodes, far, Q, i)
                elif by_axes:
                    place = place_along(nodes, node, Q, i)
                    a, b = axis_gap(ends, near, place), axis_gap(ends, far, place)
                    if b < a:
                        near, far, a, b = far, near, b, a
                    a, b = axis_bound(a, doubt, slack, bound), axis_bound(b, doubt, slack, bound)
                    bound = a
                else:
                    a, b = least_sum(p, slack, nodes, radii, near, Q, i), least_sum(p, slack, nodes, radii, far, Q, i)
                if b < a:
                    near, far, a, b = far, near, b, a
                if b <= worst:
                    stack[size], bounds[size] = far, b
                    size += 1
                node = near
                if a > worst:
                    node = -1
                    break
            if node < 0 or (by_axes and node != start and least_sum(p, slack, nodes, radii, node, Q, i) > worst):
                continue
            lo, sums = starts[node, 0], workspace.sums
            if not leaf_sums(p, cells, node - n_nodes // 2, Q, i, worst, sums):
                continue
            for t in range(starts[node, 1] - lo):
                total = sums[t]
                if total < worst or (total == worst and order[lo + t] < rows[last]):
                    if others and order[lo + t] == i:
                        continue
                    if few:
                        filled = min(filled, k - 1)
                        _insert(best, rows, filled, total, order[lo + t])
                        filled += 1
                    else:
                        sift(best, rows, 0, k, total, order[lo + t])
                    worst = best[last]
        if not few:
            sort_heap(best, rows)
