"""Files of older formats. Each step takes the tree of one format version and returns that of the next.

When the format changes: raise `FORMAT_VERSION`, write the step from the version before, keep the old golden files.
A class that merely moved needs no step: it goes into `_registry.RENAMED`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from learnt.engine.schema import shown
from learnt.persistence._errors import Refused

FORMAT_NAME = "learnt"
FORMAT_VERSION = 1

MIGRATIONS: dict[int, Callable[[Any], Any]] = {}


def version_of(metadata: Mapping[str, str]) -> int:
    """The format version of a file, when this release reads it."""
    text = metadata.get("format_version", "")
    if metadata.get("format") != FORMAT_NAME or not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise Refused("it does not say which format it is written in")
    version = int(text)
    if version > FORMAT_VERSION:
        wrote = shown(metadata.get("learnt", "a newer release"))
        raise Refused(f"it was written by a newer learnt ({wrote}, format {version}): upgrade learnt to read it")
    if version < FORMAT_VERSION and version not in MIGRATIONS:
        raise Refused(f"it is written in the format {version}, which this release does not read")
    return version


def migrate(tree: Any, version: int) -> Any:
    """The tree as the current format has it."""
    for step in range(version, FORMAT_VERSION):
        tree = MIGRATIONS[step](tree)
    return tree
