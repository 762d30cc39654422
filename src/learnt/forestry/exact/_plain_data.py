"""What growth on dense numbers with one output works on, the same arrays for every kind of tree.

So that `grow_plain` is compiled once, what a kind of tree does in its own way (search a node, order a column, weigh two
sides) is a kernel that is called by its address. Arrays that a tree does not use are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel.pointers import Pointer
from learnt.forestry.exact._data import Rules, Target


class Rows(NamedTuple):
    """The table, as the bits of float32, and the rows of every node."""

    table: np.ndarray
    marks: np.ndarray


class Work(NamedTuple):
    """Memory that growth works with."""

    features: np.ndarray  # the columns, constant ones first, and those known to be constant
    sums: np.ndarray  # of the node and of parts of it
    parts: np.ndarray  # weights and impurities of both sides
    side: np.ndarray  # of each row: 1 where it goes left
    codes: np.ndarray  # values of a node's rows
    drawn: np.ndarray  # random thresholds of some columns
    heaps: np.ndarray  # weights and weighted y of a node's rows, for random thresholds
    records: np.ndarray  # one column sorted
    slots: np.ndarray
    spare: np.ndarray
    local: np.ndarray  # all columns of a small subtree sorted


class Given(NamedTuple):
    """All that a kernel called by its address may need."""

    rows: Rows
    target: Target
    rules: Rules
    work: Work
    best: np.ndarray
    chosen: np.ndarray


class Node(NamedTuple):
    """A node that is to be split, and how its columns are ordered.

    Where `at` is not negative, its sorted records begin there in `work.local`.
    """

    start: int
    end: int
    at: int
    known: int  # columns that are known to be constant
    weight: float
    order: Pointer


class Ways(NamedTuple):
    """How a column is ordered (`_plain_sort`), a node searched (`_plain_search`, `_random`) and a split weighed."""

    order: Pointer
    search: Pointer
    weigh: Pointer


class Sweeps(NamedTuple):
    """Ways to look at the cuts of a column (any number). What is None is not compiled."""

    two: int | None  # two classes, squared errors: where nothing is missing
    squared: int | None
    classes: int | None
    numbers: int | None
    medians: int | None
