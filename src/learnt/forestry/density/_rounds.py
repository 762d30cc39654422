"""Growth of a density tree in rounds: large nodes one after another, then what they were split into side by side.

Where nothing but its own rows decides whether a cell is split, parts of the tree may be grown apart. A round splits
nodes until they are small, on many threads; the next one begins with all that are left. Which nodes these are depends
on the rows alone, so that any number of threads gives the same tree.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from learnt.engine.random import stream
from learnt.engine.threads import run_tasks
from learnt.forestry.density import _data
from learnt.forestry.density._gaussian import room_for_gaussians
from learnt.forestry.density._grow import grow_cells

CELL_SCORES = {
    "squared_error": _data.SQUARED,
    "non_uniformity": _data.NON_UNIFORM,
    "entropy": _data.ENTROPY,
    "gaussian_entropy": _data.GAUSSIAN,
    "diagonal_entropy": _data.DIAGONAL,
}
_DEEPEST = 1 << 30
_LARGE = 1 << 13  # rows from which rounds are worth their calls
_PARTS = (4, 32)  # a round ends when no node has more than this part of the rows


class CellRules(NamedTuple):
    """How a density tree is grown: a name of `CELL_SCORES`, random cuts or all of them, and its limits."""

    score: str = "entropy"
    random: bool = False
    max_leaves: int | None = None
    min_leaf: int = 5
    max_depth: int | None = None
    max_features: int | None = None


class Lines(NamedTuple):
    """The rows, a line for each column: `values` sorted and the `order` of the rows in it. `rows` are the rows
    themselves, for scores that take them, or None; `side` has room for a byte a row.
    """

    values: np.ndarray
    order: np.ndarray
    weights: np.ndarray
    rows: np.ndarray | None
    side: np.ndarray


class Nodes(NamedTuple):
    """The records of nodes, children in pairs, and their cells."""

    ints: np.ndarray
    floats: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def sorted_lines(X: np.ndarray, weights: np.ndarray, rows: np.ndarray | None) -> Lines:
    """The rows of X in lines."""
    lines = run_tasks([partial(_sorted_line, X, f) for f in range(X.shape[1])])
    values, order = (np.stack([line[i] for line in lines]) for i in (0, 1))
    return Lines(values, order, weights, rows, np.empty(len(X), np.uint8))


def _sorted_line(X: np.ndarray, f: int) -> tuple[np.ndarray, np.ndarray]:
    column = np.ascontiguousarray(X[:, f], dtype=np.float64)
    order = np.argsort(column, kind="stable")
    return column[order], order.astype(np.int32)


def root_of(n: int, d: int, weight: float, lower: np.ndarray, upper: np.ndarray) -> Nodes:
    """The record of a root with n rows of d columns."""
    nodes = _room(1, d)
    nodes.ints[0, _data.END], nodes.ints[0, _data.LEFT] = n, -1
    nodes.floats[0, _data.WEIGHT] = nodes.floats[0, _data.TOTAL] = weight
    nodes.lower[0], nodes.upper[0] = lower, upper
    return nodes


def _room(n: int, d: int) -> Nodes:
    floats = np.zeros((n, _data.N_FLOATS))
    return Nodes(np.zeros((n, _data.N_INTS), dtype=np.int64), floats, np.empty((n, d)), np.empty((n, d)))


def grown(lines: Lines, nodes: Nodes, rules: CellRules, seed: int) -> Nodes:
    """All nodes of a tree from its root."""
    d, n = lines.values.shape
    by_chance = rules.random or (rules.max_features or d) < d
    fewest = [2 * rules.min_leaf]
    if n >= _LARGE and rules.max_leaves is None and not by_chance:
        fewest = sorted({max(n // part, *fewest) for part in _PARTS} | set(fewest), reverse=True)
    before = n + 1
    for least in fewest:
        size = nodes.ints[:, _data.END] - nodes.ints[:, _data.START]
        waiting = np.flatnonzero((nodes.ints[:, _data.LEFT] < 0) & (size < before) & (size >= least))
        waiting = waiting[np.argsort(-size[waiting], kind="stable")]  # the longest first
        nodes.floats[waiting, _data.TOTAL] = nodes.floats[0, _data.TOTAL]
        tasks = [partial(_grow_from, lines, Nodes(*(a[i] for a in nodes)), rules, least, seed) for i in waiting]
        nodes = _joined(nodes, waiting, run_tasks(tasks))
        before = least
    return nodes


def _grow_from(lines: Lines, root: Nodes, rules: CellRules, fewest: int, seed: int) -> Nodes:
    """The nodes below one, itself first, until they have fewer than so many rows."""
    d = len(lines.values)
    n = int(root.ints[_data.END] - root.ints[_data.START])
    leaves = max(1, n // rules.min_leaf)
    n_nodes = 2 * (leaves if rules.max_leaves is None else min(leaves, rules.max_leaves)) - 1
    nodes = _room(n_nodes, d)
    for values, first in zip(nodes, root):
        values[0] = first
    by_chance = rules.random or (rules.max_features or d) < d
    uniform = stream(seed).random((n_nodes, 2 * d)) if by_chance else np.zeros((n_nodes, 2 * d))
    work = np.empty(n_nodes + 1, np.int64), np.empty(d, np.int64), lines.side, np.empty(n, np.int32), np.empty(n)
    gaussian = None if lines.rows is None else (lines.rows, room_for_gaussians(d))
    kept = grow_cells(
        _as_array(rules, d, fewest), lines.values, lines.order, lines.weights, uniform, nodes.lower, nodes.upper,
        nodes.ints, nodes.floats, gaussian, work,
    )  # fmt: skip
    return Nodes(*(a[:kept] for a in nodes))


def _joined(nodes: Nodes, at: np.ndarray, parts: list[Nodes]) -> Nodes:
    """The nodes with those that were grown below some of them: parts[i] below node at[i], which is its first."""
    count = len(nodes.ints)
    for i, part in zip(at, parts):
        left = part.ints[:, _data.LEFT]
        left[left > 0] += count - 1
        for values, first in zip(nodes, part):
            values[i] = first[0]
        count += len(part.ints) - 1
    return Nodes(*(np.concatenate([a, *(p[1:] for p in some)]) for a, *some in zip(nodes, *parts)))


def _as_array(rules: CellRules, d: int, fewest: int) -> np.ndarray:
    out = np.empty(_data.N_RULES, dtype=np.int64)
    out[_data.SCORE], out[_data.RANDOM] = CELL_SCORES[rules.score], rules.random
    out[_data.MAX_LEAVES] = _DEEPEST if rules.max_leaves is None else rules.max_leaves
    out[_data.MIN_LEAF], out[_data.FEWEST] = rules.min_leaf, fewest
    out[_data.MAX_DEPTH] = _DEEPEST if rules.max_depth is None else rules.max_depth
    out[_data.MAX_FEATURES] = d if rules.max_features is None else rules.max_features
    return out
