"""Boosted stumps: the columns are sorted once, and a round is one sweep over each.

A sorted column is a list of integers 2·row + c, c = 1 where a cut may follow because the next value is larger.
A sweep reads the row's weight and nothing else: for two classes the sign of the weight is the class. Cuts are
compared by the weighted Gini impurity without a division.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import run_tasks
from learnt.forestry import Tree

_PAIR = np.dtype([("weight", np.float64), ("code", np.uint64)])  # side by side: one line of memory a row
_TASK = 1 << 17  # cells a thread should have to sweep, at least
_GAP, _SMALL = np.float32(1e-7), 1e-4  # values closer than the gap are equal, unless the whole column is as small
_EPS = float(np.finfo(float).eps)
_MORE = 1 + 1e-12  # a cut is better by more than rounding, or the one before it stays
_LOW_FIRST = 1 if sys.byteorder == "little" else -1
MOST_ROWS = 1 << 31
MOST_CELLS = 1 << 28  # of a sparse table: 4 bytes each are kept


class SortedColumns:
    """A table whose columns are sorted, for many stumps on the same rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Values are compared as float32, as trees do.
    codes : array of int, shape (n,)
        The class 0…K−1 of each row.
    n_classes : int
    """

    def __init__(self, X: Any, codes: np.ndarray, n_classes: int) -> None:
        n, d = X.shape
        self.codes, self.n_classes = codes.astype(np.uint8 if n_classes <= 256 else np.int64), n_classes
        self._X = X.tocsc() if sparse.issparse(X) else X
        self.order = np.empty((d, n), dtype=np.uint32)
        run_tasks([partial(self._sort, j) for j in range(d)])
        step = max(1, _TASK // n)
        self._tasks = [(lo, min(lo + step, d)) for lo in range(0, d, step)]
        self._signs = np.where(codes > 0, np.int8(1), np.int8(-1))
        self._signed = np.empty(n if n_classes == 2 else 0)
        self._pairs = np.empty(n if n_classes > 2 else 0, dtype=_PAIR)
        self._pairs["code"] = codes[: len(self._pairs)]
        self._n_classes = np.array([n_classes])  # of all stumps

    def _column(self, j: int) -> np.ndarray:
        column = self._X[:, [j]].toarray()[:, 0] if sparse.issparse(self._X) else self._X[:, j]
        return column.astype(np.float32)

    def _sort(self, j: int) -> None:
        """Sort value and row as one integer of 64 bits: in place, and quicker than an order of floats."""
        column = self._column(j)
        column += 0  # −0 is 0
        keys = np.empty(len(column), dtype=np.int64)
        rows, codes = keys.view(np.int32).reshape(-1, 2).T[::_LOW_FIRST]
        rows[:] = np.arange(len(column), dtype=np.int32)
        _in_order(column.view(np.int32), codes)
        keys.sort()
        _in_order(codes, column.view(np.int32))
        gap = _GAP if float(column[-1]) - float(column[0]) > _SMALL else np.float32(0)
        np.left_shift(rows, np.int32(1), out=self.order[j].view(np.int32))
        self.order[j, :-1] |= column[1:] > column[:-1] + gap

    def best(self, weights: np.ndarray) -> tuple[Tree, np.ndarray]:
        """The stump of least weighted Gini impurity, and which rows it gets wrong.

        Among equals it is the first column and the lowest cut. Where there is nothing to cut the tree is one leaf.
        """
        (d, n), K = self.order.shape, self.n_classes
        found = np.empty((d, 3))
        if K == 2:
            np.multiply(weights, self._signs, out=self._signed)
            tasks = [partial(sweep_two, self.order, lo, hi, self._signed, found) for lo, hi in self._tasks]
        else:
            self._pairs["weight"] = weights
            tasks = [partial(sweep_many, self.order, lo, hi, self._pairs, K, found) for lo, hi in self._tasks]
        tasks[0]() if len(tasks) == 1 else run_tasks(tasks)
        wrong = np.empty(n, dtype=np.bool_)
        value, rest = np.zeros((3, 1, K)), np.zeros((3, 3))  # impurity, weight and rows of the nodes
        feature, last = settle(self.order, found, self.codes, weights, value[:, 0], rest, wrong)
        return self._tree(feature, last, value, rest), wrong

    def _tree(self, feature: int, last: int, value: np.ndarray, rest: np.ndarray) -> Tree:
        inner = feature >= 0
        nodes = 3 if inner else 1
        return Tree(
            len(self.order),
            self._n_classes,
            children_left=[1, -1, -1][-nodes:],
            children_right=[2, -1, -1][-nodes:],
            feature=[feature, -2, -2][-nodes:],
            threshold=[self._threshold(feature, last) if inner else -2.0, -2.0, -2.0][-nodes:],
            missing_go_to_left=[int(rest[2, 1] > rest[2, 2]), 0, 0][-nodes:],
            impurity=rest[0, :nodes],
            weighted_n_node_samples=rest[1, :nodes],
            n_node_samples=rest[2, :nodes],
            value=value[:nodes],
        )

    def _threshold(self, feature: int, last: int) -> float:
        """The middle between the last value on the left and the first on the right."""
        rows = (int(entry) >> 1 for entry in self.order[feature, last : last + 2])
        below, above = (float(np.float32(self._X[row, feature])) for row in rows)
        return below / 2 + above / 2


def _in_order(bits: np.ndarray, out: np.ndarray) -> None:
    """Bits of float32 as integers in the order of the values, and back."""
    np.right_shift(bits, np.int32(31), out=out)
    out &= np.int32(0x7FFFFFFF)
    out ^= bits


@kernel
def sweep_two(order, lo, hi, signed, found):
    """The best cut of the columns lo…hi for two classes; the sign of a row's weight is its class.

    With W the weight on a side and D that of the second class less that of the first, the Gini impurity of both sides
    is least where D_L²/W_L + D_R²/W_R is largest; `found` gets numerator, denominator and the last row on the left.
    """
    n = order.shape[1]
    weight, balance = 0.0, 0.0
    for i in range(n):
        weight += abs(signed[i])
        balance += signed[i]
    for f in range(lo, hi):
        top, bottom, last = -1.0, 1.0, -1
        left_weight, left_balance = 0.0, 0.0
        for i in range(n - 1):
            entry = order[f, i]
            w = signed[entry >> np.uint32(1)]
            left_weight += abs(w)
            left_balance += w
            if entry & np.uint32(1):
                right_weight, right_balance = weight - left_weight, balance - left_balance
                a = left_balance * left_balance * right_weight + right_balance * right_balance * left_weight
                b = left_weight * right_weight
                if a * bottom > top * b * _MORE and b > 0.0:
                    top, bottom, last = a, b, i
        found[f, 0], found[f, 1], found[f, 2] = top, bottom, last


@kernel
def sweep_many(order, lo, hi, pairs, n_classes, found):
    """The best cut of the columns lo…hi for any number of classes; `pairs` holds weight and class of each row.

    Largest is  Σ_k L_k²/W_L + Σ_k R_k²/W_R,  where  Σ R² = Σ T² − 2 Σ TL + Σ L².
    """
    n = order.shape[1]
    left, totals = np.empty(n_classes), np.zeros(n_classes)
    weight, squares = 0.0, 0.0
    for i in range(n):
        totals[pairs[i]["code"]] += pairs[i]["weight"]
    for k in range(n_classes):
        weight += totals[k]
        squares += totals[k] * totals[k]
    for f in range(lo, hi):
        top, bottom, last = -1.0, 1.0, -1
        left_weight, left_squares, shared = 0.0, 0.0, 0.0
        left[:] = 0.0
        for i in range(n - 1):
            entry = order[f, i]
            row = entry >> np.uint32(1)
            w, k = pairs[row]["weight"], pairs[row]["code"]
            left_weight += w
            mine = left[k]
            left_squares += w * (2.0 * mine + w)
            shared += w * totals[k]
            left[k] = mine + w
            if entry & np.uint32(1):
                right_weight = weight - left_weight
                # Rounding of a difference must not look like a pure side: Σ R_k² is at most W_R².
                right = min(max(squares - 2.0 * shared + left_squares, 0.0), right_weight * right_weight)
                a = left_squares * right_weight + right * left_weight
                b = left_weight * right_weight
                if a * bottom > top * b * _MORE and b > 0.0:
                    top, bottom, last = a, b, i
        found[f, 0], found[f, 1], found[f, 2] = top, bottom, last


@kernel
def settle(order, found, codes, weights, value, rest, wrong):
    """The first of the best cuts as (column, last place on the left), or (−2, n − 1); fills the arrays of the nodes.

    `value` gets the shares of the classes in the root, the left and the right node, `rest` their impurities, weights
    and rows, `wrong` the rows whose class is not the heaviest on their side.
    """
    n, n_classes = order.shape[1], value.shape[1]
    for i in range(n):
        value[0, codes[i]] += weights[i]
    pure = node_facts(value, rest, 0) <= _EPS
    rest[2, 0] = n
    feature, last = -2, n - 1
    best = 0.0
    for f in range(found.shape[0]):
        best = max(best, found[f, 0] / found[f, 1])
    for f in range(found.shape[0]):
        if feature < 0 and found[f, 0] >= 0.0 and found[f, 0] / found[f, 1] * _MORE >= best and not pure:
            feature, last = f, np.int64(found[f, 2])
    for i in range(n):  # without a cut all rows are on the left, in any order
        row = order[max(feature, 0), i] >> np.uint32(1)
        value[1 if i <= last else 2, codes[row]] += weights[row]
    classes = np.zeros(2, np.int64)
    for side in range(2):
        for k in range(n_classes):
            if value[1 + side, k] > value[1 + side, classes[side]]:
                classes[side] = k
    for i in range(n):
        row = order[max(feature, 0), i] >> np.uint32(1)
        wrong[row] = codes[row] != classes[0 if i <= last else 1]
    if feature >= 0:
        rest[2, 1], rest[2, 2] = last + 1, n - last - 1
        node_facts(value, rest, 1)
        node_facts(value, rest, 2)
    return feature, last


@kernel
def node_facts(value, rest, node):
    """Shares in place of weights, the node's weight and impurity; returns the impurity."""
    total, squares = 0.0, 0.0
    for k in range(value.shape[1]):
        total += value[node, k]
    for k in range(value.shape[1]):
        value[node, k] /= total
        squares += value[node, k] * value[node, k]
    rest[0, node], rest[1, node] = 1.0 - squares, total
    return 1.0 - squares


@kernel
def add_stumps(X, feature, threshold, missing_left, left, right, out):
    """out[i] += Σ over stumps of the value on row i's side: (n, width)."""
    width = out.shape[1]
    for i in range(X.shape[0]):
        for t in range(feature.size):
            x = X[i, feature[t]]
            goes = x <= threshold[t] or (x != x and missing_left[t] != 0)
            for k in range(width):
                out[i, k] += left[t, k] if goes else right[t, k]
