"""Sorting the rows of a node by one column, for nodes of every size."""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.forestry.exact._plain import BUCKETS, CODES, COUNTS, INFINITY, SLOTS, largest_present
from learnt.forestry.exact._records import LOW, NAN_CODE, radix_sort, record_value

_FEW = 24  # sorted by counting, for each record, how many are smaller
MOST_SPREAD = 3000  # rows up to which dealing them to buckets is quicker than a radix sort


@kernel(allocates=False)
def sort_plain(start, m, low, high, codes, slots, marks, records, f, spare):
    """Records of the codes and marks of a node in rising order into records[f]; those of one value stay in their order.

    Without `slots` nodes of a few hundred rows take longer, and the machine code is made sooner.
    """
    spread = False
    if slots is not None:
        if high == NAN_CODE:
            high = largest_present(codes, m)
        spread = m > _FEW and m <= MOST_SPREAD and low < high and low > -INFINITY and high < INFINITY
        if spread:
            spread_sort(start, m, low, high, codes, slots, marks, records, f, spare)
    if m <= _FEW:
        for k in range(m):
            spare[k] = (np.int64(codes[CODES, k]) << 32) | np.int64(marks[start + k])
        for i in range(m):  # to the place that is the number of smaller ones: m² comparisons, and no branch to guess
            record, place = spare[i], 0
            below, above = (record >> 32) << 32, record | LOW  # of the same value, whatever the row
            for j in range(i):
                place += np.int64(spare[j] <= above)
            for j in range(i + 1, m):
                place += np.int64(spare[j] < below)
            records[f, place] = record
    elif not spread:
        for k in range(m):
            records[f, k] = (np.int64(codes[CODES, k]) << 32) | np.int64(marks[start + k])
        radix_sort(records, f, m, spare)


@kernel(allocates=False)
def find_slots(codes, slots, m, first, scale, last):
    """The bucket of every code: equal steps of the value; missing values behind all others."""
    for k in range(m):
        code = codes[CODES, k]
        bits = code if code >= 0 else np.int32(-np.int64(code) - 0x80000000)
        x = np.float64(np.int32(bits).view(np.float32))
        slots[SLOTS, k] = np.int32((x - first) * scale) if code != np.int32(NAN_CODE) else last


@kernel(allocates=False)
def spread_sort(start, m, low, high, codes, slots, marks, records, f, spare):
    """Records dealt to twice as many buckets by their value, then sorted by insertion, which has little left to do.

    Where values crowd in few buckets, a radix sort does the rest.
    """
    buckets = 2 * m if 2 * m < BUCKETS else BUCKETS - 1
    first, span = np.float64(record_value(low << 32)), np.float64(record_value(high << 32))
    span -= first
    find_slots(codes, slots, m, first, (buckets - 1) / span, np.int32(buckets))
    for b in range(buckets + 2):
        slots[COUNTS, b] = 0
    for k in range(m):
        slots[COUNTS, np.int64(slots[SLOTS, k]) + 1] += 1
    for b in range(buckets + 1):
        slots[COUNTS, b + 1] += slots[COUNTS, b]
    for k in range(m):
        b = slots[SLOTS, k]
        spare[slots[COUNTS, b]] = (np.int64(codes[CODES, k]) << 32) | np.int64(marks[start + k])
        slots[COUNTS, b] += 1
    moves = 0
    for i in range(m):
        record = spare[i]
        j = i
        while j > 0 and records[f, j - 1] > record:
            records[f, j] = records[f, j - 1]
            j -= 1
        records[f, j] = record
        moves += i - j
        if moves > 8 * m:
            for k in range(i + 1, m):
                records[f, k] = spare[k]
            radix_sort(records, f, m, spare)
            break
