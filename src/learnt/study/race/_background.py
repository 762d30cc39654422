"""A calculation during the race: in a thread of this process, which otherwise only waits for the worker processes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any


class BackgroundCall:
    """One call, begun by `start` and fetched by `result`, which waits for it and raises what it raised.

    The thread does not keep the process alive: an interrupted study ends at once.

    >>> sum_ = BackgroundCall(sum, [1, 2])
    >>> sum_.start()
    >>> sum_.result()
    3
    """

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self._call, self._arguments = call, arguments
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._answer: Any = None
        self._trouble: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self._answer = self._call(*self._arguments)
        except BaseException as error:
            self._trouble = error

    def result(self, patience: float = math.inf) -> Any:
        """What the call returned; None where it takes more than `patience` seconds longer."""
        until = time.monotonic() + patience
        while self._thread.is_alive():
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._thread.join(min(left, 0.2))  # so that Ctrl-C is handled
        if self._trouble is not None:
            raise self._trouble
        return self._answer
