"""Surrogate splits: where a node's value is missing, another column decides that sends most rows to the same side.

A surrogate of a split is the split of another column that agrees with it most often. Its agreement is the share of the
rows with a value in the split's own column that it sends the same way (a row it cannot judge counts against it), and
its adjusted agreement how much of the error of "always the heavier side" it avoids:

    agreement = agree / n        adjusted = (agree − max(n_left, n_right)) / (n − max(n_left, n_right))

Only those with adjusted > 0 are kept, five at most, the best first. A row that no surrogate can judge goes to the
heavier side. (Breiman, Friedman, Olshen and Stone 1984, section 5.3; the same choices as R's rpart.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.bounds import offsets, pieces, within
from learnt.engine.kernel import kernel
from learnt.forestry.exact._data import CATEGORIES
from learnt.forestry.exact._records import LOW, NAN_CODE, record_value

MOST = 5
UNKNOWN = 2  # a side that is not known
# of a surrogate: its column, whether small values go left, where its table begins (−1: a threshold)
COLUMN, BELOW_LEFT, TABLE_AT, N_INTS = range(4)
CUT, AGREEMENT, ADJUSTED, N_FLOATS = range(4)


class Surrogates:
    """The surrogates of all nodes of a tree, those of node t at start[t]…start[t + 1], the best first.

    Parameters
    ----------
    start : array of int, shape (node_count + 1,)
    feature : array of int
    threshold : array of float
        NaN where the column holds categories.
    left_below : array of 0 and 1
        Whether rows with x ≤ threshold go left.
    agreement, adjusted : array of float
    table_start : array of int
        Where the sides of the codes begin in `table`; −1 without any.
    table_size : array of int
    table : array of uint8
        By code: right (0), left (1), not known (2).
    """

    def __init__(
        self,
        start: Any,
        feature: Any,
        threshold: Any,
        left_below: Any,
        agreement: Any,
        adjusted: Any,
        table_start: Any,
        table_size: Any,
        table: Any,
    ) -> None:
        self.start = np.ascontiguousarray(start, dtype=np.int64)
        self.feature = np.ascontiguousarray(feature, dtype=np.int64)
        self.threshold = np.ascontiguousarray(threshold, dtype=np.float64)
        self.left_below = np.ascontiguousarray(left_below, dtype=np.uint8)
        self.agreement = np.ascontiguousarray(agreement, dtype=np.float64)
        self.adjusted = np.ascontiguousarray(adjusted, dtype=np.float64)
        self.table_start = np.ascontiguousarray(table_start, dtype=np.int64)
        self.table_size = np.ascontiguousarray(table_size, dtype=np.int64)
        self.table = np.ascontiguousarray(table, dtype=np.uint8)

    def of(self, node: int) -> list[dict[str, Any]]:
        """The surrogates of one node, for display."""
        return [
            {
                "feature": int(self.feature[k]),
                "threshold": float(self.threshold[k]),
                "left_below": bool(self.left_below[k]),
                "agreement": float(self.agreement[k]),
                "adjusted": float(self.adjusted[k]),
            }
            for k in range(self.start[node], self.start[node + 1])
        ]

    def kept(self, keep: np.ndarray, leaf: np.ndarray) -> Surrogates:
        """Those of the nodes kept; nodes that are now leaves lose theirs."""
        counts = np.diff(self.start)[keep]
        counts[leaf] = 0
        inner = np.flatnonzero(keep)[~leaf]
        chosen = [np.arange(self.start[t], self.start[t + 1]) for t in inner]
        rows = np.concatenate(chosen) if chosen else np.empty(0, np.int64)
        names = ("feature", "threshold", "left_below", "agreement", "adjusted", "table_start", "table_size")
        start = np.concatenate([[0], np.cumsum(counts)])
        return Surrogates(start=start, table=self.table, **{name: getattr(self, name)[rows] for name in names})

    def validate(self, tree: Any) -> None:
        """Raise unless every index is inside its array."""
        n, k = tree.node_count, len(self.feature)
        if self.start.shape != (n + 1,) or not offsets(self.start, k):
            raise ValueError("a tree has surrogates that belong to no node")
        others = (self.threshold, self.left_below, self.agreement, self.adjusted, self.table_start, self.table_size)
        if any(a.shape != (k,) for a in (self.feature, *others)) or self.table.ndim != 1:
            raise ValueError("a tree has surrogates of unequal length")
        if not within(self.feature, 0, tree.n_features - 1):
            raise ValueError("a tree has a surrogate on a column that does not exist")
        tabled = self.table_start != -1
        inside = within(self.table_size, 0, len(self.table))
        if not inside or not pieces(self.table_start[tabled], self.table_size[tabled], len(self.table)):
            raise ValueError("a tree has a surrogate with a table outside its tables")
        if not within(self.left_below, 0, 1) or not within(self.table, 0, UNKNOWN):
            raise ValueError("a tree has a surrogate that sends rows neither left nor right")

    def walk(self, tree: Any, X: np.ndarray, out: np.ndarray) -> None:
        """The leaf of every row of X."""
        splits = Splits(
            tree.children_left, tree.children_right, tree.feature, tree.threshold, tree.missing_go_to_left,
            tree.table_start, tree.table_size, tree.table,
        )  # fmt: skip
        others = Others(
            self.start, self.feature, self.threshold, self.left_below, self.table_start, self.table_size, self.table
        )
        traverse_with_surrogates(X, splits, others, out)


class Splits(NamedTuple):
    """The splits of a tree's nodes."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    table_start: np.ndarray
    table_size: np.ndarray
    table: np.ndarray


