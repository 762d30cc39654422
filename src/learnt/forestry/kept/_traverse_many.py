"""Many rows through many trees, eight rows at a time: a handful of instructions a step.

A node is one word: from the lowest bits up the key of the threshold, the column, and the number of the left child; the
right child is the next. A row goes right where its own key is as large as that of the threshold. The key 0 means always
right: a leaf has it, and in place of a child the number before its own, so that a row that has arrived stays. How
words and keys are made is described in `_short`; there are two widths of each, and these functions take both.

No step tests whether a row has arrived: all rows take as many steps as most of them need, then those that still moved
in the last one are gathered and take a few more, until none is left. Waiting for the slowest of eight rows would take
two fifths more steps, with a branch misprediction at each end.

Near the root many rows are at the same node, and where keys are bytes the first levels are passed node by node instead,
by all rows of a chunk at once: their keys of one column lie side by side in `across`, and dozens are compared by one
instruction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel

ROOT = 1  # the number of a tree's first node: siblings are 2 and 3, 4 and 5, …
_LINE = 64  # bytes of a cache line
_FEW_LINES, _LINES_A_ROW = 256, 24
_CHUNK = 1024  # rows that traverse a tree together, so that their keys stay in the first-level cache
_LEVELS = 4  # from the root that all rows of a chunk pass together
_AFTER = 4  # steps taken at first beyond the depth of a balanced tree
_ROUNDS = 2  # of two steps each for those that have not arrived yet


class Leaves(NamedTuple):
    """The leaves' values: the single number of each node, or the row of each leaf in a table of values."""

    held: np.ndarray
    number: np.ndarray
    values: np.ndarray


@kernel
def step(words, keys, base, mask, high, node):
    """The next node of the row that begins at `base`."""
    word = words[node]
    column = (word >> words.dtype.type(np.iinfo(keys.dtype).bits)) & mask  # known to the compiler, unlike itemsize
    right = keys[base + np.uint64(column)] >= keys.dtype.type(word)
    return np.uint64(word >> high) + (np.uint64(1) if right else np.uint64(0))


@kernel
def settle(at, ids, i, before, now, moving):
    """Row i is at `now`, and is put behind the `moving` ones before it; how many they are with it if it moved."""
    at[i] = now
    ids[moving] = i
    return moving + np.uint64(before != now)


@kernel
def go_on(words, keys, row, lo, groups, rounds, mask, high, at, ids):
    """Twice `rounds` steps for the rows lo + ids[0 … 8 · groups] from where they are, at[ids].

    The ids of those that moved in the last step are put first; returns their number.
    """
    moving = np.uint64(0)
    for group in range(groups):
        g = 8 * group
        i0 = ids[g]
        i1 = ids[g + 1]
        i2 = ids[g + 2]
        i3 = ids[g + 3]
        i4 = ids[g + 4]
        i5 = ids[g + 5]
        i6 = ids[g + 6]
        i7 = ids[g + 7]
        b0 = (lo + i0) * row
        b1 = (lo + i1) * row
        b2 = (lo + i2) * row
        b3 = (lo + i3) * row
        b4 = (lo + i4) * row
        b5 = (lo + i5) * row
        b6 = (lo + i6) * row
        b7 = (lo + i7) * row
        n0 = at[i0]
        n1 = at[i1]
        n2 = at[i2]
        n3 = at[i3]
        n4 = at[i4]
        n5 = at[i5]
        n6 = at[i6]
        n7 = at[i7]
        m0, m1, m2, m3, m4, m5, m6, m7 = n0, n1, n2, n3, n4, n5, n6, n7
        for _ in range(rounds):
            m0 = step(words, keys, b0, mask, high, n0)
            m1 = step(words, keys, b1, mask, high, n1)
            m2 = step(words, keys, b2, mask, high, n2)
            m3 = step(words, keys, b3, mask, high, n3)
            m4 = step(words, keys, b4, mask, high, n4)
            m5 = step(words, keys, b5, mask, high, n5)
            m6 = step(words, keys, b6, mask, high, n6)
            m7 = step(words, keys, b7, mask, high, n7)
            n0 = step(words, keys, b0, mask, high, m0)
            n1 = step(words, keys, b1, mask, high, m1)
            n2 = step(words, keys, b2, mask, high, m2)
            n3 = step(words, keys, b3, mask, high, m3)
            n4 = step(words, keys, b4, mask, high, m4)
            n5 = step(words, keys, b5, mask, high, m5)
            n6 = step(words, keys, b6, mask, high, m6)
            n7 = step(words, keys, b7, mask, high, m7)
        moving = settle(at, ids, i0, m0, n0, moving)
        moving = settle(at, ids, i1, m1, n1, moving)
        moving = settle(at, ids, i2, m2, n2, moving)
        moving = settle(at, ids, i3, m3, n3, moving)
        moving = settle(at, ids, i4, m4, n4, moving)
        moving = settle(at, ids, i5, m5, n5, moving)
        moving = settle(at, ids, i6, m6, n6, moving)
        moving = settle(at, ids, i7, m7, n7, moving)
    return moving


