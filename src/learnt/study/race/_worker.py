"""The worker process: fits models on requests of a study, one at a time, and ends with it.

Started as ``python -m learnt.study.race._worker FOLDER [background]``. Orders come as JSON lines on standard input and
answers leave as JSON lines on the old standard output; whatever libraries print goes to a log file instead. When the
input closes, the study is gone (even by ``kill -9``), and the process ends at once, in the middle of a fit if need be.
SIGINT breaks off the order under way; the process stays, with all that it has loaded. Without a FOLDER it is started
early: it loads, what the first fits need as well, and the first line that comes names the folder.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path


def main(folder: str | None, background: bool = False) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    orders: queue.Queue[dict] = queue.Queue()
    named: queue.Queue[str] = queue.Queue()
    early = folder is None
    if folder is None:
        os.dup2(2, 1)  # discard what libraries print before there is a folder
    else:
        named.put(folder)
        _print_to(folder, background)

    def listen() -> None:
        for line in sys.stdin:
            if early and not folders:
                folders.append(json.loads(line))
                named.put(folders[0])
            else:
                orders.put(json.loads(line))
        os._exit(0)

    folders: list[str] = []

    threading.Thread(target=listen, daemon=True).start()

    def answer(message: dict) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    from learnt.engine.late_import import collecting_later, import_late_in_our_processes

    with collecting_later():
        import_late_in_our_processes()
        from learnt.engine.kernel import compiler as kernel_compiler
        from learnt.study._errors import one_line
        from learnt.study.race._bench import Bench

    at_work = False

    def stop(*_: object) -> None:
        if at_work:  # between two orders there is nothing to stop
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    kernel_compiler.when_begun.append(lambda name: answer({"compiling": name}))
    if early:
        with collecting_later():
            with suppress(ImportError):
                import_module("numba")  # most models need it, and trees come first
            import_module("learnt.tree")
            import_module("learnt.persistence")  # of the final fits, which have the least time
    folder = named.get()
    if early:
        _print_to(folder, background)
    answer({"ready": True})
    bench = None
    while True:
        order = orders.get()
        try:
            at_work = True
            bench = bench or Bench(Path(folder))  # the rows are laid out by the time of the first order
            message = {"result": getattr(bench, order["do"])(**order["with"])}
            at_work = False
        except KeyboardInterrupt:
            at_work = False
            message = {"stopped": True}
        except BaseException as error:
            at_work = False
            message = {"failed": one_line(error)}
        answer({"id": order["id"], **message})


def _print_to(folder: str, background: bool) -> None:
    """Let whatever libraries print go to a log file in the folder."""
    name = "background.log" if background else "worker.log"
    log = os.open(Path(folder) / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None, background="background" in sys.argv[2:])
