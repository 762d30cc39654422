"""The study's side of the worker: requests with a time limit, and a kill when it runs out."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from learnt.study._errors import StudyError
from learnt.study.race._process import end, spawn, take

STOPPED = "the process that fits models was stopped"
TO_STOP = 0.05  # seconds in which most orders stop when asked
GRACE, MOST_GRACE = 0.4, 1.0  # seconds that a process has to stop when asked: with the order's time more, at most


class Failed(Exception):
    """The worker answered that an order could not be carried out; the text is one line."""


class TooSlow(Exception):
    """The time for an order ran out and the worker was killed."""


class Worker:
    """A process that fits models; restarted when it was killed or died.

    Keeping fits in a process of their own is what makes the time budget hard: compiled code may not respond, but a
    process can always be killed. It also keeps a crash (memory, a bad library) from ending the study. Where the
    time of an order runs out, the process is first asked to stop, since a fresh one needs seconds to load.
    """

    def __init__(self, folder: Path, threads: int | None = None, *, background: bool = False) -> None:
        self.folder, self.threads, self.background = folder, threads, background
        self.on_compile: Callable[[str], None] = lambda kernel: None
        self._process: subprocess.Popen | None = None
        self._answers: queue.Queue[dict | None] = queue.Queue()
        self._taking = threading.Lock()
        self._stopped = False
        self._ready = False
        self._asked_to_stop = False  # since its start: an import may have been broken off
        self._count = 0

    @property
    def ready(self) -> bool:
        """Whether the process has loaded and waits for orders."""
        process = self._process
        return self._ready and process is not None and process.poll() is None

    def start(self) -> None:
        """Start the process; it loads while the study does other things."""
        self._stopped = False
        self._launch()

    def _launch(self) -> None:
        process = None if self.background else take(self.folder, self.threads)
        process = process or spawn(self.folder, self.threads, background=self.background)
        self._process, self._answers = process, queue.Queue()
        threading.Thread(target=_collect, args=(process.stdout, self._answers), daemon=True).start()
        self._ready = self._asked_to_stop = False
        if self._stopped:  # by another thread, while the process was being started
            self._end()

    def call(self, do: str, timeout: float, **arguments: Any) -> dict[str, Any]:
        """Give one order and wait for its answer, at most `timeout` seconds."""
        until = (
            time.monotonic() + timeout - min(TO_STOP, timeout / 10)
        )  # so that it has mostly stopped when the time is over
        try:
            return self._carried_out(do, until, timeout, arguments)
        except Failed:
            if not self._asked_to_stop or self._stopped:
                raise
            self._end()  # it was stopped in the middle of something: repeat in a fresh process
            return self._carried_out(do, until, timeout, arguments)

    def _carried_out(self, do: str, until: float, timeout: float, arguments: dict[str, Any]) -> dict[str, Any]:
        process = self._running()
        self._give(process, do, arguments)
        while True:
            try:
                # The first answer waits for imports and data as well.
                message = self._answers.get(timeout=max(until - time.monotonic(), 0.01))
            except queue.Empty:
                message = self._last_answer(process, timeout)
            if message is None:
                raise self._death(process)
            if message.get("ready"):
                self._ready = True
            elif "compiling" in message:
                self.on_compile(message["compiling"])
            elif message.get("id") == self._count:
                if message.get("stopped"):
                    raise TooSlow(f"stopped after {timeout:.0f} s")
                if "failed" in message:
                    raise Failed(message["failed"])
                return message["result"]

    def _give(self, process: subprocess.Popen, do: str, arguments: dict[str, Any]) -> None:
        assert process.stdin is not None
        self._count += 1
        order = {"id": self._count, "do": do, "with": arguments}
        try:
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        except (OSError, ValueError):  # it died, or another thread has closed the pipe
            self._end()
            raise Failed(
                f"the process that fits models could not be reached; see {self.folder / 'worker.log'}"
            ) from None

    def _last_answer(self, process: subprocess.Popen, timeout: float) -> dict[str, Any] | None:
        """The time is over: ask the process to stop, and end it where it does not answer soon."""
        if self._ready and not self._stopped and os.name == "posix":
            self._asked_to_stop = True
            process.send_signal(signal.SIGINT)
            until = time.monotonic() + _grace(timeout)
            with suppress(queue.Empty):
                while True:
                    message = self._answers.get(timeout=max(until - time.monotonic(), 0.01))
                    if message is None or message.get("id") == self._count:
                        return message
        self._end()
        if not self._stopped:
            self._launch()  # a fresh process loads while the study decides what to do next
        raise TooSlow(f"stopped after {timeout:.0f} s")

    def _death(self, process: subprocess.Popen) -> Exception:
        code, ready = process.wait(), self._ready
        self._end()
        if self._stopped:
            return Failed(STOPPED)
        if not ready:
            return StudyError(f"The process that fits models did not start: {self._last_words()}")
        why = "killed, perhaps out of memory" if code in (-9, 137) else f"exit code {code}"
        return Failed(f"the process fitting it died ({why})")

    def stop(self) -> None:
        """End the process, whatever it is doing; any thread may call this, at any time, more than once."""
        self._stopped = True  # an order under way in another thread must not start a fresh process
        self._end()

    def _running(self) -> subprocess.Popen:
        """The process, started where there is none; a worker that was stopped stays stopped."""
        process = self._process
        if process is None or process.poll() is not None:
            if self._stopped:
                raise Failed(STOPPED)
            self._launch()
            process = self._process
        if process is None:  # stopped by another thread at this very moment
            raise Failed(STOPPED)
        return process

    def _end(self) -> None:
        with self._taking:  # the thread that takes the process ends it; no other thread sees it any more
            process, self._process = self._process, None
        if process is None:
            return
        end(process)

    def _last_words(self) -> str:
        log = self.folder / "worker.log"
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
        said = [line.strip() for line in lines if line.strip()]
        return said[-1] if said else "it said nothing."

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def readiest(workers: Sequence[Worker]) -> Worker:
    """One that has loaded, where there is one: a process that was ended loads again."""
    return max(workers, key=lambda worker: worker.ready)


def _grace(timeout: float) -> float:
    """Never little: a process that is ended has to load again, which takes longer."""
    return min(MOST_GRACE, GRACE + 0.2 * timeout)


def _collect(stream: Any, answers: queue.Queue) -> None:
    try:
        for line in stream:
            answers.put(json.loads(line))
    except ValueError:
        pass  # the stream was closed, or the process died in the middle of a line
    answers.put(None)
