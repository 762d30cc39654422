"""Splits of sparse tables: what a node costs is the values its rows have, not its rows times the columns.

The values of a node's rows are dealt to their columns, each column's in a stretch of `Cells.dealt`. A column that is
drawn is sorted there; its zeros, which are not, are one step of the sweep, whose sums are those of the node less the
others'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._criteria import GINI, SQUARED, class_purity, number_purity
from learnt.forestry.exact._data import (
    DIRECTION,
    EMPTY_SUMS,
    FEATURE,
    GAP,
    MISSING_LEFT,
    N_BRANCHES,
    N_MISSING,
    POSITION,
    RUNNING,
    SAVED,
    SCORE,
    SLOT,
    THRESHOLD,
    TOTALS,
)
from learnt.forestry.exact._records import LOW, record_value, sort_records, value_code
from learnt.forestry.exact._sweep import SLACK, in_order

# rows of `stretches`: where a column's cells begin, how many it has; and the columns that have some
FIRST, FILLED, TOUCHED, N_STRETCHES = range(4)
_ZERO_SUMS = SAVED
_FEW = 256  # rows of a node up to which zeros are added one by one, so that sums are rounded as those of a dense table


class Cells(NamedTuple):
    """Compressed sparse rows, and the values of a node's rows dealt to its columns."""

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    stretches: np.ndarray
    dealt: np.ndarray


@kernel(allocates=False)
def deal_cells(start, end, sparse, tails, orders):
    """The values of the node's rows, column by column; returns how many columns have some."""
    indices, indptr = sparse.indices, sparse.indptr
    stretches, cells = sparse.stretches, sparse.dealt
    n_touched, at = 0, 0
    for k in range(start, end):
        row = np.int64(orders[0, k])
        for i in range(indptr[row], indptr[row + 1]):
            f = indices[i]
            if stretches[FILLED, f] == 0:
                stretches[TOUCHED, n_touched] = f
                n_touched += 1
            stretches[FILLED, f] += 1
    for t in range(n_touched):
        f = stretches[TOUCHED, t]
        stretches[FIRST, f] = at
        at += stretches[FILLED, f]
        stretches[FILLED, f] = 0
    for k in range(start, end):
        row = np.int64(orders[0, k])
        tail = np.int64(tails[row])
        for i in range(indptr[row], indptr[row + 1]):
            f = indices[i]
            cells[0, stretches[FIRST, f] + stretches[FILLED, f]] = (value_code(sparse.values[i]) << 32) | tail
            stretches[FILLED, f] += 1
    return n_touched


@kernel(allocates=False)
def clear_cells(n_touched, stretches):
    for t in range(n_touched):
        stretches[FILLED, stretches[TOUCHED, t]] = 0


@kernel(allocates=False)
def fetch_sparse(feature, start, end, shift, tails, orders, places, sparse, out):
    """Records of all the node's rows for one column, unsorted, into out[0]; False where their values are the same."""
    stretches, cells = sparse.stretches, sparse.dealt
    m, differs = end - start, np.int64(0)
    zero = value_code(np.float32(0.0)) << 32
    for k in range(m):
        out[0, k] = zero | np.int64(tails[orders[0, start + k]])
    first = stretches[FIRST, feature]
    for i in range(first, first + stretches[FILLED, feature]):
        record = cells[0, i]
        out[0, places[SLOT, (record & LOW) >> shift] - start] = record
    for k in range(1, m):
        differs |= (out[0, k] ^ out[0, 0]) >> 32
    return differs != 0


@kernel(allocates=False)
def with_zero(feature, m, stretches, cells, spare, out):
    """The column's sorted records with one for all zeros among them into out[0]; how many, and which is the zeros'."""
    count, first, n, zero_at = np.int64(stretches[FILLED, feature]), np.int64(stretches[FIRST, feature]), 0, -1
    for k in range(count):
        out[0, k] = cells[0, first + k]
    sort_records(out, np.int64(0), count, spare)
    if count == m:
        return count, np.int64(-1)
    while n < count and (out[0, n] >> 32) < 0:
        n += 1
    zero_at = n
    for k in range(count, zero_at, -1):
        out[0, k] = out[0, k - 1]
    out[0, zero_at] = value_code(np.float32(0.0)) << 32
    return count + 1, np.int64(zero_at)


@kernel(allocates=False)
def add_record(record, shift, sign, into, y, weights, classes, sums):
    """Add a row to, or take it off, sums[into]; its weight."""
    row, w = (record & LOW) >> shift, 1.0
    if weights.size:
        w = weights[row]
    for o in range(sums.shape[1]):
        if classes > 0:
            sums[into, o, np.int64(y[row, o])] += sign * w
        else:
            sums[into, o, 0] += sign * w * y[row, o]
    return w


