"""Threads of one parallel region on cores of their own.

Linux likes to put a thread that another one wakes, as when it waited for Python's lock, on the core of that other one,
and leaves it there for some milliseconds: two threads take turns on one core beside an idle one. On a virtual machine
of two cores that made work of 13 ms take 20 (radius queries in a tree, Linux 6.18, Neoverse-N1).

What a thread starts inherits its cores: this is for regions that call compiled kernels and NumPy and start nothing.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

_FEW = 4  # cores; among more, an idle one is found and threads part by themselves


class Cores:
    """The cores of a region with as many threads as this process has cores, if these are few; else nothing is done."""

    def __init__(self, threads: int) -> None:
        self._threads, self._lock = threads, threading.Lock()
        self._taken: set[int] = set()

    @contextmanager
    def own(self) -> Iterator[None]:
        """Hold the calling thread to a core that no other thread of the region has."""
        allowed = self._move()
        try:
            yield
        finally:
            if allowed is not None:
                _allow(allowed)

    def _move(self) -> set[int] | None:
        """Take a core, the present one if it is free; the cores that the thread had, None where it keeps them."""
        here = current_core()
        if here is None or not 1 < self._threads <= _FEW:
            return None
        allowed = os.sched_getaffinity(0)
        if len(allowed) != self._threads:
            return None
        with self._lock:
            free = allowed - self._taken
            core = here()
            core = core if core in free else min(free, default=-1)
            self._taken.add(core)
        return allowed if core >= 0 and _allow({core}) else None


@cache
def current_core() -> Callable[[], int] | None:
    """A function that tells the core of the calling thread; None where the system has none or moves no threads."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)


def _allow(cores: set[int]) -> bool:
    """Let the calling thread run on these cores; False where that is refused."""
    try:
        os.sched_setaffinity(0, cores)
    except OSError:  # a sandbox forbids it, or the cores of the process were changed meanwhile
        return False
    return True
