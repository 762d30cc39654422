"""One process compiles a kernel; others that need it meanwhile wait for its machine code.

A lock is one byte of a file in the cache folder, at a position that the entry's name decides. The operating system
frees it when its process ends, in whatever way. A thread holds at most one lock and never waits while it holds one, so
processes cannot wait for each other in a circle. Nobody waits for longer than `LONGEST_WAIT`, and a process that waited
in vain compiles without a lock: at worst two compile the same kernel, as they would without locks.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from learnt.engine.kernel.digest import hash_parts
from learnt.engine.kernel.private_files import PrivateFolder

LONGEST_WAIT = 60.0  # seconds; compiling the largest kernel takes about ten
_FILE = "compiling.lock"
_held = threading.local()


def wait_or_lock(folder: PrivateFolder, name: str, read: Callable[[], bytes | None]) -> bytes | None:
    """The entry that another process was compiling; None where the caller is to compile it, and then `release`.

    `read` reads the entry, or returns None where there is none. Raises `OSError` where the folder cannot be locked.
    """
    if _handle() is not None:
        return None
    handle = folder.open_to_lock(_FILE)
    try:
        entry = _wait(handle, _position(name), read)
    except BaseException:
        os.close(handle)
        raise
    if isinstance(entry, _Locked):
        _held.handle = handle
        return None
    os.close(handle)
    return entry


def release() -> None:
    """Free this thread's lock, if it has one."""
    handle = _handle()
    if handle is not None:
        _held.handle = None
        with suppress(OSError):
            os.close(handle)


class _Locked:
    """The lock is ours, and there is no entry."""


def _wait(handle: int, position: int, read: Callable[[], bytes | None]) -> bytes | _Locked | None:
    if _try_to_lock(handle, position):
        return read() or _Locked()  # written after the caller looked and before the lock was free
    deadline, pause = time.monotonic() + LONGEST_WAIT, 0.01
    while time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
        freed = _try_to_lock(handle, position)
        entry = read()
        if freed or entry is not None:
            return entry
    return None


def _handle() -> int | None:
    return getattr(_held, "handle", None)


def _position(name: str) -> int:
    return int(hash_parts([name])[:7], 16)  # below 2^28: Windows takes 31 bits


if sys.platform == "win32":
    import msvcrt

    def _try_to_lock(handle: int, position: int) -> bool:
        os.lseek(handle, position, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_to_lock(handle: int, position: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, position)
        except (BlockingIOError, PermissionError):  # what another process's lock raises
            return False
        return True
