"""Kernels are compiled with our own flags and drafts, and in Numba's own way where these do not fit."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.kernel import compiler as kernel_compiler

if not compilation_enabled():
    pytest.skip("nothing is compiled", allow_module_level=True)

import numba
from numba.core.compiler import Flags


@kernel
def power(x, n):
    """Calls itself."""
    return 1.0 if n == 0 else x * power(x, n - 1)


@kernel
def powers(x, out):
    for k in range(out.size):
        out[k] = power(x, k)


@kernel
def half(x):
    return x / 2.0


@kernel
def halves(values):
    total = 0.0
    for i in range(values.size):
        total += half(values[i])
    return total


def settings():
    """Flags that are alike by default, by what is set, and not at all."""
    out = []
    for names in itertools.chain.from_iterable(
        itertools.combinations(("nrt", "no_compile", "noalias"), r) for r in (0, 1, 2)
    ):
        for value in (True, False):
            flags = Flags()
            for name in names:
                setattr(flags, name, value)
            out.append(flags)
    return out


def test_our_flags_are_equal_just_where_numbas_are():
    quick = kernel_compiler.quick_flags()
    for a, b in itertools.product(settings(), repeat=2):
        assert (quick(a) == quick(b)) == (a == b) == (quick(a) == b) == (a == quick(b))
        if a == b:
            assert hash(quick(a)) == hash(b)
    assert quick() != "flags"
    assert isinstance(quick(settings()[0]).copy(), quick)


@pytest.fixture
def pair(monkeypatch):
    """A kernel and one that calls it, not kept on disk."""
    monkeypatch.setenv("LEARNT_CACHE", "0")
    callee, caller = kernel(half.python), kernel(halves.python)
    caller.callees = lambda: {"half": callee}
    return callee, caller


def test_a_kernel_that_only_kernels_call_is_a_draft(pair):
    callee, caller = pair
    assert caller(np.arange(4.0)) == 3.0
    (result,) = callee.resolve_for_kernels().overloads.values()
    assert type(result.library).__name__ == "Draft"
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) == 0  # not loaded
    assert callee(3.0) == 1.5  # called from Python, it is compiled for it
    (result,) = callee.resolve().overloads.values()
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) != 0


def test_a_kernel_that_calls_itself_may_be_called_by_others():
    out = np.empty(5)
    powers(3.0, out)
    np.testing.assert_array_equal(out, [1, 3, 9, 27, 81])


@pytest.fixture
def other_insides(monkeypatch):
    """A Numba whose flags and libraries are not as we know them."""
    forget = kernel_compiler.quick_flags.cache_clear, kernel_compiler.compilers.cache_clear
    monkeypatch.setattr(kernel_compiler, "_STEPS", ("_a_step_that_it_does_not_have",))
    monkeypatch.setattr(Flags, "__hash__", lambda self: hash(self.summary()))
    for each in forget:
        each()
    yield
    for each in forget:
        each()


def test_numba_with_other_internals_compiles_in_its_default_way(other_insides, pair):
    assert kernel_compiler.quick_flags() is None
    assert len(set(kernel_compiler.compilers())) == 1
    callee, caller = pair
    assert caller(np.arange(4.0)) == 3.0
    (result,) = callee.resolve_for_kernels().overloads.values()
    assert type(result.library).__name__ != "Draft"


class Inner(NamedTuple):
    values: Any


class Outer(NamedTuple):
    scale: float
    weights: Any
    inner: Any


@kernel
def first_or(outer, default):
    """Reads what is not there, if it is compiled."""
    total, weights = default, outer.weights
    if weights is not None and outer.scale > 0.0:
        total += outer.scale * weights[0]
    if outer.inner is not None and outer.inner.values is not None:
        total += outer.inner.values[0]
    return total


@kernel
def through_another(outer, default):
    return first_or(Outer(2.0 * outer.scale, outer.weights, outer.inner), default)


def check_fields(fresh):
    some = np.array([3.0, 4.0])
    for outer, expected in [
        (Outer(2.0, some, Inner(some)), 10.0),
        (Outer(2.0, None, Inner(some)), 4.0),
        (Outer(2.0, some, Inner(None)), 7.0),
        (Outer(2.0, some, None), 7.0),
    ]:
        assert fresh(outer, 1.0) == first_or.python(outer, 1.0) == expected


def test_fields_that_are_none_are_not_compiled():
    check_fields(first_or)
    assert through_another(Outer(2.0, None, None), 1.0) == 1.0
    assert through_another(Outer(2.0, np.array([3.0]), None), 1.0) == 13.0


def test_fields_that_are_none_are_not_compiled_by_numba_with_other_insides(other_insides, monkeypatch):
    monkeypatch.setenv("LEARNT_CACHE", "0")
    check_fields(kernel(first_or.python))


def test_fields_in_another_order_are_another_entry():
    """Numba prints the class's name and the types of its fields, and nothing else."""
    one, two = NamedTuple("Pair", [("a", float), ("b", float)]), NamedTuple("Pair", [("b", float), ("a", float)])
    kinds = [numba.typeof(each(1.0, 2.0)) for each in (one, two)]
    assert str(kinds[0]) == str(kinds[1])
    assert kernel_cache.record_fields(kinds[0]) != kernel_cache.record_fields(kinds[1])
    nested = [numba.typeof((1.0, each(1.0, 2.0))) for each in (one, two)]
    assert kernel_cache.record_fields(nested[0]) != kernel_cache.record_fields(nested[1])
    assert kernel_cache.record_fields(numba.float64) == ""
