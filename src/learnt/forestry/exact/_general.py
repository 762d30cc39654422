"""Exact growth in full: sparse tables, categories, several outputs, absolute errors, surrogates, best gain first.

Where all columns are searched, each is sorted once and parted, in order, with the rows; where some are drawn at every
node, the rows of the node are sorted by each.
"""

from __future__ import annotations

from functools import partial
from operator import ge
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.threads import for_blocks
from learnt.forestry.exact._absolute import median_work
from learnt.forestry.exact._categories import SUMS as GROUP_SUMS
from learnt.forestry.exact._categories import Groups
from learnt.forestry.exact._criteria import ABSOLUTE
from learnt.forestry.exact._data import (
    CATEGORIES,
    CODES_KEPT,
    COUNT,
    CUT,
    END,
    GO_LEFT,
    IMPURITY,
    LAST,
    LEFT,
    LONG,
    LOWER,
    N_BEST,
    N_CHOSEN,
    N_KEPT,
    N_ORDER,
    N_STATE,
    N_SUMS,
    SLOT,
    SPLIT,
    START,
    STOP,
    TABLE,
    TABLE_SIZE,
    UPPER,
    WEIGHT,
    Problem,
    Rules,
)
from learnt.forestry.exact._data import N_FLOATS as NODE_FLOATS
from learnt.forestry.exact._data import N_INTS as NODE_INTS
from learnt.forestry.exact._grow import Kept, Nodes, Special, Table, Work, grow, preorder
from learnt.forestry.exact._records import SPARE, fill_records, sort_records
from learnt.forestry.exact._sparse import N_STRETCHES, Cells
from learnt.forestry.exact._surrogates import (
    ADJUSTED,
    AGREEMENT,
    BELOW_LEFT,
    COLUMN,
    MOST,
    N_FLOATS,
    N_INTS,
    TABLE_AT,
    Related,
    Surrogates,
)
from learnt.forestry.exact._surrogates import CUT as S_CUT
from learnt.forestry.kept._tree import Tree

_CELLS_A_TASK = 1 << 14  # sorted by one thread
_NO_COLUMNS = np.empty((0, 0), np.float32)


def grow_general(problem: Problem, X: Any, rows: np.ndarray | None) -> Tree:
    """One tree; `rows` are those that have weight, X their table where columns are sorted once."""
    columns, tails, target, rules, chosen, n_classes, shift = problem
    (n, n_outputs), d = target.y.shape, rules.facts.shape[1]
    rows = np.arange(n) if rows is None else rows
    m, is_sparse = len(rows), columns.is_sparse
    width, most = max(1, rules.n_classes), int(rules.facts[CATEGORIES].max(initial=0)) + 1
    orders = rows.astype(np.int32)[None]
    if rules.criterion == ABSOLUTE:
        medians = median_work(target.y, rows, rules)
        orders = np.vstack([orders, medians.by_y])
        target = target._replace(medians=medians._replace(by_y=orders[1:]))
    places = np.full((1, n if is_sparse or rules.multiway else 0), -1, np.int32)
    if is_sparse:
        places[SLOT, rows] = np.arange(m)
    form = _form(rules)
    table = Table(
        columns=(_NO_COLUMNS if rules.presorted else columns.matrix) if form.dense else None,
        cells=_sparse_work(columns.compressed, d) if form.sparse else None,
        tails=tails,
    )
    work = Work(
        records=_sorted_records(X, tails) if rules.presorted else np.empty((1, m), np.int64),
        spare=np.empty(m + SPARE, np.int64),
        orders=orders,
        spare_rows=np.empty(m, np.int32),
        places=places,
        side=np.zeros(n, np.uint8),
        sums=np.zeros((N_SUMS, n_outputs, width)),
        parts=np.zeros(4),
        begins=np.zeros(max(3, most + 1), np.int64),
        features=first_columns(d),
        subsets=np.empty((3, most), np.int32),
    )
    groups = _group_work(most, n_outputs * width, m) if form.categories else None
    related = _surrogate_work(X, most, rules) if form.surrogates else None
    random, tests = (np.zeros(1) if compiled else None for compiled in (form.random, form.tests))
    grown = _Room(m, most, n_outputs * width, rules)
    best, stop = np.zeros(N_BEST), chosen[STOP:N_CHOSEN]

    def growing() -> partial[bool]:
        special = Special(groups, related, grown.kept() if form.surrogates else None, random, tests)
        return partial(grow, table, target, rules, work, special, grown.nodes(), best, chosen, grown.state)

    while not stoppable(growing(), stop, long=m * d > LONG):
        grown.enlarge()
    return _as_tree(grown, d, n_classes, n_outputs, rules, shift)


def _sparse_work(compressed: tuple[np.ndarray, np.ndarray, np.ndarray], d: int) -> Cells:
    """Compressed sparse rows, and room to deal their values to the columns of a node."""
    return Cells(*compressed, np.zeros((N_STRETCHES, d), np.int64), np.empty((1, len(compressed[0])), np.int64))


def _group_work(most: int, n_sums: int, m: int) -> Groups:
    """Room for the categories of a column; none where no column has any."""
    rows, columns = (most, m) if most > 1 else (0, 0)
    return Groups(np.empty((rows, n_sums + GROUP_SUMS)), np.empty((3, n_sums)), np.empty((1, columns), np.int64))


def _surrogate_work(X: Any, most: int, rules: Rules) -> Related:
    """All columns, side by side, and room for the surrogates of one split; none without them."""
    columns = np.ascontiguousarray(X.T, dtype=np.float32) if rules.surrogates else _NO_COLUMNS
    table = np.zeros((len(columns) + 1) * most, np.uint8)
    return Related(columns, np.zeros((MOST, N_INTS), np.int64), np.zeros((MOST, N_FLOATS)), table)


class _Form(NamedTuple):
    """What a compiled form of growth can do."""

    dense: bool = False
    sparse: bool = False
    categories: bool = False
    surrogates: bool = False
    random: bool = False
    tests: bool = False


# A form for each combination would be compiled more often than it is run: what is rare shares one, and each takes more
# of the compiler's time than those before it. Text columns are common, so categories alone have a form of their own.
_FORMS = (
    _Form(dense=True),
    _Form(sparse=True),
    _Form(dense=True, sparse=True, random=True, tests=True),
    _Form(dense=True, categories=True),
    _Form(dense=True, categories=True, surrogates=True, random=True),
    _Form(dense=True, sparse=True, categories=True, surrogates=True, random=True, tests=True),
)


def _form(rules: Rules) -> _Form:
    """The first form that can do what the tree needs."""
    needed = _Form(
        dense=not rules.is_sparse,
        sparse=bool(rules.is_sparse),
        categories=bool(rules.facts[CATEGORIES].any()),
        surrogates=bool(rules.surrogates),
        random=bool(rules.random) or rules.criterion == ABSOLUTE,  # absolute errors have no form of their own
        tests=rules.max_p_value < 1,
    )
    return next(form for form in _FORMS if all(map(ge, form, needed)))


class _Room:
    """What growth writes down: nodes, tables of categories and surrogates, each with room for more."""

    def __init__(self, m: int, most: int, n_sums: int, rules: Rules) -> None:
        nodes = min(2 * m, 4096) + most + 2
        tabled, kept = 4 * most + 3 if most > 1 else 1, 4 * MOST if rules.surrogates else 1
        leaves = max(0, rules.max_leaves)
        self.heap, self.order = np.zeros(2 * leaves + 2, np.int32), np.zeros(2 * leaves + 2, np.int32)
        self.ints, self.floats = np.empty((nodes, NODE_INTS), np.int32), np.empty((nodes, NODE_FLOATS))
        self.totals, self.waiting = np.empty((nodes, n_sums)), np.empty(nodes, np.int32)
        self.branches, self.kept_codes = np.empty(tabled, np.int32), np.empty(kept * most, np.uint8)
        self.kept_ints, self.kept_floats = np.empty((kept, N_INTS + 2), np.int64), np.empty((kept, N_FLOATS))
        self.state = np.zeros(N_STATE, np.int64)

    def nodes(self) -> Nodes:
        waiting, branches = self.waiting, self.branches
        return Nodes(self.ints, self.floats, self.totals, waiting, branches, self.heap, self.order)

    def kept(self) -> Kept:
        return Kept(self.kept_ints, self.kept_floats, self.kept_codes)

    def enlarge(self) -> None:
        """Twice the room of everything."""
        for name, old in list(vars(self).items()):
            if name not in ("state", "heap", "order"):  # which have room for all
                setattr(self, name, doubled(old))


def first_columns(d: int) -> np.ndarray:
    """The columns in their order, and none that is known to be constant."""
    features = np.zeros((2, d), np.int64)
    features[0] = np.arange(d)
    return features


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


def _as_tree(grown: _Room, d: int, n_classes: Any, n_outputs: int, rules: Rules, shift: np.ndarray) -> Tree:
    """The arrays of growth in their final order, under scikit-learn's names."""
    ints, floats, values, table, state = grown.ints, grown.floats, grown.totals, grown.branches, grown.state
    n_kept, codes = state[N_KEPT], grown.kept_codes[: state[CODES_KEPT]]
    kept_ints, kept_floats = grown.kept_ints[:n_kept], grown.kept_floats[:n_kept]
    if rules.max_leaves >= 0:
        order = grown.order[: state[N_ORDER]]
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
    if rules.criterion != ABSOLUTE:
        value = value / floats[:, WEIGHT][:, None, None]
    value += shift[:, None]
    if rules.monotone:
        value[:, 0, 0] = np.clip(value[:, 0, 0], floats[:, LOWER], floats[:, UPPER])
        if rules.n_classes == 2:
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
        surrogates=_surrogates(inner, order, kept_ints, kept_floats, codes) if rules.surrogates else None,
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
