"""Exact Shapley values of trees: how much of one prediction is due to each column.

The value of a set S of columns is the tree's expected prediction when only those are known: at a split on a known
column the row goes its way, elsewhere every way, in proportion to the training rows. The Shapley value of column j is
the mean, over all orders of the columns, of the change when j becomes known (Lundberg, Erion and Lee, Consistent
individualized feature attribution for tree ensembles, 2018).

A leaf of value v is worth  v · Π_k o_k^[k ∈ S] · z_k^[k ∉ S]  over the columns k on its path: o_k is 1 where the row
satisfies the splits on k and 0 where not, z_k the share of training rows that do. If every column is known with the
same probability t, the expectation of that is  v · Π_k (z_k·(1 − t) + o_k·t),  and the Shapley value of j is the
integral over t from 0 to 1 of

    v · (o_j − z_j) · Π over k ≠ j of (z_k·(1 − t) + o_k·t),

a polynomial of degree m − 1 for m columns on the path: Gauss's rule of ⌈m/2⌉ points is exact, and all its factors are
positive, so that digits are not lost however long the path is. One traversal of a tree serves many rows at a time: on
the way down it multiplies, on the way up it adds what the leaves below are worth.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.forestry.bins._bins import flat_view
from learnt.forestry.kept._traverse import CATEGORIES, COLUMN, INNER, step

_ROWS = 128  # that go down a tree together


class PathTrees(NamedTuple):
    """Packed trees with what Shapley values need: the children of each node and its share of its parent's rows."""

    nodes: np.ndarray
    table: np.ndarray
    values: np.ndarray  # of leaves; empty where one value is in the node
    roots: np.ndarray
    outputs: np.ndarray
    first: np.ndarray  # child; the node itself at a leaf
    branches: np.ndarray  # how many children; they are next to each other
    share: np.ndarray
    points: np.ndarray  # of each tree's rule


def tree_contributions(packed: Any, cover: Any, X: np.ndarray, output: int | None = None) -> np.ndarray:
    """Shapley values (n, n_outputs, n_features + 1): what each column adds to the sum of trees, and the expected sum.

    `cover` is the weight of the training rows of every node, or of every leaf alone. With `output` only that one of
    several values a leaf is explained.
    """
    values, n_outputs = packed.values, packed.n_outputs
    if output is not None and len(values):
        values, n_outputs = np.ascontiguousarray(values[:, output : output + 1]), 1
    n_nodes, (n, d) = len(packed.nodes), X.shape
    first, branches = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    find_children(packed.nodes, packed.table, first, branches)
    cover = _of_all_nodes(np.asarray(cover, dtype=np.float64), first, branches)
    share, points = np.ones(n_nodes), np.zeros(len(packed.roots), np.int64)
    deep = measure_paths(packed.nodes, first, branches, cover, packed.roots, np.zeros(d, np.int64), share, points)
    trees = PathTrees(
        packed.nodes, packed.table, values, packed.roots, packed.columns, first, branches, share, points
    )  # fmt: skip
    rule, view = gauss_rules(int(points.max(initial=1))), flat_view(X)
    out = np.empty((n, n_outputs, d + 1))
    out[:, :, d] = _expected(trees, cover, n_outputs)

    def work(lo: int, hi: int) -> None:
        found = np.zeros((n_outputs, d, hi - lo))
        shapley_rows(view, lo, hi, trees, rule, deep, found)
        out[lo:hi, :, :d] = found.transpose(2, 0, 1)

    for_blocks(work, n, grain=_ROWS)
    return out


