"""What a data scientist looks for next: a dataclass for each section that `learnt.study.sections` computes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnPart:
    """Rows whose cells are alike, and their target: the share of a class, or the mean, with its 95% interval."""

    label: str
    rows: int
    target: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ColumnProfile:
    """One column; `explains` is the share of the target's variance that its parts alone account for."""

    name: str
    kind: str
    ordered: bool  # the parts are ranges or values in order
    rows: int
    missing: float
    about: str  # the class whose share is shown; "" for the mean of an amount
    overall: float  # that share or mean of all rows
    parts: tuple[ColumnPart, ...]
    explains: float


@dataclass(frozen=True)
class AtThreshold:
    """Rows called and not called from a probability on, and what follows; None where a share is of no rows."""

    threshold: float
    tp: int
    fp: int
    fn: int
    tn: int
    precision: float | None
    recall: float
    f1: float
    accuracy: float
    cost: float  # of all rows together


@dataclass(frozen=True)
class Thresholds:
    """What each threshold would have meant for these rows, `used` among them."""

    positive: str
    rows: int
    positives: int
    used: float
    costs: tuple[float, float]  # of a false alarm and of a missed positive
    table: tuple[AtThreshold, ...]

    @property
    def now(self) -> AtThreshold:
        """The row of the threshold in use."""
        return min(self.table, key=lambda row: abs(row.threshold - self.used))


@dataclass(frozen=True)
class PrecisionRecall:
    """The precision–recall curve of a class, from the strictest threshold on, and the area under it."""

    positive: str
    rows: int
    positives: int
    recall: list[float]
    precision: list[float]
    area: float  # average precision

    @property
    def chance(self) -> float:
        """The precision of random calls."""
        return self.positives / self.rows


@dataclass(frozen=True)
class Effect:
    """The mean prediction with a column set to each of some values, and the middle half of the rows' predictions.

    `place` is where a value lies on the axis of numbers (days since 1970 for dates), None for labels.
    """

    column: str
    about: str  # the class whose probability it is; "" for an amount
    values: list[str]
    place: list[float] | None
    mean: list[float]
    low: list[float]
    high: list[float]
    direction: str  # "rises", "falls", "rises and falls", "hardly changes"; of labels "highest for <label>"

    @property
    def range(self) -> float:
        """How far the mean prediction moves."""
        return max(self.mean) - min(self.mean)


@dataclass(frozen=True)
class Reason:
    """How much a column moved the prediction of a row away from the mean."""

    column: str
    cell: str
    contribution: float


@dataclass(frozen=True)
class ShownRow:
    """A row with its place in the file (from 0), what was true, what was predicted, and why."""

    row: int
    truth: str | float
    predicted: str | float
    probability: float | None  # that was given to the class that was true
    loss: float
    cells: dict[str, str]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class ShownRows:
    """The worst rows, the worst first, and typical ones."""

    worst: tuple[ShownRow, ...]
    typical: tuple[ShownRow, ...]
    link: str = ""  # of the reasons: "identity", "probability" or "log-odds"


@dataclass(frozen=True)
class GroupError:
    """The error of one group of rows; `flagged` where it differs from all others by more than chance explains."""

    column: str
    group: str
    rows: int
    error: float
    low: float
    high: float
    elsewhere: float  # the error of all other rows
    p_value: float  # corrected for the number of groups
    flagged: bool


@dataclass(frozen=True)
class GroupErrors:
    """Errors of all groups of all columns that have groups, the columns in the order given."""

    measure: str  # "error rate" or "mean absolute error"
    rows: int
    overall: float
    level: float  # the chance that any group is flagged where none differs
    groups: tuple[GroupError, ...]

    @property
    def flagged(self) -> tuple[GroupError, ...]:
        """The groups that differ, the clearest first."""
        return tuple(sorted((g for g in self.groups if g.flagged), key=lambda g: g.p_value))


@dataclass(frozen=True)
class Finisher:
    """A model that finished: seconds since the race began, its loss, and whether it was the best until then."""

    label: str
    family: str
    seconds: float
    loss: float
    best: bool


@dataclass(frozen=True)
class Reliability:
    """Mean probability against observed share in bins of equal count, and what it comes to."""

    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    rows: list[int]
    gap: float  # the mean of |predicted - observed| over rows: the expected calibration error
    brier: float


@dataclass(frozen=True)
class BeforeAndAfter:
    """Two reliabilities of the same rows, which neither the models nor the maps had seen."""

    about: str  # the class, or "the likeliest class" of several
    rows: int
    before: Reliability
    after: Reliability


@dataclass(frozen=True)
class ColumnDrift:
    """How far a column of the test rows is from that of the development rows."""

    column: str
    shift: float  # from 0 to 1: the greatest gap of cumulative shares, or the share of rows with another label
    missing_before: float
    missing_after: float
    p_value: float  # corrected for the number of columns
    flagged: bool


@dataclass(frozen=True)
class Drift:
    """All columns, those that changed most clearly first."""

    development_rows: int
    test_rows: int
    level: float  # the chance that any column is flagged where none has changed
    columns: tuple[ColumnDrift, ...]

    @property
    def flagged(self) -> tuple[ColumnDrift, ...]:
        return tuple(c for c in self.columns if c.flagged)


@dataclass(frozen=True)
class Sections:
    """The further sections of the report; one for which there was no time, or nothing to say, is empty or None."""

    columns: tuple[ColumnProfile, ...] = ()
    finishers: tuple[Finisher, ...] = ()
    precision_recall: PrecisionRecall | None = None  # of the test rows
    thresholds: Thresholds | None = None  # on development rows, as held-out predictions are
    calibration: BeforeAndAfter | None = None
    effects: tuple[Effect, ...] = ()
    rows: ShownRows | None = None
    groups: GroupErrors | None = None
    drift: Drift | None = None
