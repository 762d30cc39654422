"""How much more memory this process may take, where it has been limited (`ulimit -d`, `ulimit -v`), or the machine has.

Polars reads files in threads of its own that end the process, or wait for ever, when they get no memory. So the memory
that a read will take is computed before, and an error raised where it is not available.
"""

from __future__ import annotations

import mmap
import re
import tempfile
from pathlib import Path

import numpy as np

_LIMITS = {"RLIMIT_DATA": "VmData", "RLIMIT_AS": "VmSize"}
# Memory that reading took besides the rows themselves, as measured with 2, 16 and 48 threads: buffers, and stacks and
# heaps of each thread. A block of rows exists as pages of the file, as columns and as a matrix, some of them twice.
_FIXED, _PER_THREAD, _COPIES = 160 << 20, 4 << 20, 12


def memory_left() -> int | None:
    """Bytes that may still be taken; None where there is no limit, or the system does not say."""
    try:
        import resource

        status = Path("/proc/self/status").read_text()
    except (ImportError, OSError):
        return None
    left = []
    for limit, counter in _LIMITS.items():
        allowed = resource.getrlimit(getattr(resource, limit))[0]
        taken = re.search(rf"{counter}:\s+(\d+) kB", status)
        if allowed != resource.RLIM_INFINITY and taken:
            left.append(allowed - 1024 * int(taken[1]))
    return min(left) if left else None


def read_bytes(wanted: int, fewest: int, threads: int, source: str) -> int:
    """How many bytes of rows to read at once: as wanted, or down to `fewest` where memory is limited."""
    left = memory_left()
    if left is None:
        return wanted
    room = (left - _FIXED - _PER_THREAD * threads) // _COPIES
    if room < fewest:
        need = _FIXED + _PER_THREAD * threads + _COPIES * fewest
        raise MemoryError(
            f"This process may take {max(left, 0) >> 20} MB more (ulimit) and reading {source} in blocks needs about "
            f"{need >> 20} MB; raise the limit, or set POLARS_MAX_THREADS below {threads} before Python starts."
        )
    return min(wanted, room)


def room_in_bytes(size: int) -> np.ndarray:
    """An array of so many bytes: in memory, or where they would take more than half of what is free, in a file.

    The file has no name: it is gone when the array is, also where the process is killed.

    >>> room_in_bytes(3).shape
    (3,)
    """
    free = free_bytes()
    if free is None or 2 * size <= free:
        return np.empty(size, dtype=np.uint8)
    with tempfile.TemporaryFile(prefix="learnt-") as file:
        file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype=np.uint8)


def free_bytes() -> int | None:
    """Memory that is free: by the limits of this process, of its control group and of the machine; None: not known.

    Pages of files that a control group may drop at any time count as free, as they do in what the machine says.
    """
    found = [memory_left()]
    if available := re.search(r"MemAvailable:\s+(\d+) kB", _text("/proc/meminfo")):
        found.append(1024 * int(available[1]))
    limit, taken = _text("/sys/fs/cgroup/memory.max").strip(), _text("/sys/fs/cgroup/memory.current").strip()
    if limit.isdigit() and taken.isdigit():
        dropped = re.search(r"^inactive_file (\d+)", _text("/sys/fs/cgroup/memory.stat"), re.MULTILINE)
        found.append(int(limit) - int(taken) + (int(dropped[1]) if dropped else 0))
    known = [number for number in found if number is not None]
    return max(0, min(known)) if known else None


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
