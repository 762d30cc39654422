"""Kernels that others call by their address, each compiled once for all of its callers.

    search = pointer_to(search_classes, 0, Kept(given))  # in Python: compiled for arguments of these types
    grow = pointer_to(grow_tree, Kept(given), search)
    enter(grow, given, search)                           # called, `given` being a NamedTuple that has its place now
    found = call(search, (node, given))                  # in a kernel, which was given both
    given.table, load(given.work)                        # an array; the tuple that is at a place inside

A large kernel that can do its work in several ways would be compiled anew for each combination of them. Given pointers
it is compiled once, each way is compiled once, when it is first asked for, and each is an entry of its own in the
disk cache. Such a call is never inlined: it is for what takes a whole node, column or block. A tuple of arrays is
dozens of words, which `enter` lays down in memory once; its place has the same fields, and only what is used is read.

A kernel called so returns an int64. Its arguments have the types of the first examples: `call` compares a hash of them
with one of the types that it passes, and raises TypeError where they differ.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from learnt.engine.kernel.cache import record_fields
from learnt.engine.kernel.decorator import Kernel, compilation_enabled, kernel
from learnt.engine.kernel.digest import hash_parts
from learnt.engine.kernel.intrinsics import Intrinsic
from learnt.engine.kernel.read_only import as_writable


class Pointer(NamedTuple):
    """Where a kernel's machine code begins, and a hash of its arguments' types."""

    address: int
    types: int


NOWHERE = Pointer(0, 0)  # which `call` refuses

_pointers: dict[Kernel, Pointer] = {}
_plain: list[Callable[..., Any]] = []  # without compilation an address is a place in this list
_making = threading.RLock()


def pointer_to(function: Kernel, *examples: Any) -> Pointer:
    """A pointer for kernels to `call`; compiles the kernel for the types of the first examples it is asked for with.

    >>> from learnt.engine.kernel import kernel
    >>> @kernel
    ... def twice(n):
    ...     return 2 * n
    >>> @kernel
    ... def then_one(function, n):
    ...     return call(function, (n,)) + 1
    >>> then_one(pointer_to(twice, 0), 20)
    41
    """
    found = _pointers.get(function)
    if found is None:
        with _making:
            found = _pointers.get(function)
            if found is None:
                made = _machine_code(function, examples) if compilation_enabled() else _list(function)
                found = _pointers[function] = made
    return found


def _machine_code(function: Kernel, examples: tuple) -> Pointer:
    from numba import typeof, types

    from learnt.engine.kernel.places import Place

    def kind_of(example: Any) -> Any:
        return Place(kind_of(example.values)) if isinstance(example, Kept) else typeof(as_writable(example))

    kinds = tuple(map(kind_of, examples))
    dispatcher: Any = function.resolve_for_pointers()
    dispatcher.compile(kinds)
    (made,) = dispatcher.overloads.values()
    if made.signature.return_type != types.int64:
        raise TypeError(f"{function.name} is called by its address and must return an int64, no {made.signature}.")
    return Pointer(made.library.get_pointer_to_function(made.fndesc.llvm_func_name), hash_types(kinds))


def _list(function: Kernel) -> Pointer:
    _plain.append(function.python)
    return Pointer(len(_plain) - 1, 0)


def hash_types(kinds: Any) -> int:
    """A number for the types of arguments."""
    return int(hash_parts([f"{kind}{record_fields(kind)}" for kind in kinds])[:15], 16)


class Kept(NamedTuple):
    """Stands among examples for the place of a tuple."""

    values: tuple


def _call(pointer, arguments):
    """What the kernel returns for a tuple of arguments."""
    return _plain[pointer.address](*arguments)


def _build_call() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def call(typing, pointer, arguments):
        kinds = tuple(types.unliteral(kind) for kind in arguments)
        expected = hash_types(kinds)

        def code(context, builder, signature, values):
            address, found = cgutils.unpack_tuple(builder, values[0])
            wrong = builder.icmp_signed("!=", found, found.type(expected))
            convention = context.call_conv
            with cgutils.if_unlikely(builder, wrong):
                convention.return_user_exc(builder, TypeError, (f"The kernel called does not take {kinds}.",))
            function = convention.get_function_type(types.int64, kinds).as_pointer()
            given = cgutils.unpack_tuple(builder, values[1])
            status, result = convention.call_function(
                builder, builder.inttoptr(address, function), types.int64, kinds, given
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return types.int64(pointer, types.Tuple(kinds)), code

    return call


def _keep(values):
    """The place of a NamedTuple, until the kernel returns."""
    return values


def _build_keep() -> Any:
    from numba.core import cgutils
    from numba.extending import intrinsic

    from learnt.engine.kernel.places import Place

    @intrinsic
    def keep(typing, values):
        def code(context, builder, signature, arguments):
            kind = signature.args[0]
            place = cgutils.alloca_once(builder, context.get_data_type(kind))
            context.pack_value(builder, kind, arguments[0], place)
            return place

        return Place(values)(values), code

    return keep


def _load(place):
    """The tuple that is at a place."""
    return place


def _build_load() -> Any:
    from numba.extending import intrinsic

    @intrinsic
    def load(typing, place):
        def code(context, builder, signature, arguments):
            return context.unpack_value(builder, signature.return_type, arguments[0])

        return place.dtype(place), code

    return load


call = Intrinsic(_call, _build_call)  # type: ignore[arg-type]
load = Intrinsic(_load, _build_load)  # type: ignore[arg-type]
keep = Intrinsic(_keep, _build_keep)  # type: ignore[arg-type]


@kernel(allocates=False, optimize=False)
def enter(function, given, ways, growth, state):
    """Call a kernel with the places of two NamedTuples."""
    return call(function, (keep(given), ways, keep(growth), state))