@lru_cache(maxsize=8)
def gauss_rules(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss's rules on (0, 1) of 1 … `most` points, a row each; row 0 is empty."""
    points, weights = np.full((most + 1, most), 0.5), np.zeros((most + 1, most))
    for size in range(1, most + 1):
        at, weight = np.polynomial.legendre.leggauss(size)
        points[size, :size], weights[size, :size] = (at + 1.0) / 2.0, weight / 2.0
    return points, weights


def _of_all_nodes(cover: np.ndarray, first: np.ndarray, branches: np.ndarray) -> np.ndarray:
    if len(cover) == len(first):
        return cover
    out = np.zeros(len(first))
    out[branches == 0] = cover
    add_up_cover(first, branches, out)
    return out


def _expected(trees: PathTrees, cover: np.ndarray, n_outputs: int) -> np.ndarray:
    """What the trees say where no column is known: the mean of the leaves, weighted by their training rows."""
    leaves = np.flatnonzero(trees.branches == 0)
    tree = np.searchsorted(trees.roots, leaves, side="right") - 1
    whole = cover[trees.roots][tree]
    weight = np.divide(cover[leaves], whole, out=np.zeros(len(leaves)), where=whole > 0)
    held = trees.nodes["threshold"][leaves]
    values = trees.values[held.astype(np.int64)] if len(trees.values) else held[:, None]
    out = np.zeros(n_outputs)
    for k in range(values.shape[1]):
        out += np.bincount(trees.outputs[tree] + k, weights=weight * values[:, k], minlength=n_outputs)
    return out


@kernel
def find_children(nodes, table, first, branches):
    """The first child of every node and how many it has; a leaf is its own and has none."""
    for node in range(nodes.size):
        word = nodes[node]["column"]
        left = np.int64(nodes[node]["left"])
        if not word & np.uint32(INNER):
            first[node], branches[node] = node, 0
        elif word & np.uint32(CATEGORIES):
            low, high = np.int64(table[left + 1]), np.int64(table[left + 1])
            for k in range(1, table[left]):
                low, high = min(low, np.int64(table[left + 1 + k])), max(high, np.int64(table[left + 1 + k]))
            first[node], branches[node] = low, high - low + 1
        else:
            first[node], branches[node] = left, 2


@kernel
def add_up_cover(first, branches, cover):
    """The weight of inner nodes from their children's, which come after them."""
    for node in range(first.size - 1, -1, -1):
        for k in range(branches[node]):
            cover[node] += cover[first[node] + k]


@kernel
def measure_paths(nodes, first, branches, cover, roots, times, share, points):
    """Shares of nodes in their parents' rows, the points of every tree's rule; returns the length of the longest path.

    `times` holds zeros: how often the path to a node has each column.
    """
    path, child = np.empty(first.size + 1, np.int64), np.empty(first.size + 1, np.int64)
    deepest = 0
    for t in range(roots.size):
        level, distinct, most = 0, 0, 1
        path[0], child[0] = roots[t], 0
        while level >= 0:
            node = path[level]
            column = np.int64(nodes[node]["column"] & np.uint32(COLUMN))
            if child[level] == branches[node]:
                if branches[node] > 0:
                    times[column] -= 1
                    distinct -= times[column] == 0
                level -= 1
                continue
            if child[level] == 0:
                distinct += times[column] == 0
                times[column] += 1
                most = max(most, distinct)
            down = first[node] + child[level]
            child[level] += 1
            share[down] = cover[down] / cover[node] if cover[node] > 0.0 else 0.0
            level += 1
            deepest = max(deepest, level)
            path[level], child[level] = down, 0
        points[t] = (most + 1) // 2
    return deepest


@kernel(allocates=False)
def factors(points, weights, size, old, new, times, gains):
    """What a split multiplies and what it is worth at each point; its column has the share `old` above, `new` below.

    Of a row that has satisfied the column's splits so far and satisfies this one (1) or not (0). Of one that had not,
    only the shares differ, and nothing is gained.
    """
    for q in range(size):
        t = points[q]
        before = 1.0 / (old * (1.0 - t) + t)
        here = new * (1.0 - t) + t
        known = (1.0 - old) * before
        times[1, q], times[0, q] = here * before, new * (1.0 - t) * before
        gains[1, q] = weights[q] * ((1.0 - new) / here - known)
        gains[0, q] = weights[q] * (-1.0 / (1.0 - t) - known)


@kernel(allocates=False)
def multiply(product, hot, lost, times, cold, level, size):
    """The products of the next level: those of this one times the factor of each row's case.

    It satisfies the split, or not this one alone, or not one before (`cold`).
    """
    new = level + 1
    for q in range(size):
        one, zero = times[1, q] - cold, times[0, q] - cold
        for r in range(hot.shape[1]):
            product[new, q, r] = product[level, q, r] * (cold + one * hot[new, r] + zero * lost[new, r])


@kernel(allocates=False)
def hand_up(below, hot, lost, gains, k, level, size, due):
    """Add what the leaves below a level are worth to the level above; due = what their column gains by it."""
    for r in range(due.size):
        due[r] = 0.0
    for q in range(size):
        one, zero = gains[level, 1, q], gains[level, 0, q]
        for r in range(due.size):
            worth = below[level, k, q, r]
            below[level - 1, k, q, r] += worth
            below[level, k, q, r] = 0.0
            due[r] += worth * (one * hot[level, r] + zero * lost[level, r])


@kernel(allocates=False)
def end_path(product, below, hot, lost, worth, cold, gains, k, level, size, due):
    """The same of leaves below a level, without writing their products.

    `worth` and `gains` are the sums of value · factor over the leaves.
    """
    new = level + 1
    for r in range(due.size):
        due[r] = 0.0
    for q in range(size):
        one, zero = worth[1, q] - cold, worth[0, q] - cold
        gain, loss = gains[1, q], gains[0, q]
        for r in range(due.size):
            above, h, away = product[level, q, r], hot[new, r], lost[new, r]
            below[level, k, q, r] += above * (cold + one * h + zero * away)
            due[r] += above * (gain * h + loss * away)


@kernel
def value_of(trees, leaf, k):
    """The k-th value of a leaf."""
    held = trees.nodes[leaf]["threshold"]
    return held if trees.values.shape[0] == 0 else trees.values[np.int64(held), k]


@kernel
def shapley_rows(view, lo, hi, trees, rule, deep, out):
    """out[output, j, i − lo] += the Shapley value of column j for row i, over all trees.

    `view` is the table as `flat_view` gives it, `deep` the length of the longest path.
    """
    flat, row_step, column_step = view
    nodes, first, branches = trees.nodes, trees.first, trees.branches
    rows, columns, size = np.uint64(row_step), np.uint64(column_step), hi - lo
    width, most = trees.values.shape[1], rule[0].shape[1]
    none = deep + 1  # the level of columns that are not on the path yet: every row satisfies them
    hot = np.ones((deep + 2, size))  # 1.0 where the row satisfies all splits on the column down to this level
    lost = np.zeros((deep + 2, size))  # 1.0 where it satisfies all but this one
    part = np.ones(deep + 2)
    went = np.empty((deep + 1, size), np.int64)
    product = np.ones((deep + 1, most, size))
    below = np.zeros((deep + 1, width, most, size))
    times, own, gains = np.empty((2, most)), np.empty((2, most)), np.empty((deep + 1, 2, most))
    other_times, other_gains = np.empty((2, most)), np.empty((2, most))
    worth, gained = np.empty((2, most)), np.empty((2, most))
    path, child = np.empty(deep + 1, np.int64), np.empty(deep + 1, np.int64)
    split, above = np.empty(deep + 1, np.int64), np.empty(deep + 1, np.int64)  # the column; its level before
    latest = np.full(out.shape[1], none, np.int64)
    due = np.empty(size)
    for t in range(trees.roots.size):
        half, target = trees.points[t], trees.outputs[t]
        points, weights = rule[0][half], rule[1][half]
        level = 0
        path[0], child[0] = trees.roots[t], 0
        while level >= 0:
            node = path[level]
            if child[level] == branches[node]:
                if level > 0:  # all leaves below are known: hand their sum up
                    column, a = split[level], above[level]
                    for k in range(width):
                        hand_up(below, hot, lost, gains, k, level, half, due)
                        for r in range(size):
                            out[target + k, column, r] += due[r]
                    latest[column] = a
                level -= 1
                continue
            column = np.int64(nodes[node]["column"] & np.uint32(COLUMN))
            a, new, down = latest[column], level + 1, first[node] + child[level]
            if child[level] == 0:
                for r in range(size):
                    base = np.uint64(lo + r) * rows
                    went[level, r] = np.int64(step(nodes, trees.table, flat, base, columns, np.uint64(node)))
            child[level] += 1
            part[new] = part[a] * trees.share[down]
            factors(points, weights, half, part[a], part[new], times, own)
            cold = part[new] / part[a] if part[a] > 0.0 else 0.0
            for r in range(size):
                hot[new, r] = hot[a, r] if went[level, r] == down else 0.0
                lost[new, r] = hot[a, r] - hot[new, r]
            if branches[down] > 0:
                multiply(product, hot, lost, times, cold, level, half)
                for q in range(half):
                    gains[new, 0, q], gains[new, 1, q] = own[0, q], own[1, q]
                path[new], child[new], split[new], above[new] = down, 0, column, a
                latest[column] = new
                level = new
                continue
            pair = child[level] == 1 and branches[node] == 2 and branches[down + 1] == 0  # two leaves: both at once
            if pair:
                child[level] = 2
                after = part[a] * trees.share[down + 1]
                factors(points, weights, half, part[a], after, other_times, other_gains)
                other_cold = after / part[a] if part[a] > 0.0 else 0.0
            for k in range(width):
                value = value_of(trees, down, k)
                second = value_of(trees, down + 1, k) if pair else 0.0
                for q in range(half):
                    for case in range(2):
                        worth[case, q] = value * times[case, q]
                        gained[case, q] = worth[case, q] * own[case, q]
                        if pair:
                            other = second * other_times[1 - case, q]  # a row that goes one way does not go the other
                            worth[case, q] += other
                            gained[case, q] += other * other_gains[1 - case, q]
                both = value * cold + (second * other_cold if pair else 0.0)
                end_path(product, below, hot, lost, worth, both, gained, k, level, half, due)
                for r in range(size):
                    out[target + k, column, r] += due[r]
        for k in range(width):
            below[0, k, :half] = 0.0
