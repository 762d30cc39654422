"""Numbers of rows that may be given as shares of all."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from learnt.engine.params import check_number


def check_size(model: Any, name: str, also: tuple = ()) -> None:
    """The parameter is a whole number from 2, or a share of the rows."""
    value = getattr(model, name)
    if isinstance(value, Integral) and not isinstance(value, bool):
        check_number(model, name, 2, integer=True)
    else:
        check_number(model, name, 0, 1, also=also)


def rows_of(value: Any, n: int, name: str) -> int:
    """How many of n rows that are, at least 2 where it is a share.

    >>> rows_of(5, 100, "min_samples"), rows_of(0.1, 100, "min_samples"), rows_of(0.0, 100, "min_samples")
    (5, 10, 2)
    """
    rows = int(value) if value > 1 else max(2, int(value * n))
    if rows > n:
        raise ValueError(f"{name} must be no greater than the number of samples ({n}). Got {rows}")
    return rows
