"""What the kernels of boosting share, by name: the table, the memory of a tree that grows, how sums are written."""

from __future__ import annotations

from typing import Any, NamedTuple


class Table(NamedTuple):
    """The codes of the rows, and what is known of the columns."""

    by_row: Any  # eight codes a word
    by_column: Any
    n_bins: Any
    has_missing: Any
    categorical: Any
    monotone: Any


class Rounded(NamedTuple):
    """Gradients and hessians of the rows as integers: two arrays in the form "exact", else one of words."""

    gradient: Any
    hessian: Any
    words: Any


class Rounding(NamedTuple):
    """How gradients and hessians become integers."""

    to_g: float  # what gradients are multiplied by
    to_h: float
    shift: int  # bits below a hessian, for counts
    salt: int  # of the hash that rounds up or down


class Room(NamedTuple):
    """Memory that is taken once: for the rows of the nodes, for histograms, and for each thread's search."""

    rows: Any
    spare: Any
    goes_left: Any  # for each code of the column that is split
    counts: Any
    pool: Any  # of histograms
    scratch: Any
    allowed: Any
    found_gain: Any
    found: Any
    bounds: Any
    sums: Any  # running sums, in integers
    rough: Any  # the same in single precision
    taken: Any
    adds: Any


class Kinds(NamedTuple):
    """State for categorical features (None without any, so that their code is not compiled)."""

    sets: Any  # of each node: what goes left
    found_set: Any
    sorting: Any
    most: Any  # bounds on the gains of features


class Sampling(NamedTuple):
    """Which features a node may split on: groups that go together, and the share of the others that is drawn."""

    groups: Any
    alive: Any
    share: Any
    draw: Any
    state: Any


class Growing(NamedTuple):
    """The growing tree: the state of its growth, and the integer and float fields of each node."""

    memory: Any
    ints: Any
    floats: Any


class Waiting(NamedTuple):
    """The heap of leaves to be split, and the free histogram slots."""

    heap: Any
    free: Any


class Passes(NamedTuple):
    """What is known of each row and each node before and after a tree grows."""

    y: Any
    score: Any
    norm: Any
    w: Any
    g: Any
    h: Any
    counts: Any
    blocks: Any
    sums: Any
    nodes: Any


class Layout(NamedTuple):
    """How a cell holds its sums (`_histogram`)."""

    form: Any
    single: Any
    low: Any
    up: Any
    shift: Any


class Codes(NamedTuple):
    """The codes of some features, which begin in word `first` of a row, of the rows listed; `in_order`: rows[i] = i."""

    by_row: Any
    stride: Any
    first: Any
    n_features: Any
    rows: Any
    in_order: Any


class Node(NamedTuple):
    """The node that is split: its sums, their units, and the constraints of its two sides."""

    g: Any
    hc: Any
    shift: Any
    scale_g: Any
    scale_h: Any
    min_leaf: Any
    min_hessian: Any
    l1: Any
    l2: Any
    low: Any
    high: Any
