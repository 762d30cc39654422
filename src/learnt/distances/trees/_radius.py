"""Compiled traversals of a tree of boxes or balls for all points within a radius: the points, their number, sums.

The step to a node's children is written out in two of them: called as a kernel of its own it made queries a fifth to a
third slower (10,000 points, d = 3, Neoverse-N1).
"""

from __future__ import annotations

from learnt.distances.trees._bounds import leaf_sums, least_sum, most_sum, square_bound, square_end
from learnt.engine.kernel import kernel


@kernel(fuse=False, allocates=False)
def _keep(rows, part, limit, index, sums):
    """Copy the rows of a leaf whose sums are within the limit, and these sums if there is an array for them; how many.

    Every row is written, and stays if the next one is written after it.
    """
    n = 0
    if sums.size > 0:
        for t in range(rows.size):
            index[n], sums[n] = rows[t], part[t]
            n += part[t] <= limit
        return n
    for t in range(rows.size):
        index[n] = rows[t]
        n += part[t] <= limit
    return n


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
                end = square_end(nodes, node, Q, i) if squares else most_sum(p, slack, nodes, radii, node, Q, i)
                all_inside = end <= limit
            if not all_inside and 2 * node + 2 < n_nodes:
                node = 2 * node + 1
                if squares:
                    a, b = square_bound(nodes, node, Q, i), square_bound(nodes, node + 1, Q, i)
                else:
                    a = least_sum(p, slack, nodes, radii, node, Q, i)
                    b = least_sum(p, slack, nodes, radii, node + 1, Q, i)
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
            part = workspace.sums
            if not leaf_sums(p, cells, node - n_nodes // 2, Q, i, limit, part):
                continue
            found += _keep(order[lo:hi], part, limit, index[found:], sums[found:])
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
                least, most = square_bound(nodes, node, Q, i), square_end(nodes, node, Q, i)
            else:
                least = least_sum(p, slack, nodes, radii, node, Q, i)
                most = most_sum(p, slack, nodes, radii, node, Q, i)
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
                part = workspace.sums
                if leaf_sums(p, cells, node - n_nodes // 2, Q, i, limit[n_limits - 1], part):
                    for t in range(hi - lo):
                        at = some
                        while at < n_limits and limit[at] < part[t]:
                            at += 1
                        if at < n_limits:
                            count[at] += 1
        for r in range(1, n_limits):
            count[r] += count[r - 1]


@kernel(fuse=False, allocates=False)
def sums_within(tree, workspace, Q, limits, table, rows, node_sums, counts, totals):
    """counts[q], totals[q]: how many points are within the limit of query q, and the sum of their rows of the table.

    `rows[t]` is the row of the t-th point in the order of the tree, `node_sums` has the sums of whole nodes.
    """
    starts, cells, n_columns = tree.starts, tree.cells, table.shape[1]
    p, slack, nodes, radii = tree.p, tree.slack, tree.nodes, tree.radii
    n_nodes = starts.shape[0]
    stack, squares = workspace.stack, p == 2.0 and radii.size == 0
    for i in range(Q.shape[0]):
        limit, total, count = limits[i], totals[i], 0
        total[:] = 0.0
        stack[0], size = 0, 1
        while size > 0:
            size -= 1
            node = stack[size]
            lo, hi = starts[node, 0], starts[node, 1]
            end = square_end(nodes, node, Q, i) if squares else most_sum(p, slack, nodes, radii, node, Q, i)
            if end <= limit:
                count += hi - lo
                for c in range(n_columns):
                    total[c] += node_sums[node, c]
                continue
            if 2 * node + 2 < n_nodes:
                node = 2 * node + 1
                if squares:
                    a, b = square_bound(nodes, node, Q, i), square_bound(nodes, node + 1, Q, i)
                else:
                    a = least_sum(p, slack, nodes, radii, node, Q, i)
                    b = least_sum(p, slack, nodes, radii, node + 1, Q, i)
                if not b > limit:
                    stack[size] = node + 1
                    size += 1
                if not a > limit:
                    stack[size] = node
                    size += 1
                continue
            part = workspace.sums
            if not leaf_sums(p, cells, node - n_nodes // 2, Q, i, limit, part):
                continue
            if n_columns == 1:
                one = 0.0
                for t in range(hi - lo):
                    inside = part[t] <= limit
                    count += inside
                    one += table[rows[lo + t], 0] if inside else 0.0
                total[0] += one
                continue
            for t in range(hi - lo):
                if part[t] <= limit:
                    count += 1
                    for c in range(n_columns):
                        total[c] += table[rows[lo + t], c]
        counts[i] = count