@kernel
def pass_node(column, key, here, path):
    """Rows at node `here` of a heap go on to 2 · here or, where their key is as large, to the next."""
    left = np.uint8(here + here)
    for i in range(column.size):
        to = np.uint8(left + np.uint8(column[i] >= key))
        path[i] = to if path[i] == here else path[i]


@kernel
def pass_top(words, across, begin, n, mask, high, path, numbers, at):
    """at[i] = the node below the first levels of a tree that row begin + i comes to.

    These levels are a heap from 1 on: `path` has the place of each row in it, `numbers` that of each place in the tree.
    Below a leaf the left child is never reached, and the right one is the leaf itself.
    """
    low = words.dtype.type(np.iinfo(across.dtype).bits)
    for i in range(n):
        path[i] = 1
    numbers[1] = ROOT
    for k in range(1, 1 << _LEVELS):
        word = words[numbers[k]]
        numbers[2 * k] = word >> high
        numbers[2 * k + 1] = (word >> high) + words.dtype.type(1)
        column = across[np.int64((word >> low) & mask), begin : begin + n]
        pass_node(column, across.dtype.type(word), np.uint8(k), path)
    for i in range(n):
        at[i] = numbers[path[i]]


@kernel
def traverse_rows(words, keys, row, across, lo, n, mask, high, ids, path, at):
    """The leaf of each row lo…lo + n in one tree; `ids` and `path` have room for a chunk, and `ids` for 8 more."""
    depth, leaves = _AFTER, words.size // 2
    while leaves > 1:
        leaves //= 2
        depth += 1
    together = False
    if across is not None:
        numbers = np.empty(2 << _LEVELS, np.uint32)
        together = words.size >= 2 << _LEVELS
        depth -= _LEVELS if together else 0
    for begin in range(0, n, _CHUNK):
        here = at[begin : begin + _CHUNK]
        first, moving, rounds = np.uint64(lo + begin), here.size, depth // 2
        for i in range(here.size):
            here[i] = ROOT
            ids[i] = i
        if across is not None and together:
            pass_top(words, across, lo + begin, here.size, mask, high, path, numbers, here)
        while moving > 0:
            groups = (moving + 7) // 8
            for k in range(moving, 8 * groups):  # pad with one of them, which is harmless
                ids[k] = ids[moving - 1]
            moving = np.int64(go_on(words, keys, row, first, groups, rounds, mask, high, here, ids))
            rounds = _ROUNDS


@kernel
def tree_of(words, roots, t, n):
    """The words of tree t. A large one is read sequentially once before n rows access its nodes at random.

    Sequential reads are quicker. A value is returned, so that the compiler keeps the reads.
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
def add_classes(n, at, tree, low, mask, target, lo, out):
    """Leaves of one class each, which is where inner nodes have the column."""
    for i in range(n):
        out[lo + i, target + np.int64((tree[at[i]] >> low) & mask)] += 1.0


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
def sum_leaves(table, lo, hi, first, last, words, bits, roots, columns, leaves, out):
    """out[i, columns[t]…] += the values of row i's leaf in trees first…last, in order, for rows lo…hi.

    `table` has the keys by rows, how many a row has, and the keys by columns or None.
    """
    (keys, row_step, across), (held, number, values) = table, leaves
    n, width = hi - lo, values.shape[1]
    at, ids, path = np.empty(n, np.uint32), np.empty(_CHUNK + 8, np.uint32), np.empty(_CHUNK, np.uint8)
    low = words.dtype.type(np.iinfo(keys.dtype).bits)
    high = words.dtype.type(bits + np.iinfo(keys.dtype).bits)
    mask = words.dtype.type((1 << bits) - 1)
    seen = words[0]
    for t in range(first, last):
        tree, read = tree_of(words, roots, t, n)
        seen ^= read
        start = np.uint64(roots[t])
        traverse_rows(tree, keys, np.uint64(row_step), across, lo, n, mask, high, ids, path, at)
        if width == 1:
            add_single(n, at, held, start, columns[t], lo, out)
        elif number.size == 0:
            add_classes(n, at, tree, low, mask, columns[t], lo, out)
        elif width == 2 and out.shape[1] == 2:
            add_pairs(n, at, number, start, values, lo, out)
        else:
            add_many(n, at, number, start, values, columns[t], lo, out)
    return seen


@kernel
def name_leaves(keys, row_step, across, lo, hi, words, bits, roots, out):
    """out[i, t] = the number of row i's leaf in tree t among all nodes, for rows lo…hi."""
    n = hi - lo
    at, ids, path = np.empty(n, np.uint32), np.empty(_CHUNK + 8, np.uint32), np.empty(_CHUNK, np.uint8)
    high = words.dtype.type(bits + np.iinfo(keys.dtype).bits)
    mask = words.dtype.type((1 << bits) - 1)
    seen = words[0]
    for t in range(roots.size):
        tree, read = tree_of(words, roots, t, n)
        seen ^= read
        traverse_rows(tree, keys, np.uint64(row_step), across, lo, n, mask, high, ids, path, at)
        write_leaves(n, at, np.uint64(roots[t]), t, lo, out)
    return seen
