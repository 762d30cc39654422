"""Vectors of columns against their stand-ins in NumPy."""

from types import FunctionType

import numpy as np
import pytest

from learnt.engine.kernel import Kernel, kernel
from learnt.forestry.binned._row_vectors import (
    BYTE_LANES,
    MOST_IN_A_BYTE,
    MOST_OF_A_ROW,
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
    put_missing_first,
    read_four,
    sum_four,
    value_of,
)

SHIFT, BITS, MASK = 5, 2, 7  # a mark: a row, a weight of three bits, a class of two


def plain(function):
    """A kernel as it runs without compilation."""
    scope = {name: value.python if isinstance(value, Kernel) else value for name, value in globals().items()}
    return FunctionType(function.python.__code__, scope)


@kernel
def all_of_rows(table, step, column, marks, start, n, cuts, amounts, low, high, weights, inside, counts, sums):
    part = Part(step, column, start, n, SHIFT)
    row_range(table, marks, part, low, high)
    for more in range(2):
        row_counts(table, marks, part, Fields(BITS, MASK, 3, 1), cuts, np.int64(more), weights, inside)
        row_sums(table, marks, part, cuts, amounts, np.int64(more), counts, sums)


def marks_of(rng, rows):
    return (rows << SHIFT | rng.integers(1, 8, size=len(rows)) << BITS | rng.integers(3, size=len(rows))).astype(
        np.uint32
    )


@pytest.mark.parametrize("n", [1, 2, 20])
def test_rows_of_all_columns_at_once(n):
    rng = np.random.default_rng(n)
    d, column, start = 3 * BYTE_LANES - 5, 2 * BYTE_LANES - 5, 3
    table = rng.integers(0, 9, size=(40, d)).astype(np.uint8)
    marks = marks_of(rng, rng.permutation(40)[:30])
    cuts, amounts = rng.integers(0, 9, size=d).astype(np.uint8), rng.integers(-1023, 1024, size=30).astype(np.int16)
    found = []
    for function in (all_of_rows, plain(all_of_rows)):
        out = [np.full(d, 7, dtype) for dtype in (np.uint8, np.uint8, np.int32, np.int32, np.int32, np.float32)]
        function(table, d, column, marks, start, n, cuts, amounts, *out)
        found.append(out)
    for ours, other in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, other)
        assert (ours[:column] == 7).all()  # nothing else was written to
        assert (ours[column + BYTE_LANES :] == 7).all()
    part = table[marks[start : start + n] >> SHIFT, column : column + BYTE_LANES]
    left = part <= cuts[column : column + BYTE_LANES]
    sums = 2.0 * (left * amounts[start : start + n, None].astype(int)).sum(axis=0)  # was added twice
    np.testing.assert_array_equal(found[0][-1][column : column + BYTE_LANES], sums)


@kernel
def all_of_four(table, step, marks, start, n, heaps, copied, drawn, sums, values):
    read_four(table, step, marks, start, n, np.int64(SHIFT), copied, drawn)
    put_missing_first(copied, np.int64(2), n)
    sum_four(copied, heaps, np.int64((heaps.shape[0] - 1) * heaps.shape[1]), n, drawn)
    for b in range(FOUR):
        sums[b, 0], sums[b, 1] = drawn[b, WEIGHT], drawn[b, TOTAL]
    count_four(copied, marks, start, n, np.int64(BITS), np.int64(MASK), np.int64(3), np.int64(1), drawn)
    for i in range(n):
        values[i] = value_of(copied, np.int64(2), np.int64(i))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 7, 100])
