"""One row's entry in a column that is being sorted: the value, the row, its weight and its class in 64 bits.

    bits 63…32   the value, a float32 as an integer in the same order (`value_code`); NaN is last
    bits 31…0    the row, then a small whole weight, then the class: as many bits as each needs

A sweep over sorted records reads one stream of memory and looks nothing up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel

NAN_CODE = 0x7FFFFFFF
LOW = 0xFFFFFFFF  # of a record: all but the value; shifted by `row_shift`, the row
_INSERTION = 24
_COUNTS = 256  # of the values of a byte
SPARE = 4 * _COUNTS  # room that sorting takes beside a copy of the records


class Layout(NamedTuple):
    """Where the parts of a record are; 0 bits: that part is looked up by row."""

    row_shift: int
    weight_mask: int
    label_bits: int
    label_mask: int


def row_tails(n: int, labels: np.ndarray | None, weights: np.ndarray | None) -> tuple[np.ndarray, Layout]:
    """The low 32 bits of every row's records, and their layout.

    Labels and small whole weights are put in where they have room.
    """
    room = 32 - max(1, (n - 1).bit_length())
    if room < 0:
        raise ValueError(f"An exact tree takes at most 2**32 rows; there are {n}.")
    label_bits = weight_bits = 0
    if labels is not None and labels.size:
        label_bits = max(1, int(labels.max()).bit_length())
        label_bits = label_bits if label_bits <= room else 0
    if weights is not None and weights.max() < 2**16 and (weights == np.rint(weights)).all():
        weight_bits = int(weights.max()).bit_length()
        weight_bits = weight_bits if weight_bits <= room - label_bits else 0
    tails = np.arange(n, dtype=np.uint32)
    tails <<= np.uint32(label_bits + weight_bits)
    if weight_bits:
        tails |= weights.astype(np.uint32) << np.uint32(label_bits)  # type: ignore[union-attr]
    if label_bits:
        tails |= labels.astype(np.uint32)  # type: ignore[union-attr]
    layout = Layout(label_bits + weight_bits, (1 << weight_bits) - 1, label_bits, (1 << label_bits) - 1)
    return tails, layout


@kernel(allocates=False)
def value_code(x):
    """A float32 as a whole number in the same order: its size with its sign, so that −0 is 0; NaN last."""
    if x != x:
        return np.int64(NAN_CODE)
    bits = np.int64(np.float32(x).view(np.int32))
    return bits if bits >= 0 else -(bits & NAN_CODE)


@kernel(allocates=False)
def record_value(record):
    """The value of a record."""
    code = record >> 32
    return np.int32(code if code >= 0 else -code - 0x80000000).view(np.float32)


@kernel(allocates=False)
def fill_records(column, tails, out, f):
    """Records of a whole column, unsorted, into out[f]."""
    for i in range(column.size):
        out[f, i] = (value_code(np.float32(column[i])) << 32) | np.int64(tails[i])


@kernel(allocates=False)
def sort_records(a, f, n, spare):
    """The first n records of a[f] in rising order of value; `spare` has room for n + SPARE."""
    if n > _INSERTION:
        radix_sort(a, f, n, spare)
    else:
        insertion_sort(a, f, n)


@kernel(allocates=False)
def insertion_sort(a, f, n):
    for i in range(1, n):
        x = a[f, i]
        j = i
        while j > 0 and a[f, j - 1] > x:
            a[f, j] = a[f, j - 1]
            j -= 1
        a[f, j] = x


@kernel(allocates=False)
def radix_sort(a, f, n, spare):
    """Four passes over the 32 bits of the value, low bytes first; a byte that all share costs no pass.

    Longer digits need fewer passes, and counts that take longer than the records of a small node.
    """
    for v in range(n, n + SPARE):
        spare[v] = 0
    for i in range(n):
        code = (a[f, i] >> 32) + 0x80000000
        spare[n + (code & 0xFF)] += 1
        spare[n + _COUNTS + ((code >> 8) & 0xFF)] += 1
        spare[n + 2 * _COUNTS + ((code >> 16) & 0xFF)] += 1
        spare[n + 3 * _COUNTS + (code >> 24)] += 1
    in_spare = False
    for byte in range(4):
        shift, counts = 32 + 8 * byte, n + _COUNTS * byte
        flip = 0x80 if byte == 3 else 0  # the sign bit stands for the lower half
        shared, total = False, 0
        for v in range(counts, counts + _COUNTS):
            shared = shared or spare[v] == n
            total += spare[v]
            spare[v] = total - spare[v]
        if shared:
            continue
        for i in range(n):
            record = spare[i] if in_spare else a[f, i]
            v = counts + (((record >> shift) & 0xFF) ^ flip)
            if in_spare:
                a[f, spare[v]] = record
            else:
                spare[spare[v]] = record
            spare[v] += 1
        in_spare = not in_spare
    if in_spare:
        for i in range(n):
            a[f, i] = spare[i]
