"""Scores in falling order, with their labels: a radix sort of the bits of floating-point numbers.

A float's bits, read as an integer, are in the order of the floats (once negatives are mirrored), so sorting needs
no comparison. Three passes over the 27 highest bits that differ leave next to nothing out of order; short runs that
agree in those bits are finished by insertion, and if a run is long, all bits are sorted. Keys are exact: two scores
one rounding step apart stay apart, and −0.0 ties with 0.0. The sort is stable, so its result is unique: blocks and
threads cannot change it.

Each key carries an entry of a payload array or, faster, a label in the key's lowest bit, if that is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks

DIGIT = 9  # bits a pass: 512 open places to write to is what caches and page tables bear
_BUCKETS = 1 << DIGIT
_PASSES = 3
_GRAIN = 1 << 18
_LONG_RUN = 48  # beyond this, insertion would cost more than the remaining passes


@kernel
def _mirror_negatives(bits, magnitude, out):
    """Integers in the order of the floats that `bits` belong to. Returns the smallest and the largest."""
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
def _around_zero(ordered):
    """The largest below 0 and the smallest above."""
    above = np.int64(9223372036854775807)
    below = -above
    for i in range(ordered.size):
        o = ordered[i]
        above = min(above, o if o > 0 else np.int64(9223372036854775807))
        below = max(below, o if o < 0 else np.int64(-9223372036854775807))
    return below, above


@kernel
def _make_keys(ordered, gap_above, gap_below, high, label, keys):
    """The distance of each from `high`, without the empty ranges around 0, and the label in the lowest bit."""
    for i in range(ordered.size):
        o = ordered[i]
        if o > 0:
            o -= gap_above
        elif o < 0:
            o += gap_below
        if label is None:  # decided when compiled
            keys[i] = high - o
        else:
            keys[i] = ((high - o) << 1) | label[i]


@kernel
def _histogram(keys, shift, counts):
    for i in range(keys.size):
        counts[(keys[i] >> shift) & np.uint64(511)] += 1


@kernel
def _scatter(keys, payload, shift, starts, out_keys, out_payload):
    for i in range(keys.size):
        key = keys[i]
        digit = (key >> shift) & np.uint64(511)
        place = np.uint64(starts[digit])
        starts[digit] += 1
        out_keys[place] = key
        if payload is not None:  # decided when compiled
            out_payload[place] = payload[i]


@kernel
def _finish_runs(keys, payload, start, stop, shift, ignored, longest):
    """Sort by insertion the runs that begin in [start, stop) and agree in the bits above `shift`.

    The lowest `ignored` bits do not count. Returns False where a run out of order is longer than `longest`.
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
            if keys[end] >> ignored < keys[end - 1] >> ignored:
                in_order = False
            end += 1
        if not in_order:
            if end - i > longest:
                return False
            for j in range(i + 1, end):
                key = keys[j]
                k = j
                while k > i and keys[k - 1] >> ignored > key >> ignored:
                    k -= 1
                for m in range(j, k, -1):
                    keys[m] = keys[m - 1]
                keys[k] = key
                if payload is not None:
                    carried = payload[j]
                    for m in range(j, k, -1):
                        payload[m] = payload[m - 1]
                    payload[k] = carried
        i = end
    return True


def _radix_sort(keys: np.ndarray, payload: Any, first: int, bits: int) -> tuple[np.ndarray, Any]:
    """Stable sort by the bits from `first` up, lowest digit first, a digit at a time."""
    n = keys.size
    spare_keys, spare_payload = np.empty_like(keys), None if payload is None else np.empty_like(payload)
    for low_bit in range(first, bits, DIGIT):
        keys, payload, spare_keys, spare_payload = _radix_pass(
            n, np.uint64(low_bit), keys, payload, spare_keys, spare_payload
        )
    return keys, payload