@kernel(allocates=False)
def add_zeros(start, end, n, zero_at, shift, y, weights, records, orders, side, sums):
    """Add the numbers of the rows that are 0 in the column to sums[RUNNING], one by one; their weight."""
    w, weight = 1.0, 0.0
    for k in range(start, end):
        side[orders[0, k]] = 1
    for p in range(n):
        if p != zero_at:
            side[(records[0, p] & LOW) >> shift] = 0
    for k in range(start, end):
        row = np.int64(orders[0, k])
        if side[row] == 1:
            if weights.size:
                w = weights[row]
            weight += w
            for o in range(sums.shape[1]):
                sums[RUNNING, o, 0] += w * y[row, o]
    return weight


@kernel(allocates=False)
def sweep_sparse(feature, start, end, weight, target, rules, sparse, work, best, chosen):
    """Cuts of one column; False where its values are all the same."""
    y, weights = target.y, target.weights
    records, sums = work.records, work.sums
    m = end - start
    n, zero_at = with_zero(feature, m, sparse.stretches, sparse.dealt, work.spare, records)
    gap = rules.facts[GAP, feature]
    if not record_value(records[0, n - 1]) > np.float32(record_value(records[0, 0]) + np.float32(gap)):
        return False
    shift, criterion, classes, single = rules.row_shift, rules.criterion, rules.n_classes, sums.shape[1] == 1
    running, empty, totals, zeros = np.int64(RUNNING), np.int64(EMPTY_SUMS), np.int64(TOTALS), np.int64(_ZERO_SUMS)
    min_leaf, min_weight, score = rules.min_leaf, rules.min_weight, 0.0
    for o in range(sums.shape[1]):
        for c in range(sums.shape[2]):
            sums[RUNNING, o, c], sums[_ZERO_SUMS, o, c] = 0.0, sums[TOTALS, o, c]
    zero_weight, n_zero, wl, n_left, top = weight, m - n + 1, 0.0, np.int64(0), best[SCORE]
    by_one = target.amounts is not None and m <= _FEW
    for p in range(n if zero_at >= 0 and not by_one else 0):
        if p != zero_at:
            zero_weight -= add_record(records[0, p], shift, -1.0, zeros, y, weights, classes, sums)
    for p in range(n - 1):
        record, after = records[0, p], records[0, p + 1]
        if p == zero_at:
            if by_one:
                zero_weight = add_zeros(
                    start, end, n, zero_at, shift, y, weights, records, work.orders, work.side, sums
                )
            else:
                for o in range(sums.shape[1]):
                    for c in range(sums.shape[2]):
                        sums[RUNNING, o, c] += sums[_ZERO_SUMS, o, c]
            wl += zero_weight
            n_left += n_zero
        else:
            wl += add_record(record, shift, 1.0, running, y, weights, classes, sums)
            n_left += 1
        wr = weight - wl
        if (record >> 32) == (after >> 32) or n_left < min_leaf or m - n_left < min_leaf:
            continue
        if wl < min_weight or wr < min_weight:
            continue
        if target.logs is not None:
            if single and criterion == GINI:
                left, right = 0.0, 0.0
                for c in range(sums.shape[2]):
                    rest = sums[TOTALS, 0, c] - sums[RUNNING, 0, c]
                    left += sums[RUNNING, 0, c] * sums[RUNNING, 0, c]
                    right += rest * rest
                if left * wr + right * wl < (top + weight) * (wl * wr) * SLACK:
                    continue
            score = class_purity(criterion, sums, running, empty, wl)
            score += class_purity(criterion, sums, totals, running, wr)
        if target.amounts is not None:
            if single and criterion == SQUARED:
                rest = sums[TOTALS, 0, 0] - sums[RUNNING, 0, 0]
                squares = sums[RUNNING, 0, 0] * sums[RUNNING, 0, 0] * wr + rest * rest * wl
                if squares < top * (wl * wr) * SLACK:
                    continue
            score = number_purity(criterion, sums, running, empty, wl)
            score += number_purity(criterion, sums, totals, running, wr)
        left_value = sums[RUNNING, 0, 0] / wl
        right_value = (sums[TOTALS, 0, 0] - sums[RUNNING, 0, 0]) / wr
        below, above = record_value(record), record_value(after)
        if not score > top or not above > np.float32(below + np.float32(gap)):
            continue
        if not in_order(rules, rules.facts[DIRECTION, feature], left_value, right_value, best):
            continue
        top = score
        best[SCORE], best[THRESHOLD] = score, np.float64(below) / 2.0 + np.float64(above) / 2.0
        chosen[FEATURE], chosen[POSITION], chosen[N_MISSING], chosen[N_BRANCHES] = feature, n_left, 0, 0
        chosen[MISSING_LEFT] = 1 if 2 * n_left > m else 0
    return True
