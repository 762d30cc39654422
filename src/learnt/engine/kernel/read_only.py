"""Read-only arrays run the machine code of writable ones.

To Numba, a read-only array (a memory map, a column of a data frame, an array of a loaded model) has a type of its own,
for which every kernel would be compiled again: half of the compiler's time in scikit-learn's checks of trees and
forests. A kernel writes only into what its caller has allocated for it, so the same machine code serves both: it is
given a view of the same memory that is not flagged read-only.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class _ArrayInterface:
    """The memory of an array, as NumPy's array interface."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array  # keeps the memory alive
        memory = array.__array_interface__
        self.__array_interface__ = {**memory, "data": (memory["data"][0], False)}


def as_writable(value: Any) -> Any:
    """A view of a read-only array that Numba types as writable, also inside tuples.

    >>> kept = np.arange(3.0)
    >>> kept.flags.writeable = False
    >>> as_writable(kept).flags.writeable, np.shares_memory(as_writable(kept), kept)
    (True, True)
    >>> as_writable((7, kept))[1].flags.writeable
    True
    >>> as_writable(7)
    7
    """
    if isinstance(value, np.ndarray):
        marked = not value.flags.writeable and value.dtype.kind in "biufc"
        return np.asarray(_ArrayInterface(value)) if marked else value
    if isinstance(value, tuple):
        fields = tuple(map(as_writable, value))
        if all(new is old for new, old in zip(fields, value, strict=True)):
            return value
        return type(value)(*fields) if hasattr(value, "_fields") else fields
    return value


def run_as_writable(dispatcher: Any) -> None:
    """Have a Numba dispatcher look for the machine code of writable arrays before it compiles."""
    compile_for = getattr(dispatcher, "_compile_for_args", None)
    if compile_for is None:  # where Numba's internals have changed, it compiles for both
        return

    def look_again(*args: Any, **options: Any) -> Any:
        unmarked = tuple(map(as_writable, args))
        if all(new is old for new, old in zip(unmarked, args, strict=True)):
            return compile_for(*args, **options)
        result = dispatcher(*unmarked)
        return lambda *args: result  # Numba calls what was compiled

    dispatcher._compile_for_args = look_again
