"""The one error of this room, and the small words its sentences are made of."""

from __future__ import annotations

from typing import Any

import numpy as np


class LearntFileError(ValueError):
    """A model file cannot be written or read: one sentence says what is wrong, where, and what to do."""


class Refused(Exception):
    """Why something is refused, as the end of a sentence; `save`, `load` and `inspect` put the beginning."""


def shown(value: Any, limit: int = 60) -> str:
    """`value` from a file, safe to put in a sentence: one line, quoted, cut.

    >>> shown("two\\nlines"), shown("x" * 100, 8)
    ("'two\\\\nlines'", "'xxxxxxx…")
    """
    if isinstance(value, str | bytes):
        text = repr(value[: limit + 1])
    elif value is None or isinstance(value, bool | int | float | np.generic) or _is_shape(value):
        text = repr(value)
    else:
        text = f"a {type(value).__name__}"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= limit else text[:limit] + "…"


def _is_shape(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) <= 16 and all(isinstance(n, int) for n in value)
