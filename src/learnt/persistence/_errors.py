"""The one error of this package."""

from __future__ import annotations


class LearntFileError(ValueError):
    """A model file cannot be written or read: one sentence says what is wrong, where, and what to do."""


class Refused(Exception):
    """Why something is refused, as the end of a sentence; `save`, `load` and `inspect` put the beginning."""
