"""Work that Numba's compiler does again and again for a kernel, done once.

How an operator or a function of Numba's is typed for numbers and arrays is the same in every kernel: it is remembered.
So is the size of a type, for which LLVM parses a module each time. After every change of a function Numba computes the
lifetimes of its variables, which are read only before the function is lowered: until then they wait for a reader.

Together a fifth of the compiler's time; what LLVM is given stays the same, letter by letter. Where Numba's internals
are not those known here, it does its work as it always does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any


def remembering(context: Any, flags: Any) -> Any:
    """A typing context that shares all of Numba's, and remembers how functions of numbers and arrays are typed.

    There is one for each set of flags: functions that Numba has written in Python are compiled with those of the kernel
    that calls them.
    """
    try:
        from numba.core import types

        known = isinstance(context.__dict__, dict) and callable(context._lookup_global)
        known = known and callable(context.resolve_function_type) and callable(types.Function.get_impl_key)
        return _remembering(context, flags.summary()) if known else context
    except (ImportError, AttributeError):
        return context


@functools.cache
def _remembering(context: Any, flags: str) -> Any:
    from numba.core import types

    memo: dict[tuple[int, ...], tuple[Any, ...]] = {}

    def is_plain(what: Any) -> bool:
        if isinstance(what, types.UniTuple):
            return is_plain(what.dtype)
        if isinstance(what, (types.IntegerLiteral, types.BooleanLiteral)):
            return True
        return isinstance(what, (types.Number, types.Boolean, types.Array, types.NoneType)) and what.is_precise()

    def is_lasting(function: Any) -> bool:
        """Whether it is not made anew for each call, as the functions behind `np.int64(…)` are."""
        return isinstance(function, types.NumberClass) or context._lookup_global(function.typing_key) is function

    class Remembering(type(context)):  # type: ignore[misc]
        def __init__(self) -> None:
            self.__dict__ = context.__dict__

        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            function = func if isinstance(func, types.Type) else self._lookup_global(func)
            if kws or type(function) not in (types.Function, types.NumberClass):
                return super().resolve_function_type(func, args, kws)
            key = id(function), *map(id, args)  # types are unique, and those in the memo live as long as it
            implementations = getattr(function, "_impl_keys", {})
            if key in memo:
                signature, implementation = memo[key][:2]
                if implementation is not None:
                    implementations[signature.args] = implementation
                return signature
            signature = super().resolve_function_type(func, args, kws)
            if signature is not None and all(map(is_plain, args)) and is_lasting(function):
                memo[key] = signature, implementations.get(signature.args), function, args
            return signature

    return Remembering()


_sizes: dict[tuple[str, str], int] = {}


def remember_sizes(target: Any) -> None:
    """Have a target context of our own remember the sizes of types."""
    try:
        layout, measure = str(target.target_data), target.get_abi_sizeof
    except AttributeError:
        return

    def size_of(what: Any) -> int:
        name = str(what)
        if "%" in name:  # the name of a type that is defined elsewhere
            return measure(what)
        if (layout, name) not in _sizes:
            _sizes[layout, name] = measure(what)
        return _sizes[layout, name]

    target.get_abi_sizeof = size_of


@functools.cache
def lazy_lifetimes() -> Any:
    """Numba's module of post-processing, with lifetimes of variables found out when asked for; None: not known."""
    try:
        from numba.core import postproc, transforms

        canonical, lifetime = transforms.canonicalize_cfg, postproc.VariableLifetime
        whole = postproc.PostProcessor
    except (ImportError, AttributeError):
        return None

    class PostProcessor(whole):  # type: ignore[valid-type, misc]
        def run(self, emit_dels: bool = False, **options: Any) -> None:
            code = self.func_ir
            if emit_dels or options or code.is_generator:
                super().run(emit_dels, **options)
                return
            code.blocks = canonical(code.blocks)
            code.variable_lifetime = lifetime(code.blocks)
            code.generator_info = None

    return SimpleNamespace(PostProcessor=PostProcessor)


def with_lazy_lifetimes(run_pass: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of a pass, which sees `lazy_lifetimes` as its post-processing."""
    lazy = lazy_lifetimes()
    if lazy is None or not isinstance(run_pass, FunctionType) or "postproc" not in run_pass.__globals__:
        return run_pass
    scope = {**run_pass.__globals__, "postproc": lazy}
    return FunctionType(run_pass.__code__, scope, run_pass.__name__, run_pass.__defaults__, run_pass.__closure__)
