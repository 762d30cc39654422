"""The way of rows through the tree: to the nearest entry of each node, down to a leaf, to join its entry or be one.

The entries of a node are side by side in memory, feature by feature, so that all their distances are one loop.
"""

from __future__ import annotations

from learnt.engine.kernel import kernel


@kernel(allocates=False)
def put_down(tree, node, slot, x):
    """Make x an entry of its own."""
    for t in range(x.size):
        tree.center[node, t, slot] = tree.total[node, t, slot] = x[t]
    tree.size[node, slot], tree.spread[node, slot] = 1.0, 0.0
    tree.child[node, slot] = -1
    tree.filled[node] = slot + 1


@kernel(allocates=False)
def add_above(tree, path, level, x):
    """Count x in the entries that its way went through above a level."""
    for above in range(level):
        node, slot = path[above, 0], path[above, 1]
        tree.size[node, slot] += 1.0
        n = tree.size[node, slot]
        for t in range(x.size):
            tree.total[node, t, slot] += x[t]
            tree.center[node, t, slot] = tree.total[node, t, slot] / n


@kernel(allocates=False)
def insert(tree, X, lo, path, gaps, limit):
    """Insert rows from lo on; the row after the last, and the level on its way where a node is too full, or −1."""
    d, most = X.shape[1], gaps.size - 1
    for i in range(lo, X.shape[0]):
        x = X[i]
        node, level, best = path[0, 0], 0, 0
        while tree.filled[node] > 0:
            k = tree.filled[node]
            for s in range(k):
                gaps[s] = 0.0
            for t in range(d):
                centers, value = tree.center[node, t], x[t]
                for s in range(k):
                    gap = centers[s] - value
                    gaps[s] += gap * gap
            best = 0
            for s in range(1, k):
                if gaps[s] < gaps[best]:
                    best = s
            path[level, 0], path[level, 1] = node, best
            if tree.child[node, best] < 0:
                break
            node = tree.child[node, best]
            level += 1
        k = tree.filled[node]
        if k > 0:
            n = tree.size[node, best]
            spread = tree.spread[node, best] + gaps[best] * (n / (n + 1.0))
            if spread <= limit * (n + 1.0):
                part = 1.0 / (n + 1.0)
                for t in range(d):
                    tree.total[node, t, best] += x[t]
                    tree.center[node, t, best] = part * tree.total[node, t, best]
                tree.size[node, best], tree.spread[node, best] = n + 1.0, spread
                add_above(tree, path, level, x)
                continue
        put_down(tree, node, k, x)
        if k == most:
            return i + 1, level
        add_above(tree, path, level, x)
    return X.shape[0], -1
