"""Compiled sorting by (distance, index): a heap, and all neighbours of a query at once."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_SHORT = 24  # entries that are sorted by inserting one after the other
BUCKETS = 2  # for each entry
# narrower or larger ranges of distances are not bucketed, since arithmetic could overflow
_NARROW, _LARGE = 1e-280, 1e300


@kernel(fuse=False, allocates=False)
def sift(values, index, first, size, value, at):
    """Put (value, at) in place of entry `first` of a heap of this size, the largest first, and move it down."""
    i = first
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            values[other] > values[child] or (values[other] == values[child] and index[other] > index[child])
        ):
            child = other
        if values[child] < value or (values[child] == value and index[child] < at):
            break
        values[i], index[i] = values[child], index[child]
        i = child
    values[i], index[i] = value, at


@kernel(fuse=False, allocates=False)
def sort_heap(values, index):
    """Sort a heap with the largest first: the largest goes to the end."""
    for end in range(values.size - 1, 0, -1):
        value, at = values[end], index[end]
        values[end], index[end] = values[0], index[0]
        sift(values, index, 0, end, value, at)


@kernel(fuse=False, allocates=False)
def _insert_each(values, index):
    """Sort in place by insertion: few entries, or some that are nearly in order."""
    for i in range(1, values.size):
        value, at, j = values[i], index[i], i
        if values[i - 1] < value:
            continue
        while j > 0 and values[j - 1] > value:
            values[j], index[j] = values[j - 1], index[j - 1]
            j -= 1
        while j > 0 and values[j - 1] == value and index[j - 1] > at:
            values[j], index[j] = values[j - 1], index[j - 1]
            j -= 1
        values[j], index[j] = value, at


@kernel(fuse=False, allocates=False)
def _sort(values, index):
    """Sort in place: few entries by insertion, many by a heap unless they are in order, as equal ones often are."""
    n = values.size
    if n <= _SHORT:
        _insert_each(values, index)
        return
    i = 1
    while i < n and (values[i - 1] < values[i] or (values[i - 1] == values[i] and index[i - 1] < index[i])):
        i += 1
    if i < n:
        for first in range(n // 2 - 1, -1, -1):
            sift(values, index, first, n, values[first], index[first])
        sort_heap(values, index)


@kernel(fuse=False, allocates=False)
def sort_each(starts, distances, index, ends, to_distances, to_index):
    """Entries starts[q]…starts[q+1]−1 of each query in order of (distance, index), into the last two arrays.

    Many go to buckets of equal width between the least and the largest distance, after which few are out of order: a
    few operations an entry where distances are spread, n log n where they are not. `ends` is memory for the buckets,
    `BUCKETS` for each entry and one more.
    """
    for q in range(starts.size - 1):
        d, rows = distances[starts[q] : starts[q + 1]], index[starts[q] : starts[q + 1]]
        to_d, to_rows = to_distances[starts[q] : starts[q + 1]], to_index[starts[q] : starts[q + 1]]
        n = d.size
        low, high = np.inf, -np.inf
        for i in range(n):
            low, high = d[i] if d[i] < low else low, d[i] if d[i] > high else high
        width = high - low if n > _SHORT and low > -_LARGE and high < _LARGE else 0.0
        if width < _NARROW:
            for i in range(n):
                to_d[i], to_rows[i] = d[i], rows[i]
            _sort(to_d, to_rows)
            continue
        buckets, most = BUCKETS * n, 0
        scale = (buckets - 1) / width
        begins = ends[: buckets + 1]
        begins[:] = 0
        for i in range(n):
            begins[int((d[i] - low) * scale) + 1] += 1
        for b in range(buckets):
            most = max(most, begins[b + 1])
            begins[b + 1] += begins[b]
        for i in range(n):
            b = int((d[i] - low) * scale)
            at = begins[b]
            to_d[at], to_rows[at] = d[i], rows[i]
            begins[b] = at + 1
        if most <= _SHORT:
            _insert_each(to_d, to_rows)
            continue
        lo = 0
        for b in range(buckets):  # each bucket now begins where the next one did
            if begins[b] - lo > 1:
                _sort(to_d[lo : begins[b]], to_rows[lo : begins[b]])
            lo = begins[b]


@kernel(fuse=False, allocates=False)
def order_by_index(starts, index, places, order):
    """Where the entries of each query are in order of their index, for queries that have many of the points.

    `places` is workspace filled with −1, and is so again at the end; `order` has room for one entry more.
    """
    for q in range(starts.size - 1):
        for t in range(starts[q], starts[q + 1]):
            places[index[t]] = t
        at = starts[q]
        for j in range(places.size):
            t = places[j]
            order[at] = t
            at += t >= 0
            places[j] = -1


@kernel(fuse=False, allocates=False)
def sort_by_index(starts, index, distances, ends, to_index, to_distances):
    """Entries starts[q]…starts[q+1]−1 of each query in order of their index, into the last two arrays.

    A bucket sort: `BUCKETS` for each entry at most, with insertion among the few entries of a bucket. Without distances
    the indices alone are moved; `ends` is memory for the buckets and one more.
    """
    measured = distances.size > 0
    for q in range(starts.size - 1):
        lo, hi = starts[q], starts[q + 1]
        if lo == hi:
            continue
        low = high = index[lo]
        for i in range(lo, hi):
            low, high = min(low, index[i]), max(high, index[i])
        shift = 0
        while (high - low) >> shift >= BUCKETS * (hi - lo):
            shift += 1
        begins = ends[: ((high - low) >> shift) + 2]
        begins[:] = 0
        for i in range(lo, hi):
            begins[((index[i] - low) >> shift) + 1] += 1
        for b in range(begins.size - 1):
            begins[b + 1] += begins[b]
        for i in range(lo, hi):
            b = (index[i] - low) >> shift
            at = lo + begins[b]
            begins[b] += 1
            to_index[at] = index[i]
            if measured:
                to_distances[at] = distances[i]
        for i in range(lo + 1, hi):
            row, j = to_index[i], i
            if to_index[j - 1] < row:
                continue
            distance = to_distances[i] if measured else 0.0
            while j > lo and to_index[j - 1] > row:
                to_index[j] = to_index[j - 1]
                if measured:
                    to_distances[j] = to_distances[j - 1]
                j -= 1
            to_index[j] = row
            if measured:
                to_distances[j] = distance
