"""One command line, run: whatever goes wrong is a sentence on standard error and an exit code, without a traceback."""

from __future__ import annotations

import os
import sys

from learnt.cli._app import app
from learnt.cli._errors import FAILED, INTERRUPTED, Interrupted, sentence, tell


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="learnt")
        if code == INTERRUPTED:  # typer has caught it, and says nothing
            tell("Interrupted.")
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
