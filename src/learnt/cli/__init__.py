"""The command: ``learnt study | predict | evaluate | compare | profile | serve | inspect | warmup | bench | …``.

_app       the commands and their options (_arguments reads them); nothing heavy is imported before one runs
_study     study, predict        _evaluate   evaluate        _compare   compare      _profile  profile
_serve     serve                 _inspect    inspect         _warmup    warmup       _bench    bench
_info      info                  _completion completion
_run       runs them: every error becomes one sentence (_errors), exit code 2 (``--debug`` shows the traceback)
"""

from __future__ import annotations

from contextlib import suppress

from learnt.cli._started import STARTED as STARTED  # first of all imports

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    import os
    import sys

    try:
        from learnt.cli._run import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # while the command itself was being loaded
        print("learnt: Interrupted.", file=sys.stderr)
        code = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    # Freeing every object in Python takes a good part of a second; the operating system frees them all at once.
    os._exit(code)
