"""Compiled parts of binning: edges of equal weight, how far along a column bins are, and the code of every cell."""

from __future__ import annotations

import math

import numpy as np

from learnt.engine.kernel import kernel


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
def edge_step(edges, at, step, x):
    """Where the search for x goes on: `step` edges further if these are all before it.

    One bit of the answer, as a product: a choice would be made a branch by some compilers, which guesses wrong half of
    the time.
    """
    return at | (np.uint64(edges[at | (step - np.uint64(1))] < x) * step)


@kernel
def encode_numbers(flat, row_step, start, lo, hi, edges, missing, out):
    """Codes of one column of numbers for rows lo…hi. Searches go four at a time: none has to wait for its last step."""
    for i in range(lo, hi, 4):
        b, c, d = min(i + 1, hi - 1), min(i + 2, hi - 1), min(i + 3, hi - 1)
        w, x = float(flat[start + i * row_step]), float(flat[start + b * row_step])
        y, z = float(flat[start + c * row_step]), float(flat[start + d * row_step])
        at_w = at_x = at_y = at_z = np.uint64(0)
        for bit in range(8):
            step = np.uint64(128) >> np.uint64(bit)
            at_w, at_x = edge_step(edges, at_w, step, w), edge_step(edges, at_x, step, x)
            at_y, at_z = edge_step(edges, at_y, step, y), edge_step(edges, at_z, step, z)
        out[i - lo] = at_w if w == w else missing
        out[b - lo] = at_x if x == x else missing
        out[c - lo] = at_y if y == y else missing
        out[d - lo] = at_z if z == z else missing


@kernel
def encode_rows(flat, row_step, column_step, lo, hi, edges, n_bins, starts, sizes, table, by_column, by_row):
    """Codes of rows lo…hi, by column and by row where these arrays are not empty."""
    columns, rows = by_column.size > 0, by_row.size > 0
    codes = np.empty(1024, np.uint8)
    for begin in range(lo, hi, 1024):  # rows that stay in the cache while all columns are read
        end = min(begin + 1024, hi)
        for j in range(n_bins.size):
            if starts[j] < -1:  # its codes come from elsewhere
                continue
            start, missing = j * column_step, np.uint8(n_bins[j])
            if starts[j] < 0:
                encode_numbers(flat, row_step, start, begin, end, edges[j], missing, codes)
            else:
                for i in range(begin, end):
                    x = float(flat[start + i * row_step])
                    code = missing
                    if x >= 0.0 and x < sizes[j]:
                        found = table[starts[j] + int(x)]
                        code = missing if found < 0 else np.uint8(found)
                    codes[i - begin] = code
            for i in range(end - begin):
                if columns:
                    by_column[j, begin + i] = codes[i]
                if rows:
                    by_row[begin + i, j] = codes[i]
