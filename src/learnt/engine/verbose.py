"""What an estimator says while it is fitted with `verbose`: to the log where it has a handler, to stderr otherwise."""

from __future__ import annotations

import logging
import sys
from typing import Any

_log = logging.getLogger("learnt")


def tell(text: str, *values: Any) -> None:
    """One line, `text % values`. Never on stdout, which belongs to the user's own program."""
    if _log.isEnabledFor(logging.INFO) and _log.hasHandlers():
        _log.info(text, *values)
    else:
        print(text % values, file=sys.stderr, flush=True)
