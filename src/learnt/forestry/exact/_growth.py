"""Exact growth of one tree: every cut between two values is looked at.

    columns = Columns(X)                              # once; many trees may share it
    tree = grow_exact(columns, y, criterion="gini", n_classes=[3], seed=0)

One compiled call grows the whole tree without the interpreter's lock, so that a forest grows one on every thread. There
are two of them: one for dense numbers with one output (`_plain_grow`), and one that knows everything else as
well (`_general`). Both give the same tree.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.cached import cached_property
from learnt.engine.interrupts import stoppable
from learnt.forestry.exact._absolute import median_work
from learnt.forestry.exact._criteria import ABSOLUTE, CLASS_CRITERIA, ENTROPY, GINI, NUMBER_CRITERIA, SQUARED
from learnt.forestry.exact._data import (
    CATEGORIES,
    COUNT,
    DIRECTION,
    GAP,
    LONG,
    N_BEST,
    N_CHOSEN,
    N_FACTS,
    N_STATE,
    N_SUMS,
    SEED,
    STOP,
    Problem,
    Rules,
    Target,
)
from learnt.forestry.exact._general import doubled, first_columns, grow_general
from learnt.forestry.exact._plain import ROOM
from learnt.forestry.exact._plain_grow import N_FRAME, Heap, Nodes, Waiting, Work, grow_plain
from learnt.forestry.exact._plain_sort import MOST_SPREAD
from learnt.forestry.exact._random import AHEAD, N_DRAWN
from learnt.forestry.exact._records import SPARE, row_tails
from learnt.forestry.kept._tree import Tree

_GAP = 1e-7  # values closer than this are the same, as in scikit-learn
_LONGEST_TABLE = 1 << 22
_FAR = 64.0  # a mean this many standard deviations from 0 is taken off y
_NONE = np.empty(0, dtype=np.float64)
_LOCAL, _MOST_LOCAL = 1 << 13, 1 << 17  # cells of a subtree that is sorted by every column; the most stay in the cache
_MANY_NODES = 1 << 16
_FIRST_NODES = 1 << 20  # room for nodes to begin with; memory that is not written to is not taken


class Columns:
    """The table that trees are grown on, ready for searching columns.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Values are compared as float32. NaN is missing. Columns of categories hold their codes 0, 1, ….
    categories : array of int, shape (d,), optional
        How many categories each column has; 0 where it holds numbers.

    Examples
    --------
    >>> Columns(np.array([[1.0, 2.0], [3.0, np.nan]])).shape
    (2, 2)
    """

    def __init__(self, X: Any, categories: Any = None) -> None:
        self.is_sparse = sparse.issparse(X)
        self.X = X
        self.shape: tuple[int, int] = X.shape
        d = X.shape[1]
        self.categories = np.zeros(d, np.int64) if categories is None else np.asarray(categories, np.int64)

    @cached_property
    def matrix(self) -> np.ndarray:
        """The table in float32, row by row; X itself where it is such. Empty where X is sparse."""
        if self.is_sparse:
            return np.empty((0, 0), np.float32)
        return np.ascontiguousarray(self.X, dtype=np.float32)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a value of dense X is missing."""
        with np.errstate(over="ignore", invalid="ignore"):  # a sum that overflows may be NaN without any
            return not np.isfinite(np.add.reduce(self.matrix, axis=None)) and bool(np.isnan(self.matrix).any())

    @cached_property
    def compressed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, columns and offsets of compressed sparse rows; empty where X is dense."""
        if not self.is_sparse:
            return np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(1, np.int64)
        rows = self.X.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        values, columns = rows.data.astype(np.float32, copy=False), rows.indices.astype(np.int32, copy=False)
        return values, columns, rows.indptr.astype(np.int64)


def grow_exact(
    columns: Columns,
    y: np.ndarray,
    *,
    criterion: str,
    n_classes: Any = None,
    weights: np.ndarray | None = None,
    max_features: int | None = None,
    random_splits: bool = False,
    max_depth: int | None = None,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    max_leaf_nodes: int | None = None,
    min_impurity_decrease: float = 0.0,
    max_p_value: float = 1.0,
    multiway: bool = False,
    surrogates: bool = False,
    monotone: np.ndarray | None = None,
    seed: int = 0,
    drawn: np.ndarray | None = None,
) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    columns : Columns
    y : array, shape (n,) or (n, outputs)
        Numbers, or codes 0…K−1 of classes.
    criterion : str
        "gini", "entropy", "log_loss", "error" for classes; "squared_error", "absolute_error", "poisson" for numbers.
    n_classes : sequence of int, optional
        Classes of every output; None: y holds numbers.
    weights : array of float64, optional
        Rows of weight 0 are left out. Whole weights, such as the counts of a bootstrap, are the quickest.
    max_features : int, optional
        Columns drawn at each node; None is all.
    random_splits : bool
        One random threshold for each column drawn (extremely randomised trees).
    min_weight_leaf : float
        The least weight of a leaf.
    max_leaf_nodes : int, optional
        Grow best gain first up to this many leaves; None: depth first, without limit.
    max_p_value : float
        A split is made only if its χ² or F test has at most this p-value.
    multiway : bool
        Columns of categories are split into one branch for each category.
    surrogates : bool
        Keep surrogate splits for missing values; all columns must be searched, X dense, thresholds not random.
    monotone : array of −1, 0, 1, optional
        The direction in which the value (of class 0, of a number) must change along each column.
    seed : int
        The state of the generator that draws columns and thresholds, 0…2³¹ − 1.
    drawn : array of int, optional
        Grow on these rows of X and y, in their order and some more than once, as on a copy of them; without weights.

    Examples
    --------
    >>> columns = Columns(np.array([[0.0], [1.0], [2.0]]))
    >>> tree = grow_exact(columns, np.array([0.0, 0.0, 3.0]), criterion="squared_error")
    >>> tree.threshold[0], tree.value.ravel()
    (np.float64(1.5), array([1., 0., 3.]))
    """
    n, d = columns.shape
    y = y.reshape(n, -1)
    searched = d if max_features is None else max_features
    if surrogates and (columns.is_sparse or random_splits or multiway or searched < d or criterion == "absolute_error"):
        raise ValueError(
            "Surrogate splits need dense X, all columns at every split, the best thresholds, categories in subsets and "
            "a criterion other than 'absolute_error'; use missing='direction' for these."
        )
    code = (NUMBER_CRITERIA if n_classes is None else CLASS_CRITERIA)[criterion]
    numbers = not (columns.is_sparse or multiway or surrogates or monotone is not None or columns.categories.any())
    plain = numbers and y.shape[1] == 1 and max_p_value >= 1 and not (code == ABSOLUTE and random_splits)
    if drawn is not None and not (plain and code == SQUARED and searched == d and max_leaf_nodes is None):
        columns, y, n, drawn = Columns(columns.X[drawn], columns.categories), y[drawn], len(drawn), None
    X = columns.X
    rows = None if weights is None or weights.all() else np.flatnonzero(weights)
    presorted = not (plain or columns.is_sparse or random_splits or multiway or searched < d)
    if presorted and rows is not None:
        X, y, weights, n, rows = X[rows], y[rows], weights[rows], len(rows), None  # type: ignore[index]
    m, total = (n if rows is None else len(rows)), float(n if weights is None else weights.sum())
    if drawn is not None:
        m, total = len(drawn), float(len(drawn))
    if weights is not None and total == m and weights.max() == 1:
        weights = None
    labels = y[:, 0] if n_classes is not None and y.shape[1] == 1 else None
    tails, layout = row_tails(n, labels, weights)
    del labels
    weighted = 0 if weights is None else 1 if layout.weight_mask else 2
    logs = None if n_classes is None else _NONE
    if code == ENTROPY and layout.label_bits and total < _LONGEST_TABLE and weighted < 2:
        logs = np.arange(int(total) + 2, dtype=np.float64)
        logs *= np.log2(np.maximum(logs, 1))
    if n_classes is not None and (not layout.label_bits or weighted == 2 or total >= 2**31):
        plain = False  # what the rows weigh is not in the tails
    targets = np.empty((0, 1)) if plain and n_classes is not None else np.ascontiguousarray(y, dtype=np.float64)
    shift = _far_mean(targets if drawn is None else targets[drawn], code)
    if shift.any():
        targets = targets - shift
    facts = np.zeros((N_FACTS, d))
    facts[GAP], facts[CATEGORIES] = _GAP, columns.categories
    if monotone is not None:
        facts[DIRECTION] = monotone
    rules = Rules(
        criterion=code,
        n_classes=0 if n_classes is None else int(max(n_classes)),
        row_shift=layout.row_shift,
        weight_mask=layout.weight_mask,
        label_bits=layout.label_bits,
        label_mask=layout.label_mask,
        weighted=weighted,
        max_features=int(searched),
        min_split=int(max(min_samples_split, 2 * min_samples_leaf)),
        min_leaf=int(min_samples_leaf),
        max_depth=2**31 - 2 if max_depth is None else int(min(max_depth, 2**31 - 2)),
        max_leaves=-1 if max_leaf_nodes is None else int(min(max_leaf_nodes, m + 1)),
        random=int(random_splits),
        presorted=int(presorted),
        is_sparse=int(columns.is_sparse),
        monotone=int(monotone is not None),
        multiway=int(multiway),
        surrogates=int(surrogates),
        min_weight=float(min_weight_leaf),
        min_decrease=float(min_impurity_decrease),
        max_p_value=float(max_p_value),
        total_weight=total,
        facts=facts,
    )
    chosen = np.zeros(N_CHOSEN, np.int64)
    chosen[SEED] = seed
    weights = _NONE if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    tails = tails[rows] if plain and rows is not None else tails
    tails = tails if drawn is None else tails[drawn]
    amounts = _NONE if n_classes is None and code != ABSOLUTE else None
    target = Target(targets, weights, logs, amounts, None)
    problem = Problem(columns, tails, target, rules, chosen, n_classes, shift)
    # Where rows are not copied there is room to sort more of them at once.
    return _plain_tree(problem, 8 if drawn is None else 1) if plain else grow_general(problem, X, rows)


