"""Kernels are compiled with our own flags and drafts, and in Numba's own way where these do not fit."""

import itertools

import numpy as np
import pytest

from learnt.engine import kernel_compiler
from learnt.engine.kernel import compilation_enabled, kernel

if not compilation_enabled():
    pytest.skip("nothing is compiled", allow_module_level=True)

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


def test_numba_with_other_insides_compiles_in_its_own_way(other_insides, pair):
    assert kernel_compiler.quick_flags() is None
    assert kernel_compiler.compilers() == (None, None)
    callee, caller = pair
    assert caller(np.arange(4.0)) == 3.0
    (result,) = callee.resolve_for_kernels().overloads.values()
    assert type(result.library).__name__ != "Draft"
