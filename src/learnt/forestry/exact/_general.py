"""Exact growth in full: sparse tables, categories, several outputs, absolute errors, surrogates, best gain first.

Where all columns are searched, each is sorted once and parted, in order, with the rows; where some are drawn at every
node, the rows of the node are sorted by each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.threads import for_blocks
from learnt.forestry.exact._absolute import median_work
from learnt.forestry.exact._categories import SUMS as GROUP_SUMS
from learnt.forestry.exact._criteria import ABSOLUTE
from learnt.forestry.exact._data import (
    CATEGORIES,
    CODES_KEPT,
    COUNT,
    CRITERION,
    CUT,
    END,
    GO_LEFT,
    IMPURITY,
    LAST,
    LEFT,
    LONG,
    LOWER,
    MAX_LEAVES,
    MAX_P_VALUE,
    MONOTONE,
    MULTIWAY,
    N_BEST,
    N_CHOSEN,
    N_CLASSES,
    N_KEPT,
    N_ORDER,
    N_STATE,
    N_SUMS,
    PRESORTED,
    RANDOM,
    SLOT,
    SPLIT,
    START,
    STOP,
    SURROGATES,
    TABLE,
    TABLE_SIZE,
    UPPER,
    WEIGHT,
    Problem,
)
from learnt.forestry.exact._data import N_FLOATS as NODE_FLOATS
from learnt.forestry.exact._data import N_INTS as NODE_INTS
from learnt.forestry.exact._grow import grow, plant, preorder
from learnt.forestry.exact._records import SPARE, fill_records, sort_records
from learnt.forestry.exact._sparse import N_STRETCHES
from learnt.forestry.exact._surrogates import (
    ADJUSTED,
    AGREEMENT,
    BELOW_LEFT,
    COLUMN,
    MOST,
    N_FLOATS,
    N_INTS,
    TABLE_AT,
    Surrogates,
)
from learnt.forestry.exact._surrogates import CUT as S_CUT
from learnt.forestry.kept._tree import Tree

_CELLS_A_TASK = 1 << 14  # sorted by one thread


def grow_general(problem: Problem, X: Any, rows: np.ndarray | None) -> Tree:
    """One tree; `rows` are those that have weight, X their table where columns are sorted once."""
    columns, tails, targets, weights, logs, facts, rules, limits, chosen, n_classes, shift = problem
    (n, n_outputs), d = targets.shape, facts.shape[1]
    rows = np.arange(n) if rows is None else rows
    m, is_sparse, absolute = len(rows), columns.is_sparse, rules[CRITERION] == ABSOLUTE
    presorted, multiway, surrogates = bool(rules[PRESORTED]), bool(rules[MULTIWAY]), bool(rules[SURROGATES])
    width, most = max(1, int(rules[N_CLASSES])), int(facts[CATEGORIES].max(initial=0)) + 1
    by_y, ranks, links, medians = median_work(targets, rows, rules, limits) if absolute else (None,) * 4
    orders = rows.astype(np.int32)[None] if by_y is None else np.vstack([rows.astype(np.int32), by_y])
    by_y = None if by_y is None else orders[1:]
    places = np.full((1, n if is_sparse or multiway else 0), -1, np.int32)
    if is_sparse:
        places[SLOT, rows] = np.arange(m)
    some = np.zeros(1)
    amounts = some if n_classes is None and not absolute else None
    side, sums, parts = np.zeros(n, np.uint8), np.zeros((N_SUMS, n_outputs, width)), np.zeros(4)
    leaves = max(0, int(rules[MAX_LEAVES]))
    best_first = np.zeros(2 * leaves + 2, np.int32)
    given = (
        None if presorted or is_sparse else columns.matrix,
        *(_sparse_work(columns.compressed, d) if is_sparse else (None,) * 5),
        tails,
        targets,
        weights,
        logs,
        amounts,
        medians,
        facts,
        rules,
        limits,
        _sorted_records(X, tails) if presorted else np.empty((1, m), np.int64),
        np.empty(m + SPARE, np.int64),
        orders,
        by_y,
        ranks,
        links,
        np.empty(m, np.int32),
        places,
        side,
        sums,
        np.stack([np.arange(d), np.zeros(d, np.int64)]),
        np.empty((3, most), np.int32),
        np.empty((most, n_outputs * width + GROUP_SUMS)) if most > 1 else None,
        np.empty((3, n_outputs * width)) if most > 1 else None,
        np.empty((1, m), np.int64) if most > 1 else None,
        some if rules[RANDOM] else None,
        np.ascontiguousarray(X.T, dtype=np.float32) if surrogates else None,
        some if limits[MAX_P_VALUE] < 1 else None,
        np.zeros(N_BEST),
        chosen,
        parts,
        np.zeros(max(3, most + 1), np.int64),
        np.zeros(2 * leaves + 2, np.int32),
        best_first,
        np.zeros((MOST, N_INTS), np.int64),
        np.zeros((MOST, N_FLOATS)),
        np.zeros((d + 1) * most if surrogates else 1, np.uint8),
    )
    grown = _Room(m, most, n_outputs * width, surrogates)
    plant(
        targets, weights, logs, amounts, medians, rules, orders, by_y, side, sums, parts, grown.ints, grown.floats,
        grown.totals, grown.waiting, grown.state,
    )  # fmt: skip
    while not stoppable(partial(grow, *given, *grown.arrays()), chosen[STOP:N_CHOSEN], long=m * d > LONG):
        grown.enlarge()
    return _as_tree(grown, best_first, d, n_classes, n_outputs, rules, shift)


def _sparse_work(compressed: tuple[np.ndarray, np.ndarray, np.ndarray], d: int) -> tuple[np.ndarray, ...]:
    """Compressed sparse rows, and room to deal their values to the columns of a node."""
    return *compressed, np.zeros((N_STRETCHES, d), np.int64), np.empty((1, len(compressed[0])), np.int64)


class _Room:
    """What growth writes down: nodes, tables of categories and surrogates, each with room for more."""

    def __init__(self, m: int, most: int, n_sums: int, surrogates: bool) -> None:
        nodes = min(2 * m, 4096) + most + 2
        tabled, kept = 4 * most + 3 if most > 1 else 1, 4 * MOST if surrogates else 1
        self.ints, self.floats = np.empty((nodes, NODE_INTS), np.int32), np.empty((nodes, NODE_FLOATS))
        self.totals, self.waiting = np.empty((nodes, n_sums)), np.empty(nodes, np.int32)
        self.branches, self.kept_codes = np.empty(tabled, np.int32), np.empty(kept * most, np.uint8)
        self.kept_ints, self.kept_floats = np.empty((kept, N_INTS + 2), np.int64), np.empty((kept, N_FLOATS))
        self.state = np.zeros(N_STATE, np.int64)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """In the order in which `grow` takes them."""
        nodes = self.ints, self.floats, self.totals, self.waiting
        return *nodes, self.branches, self.kept_ints, self.kept_floats, self.kept_codes, self.state

    def enlarge(self) -> None:
        """Twice the room of everything."""
        for name, old in list(vars(self).items()):
            if name != "state":
                setattr(self, name, doubled(old))


def doubled(old: np.ndarray) -> np.ndarray:
    """The same with as much room again."""
    new = np.empty((2 * len(old), *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    return new


def _sorted_records(X: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Every column's records in rising order."""
    n, d = X.shape
    out = np.empty((d, n), np.int64)

    def sort_columns(lo: int, hi: int) -> None:
        for j in range(lo, hi):
            fill_records(X[:, j].astype(np.float32), tails, out, j)
            sort_records(out, j, n, np.empty(n + SPARE, np.int64))

    for_blocks(sort_columns, d, grain=max(1, _CELLS_A_TASK // n))
    return out


def _as_tree(
    grown: _Room, order: np.ndarray, d: int, n_classes: Any, n_outputs: int, rules: np.ndarray, shift: np.ndarray
) -> Tree:
    """The arrays of growth in their final order, under scikit-learn's names."""
    ints, floats, values, table, state = grown.ints, grown.floats, grown.totals, grown.branches, grown.state
    n_kept, codes = state[N_KEPT], grown.kept_codes[: state[CODES_KEPT]]
    kept_ints, kept_floats = grown.kept_ints[:n_kept], grown.kept_floats[:n_kept]
    if rules[MAX_LEAVES] >= 0:
        order = order[: state[N_ORDER]]
    else:
        order = np.empty(state[COUNT], np.int32)
        preorder(ints, grown.waiting, order)
    place = np.full(int(order.max()) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    ints, floats = ints[order], floats[order]
    tables = [table[start : start + size] for start, size in ints[ints[:, TABLE] >= 0][:, [TABLE, TABLE_SIZE]]]
    starts = np.where(ints[:, TABLE] >= 0, 0, -1)
    starts[starts == 0] = np.cumsum([0, *map(len, tables)])[:-1]
    value = values[order].reshape(len(order), n_outputs, -1)
    if rules[CRITERION] != ABSOLUTE:
        value = value / floats[:, WEIGHT][:, None, None]
    value += shift[:, None]
    if rules[MONOTONE]:
        value[:, 0, 0] = np.clip(value[:, 0, 0], floats[:, LOWER], floats[:, UPPER])
        if rules[N_CLASSES] == 2:
            value[:, 0, 1] = 1 - value[:, 0, 0]
    inner = ints[:, LEFT] >= 0
    return Tree(
        d,
        np.ones(n_outputs) if n_classes is None else n_classes,
        value=value,
        children_left=np.where(inner, place[np.where(inner, ints[:, LEFT], 0)], -1),
        children_right=np.where(inner, place[np.where(inner, ints[:, LAST], 0)], -1),
        feature=ints[:, SPLIT],
        threshold=floats[:, CUT],
        missing_go_to_left=ints[:, GO_LEFT],
        table_start=starts,
        table_size=ints[:, TABLE_SIZE],
        table=place[np.concatenate(tables)] if tables else (),
        surrogates=_surrogates(inner, order, kept_ints, kept_floats, codes) if rules[SURROGATES] else None,
        impurity=floats[:, IMPURITY],
        n_node_samples=ints[:, END] - ints[:, START],
        weighted_n_node_samples=floats[:, WEIGHT],
    )


def _surrogates(
    inner: np.ndarray, order: np.ndarray, ints: np.ndarray, floats: np.ndarray, codes: np.ndarray
) -> Surrogates:
    """The surrogates found, in the final order of the nodes; those of nodes that became leaves are left out."""
    node = ints[:, N_INTS]
    place = np.full(max(int(order.max()), int(node.max(initial=0))) + 1, -1, np.int64)
    place[order[inner]] = np.flatnonzero(inner)
    wanted = np.flatnonzero(place[node] >= 0)
    wanted = wanted[np.argsort(place[node[wanted]], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(place[node[wanted]], minlength=len(order)))])
    ints, floats = ints[wanted], floats[wanted]
    return Surrogates(
        start, ints[:, COLUMN], floats[:, S_CUT], ints[:, BELOW_LEFT], floats[:, AGREEMENT], floats[:, ADJUSTED],
        ints[:, TABLE_AT], np.where(ints[:, TABLE_AT] >= 0, ints[:, N_INTS + 1], 0), codes,
    )  # fmt: skip
