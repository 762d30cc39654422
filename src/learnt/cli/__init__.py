"""The command: ``learnt study | predict | inspect | warmup | bench | info``.

_app       the commands and their options; nothing heavy is imported before one runs
_study     study, predict        _inspect   inspect        _warmup   warmup        _bench   bench        _info   info
_errors    every error becomes one sentence on standard error, exit code 2 (``--debug`` shows the traceback)
"""

from __future__ import annotations

import time

STARTED = time.monotonic()  # before anything heavy is imported: a budget counts from here

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    import sys

    from learnt.cli._errors import run

    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
