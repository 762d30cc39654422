"""One door for everything that can go wrong: a sentence on standard error, an exit code, no traceback."""

from __future__ import annotations

import os
import sys

FAILED = 2
INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C, with a sentence on what was kept; no KeyboardInterrupt, because typer would swallow its words."""


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    from learnt.cli._app import app

    try:
        code = app(args=arguments, standalone_mode=False, prog_name="learnt")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:  # the reader of our output has gone (learnt … | head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Interrupted as stop:
        tell(str(stop))
        return INTERRUPTED
    except KeyboardInterrupt:
        tell("Interrupted.")
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED
    except Exception as error:
        if type(error).__name__ == "Abort":  # typer's name for Ctrl-C
            tell("Interrupted.")
            return INTERRUPTED
        if debug:
            raise
        tell(sentence(error))
        return FAILED


def sentence(error: BaseException) -> str:
    """An exception as one sentence."""
    usage = getattr(error, "format_message", None)
    if callable(usage):  # a mistyped option or argument
        said = " ".join(str(usage()).split())
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "learnt") if context is not None else "learnt"
        return f"{said.rstrip('.')}; see {path} --help."
    said = " ".join(str(error).split())
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
