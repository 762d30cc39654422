"""A docstring as a summary and the sections of numpydoc.

>>> text = '''Add two numbers.
...
... Parameters
... ----------
... a, b : float
...     The numbers.
... '''
>>> parts = split(text)
>>> parts.head, list(parts.sections), named(parts.sections["Parameters"])
('Add two numbers.', ['Parameters'], ['a', 'b'])
>>> print(join(parts))
Add two numbers.
<BLANKLINE>
Parameters
----------
a, b : float
    The numbers.
<BLANKLINE>
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import cleandoc

ORDER = (
    "Parameters",
    "Attributes",
    "Methods",
    "Returns",
    "Yields",
    "Other Parameters",
    "Raises",
    "Warns",
    "Warnings",
    "See Also",
    "Notes",
    "References",
    "Examples",
)
_HEADING = re.compile(rf"^({'|'.join(ORDER)})\n-{{3,}}[ ]*$", re.M)


@dataclass
class Docstring:
    """What stands before the sections, and the text of each."""

    head: str
    sections: dict[str, str]


def split(text: str | None) -> Docstring:
    """The parts of a docstring; of none, no parts."""
    text = cleandoc(text or "")
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    sections = {heading[1]: text[heading.end() : end].strip("\n") for heading, end in zip(headings, ends)}
    return Docstring(text[: headings[0].start()].rstrip() if headings else text.rstrip(), sections)


def join(parts: Docstring) -> str:
    """The docstring again, its sections in numpydoc's order."""
    texts = {name: parts.sections.get(name, "").rstrip() for name in ORDER}
    blocks = [f"{name}\n{'-' * len(name)}\n{text}" for name, text in texts.items() if text]
    return "\n\n".join([parts.head, *blocks]) + ("\n" if blocks else "")


def entries(section: str) -> list[str]:
    """The entries of a section of definitions: a line that is not indented, and all that belongs to it."""
    found: list[list[str]] = []
    for line in section.split("\n"):
        if line and not line[0].isspace():
            found.append([line])
        elif found:
            found[-1].append(line)
    return ["\n".join(lines).rstrip() for lines in found]


def names_of(entry: str) -> list[str]:
    """The names that an entry defines: `a, b : float` defines two, `*args` and `**options` without their stars."""
    return [name.strip().lstrip("*") for name in entry.split("\n", 1)[0].split(" :")[0].split(",")]


def named(section: str) -> list[str]:
    """All names that a section defines."""
    return [name for entry in entries(section) for name in names_of(entry)]


def with_entries(section: str, more: dict[str, str], order: list[str]) -> str:
    """A section with entries that it lacks, all of them in the given order; others stay behind the one they follow."""
    own = entries(section)
    if not more:
        return "\n".join(own)
    place = {name: at for at, name in enumerate(order)}
    keyed: list[tuple[int, int, str]] = []
    last = -1
    for entry in own:
        last = min((place[name] for name in names_of(entry) if name in place), default=last)
        keyed.append((last, 1, entry))
    keyed += [(place.get(name, len(order)), 0, entry) for name, entry in more.items()]
    return "\n".join(entry for _, _, entry in sorted(keyed, key=lambda one: one[:2]))