class Others(NamedTuple):
    """Their surrogates."""

    start: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    below: np.ndarray
    table_start: np.ndarray
    table_size: np.ndarray
    table: np.ndarray


@kernel
def traverse_with_surrogates(X, splits, others, out):
    """The leaf of every row; a missing value is decided by the surrogates in turn."""
    for i in range(X.shape[0]):
        node = 0
        while splits.left[node] >= 0:
            x = X[i, splits.feature[node]]
            at = splits.table_start[node]
            if x == x and at < 0:
                node = splits.left[node] if x <= splits.threshold[node] else splits.right[node]
                continue
            if x == x:
                entry = np.int64(x) + 2 if x >= 0 and x < splits.table_size[node] - 2 else 0
                node = np.int64(splits.table[at + entry])
                continue
            side = UNKNOWN
            for k in range(others.start[node], others.start[node + 1]):
                z = X[i, others.feature[k]]
                if z == z and others.table_start[k] < 0:
                    side = others.below[k] if z <= others.threshold[k] else 1 - others.below[k]
                elif z == z and z >= 0 and z < others.table_size[k]:
                    side = np.int64(others.table[others.table_start[k] + np.int64(z)])
                if side != UNKNOWN:
                    break
            if side == UNKNOWN:
                side = splits.missing_left[node]
            node = splits.left[node] if side == 1 else splits.right[node]
        out[i] = node


@kernel
def agree_by_number(a, f, lo, hi, side, weights, row_shift, found):
    """The threshold of one column that agrees best with `side`: found = agreement, threshold, small values go left.

    At least two rows must lie on each side of it.
    """
    upper_left, upper_right, lower_left, lower_right, w = 0.0, 0.0, 0.0, 0.0, 1.0
    n_upper, n_lower = 0, 0
    for p in range(lo, hi):
        row = (a[f, p] & LOW) >> row_shift
        if side[row] != UNKNOWN:
            if weights.size:
                w = weights[row]
            n_upper += 1
            upper_left += w if side[row] == 1 else 0.0
            upper_right += 0.0 if side[row] == 1 else w
    found[0], found[1], found[2] = max(upper_left, upper_right), np.nan, 0.0
    last = a[f, lo]
    for p in range(lo, hi):
        record = a[f, p]
        row = (record & LOW) >> row_shift
        if side[row] == UNKNOWN:
            continue
        if n_lower >= 2 and n_upper >= 2 and (record >> 32) != (last >> 32):
            middle = np.float64(record_value(last)) / 2.0 + np.float64(record_value(record)) / 2.0
            if upper_left + lower_right > found[0]:
                found[0], found[1], found[2] = upper_left + lower_right, middle, 0.0
            elif lower_left + upper_right > found[0]:
                found[0], found[1], found[2] = lower_left + upper_right, middle, 1.0
        if weights.size:
            w = weights[row]
        n_upper -= 1
        n_lower += 1
        if side[row] == 1:
            upper_left -= w
            lower_left += w
        else:
            upper_right -= w
            lower_right += w
        last = record


