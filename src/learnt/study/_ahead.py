"""Machine code made ready while the study does other things, so that a first study races as many models as a second.

Kernels are compiled at their first use on a machine, seconds for each kind of model, and the time budget is hard. The
heaviest kind is therefore tried on few rows in a process of its own as soon as the rows are laid out. If that is
quick, all is compiled already and nothing more is done. If it is not, more such processes take one kind of model
after the other, while the race begins with those that are ready; their code reaches it through the kernels' cache.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from learnt.engine.threads import thread_count
from learnt.study._errors import StudyError
from learnt.study._families import Family
from learnt.study._remote import Failed, TooSlow, Worker

QUICK = 3.0  # seconds that a small fit of the heaviest family takes at most when its code is there
START_UP = 2.0  # seconds for a process to import and to read the rows
PATIENCE = 600.0
MOST_PROCESSES = 3
MOST_ROWS = 5_000  # from here on no family takes another road


class Ahead:
    """Compiles families in further processes; the race asks which are ready, and may take one over."""

    def __init__(self, folder: Path, families: Iterable[Family], sizes: list[int], threads: int | None = None) -> None:
        heaviest_first = sorted(families, key=lambda family: (not family.brief, -family.rank))
        self._folder, self._threads = folder, threads
        small, large = (min(size, MOST_ROWS) for size in (sizes[0], sizes[-1]))
        self._waiting = [(family, small) for family in heaviest_first]
        self._larger = [(f, large) for f in heaviest_first if f.brief and large > small]
        self._busy: set[str] = set()
        self._changed = threading.Condition()
        self._workers: list[Worker] = []
        self._ended = False

    def start(self) -> None:
        threading.Thread(target=self._first, daemon=True).start()

    def busy(self, model: str) -> bool:
        """Whether a model's code is being compiled at this moment."""
        return model in self._busy

    def turn(self, model: str) -> int:
        """0: its code is there, or nobody compiles it ahead; above: it may have to be compiled, the lightest first."""
        with self._changed:
            later = [family.model for family, _ in reversed(self._waiting)]
            return later.index(model) + 1 if model in later else 0

    def take_over(self, model: str) -> None:
        """The caller compiles this model itself, if nobody has begun."""
        with self._changed:
            self._waiting = [(f, size) for f, size in self._waiting if f.model != model]

    def wait(self, models: Collection[str], until: float) -> None:
        """Return when one of these is no longer being compiled, or at the moment `until`."""
        with self._changed:
            free = lambda: self._ended or not self._busy.issuperset(models)  # noqa: E731
            self._changed.wait_for(free, timeout=max(until - time.monotonic(), 0.0))

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        self._ended = True
        self._give_up_waiting()
        for worker in list(self._workers):
            worker.stop()

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _first(self) -> None:
        """Try the heaviest family alone: how long it takes tells whether the rest is worth more processes."""
        cold = threading.Timer(QUICK + START_UP, self._more)
        cold.daemon = True
        cold.start()
        self._work(cold)

    def _more(self) -> None:
        for _ in range(min(thread_count(), MOST_PROCESSES) - 1):
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self, cold: threading.Timer | None = None) -> None:
        """Compile one family after the other; the first process has the alarm that calls for more, and may stop it."""
        worker = Worker(self._folder, self._threads, background=True)
        self._workers.append(worker)
        try:
            while (job := self._claim()) is not None:
                result = self._try_out(worker, *job)
                if cold is not None and result.get("fit_s", QUICK) < QUICK:
                    cold.cancel()
                    self._give_up_waiting()
                cold = None
        except StudyError:
            pass  # the process could not start, or was ended with the study
        finally:
            worker.stop()

    def _give_up_waiting(self) -> None:
        with self._changed:
            self._waiting, self._larger = [], []
            self._changed.notify_all()

    def _claim(self) -> tuple[Family, int] | None:
        with self._changed:
            if self._waiting:
                job = self._waiting.pop(0)
                self._busy.add(job[0].model)
                return job
            return self._larger.pop(0) if self._larger else None  # the race need not wait for these: it has begun

    def _try_out(self, worker: Worker, family: Family, rows: int) -> dict[str, Any]:
        try:
            return worker.call("evaluate", PATIENCE, **family.try_out(rows))
        except (Failed, TooSlow):
            return {}  # the race will meet the same trouble, and tell
        finally:
            with self._changed:
                self._busy.discard(family.model)
                self._changed.notify_all()
