"""Read-only arrays are read by the kernels that were compiled for writable ones, and stay as they are."""

from typing import NamedTuple

import numpy as np
import pytest

from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.kernel.read_only import as_writable


class Pair(NamedTuple):
    values: np.ndarray
    weights: np.ndarray | None


@kernel
def add_up(pair, table, out):
    out[0] = 0.0
    for i in range(pair.values.shape[0]):
        out[0] += pair.values[i] * table[i, 0]
    return out[0]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def test_no_second_compilation():
    values, table, out = np.arange(4.0), np.ones((4, 2)), np.empty(1)
    expected = add_up(Pair(values, None), table, out)
    for given in ((read_only(values), table), (values, read_only(table)), (read_only(values), read_only(table))):
        out[0] = np.nan
        assert add_up(Pair(given[0], None), given[1], out) == expected == out[0] == 6.0
    if compilation_enabled():
        assert len(add_up.resolve().overloads) == 1


def test_of_a_read_only_array_alone_the_writable_form_is_compiled():
    @kernel
    def first(values):
        return values[0]

    kept = read_only(np.arange(2, 5))
    assert first(kept) == 2
    assert not kept.flags.writeable
    if compilation_enabled():
        assert [types[0].mutable for types in first.resolve().overloads] == [True]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "c16"])
@pytest.mark.parametrize("layout", [np.s_[:], np.s_[::2], np.s_[:0], np.s_[:, 1]])
def test_the_view_is_of_the_same_cells(dtype, layout):
    kept = read_only(np.arange(12).reshape(6, 2).astype(dtype))[layout]
    seen = as_writable(kept)
    assert seen.flags.writeable
    assert (seen.dtype, seen.shape, seen.strides) == (kept.dtype, kept.shape, kept.strides)
    assert seen.__array_interface__["data"][0] == kept.__array_interface__["data"][0]
    np.testing.assert_array_equal(seen, kept)


def test_what_holds_no_read_only_numbers_is_itself():
    words, writable = read_only(np.array(["a", "b"])), np.zeros(2)
    for value in (words, writable, Pair(writable, None), (writable, words), 3, None):
        assert as_writable(value) is value


def test_tuples_of_any_kind_are_looked_into():
    kept = read_only(np.arange(3.0))
    number, (pair,) = as_writable((1, (Pair(kept, None),)))
    assert number == 1
    assert isinstance(pair, Pair)
    assert pair.values.flags.writeable
    assert np.shares_memory(pair.values, kept)
    assert not kept.flags.writeable


def test_the_memory_lives_as_long_as_the_view():
    seen = as_writable(read_only(np.arange(1000.0)))
    assert np.arange(1000.0).tolist() == seen.tolist()
