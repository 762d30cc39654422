"""Trees whose nodes are one word each, for predictions of many rows.

A comparison x ≤ t of numbers becomes one of whole numbers, their *keys*, which rows are given once for all trees:

- one byte, where trees ask for at most 254 thresholds of a column, as binned ones do: how many of them are below x;
- four bytes for float32: its bits, turned so that they ascend. A threshold is as good rounded down to float32.

A node is then 4 or 8 bytes. A row with missing values has every column twice: where missing is more than everything,
and where it is less, for the nodes that send it left. Trees with categories, and those too large for the bits there
are, have no such form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks, get_threads
from learnt.forestry._bins import Bins
from learnt.forestry._walk import CATEGORIES, COLUMN, INNER, MISSING_LEFT
from learnt.forestry._walk_many import ROOT, name_leaves, sum_leaves

LEAST = 64  # rows; with fewer, giving them keys costs more than it brings
_MOST_EDGES = 254
_ABSENT = 255  # the key of one byte of a missing value
_SLOTS = 1024  # of the table in which the thresholds of a column are looked up while they are counted
_BLOCK = 1 << 19  # bytes of keys of a block of rows
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
    packed : PackedTrees
    """

    def __init__(self, words: np.ndarray, bits: int, edges: np.ndarray | None, missing: bool, packed: Any) -> None:
        self.words, self.bits, self.edges, self.missing = words, bits, edges, missing
        self.roots, self.columns = packed.roots, packed.columns
        self.held = packed.nodes.view(np.float64)
        self.number, self.values = np.empty(0, np.uint32), packed.values
        if self.values.shape[1] > 1:
            self.number, self.values = _few_values(packed)

    @classmethod
    def of(cls, packed: Any, d: int, bytewise: bool, missing: bool) -> ShortTrees | None:
        """The short form with keys of one byte or of four, or None where there is none."""
        nodes, roots = packed.nodes, packed.roots
        sizes = np.diff(roots, append=len(nodes))
        column = (nodes["column"] & np.uint32(COLUMN)).astype(np.uint32)
        if missing:
            column[nodes["column"] & np.uint32(MISSING_LEFT) > 0] += np.uint32(d)
        bits = int((2 if missing else 1) * d - 1).bit_length()
        room = (24 if bytewise else 32) - bits
        if room < 2 or int(sizes.max(initial=0)) + ROOT >= 1 << room or (nodes["column"] & np.uint32(CATEGORIES)).any():
            return None
        edges = None
        if bytewise:
            edges = np.full((d, 256), np.inf)
            if not find_edges(nodes, nodes.view(np.uint64), np.full((d, _SLOTS), np.nan), np.zeros(d, np.int64), edges):
                return None
            edges.sort(axis=1)
            key = np.empty(len(nodes), np.uint32)
            edge_keys(nodes, edges, key)
        else:
            key = _threshold_keys(nodes["threshold"])
        words = np.zeros(len(nodes) + ROOT * len(roots), np.uint32 if bytewise else np.uint64)
        lay_words(nodes, column, key, roots, sizes, bits, 8 if bytewise else 32, words)
        return cls(words, bits, edges, missing, packed)

    def keys(self, X: np.ndarray) -> np.ndarray:
        """The keys of rows, (n, at least n_features)."""
        if self.edges is None:
            keys = np.empty(X.shape, np.uint32)
            for_blocks(lambda lo, hi: _float_keys(X[lo:hi], keys[lo:hi]), len(X), grain=_grain(X.shape[1]))
        else:
            d = len(self.edges)
            bins = Bins(self.edges, np.full(d, _ABSENT, np.int32), np.ones(d, bool), {})
            keys = bins.encode(X, columns=False, rows=True)[1]
        if not self.missing:
            return keys
        keys = keys[:, : X.shape[1]]
        return np.hstack([keys, np.where(np.isnan(X), 0, keys)], dtype=keys.dtype)

    def sum(self, X: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        """out += the values of each row's leaf in trees first…last."""
        keys = self.keys(X)
        flat, row_step = keys.reshape(-1), keys.shape[1]

        def work(lo: int, hi: int) -> None:
            sum_leaves(
                flat, row_step, lo, hi, first, last,
                self.words, self.bits, self.roots, self.columns, self.held, self.number, self.values, out,
            )  # fmt: skip

        _in_blocks(work, len(X), keys.itemsize * row_step)

    def apply(self, X: np.ndarray, out: np.ndarray) -> None:
        """out[i, t] = the number of row i's leaf in tree t among all nodes."""
        keys = self.keys(X)
        flat, row_step = keys.reshape(-1), keys.shape[1]

        def work(lo: int, hi: int) -> None:
            name_leaves(flat, row_step, lo, hi, self.words, self.bits, self.roots, out)

        _in_blocks(work, len(X), keys.itemsize * row_step)


def _in_blocks(work: Any, n: int, row_bytes: int) -> None:
    """`work` on blocks of rows: a tree comes from memory once a block, and the rows of a block should stay near."""
    most = max(_LEAST_BLOCK, _BLOCK // row_bytes)
    grain = max(LEAST, min(most, max(_LEAST_BLOCK, -(-n // (2 * get_threads())))))
    blocks = max(1, n // grain)
    for_blocks(lambda lo, hi: work(lo * n // blocks, hi * n // blocks), blocks, grain=1)


def _grain(d: int) -> int:
    return max(1, _CELLS // d)


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


def _threshold_keys(threshold: np.ndarray) -> np.ndarray:
    """The least key of an x > t."""
    with np.errstate(over="ignore"):
        low = threshold.astype(np.float32)
    above = low > threshold
    low[above] = np.nextafter(low[above], np.float32(-np.inf))
    keys = np.empty(len(low), np.uint32)
    _float_keys(low, keys)
    keys += np.uint32(1)
    keys[threshold == np.inf] = 0xFFFFFFFF  # only what is missing goes right
    return keys


@kernel
def find_edges(nodes, halves, seen, counts, edges):
    """The distinct finite thresholds of every column; whether no column has too many. `seen` is full of NaN."""
    for k in range(nodes.size):
        word, t = nodes[k]["column"], nodes[k]["threshold"]
        if word < np.uint32(INNER) or t == np.inf:
            continue
        f = np.int64(word & np.uint32(COLUMN))
        h = halves[2 * k]  # the bits of t
        h ^= h >> np.uint64(29)
        h ^= h >> np.uint64(17)
        slot = np.int64((h ^ (h >> np.uint64(9))) & np.uint64(_SLOTS - 1))
        while seen[f, slot] == seen[f, slot] and seen[f, slot] != t:
            slot = (slot + 1) & (_SLOTS - 1)
        if seen[f, slot] != t:
            if counts[f] == _MOST_EDGES:
                return False
            seen[f, slot] = t
            edges[f, counts[f]] = t
            counts[f] += 1
    return True


@kernel
def edge_keys(nodes, edges, key):
    """The key of every inner node's threshold: one more than that of the threshold itself, 255 for infinity."""
    for k in range(nodes.size):
        word, t = nodes[k]["column"], nodes[k]["threshold"]
        if word < np.uint32(INNER):
            continue
        f = np.int64(word & np.uint32(COLUMN))
        at = 0
        size = 128
        while size > 0:
            at += size if edges[f, at + size - 1] < t else 0
            size >>= 1
        key[k] = _ABSENT if t == np.inf else at + 1


@kernel
def lay_words(nodes, column, key, roots, sizes, bits, key_bits, words):
    """The words of all nodes."""
    low, high = np.uint64(bits), np.uint64(bits + key_bits)
    for t in range(roots.size):
        begin = roots[t] + t * ROOT
        for s in range(ROOT, ROOT + sizes[t]):
            k = roots[t] + s - ROOT
            if nodes[k]["column"] >= np.uint32(INNER):
                child = np.uint64(np.int64(nodes[k]["left"]) - roots[t] + ROOT)
                words[begin + s] = (child << high) | (np.uint64(key[k]) << low) | np.uint64(column[k])
            else:
                words[begin + s] = np.uint64(s - 1) << high
