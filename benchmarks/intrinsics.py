"""Races the kernels written in machine instructions against the plain loops that would replace them.

    python benchmarks/intrinsics.py        # a table: nanoseconds a row of each, and plain / ours

Both compute the same, which is checked; they run in turns by the time of their thread, and the ratio is the median of
the rounds. A call from Python, about a microsecond, is part of both. Atomic operations
have no plain loop to race: without them threads would read each other's half-written numbers.
"""

from __future__ import annotations

import os
import statistics
import time

os.environ.setdefault("LEARNT_NUM_THREADS", "1")

import numpy as np
from machine import processor

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import prefetch
from learnt.forestry.binned._row_vectors import (
    BYTE_LANES,
    MOST_IN_A_BYTE,
    ROWS_A_SUM,
    Fields,
    Part,
    row_counts,
    row_range,
    row_sums,
)
from learnt.forestry.exact._four_columns import (
    ABSENT,
    COLUMN,
    CUT,
    FOUR,
    HIGH,
    LOW,
    N_DRAWN,
    ROWS,
    TOTAL,
    WEIGHT,
    count_four,
    read_four,
    sum_four,
)

SHIFT, BITS, MASK, LABELS = 5, 2, 7, 3  # a mark: a row, a weight of three bits, a class of two
ROUNDS = 15
FAR = 1 << 20  # rows of 64 bytes


@kernel
def ours_range(table, marks, n, low, high):
    row_range(table, marks, Part(table.shape[1], 0, 0, n, SHIFT), low, high)


@kernel
def plain_range(table, marks, n, low, high):
    low[:] = 255
    high[:] = 0
    for i in range(n):
        row = marks[i] >> SHIFT
        for j in range(BYTE_LANES):
            value = table[row, j]
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)


