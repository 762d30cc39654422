"""Scores in falling order, with their labels: a radix sort of the bits of floating-point numbers.

A float's bits, read as a whole number, are in the order of the floats (once negatives are mirrored), so sorting needs
no comparison. Three passes over the 33 highest bits that differ leave next to nothing out of order; short runs that
agree in those bits are finished by insertion, and if a run is long, all bits are sorted. Keys are exact: two scores
one rounding step apart stay apart, and −0.0 ties with 0.0. The sort is stable, so its result is unique: blocks and
threads cannot change it.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

DIGIT = 11  # bits a pass
_BUCKETS = 1 << DIGIT
_GRAIN = 1 << 18
_LONG_RUN = 48  # beyond this, insertion would cost more than the remaining passes


@kernel
def _mirror_negatives(bits, magnitude, out):
    """Whole numbers in the order of the floats that `bits` belong to. Returns the smallest and the largest."""
    low = np.int64(9223372036854775807)
    high = -low
    for i in range(bits.size):
        b = np.int64(bits[i])
        if b < 0:
            b = -(b & magnitude)
        low = min(low, b)
        high = max(high, b)
        out[i] = b
    return low, high


@kernel
def _histogram(keys, shift, counts):
    for i in range(keys.size):
        counts[(keys[i] >> shift) & np.uint64(2047)] += 1


@kernel
def _scatter(keys, payload, shift, starts, out_keys, out_payload):
    for i in range(keys.size):
        key = keys[i]
        digit = (key >> shift) & np.uint64(2047)
        place = np.uint64(starts[digit])
        starts[digit] += 1
        out_keys[place] = key
        out_payload[place] = payload[i]


@kernel
def _finish_runs(keys, payload, start, stop, shift, longest):
    """Sort by insertion the runs that begin in [start, stop) and agree in the bits above `shift`.

    Returns False where a run that is out of order is longer than `longest`.
    """
    n = keys.size
    i = start
    if i > 0:  # a run that began before this block belongs to the block before
        while i < n and keys[i] >> shift == keys[start - 1] >> shift:
            i += 1
    while i < stop:
        prefix = keys[i] >> shift
        end = i + 1
        in_order = True
        while end < n and keys[end] >> shift == prefix:
            if keys[end] < keys[end - 1]:
                in_order = False
            end += 1
        if not in_order:
            if end - i > longest:
                return False
            for j in range(i + 1, end):
                key = keys[j]
                carried = payload[j]
                k = j
                while k > i and keys[k - 1] > key:
                    keys[k] = keys[k - 1]
                    payload[k] = payload[k - 1]
                    k -= 1
                keys[k] = key
                payload[k] = carried
        i = end
    return True


def _radix_sort(keys: np.ndarray, payload: np.ndarray, first: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Stable sort by the bits from `first` up, lowest digit first, a digit at a time."""
    n = keys.size
    spare_keys, spare_payload = np.empty_like(keys), np.empty_like(payload)
    for low_bit in range(first, bits, DIGIT):
        shift = np.uint64(low_bit)
        counts = np.zeros((-(-n // _GRAIN), _BUCKETS), dtype=np.int64)

        def count(lo: int, hi: int, keys=keys, shift=shift, counts=counts) -> None:
            _histogram(keys[lo:hi], shift, counts[lo // _GRAIN])

        for_blocks(count, n, grain=_GRAIN)
        flat = counts.ravel(order="F")  # digit by digit and, within a digit, block by block: a stable order
        starts = np.ascontiguousarray((np.cumsum(flat) - flat).reshape(_BUCKETS, -1).T)

        def scatter(lo: int, hi: int, source=(keys, payload), target=(spare_keys, spare_payload), shift=shift,
                    starts=starts) -> None:  # fmt: skip
            _scatter(source[0][lo:hi], source[1][lo:hi], shift, starts[lo // _GRAIN], *target)

        for_blocks(scatter, n, grain=_GRAIN)
        keys, payload, spare_keys, spare_payload = spare_keys, spare_payload, keys, payload
    return keys, payload


def sort_rising(keys: np.ndarray, payload: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """uint64 `keys` below 2^bits in rising order, with `payload` carried along; ties keep their order.

    The given arrays are used up as working space.
    """
    first = max(0, bits - 3 * DIGIT)
    keys, payload = _radix_sort(keys, payload, first, bits)
    if first > 0:
        shift = np.uint64(first)

        def finish(lo: int, hi: int) -> bool:
            return _finish_runs(keys, payload, lo, hi, shift, _LONG_RUN)

        if not all(for_blocks(finish, keys.size, grain=_GRAIN)):
            # What was done so far kept ties in their order, so starting from here is still a stable sort.
            keys, payload = _radix_sort(keys, payload, 0, bits)
    return keys, payload


def _float_order(scores: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Whole numbers in the order of the floats, their smallest and their largest."""
    integer = np.int64 if scores.dtype == np.float64 else np.int32
    bits = np.ascontiguousarray(scores).view(integer)
    ordered = np.empty(bits.size, dtype=np.int64)
    magnitude = np.int64(np.iinfo(integer).max)

    def mirror(lo: int, hi: int) -> tuple[int, int]:
        return _mirror_negatives(bits[lo:hi], magnitude, ordered[lo:hi])

    ranges = for_blocks(mirror, bits.size, grain=_GRAIN)
    return ordered, int(min(r[0] for r in ranges)), int(max(r[1] for r in ranges))


class FallingScores:
    """A float32, float64 or int64 vector sorted from the largest score down, with a payload carried along.

    Attributes: `keys`, distances from the largest score in rounding steps, rising, equal exactly where the scores are;
    `payload`, in the same order. `score(places)` gives the scores back; `finite` says whether all of them are.
    """

    def __init__(self, scores: np.ndarray, payload: np.ndarray) -> None:
        self.dtype = scores.dtype
        if scores.dtype == np.int64:
            ordered, low, self.high = scores.copy(), int(scores.min()), int(scores.max())
            self.finite = True
        else:
            ordered, low, self.high = _float_order(scores)
            infinity = 0x7FF0000000000000 if scores.dtype == np.float64 else 0x7F800000
            self.finite = -infinity < low and self.high < infinity
        if self.finite:
            # Modulo 2⁶⁴ the difference is right even where it would overflow int64.
            keys = np.subtract(np.uint64(self.high % 2**64), ordered.view(np.uint64), out=ordered.view(np.uint64))
            self.keys, self.payload = sort_rising(keys, payload.copy(), (self.high - low).bit_length())

    def score(self, places: np.ndarray) -> np.ndarray:
        """The scores at the given places of the order."""
        ordered = (np.uint64(self.high % 2**64) - self.keys[places]).view(np.int64)
        if self.dtype == np.int64:
            return ordered
        integer = np.int64 if self.dtype == np.float64 else np.int32
        sign = np.int64(np.iinfo(integer).min)
        return np.where(ordered < 0, -ordered | sign, ordered).astype(integer).view(self.dtype)