def _radix_pass(
    n: int, shift: np.uint64, keys: np.ndarray, payload: Any, out_keys: np.ndarray, out_payload: Any
) -> tuple[np.ndarray, Any, np.ndarray, Any]:
    """One digit; returns the sorted arrays, then the old ones, which may be written over."""
    counts = np.zeros((-(-n // _GRAIN), _BUCKETS), dtype=np.int64)
    for_blocks(lambda lo, hi: _histogram(keys[lo:hi], shift, counts[lo // _GRAIN]), n, grain=_GRAIN)
    flat = counts.ravel(order="F")  # digit by digit and, within a digit, block by block: a stable order
    starts = np.ascontiguousarray((np.cumsum(flat) - flat).reshape(_BUCKETS, -1).T)

    def scatter(lo: int, hi: int) -> None:
        part = None if payload is None else payload[lo:hi]
        _scatter(keys[lo:hi], part, shift, starts[lo // _GRAIN], out_keys, out_payload)

    for_blocks(scatter, n, grain=_GRAIN)
    return out_keys, out_payload, keys, payload


def sort_rising(keys: np.ndarray, payload: Any, bits: int, ignored: int = 0) -> tuple[np.ndarray, Any]:
    """uint64 `keys` below 2^bits in rising order, with `payload` (or None) carried along; ties keep their order.

    The lowest `ignored` bits are carried along and not compared. The given arrays are overwritten as workspace.
    """
    first = max(ignored, bits - _PASSES * DIGIT)
    keys, payload = _radix_sort(keys, payload, first, bits)
    if first > ignored:
        shift, below = np.uint64(first), np.uint64(ignored)

        def finish(lo: int, hi: int) -> bool:
            return _finish_runs(keys, payload, lo, hi, shift, below, _LONG_RUN)

        if not all(for_blocks(finish, keys.size, grain=_GRAIN)):
            # What was done so far kept ties in their order, so starting from here is still a stable sort.
            keys, payload = _radix_sort(keys, payload, ignored, bits)
    return keys, payload


class _Scale:
    """A strictly increasing map from scores to a narrow range of integers: its start, its end, and the range cut out.

    Between the smallest positive float and the largest negative one lie half of all floats. Where scores have both
    signs and none is among those, that range is cut out: the keys need some sixty bits instead of sixty-four.
    """

    def __init__(self, scores: np.ndarray) -> None:
        self.dtype = scores.dtype
        self.gap_above = self.gap_below = 0
        if scores.dtype == np.int64:
            self.ordered, self.low, self.high, self.finite = scores, int(scores.min()), int(scores.max()), True
            return
        wide = scores.dtype == np.float64
        integer, infinity = (np.int64, 0x7FF0000000000000) if wide else (np.int32, 0x7F800000)
        bits = np.ascontiguousarray(scores).view(integer)
        magnitude = np.int64(np.iinfo(integer).max)
        ordered = self.ordered = np.empty(bits.size, dtype=np.int64)

        def mirror(lo: int, hi: int) -> tuple[int, int]:
            return _mirror_negatives(bits[lo:hi], magnitude, ordered[lo:hi])

        ends = for_blocks(mirror, bits.size, grain=_GRAIN)
        low, high = int(min(end[0] for end in ends)), int(max(end[1] for end in ends))
        self.finite = -infinity < low and high < infinity
        if low < 0 < high:
            ends = for_blocks(lambda lo, hi: _around_zero(ordered[lo:hi]), bits.size, grain=_GRAIN)
            binade = 1 << (52 if wide else 23)  # kept on either side: 0 must not share its high bits with a score
            self.gap_above = max(0, int(min(end[1] for end in ends)) - binade)
            self.gap_below = max(0, -int(max(end[0] for end in ends)) - binade)
        self.low, self.high = self._closed(low), self._closed(high)

    def _closed(self, o: int) -> int:
        return o - self.gap_above if o > 0 else o + self.gap_below if o < 0 else 0

    def scores(self, ordered: np.ndarray) -> np.ndarray:
        """The scores of numbers whose gaps were taken out."""
        if self.dtype == np.int64:
            return ordered
        integer = np.int64 if self.dtype == np.float64 else np.int32
        sign = np.int64(np.iinfo(integer).min)
        above, below = ordered + np.int64(self.gap_above), np.int64(self.gap_below) - ordered
        bits = np.where(ordered > 0, above, np.where(ordered < 0, below | sign, 0))
        return bits.astype(integer).view(self.dtype)


class FallingScores:
    """A float32, float64 or int64 vector sorted from the largest score down, with a payload carried along.

    With `packed`, the payload holds zeros and ones and is stored in the lowest bit of the keys, if that is free.

    Attributes: `keys`, distances from the largest score, rising, equal exactly where the scores are (above the lowest
    bit, if `packed`); `payload`, in the same order (None, if `packed`); `finite`, whether all scores are: if not,
    nothing is sorted. `score(places)` gives scores back.
    """

    def __init__(self, scores: np.ndarray, payload: np.ndarray, *, packed: bool = False) -> None:
        scale = self._scale = _Scale(scores)
        self.finite = scale.finite
        if not self.finite:
            return
        bits = (scale.high - scale.low).bit_length()
        self.packed = packed and bits < 64
        keys = np.empty(scores.size, dtype=np.int64)

        def make(lo: int, hi: int) -> None:
            label = payload[lo:hi] if self.packed else None
            _make_keys(scale.ordered[lo:hi], scale.gap_above, scale.gap_below, scale.high, label, keys[lo:hi])

        with np.errstate(over="ignore"):  # differences modulo 2⁶⁴ are right; without compilation NumPy would warn
            for_blocks(make, keys.size, grain=_GRAIN)
        words = keys.view(np.uint64)
        if self.packed:
            self.keys, self.payload = sort_rising(words, None, bits + 1, ignored=1)
        else:
            self.keys, self.payload = sort_rising(words, payload.copy(), bits)

    def score(self, places: np.ndarray) -> np.ndarray:
        """The scores at the given places of the order."""
        below = self.keys[places] >> np.uint64(self.packed)
        return self._scale.scores((np.uint64(self._scale.high % 2**64) - below).view(np.int64))
