"""How Numba is configured to compile a kernel: the same machine code for two thirds of the work.

Numba looks its own templates up by the flags of the compilation, tens of thousands of times for a large kernel, and
compares all forty of them by name each time. Ours compare only those that are set. Numba also turns every function into
machine code, also one that only other kernels call, whose code is compiled again as part of theirs: such a kernel is
kept as a draft, which is linked into its callers and optimised there.

Arguments may be NamedTuples, also of NamedTuples. Numba leaves out `if x is not None:` where an argument is None; ours
leaves it out where a field of such a tuple is None as well, so that what a call does not use is not compiled.

Nothing of Numba's is changed, only what our own dispatchers use. Where its internals are not those known here, kernels
are compiled in Numba's default way, with fields that are None still left out.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from learnt.engine.kernel.shortcuts import remember_sizes, remembering, with_lazy_lifetimes

# Numba's passes for `with` blocks, functions made inside functions, literal arguments, and parallel loops.
_NEVER_NEEDED = {
    "with_lifting",
    "inline_inlinables",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "dump_parfor_diagnostics",
}
_POST_PROCESSED = {"ir_processing", "reconstruct_ssa", "strip_phis"}
_NO_EXPRESSIONS = {"getitem", "static_getitem", "typed_getitem"}  # read a part of an array, and compute none
_FOR_CLOSURES = {"inline_closure_likes", "make_function_op_code_to_jit_function"}
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
    same = hash(plain)  # as for Numba's own flags, whose hash ignores the values

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
def without_fields_that_are_none() -> Any:
    """Numba's compiler, which also prunes branches on NamedTuple fields that are None.

    Uses only what Numba's manual documents under "Customizing the Compiler".
    """
    from numba.core import ir, types
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import FunctionPass, register_pass
    from numba.core.untyped_passes import IRProcessing

    def field_type(code: Any, arguments: Any, value: Any) -> Any:
        """The type of an argument, or of a field of it; None where it is another value."""
        if isinstance(value, ir.Var):
            made = code._definitions[value.name]
            return field_type(code, arguments, made[0]) if len(made) == 1 else None
        if isinstance(value, ir.Arg):
            return arguments[value.index]
        if isinstance(value, ir.Expr) and value.op == "getattr":
            record = field_type(code, arguments, value.value)
            names = record.fields if isinstance(record, types.BaseNamedTuple) else ()  # type: ignore[attr-defined]
            return record[names.index(value.attr)] if value.attr in names else None
        return None

    @register_pass(mutates_CFG=False, analysis_only=False)
    class FieldsThatAreNone(FunctionPass):
        """Replace reads of such a field by the constant None, which the passes that follow then prune."""

        _name = "learnt_fields_that_are_none"

        def __init__(self) -> None:
            FunctionPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            code = state.func_ir
            if not any(isinstance(each, types.BaseNamedTuple) for each in state.args):
                return False
            for block in code.blocks.values():
                for step in block.find_insts(ir.Assign):
                    value = step.value
                    if not (isinstance(value, ir.Expr) and value.op == "getattr"):
                        continue
                    if isinstance(field_type(code, state.args, value), types.NoneType):
                        step.value = ir.Const(None, value.loc)
                        made = code._definitions[step.target.name]
                        made[made.index(value)] = step.value
            return True

    class FieldsCompiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.add_pass_after(FieldsThatAreNone, IRProcessing)
            manager.finalize()
            return [manager]

    return FieldsCompiler


@functools.cache
def compilers() -> tuple[Any, Any]:
    """The compiler of kernels that Python calls and that of kernels that only kernels call."""
    plain = without_fields_that_are_none()
    try:
        from numba.core import types
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler_machinery import PassManager, register_pass
        from numba.core.typed_passes import NopythonRewrites
    except ImportError:
        return plain, plain
    if not all(hasattr(JITCodeLibrary, name) for name in _STEPS) or not hasattr(plain, "compile_extra"):
        return plain, plain

    class NoMemory:
        """Replaces the code generator where a function is not loaded, and stores nothing."""

        def set_env(self, name: str, environment: Any) -> None: ...

    class Draft(JITCodeLibrary):
        """Code to be linked into that of others, and optimised there."""

        codegen = NoMemory()

        def _optimize_final_module(self) -> None: ...

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class RewriteArrayExpressions(NopythonRewrites):
        """Numba's pass, run only where an expression makes an array."""

        _name = "learnt_array_expressions"

        def run_pass(self, state: Any) -> bool:
            made = (sign for step, sign in state.calltypes.items() if getattr(step, "op", "") not in _NO_EXPRESSIONS)
            needed = any(sign is not None and isinstance(sign.return_type, types.Array) for sign in made)
            return super().run_pass(state) if needed else False

    quick_passes: dict[Any, Any] = {NopythonRewrites: RewriteArrayExpressions}

    def quick(step: Any) -> Any:
        """The same pass without post-processing that nobody needs."""
        if step not in quick_passes:
            quick_passes[step] = step
            if step.name() in _POST_PROCESSED:
                run_pass = with_lazy_lifetimes(step.run_pass)
                new = type(step.__name__, (step,), {"run_pass": run_pass, "_name": f"learnt_{step.name()}"})
                quick_passes[step] = register_pass(mutates_CFG=True, analysis_only=False)(new)
        return quick_passes[step]

    class KernelCompiler(plain):  # type: ignore[valid-type, misc]
        """Leaves out the passes that a function over arrays and numbers does not need."""

        def compile_extra(self, func: Any) -> Any:
            self.state.typingctx = remembering(self.state.typingctx, self.state.flags)
            remember_sizes(self.state.targetctx)
            with rare_garbage_collection():
                return super().compile_extra(func)

        def define_pipelines(self) -> list[Any]:
            code = self.state.func_id.func.__code__
            left_out = _NEVER_NEEDED
            if "array" not in code.co_names and not any(hasattr(value, "co_code") for value in code.co_consts):
                left_out = _NEVER_NEEDED | _FOR_CLOSURES
            manager = PassManager("kernel")
            for step, why in super().define_pipelines()[0].passes:
                if step.name() not in left_out:
                    manager.add_pass(quick(step), why)
            manager.finalize()
            return [manager]

    class DraftCompiler(KernelCompiler):
        def compile_extra(self, func: Any) -> Any:
            self.state.library = Draft(self.state.targetctx.codegen(), func.__qualname__)
            return super().compile_extra(func)

    return KernelCompiler, DraftCompiler