@kernel
def ours_counts(table, marks, n, cuts, weights, inside):
    step, part = table.shape[1], np.int64(MOST_IN_A_BYTE // MASK)
    for at in range(0, n, part):
        rows = Part(step, 0, at, min(part, n - at), SHIFT)
        row_counts(table, marks, rows, Fields(BITS, MASK, LABELS, 1), cuts, np.int64(at), weights, inside)


@kernel
def plain_counts(table, marks, n, cuts, weights, inside):
    weights[:] = 0
    inside[:] = 0
    for i in range(n):
        row = marks[i] >> SHIFT
        weight = np.int32((marks[i] >> BITS) & MASK)
        part = weight if marks[i] & LABELS == 1 else np.int32(0)
        for j in range(BYTE_LANES):
            left = table[row, j] <= cuts[j]
            weights[j] += weight if left else np.int32(0)
            inside[j] += part if left else np.int32(0)


@kernel
def ours_sums(table, marks, n, cuts, amounts, counts, sums):
    step, part = table.shape[1], np.int64(ROWS_A_SUM)
    for at in range(0, n, part):
        m = min(part, n - at)
        row_sums(table, marks, Part(step, 0, at, m, SHIFT), cuts, amounts, np.int64(at), counts, sums)


@kernel
def plain_sums(table, marks, n, cuts, amounts, counts, sums):
    counts[:] = 0
    sums[:] = 0
    for i in range(n):
        row = marks[i] >> SHIFT
        amount = np.float32(amounts[i])
        for j in range(BYTE_LANES):
            left = table[row, j] <= cuts[j]
            counts[j] += np.int32(1) if left else np.int32(0)
            sums[j] += amount if left else np.float32(0)


@kernel
def ours_read(table, marks, n, copied, drawn):
    zero = np.int64(0)
    read_four(table, np.int64(table.shape[1]), marks, zero, n, np.int64(SHIFT), copied, drawn)


@kernel
def plain_read(table, marks, n, columns, copied, low, high, absent):
    for b in range(FOUR):
        least, most, missing = np.float32(np.inf), np.float32(-np.inf), 0
        for i in range(n):
            value = table[marks[i] >> SHIFT, columns[b]]
            copied[b, i] = value
            least = value if value < least else least
            most = value if value > most else most
            missing += value != value
        low[b], high[b], absent[b] = least, most, missing


@kernel
def ours_count(copied, marks, n, drawn):
    zero = np.int64(0)
    count_four(copied, marks, zero, n, np.int64(BITS), np.int64(MASK), np.int64(LABELS), np.int64(1), drawn)


@kernel
def plain_count(copied, marks, n, cuts, rows, weights, inside):
    for b in range(FOUR):
        count, total, own = np.int32(0), np.int32(0), np.int32(0)
        for i in range(n):
            weight = np.int32((marks[i] >> BITS) & MASK)
            part = weight if marks[i] & LABELS == 1 else np.int32(0)
            left = copied[b, i] <= cuts[b]
            count += np.int32(1) if left else np.int32(0)
            total += weight if left else np.int32(0)
            own += part if left else np.int32(0)
        rows[b], weights[b], inside[b] = count, total, own


@kernel
def ours_sum(copied, heaps, n, drawn):
    sum_four(copied, heaps, np.int64(heaps.shape[1]), n, drawn)


@kernel
def plain_sum(copied, heaps, n, cuts, rows, weights, totals):
    for b in range(FOUR):
        count, weight, total = np.int32(0), 0.0, 0.0
        for i in range(n):
            left = copied[b, i] <= cuts[b]
            count += np.int32(1) if left else np.int32(0)
            weight += heaps[0, i] if left else 0.0
            total += heaps[1, i] if left else 0.0
        rows[b], weights[b], totals[b] = count, weight, total


@kernel
def ours_histogram(table, marks, n, amounts, out):
    """As boosting asks for rows ahead: one histogram a column, over rows in no order."""
    step, last = np.int64(table.shape[1]), n - 1
    for i in range(n):
        prefetch(table, np.int64(marks[min(i + 16, last)] >> SHIFT) * step)
        row = marks[i] >> SHIFT
        for j in range(BYTE_LANES):
            out[j, table[row, j]] += amounts[i]


@kernel
def plain_histogram(table, marks, n, amounts, out):
    for i in range(n):
        row = marks[i] >> SHIFT
        for j in range(BYTE_LANES):
            out[j, table[row, j]] += amounts[i]


def marks_of(rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    return (rows << SHIFT | rng.integers(1, 8, len(rows)) << BITS | rng.integers(3, size=len(rows))).astype(np.uint32)


def cases(n: int):
    """Name, ours, plain, and what says whether they found the same."""
    rng = np.random.default_rng(0)
    every = 4 * n  # a node has some of the rows, in no order
    marks = marks_of(rng, rng.permutation(every)[:n])
    table = rng.integers(0, 250, (every, 64)).astype(np.uint8)
    cuts = rng.integers(50, 200, 64).astype(np.uint8)
    lane = slice(0, BYTE_LANES)

    def pair(ours, plain, inputs, outputs):
        a, b = ([np.zeros(64, kind) for kind in outputs] for _ in range(2))

        def same():
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x[lane], y[lane])

        return lambda: ours(*inputs, *a), lambda: plain(*inputs, *b), same

    amounts = rng.integers(-1000, 1000, n).astype(np.int16)
    whole = np.int32
    yield "row_range", *pair(ours_range, plain_range, (table, marks, n), (np.uint8, np.uint8))
    yield "row_counts", *pair(ours_counts, plain_counts, (table, marks, n, cuts), (whole, whole))
    yield "row_sums", *pair(ours_sums, plain_sums, (table, marks, n, cuts, amounts), (whole, np.float32))

    numbers = rng.normal(size=(every, 20)).astype(np.float32)
    numbers[rng.random(numbers.shape) < 0.01] = np.nan
    columns, limits = np.array([3, 17, 8, 0]), rng.normal(size=FOUR).astype(np.float32)
    drawn = np.zeros((FOUR, N_DRAWN), np.int64)
    drawn[:, COLUMN], drawn[:, CUT] = columns, limits.view(np.int32)
    together, apart = np.zeros((n, FOUR), np.int32), np.zeros((FOUR, n), np.float32)
    found = [np.zeros(FOUR) for _ in range(3)]

    def agree(names, kinds):
        def same():
            for name, kind, expected in zip(names, kinds, found, strict=True):
                bits = drawn[:, name].astype(np.int32) if kind is np.float32 else drawn[:, name].copy()
                values = bits if kind is whole else bits.view(kind)
                np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13 * n)

        return same

    bits = numbers.view(np.int32)
    yield (
        "read_four",
        lambda: ours_read(bits, marks, n, together, drawn),
        lambda: plain_read(numbers, marks, n, columns, apart, *found),
        agree((LOW, HIGH, ABSENT), (np.float32, np.float32, whole)),
    )
    yield (
        "count_four",
        lambda: ours_count(together, marks, n, drawn),
        lambda: plain_count(apart, marks, n, limits, *found),
        agree((ROWS, WEIGHT, TOTAL), (whole, whole, whole)),
    )
    heaps = rng.normal(size=(2, n))
    yield (
        "sum_four",
        lambda: ours_sum(together, heaps, n, drawn),
        lambda: plain_sum(apart, heaps, n, limits, *found),
        agree((ROWS, WEIGHT, TOTAL), (whole, np.float64, np.float64)),
    )
    sums = np.zeros((2, BYTE_LANES, 256))
    spread = marks_of(rng, rng.permutation(FAR)[:n])
    far = np.tile(table, (FAR // every + 1, 1))  # more than the caches hold
    yield (
        "prefetch (histogram)",
        lambda: ours_histogram(far, spread, n, heaps[0], sums[0]),
        lambda: plain_histogram(far, spread, n, heaps[0], sums[1]),
        lambda: np.testing.assert_array_equal(sums[0], sums[1]),
    )


def seconds(work, repeat: int) -> float:
    began = time.thread_time()
    for _ in range(repeat):
        work()
    return (time.thread_time() - began) / repeat


def main(sizes=(300, 3_000, 30_000), rounds: int = ROUNDS) -> None:
    print(f"{processor()}; nanoseconds a row, and the median of plain / ours (its quartiles) over {rounds} rounds\n")
    print("| kernel | rows of a node | ours | plain | plain / ours |\n|---|---|---|---|---|")
    for n in sizes:
        for name, ours, plain, same in cases(n):
            ours(), plain()
            same()
            repeat = max(1, round(3e-3 / max(seconds(plain, 3), 1e-7)))
            pairs = [(seconds(ours, repeat), seconds(plain, repeat)) for _ in range(rounds)]
            ratios = sorted(b / a for a, b in pairs)
            low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
            a, b = (1e9 / n * statistics.median(side) for side in zip(*pairs, strict=True))
            middle = statistics.median(ratios)
            print(f"| {name} | {n} | {a:.2f} | {b:.2f} | **{middle:.2f}** ({low:.2f}–{high:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
