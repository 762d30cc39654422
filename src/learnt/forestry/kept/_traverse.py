"""From the root to a leaf: the one compiled traversal that single trees, forests and boosting share.

Eight rows go down a tree together. Each step is the same few instructions for an inner node and for a leaf, which
points to itself, so that there are no branch mispredictions and eight loads run at a time.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

NODE = np.dtype([("threshold", np.float64), ("left", np.uint32), ("column", np.uint32)])
INNER = 1 << 31
MISSING_LEFT = 1 << 30
CATEGORIES = 1 << 29
COLUMN = CATEGORIES - 1


@kernel
def step(nodes, table, flat, base, column_step, node):
    """The next node of the row that begins at `base`; a leaf's is itself."""
    word = nodes[node]["column"]
    x = flat[base + np.uint64(word & np.uint32(COLUMN)) * column_step]
    if word & np.uint32(CATEGORIES):
        start = np.uint64(nodes[node]["left"])
        entry = np.uint64(1)
        if x != x:
            entry = np.uint64(2)
        elif x >= 0.0 and x < table[start] - 2:
            entry = np.uint64(np.uint64(x) + np.uint64(3))
        return np.uint64(table[start + entry])
    right = (x > nodes[node]["threshold"]) | ((x != x) & ((word & np.uint32(MISSING_LEFT)) == np.uint32(0)))
    right = right & ((word & np.uint32(INNER)) != np.uint32(0))
    return np.uint64(nodes[node]["left"]) + (np.uint64(1) if right else np.uint64(0))


@kernel
def traverse_one(nodes, table, flat, base, column_step, root):
    """The leaf of one row."""
    node = root
    while True:
        after = step(nodes, table, flat, base, column_step, node)
        if after == node:
            return node
        node = after


@kernel
def traverse_eight(nodes, table, flat, base, row_step, column_step, root, found):
    """The leaves of eight rows, the first of which begins at `base`."""
    b0 = base
    b1 = b0 + row_step
    b2 = b1 + row_step
    b3 = b2 + row_step
    b4 = b3 + row_step
    b5 = b4 + row_step
    b6 = b5 + row_step
    b7 = b6 + row_step
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = root
    while True:
        m0 = step(nodes, table, flat, b0, column_step, n0)
        m1 = step(nodes, table, flat, b1, column_step, n1)
        m2 = step(nodes, table, flat, b2, column_step, n2)
        m3 = step(nodes, table, flat, b3, column_step, n3)
        m4 = step(nodes, table, flat, b4, column_step, n4)
        m5 = step(nodes, table, flat, b5, column_step, n5)
        m6 = step(nodes, table, flat, b6, column_step, n6)
        m7 = step(nodes, table, flat, b7, column_step, n7)
        moved = (m0 ^ n0) | (m1 ^ n1) | (m2 ^ n2) | (m3 ^ n3) | (m4 ^ n4) | (m5 ^ n5) | (m6 ^ n6) | (m7 ^ n7)
        if moved == np.uint64(0):
            break
        n0, n1, n2, n3, n4, n5, n6, n7 = m0, m1, m2, m3, m4, m5, m6, m7
    found[0], found[1], found[2], found[3] = n0, n1, n2, n3
    found[4], found[5], found[6], found[7] = n4, n5, n6, n7


@kernel
def add_values(view, lo, hi, first, last, nodes, roots, columns, values, table, out):
    """out[i, columns[t]…] += the value of row i's leaf in tree t, for trees first…last in order, rows lo…hi.

    `view` is the table as `flat_view` gives it.
    """
    flat, row_step, column_step = view
    width = values.shape[1]
    row, column = np.uint64(row_step), np.uint64(column_step)
    found = np.empty(8, dtype=np.uint64)
    for begin in range(lo, hi, 64):  # rows that stay in the cache during all trees
        end = min(begin + 64, hi)
        for t in range(first, last):
            root = np.uint64(roots[t])
            target = columns[t]
            i = begin
            while i < end:
                base = np.uint64(i) * row
                together = 8 if i + 8 <= end else 1
                if together == 8:
                    traverse_eight(nodes, table, flat, base, row, column, root, found)
                else:
                    found[0] = traverse_one(nodes, table, flat, base, column, root)
                for k in range(together):
                    held = nodes[found[k]]["threshold"]
                    if width == 1:
                        out[i + k, target] += held
                    else:
                        for c in range(width):
                            out[i + k, target + c] += values[np.int64(held), c]
                i += together


@kernel
def find_leaves(flat, row_step, column_step, lo, hi, nodes, roots, table, out):
    """The number of every row's leaf in every tree."""
    row, column = np.uint64(row_step), np.uint64(column_step)
    for i in range(lo, hi):
        base = np.uint64(i) * row
        for t in range(roots.size):
            out[i, t] = np.int64(traverse_one(nodes, table, flat, base, column, np.uint64(roots[t])))
