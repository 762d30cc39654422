"""What is remembered while kernels are compiled changes nothing in what is compiled."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from learnt.engine.kernel import compilation_enabled, kernel, shortcuts
from learnt.engine.kernel import compiler as kernel_compiler

if not compilation_enabled():
    pytest.skip("nothing is compiled", allow_module_level=True)

from numba.core.registry import cpu_target


@kernel(allocates=False)
def clamp(x, low):
    return max(x, low) if x < 4 else min(x, 2 * low)


@kernel
def mixed(values, counts, pair, out):
    """Operators of many types, literal and other places, a view, a loop with variables that are set again."""
    row = values[0]
    total, seen = 0.0, np.uint64(0)
    for i in range(row.size):
        x = row[i] * counts[i] + pair[0]
        if counts[i] > 1:
            x = clamp(x, 1.0)
            seen += np.uint64(counts[i])
        elif counts[i] != 0 and i % 2:
            x = -x
        else:
            continue
        total += x
        out[i] = x
    out[0] += total // 2.0
    return np.int64(seen) << pair[1], len(out), abs(total), out + 1.0


@kernel(reassociate=True, allocates=False)
def largest(values):
    top, total = values[0, 0], 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            top = max(top, values[i, j])
            total += values[i, j]
    return top, total


ARGUMENTS = {
    mixed: [
        (np.ones((2, 3), kind), np.arange(3, dtype=count), (2, 1), np.zeros(3))
        for kind in (np.float64, np.float32)
        for count in (np.int64, np.uint8)
    ],
    largest: [(np.ones((2, 3), kind),) for kind in (np.float64, np.int32)],
}


def compiled_anew(function, monkeypatch):
    """What LLVM is given and makes of a kernel for each kind of arguments, with functions numbered from 0."""
    monkeypatch.setenv("LEARNT_CACHE", "0")
    fresh = kernel(reassociate=function is largest, allocates=function is not largest)(function.python)
    callee = kernel(allocates=False)(clamp.python)
    fresh.callees = lambda: {"clamp": callee} if function is mixed else {}
    for arguments in ARGUMENTS[function]:
        fresh(*arguments)
    return [numbered(str(result.library.get_llvm_str())) for result in fresh.resolve().overloads.values()]


def numbered(text):
    """The same with other names for functions, constants and addresses, which each compilation numbers anew."""
    numbers = {}
    return re.sub(
        r"B\d+v\d+|array_expr_\w+|const\.0x\w+|i64 \d{9,}|\[\d+ x i8\]",
        lambda found: numbers.setdefault(found[0], f"name{len(numbers)}"),
        text,
    )


@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda function: function.__name__)
def test_the_code_is_the_same_without_them(function, monkeypatch):
    short = compiled_anew(function, monkeypatch) + compiled_anew(function, monkeypatch)
    assert len(set(short)) == len(ARGUMENTS[function])
    monkeypatch.setattr(kernel_compiler, "remembering", lambda context, flags: context)
    monkeypatch.setattr(kernel_compiler, "remember_sizes", lambda target: None)
    monkeypatch.setattr(kernel_compiler, "with_lazy_lifetimes", lambda run_pass: run_pass)
    kernel_compiler.compilers.cache_clear()
    try:
        assert set(compiled_anew(function, monkeypatch)) == set(short)
    finally:
        kernel_compiler.compilers.cache_clear()


def test_each_set_of_flags_has_its_own_memory():
    context, kind = cpu_target.typing_context, kernel_compiler.quick_flags()
    exact, loose = kind(), kind()
    loose.nrt = True
    one, other = (shortcuts.remembering(context, flags) for flags in (exact, loose))
    assert one is not other
    assert one is shortcuts.remembering(context, kind())
    assert one.__dict__ is other.__dict__ is context.__dict__


def test_with_other_internals_numba_works_as_it_does(monkeypatch):
    context, target = SimpleNamespace(), SimpleNamespace(target_data="")
    assert shortcuts.remembering(context, kernel_compiler.quick_flags()()) is context
    assert shortcuts.remembering(cpu_target.typing_context, None) is cpu_target.typing_context
    shortcuts.remember_sizes(target)
    assert vars(target) == {"target_data": ""}
    monkeypatch.setattr(shortcuts, "lazy_lifetimes", lambda: None)
    assert shortcuts.with_lazy_lifetimes(compiled_anew) is compiled_anew
