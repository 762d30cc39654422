"""A few strings are read one by one: asking Polars once takes longer than reading hundreds of them.

Its patterns and ours are the same; where the two could disagree (white space and letters beyond ASCII) Polars is asked.
"""

from __future__ import annotations

import re
from functools import lru_cache

import polars as pl

FEW = 100
# Printable ASCII and its white space, and what stands in amounts beyond it; short, since Python's patterns go back.
_SAFE = re.compile(r"[\t-\r -~\u00a0\u2009\u202f€£¥₹₽₩₪₺₫฿¢−’]{0,100}\Z")


def few_strings(labels: pl.Series) -> list[str | None] | None:
    """The strings as a list, where they are few and both readers see the same in them."""
    if len(labels) > FEW:
        return None
    texts = labels.to_list()
    return texts if all(text is None or _SAFE.match(text) for text in texts) else None


@lru_cache(maxsize=64)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as written for Polars; there "$" is the end of the string, and never before a last line break."""
    pattern = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), pattern)
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def as_float(text: str | None) -> float | None:
    """The number that a string of digits, a point and an exponent is."""
    try:
        return None if not text else float(text)
    except ValueError:
        return None
