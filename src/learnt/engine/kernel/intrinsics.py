"""Machine instructions that Numba does not offer, for kernels to call.

    prefetch                               load memory that will be read soon, in an order the processor cannot predict
    atomic_add, atomic_load, atomic_store  integers shared by several threads
    yield_processor                         yield the processor to another thread
    at_least, at_most                      max and min of two numbers in one instruction

A histogram of 32 columns over rows in no order, with prefetch: 1.0, 1.2 and 2.1 times as fast over 300, 3,000 and
30,000 rows on a Neoverse-N1 (arm64; benchmarks/intrinsics.py).

Without compilation, plain Python functions replace them, on one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from platform import machine
from types import FunctionType
from typing import Any

from learnt.engine.kernel import Kernel, compilation_enabled
from learnt.engine.kernel.digest import code_parts, hash_parts

_ARM = machine() in ("aarch64", "arm64")


class Intrinsic(Kernel):
    """A kernel of a few machine instructions that Numba does not offer; `python` replaces it without compilation."""

    def __init__(self, function: FunctionType, build: Callable[[], Any]) -> None:
        super().__init__(function, False)
        self._build = build

    def resolve(self) -> Callable[..., Any]:
        if self._run is None:
            self._run = self._build() if compilation_enabled() else self.python
        return self._run

    def resolve_for_kernels(self) -> Callable[..., Any]:
        return self.resolve()

    def digest(self) -> str:
        code = code_parts(self._build)  # type: ignore[arg-type]
        return hash_parts([self.name, sys.platform, *code])


def _build_add() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def atomic_add(typing, array, index, value):
        def code(context, builder, signature, arguments):
            place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            pointer = cgutils.gep_inbounds(builder, place, arguments[1])
            return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), code

    return atomic_add


def _build_load() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def atomic_load(typing, array, index):
        def code(context, builder, signature, arguments):
            place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.load_atomic(cgutils.gep_inbounds(builder, place, arguments[1]), "seq_cst", 8)

        return types.int64(array, types.int64), code

    return atomic_load


def _build_store() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def atomic_store(typing, array, index, value):
        def code(context, builder, signature, arguments):
            place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            builder.store_atomic(arguments[2], cgutils.gep_inbounds(builder, place, arguments[1]), "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), code

    return atomic_store


def _build_rest() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    posix = sys.platform != "win32"

    @intrinsic
    def yield_processor(typing):
        def code(context, builder, signature, arguments):
            if posix:
                kind = ir.FunctionType(ir.IntType(32), [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
            return context.get_dummy_value()

        return types.void(), code

    return yield_processor


def _build_prefetch() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing, array, index):
        def code(context, builder, signature, arguments):
            start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            place = builder.bitcast(cgutils.gep(builder, start, arguments[1]), ir.IntType(8).as_pointer())
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [place, word(0), word(3), word(1)])  # for reading, likely again, as data
            return context.get_dummy_value()

        return types.void(array, types.int64), code

    return prefetch


def _build_at_least() -> Any:
    return _bounded("<", "llvm.maximum")


def _build_at_most() -> Any:
    return _bounded(">", "llvm.minimum")


def _bounded(beyond: str, instruction: str) -> Any:
    """`bound` where x is `beyond` it, else x, also where x is NaN.

    A comparison and a choice are one instruction on x86_64 and two on arm64, which has one for LLVM's function.
    """
    from llvmlite import ir
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def bounded(typing, x, bound):
        def code(context, builder, signature, arguments):
            value, limit = arguments
            if not _ARM:
                return builder.select(builder.fcmp_ordered(beyond, value, limit), limit, value)
            kind = ir.FunctionType(value.type, [value.type, value.type])
            name = f"{instruction}.f{x.bitwidth}"
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

        return x(x, x), code

    return bounded


def _add(array, index, value):
    """array[index] += value; returns the value before."""
    before = array[index]
    array[index] += value
    return before


def _load(array, index):
    return array[index]


def _store(array, index, value):
    array[index] = value


def _yield():
    """Yield to another thread: nothing to do in plain Python."""


def _prefetch(array, index):
    """array.ravel()[index] will be read soon; any index is allowed, since nothing is read yet."""


def _at_least(x, bound):
    return max(x, bound)


def _at_most(x, bound):
    return min(x, bound)


atomic_add = Intrinsic(_add, _build_add)  # type: ignore[arg-type]
atomic_load = Intrinsic(_load, _build_load)  # type: ignore[arg-type]
atomic_store = Intrinsic(_store, _build_store)  # type: ignore[arg-type]
yield_processor = Intrinsic(_yield, _build_rest)  # type: ignore[arg-type]
prefetch = Intrinsic(_prefetch, _build_prefetch)  # type: ignore[arg-type]
at_least = Intrinsic(_at_least, _build_at_least)  # type: ignore[arg-type]
at_most = Intrinsic(_at_most, _build_at_most)  # type: ignore[arg-type]
