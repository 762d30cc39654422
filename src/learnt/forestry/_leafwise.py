"""A tree for gradients: leaf by leaf, or level by level, from histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from learnt.engine.threads import for_blocks, inside_pool, run_tasks, thread_count
from learnt.forestry._bins import Bins
from learnt.forestry._histogram import BLOCK, CONSTANT, EXACT, PAIR, TAKEN, cells_for, quantise
from learnt.forestry._histogram_team import STOP, WORD
from learnt.forestry._leafwise_kernel import (
    ANY_ORDER,
    BEST_FIRST,
    BIN,
    DEPTH,
    END,
    GAIN,
    HC,
    HIGH,
    LEFT,
    LEVELS,
    LOW,
    N_FLOATS,
    N_INTS,
    N_LEAVES,
    N_MEMORY,
    N_NODES,
    SLOT,
    SPLIT,
    START,
    WAY,
    G,
    work,
)
from learnt.forestry._leafwise_leaves import sum_leaves
from learnt.forestry._leafwise_share import COMMAND, NOISE, TEAM_SIZE

_EXACT_CELLS = 1 << 17  # cells of a table below which every bit of a gradient is kept
_TEAM_CELLS = 1 << 17  # cells above which a tree is worth waking threads for
_POOL_BYTES = 1 << 29  # histograms that are kept at a time
_GRAIN = 1 << 15


@dataclass(frozen=True)
class Growth:
    """What limits a tree, under the names of the estimators' parameters."""

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian: float = 1e-3
    l1: float = 0.0
    l2: float = 0.0
    max_features: float = 1.0
    by_level: bool = False


