"""How the nodes of `_walk` become the words of `_short`, some trees at a time on each thread.

Thresholds of keys of one byte are numbered as they are met, by a table for each column, and the numbers are put in the
order of the thresholds once all of them are known.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks, get_threads
from learnt.forestry._walk import COLUMN, INNER, MISSING_LEFT
from learnt.forestry._walk_many import ROOT

MOST_EDGES = 254
ABSENT = 255  # the key of one byte of a missing value; as a threshold's key: only what is missing goes right
_SLOTS = 1024  # of a column's table
_NODES = 1 << 16  # a task should have, at least


def float_words(nodes: np.ndarray, roots: np.ndarray, sizes: np.ndarray, twice: int, bits: int) -> np.ndarray:
    """Words with the bits of float32 for keys; `twice` is where the second copies of the columns begin, or 0."""
    words = np.zeros(len(nodes) + ROOT * len(roots), np.uint64)
    grain = max(1, _NODES * len(roots) // len(nodes))
    for_blocks(lambda lo, hi: lay_floats(nodes, roots, sizes, lo, hi, twice, bits, words), len(roots), grain=grain)
    return words


def byte_words(
    nodes: np.ndarray, roots: np.ndarray, sizes: np.ndarray, d: int, twice: int, bits: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Words with keys of one byte, and the thresholds (d, 256) in order; None where a column has too many."""
    words = np.zeros(len(nodes) + ROOT * len(roots), np.uint32)
    halves = nodes.view(np.uint64)
    grain = max(1, _NODES * len(roots) // len(nodes), -(-len(roots) // get_threads()))

    def lay(lo: int, hi: int) -> tuple[int, int, np.ndarray] | None:
        edges = np.full((d, 256), np.inf)
        seen, number = np.full((d, _SLOTS), np.nan), np.zeros((d, _SLOTS), np.uint8)
        fits = lay_bytes(
            nodes, halves, roots, sizes, lo, hi, twice, bits, seen, number, np.zeros(d, np.int64), edges, words
        )
        return (lo, hi, edges) if fits else None

    parts = [part for part in for_blocks(lay, len(roots), grain=grain) if part is not None]
    if sum(last - first for first, last, _ in parts) < len(roots):
        return None
    ordered = np.full((d, 256), np.inf)
    for j in range(d):
        column = np.unique(np.concatenate([edges[j] for _, _, edges in parts]))[:-1]  # all but infinity
        if len(column) > MOST_EDGES:
            return None
        ordered[j, : len(column)] = column

    def rank(lo: int, hi: int) -> None:
        for first, last, edges in parts[lo:hi]:
            ranks = np.full((d, 256), ABSENT, np.uint32)
            ranks[:, 0] = 0
            for j in range(d):
                ranks[j, 1 : MOST_EDGES + 1] = np.searchsorted(ordered[j], edges[j, :MOST_EDGES]) + 1
            begin, end = roots[first] + first * ROOT, roots[last - 1] + sizes[last - 1] + last * ROOT
            rank_keys(words[begin:end], bits, np.vstack([ranks, ranks]) if twice else ranks)

    for_blocks(rank, len(parts), grain=1)
    return words, ordered


@kernel
def column_of(word, twice):
    """The column a node looks at; in its second copy where a missing value goes left."""
    column = np.uint64(word & np.uint32(COLUMN))
    return column + np.uint64(twice) if word & np.uint32(MISSING_LEFT) else column


@kernel
def lay_floats(nodes, roots, sizes, first, last, twice, bits, words):
    """The words of trees first…last: the key of a threshold is the least one of an x beyond it."""
    single = np.empty(1, np.float32)
    turned = single.view(np.uint32)
    low, high = np.uint64(bits), np.uint64(bits + 32)
    for t in range(first, last):
        begin = roots[t] + t * ROOT
        for s in range(ROOT, ROOT + sizes[t]):
            k = roots[t] + s - ROOT
            word, threshold = nodes[k]["column"], nodes[k]["threshold"]
            if word >= np.uint32(INNER):
                single[0] = np.float32(threshold) + np.float32(0.0)  # −0 is 0
                key = np.uint64(
                    turned[0] ^ (np.uint32(0xFFFFFFFF) if turned[0] >> np.uint32(31) else np.uint32(1 << 31))
                )
                if single[0] <= threshold:
                    key += np.uint64(1)
                child = np.uint64(np.int64(nodes[k]["left"]) - roots[t] + ROOT)
                words[begin + s] = (child << high) | (key << low) | column_of(word, twice)
            else:
                words[begin + s] = np.uint64(s - 1) << high


@kernel
def lay_bytes(nodes, halves, roots, sizes, first, last, twice, bits, seen, number, counts, edges, words):
    """The same with thresholds numbered from 1 as they are met; whether no column has too many. `seen` holds NaN."""
    low, high = np.uint64(bits), np.uint64(bits + 8)
    for t in range(first, last):
        begin = roots[t] + t * ROOT
        for s in range(ROOT, ROOT + sizes[t]):
            k = roots[t] + s - ROOT
            word, threshold = nodes[k]["column"], nodes[k]["threshold"]
            if word < np.uint32(INNER):
                words[begin + s] = np.uint32(np.uint64(s - 1) << high)
                continue
            key = np.uint64(ABSENT)
            if threshold < np.inf:
                f = np.uint64(word & np.uint32(COLUMN))
                h = halves[2 * k]  # the bits of the threshold
                h ^= h >> np.uint64(29)
                h ^= h >> np.uint64(17)
                slot = (h ^ (h >> np.uint64(9))) & np.uint64(_SLOTS - 1)
                while seen[f, slot] == seen[f, slot] and seen[f, slot] != threshold:
                    slot = (slot + np.uint64(1)) & np.uint64(_SLOTS - 1)
                if seen[f, slot] != threshold:
                    if counts[f] == MOST_EDGES:
                        return False
                    seen[f, slot] = threshold
                    edges[f, counts[f]] = threshold
                    counts[f] += 1
                    number[f, slot] = counts[f]
                key = np.uint64(number[f, slot])
            child = np.uint64(np.int64(nodes[k]["left"]) - roots[t] + ROOT)
            words[begin + s] = np.uint32((child << high) | (key << low) | column_of(word, twice))
    return True


@kernel
def rank_keys(words, bits, ranks):
    """Ranks in place of the numbers."""
    low, mask = np.uint32(bits), np.uint32((1 << bits) - 1)
    others = ~(np.uint32(255) << low)
    for k in range(words.size):
        word = words[k]
        key = ranks[word & mask, (word >> low) & np.uint32(255)]
        words[k] = (word & others) | (key << low)
