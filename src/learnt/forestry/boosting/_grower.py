"""A tree for gradients: leaf by leaf, or level by level, from histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.threads import inside_pool, run_tasks, thread_count
from learnt.forestry.bins._bins import Bins
from learnt.forestry.boosting._histogram import BLOCK, CONSTANT, EXACT, PAIR, TAKEN, cells_for
from learnt.forestry.boosting._kernel import (
    ANY_ORDER,
    BEST_FIRST,
    HALT,
    LEVELS,
    N_FLOATS,
    N_INTS,
    N_MEMORY,
    work,
)
from learnt.forestry.boosting._rows import GIVEN, ROWS
from learnt.forestry.boosting._share import (
    BIN,
    COMMAND,
    DEPTH,
    END,
    GAIN,
    HC,
    LEFT,
    MIN_ROWS,
    N_LEAVES,
    N_NODES,
    OUTPUT,
    PART,
    RATE,
    SALT,
    SLOT,
    SOURCE,
    SPLIT,
    START,
    TEAM_SIZE,
    TO_UPDATE,
    WAY,
)
from learnt.forestry.boosting._state import Growing, Kinds, Passes, Room, Rounded, Sampling, Table, Waiting
from learnt.forestry.boosting._team import STOP, WORD

_EXACT_CELLS = 1 << 17  # cells of a table below which every bit of a gradient is kept
_TEAM_CELLS = 1 << 17  # cells from which a tree uses several threads
_LONG_CELLS = 1 << 25  # cells above which a tree may take a fraction of a second
_POOL_BYTES = 1 << 29  # histograms that are kept at a time
_SHARP_BITS = 26  # of a gradient, from which on sums of rounded ones are good enough for the values of leaves
_EMPTY = np.empty(0)


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


class Target(NamedTuple):
    """Where gradients come from, and the scores that a tree is added to.

    `source` GIVEN: g and h are filled already; otherwise they are the derivatives of a loss at `score` for the target
    `y`, times the weights `w`. `norm` is log Σ e^score over all outputs, of which this is number `output`. With
    `update` the tree's values, times `rate`, are added to `score`.
    """

    source: int = GIVEN
    y: np.ndarray = _EMPTY
    score: np.ndarray = _EMPTY
    norm: np.ndarray = _EMPTY
    w: np.ndarray = _EMPTY
    output: int = 0
    rate: float = 1.0
    update: bool = False


class GrownTree:
    """A tree as it comes from the grower: node 0 is the root, right = left + 1, left = −1 in a leaf.

    `values` are the Newton steps −S(G) / (H + l2) of nodes, within their bounds, times the learning rate.
    `rows[start[k]:end[k]]` are the training rows of node k and `leaf_of` the leaf of every row that the tree was grown
    on, both until the next tree is grown; `sets[k]` are the bins that go left where node k splits on categories.
    """

    def __init__(
        self,
        node_ints: np.ndarray,
        node_floats: np.ndarray,
        sets: np.ndarray,
        sums: np.ndarray,
        rows: np.ndarray,
        leaf_of: np.ndarray,
        shift: int,
    ) -> None:
        known = node_ints.T.copy()
        self.left, self.feature, self.bin, self.missing_left = known[LEFT], known[SPLIT], known[BIN], known[WAY]
        self.start, self.end, self.depth = known[START], known[END], known[DEPTH]
        self.count = known[HC] & ((1 << shift) - 1)
        self.gain = node_floats[:, GAIN].copy()
        self.values, self.sum_g, self.sum_h = sums.copy()
        self.sets = sets.copy()
        self.rows, self.leaf_of = rows, leaf_of

    @property
    def is_leaf(self) -> np.ndarray:
        return self.left < 0


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
    by_hessian : bool
        The hessians of a leaf must also add up to those of `min_samples_leaf` rows, less one, that are as the rows of
        the node it comes from are on average. The value of a leaf is as uncertain as its hessians are small: rows of
        which the class is all but certain tell next to nothing, and twenty may tell less than one that is in doubt.
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
        by_hessian: bool = False,
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
        self._table = Table(
            by_row.reshape(-1).view(np.uint64),
            by_column,
            bins.n_bins.astype(np.int64),
            bins.has_missing,
            bins.categorical,
            np.zeros(d, np.int8) if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8),
        )
        exact = n if self.form == EXACT else 0
        self._words = Rounded(
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
                self._cells.gradient,
                self._cells.hessian,
                n,
                bins.categorical.any(),
                *(0, 0, 0, 0, 0),  # SOURCE to PART: set for every tree
                self.form == PAIR or (self.form == CONSTANT and self._cells.gradient < _SHARP_BITS),
            ],
            dtype=np.int64,
        )
        self._floats = np.zeros(12)
        self._floats[2:5] = growth.min_hessian, growth.l1, growth.l2
        self._floats[MIN_ROWS] = growth.min_samples_leaf - 1 if by_hessian else 0
        self.rows = np.empty(n, np.int32)
        parts = threads if threads > 1 and d < 2 * BLOCK * threads else 0
        self._room = Room(
            self.rows,
            np.empty(n, np.int32),
            np.empty(256, np.uint8),
            np.zeros(8 * threads, np.int64),
            np.empty((slots + 2 + parts) * size, np.int64),
            np.zeros((threads, 0 if self._cells.single or self.form == EXACT else width * BLOCK), np.int64),
            np.ones((2, d), np.uint8),
            np.empty((threads, 2)),
            np.empty((threads, 2, 5), np.int64),
            np.empty(4),
            np.empty((threads, 2, 257), np.int64),
            np.empty((threads, 2, 257), np.float32),
            np.empty((threads, TAKEN * (BLOCK // 8)), np.uint64),
            np.empty((threads, TAKEN), np.int64),
        )
        nodes = 2 * leaves - 1
        self._whole, self._real = np.empty((nodes, N_INTS), np.int64), np.empty((nodes, N_FLOATS))
        self._kinds: Kinds | None = None
        if bins.categorical.any():
            self._kinds = Kinds(
                np.empty((nodes, 256), np.uint8),
                np.empty((threads, 2, 256), np.uint8),
                np.empty((threads, 3, 257), np.int64),
                np.empty((threads, 2, d)),
            )
        self._groups = np.empty((0, d), np.uint8) if groups is None else np.ascontiguousarray(groups, dtype=np.uint8)
        self._alive = np.ones((nodes if len(self._groups) else 0, len(self._groups)), np.uint8)
        self._waiting = Waiting(np.empty(leaves + 1, np.int64), np.empty(slots, np.int64))
        self._draw = np.empty(d, np.int64)
        self._passes = (
            self.counts,
            np.zeros((-(-n // ROWS), 4)),
            np.empty((2, threads, nodes + 1), np.int64),
            np.zeros((3, nodes + 1)),
        )

    def grow(
        self,
        g: np.ndarray,
        h: np.ndarray,
        rows: np.ndarray | None = None,
        seed: int = 0,
        salt: int = 0,
        target: Target = Target(),  # noqa: B008
    ) -> GrownTree:
        """The tree for gradients g and hessians h, over the given rows or all.

        `seed` draws columns where not all are looked at; `salt` decides how gradients are rounded. Unless `target`
        says that they are given, g and h are filled first.
        """
        count = self.n if rows is None else len(rows)
        if rows is not None:
            self.rows[:count] = rows
        ints = self._ints
        ints[SOURCE], ints[OUTPUT], ints[SALT] = target.source, target.output, salt
        ints[TO_UPDATE], ints[PART] = target.update, count < self.n
        self._floats[RATE] = target.rate
        sampling = Sampling(
            self._groups,
            self._alive,
            float(self.growth.max_features),
            self._draw,
            np.array([seed], dtype=np.uint64),
        )
        team, memory = np.zeros(TEAM_SIZE, np.int64), np.zeros(N_MEMORY, np.int64)
        memory[N_NODES] = memory[N_LEAVES] = 1
        node_ints, node_floats = self._whole, self._real
        node_ints[0] = 0
        node_ints[0, LEFT], node_ints[0, SLOT], node_ints[0, END] = -1, -1, count
        node_floats[0] = 0.0, -np.inf, np.inf
        shared = (
            team, self._table, self._words, self._ints, self._floats, self._room, sampling,
            Growing(memory, node_ints, node_floats), self._kinds, self._waiting,
            Passes(target.y, target.score, target.norm, target.w, g, h, *self._passes),
        )  # fmt: skip

        def lead() -> None:
            try:
                stoppable(partial(work, True, *shared), memory[HALT:], long=count * len(self._draw) > _LONG_CELLS)
            finally:  # also after an error, so that helpers end
                team[COMMAND] = STOP
                team[WORD] |= 1023

        if self.threads == 1:
            lead()
        else:
            helpers: list[Callable[[], None]] = [partial(work, False, *shared)] * (self.threads - 1)
            run_tasks([lead, *helpers], n_jobs=self.threads)
        n = int(memory[N_NODES])
        sets = np.empty((0, 256), np.uint8) if self._kinds is None else self._kinds.sets[:n]
        return GrownTree(
            node_ints[:n],
            node_floats[:n],
            sets,
            self._passes[3][:, :n],
            self.rows[:count],
            self._room.spare,
            self.shift,
        )


__all__: list[Any] = ["GrownTree", "Growth", "HistogramGrower", "Target"]
