"""Kernels compiled before the race: once on a machine, announced, on all cores.

Kernels are compiled at their first use. Each kind of model that will race is therefore fitted once on few of the
study's own rows, the heaviest first, in as many processes as there are cores; their code reaches the race through the
kernels' cache. A file in the cache folder lists the entries that such a rehearsal used: while all of them exist, the
next study skips it silently.

Where nothing can be kept, the process that runs the race compiles for itself, also before it begins.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from learnt.engine import progress
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.threads import thread_count
from learnt.study._errors import StudyError
from learnt.study.race._candidates import try_out
from learnt.study.race._families import Family
from learnt.study.race._remote import Failed, TooSlow, Worker

PATIENCE = 600.0  # seconds for one rehearsal, compiling on a busy machine included
MOST_ROWS = 5_000  # with more rows no family takes another code path
LABEL = "compiling machine code, once on this machine"
ANNOUNCEMENT = "Compiling machine code, once on this machine; at most half of the budget goes into it."
CHECKING_LABEL = "checking machine code, once for tables of this size"
CHECKING = "Checking that machine code for tables of this size is there; at most half of the budget goes into it."
SILENT = 1.0  # seconds of a rehearsal that compiles nothing, after which it is announced as well
NO_CACHE = (
    "Machine code cannot be kept on this machine, so this study compiles its own; at most half of the budget goes into "
    "it."
)

Say = Callable[[str], None]
Job = tuple[str, dict[str, Any]]  # an order and its arguments


def compile_ahead(worker: Worker, families: Iterable[Family], sizes: list[int], say: Say) -> float:
    """Compile what a race of these families on so many rows needs; returns the seconds that took.

    `worker` is the process that will run the race, on rows that are laid out in its folder. Its folder and threads are
    those of the rehearsals. Returns at once where all is compiled.
    """
    began = time.monotonic()
    if not _numba_is_used():
        return 0.0
    jobs = _jobs(families, sizes)
    folder = kernel_cache.info().folder
    if folder is None:
        _rehearse(jobs, [worker], _Announcement(NO_CACHE, len(jobs), say))
        return time.monotonic() - began
    note = folder / f"study-{_required_code(jobs, worker.folder)}.ready"
    if _is_complete(note):
        return 0.0
    count = max(1, min(thread_count(worker.threads), len(jobs)))
    helpers = [Worker(worker.folder, worker.threads, background=True) for _ in range(count)]
    try:
        used = _rehearse(jobs, helpers, _Announcement(ANNOUNCEMENT, len(jobs), say))
    finally:  # also when interrupted: what was compiled so far is kept
        for helper in helpers:
            helper.stop()
    if used is not None:
        _write_note(note, used)
    return time.monotonic() - began


def _numba_is_used() -> bool:
    """As `kernel.compilation_enabled`, without the time that importing Numba takes."""
    off = os.environ.get("LEARNT_COMPILE", "1") == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") == "1"
    return not off and find_spec("numba") is not None


def _jobs(families: Iterable[Family], sizes: list[int]) -> list[Job]:
    """Orders for a worker, the heaviest to compile first; many models run other code on more rows."""
    heaviest_first = sorted(families, key=lambda family: (not family.brief, -family.rank))
    small, large = (min(size, MOST_ROWS) for size in (sizes[0], sizes[-1]))
    fits = [try_out(f, small) for f in heaviest_first]
    fits += [try_out(f, large) for f in heaviest_first if large > small]
    return [*(("rehearse", fit) for fit in fits), ("rehearse_bracket", {})]


def _rehearse(jobs: list[Job], workers: list[Worker], announcement: _Announcement) -> set[str] | None:
    """Run the jobs on the workers; the names of the cache entries they used, None if one did not finish."""
    waiting = queue.SimpleQueue[Job]()
    for job in jobs:
        waiting.put(job)
    done = queue.SimpleQueue[set[str] | None]()

    def work(worker: Worker) -> None:
        worker.on_compile = announcement.begin
        with suppress(queue.Empty):
            while True:
                order, arguments = waiting.get_nowait()
                try:
                    done.put(set(worker.call(order, PATIENCE, **arguments)["used"]))
                except (Failed, TooSlow, StudyError):  # the race will meet the same error, and report it
                    done.put(None)

    for worker in workers:
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    used: list[set[str] | None] = []
    try:
        for _ in jobs:
            used.append(done.get())
            announcement.advance()
    finally:
        while not waiting.empty():  # interrupted: no worker takes another job
            with suppress(queue.Empty):
                waiting.get_nowait()
        announcement.end()
    names = [part for part in used if part is not None]
    return set().union(*names) if len(names) == len(jobs) else None


class _Announcement:
    """A message and a progress bar, shown once something is compiled; where all is cached, only if that takes long."""

    def __init__(self, sentence: str, total: int, say: Say, clock: Callable[[], float] = time.monotonic) -> None:
        self._sentence, self._total, self._say = sentence, total, say
        self._clock, self._began = clock, clock()
        self._compiles = False
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None
        self._done = 0

    def begin(self, kernel: str) -> None:
        with self._lock:
            if not self._compiles:
                self._compiles = True
                self._close()
                self._open(self._sentence, LABEL)
            self._bar.note(kernel.rpartition(".")[2])

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            if self._bar is not None:
                self._bar.advance()
            elif self._done < self._total and self._clock() - self._began > SILENT:
                self._open(CHECKING, CHECKING_LABEL)

    def end(self) -> None:
        with self._lock:
            self._close()

    def _open(self, sentence: str, label: str) -> None:
        self._say(sentence)
        self._task = progress.task(label, total=self._total)
        self._bar = self._task.__enter__()
        self._bar.advance(self._done)

    def _close(self) -> None:
        if self._task is not None:
            self._task.__exit__(None, None, None)
            self._task = self._bar = None


def _required_code(jobs: list[Job], folder: Path) -> str:
    """A hash of what decides which machine code is needed: the jobs, the kind of target, our code, the host."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    classes = meta["classes"]
    what = [[order, arguments.get("spec"), _size(arguments.get("rows", 0))] for order, arguments in jobs]
    code = sorted(_stamps(str(Path(__file__).parents[2])))
    kind = 0 if classes is None else min(len(classes), 3)
    machine = [sys.version, version("numba"), platform.machine(), platform.node()]
    text = json.dumps([what, kind, code, machine])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _size(rows: int) -> int:
    """How large a table is, in steps of four: within one, few models take another code path.

    >>> [_size(rows) for rows in (100, 420, 800, 1000, 5000)]
    [4, 5, 5, 5, 7]
    """
    return (rows.bit_length() + 1) // 2


def _stamps(folder: str) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of every source file in a folder, in no order."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.name, status.st_size, status.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                for name, size, moment in _stamps(entry.path):
                    yield f"{entry.name}/{name}", size, moment


def _is_complete(note: Path) -> bool:
    try:
        names = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    folders = kernel_cache.folders()
    return all(any((folder / name).exists() for folder in folders) for name in names)


def _write_note(note: Path, used: set[str]) -> None:
    part = note.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError):  # the next study rehearses again, quickly
        part.write_text(json.dumps(sorted(used)), encoding="utf-8")
        os.replace(part, note)
