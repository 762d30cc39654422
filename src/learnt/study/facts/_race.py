"""Steps 4 and 5: every model that raced, the choice, the model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Calibrated:
    """How probabilities were calibrated, and the loss before and after."""

    kind: str
    exponent: float
    floor: float
    offsets: list[float] | None
    loss_before: float
    loss_after: float
    doubt: float = 0.0


@dataclass(frozen=True)
class Member:
    """A model of a blend, and its weight."""

    label: str
    id: str
    weight: float
    loss: float


@dataclass(frozen=True)
class Timing:
    """Seconds of one fit on the rows of a fold, with its predictions of held-out rows."""

    fit_s: float


@dataclass(frozen=True)
class Racer:
    """A model of the race: one that did not finish has no loss."""

    label: str
    id: str
    family: str
    words: str
    state: str  # chosen, finished, skipped, failed, behind
    note: str
    loss: float | None = None  # mean over the folds, as the race measures it: squared errors of amounts
    low: float | None = None
    high: float | None = None
    corrected: float | None = None  # what the choice compared: of a single model, with its selection bias
    error: float | None = None
    auc: float | None = None
    mae: float | None = None
    rows: int | None = None
    fold_losses: list[float] | None = None
    p_value: float | None = None
    tied: bool = False  # no significant difference from the chosen one
    unclear: bool = False  # nor one from the constant: its losses vary too much to say
    calibrated: Calibrated | None = None
    members: list[Member] = field(default_factory=list)
    recipe: dict[str, Any] | None = None  # from which the model is built
    timing: Timing | None = None

    @property
    def finished(self) -> bool:
        return self.loss is not None


@dataclass(frozen=True)
class Race:
    """The finished race."""

    entries: tuple[Racer, ...]  # finished ones first, the lowest loss on top
    rungs: list[int]
    rows: int  # of a training fold that were used
    all_rows: int  # that there were
    halved: bool
    folds: int
    parts: int
    cut_short: bool
    standard_error: float
    best: str
    loss_name: str
    greater: bool | None  # of a metric that was asked for: whether larger is better
    squared: bool = False  # whether losses are squared errors, which people read by their root

    @property
    def finished(self) -> list[Racer]:
        return [entry for entry in self.entries if entry.finished]

    def shown(self, loss: float) -> float:
        """A loss as people read it: of squared errors the root, of a metric that is to be large the metric."""
        if self.squared:
            return math.sqrt(max(loss, 0.0))
        return -loss if self.greater else loss

    def worse(self, loss: float, than: float) -> float:
        """By which share one loss is worse than another, as people read them; negative where it is better."""
        one, other = self.shown(loss), self.shown(than)
        excess = other - one if self.greater else one - other
        return excess / abs(other) if other else 0.0


@dataclass(frozen=True)
class Candidate:
    """A model that the choice was about."""

    label: str
    id: str
    family: str
    loss: float


@dataclass(frozen=True)
class Choice:
    """The best and the simple model, which was wanted, and why."""

    prefer: str
    rule: str
    best: Candidate
    simple: Candidate
    wanted: Candidate
    simplicity_costs: float  # by how much the simple one is worse than the chosen, as the table shows them
    corrected: bool  # whether single models were compared with their selection bias added
    calibrated: Calibrated | None
    members: list[Member]


@dataclass(frozen=True)
class Chosen:
    """The chosen model: class, settings, members, calibration."""

    label: str
    id: str
    family: str
    model: str
    params: dict[str, Any]
    members: list[dict[str, Any]]
    calibration: dict[str, Any] | None


@dataclass(frozen=True)
class ModelFile:
    """The model file, and on how many rows it was fitted."""

    file: str
    rows: int
    judged_rows: int
    final: str  # "judged": as it was judged; "all": fitted again on all rows
    judged_file: str | None = None
    sha256: str | None = None
    bytes: int | None = None
