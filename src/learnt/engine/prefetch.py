"""A hint to the processor, for kernels that read memory in an order it cannot guess."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from learnt.engine import kernel_cache
from learnt.engine.kernel import Kernel, compilation_enabled


class _Prefetch(Kernel):
    """One machine instruction that Numba has no Python for; nothing at all where nothing is compiled."""

    def resolve(self) -> Callable[..., Any]:
        if self._run is None:
            self._run = _build() if compilation_enabled() else self.python
        return self._run

    def digest(self) -> str:
        return kernel_cache.hash_parts([self.name, sys.platform, *kernel_cache.code_parts(_build)])  # type: ignore[arg-type]


def _build() -> Any:
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
            builder.call(function, [place, word(0), word(3), word(1)])  # to be read, and again, as data
            return context.get_dummy_value()

        return types.void(array, types.int64), code

    return prefetch


def _nothing(array, index):
    """array.ravel()[index] will be read soon; no index is wrong, for nothing is read yet."""


prefetch = _Prefetch(_nothing, False)  # type: ignore[arg-type]
