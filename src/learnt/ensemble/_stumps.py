"""Boosted stumps: the columns are sorted once, and a round is one sweep over each.

A sorted column is a list of whole numbers 2·row + c, c = 1 where a cut may follow because the next value is larger.
A sweep looks up the row's weight and nothing else: for two classes the sign of the weight is the class. Cuts are
compared by the weighted Gini impurity without a division.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import run_tasks
from learnt.forestry import Tree

_PAIR = np.dtype([("weight", np.float64), ("code", np.uint64)])  # side by side: one line of memory a row
_TASK = 1 << 17  # cells a thread should have to sweep, at least
_GAP, _SMALL = np.float32(1e-7), 1e-4  # values closer than the gap are the same, unless the whole column is as small
_MORE = 1 + 1e-12  # a cut is better by more than rounding, or the one before it stays
MOST_ROWS = 1 << 31
MOST_CELLS = 1 << 28  # of a sparse table: 4 bytes each are kept


class Stump(NamedTuple):
    """One cut: rows with x ≤ threshold in the column go left; `weights[side]` are the weights of the classes there."""

    feature: int
    threshold: float
    weights: np.ndarray  # (2, K); all on the left where there is no cut
    counts: np.ndarray  # (2,)
    left: np.ndarray  # which rows


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
        self.codes, self.n_classes = codes, n_classes
        self._X = X.tocsc() if sparse.issparse(X) else X
        self.order = np.empty((d, n), dtype=np.uint32)
        self._sign = np.where(codes > 0, 1.0, -1.0)
        run_tasks([partial(self._sort, j) for j in range(d)])
        step = max(1, _TASK // n)
        self._tasks = [(lo, min(lo + step, d)) for lo in range(0, d, step)]

    def _column(self, j: int, rows: Any = slice(None)) -> np.ndarray:
        column = self._X[:, [j]].toarray()[rows, 0] if sparse.issparse(self._X) else self._X[rows, j]
        return column.astype(np.float32)

    def _sort(self, j: int) -> None:
        column = self._column(j)
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        gap = _GAP if float(ranked[-1]) - float(ranked[0]) > _SMALL else np.float32(0)
        cut = np.zeros(len(column), dtype=np.uint32)
        cut[:-1] = ranked[1:] > ranked[:-1] + gap
        self.order[j] = (order.astype(np.uint32) << np.uint32(1)) | cut

    def best(self, weights: np.ndarray) -> Stump:
        """The stump of least weighted Gini impurity; the first column and the lowest cut among equals."""
        totals = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        n, d = len(weights), len(self.order)
        found = np.empty((d, 3))
        if self.n_classes == 2:
            signed = weights * self._sign
            arguments: tuple[Any, ...] = (signed, totals.sum(), totals[1] - totals[0])
            sweep = sweep_two
        else:
            pairs = np.empty(n, dtype=_PAIR)
            pairs["weight"], pairs["code"] = weights, self.codes
            arguments = (pairs, totals)
            sweep = sweep_many
        pure = 1.0 - ((totals / totals.sum()) ** 2).sum() <= np.finfo(float).eps
        feature = -1
        if not pure:
            tasks = [partial(sweep, self.order, lo, hi, *arguments, found) for lo, hi in self._tasks]
            tasks[0]() if len(tasks) == 1 else run_tasks(tasks)
            scores = found[:, 0] / found[:, 1]
            best = scores.max()
            if best >= 0:
                feature = int((scores * _MORE >= best).argmax())  # the first of equals
        left = np.zeros(n, dtype=np.bool_)
        leaves = np.zeros((2, self.n_classes))
        if feature < 0:
            leaves[0] = totals
            left[:] = True
            return Stump(-2, -2.0, leaves, np.array([n, 0]), left)
        last = int(found[feature, 2])
        split_rows(self.order[feature], last, self.codes, weights, left, leaves)
        rows = self.order[feature, last : last + 2] >> 1
        below, above = (float(value) for value in self._column(feature, rows))
        threshold = below / 2 + above / 2
        return Stump(feature, threshold, leaves, np.array([last + 1, n - last - 1]), left)


def stump_tree(stump: Stump, n_features: int) -> Tree:
    """The stump as a tree of three nodes, or of one where there was nothing to cut."""
    weights = stump.weights
    nodes = [weights.sum(axis=0)] if stump.feature < 0 else [weights.sum(axis=0), weights[0], weights[1]]
    counts = [stump.counts.sum(), *stump.counts][: len(nodes)]
    shares = np.array([node / node.sum() for node in nodes])
    leaf = len(nodes) == 1
    return Tree(
        n_features,
        [weights.shape[1]],
        children_left=[-1] if leaf else [1, -1, -1],
        children_right=[-1] if leaf else [2, -1, -1],
        feature=[-2] if leaf else [stump.feature, -2, -2],
        threshold=[-2.0] if leaf else [stump.threshold, -2.0, -2.0],
        missing_go_to_left=[0] if leaf else [int(stump.counts[0] > stump.counts[1]), 0, 0],
        impurity=1.0 - (shares**2).sum(axis=1),
        n_node_samples=counts,
        weighted_n_node_samples=[node.sum() for node in nodes],
        value=shares[:, None, :],
    )


@kernel
def sweep_two(order, lo, hi, signed, weight, balance, found):
    """The best cut of the columns lo…hi for two classes.

    With W the weight on a side and D that of the second class less that of the first, the Gini impurity of both sides
    is least where D_L²/W_L + D_R²/W_R is largest; `found` gets numerator, denominator and the last row on the left.
    """
    n = order.shape[1]
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
def sweep_many(order, lo, hi, pairs, totals, found):
    """The best cut of the columns lo…hi for any number of classes; `pairs` holds weight and class of each row.

    Largest is  Σ_k L_k²/W_L + Σ_k R_k²/W_R,  where  Σ R² = Σ T² − 2 Σ TL + Σ L².
    """
    n, n_classes = order.shape[1], totals.size
    left = np.empty(n_classes)
    weight, squares = 0.0, 0.0
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
                # What is left of a difference must not pass for a pure side: Σ R_k² is at most W_R².
                right = min(max(squares - 2.0 * shared + left_squares, 0.0), right_weight * right_weight)
                a = left_squares * right_weight + right * left_weight
                b = left_weight * right_weight
                if a * bottom > top * b * _MORE and b > 0.0:
                    top, bottom, last = a, b, i
        found[f, 0], found[f, 1], found[f, 2] = top, bottom, last


@kernel
def split_rows(order, last, codes, weights, left, leaves):
    """Which rows lie left of the cut, and the weights of the classes on both sides."""
    for i in range(order.size):
        row = order[i] >> np.uint32(1)
        side = 0 if i <= last else 1
        left[row] = side == 0
        leaves[side, codes[row]] += weights[row]


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