_collecting = threading.Lock()
_compiling = 0


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect garbage rarely.

    A compiler makes millions of objects that live until it is done, so collection frees almost nothing.
    """
    global _compiling
    with _collecting:
        _compiling += 1
        first = _compiling == 1 and gc.isenabled()
        if first:
            gc.disable()
    try:
        yield
    finally:
        with _collecting:
            _compiling -= 1
        if first:
            gc.enable()


def compare_flags_quickly(dispatcher: Any) -> None:
    """Give a Numba dispatcher our flags."""
    flags = quick_flags()
    if flags is not None and hasattr(getattr(dispatcher, "_compiler", None), "_customize_flags"):
        dispatcher._compiler._customize_flags = flags


# Callbacks for kernels compiled for calls from Python: at the start with the kernel's name, at the end with its name,
# argument types and processor time, callees included.
when_begun: list[Callable[[str], None]] = []
when_done: list[Callable[[str, str, float], None]] = []


@functools.cache
def watch_numba() -> None:
    """Listen to Numba's compilation events if there is a callback or a log."""
    if path := os.environ.get("LEARNT_COMPILE_LOG"):  # benchmarks/compile_time.py
        when_done.append(functools.partial(_log, path))
    if not when_begun and not when_done:
        return
    from numba.core import event

    class Listener(event.Listener):
        running = threading.local()

        def on_start(self, event: Any) -> None:
            depth = self.running.depth = getattr(self.running, "depth", 0) + 1
            if depth == 1:
                self.running.began = time.thread_time()
                for tell in when_begun:
                    tell(_kernel_name(event))

        def on_end(self, event: Any) -> None:
            self.running.depth -= 1
            if self.running.depth == 0:
                for tell in when_done:
                    tell(_kernel_name(event), str(event.data["args"]), time.thread_time() - self.running.began)

    event.register("numba:compile", Listener())


def _kernel_name(event: Any) -> str:
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__qualname__}"


def _log(path: str, name: str, types: str, seconds: float) -> None:
    line = json.dumps({"kernel": name, "types": types, "seconds": seconds, "process": os.getpid()})
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def locks() -> Iterator[Any]:
    """Numba's lock, and below it LLVM's, once Numba is imported."""
    if compiling := sys.modules.get("numba.core.compiler_lock"):
        yield from _inner(compiling, "global_compiler_lock", "_lock")
    if llvm := sys.modules.get("llvmlite.binding.ffi"):
        yield from _inner(llvm, "lib", "_lock", "_lock")


def _inner(place: Any, *names: str) -> Iterator[Any]:
    """The object at a dotted name, if it is a lock."""
    for name in names:
        place = getattr(place, name, None)
    if hasattr(place, "acquire") and hasattr(place, "release"):
        yield place
