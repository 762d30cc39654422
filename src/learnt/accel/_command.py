"""``python -m learnt.accel [--report] [--leave NAME] script.py | -m module | -c code  [arguments]``."""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn

from learnt.accel._packages import install
from learnt.accel._record import report

USAGE = """usage: python -m learnt.accel [options] script.py [arguments]
       python -m learnt.accel [options] -m package.module [arguments]
       python -m learnt.accel [options] -c code [arguments]

Runs a Python program as python does, with learnt's estimators in the place of scikit-learn's.

options:
  --report      at the end, say on stderr what ran, how long, and what scikit-learn's fitted (or LEARNT_ACCEL_REPORT=1)
  --leave NAME  leave a name (RandomForestClassifier) scikit-learn's; may be given several times
  --help        this page"""


def main() -> None:
    """Read the options, then be the program that follows them."""
    arguments, leave = sys.argv[1:], []
    reports = os.environ.get("LEARNT_ACCEL_REPORT", "0") not in ("", "0")
    while arguments and arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        option = arguments.pop(0)
        if option in ("-h", "--help"):
            print(USAGE)
            return
        if option == "--report":
            reports = True
        elif option == "--leave" and arguments:
            leave.append(arguments.pop(0))
        elif option.startswith("--leave="):
            leave.append(option.partition("=")[2])
        else:
            _stop(f"unknown option {option}")
    if not arguments:
        _stop("no script was given")
    if arguments[0] in ("-m", "-c") and len(arguments) < 2:
        _stop(f"nothing follows {arguments[0]}")
    if reports:
        atexit.register(lambda: print(report(), file=sys.stderr))
    install(leave)
    _hide_our_frames()
    _run(arguments)


def _stop(why: str) -> NoReturn:
    print(f"learnt.accel: {why}\n{USAGE}", file=sys.stderr)
    sys.exit(2)


def _run(arguments: list[str]) -> None:
    kind, rest = arguments[0], arguments[1:]
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        program = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(program))
    else:
        if not Path(kind).exists():
            _stop(f"cannot find {kind!r}")
        sys.argv = arguments
        sys.path[0] = str(Path(kind).resolve().parent)
        runpy.run_path(kind, run_name="__main__")


def _hide_our_frames() -> None:
    """A traceback begins where the program does."""
    show = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = hook


def _is_ours(file: str) -> bool:
    return "runpy" in Path(file).name or Path(file).parent == Path(__file__).parent
