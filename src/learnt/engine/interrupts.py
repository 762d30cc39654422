"""Ctrl-C stops compiled work that takes seconds, on all threads, and leaves none of it running.

Python handles a signal between two of its own instructions, on the main thread only; a compiled call is one
instruction. So

    stoppable(call, stop)      a compiled call that returns early once stop[0] is not 0: called on the
                                   main thread, it runs on another one while the main thread waits for signals
    abandonable(call)          a call of a library that cannot be told to stop (LAPACK): it runs to its end, unused
    check_stopped()            between the steps of Python loops on the pool; every kernel call does it

Kernels read the flag with `intrinsics.atomic_load`, once for each node, column or epoch: about every tenth of a second.
Work that is over sooner needs none of this. `engine.threads` stops the tasks of a region together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

import numpy as np

from learnt.engine.pool import Ticket, start

T = TypeVar("T")

local = threading.local()  # .scope: the Scope of this thread's work
_ever = False  # whether anything was ever stopped: until then no check is needed
_ALONE = nullcontext()
_POLL = 0.1  # seconds; Windows handles no signal during a wait, only after it


class Stopped(BaseException):
    """Work was given up since other work of the same call failed or was interrupted; the caller never sees it."""


class Scope:
    """Work on several threads that ends together."""

    def __init__(self) -> None:
        self.stopped = False
        self._lock = threading.Lock()
        self._under_way: list[Callable[[], None]] = []
        self._outer = entered()

    def stop(self) -> None:
        """All running compiled calls return early, and no new one begins."""
        global _ever
        _ever = True
        with self._lock:
            self.stopped = True
            for stop in self._under_way:
                stop()

    @contextmanager
    def _ends_by(self, stop: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._under_way.append(stop)
            if self.stopped:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._under_way.remove(stop)

    def open(self) -> AbstractContextManager[None]:
        """Have this scope stop when the scope around it stops."""
        return _ALONE if self._outer is None else self._outer._ends_by(self.stop)

    def run(self, call: Callable[[], T], stop: np.ndarray) -> T:
        """Make a compiled call that reads the stop flag stop[0]."""

        def set_stop() -> None:
            stop[0] = 1

        with self._ends_by(set_stop):
            result = call()
        if stop[0]:
            raise Stopped
        return result


def entered() -> Scope | None:
    """The scope of this thread's work; `local.scope` is set by `threads.run_tasks` alone."""
    return getattr(local, "scope", None)


def check_stopped() -> None:
    """Raise `Stopped` if the work of this thread was stopped."""
    if _ever:
        scope = entered()
        if scope is not None and scope.stopped:
            raise Stopped


def stoppable(call: Callable[[], T], stop: np.ndarray, *, long: bool = True) -> T:
    """The result of a compiled call that returns early once stop[0], an integer of 64 bits, is not 0.

    `long` says whether it may take more than a fraction of a second; another thread costs a ten-thousandth of one.

    >>> stoppable(lambda: 3, np.zeros(1, np.int64))
    3
    """
    if not long:
        return call()
    if _on_main_thread():
        return _while_waiting_for_signals(call, stop)
    scope = entered()
    return call() if scope is None else scope.run(call, stop)


def abandonable(call: Callable[[], T], *, long: bool = True) -> T:
    """The result of a call that cannot be stopped: Ctrl-C leaves it to end on a thread of its own, its result unused.

    It must change nothing that others see. A decomposition by LAPACK is such a call: 3,000 columns take half a minute.

    >>> abandonable(lambda: 3)
    3
    """
    if not long or not _on_main_thread():
        return call()
    return _while_waiting_for_signals(call, np.zeros(1, np.int64), wait=False)


def _on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _while_waiting_for_signals(call: Callable[[], T], stop: np.ndarray, wait: bool = True) -> T:
    """Make the call on another thread; an exception raised by a signal stops it and, if `wait`, waits for its end."""
    scope = Scope()
    results: list[T] = []
    ticket = Ticket(lambda: results.append(scope.run(call, stop)))
    with scope.open():
        try:
            start(ticket.run)  # neither a second Ctrl-C nor the end of the program waits for it
            while not ticket.wait(_POLL):
                pass
        except BaseException:
            scope.stop()
            if wait:
                ticket.join()
            raise
    if ticket.error is not None:
        raise ticket.error
    return results[0]
