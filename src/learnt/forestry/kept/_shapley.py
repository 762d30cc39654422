"""Exact Shapley values of trees: how much of one prediction is due to each column.

The value of a set S of columns is the tree's expected prediction when only those are known: at a split on a known
column the row goes its way, elsewhere both ways, in proportion to the training rows. The Shapley value of column j is
the mean, over all orders of the columns, of the change when j becomes known. One traversal of the tree computes all of
them: on the way to a leaf it keeps, for every number k of known columns, the weight of the subsets of that size, and at
a leaf takes each column out of these sums in turn (Lundberg, Erion and Lee, Consistent individualized feature
attribution for tree ensembles, 2018).
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.kept._traverse import step


@kernel
def extend(features, zeros, ones, weights, length, feature, zero, one):
    """One more column on the path: `zero` is the share of rows that goes this way, `one` whether this row does."""
    features[length], zeros[length], ones[length] = feature, zero, one
    weights[length] = 1.0 if length == 0 else 0.0
    for i in range(length - 1, -1, -1):
        weights[i + 1] += one * weights[i] * (i + 1.0) / (length + 1.0)
        weights[i] = zero * weights[i] * (length - i) / (length + 1.0)


@kernel
def unwind(features, zeros, ones, weights, length, k):
    """Take column k off a path of `length` + 1 entries."""
    one, zero = ones[k], zeros[k]
    after = weights[length]
    for i in range(length - 1, -1, -1):
        if one != 0.0:
            kept = weights[i]
            weights[i] = after * (length + 1.0) / ((i + 1.0) * one)
            after = kept - weights[i] * zero * (length - i) / (length + 1.0)
        else:
            weights[i] = weights[i] * (length + 1.0) / (zero * (length - i))
    for i in range(k, length):
        features[i], zeros[i], ones[i] = features[i + 1], zeros[i + 1], ones[i + 1]


@kernel
def unwound_sum(zeros, ones, weights, length, k):
    """The sum of weights without column k."""
    one, zero = ones[k], zeros[k]
    after, total = weights[length], 0.0
    for i in range(length - 1, -1, -1):
        if one != 0.0:
            part = after * (length + 1.0) / ((i + 1.0) * one)
            total += part
            after = weights[i] - part * zero * (length - i) / (length + 1.0)
        elif zero != 0.0:
            total += weights[i] * (length + 1.0) / (zero * (length - i))
    return total


@kernel
def shapley_rows(view, lo, hi, nodes, left, feature, cover, roots, outputs, table, deep, out):
    """out[i, output, j] += the Shapley value of column j for row i, over all trees; the last is the expected value.

    `view` is the table as `flat_view` gives it.
    """
    flat, row_step, column_step = view
    last = out.shape[2] - 1
    wide = min(deep, last) + 2  # a path has an entry for each of its columns, and one for its beginning
    features = np.empty((deep + 1, wide), np.int64)
    zeros = np.empty((deep + 1, wide))
    ones = np.empty((deep + 1, wide))
    weights = np.empty((deep + 1, wide))
    lengths = np.zeros(deep + 1, np.int64)
    waiting = np.empty((2 * deep + 2, 4), np.int64)  # node, depth, column it was split on, entry of that on the path
    shares = np.empty((2 * deep + 2, 2))
    columns, rows = np.uint64(column_step), np.uint64(row_step)
    for i in range(lo, hi):
        base = np.uint64(i) * rows
        for t in range(roots.size):
            target = outputs[t]
            n_waiting = 1
            waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = roots[t], 0, -1, -1
            shares[0, 0], shares[0, 1] = 1.0, 1.0
            while n_waiting > 0:
                n_waiting -= 1
                node, depth, by, again = (
                    waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2], waiting[n_waiting, 3],
                )  # fmt: skip
                zero, one = shares[n_waiting, 0], shares[n_waiting, 1]
                length = 0
                if depth > 0:
                    length = lengths[depth - 1]
                    for k in range(length):
                        features[depth, k], weights[depth, k] = features[depth - 1, k], weights[depth - 1, k]
                        zeros[depth, k], ones[depth, k] = zeros[depth - 1, k], ones[depth - 1, k]
                    if again >= 0:
                        unwind(features[depth], zeros[depth], ones[depth], weights[depth], length - 1, again)
                        length -= 1
                extend(features[depth], zeros[depth], ones[depth], weights[depth], length, by, zero, one)
                length += 1
                lengths[depth] = length
                if feature[node] == -1:
                    value = nodes[node]["threshold"]
                    share = 1.0
                    for k in range(1, length):
                        w = unwound_sum(zeros[depth], ones[depth], weights[depth], length - 1, k)
                        out[i, target, features[depth, k]] += w * (ones[depth, k] - zeros[depth, k]) * value
                        share *= zeros[depth, k]
                    out[i, target, last] += share * value
                    continue
                column = feature[node] if feature[node] >= 0 else -2 - feature[node]
                first = left[node]
                if feature[node] < -1:
                    first = table[left[node] + 1]
                    for k in range(table[left[node]]):
                        first = min(first, np.int64(table[left[node] + 1 + k]))
                hot = np.int64(step(nodes, table, flat, base, columns, np.uint64(node)))
                cold = 2 * first + 1 - hot
                again, old_zero, old_one = -1, 1.0, 1.0
                for k in range(1, length):
                    if features[depth, k] == column:
                        again, old_zero, old_one = k, zeros[depth, k], ones[depth, k]
                for side in range(2):
                    child = hot if side else cold
                    waiting[n_waiting, 0], waiting[n_waiting, 1] = child, depth + 1
                    waiting[n_waiting, 2], waiting[n_waiting, 3] = column, again
                    shares[n_waiting, 0] = old_zero * cover[child] / cover[node]
                    shares[n_waiting, 1] = old_one if side else 0.0
                    n_waiting += 1