@kernel
def agree_by_category(a, f, lo, hi, side, weights, row_shift, heavier, found, table, at):
    """Each category on the side where most of its rows are; ties on the heavier one. Sides of the codes into table."""
    agree, n_left, n_right, w = 0.0, 0, 0, 1.0
    p = lo
    while p < hi:
        code, left, right, count = a[f, p] >> 32, 0.0, 0.0, 0
        category = np.int64(record_value(a[f, p]))
        while p < hi and (a[f, p] >> 32) == code:
            row = (a[f, p] & LOW) >> row_shift
            if side[row] != UNKNOWN:
                if weights.size:
                    w = weights[row]
                count += 1
                left += w if side[row] == 1 else 0.0
                right += 0.0 if side[row] == 1 else w
            p += 1
        if count > 0:
            goes = left > right or (left == right and heavier == 1)
            table[at + category] = 1 if goes else 0
            agree += left if goes else right
            n_left += count if goes else 0
            n_right += 0 if goes else count
    found[0] = agree if n_left >= 2 and n_right >= 2 else 0.0
    found[1], found[2] = np.nan, 0.0


class Related(NamedTuple):
    """All columns, and the surrogates of one split; `table` has room for the categories of all columns and one more."""

    columns: np.ndarray
    ints: np.ndarray
    floats: np.ndarray
    table: np.ndarray


@kernel
def rank_surrogates(records, start, end, feature, side, weights, rules, heavier, related):
    """The best surrogates of the split marked in `side`, the best first; how many there are."""
    ints, floats, table = related.ints, related.floats, related.table
    facts, row_shift = rules.facts, rules.row_shift
    left, right, w = 0.0, 0.0, 1.0
    for p in range(start, end):
        row = (records[feature, p] & LOW) >> row_shift
        if weights.size:
            w = weights[row]
        left += w if side[row] == 1 else 0.0
        right += w if side[row] == 0 else 0.0
    default, total, count = max(left, right), left + right, 0
    found = np.zeros(3)
    next_table = np.int64(0)
    for f in range(records.shape[0]):
        hi = end
        while hi > start and (records[f, hi - 1] >> 32) == NAN_CODE:
            hi -= 1
        if f == feature or hi == start:
            continue
        categories = np.int64(facts[CATEGORIES, f])
        if categories > 0:
            for k in range(categories):
                table[next_table + k] = UNKNOWN
            agree_by_category(records, f, start, hi, side, weights, row_shift, heavier, found, table, next_table)
        else:
            agree_by_number(records, f, start, hi, side, weights, row_shift, found)
        if found[0] <= default or (found[0] - default) / (total - default) <= 1e-10:
            continue
        place = min(count, MOST)  # a better one is inserted before worse ones
        while place > 0 and floats[place - 1, AGREEMENT] < found[0] / total:
            place -= 1
        if place == MOST:
            continue
        for k in range(min(count, MOST - 1), place, -1):
            for c in range(N_INTS):
                ints[k, c] = ints[k - 1, c]
            for c in range(N_FLOATS):
                floats[k, c] = floats[k - 1, c]
        ints[place, COLUMN], ints[place, BELOW_LEFT] = f, np.int64(found[2])
        ints[place, TABLE_AT] = next_table if categories > 0 else -1
        floats[place, CUT], floats[place, AGREEMENT] = found[1], found[0] / total
        floats[place, ADJUSTED] = (found[0] - default) / (total - default)
        next_table += categories
        count = min(count + 1, MOST)
    return count


@kernel
def send_unknown(rows, start, end, related, count, heavier, side):
    """Decide unknown sides by surrogates, then by the heavier side; returns how many rows go left."""
    columns, ints = related.columns, related.ints
    floats, table = related.floats, related.table
    n_left = 0
    for p in range(start, end):
        row = rows[0, p]
        for k in range(count if side[row] == UNKNOWN else 0):
            x = columns[ints[k, COLUMN], row]
            if x == x and side[row] == UNKNOWN:
                if ints[k, TABLE_AT] >= 0:
                    side[row] = table[ints[k, TABLE_AT] + np.int64(x)]
                else:
                    below = ints[k, BELOW_LEFT]
                    side[row] = below if x <= floats[k, CUT] else 1 - below
        if side[row] == UNKNOWN:
            side[row] = heavier
        n_left += 1 if side[row] == 1 else 0
    return n_left
