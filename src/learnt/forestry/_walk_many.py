"""Many rows through many trees, eight rows at a time: a handful of instructions a step.

A node is one word: from the lowest bits up the column, the key of the threshold, and the number of the left child; the
right child is the next. A row goes right where its own key is as large as that of the threshold. The key 0 means always
right: a leaf has it, and in place of a child the number before its own, so that a row that has arrived stays. How
words and keys come about is told in `_short`; there are two widths of each, and these functions do not mind which.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

ROOT = 1  # the number of a tree's first node: siblings are 2 and 3, 4 and 5, …
_LINE = 64  # bytes that come from memory together
_FEW_LINES, _LINES_A_ROW = 256, 24


@kernel
def step(words, keys, base, mask, low, high, node):
    """The next node of the row that begins at `base`."""
    word = words[node]
    right = keys[base + np.uint64(word & mask)] >= keys.dtype.type(word >> low)
    return np.uint64(word >> high) + (np.uint64(1) if right else np.uint64(0))


@kernel
def walk_eight(words, keys, base, row, mask, low, high, at, i):
    """The leaves of eight rows, the first of which begins at `base`: at[i…i+8]."""
    b0, b1, b2, b3 = base, base + row, base + row + row, base + row + row + row
    b4, b5, b6, b7 = b3 + row, b3 + row + row, b3 + row + row + row, b3 + row + row + row + row
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.uint64(ROOT)
    moved = np.uint64(1)
    while moved != np.uint64(0):
        m0 = step(words, keys, b0, mask, low, high, n0)
        m1 = step(words, keys, b1, mask, low, high, n1)
        m2 = step(words, keys, b2, mask, low, high, n2)
        m3 = step(words, keys, b3, mask, low, high, n3)
        m4 = step(words, keys, b4, mask, low, high, n4)
        m5 = step(words, keys, b5, mask, low, high, n5)
        m6 = step(words, keys, b6, mask, low, high, n6)
        m7 = step(words, keys, b7, mask, low, high, n7)
        n0 = step(words, keys, b0, mask, low, high, m0)
        n1 = step(words, keys, b1, mask, low, high, m1)
        n2 = step(words, keys, b2, mask, low, high, m2)
        n3 = step(words, keys, b3, mask, low, high, m3)
        n4 = step(words, keys, b4, mask, low, high, m4)
        n5 = step(words, keys, b5, mask, low, high, m5)
        n6 = step(words, keys, b6, mask, low, high, m6)
        n7 = step(words, keys, b7, mask, low, high, m7)
        # A sum: an "or" would be made into eight branches that the processor has to guess.
        moved = (m0 ^ n0) + (m1 ^ n1) + (m2 ^ n2) + (m3 ^ n3) + (m4 ^ n4) + (m5 ^ n5) + (m6 ^ n6) + (m7 ^ n7)
    at[i], at[i + np.uint64(1)], at[i + np.uint64(2)], at[i + np.uint64(3)] = n0, n1, n2, n3
    at[i + np.uint64(4)], at[i + np.uint64(5)], at[i + np.uint64(6)], at[i + np.uint64(7)] = n4, n5, n6, n7


@kernel
def walk_rows(words, keys, row, lo, n, mask, low, high, at):
    """The leaf of each row lo…lo + n in one tree; `at` has room for eight more."""
    last = np.uint64(lo + n - 8)
    for i in range(0, n, 8):  # the last eight may have been seen before
        first = min(np.uint64(lo + i), last)
        walk_eight(words, keys, first * row, row, mask, low, high, at, first - np.uint64(lo))


@kernel
def tree_of(words, roots, t, n):
    """The words of tree t. A large one is read once from end to end before n rows meet its nodes in no order.

    Memory is several times as quick that way. What was read is returned, lest the reading be thought useless.
    """
    end = roots[t + 1] + (t + 1) * ROOT if t + 1 < roots.size else words.size
    tree = words[roots[t] + t * ROOT : end]
    lines = tree.size * words.itemsize // _LINE
    found = tree[0]
    if _FEW_LINES < lines < _LINES_A_ROW * n:
        for k in range(lines):
            found ^= tree[k * (_LINE // words.itemsize)]
    return tree, found


@kernel
def add_single(n, at, held, start, target, lo, out):
    """One value a leaf, the first number of its record."""
    for i in range(n):
        out[lo + i, target] += held[np.uint64(2) * (start + np.uint64(at[i]) - np.uint64(ROOT))]


@kernel
def add_pairs(n, at, number, start, values, lo, out):
    """Two values a leaf."""
    for i in range(n):
        leaf = number[start + np.uint64(at[i]) - np.uint64(ROOT)]
        out[lo + i, 0] += values[leaf, 0]
        out[lo + i, 1] += values[leaf, 1]


@kernel
def add_many(n, at, number, start, values, target, lo, out):
    """Many values a leaf."""
    for i in range(n):
        leaf = number[start + np.uint64(at[i]) - np.uint64(ROOT)]
        for c in range(values.shape[1]):
            out[lo + i, target + c] += values[leaf, c]


@kernel
def write_leaves(n, at, start, t, lo, out):
    """The number of each row's leaf among all nodes."""
    for i in range(n):
        out[lo + i, t] = np.int64(start + np.uint64(at[i]) - np.uint64(ROOT))


@kernel
def sum_leaves(
    keys, row_step, lo, hi, first, last, words, bits, roots, columns, held, number, values, out
):  # fmt: skip
    """out[i, columns[t]…] += the values of row i's leaf in trees first…last, in order, for rows lo…hi, 8 at least."""
    n, width = hi - lo, values.shape[1]
    at = np.empty(n, np.uint32)
    low = words.dtype.type(bits)
    high = words.dtype.type(bits + 8 * keys.itemsize)
    mask = words.dtype.type((1 << bits) - 1)
    seen = words[0]
    for t in range(first, last):
        tree, read = tree_of(words, roots, t, n)
        seen ^= read
        start = np.uint64(roots[t])
        walk_rows(tree, keys, np.uint64(row_step), lo, n, mask, low, high, at)
        if width == 1:
            add_single(n, at, held, start, columns[t], lo, out)
        elif width == 2 and out.shape[1] == 2:
            add_pairs(n, at, number, start, values, lo, out)
        else:
            add_many(n, at, number, start, values, columns[t], lo, out)
    return seen


@kernel
def name_leaves(keys, row_step, lo, hi, words, bits, roots, out):
    """out[i, t] = the number of row i's leaf in tree t among all nodes, for rows lo…hi, 8 at least."""
    n = hi - lo
    at = np.empty(n, np.uint32)
    low = words.dtype.type(bits)
    high = words.dtype.type(bits + 8 * keys.itemsize)
    mask = words.dtype.type((1 << bits) - 1)
    seen = words[0]
    for t in range(roots.size):
        tree, read = tree_of(words, roots, t, n)
        seen ^= read
        walk_rows(tree, keys, np.uint64(row_step), lo, n, mask, low, high, at)
        write_leaves(n, at, np.uint64(roots[t]), t, lo, out)
    return seen
