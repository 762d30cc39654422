"""What a task is, and how one is measured."""

from __future__ import annotations

import ctypes
import gc
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

Data = dict[str, Any]
Work = Callable[[Data], Any]


@dataclass(frozen=True)
class Task:
    """One comparison. `quality(result, data)` is a number, and `better` says which way; "same": it must agree."""

    name: str
    family: str
    make: Callable[[int], Data]  # rows -> data
    rows: int
    ours: Work
    peers: dict[str, Work]
    quality: Callable[[Any, Data], float]
    quality_name: str
    required: float
    better: str = "lower"  # "lower", "higher" or "same"
    tolerance: float = 1e-6  # relative slack within which qualities count as equal
    toy: int = 200  # rows at which the tests run it


@dataclass
class Measured:
    """What came out: medians in seconds, qualities, and the ratio to the best peer."""

    task: str
    family: str
    required: float
    seconds: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    quality: dict[str, float] = field(default_factory=dict)
    quality_name: str = ""
    best_peer: str = ""
    ratio: float = 0.0  # median over rounds of peer / learnt
    ratio_range: tuple[float, float] = (0.0, 0.0)  # its quartiles
    rounds: int = 0
    equal: bool = False


# Idle workers of BLAS and OpenMP go on spinning after a call, for 130 ms on the machines looked at: without a pause
# each contender would run on the cores that the one before it still occupies.
_SETTLE = 0.25


def measure(task: Task, repeat: int, budget: float) -> Measured:
    """Alternate ours and every peer for `repeat` rounds or `budget` seconds, but at least 3 rounds."""
    data = task.make(task.rows)
    contenders = {"learnt": task.ours, **task.peers}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    results: dict[str, Any] = {}
    measured = Measured(task.name, task.family, task.required, quality_name=task.quality_name)
    for name, work in contenders.items():  # warm-up, the same for all: imports, machine code, pools
        results[name] = work(data)
    started = time.perf_counter()
    for round_ in range(repeat):
        for name, work in contenders.items():
            time.sleep(_SETTLE)
            began = time.perf_counter()
            results[name] = work(data)
            times[name].append(time.perf_counter() - began)
        if round_ >= 2 and time.perf_counter() - started > budget:
            break
    for name, taken in times.items():
        measured.seconds[name] = statistics.median(taken)
        measured.spread[name] = (max(taken) - min(taken)) / statistics.median(taken)
        measured.quality[name] = float(task.quality(results[name], data))
    good = {name: s for name, s in measured.seconds.items() if name != "learnt" and _usable(task, measured, name)}
    measured.best_peer = min(good or {n: measured.seconds[n] for n in task.peers}, key=measured.seconds.__getitem__)
    # The two of a round ran one after the other, so that what else the machine did weighs on both.
    ratios = [theirs / ours for ours, theirs in zip(times["learnt"], times[measured.best_peer], strict=True)]
    measured.rounds, measured.ratio = len(ratios), statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    measured.ratio_range = (low, high)
    measured.equal = _as_good(task, measured.quality["learnt"], measured.quality[measured.best_peer])
    return measured


def _usable(task: Task, measured: Measured, name: str) -> bool:
    """A peer's solver that ends far from the others' answer is not the one to beat."""
    best = (min if task.better == "lower" else max)(measured.quality.values())
    return task.better == "same" or abs(measured.quality[name] - best) <= max(1e-3 * abs(best), 1e-12)


def _as_good(task: Task, ours: float, theirs: float) -> bool:
    slack = task.tolerance * max(abs(theirs), 1e-12)
    if task.better == "lower":
        return ours <= theirs + slack
    if task.better == "higher":
        return ours >= theirs - slack
    return abs(ours - theirs) <= slack


def cold_start(task: Task, who: str) -> tuple[float, float]:
    """In a fresh process: seconds of the first run, at toy size, and MiB that a run at full size takes at its peak.

    The MiB are counted over what the process held with the data made and a smaller run behind it.
    """
    work = task.ours if who == "learnt" else task.peers[who]
    data = task.make(task.toy)
    began = time.perf_counter()
    work(data)  # imports and pools
    first = time.perf_counter() - began
    work(task.make(max(task.toy, task.rows // 4)))  # machine code that only large data need
    data = task.make(task.rows)
    _give_back()
    _reset_peak()
    before = _rss()
    work(data)
    return first, (_peak() - before) / 2**20


def _give_back() -> None:
    """Let the allocator return what earlier runs freed: memory it keeps in reserve would hide what a run takes."""
    gc.collect()
    with suppress(OSError, AttributeError):  # not the GNU C library
        ctypes.CDLL(None).malloc_trim(0)


def _rss() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _reset_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _peak() -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
