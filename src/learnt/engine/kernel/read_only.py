"""Read-only arrays run the machine code of writable ones.

Numba takes an array that must not be written to (a memory map, a column of a data frame, an array of a loaded model)
for one of another type, and would compile every kernel again for it: half of the compiler's time in scikit-learn's
checks of trees and forests. A kernel writes only into what its caller has allocated for it, so the same machine code
serves both: it is given a view of the same memory that does not carry the mark.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class _Unmarked:
    """The memory of an array, for NumPy to look at."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array  # which keeps the memory
        memory = array.__array_interface__
        self.__array_interface__ = {**memory, "data": (memory["data"][0], False)}


def without_mark(value: Any) -> Any:
    """A view of a read-only array that compiled code takes for a writable one, also inside tuples.

    >>> kept = np.arange(3.0)
    >>> kept.flags.writeable = False
    >>> without_mark(kept).flags.writeable, np.shares_memory(without_mark(kept), kept)
    (True, True)
    >>> without_mark((7, kept))[1].flags.writeable
    True
    >>> without_mark(7)
    7
    """
    if isinstance(value, np.ndarray):
        marked = not value.flags.writeable and value.dtype.kind in "biufc"
        return np.asarray(_Unmarked(value)) if marked else value
    if isinstance(value, tuple):
        fields = tuple(map(without_mark, value))
        if all(new is old for new, old in zip(fields, value, strict=True)):
            return value
        return type(value)(*fields) if hasattr(value, "_fields") else fields
    return value


def run_without_mark(dispatcher: Any) -> None:
    """Have a Numba dispatcher look for machine code of writable arrays before it compiles."""
    compile_for = getattr(dispatcher, "_compile_for_args", None)
    if compile_for is None:  # a Numba whose insides have changed compiles for both
        return

    def look_again(*args: Any, **options: Any) -> Any:
        unmarked = tuple(map(without_mark, args))
        if all(new is old for new, old in zip(unmarked, args, strict=True)):
            return compile_for(*args, **options)
        result = dispatcher(*unmarked)
        return lambda *args: result  # Numba calls what was compiled

    dispatcher._compile_for_args = look_again
