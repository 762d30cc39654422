"""A study while it runs: its options, its folder, its clock, and where what it finds is told and kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from learnt.study._journal import Journal
from learnt.study._settings import Settings
from learnt.study.race._budget import Budget

Say = Callable[[str], None]


class Table(NamedTuple):
    """The table as it was read."""

    frame: pl.DataFrame
    name: str
    hash: str
    example: bool


@dataclass(frozen=True)
class Session:
    """What the steps of a running study share; `seconds` is filled as they end."""

    settings: Settings
    folder: Path
    journal: Journal
    say: Say
    budget: Budget
    work: Path  # for files that come into place at the end
    began: float = 0.0  # on the clock of `time.monotonic`
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, label: str, step: Callable, *arguments: Any, **options: Any) -> Any:
        """The result of a step, and how long it took."""
        started = time.monotonic()
        result = step(*arguments, **options)
        self.seconds[label] = time.monotonic() - started
        return result
