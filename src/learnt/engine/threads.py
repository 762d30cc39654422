"""The one thread pool and its one setting.

Work is cut into blocks whose size depends on the data alone, and partial results are put together in block order:
the result is the same on one thread and on sixty-four. Blocks run on one pool shared by everybody in the process, so
two Python threads that fit at once share the cores instead of doubling them, and a kernel that is already running on
the pool runs its own blocks on its own thread. BLAS is held to one thread while blocks run; the pool is the
parallelism.

How many threads: `set_threads(n)`, else `LEARNT_NUM_THREADS`, else `OMP_NUM_THREADS` (which joblib's and Dask's
workers set), else the cores this process may use: its affinity mask, cut down to the container's CPU quota.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator, nullcontext
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from learnt.engine import interrupts
from learnt.engine.cores import Cores
from learnt.engine.forks import hold_while_forking
from learnt.engine.interrupts import Scope, Stopped, check_stopped, entered
from learnt.engine.pool import Pool, Ticket

T = TypeVar("T")
Setter = Callable[[int], Any]

_local = threading.local()  # .working: this thread runs blocks for the pool
_interrupted = interrupts.local  # .scope: what stops this thread's work


class _State:
    """State that is reset in a forked child, which has none of its parent's threads."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.blas_lock = threading.Lock()
        self.blas_users: WeakSet[single_blas] = WeakSet()  # one that Ctrl-C kept from leaving is collected
        # the thread counts to restore, of the libraries held to one thread
        self.blas_before: list[tuple[Setter, int]] = []


_state = _State()
_chosen: int | None = None  # by set_threads; survives a fork


def _forget_after_fork() -> None:
    global _state
    held = _state.blas_before
    _state = _State()
    for set_blas, threads in held:  # forked while BLAS was held: the child gets its threads back
        set_blas(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
hold_while_forking(lambda: [_state.blas_lock])


def set_threads(n: int | None) -> None:
    """Use `n` threads from now on in this process; None goes back to what the machine allows.

    An estimator's own `n_jobs` takes precedence where it is not None. Results do not depend on the number.

    Parameters
    ----------
    n : int or None
        The most threads of a fit, at least 1. None goes back to the environment variables LEARNT_NUM_THREADS and
        OMP_NUM_THREADS, and without them to the cores, or the quota of the container, that this process may use.

    See Also
    --------
    learnt.get_threads : How many threads a fit may use now.

    Examples
    --------
    >>> set_threads(2); get_threads()
    2
    >>> set_threads(None)
    """
    global _chosen
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise ValueError(f"set_threads takes a whole number of at least 1, or None; it got {n!r}.")
    _chosen = n


def get_threads() -> int:
    """How many threads a fit may use now.

    Returns
    -------
    n : int
        What `set_threads` was given; else the environment variable LEARNT_NUM_THREADS or OMP_NUM_THREADS; else the
        cores, or the quota of the container, that this process may use.

    See Also
    --------
    learnt.set_threads : Changes the number.

    Examples
    --------
    >>> get_threads() >= 1
    True
    """
    return thread_source()[0]


def thread_source() -> tuple[int, str]:
    """How many threads, and where the number comes from."""
    if _chosen is not None:
        return _chosen, "set_threads"
    for variable in ("LEARNT_NUM_THREADS", "OMP_NUM_THREADS"):
        if variable in os.environ:  # read at every call, since a program may change it
            value = os.environ[variable].split(",")[0].strip()
            if value.isdigit() and int(value) > 0:
                return int(value), variable
    return _machine_threads()


def thread_count(n_jobs: int | None = None) -> int:
    """The number of threads for an estimator's `n_jobs`: None is the default, −1 all, −2 all but one.

    >>> thread_count(3)
    3
    """
    if n_jobs is None:
        return get_threads()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | _integral()) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None, a positive number, or negative to count from all; got {n_jobs!r}.")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, get_threads() + 1 + int(n_jobs))


def _integral() -> type:
    from numpy import integer

    return integer


def _machine_threads() -> tuple[int, str]:
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = container_quota()
    if quota is not None and quota < cores:
        return max(1, math.ceil(quota)), "container quota"
    return max(1, cores), "cores"


@cache
def container_quota(root: str = "/sys/fs/cgroup") -> float | None:
    """The container's CPU quota in cores (cgroup v2, then v1), or None where there is no limit; read once."""
    base = Path(root)
    try:
        limit, period = (base / "cpu.max").read_text().split()[:2]
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        pass
    try:
        limit_us = int((base / "cpu" / "cpu.cfs_quota_us").read_text())
        period_us = int((base / "cpu" / "cpu.cfs_period_us").read_text())
        return limit_us / period_us if limit_us > 0 and period_us > 0 else None
    except (OSError, ValueError):
        return None


def inside_pool() -> bool:
    """Whether this code already runs on the pool."""
    return getattr(_local, "working", False)


