"""Using a model of a study on raw tables, and what a study writes into its model file for that."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from learnt.persistence._files import write_notes
from learnt.study._model import SavedModel
from learnt.study._unlike import sentence
from learnt.study.facts import Facts, Usual, to_plain
from learnt.study.table._frames import as_polars


def predict_table(
    model: str | Path,
    table: Any,
    *,
    lenient: bool = False,
    header: bool | None = None,
    explain: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> pl.DataFrame:
    """Predictions for the rows of a table: the decision and the probabilities, or the amount and its interval.

    Threshold and interval are in the model file, where a study wrote it; without, the likelier class is chosen. The
    last column, "unlike", says in words what in a row is unlike all that the model was learnt from (an age of 900, a
    town it has never seen); it is null where nothing is.

    Parameters
    ----------
    model : str or Path
        A model file, or the folder of a study.
    table : data frame
        Rows with the columns the model was learnt from, of any library; other columns are ignored.
    lenient : bool, default=False
        Whether text where the model knows numbers or dates counts as missing; it is refused by default.
    header : bool or None, default=None
        False for a table whose columns have no names: they are then taken in the order of the learnt table, its target
        left out or not.
    explain : bool, default=False
        Whether to add three columns, "reason 1" to "reason 3": the cells that moved the prediction of a row most from
        what is predicted of an unknown row, and by how much, as in "kitchen_queue = 14: +0.21". Of classes it is the
        probability of the predicted one that moved (`learnt.inspection.contributions`).
    say : callable, default=lambda text: None
        Called with a sentence on what was counted as missing, and on how many rows are unlike what was learnt from; by
        default nothing is said.

    Returns
    -------
    predictions : polars.DataFrame
        "prediction", the probabilities of classes or the ends of the interval, "unlike", and the reasons if they were
        asked for.

    See Also
    --------
    evaluate_table : Judges the model on rows whose target is known.
    open_study : Predicts in the library that the rows come in.
    open_service : Predicts over HTTP.
    """
    saved = SavedModel.open(model)
    X = saved.columns_of(as_polars(table, saved.names), lenient=lenient, header=header, say=say)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unreadable cells count as missing
        decided, unlike = saved.decided(saved.output(X)), saved.unlike(X)
        reasons = _reasons(saved, X, decided) if explain else []
    if (said := sentence(unlike)) is not None:
        say(said)
    return decided.with_columns(unlike, *reasons)


def _reasons(saved: SavedModel, X: Any, decided: pl.DataFrame) -> list[pl.Series]:
    from learnt.study._reasons import reason_columns, row_reasons

    return reason_columns(row_reasons(saved, X, decided), X)


@dataclass(frozen=True)
class ModelNotes:
    """What a study knows and the model does not, written into its file so that it moves with it.

    Threshold, positive class and interval are for predictions; target, metric, costs, the constant and the hash of the
    table for judging it on other rows.
    """

    target: str
    task: str
    threshold: float
    half_width: float | None
    positive: Any = None
    constant: Usual | None = None
    metric: str | None = None
    cost: tuple[float, float] | None = None
    group: str | None = None
    table: str | None = None
    rows: int | None = None  # that the model was fitted on
    once: dict[str, float] = field(default_factory=dict)  # of a column of words: the share of values that occur once
    width: int | None = None  # of a table whose columns had no names

    @classmethod
    def of(cls, facts: Facts) -> ModelNotes:
        settings, decision = facts.settings, facts.decision
        assert decision is not None
        return cls(
            target=facts.target,
            task=facts.task,
            threshold=decision.threshold,
            half_width=decision.half_width,
            positive=facts.positive,
            constant=facts.constant,
            metric=settings["metric"],
            cost=settings["cost"],
            group=settings["group"],
            table=facts.data.hash,
            rows=facts.model.rows,
            once={c["name"]: c["once"] for c in facts.data.columns if "once" in c},
            width=facts.data.width if settings["header"] is False else None,
        )

    def write(self, path: Path) -> None:
        """Add them to a model file."""
        write_notes(path, {"study": to_plain(self)})
