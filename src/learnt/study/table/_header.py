"""Whether the first line of a text table holds names, or is a row of data like all the others."""

from __future__ import annotations

import csv
import re
from itertools import pairwise

LOOKED_AT = 300  # lines below the first one
_MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "-", "."}
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}.*)?")
_MONEY = str.maketrans("", "", "$€£% ,")


def looks_like_data(lines: list[str], delimiter: str) -> bool:
    """Whether the first of these lines is of the same kind as those below it.

    A word above a column of numbers or dates is a name. A number above numbers, or a word that also stands further
    down in its column, is data, unless the numbers are consecutive (0, 1, 2 or 2019, 2020, 2021), as names are.

    >>> looks_like_data(["5.1,setosa", "4.9,setosa"], ","), looks_like_data(["width,kind", "4.9,setosa"], ",")
    (True, False)
    """
    try:
        first, *below = [row for row in csv.reader(lines[: LOOKED_AT + 1], delimiter=delimiter) if row]
    except (csv.Error, ValueError):
        return False
    below = [row for row in below if len(row) == len(first)]
    if not below or (len(first) == 1 and not _is_amount(first[0])):
        return False
    numbers, repeated, words = [], 0, 0
    for cell, *column in zip(first, *below):
        known = [value for value in column if value.strip().lower() not in _MISSING]
        if not known or cell.strip().lower() in _MISSING:
            continue
        if sum(map(_is_amount, known)) >= 0.9 * len(known):
            if not _is_amount(cell):
                return False
            numbers.append(cell)
        else:
            words += 1
            repeated += cell in column
    if numbers:
        return not _counted_up(numbers)
    return words > 0 and 2 * repeated > words


def _is_amount(cell: str) -> bool:
    """A number, a sum of money, a percentage, a date or a time."""
    cell = cell.strip()
    if _DATE.fullmatch(cell):
        return True
    try:
        float(cell.translate(_MONEY) or "x")
    except ValueError:
        return False
    return cell.lower().lstrip("+-") not in ("nan", "inf", "infinity")


def _counted_up(cells: list[str]) -> bool:
    if len(cells) < 3 or not all(cell.strip().isdigit() for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(cells)}
    return len(steps) == 1 and steps.pop() > 0


def numbered(text: str | None, columns: list[str]) -> str | None:
    """The name of a column of a table without names, by its name or by its number from 1.

    >>> numbered("2", ["column_1", "column_2"]), numbered("column_1", ["column_1"]), numbered("7", ["column_1"])
    ('column_2', 'column_1', '7')
    """
    if text is not None and text.isdigit() and 1 <= int(text) <= len(columns):
        return columns[int(text) - 1]
    return text