class GrownTree:
    """A tree as it comes from the grower: node 0 is the root, right = left + 1, left = −1 in a leaf.

    `rows[start[k]:end[k]]` are the training rows of node k; `sets[k]` are the bins that go left where node k splits on
    categories.
    """

    def __init__(self, whole: np.ndarray, real: np.ndarray, sets: np.ndarray, rows: np.ndarray, shift: int) -> None:
        self.left = whole[:, LEFT].copy()
        self.feature = whole[:, SPLIT].copy()
        self.bin = whole[:, BIN].copy()
        self.missing_left = whole[:, WAY].copy()
        self.start, self.end = whole[:, START].copy(), whole[:, END].copy()
        self.count = whole[:, HC] & ((1 << shift) - 1)
        self.depth = whole[:, DEPTH].copy()
        self.gain, self.low, self.high = real[:, GAIN].copy(), real[:, LOW].copy(), real[:, HIGH].copy()
        self.sets = sets.copy()
        self.rows = rows
        self.sum_g: np.ndarray
        self.sum_h: np.ndarray

    @property
    def is_leaf(self) -> np.ndarray:
        return self.left < 0

    @cached_property
    def pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, int]]]:
        """The rows of leaves in stretches: leaf, start and end of each, and which ones make up a task."""
        leaves = np.flatnonzero(self.is_leaf)
        if len(self.rows) <= _GRAIN:
            return leaves, self.start[leaves], self.end[leaves], [(0, len(leaves))]
        each = -(-(self.end[leaves] - self.start[leaves]) // _GRAIN)
        leaf = np.repeat(leaves, each)
        start = self.start[leaf] + _GRAIN * (np.arange(len(leaf)) - np.repeat(np.cumsum(each) - each, each))
        end = np.minimum(start + _GRAIN, self.end[leaf])
        task = np.cumsum(end - start) // _GRAIN
        bounds = np.flatnonzero(np.diff(task, prepend=-1, append=-1)).tolist()
        return leaf, start, end, list(pairwise(bounds))

    def values(self, growth: Growth) -> np.ndarray:
        """The Newton step −S(G) / (H + l2) of every node, within its bounds."""
        g = np.sign(self.sum_g) * np.maximum(np.abs(self.sum_g) - growth.l1, 0.0)
        steps = -g / np.maximum(self.sum_h + growth.l2, np.finfo(float).tiny)
        return np.clip(steps, self.low, self.high)


class HistogramGrower:
    """Grows trees on one binned table; all memory is taken once.

    Parameters
    ----------
    by_row, by_column : uint8 arrays
        The codes of the table, as `Bins.encode` gives them.
    counts : int64 array or None
        How often a row counts towards `min_samples_leaf`; None for once.
    monotone : int8 array of shape (n_features,) or None
    groups : uint8 array of shape (n_groups, n_features) or None
        A branch uses the features of one group only.
    constant_hessian : bool
        Every row has the same hessian.
    steady : bool
        No gradient or hessian can be far larger than most: fewer bits of each are enough.
    """

    def __init__(
        self,
        by_row: np.ndarray,
        by_column: np.ndarray,
        bins: Bins,
        growth: Growth,
        *,
        counts: np.ndarray | None = None,
        monotone: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        constant_hessian: bool = False,
        steady: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        n, d = by_row.shape[0], len(bins.n_bins)
        self.growth, self.n, self.d = growth, n, d
        small = n * d <= _EXACT_CELLS
        self.form = EXACT if small or counts is not None else CONSTANT if constant_hessian else PAIR
        self.counts = np.empty(0, np.int64) if counts is None else np.ascontiguousarray(counts, dtype=np.int64)
        total = n if counts is None else int(self.counts.sum())
        self._cells = cells_for(self.form, n, steady)
        self.shift = self._cells.low if self._cells.single else max(1, total.bit_length())
        threads = 1 if n * d <= _TEAM_CELLS or inside_pool() else min(thread_count(n_jobs), 64)
        self.threads = threads
        if d == 0:
            raise ValueError("a table without columns has no histograms")
        width = int(bins.n_bins.max()) + 1
        size = -(-d // 8) * 8 * width * (1 if self._cells.single else 2)
        most = max(1, total // max(1, growth.min_samples_leaf))
        if growth.max_depth is not None:
            most = min(most, 1 << min(growth.max_depth, 40))
        leaves = most if growth.max_leaf_nodes is None else min(most, growth.max_leaf_nodes)
        leaves = min(leaves, n)
        order = ANY_ORDER if growth.max_leaf_nodes is None else LEVELS if growth.by_level else BEST_FIRST
        slots = max(2, min(leaves, 64 if order == ANY_ORDER else leaves, _POOL_BYTES // (8 * size)))
        self._table = (
            by_row.reshape(-1).view(np.uint64),
            by_column,
            bins.n_bins.astype(np.int64),
            bins.has_missing,
            bins.categorical,
            np.zeros(d, np.int8) if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8),
        )
        exact = n if self.form == EXACT else 0
        self._words = (
            np.empty(exact, np.int64),
            np.empty(exact, np.int64),
            np.empty(0 if exact else n, np.int32),
        )
        self._ints = np.array(
            [
                leaves,
                2**40 if growth.max_depth is None else growth.max_depth,
                growth.min_samples_leaf,
                order,
                self.form,
                self.shift,
                by_row.shape[1] // 8,
                slots,
                width,
                self._cells.single,
                self._cells.low,
                self._cells.up,
                self._cells.flush,
                threads,
            ],
            dtype=np.int64,
        )
        self._floats = np.array([1.0, 1.0, growth.min_hessian, growth.l1, growth.l2, 0.0])
        self._noisy = bool(bins.categorical.any())
        self.rows, self._every = np.empty(n, np.int32), np.arange(n, dtype=np.int32)
        parts = threads if threads > 1 and d < 2 * BLOCK * threads else 0
        self._room = (
            self.rows,
            np.empty(n, np.int32),
            np.empty(256, np.uint8),
            np.zeros(8 * threads, np.int64),
            np.empty((slots + 2 + parts) * size, np.int64),
            np.zeros((threads, 0 if self._cells.single or self.form == EXACT else width * BLOCK), np.int64),
            np.ones((2, d), np.uint8),
            np.empty((threads, 2)),
            np.empty((threads, 2, 5), np.int64),
            np.empty((threads, 2, 256), np.uint8),
            np.empty((threads, 256), np.int64),
            np.empty((threads, 256)),
            np.empty(4),
            np.empty((threads, 2, 257), np.int64),
            np.empty((threads, 2, 256), np.float32),
            np.empty((threads, TAKEN * (BLOCK // 8)), np.uint64),
            np.empty((threads, TAKEN), np.int64),
        )
        nodes = 2 * leaves - 1
        self._whole, self._real = np.empty((nodes, N_INTS), np.int64), np.empty((nodes, N_FLOATS))
        self._sets = np.empty((nodes if bins.categorical.any() else 0, 256), np.uint8)
        self._groups = np.empty((0, d), np.uint8) if groups is None else np.ascontiguousarray(groups, dtype=np.uint8)
        self._alive = np.ones((nodes if len(self._groups) else 0, len(self._groups)), np.uint8)
        self._heap, self._free = np.empty(leaves + 1, np.int64), np.empty(slots, np.int64)
        self._draw = np.empty(d, np.int64)

    def grow(
        self,
        g: np.ndarray,
        h: np.ndarray,
        rows: np.ndarray | None = None,
        seed: int = 0,
        salt: int = 0,
        top: tuple[float, float] | None = None,
    ) -> GrownTree:
        """The tree for gradients g and hessians h, over the given rows or all.

        `seed` draws columns where not all are looked at; `salt` decides how gradients are rounded. `top`: the
        largest absolute gradient and hessian, where they are known.
        """
        count = self.n if rows is None else len(rows)
        self.rows[:count] = self._every if rows is None else rows
        top = (_largest(g), _largest(h)) if top is None else top
        self._quantise(g, h, salt, *top)
        extra = (
            self._groups,
            self._alive,
            float(self.growth.max_features),
            self._draw,
            np.array([seed], dtype=np.uint64),
        )
        team, memory = np.zeros(TEAM_SIZE, np.int64), np.zeros(N_MEMORY, np.int64)
        memory[N_NODES] = memory[N_LEAVES] = 1
        whole, real = self._whole, self._real
        whole[0] = 0
        whole[0, [LEFT, SLOT]], whole[0, END] = -1, count
        real[0] = 0.0, -np.inf, np.inf
        shared = (
            team, self._table, self._words, self._ints, self._floats, self._room, extra, memory, whole, real,
            self._sets, self._heap, self._free,
        )  # fmt: skip

        def lead() -> None:
            try:
                work(True, *shared)
            finally:  # also after an error: helpers must not wait for ever
                team[COMMAND] = STOP
                team[WORD] |= 1023

        if self.threads == 1:
            lead()
        else:
            helpers: list[Callable[[], None]] = [partial(work, False, *shared)] * (self.threads - 1)
            run_tasks([lead, *helpers], n_jobs=self.threads)
        n_nodes = int(memory[N_NODES])
        tree = GrownTree(
            self._whole[:n_nodes], self._real[:n_nodes], self._sets[:n_nodes], self.rows[:count], self.shift
        )
        self._sum(tree, g, h, top)
        return tree

    def _quantise(self, g: np.ndarray, h: np.ndarray, salt: int, top_g: float, top_h: float) -> None:
        bits = max(1, self.n.bit_length())
        if self.form == EXACT:
            scale_g, scale_h = _power(min(52, 62 - bits), top_g), _power(min(52, 62 - bits - self.shift), top_h)
        elif self.form == CONSTANT:
            scale_g, scale_h = _power(self._cells.gradient - 1, top_g), 1.0 / float(h[0])
        else:
            scale_g = (2.0 ** (self._cells.gradient - 1) - 2.0) / top_g if top_g > 0 else 1.0
            scale_h = (2.0**self._cells.hessian - 2.0) / top_h if top_h > 0 else 1.0
        self._floats[0], self._floats[1] = 1.0 / scale_g, 1.0 / scale_h
        if self._noisy:  # Σ g² / Σ h; a row that counts as several is as many smaller ones
            repeats = self.counts if self.counts.size else 1.0
            self._floats[NOISE] = float(np.sum(g * g / repeats)) / max(float(h.sum()), np.finfo(float).tiny)

        def work(lo: int, hi: int) -> None:
            quantise(g, h, scale_g, scale_h, self.form, self.shift, salt, lo, hi, *self._words[:2],
                     self.counts, self._words[2])  # fmt: skip

        if self.n <= _GRAIN:
            work(0, self.n)
        else:
            for_blocks(work, self.n, grain=_GRAIN)

    def _sum(self, tree: GrownTree, g: np.ndarray, h: np.ndarray, top: tuple[float, float]) -> None:
        """Sums of gradients and hessians in every node: exact ones in leaves, from which the others follow."""
        n_nodes = len(tree.left)
        if self.form == EXACT:
            tree.sum_g = self._whole[:n_nodes, G] * self._floats[0]
            tree.sum_h = (self._whole[:n_nodes, HC] >> self.shift) * self._floats[1]
            return
        bits = max(1, self.n.bit_length())
        scale = [_power(62 - bits, value) for value in top]
        leaves, start, end, tasks = tree.pieces
        part = np.zeros((len(leaves), 2), np.int64)

        def work(lo: int, hi: int) -> None:
            sum_leaves(tree.rows, start, end, lo, hi, g, h, scale[0], scale[1], part)

        _run([partial(work, lo, hi) for lo, hi in tasks], self.threads)
        sums = np.zeros((n_nodes, 2), np.int64)
        np.add.at(sums, leaves, part)
        for node in range(n_nodes - 1, -1, -1):  # children come after their parents
            if tree.left[node] >= 0:
                sums[node] = sums[tree.left[node]] + sums[tree.left[node] + 1]
        tree.sum_g, tree.sum_h = sums[:, 0] / scale[0], sums[:, 1] / scale[1]


def _largest(x: np.ndarray) -> float:
    return max(abs(float(x.max())), abs(float(x.min())))


def _power(bits: int, largest: float) -> float:
    """The power of two that makes `largest` a number of at most `bits` bits."""
    if not largest > 0:
        return 1.0
    return float(2.0 ** (bits - np.frexp(largest)[1]))


def update_scores(tree: GrownTree, values: np.ndarray, scores: np.ndarray) -> None:
    """Add the value of its leaf to the score of every row the tree was grown on."""
    from learnt.forestry._leafwise_leaves import add_to_rows

    leaf, start, end, tasks = tree.pieces
    added = np.ascontiguousarray(values[leaf])
    _run([partial(add_to_rows, tree.rows, start, end, lo, hi, added, scores) for lo, hi in tasks], None)


def _run(tasks: list[Callable[[], None]], n_jobs: int | None) -> None:
    """One task alone needs no pool."""
    if len(tasks) == 1:
        tasks[0]()
    else:
        run_tasks(tasks, n_jobs=n_jobs)


__all__: list[Any] = ["GrownTree", "Growth", "HistogramGrower", "update_scores"]
