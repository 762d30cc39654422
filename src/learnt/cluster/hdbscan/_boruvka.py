"""Borůvka's algorithm for the spanning tree of mutual reachabilities  max(c_i, c_j, d_ij / alpha)  of points.

Every round each component takes the shortest edge that leaves it. A point looks for one in a tree of boxes, and does
not look where its component has found a shorter one: at its own core distance c_i, at boxes that are too far or too
thin, at boxes of which all points are in its component. Of edges of the same length any is right (they are joined at
the same level), and the one that is found does not depend on threads: blocks of points have bounds of their own.
"""

from __future__ import annotations

import numpy as np

from learnt.distances import add_power, box_tree, power_root
from learnt.engine.interrupts import check_stopped
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

_LEAF = 16  # points of a leaf at most
_BLOCKS = 16


@kernel
def _power_sum(p, a, b):
    total = 0.0
    for j in range(a.size):
        total = add_power(p, total, abs(a[j] - b[j]))
    return total


@kernel
def _box_sum(p, x, box):
    total = 0.0
    for j in range(x.size):
        total = add_power(p, total, max(box[0, j] - x[j], x[j] - box[1, j], 0.0))
    return total


@kernel
def describe_nodes(component, core, ranges, whose, least):
    """The component of all points of each node, −1 where they differ, and their smallest core distance."""
    n_nodes = ranges.shape[0]
    for node in range(n_nodes - 1, -1, -1):
        if 2 * node + 2 < n_nodes:
            a, b = 2 * node + 1, 2 * node + 2
            whose[node] = whose[a] if whose[a] == whose[b] else -1
            least[node] = min(least[a], least[b])
        else:
            lo, hi = ranges[node, 0], ranges[node, 1]
            whose[node], least[node] = component[lo], core[lo]
            for i in range(lo + 1, hi):
                least[node] = min(least[node], core[i])
                if component[i] != component[lo]:
                    whose[node] = -1


@kernel
def nearest_others(P, core, component, ranges, boxes, nodes, rule, lo, hi, lower, best, edges):
    """best[c], edges[c]: the shortest edge from points lo…hi−1 of component c to another; less than best[c] was.

    lower[i] is what all edges from i to others are known to exceed or equal.
    """
    whose, least = nodes
    p, alpha = rule
    n_nodes = ranges.shape[0]
    stack, bounds = np.empty(64, np.int64), np.empty(64)
    for i in range(lo, hi):
        c = component[i]
        if max(lower[i], core[i]) >= best[c]:
            continue
        x, found, at = P[i], best[c], -1
        stack[0], bounds[0], size = 0, 0.0, 1
        while size > 0 and found > core[i]:
            size -= 1
            node = stack[size]
            if bounds[size] >= found:
                continue
            if 2 * node + 2 < n_nodes:
                near, far = 2 * node + 1, 2 * node + 2
                a = max(power_root(p, _box_sum(p, x, boxes[near])) / alpha, least[near])
                b = max(power_root(p, _box_sum(p, x, boxes[far])) / alpha, least[far])
                if b < a:
                    near, far, a, b = far, near, b, a
                if b < found and whose[far] != c:
                    stack[size], bounds[size] = far, b
                    size += 1
                if a < found and whose[near] != c:
                    stack[size], bounds[size] = near, a
                    size += 1
                continue
            for j in range(ranges[node, 0], ranges[node, 1]):
                if component[j] != c and core[j] < found:
                    length = max(power_root(p, _power_sum(p, x, P[j])) / alpha, core[i], core[j])
                    if length < found:
                        found, at = length, j
        lower[i] = found
        if at >= 0:
            best[c] = found
            edges[c, 0], edges[c, 1] = i, at


@kernel
def _find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def join(parent, candidates, lengths, out, out_lengths, done):
    """Add the candidates (one a component, or none: −1) that close no cycle; returns the number of edges."""
    for c in range(candidates.shape[0]):
        if candidates[c, 0] >= 0:
            a, b = _find(parent, candidates[c, 0]), _find(parent, candidates[c, 1])
            if a != b:
                parent[max(a, b)] = min(a, b)
                out[done, 0], out[done, 1] = candidates[c, 0], candidates[c, 1]
                out_lengths[done] = lengths[c]
                done += 1
    for i in range(parent.size):
        parent[i] = _find(parent, i)
    return done


def spanning_tree(
    X: np.ndarray, core: np.ndarray, p: float, alpha: float, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """n − 1 pairs of rows and their mutual reachabilities, by Minkowski's distance of power p."""
    n = len(X)
    order, ranges, boxes = box_tree(X, leaf_size=_LEAF, n_jobs=n_jobs)
    P, core = np.ascontiguousarray(X[order], dtype=np.float64), core[order]
    parent, lower = np.arange(n), core.copy()
    whose, least = np.empty(len(ranges), dtype=np.int64), np.empty(len(ranges))
    pairs, lengths, done = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1), 0
    grain = max(256, -(-n // _BLOCKS))
    while done < n - 1:
        check_stopped()
        describe_nodes(parent, core, ranges, whose, least)

        def look(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            best, edges = np.full(n, np.inf), np.full((n, 2), -1)
            nearest_others(P, core, parent, ranges, boxes, (whose, least), (p, alpha), lo, hi, lower, best, edges)
            return best, edges

        best, edges = np.full(n, np.inf), np.full((n, 2), -1)
        for mine, found in for_blocks(look, n, grain=grain, n_jobs=n_jobs):
            less = mine < best
            best[less], edges[less] = mine[less], found[less]
        done = join(parent, edges, best, pairs, lengths, done)
    return order[pairs], lengths