def test_four_columns_side_by_side(n, weighted):
    rng = np.random.default_rng(n)
    table = rng.normal(size=(200, 9)).astype(np.float32)
    table[rng.random(table.shape) < 0.1] = np.nan
    table[:, 5] = np.nan
    marks = marks_of(rng, rng.permutation(200)[:120])
    heaps = rng.normal(size=(1 + weighted, 120))
    columns, cuts = [8, 0, 3, 5], np.array([0.1, -0.3, 0.2, 0.0], np.float32)
    found = []
    for function in (all_of_four, plain(all_of_four)):
        drawn = np.zeros((FOUR, N_DRAWN), np.int64)
        drawn[:, COLUMN], drawn[:, CUT] = columns, cuts.view(np.int32)
        out = np.zeros((5, n), np.int32), drawn, np.zeros((FOUR, 2), np.int64), np.zeros(n, np.float32)
        function(table.view(np.int32), 9, marks, 11, n, heaps, *out)
        found.append(out)
    (copied, drawn, sums, values), (plain_copied, plain_drawn, plain_sums, plain_values) = found
    np.testing.assert_array_equal(copied[:FOUR], plain_copied[:FOUR])
    np.testing.assert_array_equal(drawn, plain_drawn)
    bound = 2 * n * np.finfo(float).eps * np.abs(heaps[:, :n]).sum(axis=1).max()  # two orders of n terms
    np.testing.assert_allclose(sums.view(np.float64), plain_sums.view(np.float64), rtol=0, atol=bound)
    np.testing.assert_array_equal(values, plain_values)
    part = table[marks[11 : 11 + n] >> SHIFT][:, columns]
    np.testing.assert_array_equal(drawn[:, ABSENT], np.isnan(part).sum(axis=0))
    low = drawn[:, LOW].astype(np.int32).view(np.float32)
    high = drawn[:, HIGH].astype(np.int32).view(np.float32)
    np.testing.assert_array_equal(low[:2], np.nanmin(part[:, :2], axis=0))
    np.testing.assert_array_equal(high[:2], np.nanmax(part[:, :2], axis=0))
    left = part <= cuts
    left[:, 2] |= np.isnan(part[:, 2])
    np.testing.assert_array_equal(drawn[:, ROWS], left.sum(axis=0))


@kernel
def four_without_weights(copied, marks, n, drawn):
    zero = np.int64(0)
    count_four(copied, marks, zero, n, zero, zero, np.int64(3), np.int64(1), drawn)


@pytest.mark.parametrize("n", [1, 7, 100])
def test_four_columns_count_rows_where_there_is_no_mask(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=(n, FOUR)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = np.nan
    marks = marks_of(rng, rng.permutation(200)[:n])
    cuts = np.array([0.1, -0.3, np.inf, -np.inf], np.float32)
    left = values <= cuts
    for function in (four_without_weights, plain(four_without_weights)):
        drawn = np.zeros((FOUR, N_DRAWN), np.int64)
        drawn[:, CUT] = cuts.view(np.int32)
        function(values.view(np.int32), marks, n, drawn)
        np.testing.assert_array_equal(drawn[:, ROWS], left.sum(axis=0))
        np.testing.assert_array_equal(drawn[:, WEIGHT], left.sum(axis=0))  # each row weighs 1
        np.testing.assert_array_equal(drawn[:, TOTAL], left[marks & 3 == 1].sum(axis=0))


@kernel
def counts_without_weights(table, step, marks, n, cuts, weights, inside, amounts, counts, sums):
    zero = np.int64(0)
    row_counts(table, marks, Part(step, 0, 0, n, SHIFT), Fields(0, 0, 3, 1), cuts, zero, weights, inside)
    row_sums(table, marks, Part(step, 0, 0, min(n, ROWS_A_SUM), SHIFT), cuts, amounts, zero, counts, sums)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_most_that_a_call_adds_up_fits(sign):
    n = MOST_IN_A_BYTE
    table = np.zeros((n, BYTE_LANES), np.uint8)
    table[:, 1::2] = 255
    marks = (np.arange(n) << SHIFT | 1).astype(np.uint32)  # all of class 1; without a mask each weighs 1
    cuts = np.zeros(BYTE_LANES, np.uint8)
    amounts = np.full(n, sign * MOST_OF_A_ROW, np.int16)
    found = []
    for function in (counts_without_weights, plain(counts_without_weights)):
        weights, inside, counts = np.zeros((3, BYTE_LANES), np.int32)
        sums = np.zeros(BYTE_LANES, np.float32)
        function(table, BYTE_LANES, marks, n, cuts, weights, inside, amounts, counts, sums)
        found.append((weights, inside, counts, sums))
    left = table[0] == 0
    for ours in found:
        for amount, expected in zip(ours, (n, n, ROWS_A_SUM, sign * ROWS_A_SUM * MOST_OF_A_ROW), strict=True):
            np.testing.assert_array_equal(amount, np.where(left, expected, 0))
