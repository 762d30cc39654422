"""Compiled parts of binning: edges of equal weight, how far along a column bins are, and the code of every cell."""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel


@kernel
def gather_column(flat, row_step, start, rows, out):
    """The values of one column (of the given rows, or of all) that are not NaN; how many there are."""
    every = rows.size == 0
    kept = 0
    for i in range(out.size):
        x = flat[start + (i if every else rows[i]) * row_step]
        if x == x:
            out[kept] = x
            kept += 1
    return kept


@kernel
def equal_weight_edges(values, weights, max_bins, length, out):
    """Upper ends of bins of equal weight for sorted `values`; returns how many, at most max_bins − 1, and how many
    distinct values there are, which are now the first of `values`.

    `weights` may be empty: all 1. A value at least as heavy as a bin should be has a bin to itself. The way from the
    first value to the last weighs `length` times as much as all values: every value has half of the way to either
    neighbour, so that bins are short as well where `length` is not 0.
    """
    n = values.size
    # Distinct values, packed to the front.
    distinct = 0
    mass = values.copy()
    previous = math.nan
    total = 0.0
    for i in range(n):
        w = 1.0 if weights.size == 0 else weights[i]
        if w == 0.0:
            continue
        x = values[i]
        total += w
        if distinct > 0 and x == previous:
            mass[distinct - 1] += w
        else:
            values[distinct] = x
            mass[distinct] = w
            distinct += 1
            previous = x
    if distinct <= 1:
        return 0, distinct
    if distinct <= max_bins:
        for i in range(distinct - 1):
            out[i] = between(values[i], values[i + 1])
        return distinct - 1, distinct
    whole_way = 0.5 * values[distinct - 1] - 0.5 * values[0]
    if length > 0.0 and whole_way > 0.0 and not math.isinf(whole_way):
        a_way = 0.5 * length * total / whole_way
        for i in range(distinct):
            mass[i] += a_way * (0.5 * values[min(i + 1, distinct - 1)] - 0.5 * values[max(i - 1, 0)])
        total += length * total
    # Heavy values: taking them out makes the other bins smaller, which may make more of them heavy. Each takes its bin
    # and may cut a lighter one in two.
    heavy, share, limit = 0, total, total / max_bins
    while True:
        found, taken = 0, 0.0
        for i in range(distinct):
            if mass[i] >= limit:
                found += 1
                taken += mass[i]
        if found == heavy:
            break
        heavy, share = found, total - taken
        limit = min(limit, share / max(max_bins - 2 * heavy, 1))
    count, target = 0, 1.0
    filled, closed = 0.0, 0.0  # weight of light values so far, and of those in bins that are closed
    for i in range(distinct - 1):
        alone = mass[i] >= limit
        if not alone:
            filled += mass[i]
        spare = (max_bins - 1 - count) * limit > share - filled
        before_heavy = mass[i + 1] >= limit and filled - closed >= 0.5 * limit
        if filled >= target * limit * (1.0 - 1e-12) or (spare and (alone or before_heavy)):
            out[count] = between(values[i], values[i + 1])
            count += 1
            closed = filled
            target = math.floor(filled / limit * (1.0 + 1e-12)) + 1.0
            if count == max_bins - 1:
                break
    return count, distinct


@kernel
def places_of(values, edges, way, out):
    """How far along their column bins are, from 0 to `way` and one more a bin, by the means of their sorted values."""
    n_bins = edges.size + 1
    means = np.empty(n_bins)
    at = 0
    for k in range(n_bins):
        begin, total = at, 0.0
        while at < values.size and (k == n_bins - 1 or values[at] <= edges[k]):
            total += values[at]
            at += 1
        means[k] = total / max(at - begin, 1)
    first = 0.5 * means[0]
    length = 0.5 * means[n_bins - 1] - first
    place = 0
    for k in range(n_bins):
        share = (0.5 * means[k] - first) / length if length > 0.0 else 0.0
        if share > 0.0 and share <= 1.0:  # not NaN, as of values that are infinite
            place = max(place, k + int(way * share))
        out[k] = place
        place += 1


@kernel
def between(a, b):
    """The middle of a < b, or a itself where rounding leaves nothing between them."""
    middle = 0.5 * a + 0.5 * b
    if not (middle >= a and middle < b) or math.isinf(middle):
        middle = a
    return middle


@kernel
def encode_rows(flat, row_step, column_step, lo, hi, edges, n_bins, starts, sizes, table, by_column, by_row):
    """Codes of rows lo…hi, by column and by row where these arrays are not empty."""
    d = n_bins.size
    columns, rows = by_column.size > 0, by_row.size > 0
    for begin in range(lo, hi, 1024):  # rows that stay in the cache while all columns are read
        end = min(begin + 1024, hi)
        for j in range(d):
            if starts[j] < -1:  # its codes come from elsewhere
                continue
            missing = n_bins[j]
            for i in range(begin, end):
                x = float(flat[i * row_step + j * column_step])
                code = missing
                if x == x:
                    if starts[j] < 0:
                        at = 0
                        step = 128
                        while step > 0:
                            at += step if edges[j, at + step - 1] < x else 0
                            step >>= 1
                        code = at
                    elif x >= 0.0 and x < sizes[j]:
                        found = table[starts[j] + int(x)]
                        code = missing if found < 0 else found
                if columns:
                    by_column[j, i] = code
                if rows:
                    by_row[i, j] = code
