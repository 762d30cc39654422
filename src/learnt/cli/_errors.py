"""What went wrong, as one sentence on standard error."""

from __future__ import annotations

import sys

from learnt.cli._arguments import Misused

FAILED = 2
INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C, with a sentence on what was kept."""


def sentence(error: BaseException) -> str:
    """An exception as one sentence."""
    said = " ".join(str(error).split())
    if isinstance(error, Misused):
        return said
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"There is no file {error.filename}; check the path."
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}."
    if isinstance(error, MemoryError):
        return "There is not enough memory; use fewer rows."
    if isinstance(error, ValueError | TypeError) and type(error).__module__.startswith("learnt"):
        return said
    if isinstance(error, ImportError):
        return f"{said}; install it, or see learnt info."
    return f"Something unforeseen happened ({type(error).__name__}: {said}); run again with --debug and report it."


def tell(text: str) -> None:
    """One line on standard error."""
    print(f"learnt: {text}", file=sys.stderr, flush=True)
