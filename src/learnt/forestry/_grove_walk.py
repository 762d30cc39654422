"""Many rows through deep trees, eight at a time: 8 bytes a node and a handful of instructions a step.

For tables in float32 without missing values, and trees without categories. A threshold is then as good in float32,
rounded down: x ≤ t and x ≤ ⌊t⌋ are the same for every x that float32 has. A node is (threshold, word): the lower 12
bits of the word are the column, the upper 20 how far ahead, counted by twos, the left child lies; the right one is the
next. A leaf has the word 0 and the threshold +inf, so that a row that has arrived stays. Both halves of a node are read
from the same memory, `cuts` and `words`.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

SHORT = np.dtype([("threshold", np.float32), ("word", np.uint32)])
COLUMNS, REACH = 1 << 12, 1 << 19
_COLUMN = np.uint32(COLUMNS - 1)
_SHIFT = np.uint32(12)


def short_nodes(feature: np.ndarray, threshold: np.ndarray, left: np.ndarray) -> np.ndarray | None:
    """The nodes in 8 bytes each, or None where they do not fit; `left` is the node itself at a leaf."""
    ahead = left - np.arange(len(left))
    if feature.max(initial=0) >= COLUMNS or ahead.max(initial=0) >= REACH:
        return None
    nodes = np.zeros(len(feature), dtype=SHORT)
    inner = feature >= 0
    with np.errstate(over="ignore"):
        low = threshold.astype(np.float32)
    above = low > threshold
    low[above] = np.nextafter(low[above], np.float32(-np.inf))
    nodes["threshold"] = np.inf
    nodes["threshold"][inner] = low
    nodes["word"][inner] = (ahead[inner].astype(np.uint32) << np.uint32(13)) | feature[inner].astype(np.uint32)
    return nodes


@kernel
def step(cuts, words, flat, base, node):
    """The next node of the row that begins at `base`; nodes are counted by twos."""
    word = words[node + np.uint64(1)]
    x = flat[base + np.uint64(word & _COLUMN)]
    right = np.uint64(0) if x <= cuts[node] else np.uint64(2)
    return node + np.uint64(word >> _SHIFT) + right


@kernel
def walk_eight(cuts, words, flat, base, row, root, at, i):
    """The leaves of eight rows, the first of which begins at `base`: at[i…i+8]."""
    b0, b1, b2, b3 = base, base + row, base + row + row, base + row + row + row
    b4, b5, b6, b7 = b3 + row, b3 + row + row, b3 + row + row + row, b3 + row + row + row + row
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = root
    moved = np.uint64(1)
    while moved != np.uint64(0):
        m0 = step(cuts, words, flat, b0, n0)
        m1 = step(cuts, words, flat, b1, n1)
        m2 = step(cuts, words, flat, b2, n2)
        m3 = step(cuts, words, flat, b3, n3)
        m4 = step(cuts, words, flat, b4, n4)
        m5 = step(cuts, words, flat, b5, n5)
        m6 = step(cuts, words, flat, b6, n6)
        m7 = step(cuts, words, flat, b7, n7)
        n0 = step(cuts, words, flat, b0, m0)
        n1 = step(cuts, words, flat, b1, m1)
        n2 = step(cuts, words, flat, b2, m2)
        n3 = step(cuts, words, flat, b3, m3)
        n4 = step(cuts, words, flat, b4, m4)
        n5 = step(cuts, words, flat, b5, m5)
        n6 = step(cuts, words, flat, b6, m6)
        n7 = step(cuts, words, flat, b7, m7)
        moved = (m0 ^ n0) | (m1 ^ n1) | (m2 ^ n2) | (m3 ^ n3) | (m4 ^ n4) | (m5 ^ n5) | (m6 ^ n6) | (m7 ^ n7)
    at[i], at[i + 1], at[i + 2], at[i + 3] = n0, n1, n2, n3
    at[i + 4], at[i + 5], at[i + 6], at[i + 7] = n4, n5, n6, n7


@kernel
def walk_one(cuts, words, flat, base, root):
    """The leaf of one row."""
    node = root
    after = step(cuts, words, flat, base, node)
    while after != node:
        node = after
        after = step(cuts, words, flat, base, node)
    return node


@kernel
def walk_rows(cuts, words, flat, row, lo, n, root, at):
    """The leaf of each row lo…lo + n in one tree."""
    for i in range(0, n - 7, 8):
        walk_eight(cuts, words, flat, np.uint64(lo + i) * row, row, root, at, i)


@kernel
def walk_rest(cuts, words, flat, row, lo, n, root, at):
    """Of the rows that are left over."""
    for i in range(n - n % 8, n):
        at[i] = walk_one(cuts, words, flat, np.uint64(lo + i) * row, root)


@kernel
def add_single(n, at, number, values, lo, out):
    """One value a leaf."""
    for i in range(n):
        out[lo + i, 0] += values[number[at[i] >> np.uint64(1)], 0]


@kernel
def add_pairs(n, at, number, values, lo, out):
    """Two values a leaf."""
    for i in range(n):
        leaf = number[at[i] >> np.uint64(1)]
        out[lo + i, 0] += values[leaf, 0]
        out[lo + i, 1] += values[leaf, 1]


@kernel
def add_many(n, at, number, values, lo, out):
    """Many values a leaf."""
    for i in range(n):
        leaf = number[at[i] >> np.uint64(1)]
        for c in range(values.shape[1]):
            out[lo + i, c] += values[leaf, c]


@kernel
def add_leaves(flat, row_step, lo, hi, first, last, cuts, words, roots, number, values, out):
    """out[i] += the values of row i's leaf in trees first…last, in order, for rows lo…hi."""
    row = np.uint64(row_step)
    n = hi - lo
    at = np.empty(n, np.uint64)
    width = values.shape[1]
    for t in range(first, last):
        root = np.uint64(2 * roots[t])
        walk_rows(cuts, words, flat, row, lo, n, root, at)
        walk_rest(cuts, words, flat, row, lo, n, root, at)
        if width == 1:
            add_single(n, at, number, values, lo, out)
        elif width == 2:
            add_pairs(n, at, number, values, lo, out)
        else:
            add_many(n, at, number, values, lo, out)
