"""Threads that wait for work, and events that are set once; an exception of a signal handler leaves both usable.

Python raises `KeyboardInterrupt` on the main thread after any call, so also between the moment in which a lock of
`threading.Condition` was acquired and the one in which its caller knows of it: that lock then stays locked for ever.
`threading.Event`, `Thread.start`, `Future` and `ThreadPoolExecutor` are all made of such locks; after a Ctrl-C at the
wrong moment the next fit would wait without end. Here

    Ended      a lock of C: who has acquired it knows already that there is nothing left to wait for
    Ticket     work that either the pool begins or its owner takes back, which one single call of C decides
    Pool       a queue of C, whose threads are started by the system's own call
"""

from __future__ import annotations

import _thread
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any


class Ended:
    """An event that happens once.

    >>> ended = Ended()
    >>> ended.wait(0.0), ended.set(), ended.wait(0.0)
    (False, None, True)
    """

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self._over = False

    def set(self) -> None:
        self._over = True
        self._lock.release()

    def wait(self, seconds: float = -1.0) -> bool:
        """Whether it has happened, after so many seconds at most; of a negative number, after however many it takes."""
        if not self._over and self._lock.acquire(timeout=seconds):
            self._lock.release()
        return self._over


class Ticket:
    """A call that a thread of the pool will make, unless who asked for it takes it back before."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._owner: dict[str, str] = {}
        self._ended = Ended()
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make the call, on the thread of the pool; nothing where it was taken back."""
        if self._owner.setdefault("owner", "pool") != "pool":
            return
        try:
            self._call()
        except BaseException as error:
            self.error = error
        finally:
            self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Whether the call is over, after so many seconds at most."""
        return self._ended.wait(seconds)

    def join(self) -> BaseException | None:
        """Take the call back if it has not begun, else wait for its end; the exception that it raised."""
        if self._owner.setdefault("owner", "caller") == "pool":
            self._ended.wait()
        return self.error


class Pool:
    """Threads that make calls; they end with the program, which does not wait for them."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Ticket] = SimpleQueue()
        self._threads: list[None] = []  # one entry a thread: list.append is one call of C

    def submit(self, call: Callable[[], object], size: int) -> Ticket:
        """Have one of at least `size` threads make the call."""
        while len(self._threads) < size:
            _thread.start_new_thread(self._work, (len(self._threads),))
            self._threads.append(None)
        ticket = Ticket(call)
        self._queue.put(ticket)
        return ticket

    def _work(self, number: int) -> None:
        threading.current_thread().name = f"learnt_{number}"
        while True:
            ticket = self._queue.get()
            ticket.run()
            del ticket  # what it holds need not live until there is other work


def start(call: Callable[[], Any]) -> None:
    """Make a call on a thread of its own, for which neither the caller nor the end of the program waits.

    Context variables, as NumPy's errstate, are those of the caller.
    """
    _thread.start_new_thread(contextvars.copy_context().run, (call,))
