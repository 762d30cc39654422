"""The command: ``learnt study | predict | inspect | warmup | bench | info``.

_app       the commands and their options; nothing heavy is imported before one runs
_study     study, predict        _inspect   inspect        _warmup   warmup        _bench   bench        _info   info
_run       runs them: every error becomes one sentence (_errors), exit code 2 (``--debug`` shows the traceback)
"""

from __future__ import annotations

from learnt.cli._started import STARTED as STARTED  # first of all imports

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    import sys

    from learnt.cli._run import run

    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
