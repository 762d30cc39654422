"""``python -m learnt.accel [--report] [--leave NAME] script.py | -m module | -c code  [arguments]``."""

from __future__ import annotations

import atexit
import os
import pkgutil
import runpy
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
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
        _execute(compile(rest[0], "<string>", "exec", dont_inherit=True), ModuleType("__main__"))
    else:
        if not Path(kind).exists():
            _stop(f"cannot find {kind!r}")
        sys.argv = arguments
        _execute(
            *_script(os.path.join(os.getcwd(), kind))
        )  # absolute, as python has it: a program may change its folder


def _script(path: str) -> tuple[CodeType, ModuleType]:
    """The code of a file, or of `__main__` in a folder or an archive, and the module that it is to be."""
    importer = pkgutil.get_importer(path)
    spec = importer.find_spec("__main__") if importer is not None else None
    if spec is None:
        if Path(path).is_dir():
            _stop(f"there is no __main__.py in {path!r}")
        sys.path[0] = str(Path(path).resolve().parent)
        program = ModuleType("__main__")
        program.__file__ = path
        program.__loader__ = SourceFileLoader("__main__", path)
        return compile(Path(path).read_bytes(), path, "exec", dont_inherit=True), program
    sys.path[0] = path
    return spec.loader.get_code("__main__"), module_from_spec(spec)  # type: ignore[union-attr]


def _execute(code: CodeType, program: ModuleType) -> None:
    sys.modules["__main__"] = program
    exec(code, vars(program))


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
