"""The arrays that compiled growth works on, and the names of their places.

Arrays that are used together are one NamedTuple. Of some of its fields a tree needs only one, or none: those that are
None are not compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# facts of a column: the smallest step that counts, the direction of the value along it, how many categories (0: none)
GAP, DIRECTION, CATEGORIES, N_FACTS = range(4)
# sums of a node: its left child, its right child, what lies left of the cut at hand, nothing, all, a copy of all
LEFT_CHILD, RIGHT_CHILD, RUNNING, EMPTY_SUMS, TOTALS, SAVED, N_SUMS = range(7)
# the best split so far
SCORE, THRESHOLD, LOWER_BOUND, UPPER_BOUND, N_BEST = range(5)
FEATURE, POSITION, MISSING_LEFT, N_MISSING, N_BRANCHES, SEED, STOP, N_CHOSEN = range(8)  # STOP: growth is to end
MANY = 1 << 16  # rows of a node whose every column takes long enough to look whether growth is to end
LONG = 1 << 18  # cells of a table that a tree takes a fraction of a second to grow on
SLOT = 0  # of `places`: where in its node a row is
# a node's integers, and its other numbers
LEFT, LAST, SPLIT, START, END, DEPTH, KNOWN, GO_LEFT, TABLE, TABLE_SIZE, N_INTS = range(11)
CUT, IMPURITY, WEIGHT, GAIN, LOWER, UPPER, N_FLOATS = range(7)
# how far growth has come, where it stops for more room and goes on
COUNT, N_WAITING, N_HEAP, N_ORDER, SPLITS_LEFT, TABLE_USED, N_KEPT, CODES_KEPT, FIRST_FRAME, N_STATE = range(10)


class Rules(NamedTuple):
    """What growth is held to, at every node the same."""

    criterion: int
    n_classes: int  # the most of an output; 0: numbers
    row_shift: int  # where the parts of a record are (`_records.Layout`)
    weight_mask: int
    label_bits: int
    label_mask: int
    weighted: int  # 0: all weights are 1; 1: they are in the records; 2: they are looked up
    max_features: int
    min_split: int
    min_leaf: int
    max_depth: int
    max_leaves: int  # −1: depth first, without limit
    random: int
    presorted: int  # each column is sorted once
    is_sparse: int
    monotone: int
    multiway: int
    surrogates: int
    min_weight: float
    min_decrease: float
    max_p_value: float
    total_weight: float
    facts: np.ndarray  # of the columns


class Medians(NamedTuple):
    """What absolute errors need (`_absolute.median_work`)."""

    by_y: np.ndarray  # rows of every node in rising order of each output
    ranks: np.ndarray  # of a row: its place in that order
    links: np.ndarray  # the places as linked lists; empty where prefix sums are kept
    room: np.ndarray


class Target(NamedTuple):
    """What is learnt. One of `logs`, `amounts` and `medians` is there, the others are None."""

    y: np.ndarray  # (n, outputs); no rows where the records have the classes
    weights: np.ndarray  # empty where all are 1
    logs: np.ndarray | None  # classes; n log₂ n of integers for entropy, or empty
    amounts: np.ndarray | None  # sums of numbers (any array)
    medians: Medians | None


class Column(NamedTuple):
    """The sorted records lo…hi of one column of a node in records[f]; missing values are in the `n_missing` behind."""

    feature: int
    records: np.ndarray
    f: int
    lo: int
    hi: int
    n_missing: int


class Problem(NamedTuple):
    """What a tree is grown from, for the Python side of both growers."""

    columns: Any
    tails: np.ndarray  # of the rows' records
    target: Target  # y less `shift`
    rules: Rules
    chosen: np.ndarray
    n_classes: Any
    shift: np.ndarray
