"""One command line, run: whatever goes wrong is a sentence on standard error and an exit code, without a traceback."""

from __future__ import annotations

import os
import sys

from learnt.cli._app import run_command
from learnt.cli._errors import FAILED, INTERRUPTED, Interrupted, sentence, tell


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        code = run_command(arguments)
        sys.stdout.flush()
        return code
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
        if debug:
            raise
        tell(sentence(error))
        return FAILED
