"""How Numba is asked to compile a kernel: the same machine code for two thirds of the work.

Numba looks its own templates up by the flags of the compilation, tens of thousands of times for a large kernel, and
compares all forty of them by name each time. Ours compare what is set. And it turns every function into machine code,
also one that only other kernels call, whose code is compiled again as part of theirs: such a kernel is kept as a draft,
which is linked into its callers and optimised there.

Nothing of Numba's is changed, only what our own dispatchers use. Where its insides are not those known here, kernels
are compiled in its own way.
"""

from __future__ import annotations

import functools
from typing import Any

_STEPS = "_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "get_pointer_to_function"


@functools.cache
def quick_flags() -> type | None:
    """Flags that are compared by what is set; None: Numba's own."""
    try:
        from numba.core.compiler import Flags

        plain, other = Flags(), Flags()
        setattr(other, "no_compile", True)  # noqa: B010  (a property that type checkers do not see)
        known = isinstance(plain._values, dict) and hash(plain) == hash(other)
    except (ImportError, AttributeError):
        return None
    if not known:
        return None
    same = hash(plain)  # as Numba's own, which does not look at the values

    class QuickFlags(Flags):
        __slots__ = ()

        def __eq__(self, other: Any) -> Any:
            if not isinstance(other, Flags):
                return NotImplemented
            mine, theirs = self._values, other._values
            return mine == theirs or all(getattr(self, k) == getattr(other, k) for k in mine.keys() | theirs.keys())

        def __hash__(self) -> int:
            return same

    return QuickFlags


@functools.cache
def draft_compiler() -> Any:
    """The compiler of kernels that only kernels call; None: Numba's own."""
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import Compiler
    except ImportError:
        return None
    if not all(hasattr(JITCodeLibrary, name) for name in _STEPS) or not hasattr(Compiler, "compile_extra"):
        return None

    class NoMemory:
        """Stands for the code generator where a function is not loaded, and has no place for what it would keep."""

        def set_env(self, name: str, environment: Any) -> None: ...

    class Draft(JITCodeLibrary):
        """Code to be linked into that of others."""

        codegen = NoMemory()

        def _optimize_final_module(self) -> None: ...

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    class DraftCompiler(Compiler):
        def compile_extra(self, func: Any) -> Any:
            self.state.library = Draft(self.state.targetctx.codegen(), func.__qualname__)
            return super().compile_extra(func)

    return DraftCompiler


def compare_flags_quickly(dispatcher: Any) -> None:
    """Give a Numba dispatcher our flags."""
    flags = quick_flags()
    if flags is not None and hasattr(getattr(dispatcher, "_compiler", None), "_customize_flags"):
        dispatcher._compiler._customize_flags = flags
