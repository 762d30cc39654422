"""A constant that is built into machine code is part of its name on disk, however the kernel comes to read it."""

import enum
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

from learnt.engine.kernel import Kernel
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel.digest import UnknownConstant

Pair = None
settings = types.ModuleType("settings")
settings.inner = types.ModuleType("settings.inner")
Mode = enum.IntEnum("Mode", {"FEW": 1})
CONSTANT = 2.0
callee = None  # each test has its own


def plain(x):
    return x * CONSTANT


def through_a_module(x):
    return x * settings.CONSTANT


def through_two_modules(x):
    return x * settings.inner.CONSTANT


def in_a_comprehension(x):
    return [x * CONSTANT for _ in range(2)][1]


def in_a_nested_function(x):
    def inner(y):
        return y * settings.CONSTANT

    return inner(x)


def in_a_function_of_its_own(x):
    return plain(x)


def with_closure(value):
    def enclosing(x):
        return x * value

    return enclosing


def with_default(value):
    def function(x, y=value):
        return x * y

    return function


def with_keyword(value):
    def function(x, *, y=value):
        return x * y

    return function


def digest(function):
    return Kernel(function, False).digest()


READERS = [plain, in_a_comprehension, through_a_module, through_two_modules, in_a_nested_function]
VALUES = [(2.0, 3.0), (2, 2.0), (np.float32(2), np.float64(2)), (0.0, -0.0), ((1, (2, 3)), (1, (2, 4)))]
LONG = np.zeros(5000)
CHANGED = np.where(np.arange(5000) == 2500, 1.0, 0.0)  # in the middle, which is not printed


def put(monkeypatch, value):
    for place in (sys.modules[__name__], settings, settings.inner):
        monkeypatch.setattr(place, "CONSTANT", value, raising=False)


@pytest.mark.parametrize("read", [*READERS, in_a_function_of_its_own], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("before", "after"),
    [*VALUES, (LONG, CHANGED), ((LONG,), (CHANGED,)), (np.ones((2, 2)), np.asfortranarray(np.ones((2, 2))))],
    ids=str,
)
def test_another_constant_is_another_kernel(monkeypatch, read, before, after):
    put(monkeypatch, before)
    first = digest(read)
    assert digest(read) == first
    put(monkeypatch, after)
    assert digest(read) != first


@pytest.mark.parametrize("make", [with_closure, with_default, with_keyword])
@pytest.mark.parametrize(("before", "after"), [*VALUES, (LONG, CHANGED)], ids=str)
def test_another_closure_or_default_is_another_kernel(make, before, after):
    assert digest(make(before)) == digest(make(before))
    assert digest(make(before)) != digest(make(after))


def test_a_member_of_an_enumeration_is_a_constant(monkeypatch):
    def few(x):
        return x * Mode.FEW

    first = digest(few)
    monkeypatch.setitem(few.__globals__, "Mode", enum.IntEnum("Mode", {"FEW": 3}))
    assert digest(few) != first


def test_the_fields_of_a_record_that_is_made_are_seen(monkeypatch):
    def swapped(x):
        return Pair(x, 0.0).a

    monkeypatch.setitem(swapped.__globals__, "Pair", NamedTuple("Pair", [("a", float), ("b", float)]))
    first = digest(swapped)
    monkeypatch.setitem(swapped.__globals__, "Pair", NamedTuple("Pair", [("b", float), ("a", float)]))
    assert digest(swapped) != first


def test_a_callee_in_a_comprehension_is_seen(monkeypatch):
    def caller(x):
        return [callee(x) for _ in range(2)][1]

    monkeypatch.setitem(caller.__globals__, "callee", Kernel(plain, False))
    first = digest(caller)
    monkeypatch.setitem(caller.__globals__, "callee", Kernel(through_a_module, False))
    put(monkeypatch, 2.0)
    assert digest(caller) != first
    assert Kernel(caller, False)(3.0) == 6.0


@pytest.mark.parametrize("read", READERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "value", [[1.0], {"a": 1}, object(), np.array([None])], ids=["list", "dict", "object", "array"]
)
def test_kernels_with_unknown_constants_are_not_cached(monkeypatch, read, value):
    put(monkeypatch, value)
    with pytest.raises(UnknownConstant, match="CONSTANT"):
        digest(read)


def test_a_kernel_with_an_unknown_constant_runs_and_is_not_cached(monkeypatch, tmp_path):
    import numba

    monkeypatch.setenv("LEARNT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(settings, "helper", numba.njit(lambda x: x + 1.0), raising=False)

    def through_numba(x):
        return settings.helper(x)

    def caller(x):
        return callee(x)

    monkeypatch.setitem(caller.__globals__, "callee", Kernel(through_numba, False))
    for _ in range(2):  # the second time, too: nothing half-told is remembered
        assert Kernel(caller, False)(1.0) == 2.0
    assert not list(tmp_path.glob("*.kernel"))
    refused = Kernel(caller, False)
    for _ in range(2):
        with pytest.raises(UnknownConstant):
            refused.digest()


def test_every_kernel_of_the_package_has_a_digest():
    import importlib
    import pkgutil

    import learnt

    kernels = []
    for found in pkgutil.walk_packages(learnt.__path__, "learnt."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            kernels += [value for value in vars(module).values() if isinstance(value, Kernel)]
    assert len({kernel.digest() for kernel in kernels}) > 300
    assert kernel_cache.folders()
