"""The arrays that compiled growth works on, and the names of their places.

Few plain arrays, not objects: machine code for them is made in seconds, and every part can be called from a test.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# rules: whole numbers
(
    CRITERION, N_CLASSES, ROW_SHIFT, WEIGHT_MASK, LABEL_BITS, LABEL_MASK, WEIGHTED, MAX_FEATURES, MIN_SPLIT, MIN_LEAF,
    MAX_DEPTH, MAX_LEAVES, RANDOM, SPARSE, PRESORTED, MONOTONE, MULTIWAY, SURROGATES, N_RULES,
) = range(19)  # fmt: skip
# limits: other numbers
MIN_WEIGHT, MIN_DECREASE, MAX_P_VALUE, TOTAL_WEIGHT, N_LIMITS = range(5)
# facts of a column: the smallest step that counts, the direction of the value along it, how many categories (0: none)
GAP, DIRECTION, CATEGORIES, N_FACTS = range(4)
# sums of a node: its left child, its right child, what lies left of the cut at hand, nothing, all, a copy of all
LEFT_CHILD, RIGHT_CHILD, RUNNING, NOTHING, TOTALS, SAVED, N_SUMS = range(7)
# the best split so far
SCORE, THRESHOLD, LOWER_BOUND, UPPER_BOUND, N_BEST = range(5)
FEATURE, POSITION, MISSING_LEFT, N_MISSING, N_BRANCHES, SEED, STOP, N_CHOSEN = range(8)  # STOP: growth is to end
MANY = 1 << 16  # rows of a node whose every column takes long enough to look whether growth is to end
LONG = 1 << 18  # cells of a table that a tree takes a fraction of a second to grow on
SLOT = 0  # of `places`: where in its node a row is
# a node's whole numbers, and its other numbers
LEFT, LAST, SPLIT, START, END, DEPTH, KNOWN, GO_LEFT, TABLE, TABLE_SIZE, N_INTS = range(11)
CUT, IMPURITY, WEIGHT, GAIN, LOWER, UPPER, N_FLOATS = range(7)
# how far growth has come, where it stops for more room and goes on
COUNT, N_WAITING, N_HEAP, N_ORDER, SPLITS_LEFT, TABLE_USED, N_KEPT, CODES_KEPT, FIRST_FRAME, N_STATE = range(10)


class Problem(NamedTuple):
    """What a tree is grown from, for the Python side of both growers."""

    columns: Any
    tails: np.ndarray  # of the rows' records
    targets: np.ndarray  # (n, outputs), less `shift`; no rows where the tails have the classes
    weights: np.ndarray  # empty where all are 1
    logs: np.ndarray | None  # None for numbers; n log₂ n of whole numbers for entropy
    facts: np.ndarray
    rules: np.ndarray
    limits: np.ndarray
    chosen: np.ndarray
    n_classes: Any
    shift: np.ndarray
