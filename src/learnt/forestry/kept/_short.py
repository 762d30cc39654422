"""Trees whose nodes are one word each, for predictions of many rows.

A comparison x ≤ t of numbers becomes one of integers, their *keys*, which rows are given once for all trees:

- one byte, where trees have at most 254 thresholds of a column, as binned ones do: the number of thresholds below x;
- four bytes for float32: its bits, turned so that they ascend. A threshold is as good rounded down to float32.

A node is then 4 or 8 bytes. A row with missing values has every column twice: where missing is more than everything,
and where it is less, for the nodes that send it left. Trees with categories, and those too large for the bits there
are, have no such form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks, get_threads
from learnt.forestry.bins._bins import Bins
from learnt.forestry.kept._short_words import ABSENT, byte_words, find_classes, float_words
from learnt.forestry.kept._traverse import CATEGORIES, INNER
from learnt.forestry.kept._traverse_many import ROOT, Leaves, name_leaves, sum_leaves

LEAST = 64  # rows; with fewer, computing keys costs more than it gains
_BLOCK = 1 << 20  # bytes of keys of a block of rows
_LEAST_BLOCK, _CELLS = 2048, 1 << 16


class ShortTrees:
    """The trees of a `PackedTrees` in words.

    Parameters
    ----------
    words : uint32 or uint64 array
        Nodes of all trees, one unused place before each tree.
    bits : int
        Of a word, for the column.
    edges : float64 array of shape (n_features, 256) or None
        The thresholds of each column in order, for keys of one byte; None: keys are bits of float32.
    missing : bool
        Whether columns are there twice.
    pure : bool
        Whether every leaf is of one class, which then is in its word.
    packed : PackedTrees
    """

    def __init__(
        self, words: np.ndarray, bits: int, edges: np.ndarray | None, missing: bool, pure: bool, packed: Any
    ) -> None:
        self.words, self.bits, self.edges, self.missing = words, bits, edges, missing
        self.roots, self.columns = packed.roots, packed.columns
        self.held = packed.nodes.view(np.float64)
        self.number, self.values = np.empty(0, np.uint32), packed.values
        if self.values.shape[1] > 1 and not pure:
            self.number, self.values = _few_values(packed)

    @classmethod
    def of(cls, packed: Any, d: int, bytewise: bool, missing: bool) -> ShortTrees | None:
        """The short form with keys of one byte or of four, or None where there is none."""
        nodes, roots = packed.nodes, packed.roots
        sizes = np.diff(roots, append=len(nodes))
        bits = int((2 if missing else 1) * d - 1).bit_length()
        room = (24 if bytewise else 32) - bits
        if (
            not len(nodes)
            or room < 2
            or int(sizes.max(initial=0)) + ROOT >= 1 << room
            or (nodes["column"] & np.uint32(CATEGORIES)).any()
        ):
            return None
        twice = d if missing else 0
        classes = _classes(packed.values, d + twice)
        pure = len(classes) > 0
        if not bytewise:
            return cls(float_words(nodes, roots, sizes, classes, twice, bits), bits, None, missing, pure, packed)
        found = byte_words(nodes, roots, sizes, classes, d, twice, bits)
        return None if found is None else cls(found[0], bits, found[1], missing, pure, packed)

    def keys(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The keys of rows, (n, at least n_features), and where they are bytes those of columns, (n_features, n)."""
        across: np.ndarray | None
        if self.edges is None:
            keys = np.empty(X.shape, np.uint32)
            for_blocks(lambda lo, hi: _float_keys(X[lo:hi], keys[lo:hi]), len(X), grain=_grain(X.shape[1]))
            across = None
        else:
            d = len(self.edges)
            bins = Bins(self.edges, np.full(d, ABSENT, np.int32), np.ones(d, bool), {})
            across, keys = bins.encode(X, columns=True, rows=True)
        if not self.missing:
            return keys, across
        keys = keys[:, : X.shape[1]]
        keys = np.hstack([keys, np.where(np.isnan(X), 0, keys)], dtype=keys.dtype)
        return keys, None if across is None else np.ascontiguousarray(keys.T)

    def sum(self, X: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        """out += the values of each row's leaf in trees first…last."""
        keys, across = self.keys(X)
        table, leaves = (keys.reshape(-1), keys.shape[1], across), Leaves(self.held, self.number, self.values)

        def work(lo: int, hi: int) -> None:
            sum_leaves(table, lo, hi, first, last, self.words, self.bits, self.roots, self.columns, leaves, out)

        _in_blocks(work, len(X), keys.itemsize * keys.shape[1])

    def apply(self, X: np.ndarray, out: np.ndarray) -> None:
        """out[i, t] = the number of row i's leaf in tree t among all nodes."""
        keys, across = self.keys(X)
        flat, row_step = keys.reshape(-1), keys.shape[1]

        def work(lo: int, hi: int) -> None:
            name_leaves(flat, row_step, across, lo, hi, self.words, self.bits, self.roots, out)

        _in_blocks(work, len(X), keys.itemsize * row_step)


def _in_blocks(work: Any, n: int, row_bytes: int) -> None:
    """`work` on blocks of rows.

    A tree is read from memory once a block, and the rows of a block should stay in cache.
    """
    most = max(_LEAST_BLOCK, _BLOCK // row_bytes)
    threads = get_threads()
    blocks = max(1, min(threads * -(-n // (threads * most)), n // _LEAST_BLOCK))
    for_blocks(lambda lo, hi: work(lo * n // blocks, hi * n // blocks), blocks, grain=1)


def _grain(d: int) -> int:
    return max(1, _CELLS // d)


def _classes(values: np.ndarray, columns: int) -> np.ndarray:
    """The class of each row of values; empty unless each has but one, and there is a column with the number of each."""
    width = values.shape[1]
    found = np.empty(len(values) if 1 < width <= min(columns, 256) else 0, np.uint8)
    return found if len(found) and find_classes(values, found) else found[:0]


def _few_values(packed: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each node the row of its values: those of leaves of one class are kept once."""
    values, width = packed.values, packed.values.shape[1]
    pure = (np.count_nonzero(values, axis=1) == 1) & (values.max(axis=1) == 1.0)
    place = np.where(pure, values.argmax(axis=1), width - 1 + np.cumsum(~pure)).astype(np.uint32)
    leaf = packed.nodes["column"] < INNER
    number = np.zeros(len(leaf), np.uint32)
    number[leaf] = place[packed.nodes["threshold"][leaf].astype(np.int64)]
    return number, np.concatenate([np.eye(width), values[~pure]])


def _float_keys(x: np.ndarray, out: np.ndarray) -> None:
    """Bits of float32 that ascend with the numbers; −0 is 0, and NaN the largest of all."""
    bits = np.add(x, np.float32(0.0), out=out.view(np.float32)).view(np.int32)
    out ^= (bits >> 31).view(np.uint32) | np.uint32(0x80000000)
    out[np.isnan(x)] = 0xFFFFFFFF
