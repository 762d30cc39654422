"""How the nodes of `_traverse` become the words of `_short`, some trees at a time on each thread.

For keys of one byte, thresholds are numbered in order of occurrence, by a table for each column, and the numbers are
put in the order of the thresholds once all of them are known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks, get_threads
from learnt.forestry.kept._traverse import COLUMN, INNER, MISSING_LEFT
from learnt.forestry.kept._traverse_many import ROOT

MOST_EDGES = 254
ABSENT = 255  # the key of one byte of a missing value; as a threshold's key: only what is missing goes right
_SLOTS = 1024  # of a column's table
_NODES = 1 << 16  # a task should have, at least
_GLANCE = 1 << 14  # nodes sampled to decide whether to try


class Trees(NamedTuple):
    """Nodes of all trees, where each tree begins, how many it has, and the class of each leaf."""

    nodes: Any
    roots: Any
    sizes: Any
    classes: Any


class Numbered(NamedTuple):
    """Thresholds that have a number: a hash table for each column, how many it holds, and what they are in order."""

    seen: Any
    number: Any  # 0 where a slot is free
    counts: Any
    edges: Any


def float_words(
    nodes: np.ndarray, roots: np.ndarray, sizes: np.ndarray, classes: np.ndarray, twice: int, bits: int
) -> np.ndarray:
    """Words with the bits of float32 for keys; `twice` is where the second copies of the columns begin, or 0."""
    words = np.zeros(len(nodes) + ROOT * len(roots), np.uint64)
    trees = Trees(nodes, roots, sizes, classes)

    def lay(lo: int, hi: int) -> None:
        single = np.empty(1, np.float32)
        lay_floats(trees, lo, hi, twice, bits, single, single.view(np.uint32), words)

    for_blocks(lay, len(roots), grain=max(1, _NODES * len(roots) // max(1, len(nodes))))
    return words


def byte_words(
    nodes: np.ndarray, roots: np.ndarray, sizes: np.ndarray, classes: np.ndarray, d: int, twice: int, bits: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Words with keys of one byte, and the thresholds (d, 256) in order; None where a column has too many."""
    if _many_thresholds(nodes[:_GLANCE]):
        return None
    words = np.zeros(len(nodes) + ROOT * len(roots), np.uint32)
    trees, halves = Trees(nodes, roots, sizes, classes), nodes.view(np.uint64)
    grain = max(1, _NODES * len(roots) // max(1, len(nodes)), -(-len(roots) // get_threads()))

    def lay(lo: int, hi: int) -> tuple[int, int, np.ndarray] | None:
        edges = np.full((d, 256), np.inf)
        numbered = Numbered(np.empty(d * _SLOTS), np.zeros(d * _SLOTS, np.uint8), np.zeros(d, np.int64), edges)
        fits = lay_bytes(trees, halves, lo, hi, twice, bits, numbered, words)
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


def _many_thresholds(nodes: np.ndarray) -> bool:
    """Whether some column of these nodes has too many thresholds already, as it mostly does in exact trees."""
    nodes = nodes[nodes["column"] >= INNER]
    column, threshold = nodes["column"] & np.uint32(COLUMN), nodes["threshold"]
    order = np.lexsort((threshold, column))
    column, threshold = column[order], threshold[order]
    new = np.append(True, (column[1:] != column[:-1]) | (threshold[1:] != threshold[:-1]))[: len(order)]
    return bool(np.bincount(column[new], minlength=1).max() > MOST_EDGES)


@kernel
def column_of(word, twice):
    """The column that a node splits on; its second copy where a missing value goes left."""
    column = np.uint64(word & np.uint32(COLUMN))
    return column + np.uint64(twice) if word & np.uint32(MISSING_LEFT) else column


@kernel
def class_of(classes, number):
    """The class of the leaf whose row of values has this number; 0 where leaves have none."""
    return np.uint64(classes[np.int64(number)]) if classes.size else np.uint64(0)


@kernel
def find_classes(values, classes):
    """classes[k] = the one class that row k of values has a share of; whether all rows have but one."""
    for k in range(values.shape[0]):
        found = 0
        for c in range(values.shape[1]):
            if values[k, c] == 1.0:
                found += 1
                classes[k] = c
            elif values[k, c] != 0.0:
                return False
        if found != 1:
            return False
    return True


@kernel(allocates=False)
def lay_floats(trees, first, last, twice, bits, single, turned, words):
    """The words of trees first…last: a threshold's key is the least of an x beyond it. `turned` is `single` in bits."""
    nodes, roots, sizes, classes = trees
    low, high = np.uint64(32), np.uint64(bits + 32)
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
                words[begin + s] = (child << high) | (column_of(word, twice) << low) | key
            else:
                words[begin + s] = (np.uint64(s - 1) << high) | (class_of(classes, threshold) << low)


@kernel(allocates=False)
def lay_bytes(trees, halves, first, last, twice, bits, numbered, words):
    """The same with thresholds numbered from 1 in order of occurrence; whether no column has too many."""
    nodes, roots, sizes, classes = trees
    seen, number, counts, edges = numbered
    low, high = np.uint64(8), np.uint64(bits + 8)
    for t in range(first, last):
        begin = roots[t] + t * ROOT
        for s in range(ROOT, ROOT + sizes[t]):
            k = roots[t] + s - ROOT
            word, threshold = nodes[k]["column"], nodes[k]["threshold"]
            if word < np.uint32(INNER):
                words[begin + s] = np.uint32((np.uint64(s - 1) << high) | (class_of(classes, threshold) << low))
                continue
            key = np.uint64(ABSENT)
            if threshold < np.inf:
                f = np.uint64(word & np.uint32(COLUMN))
                h = halves[2 * k]  # the bits of the threshold
                h ^= h >> np.uint64(29)
                h ^= h >> np.uint64(17)
                h ^= h >> np.uint64(9)
                slot = f * np.uint64(_SLOTS) + (h & np.uint64(_SLOTS - 1))
                while number[slot] > 0 and seen[slot] != threshold:
                    h += np.uint64(1)
                    slot = f * np.uint64(_SLOTS) + (h & np.uint64(_SLOTS - 1))
                if number[slot] == 0:
                    if counts[f] == MOST_EDGES:
                        return False
                    edges[f, counts[f]] = threshold
                    counts[f] += 1
                    seen[slot] = threshold
                    number[slot] = counts[f]
                key = np.uint64(number[slot])
            child = np.uint64(np.int64(nodes[k]["left"]) - roots[t] + ROOT)
            words[begin + s] = np.uint32((child << high) | (column_of(word, twice) << low) | key)
    return True


@kernel
def rank_keys(words, bits, ranks):
    """Ranks in place of the numbers."""
    low, mask, others = np.uint32(8), np.uint32((1 << bits) - 1), ~np.uint32(255)
    for k in range(words.size):
        word = words[k]
        words[k] = (word & others) | ranks[(word >> low) & mask, word & np.uint32(255)]
