"""Errors of a study that cannot continue."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class StudyError(ValueError):
    """One sentence for the user: what was wrong, where, what to do."""


class TooFewRows(StudyError):
    """There are not enough rows to learn from some and to judge by others."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A hint for a mistyped name, or the first names there are.

    >>> did_you_mean("Survivd", ["Age", "Survived"])
    'did you mean “Survived”?'
    >>> did_you_mean("xyz", ["Age", "Fare"])
    'the columns are “Age”, “Fare”.'
    """
    names = list(names)
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), lower, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"“{lower[c]}”" for c in close) + "?"
    shown = ", ".join(f"“{name}”" for name in names[:8]) + (", …" if len(names) > 8 else "")
    return f"the columns are {shown}."


def one_line(error: BaseException, most: int = 200) -> str:
    """An exception in one short line: its kind and the first line of what it says.

    >>> one_line(ValueError("too few rows\\nand more"))
    'ValueError: too few rows'
    """
    first = str(error).strip().split("\n", 1)[0]
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= most else text[: most - 1] + "…"
