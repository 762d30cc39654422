"""Sentences of the command in the words of Python: where one says ``--budget 5m``, ``budget="5m"`` is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from learnt.study._errors import StudyError

_SWITCHES = {
    "--no-header": "header=False",
    "--header": "header=True",
    "--overwrite": "overwrite=True",
    "--lenient": "lenient=True",
    "--keep-sealed": "keep_sealed=True",
    "--fresh": "fresh=True",
}
_LISTS = ("keep", "drop")
_OPTION = re.compile(
    r"--(target|out|budget|task|time|group|cost|keep|drop|metric|prefer|final|seed|threads)\b( [^\s;,.)]+)?"
)
_VALUES = re.compile(r"none|classify|regress|auto|simple|best|judged|all|fp=.*|\d+(\.\d+)?[smh]?|[A-Z]{3,}")


def in_python(sentence: str) -> str:
    """A sentence with its options as keyword arguments.

    >>> in_python("Give the study more time (--budget 5m): it ended early.")
    'Give the study more time (budget="5m"): it ended early.'
    >>> in_python("add --overwrite to replace it, or choose another folder with --out.")
    'add overwrite=True to replace it, or choose another folder with out=….'
    """
    for option, argument in _SWITCHES.items():
        sentence = re.sub(rf"{option}\b(?!-)", argument, sentence)
    return _OPTION.sub(_argument, sentence)


def _argument(found: re.Match[str]) -> str:
    name, value = found[1], (found[2] or "").strip()
    if value and _VALUES.fullmatch(value):
        return f'{name}=["{value}"]' if name in _LISTS else f'{name}="{value}"'
    return f"{name}=…{found[2] or ''}"


@contextmanager
def python_sentences() -> Iterator[None]:
    """Errors of a study as Python's users read them."""
    try:
        yield
    except StudyError as error:
        raise type(error)(in_python(str(error))) from error.__cause__
