"""Compiled parts of binning: edges of equal weight, how far along a column bins are, and the code of every cell."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel


class Guide(NamedTuple):
    """Where the search for a value's bin begins (`guide_to_edges`)."""

    first: np.ndarray
    ways: np.ndarray
    halvings: np.ndarray


class Kinds(NamedTuple):
    """Bins of each column; where its table of categories begins in all of them (−1: numbers), its size, the tables."""

    n_bins: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    table: np.ndarray


@kernel
def equal_weight_edges(values, weights, max_bins, length, out):
    """Upper ends of bins of equal weight for sorted `values`; returns how many, at most max_bins − 1, and how many
    distinct values there are, which are now the first of `values`.

    `weights` may be empty: all 1. A value at least as heavy as a bin should be has a bin to itself. The range from the
    first value to the last weighs `length` times as much as all values: every value gets half of the gap to either
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
    width = 0.5 * values[distinct - 1] - 0.5 * values[0]
    if length > 0.0 and width > 0.0 and not math.isinf(width):
        a_way = 0.5 * length * total / width
        for i in range(distinct):
            mass[i] += a_way * (0.5 * values[min(i + 1, distinct - 1)] - 0.5 * values[max(i - 1, 0)])
        total += length * total
    # Heavy values: without them the other bins are smaller, which may make more values heavy. Each takes its bin
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
    """The middle of a < b, or a itself where there is no float between them."""
    middle = 0.5 * a + 0.5 * b
    if not (middle >= a and middle < b) or math.isinf(middle):
        middle = a
    return middle


@kernel
def guide_to_edges(edges, n_bins, out, ways, halvings):
    """Where the searches for values may begin: the way from a column's first edge to its last is cut into cells of one
    length; `out` has the number of edges in the cells before each, `ways` where cells begin and how many there are a
    unit, `halvings` how many steps a search takes from there.

    An edge is below a value if its cell is: rounding keeps the order. Edges too close or too far apart to be told by a
    difference are all in the first cell.
    """
    cells = out.shape[1]
    for j in range(n_bins.size):
        inner, at, most = n_bins[j] - 1, 0, 0
        while inner > 0 and math.isinf(edges[j, inner - 1]):  # what no value is above
            inner -= 1
        first, last = float(edges[j, 0]), float(edges[j, max(inner - 1, 0)])
        a_unit = cells / (last - first) if inner > 1 and last > first else 0.0
        if not a_unit > 0.0 or math.isinf(a_unit):
            first = a_unit = 0.0
        for cell in range(cells):
            begin = at
            out[j, cell] = at
            while at < inner and cell_of(edges[j, at], first, a_unit, cells) == np.uint64(cell):
                at += 1
            most = max(most, at - begin)
        ways[j, 0], ways[j, 1], halvings[j] = first, a_unit, 0
        while most > 0:
            most >>= 1
            halvings[j] += 1


@kernel
def cell_of(x, first, a_unit, cells):
    """The cell of a value; the first one of what is not a number."""
    way = (float(x) - float(first)) * float(a_unit)  # as Python floats, which overflow silently
    way = way if way > 0.0 else 0.0
    last = float(cells - 1)
    return np.uint64(np.int64(way if way < last else last))


@kernel
def edge_step(edges, at, step, x):
    """Where the search for x goes on: `step` edges further if these are all below it.

    As a product: some compilers would turn a condition into a branch, mispredicted half of the time. The last edge
    is infinite.
    """
    return at + np.uint64(edges[min(at + step, np.uint64(256)) - np.uint64(1)] < x) * step


@kernel
def encode_numbers(values, n, edges, guide, first, a_unit, halvings, missing, out):
    """Codes of the first n numbers of a column, n a multiple of 4. Searches go four at a time: none has to wait for
    its last step.
    """
    cells = guide.size
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for quarter in range(np.uint64(n) >> two):
        i = quarter << two
        w, x = np.float64(values[i]), np.float64(values[i + one])
        y, z = np.float64(values[i + two]), np.float64(values[i + three])
        at_w, at_x = guide[cell_of(w, first, a_unit, cells)], guide[cell_of(x, first, a_unit, cells)]
        at_y, at_z = guide[cell_of(y, first, a_unit, cells)], guide[cell_of(z, first, a_unit, cells)]
        at_w, at_x, at_y, at_z = np.uint64(at_w), np.uint64(at_x), np.uint64(at_y), np.uint64(at_z)
        step = one << np.uint64(halvings)
        for _ in range(halvings):
            step >>= one
            at_w, at_x = edge_step(edges, at_w, step, w), edge_step(edges, at_x, step, x)
            at_y, at_z = edge_step(edges, at_y, step, y), edge_step(edges, at_z, step, z)
        out[i] = at_w if w == w else missing
        out[i + one] = at_x if x == x else missing
        out[i + two] = at_y if y == y else missing
        out[i + three] = at_z if z == z else missing


@kernel
def encode_categories(values, n, table, missing, out):
    """Codes of the first n categories of a column."""
    for i in range(n):
        x = float(values[i])
        code = missing
        if x >= 0.0 and x < table.size:
            found = table[int(x)]
            code = missing if found < 0 else np.uint8(found)
        out[i] = code


@kernel
def encode_rows(flat, row_step, column_step, lo, hi, edges, guide, kinds, by_column, by_row):
    """Codes of rows lo…hi, by column and by row where these arrays are not empty.

    Some rows of some columns at a time, which stay in cache while they are coded: reading or writing down a
    column of a wide table would touch another page of memory at every step.
    """
    n_bins, starts, sizes, table = kinds
    d = n_bins.size
    values, codes = np.zeros((32, 256), flat.dtype), np.empty((32, 256), np.uint8)
    for begin in range(lo, hi, 256):
        n = min(np.int64(256), hi - begin)
        for left in range(0, d, 32):
            width = min(32, d - left)
            start = begin * row_step + left * column_step
            for i in range(n):
                for k in range(width):
                    values[k, i] = flat[start + i * row_step + k * column_step]
            for k in range(width):
                j = left + k
                missing = np.uint8(n_bins[j])
                if starts[j] == -1:
                    encode_numbers(
                        values[k], (n + 3) & ~3, edges[j], guide.first[j], guide.ways[j, 0], guide.ways[j, 1],
                        guide.halvings[j], missing, codes[k],
                    )  # fmt: skip
                elif starts[j] >= 0:  # else its codes are computed elsewhere
                    here = table[starts[j] : starts[j] + sizes[j]]
                    encode_categories(values[k], n, here, missing, codes[k])
            if by_column.size > 0:
                for k in range(width):
                    for i in range(n):
                        by_column[left + k, begin + i] = codes[k, i]
            if by_row.size > 0:
                for i in range(n):
                    for k in range(width):
                        by_row[begin + i, left + k] = codes[k, i]
