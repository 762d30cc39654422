"""A forked child has one thread: a lock held by another thread stays locked for ever, and an import stays half done.

    hold_while_forking(lambda: [lock])     a fork waits until the lock is free; both processes have it free again

So what the lock guards is consistent in the child. Making a new lock in the child would not ensure that: LLVM has locks
of its own, which cannot be acquired from here. Where a lock is not acquired within minutes, the fork goes ahead.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

_LONGEST_WAIT = 300.0  # seconds; compiling the largest kernel takes a minute on a busy machine

Lock = Any  # threading.Lock and RLock are functions


def hold_while_forking(locks: Callable[[], Iterable[Lock]]) -> None:
    """Let every fork of this process wait for the locks, which are acquired in the order of `locks()`.

    All users of several of them must take them in the same order.
    """
    held = threading.local()  # two threads may fork at once

    def take() -> None:
        held.locks = []
        for lock in locks():
            if lock.acquire(timeout=_LONGEST_WAIT):
                held.locks.append(lock)

    def give_back() -> None:
        while held.locks:
            held.locks.pop().release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=take, after_in_parent=give_back, after_in_child=give_back)
