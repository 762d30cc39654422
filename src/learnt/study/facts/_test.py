"""Step 6: what was settled before the test set was opened, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Area:
    """An area under a curve; the mean over several classes has no interval."""

    estimate: float
    low: float | None = None
    high: float | None = None


# --- settled on development rows ---


@dataclass(frozen=True)
class Usual:
    """What the best constant predicts: the shares of the classes, or the mean."""

    shares: list[float] | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Settled:
    """How predictions are made of probabilities and amounts."""

    threshold: float
    half_width: float | None  # of the intervals of amounts


@dataclass(frozen=True)
class ThresholdCurve:
    """What would be paid, or reached, at each threshold."""

    threshold: list[float]
    cost: list[float]


@dataclass(frozen=True)
class Threshold:
    """The best threshold on out-of-fold predictions, and whether it is used."""

    threshold: float
    low: float
    high: float
    elkan: float
    cost_per_row: float
    curve: ThresholdCurve
    by: str
    used: bool


@dataclass(frozen=True)
class Bracket:
    """The best possible error between two bounds; `known`: whether they say more than the model's own error."""

    lower: float
    upper: float
    reached: float
    known: bool


# --- what the test rows said ---


@dataclass(frozen=True)
class MetricTest:
    """The metric that was asked for, beside the constant's."""

    name: str
    words: str
    greater: bool
    estimate: float
    low: float
    high: float
    constant: float
    gain: Estimate


@dataclass(frozen=True)
class ClassRow:
    """One class: its rows, recall, precision and F1."""

    class_: Any
    rows: int
    recall: float | None
    precision: float | None
    f1: float | None


@dataclass(frozen=True)
class Rare:
    """A rare class: what is found of it, and at the price of how many false alarms."""

    class_: Any
    share: float
    rows: int
    found: int
    missed: int
    false_alarms: int
    recall: Estimate | None
    precision: Estimate | None
    average_precision: Estimate | None


@dataclass(frozen=True)
class Roc:
    """The ROC curve."""

    fpr: list[float]
    tpr: list[float]


@dataclass(frozen=True)
class Rates:
    """The point on it where the model decides."""

    fpr: float
    tpr: float


@dataclass(frozen=True)
class CalibrationBins:
    """Mean probability and observed share in bins of equal count."""

    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    rows: list[int]


@dataclass(frozen=True)
class TestOfClasses:
    """All that the test set says about a classifier."""

    __test__ = False  # no class of tests

    rows: int
    level: float
    error: Estimate  # of the likeliest class, whatever the threshold
    brier: Estimate
    constant_error: float
    constant_brier: float
    brier_gain: Estimate
    fewer_errors: Estimate
    log_loss: float
    error_at_threshold: float
    accuracy: float  # of the decisions: 1 − error_at_threshold
    f1: float | None  # of the positive of two classes, the mean of several
    confusion: list[list[int]]
    threshold: float
    per_class: tuple[ClassRow, ...]
    mean_recall: float
    lopsided: bool
    rare: Rare | None = None
    auc: Area | None = None
    ranks: bool | None = None
    roc: Roc | None = None
    at_threshold: Rates | None = None
    calibration: CalibrationBins | None = None
    cost: Estimate | None = None
    cost_at_half: float | None = None
    cost_of_none: float | None = None
    cost_of_all: float | None = None
    metric: MetricTest | None = None
    use: int | None = None  # how many times these rows were opened, of a sealed test set
    opened: str | None = None


@dataclass(frozen=True)
class Coverage:
    """Intervals of amounts: what they should hold, and what they held."""

    half_width: float
    coverage: float
    covered: Estimate


@dataclass(frozen=True)
class TestOfAmounts:
    """All that the test set says about a regressor."""

    __test__ = False

    rows: int
    level: float
    rmse: Estimate
    mae: Estimate
    r2: Estimate
    constant_rmse: float
    gain: Estimate
    residual_quantiles: list[float]
    interval: Coverage | None = None
    metric: MetricTest | None = None
    use: int | None = None  # how many times these rows were opened, of a sealed test set
    opened: str | None = None


Test = TestOfClasses | TestOfAmounts


@dataclass(frozen=True)
class Judged:
    """What sentences about a model on rows with targets are made of, whoever judged it."""

    test: Test
    positive: Any
    constant: Any  # what the best constant predicts
    beats_constant: bool
    threshold: Threshold | None = None
    one_half: bool = True  # whether a probability of one half decides
    has_model: bool = True  # whether there is a model beside the constant
