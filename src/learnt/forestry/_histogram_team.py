"""A team of threads inside one compiled call: the leader says what is to be done, the others help while it lasts.

Growing a tree is hundreds of parallel steps of microseconds, too short to hand to a pool one by one. The leader
`post`s a step, does its own share and `gather`s; helpers spin on one word. A helper that comes late takes part from the
next step on, one that never comes is not missed: nothing can wait for a thread that does not run.

The word is step · 1024 + members: a helper that is not among the members of a step leaves it alone, so that the
leader may go on without looking back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from learnt.engine import kernel_cache
from learnt.engine.kernel import Kernel, compilation_enabled, kernel

WORD, DONE, JOINED, ARGUMENTS = 0, 8, 16, 24  # places in the team's array, a cache line apart
STOP = 0
_SPINS = 2000


class Intrinsic(Kernel):
    """A kernel of a few machine instructions that Numba has no Python for; `python` stands in without compilation."""

    def __init__(self, function: FunctionType, build: Callable[[], Any]) -> None:
        super().__init__(function, False)
        self._build = build

    def resolve(self) -> Callable[..., Any]:
        if self._run is None:
            self._run = self._build() if compilation_enabled() else self.python
        return self._run

    def digest(self) -> str:
        code = kernel_cache.code_parts(self._build)  # type: ignore[arg-type]
        return kernel_cache.hash_parts([self.name, sys.platform, *code])


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
    def let_others_run(typing):
        def code(context, builder, signature, arguments):
            if posix:
                kind = ir.FunctionType(ir.IntType(32), [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
            return context.get_dummy_value()

        return types.void(), code

    return let_others_run


def _build_prefetch() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing, array, index):
        def code(context, builder, signature, arguments):
            place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            pointer = cgutils.gep_inbounds(builder, place, arguments[1])
            pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [pointer, word(0), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, types.int64), code

    return prefetch


def _add(array, index, value):
    before = array[index]
    array[index] += value
    return before


def _load(array, index):
    return array[index]


def _store(array, index, value):
    array[index] = value


def _nothing(*_):
    return None


atomic_add = Intrinsic(_add, _build_add)  # type: ignore[arg-type]
atomic_load = Intrinsic(_load, _build_load)  # type: ignore[arg-type]
atomic_store = Intrinsic(_store, _build_store)  # type: ignore[arg-type]
let_others_run = Intrinsic(_nothing, _build_rest)  # type: ignore[arg-type]
prefetch = Intrinsic(_nothing, _build_prefetch)  # type: ignore[arg-type]


@kernel
def members(team):
    """How many work together now, the leader included."""
    return 1 + atomic_load(team, JOINED)


@kernel
def post(team, n_members):
    """The leader: the arguments are written, begin."""
    atomic_store(team, DONE, 0)
    step = (atomic_load(team, WORD) >> 10) + 1
    atomic_store(team, WORD, (step << 10) + n_members)


@kernel
def gather(team, n_members):
    """The leader: wait until every member has done its share."""
    spins = 0
    while atomic_load(team, DONE) < n_members - 1:
        spins += 1
        if spins > _SPINS:
            let_others_run()


@kernel
def next_step(team, last, me):
    """A helper: wait for a step that it is a member of; returns the word."""
    spins = 0
    while True:
        word = atomic_load(team, WORD)
        if word != last and (word & 1023) > me:
            return word
        last = word
        spins += 1
        if spins > _SPINS:
            let_others_run()
