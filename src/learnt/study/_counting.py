"""Counts in sentences: one row, two rows."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun, which may bring a verb along.

    >>> counted(1, "row"), counted(1200, "row"), counted(1, "row has", "rows have")
    ('1 row', '1,200 rows', '1 row has')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
