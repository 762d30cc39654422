"""The process that fits models: how it is started, and a head start for the command.

A process needs about a processor second to load. The command starts its processes before it imports or reads anything
itself; a study takes them over (`take`), and those that it does not need are ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from learnt.engine.threads import thread_count

MOST = 4  # processes that fit models at once
SHORT = 4.0  # seconds of a study below which loading a second process costs more than it gains
MOST_CROWDED = 4.0  # the largest slowdown of loading on a busy machine that is assumed

_early: list[tuple[int | None, subprocess.Popen]] = []
_taking = threading.Lock()


def spawn(folder: Path | None, threads: int | None, *, background: bool = False) -> subprocess.Popen:
    """A process for the rows in a folder; without one it loads, and waits for a line that names it."""
    environment = dict(os.environ)
    if threads is not None:
        environment["LEARNT_NUM_THREADS"] = str(threads)
    place = [] if folder is None else [str(folder)]
    return subprocess.Popen(
        # -P: a file in the current folder must not shadow a library's.
        [sys.executable, "-P", "-m", "learnt.study.race._worker", *place, *["background"] * background],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=environment,
        start_new_session=True,  # Ctrl-C is for the study, which ends the worker itself
    )


@cache  # the study calls it again, and must get the count that the command started
def crowding() -> float:
    """How many processes there were for each core when this one began: how many times longer it takes to load."""
    try:
        waiting = os.getloadavg()[0]
    except (AttributeError, OSError):  # not every system counts them
        return 1.0
    return min(max(waiting / (os.cpu_count() or 1), 1.0), MOST_CROWDED)


def process_count(threads: int | None, budget: float, most: int = MOST) -> int:
    """How many processes fit models: one a core, and a single one where the time is short for this machine."""
    return min(thread_count(threads), most if budget >= SHORT * crowding() else 1)


@contextmanager
def head_start(threads: int | None, budget: float) -> Iterator[None]:
    """Start the processes of a study that is about to begin, as a context; those it has not taken at its end are ended.

    Parameters
    ----------
    threads : int or None
        Number of threads that the study will use; None is all.
    budget : float
        Seconds that the study will have.

    Yields
    ------
    None
        The processes are taken by the next study of this process.

    See Also
    --------
    study : Makes a study.
    """
    try:
        if threads is None or threads > 0:
            for _ in range(process_count(threads, budget)):
                process = spawn(None, threads)
                with _taking:
                    _early.append((threads, process))
        yield
    finally:
        end_early()


def take(folder: Path, threads: int | None) -> subprocess.Popen | None:
    """A process that was started early, now for the rows in a folder; None where there is none."""
    while True:
        with _taking:
            place = next((k for k, (given, _) in enumerate(_early) if given == threads), None)
            process = None if place is None else _early.pop(place)[1]
        if process is None:
            return None
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(str(folder)) + "\n")
            process.stdin.flush()
            return process
        except OSError:  # it has died; a new one will report why
            end(process)


def end_early() -> None:
    """End the processes that were not taken."""
    with _taking:
        left, _early[:] = list(_early), []
    for _, process in left:
        end(process)


def end(process: subprocess.Popen) -> None:
    """End a process at once."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError, ValueError):  # what was left in the pipe no longer matters
            if stream is not None:
                stream.close()
