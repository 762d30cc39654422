"""A connection that is read and written against one deadline, however the bytes are spread over time.

A socket's own timeout starts anew with every byte, so that a client who sends one now and then would never meet it.
"""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable
from typing import Any


class TooSlow(Exception):
    """The deadline passed before the request was there."""


class Link(io.RawIOBase):
    """The bytes of a socket until a deadline; past it, reading raises `TooSlow`, and writing what a socket would."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._deadline = connection, 0.0

    def until(self, seconds: float) -> None:
        """Put the deadline so many seconds from now."""
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._in_time(self._connection.recv_into, buffer)
        except TimeoutError:
            raise TooSlow from None

    def write(self, data: Any) -> int:
        return self._in_time(self._connection.send, data)

    def _in_time(self, act: Callable[[Any], int], data: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return act(data)
