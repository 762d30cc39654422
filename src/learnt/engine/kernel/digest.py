"""What decides a kernel's machine code, as text to be hashed.

That is a function's bytecode and every constant it reads: by name, through a module (`settings.STEPS`), in a nested
function or comprehension, from a closure, or as an argument's default. Numba builds their values into the machine
code, so one that is overlooked would leave old code in use after it has changed. Where the value of something that is
read cannot be determined, `UnknownConstant` is raised, and the kernel is not kept on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import EnumMeta
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_PLAIN = bool | int | float | complex | str | bytes | np.dtype | None
_NAMED = type | BuiltinFunctionType | np.ufunc
# Packages whose constants change with their versions only, which are part of an entry's name.
_VERSIONED = ("numpy", "math", "cmath")


class UnknownConstant(TypeError):
    """A function reads something whose value has no text representation."""


def hash_parts(parts: list[str]) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def names_read(function: FunctionType) -> list[str]:
    """The names of globals and attributes in a function and all that is defined inside it, each once."""
    return list(dict.fromkeys(name for code in _codes(function.__code__) for name in code.co_names))


def code_parts(function: FunctionType, known: type | tuple[()] = ()) -> list[str]:
    """The parts of a plain function that decide its machine code.

    Objects of type `known` (kernels) are left to the caller.
    """
    return _Reader(known).function(function)


class _Reader:
    """Collects what a function and the functions that it calls read."""

    def __init__(self, known: type | tuple[()]) -> None:
        self._known = known
        self._seen: set[FunctionType] = set()

    def function(self, function: FunctionType) -> list[str]:
        if function in self._seen:
            return []
        self._seen.add(function)
        parts = [part for code in _codes(function.__code__) for part in _bytecode(code)]
        parts.append(repr(function.__defaults__ and _text(function.__defaults__)))
        if function.__kwdefaults__:
            parts.append(_text(tuple(sorted(function.__kwdefaults__.items()))))
        names = names_read(function)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            parts += self.read(name, _content(name, cell), names)
        for name in names:
            if name in function.__globals__:
                parts += self.read(name, function.__globals__[name], names)
        return parts

    def read(self, name: str, value: Any, names: Iterable[str]) -> list[str]:
        """Collect the value behind a name; `names` are the attributes that may be read of it."""
        if isinstance(value, self._known):
            return []
        if isinstance(value, FunctionType):
            return [name, *self.function(value)]
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] in _VERSIONED:
                return []
            inside = [each for each in names if each in vars(value) and vars(value)[each] is not value]
            return [part for each in inside for part in self.read(f"{name}.{each}", vars(value)[each], names)]
        try:
            return [f"{name}={_text(value)}"]
        except UnknownConstant as error:
            raise UnknownConstant(f"{name} is {error}") from None


def _content(name: str, cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise UnknownConstant(f"{name} has no value yet") from None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _bytecode(code: CodeType) -> list[str]:
    parts = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    if code.co_freevars or code.co_exceptiontable:
        parts += [repr(code.co_freevars), code.co_exceptiontable.hex()]
    for constant in code.co_consts:
        if not isinstance(constant, CodeType):
            parts.append(_text(constant) if isinstance(constant, frozenset) else repr(constant))
    return parts


def _text(value: Any) -> str:
    """A constant in full: what is printed of a long array leaves out its middle."""
    if isinstance(value, np.generic):
        return f"{value.dtype}:{value!r}"
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, tuple):
        return f"{type(value).__qualname__}{getattr(value, '_fields', '')}({', '.join(map(_text, value))})"
    if isinstance(value, frozenset):  # whose order is undefined
        return f"frozenset({', '.join(sorted(map(_text, value)))})"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype}{value.shape}{value.strides}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, EnumMeta):
        return f"{value.__qualname__}({', '.join(f'{each.name}={_text(each.value)}' for each in value)})"  # type: ignore[var-annotated]
    if isinstance(value, _NAMED):
        return f"{getattr(value, '__module__', '')}.{value.__name__}{getattr(value, '_fields', '')}"
    raise UnknownConstant(f"of type {type(value).__name__}, whose value cannot be told")