def _plain_tree(problem: Problem, parts: int) -> Tree:
    """A tree of numbers with one output; the tails are those of its rows alone. Of these a part is sorted at once."""
    columns, marks, target, rules, chosen, n_classes, shift = problem
    (n, d), m, n_sums = columns.shape, len(marks), max(1, rules.n_classes)
    random, absolute, leaves = bool(rules.random), rules.criterion == ABSOLUTE, rules.max_leaves
    if absolute:
        rows_of_marks = (marks >> np.uint32(rules.row_shift)).astype(np.int64)
        target = target._replace(medians=median_work(target.y, rows_of_marks, rules))
    every = rules.max_features == d and leaves < 0  # best gain first, the next node is seldom in the same subtree
    levels = max(1, rules.max_depth) if every else 0
    quick = rules.n_classes == 2 and rules.criterion == GINI
    if target.logs is None:
        quick = rules.criterion == SQUARED and rules.weighted < 2 and rules.min_weight <= 0
    slow = not quick or columns.has_missing
    # What is common has a form of its own, of which no more is compiled than it needs; all else shares one.
    common = random or (leaves < 0 and not (quick and slow) and (quick or rules.n_classes > 0))
    codes, slots, records, spare, local = _random_work(m) if random else _sorting_work(m, d, levels, parts)
    if not common:
        slots = np.empty((2, ROOM), np.int32) if slots is None else slots
        local = np.empty((0, 0), np.int64) if local is None else local
    work = Work(
        features=first_columns(d),
        sums=np.zeros((N_SUMS, 1, n_sums)),
        parts=np.zeros(4),
        codes=codes,
        side=None if local is None else np.empty(n, np.uint8),
        drawn=np.zeros((AHEAD, N_DRAWN), np.int64) if random else None,
        heaps=np.empty((2 if target.weights.size else 1, m)) if random and target.logs is None else None,
        records=records,
        slots=slots,
        spare=spare,
        local=local,
        quick=None if random or (common and not quick) else np.zeros(int(quick)),
        slow=None if random or (common and not slow) else _NONE,
    )
    given = columns.matrix.view(np.int32), marks, target, rules, work
    kinds = np.int64, np.int64, np.int64, np.float64, np.uint8, np.float64, np.int64, np.float64
    most = 2 * max(1, m // rules.min_leaf)
    # Numbers are parted to the end, classes seldom: room that stays empty would be taken by copies of what is kept.
    usual = most if target.logs is None else max(most // (4 if n_sums <= 2 else 2), 16)
    room = min(usual, _FIRST_NODES, 2 << min(rules.max_depth, 32), 2 * leaves if leaves >= 0 else most)
    frames = 2 * room + 2 if leaves >= 0 else 64
    heap = None if common and leaves < 0 else Heap(np.empty(room, np.int32), np.empty((room, 1)))
    waiting = Waiting(np.empty((frames, N_FRAME), np.int64), np.empty((frames, 2)), np.empty((frames, n_sums)))
    nodes: list[Any] = [np.empty(room, kind) for kind in kinds] + [np.empty((room, n_sums))]
    state, best = np.zeros(N_STATE, np.int64), np.zeros(N_BEST)
    stop, long = chosen[STOP:N_CHOSEN], m * d > LONG
    while not stoppable(
        partial(grow_plain, *given, heap, waiting, Nodes(*nodes), best, chosen, state), stop, long=long
    ):
        if state[COUNT] < len(nodes[0]):
            waiting = Waiting(*map(doubled, waiting))
        else:
            for k in range(len(nodes)):  # one after the other: the old ones are not needed all at once
                nodes[k] = doubled(nodes[k])
            heap = None if heap is None else Heap(*map(doubled, heap))
    del (
        problem,
        given,
        work,
        target,
        heap,
        waiting,
        codes,
        slots,
        records,
        spare,
        local,
    )  # the nodes are copied where these were
    for k in range(len(nodes)):
        if len(nodes[k]) > _MANY_NODES:  # cut to size where they are: a copy would take their memory twice
            nodes[k].resize((state[COUNT], *nodes[k].shape[1:]), refcheck=False)
        else:  # many such trees may be kept, and would leave holes that the next one does not fit in
            nodes[k] = nodes[k][: state[COUNT]].copy()
    left, right, feature, threshold, go_left, impurity, rows, weight, value = nodes
    if not absolute:
        value /= weight[:, None]
    value += shift
    return Tree(
        d,
        np.ones(1) if n_classes is None else n_classes,
        value=value.reshape(len(left), 1, n_sums),
        children_left=left,
        children_right=right,
        feature=feature,
        threshold=threshold,
        missing_go_to_left=go_left,
        impurity=impurity,
        n_node_samples=rows,
        weighted_n_node_samples=weight,
    )


def _random_work(m: int) -> tuple:
    """What `grow_plain` works with where thresholds are random: codes of some columns, and room to part rows."""
    return np.empty((AHEAD + 1, m), np.int32), None, None, None, None


def _sorting_work(m: int, d: int, levels: int, parts: int) -> tuple:
    """What it works with where columns are sorted: codes, slots, records, spare room and, of all columns, `local`.

    Subtrees are sorted where there are `levels` of nodes to search. Memory is shared by what is not used at the same
    time: codes are used up before the end of the spare room is needed (a node that is dealt to buckets needs as many
    places of it as it has rows, while its codes are read), and records are as long as those of a whole
    subtree only where no subtree is sorted.
    """
    spare = np.empty(max(m + SPARE, min(m, MOST_SPREAD) + (m + 1) // 2), np.int64)
    codes = spare[-(m + 1) // 2 :].view(np.int32)[None, :m]
    slots = None if levels else np.empty((2, ROOM), np.int32)  # few nodes are sorted, and none is small
    # Of few rows, the cells of a subtree are an eighth of all: twice as many would save little time.
    # Of many, they take as much room as their records do anyway. Larger nodes are sorted anew, on as many levels
    # whatever the number of rows: so the cost grows as n log n.
    length = min(m, max(64, _LOCAL // d, min(max(_MOST_LOCAL, m) // d, m // parts))) if levels else 0
    if m >> min(levels, 32) > length // 2:
        length = min(length, max(64, m // d))  # no subtree of two levels is as small as that: what records take anyway
    records = np.empty((1, max(m, d * length)), np.int64)
    local = records[0, : d * length].reshape(d, length) if levels else None
    return codes, slots, records, spare, local


def _far_mean(y: np.ndarray, code: int) -> np.ndarray:
    """What to take off y so that squares keep their digits: 0 unless the mean is far from 0."""
    shift = np.zeros(y.shape[1])
    if code == SQUARED and y.size:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = y.mean(axis=0)
            far = np.abs(mean) > _FAR * y.std(axis=0)
        shift[far] = np.rint(mean[far])
    return shift
