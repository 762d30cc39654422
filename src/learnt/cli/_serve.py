"""``learnt serve``: a model behind a small HTTP server."""

from __future__ import annotations

import signal
import sys
from typing import Any

from learnt.cli._errors import tell
from learnt.study import ModelServer, open_service
from learnt.study._counting import counted


def run_serve(model: str, *, host: str, port: int, quiet: bool) -> int:
    """Load a model, say where it listens, answer until Ctrl-C."""
    service = open_service(model)
    with ModelServer(service, host, port, log=(lambda text: None) if quiet else _line) as server:
        service.warm()
        signal.signal(signal.SIGTERM, _interrupt)  # as containers end their programs
        if not quiet:
            tell(
                f"{_what(service.schema)}; POST rows to {server.address}predict, or open {server.address}; Ctrl-C ends."
            )
        print(server.address, flush=True)
        server.run()
        tell(f"Stopped after {counted(server.answered, 'request')}.")
    return 0


def _what(schema: dict[str, Any]) -> str:
    target = "" if schema["target"] is None else f" predicts “{schema['target']}”"
    return f"{schema['model']}{target} from {len(schema['columns']):,} columns"


def _line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt
