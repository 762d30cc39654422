"""Steps 1 to 3: the table, the sealed test set, the constant and the bounds on the best possible error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Data:
    """The table as it was read: its columns, and what was set aside."""

    rows: int
    width: int
    rows_used: int  # those that have a target
    features: list[str]
    image: str | None  # "28 × 28", where the columns are pixels
    columns: list[dict[str, Any]]  # as `table._problem` profiles them
    set_aside: list[dict[str, str]]
    notes: list[str]
    misread: tuple[Any, ...]  # `table._misread.Misread`: cells that were read otherwise than they are written
    target_type: str  # in polars
    hash: str
    time: str | None
    group: str | None


@dataclass(frozen=True)
class Seal:
    """The test set that was sealed, and how it was drawn."""

    test_rows: int
    development_rows: int
    how: str
    hash: str
    opened: list[str] | None  # when the rows that stay sealed were opened by others


@dataclass(frozen=True)
class Constant:
    """The best constant and its losses: the share of wrong rows for classes, the RMSE for amounts."""

    predicts: Any
    loss: float
    error: float | None = None
    rmse: float | None = None


@dataclass(frozen=True)
class Noise:
    """Bounds on the best possible squared loss, `low` and `high` with what chance may do to them."""

    lower: float
    upper: float
    low: float
    high: float


@dataclass(frozen=True)
class BayesError:
    """The same for the share of wrong rows."""

    lower: float
    upper: float
    low: float
    high: float


@dataclass(frozen=True)
class Ceiling:
    """How good any model could be: the constant, and what neighbouring rows say."""

    constant: Constant
    noise: Noise
    signal: bool | None  # whether any regularised model finds something in the columns; None: not looked at
    distance: str | None
    rows: int  # that were looked at
    bayes_error: BayesError | None = None


@dataclass(frozen=True)
class Truth:
    """What is known of a table that was generated."""

    bayes_error: float
    bayes_brier: float