def run_tasks(tasks: Sequence[Callable[[], T]], *, n_jobs: int | None = None, apart: bool = False) -> list[T]:
    """Run zero-argument callables, at most `n_jobs` at a time; results in the order of the tasks.

    `apart` holds each thread to a core of its own while it works (`cores.Cores`): for short work that starts nothing.

    >>> run_tasks([lambda: 1, lambda: 2])
    [1, 2]
    """
    allowed = thread_count(n_jobs)
    threads = min(allowed, len(tasks))
    if threads <= 1 or inside_pool():
        with single_blas():
            return [_unless_stopped(task) for task in tasks]
    results: list[Any] = [None] * len(tasks)
    position = iter(range(len(tasks)))
    taking = threading.Lock()
    failed: list[bool] = []  # not empty as soon as one task has

    scope = Scope()  # Ctrl-C, or an error in one task, stops the others
    cores = Cores(threads) if apart else None

    def worker() -> None:
        outer, working = entered(), inside_pool()
        try:
            _interrupted.scope, _local.working = scope, True
            with cores.own() if cores else nullcontext():
                while not failed:
                    with taking:
                        index = next(position, None)
                    if index is None:
                        return
                    results[index] = tasks[index]()
        except BaseException:
            failed.append(True)
            scope.stop()
            raise
        finally:  # no call: Ctrl-C is raised after calls only, so that these two are always set
            _interrupted.scope, _local.working = outer, working

    with single_blas(), scope.open():
        size = max(threads, allowed if n_jobs is None else get_threads()) - 1 or 1
        tickets: list[Ticket] = []
        try:
            for _ in range(threads - 1):
                try:
                    tickets.append(_state.pool.submit(worker, size))
                except RuntimeError:  # the interpreter shuts down: the caller works alone
                    break
            worker()  # the calling thread works too: one hand-over less, and no wait on a busy pool
            errors = _joined(tickets)
        except BaseException as error:
            failed.append(True)
            scope.stop()
            errors = _joined(tickets)
            if isinstance(error, Stopped) and errors:
                raise errors[0] from None
            raise
        if errors:
            raise errors[0]
        if scope.stopped:
            raise Stopped
    return results


def _unless_stopped(task: Callable[[], T]) -> T:
    check_stopped()
    return task()


def _joined(tickets: Sequence[Ticket]) -> list[BaseException]:
    """Wait until all that have begun are over; their exceptions, without `Stopped`."""
    errors = [ticket.join() for ticket in tickets]
    return [error for error in errors if error is not None and not isinstance(error, Stopped)]


def for_blocks(
    task: Callable[[int, int], T], n: int, *, grain: int, n_jobs: int | None = None, apart: bool = False
) -> list[T]:
    """Run `task(lo, hi)` over 0…n in blocks of `grain`; results in block order.

    The blocks depend on `n` and `grain` only. One block, or one thread, costs no hand-over. `apart` as for `run_tasks`.

    >>> for_blocks(lambda lo, hi: hi - lo, 10, grain=4)
    [4, 4, 2]
    """
    if n <= grain:
        check_stopped()
        with single_blas():
            return [task(0, n)] if n > 0 else []
    blocks = [(lo, min(lo + grain, n)) for lo in range(0, n, grain)]
    return run_tasks([partial(task, lo, hi) for lo, hi in blocks], n_jobs=n_jobs, apart=apart)


class single_blas(ContextDecorator):
    """Hold BLAS to one thread; safe from many threads at once, restored when the last one leaves."""

    def _recreate_cm(self) -> single_blas:  # as a decorator: another one for every call
        return single_blas()

    def __enter__(self) -> None:
        state = _state
        with state.blas_lock:
            if not state.blas_users:
                for get_blas, set_blas in _blas_libraries():
                    threads = get_blas()
                    if threads is not None and threads > 1:
                        state.blas_before.append((set_blas, threads))
                        set_blas(1)
            state.blas_users.add(self)

    def __exit__(self, *_: object) -> None:
        state = _state
        with state.blas_lock:
            state.blas_users.discard(self)
            while not state.blas_users and state.blas_before:
                set_blas, threads = state.blas_before[-1]
                set_blas(threads)
                state.blas_before.pop()  # afterwards: Ctrl-C between the two must not lose the number


@cache
def _blas_libraries() -> list[tuple[Callable[[], int | None], Setter]]:
    """The getter and setter of the thread count of each loaded BLAS; finding them takes milliseconds, so once."""
    import scipy.linalg  # noqa: F401  its own BLAS must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return [_get_and_set(library) for library in ThreadpoolController().select(user_api="blas").lib_controllers]


def _get_and_set(library: Any) -> tuple[Callable[[], int | None], Setter]:
    """The two functions of a library that threadpoolctl found.

    OpenBLAS has one thread count for the whole process. threadpoolctl lets only the Python thread that set it first set
    it again, and ignores others: BLAS would stay on one thread where the last user is not the first. Users are counted
    here, so OpenBLAS is called directly, which is quicker too.
    """
    if library.internal_api == "openblas" and getattr(library, "threading_layer", "openmp") != "openmp":
        for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
            names = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
            get_blas, set_blas = (getattr(library.dynlib, name, None) for name in names)
            if get_blas is not None and set_blas is not None:
                return get_blas, set_blas
    return library.get_num_threads, library.set_num_threads
