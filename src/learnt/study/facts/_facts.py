"""All that a study knows, with the diagnosis, the summary and the clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnt.study.facts._data import Ceiling, Data, Seal, Truth
from learnt.study.facts._plain import read_plain, to_plain
from learnt.study.facts._race import Choice, Chosen, ModelFile, Race
from learnt.study.facts._sections import Sections
from learnt.study.facts._test import Bracket, Settled, TestOfAmounts, TestOfClasses, Threshold, Usual


@dataclass(frozen=True)
class Importance:
    """How much the loss on the test rows grows when one column is shuffled."""

    column: str
    loss_added: float
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """A part of the squared loss, between two bounds."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Parts:
    """What the squared loss is made of."""

    noise: Part
    bias: Part
    variance: Part


@dataclass(frozen=True)
class Curve:
    """The learning curve: losses by training rows (lines) and folds (columns)."""

    sizes: list[int]
    train: list[list[float]]
    valid: list[list[float]]


@dataclass(frozen=True)
class Diagnosis:
    """What limits the model, and what to do about it."""

    regime: str
    finding: str
    evidence: list[str]
    treatments: list[str]
    parts: Parts
    loss: float
    train_loss: float
    constant: float
    loss_name: str
    curve: Curve


@dataclass(frozen=True)
class Line:
    """A sentence of the answer, and what it is about."""

    title: str
    text: str


@dataclass(frozen=True)
class Summary:
    """The answer in plain words."""

    headline: str
    verdict: str
    lines: tuple[Line, ...]
    beats_constant: bool | None


@dataclass(frozen=True)
class RunFacts:
    """The clock, and how many results an earlier run had left."""

    finished: str
    seconds: dict[str, float]
    reused: int
    evaluated: str | None = None


@dataclass(frozen=True)
class Facts:
    """All that a study knows; what a later step finds is None, or absent from study.json, before it."""

    learnt: str
    table: str
    example: Truth | None
    target: str
    task: str  # classify or regress
    classes: list[Any] | None
    positive: Any
    settings: dict[str, Any]
    data: Data
    seal: Seal
    ceiling: Ceiling
    race: Race
    choice: Choice
    chosen: Chosen
    model: ModelFile
    test: TestOfClasses | TestOfAmounts | None
    beats_constant: bool | None
    diagnosis: Diagnosis | None
    constant: Usual | None = None
    decision: Settled | None = None
    threshold: Threshold | None = None
    bracket: Bracket | None = None
    importances: tuple[Importance, ...] = ()
    sections: Sections | None = None  # the further ones of the report
    summary: Summary | None = None
    run: RunFacts | None = None

    @property
    def classify(self) -> bool:
        return self.task == "classify"

    @property
    def tried(self) -> int:
        """How many models beside the constant were measured to the end."""
        return sum(entry.family != "constant" for entry in self.race.finished)

    @property
    def unfitted(self) -> str | None:
        """The model that won the race but could not be fitted in time, so that only a constant is left; else None."""
        wanted = self.choice.wanted
        return None if self.chosen.family != "constant" or wanted.family == "constant" else wanted.label

    @property
    def has_model(self) -> bool:
        """Whether a model was fitted, not only a constant for lack of time."""
        return self.tried > 0 and self.unfitted is None

    def plain(self) -> dict[str, Any]:
        """What study.json holds."""
        return to_plain(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Facts:
        """The facts of a study.json."""
        return read_plain(cls, data)

    @classmethod
    def of_folder(cls, folder: Path) -> Facts:
        return cls.read(json.loads((folder / "study.json").read_text(encoding="utf-8")))
