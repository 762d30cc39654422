"""Kernels called by their address: the same answers as called by name, and never with arguments of other types."""

from typing import NamedTuple

import numpy as np
import pytest

from learnt.engine.kernel import cache, compilation_enabled, kernel
from learnt.engine.kernel.pointers import NOWHERE, Kept, Pointer, call, enter, load, pointer_to

compiled = pytest.mark.skipif(not compilation_enabled(), reason="plain Python has no types to compare")


class Table(NamedTuple):
    values: np.ndarray
    names: np.ndarray
    scale: float


class Given(NamedTuple):
    step: int
    table: Table
    out: np.ndarray


class Ways(NamedTuple):
    add: Pointer
    other: Pointer


class Growth(NamedTuple):
    seen: np.ndarray


@kernel(allocates=False)
def add_scaled(k, given):
    table = given.table
    given.out[k] += table.scale * table.values[k, 1]
    return np.int64(table.names[k])


@kernel(allocates=False)
def add_squares(k, given):
    table = load(given.table)
    given.out[k] += table.values[k, 0] * table.values[k, 0]
    return np.int64(given.step)


@kernel(allocates=False)
def walk(given, ways, growth, state):
    total = np.int64(0)
    for k in range(given.out.size):
        growth.seen[k] = k
        total += call(ways.add if k % 2 else ways.other, (np.int64(k), given))
    state[0] = total
    return total


@kernel(allocates=False)
def returns_float(k):
    return 0.5 * k


def _given():
    rng = np.random.default_rng(0)
    table = Table(rng.normal(size=(6, 2)), np.arange(6, dtype=np.int32) * 10, 3.0)
    return Given(7, table, np.zeros(6)), Growth(np.zeros(6, np.int64)), np.zeros(1, np.int64)


def _walk(given, growth, state):
    ways = Ways(pointer_to(add_scaled, 0, Kept(given)), pointer_to(add_squares, 0, Kept(given)))
    return enter(pointer_to(walk, Kept(given), ways, Kept(growth), state), given, ways, growth, state)


def test_a_tuple_is_read_and_written_at_its_place():
    given, growth, state = _given()
    assert _walk(given, growth, state) == state[0] == 3 * 7 + 10 + 30 + 50
    values = given.table.values
    np.testing.assert_array_equal(given.out[::2], values[::2, 0] ** 2)
    np.testing.assert_array_equal(given.out[1::2], 3.0 * values[1::2, 1])
    np.testing.assert_array_equal(growth.seen, np.arange(6))


def test_read_only_arrays_have_the_same_types():
    given, growth, state = _given()
    given.table.values.flags.writeable = False
    assert _walk(given, growth, state) == 3 * 7 + 10 + 30 + 50


@compiled
def test_a_kernel_is_not_run_on_arguments_of_other_types():
    given, growth, state = _given()
    ways = Ways(NOWHERE, pointer_to(add_squares, 0, Kept(given)))
    grow = pointer_to(walk, Kept(given), ways, Kept(growth), state)
    with pytest.raises(TypeError, match="does not take"):
        enter(grow, given, ways, growth, state)
    single = given._replace(out=given.out.astype(np.float32))
    with pytest.raises(TypeError, match="does not take"):
        enter(grow, single, ways, growth, state)


@compiled
def test_what_is_returned_is_an_integer():
    with pytest.raises(TypeError, match="int64"):
        pointer_to(returns_float, 1)


@compiled
def test_each_is_an_entry_of_its_own_on_disk():
    given, growth, state = _given()
    _walk(given, growth, state)
    names = {name.partition("-")[0] for name in cache.used}
    assert {"add_scaled", "add_squares", "walk", "enter"} <= names or not cache.folders()
