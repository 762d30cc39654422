"""A saved model as people use it: loaded once, it takes raw tables and gives decisions, probabilities, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.persistence import inspect, load
from learnt.preprocessing import TableEncoder
from learnt.study._counting import counted
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._unlike import unlike_rows
from learnt.study.judgement._judge import output_of
from learnt.study.judgement._output import prediction_columns

UNLIKE = "unlike"  # the column of what is unlike all that was learnt from
Say = Callable[[str], None]


@dataclass(frozen=True)
class SavedModel:
    """A model file in memory; nothing in it changes, so that several threads may use one."""

    path: Path
    fitted: Any
    about: dict[str, Any]  # what a study wrote into the file: threshold, interval, target, …
    names: list[str] | None  # of the columns it was learnt from
    encoder: TableEncoder | None
    classes: list | None

    @classmethod
    def open(cls, path: str | Path) -> SavedModel:
        """The model of a file, or of the folder of a study."""
        path = Path(path)
        path = path / "model.learnt" if path.is_dir() else path
        fitted = load(path)
        if not hasattr(fitted, "predict"):
            raise StudyError(f"{path} holds a {type(fitted).__name__}, which does not predict.")
        if hasattr(fitted, "classes_") and not hasattr(fitted, "predict_proba"):
            raise StudyError(
                f"{path} holds a {type(fitted).__name__}, which gives no probabilities; save a model that does, or use "
                "learnt.load and its predict in Python."
            )
        names, classes = next(_names(fitted), None), getattr(fitted, "classes_", None)
        return cls(
            path,
            fitted,
            inspect(path).notes.get("study", {}),
            None if names is None else [str(name) for name in names],
            next(_encoders(fitted), None),
            None if classes is None else np.asarray(classes).tolist(),
        )

    @property
    def positive(self) -> int | None:
        """The number of the class that a threshold is about, where the file says."""
        classes, wanted = self.classes or [], self.about.get("positive")
        return classes.index(wanted) if wanted in classes else None

    @property
    def threshold(self) -> float:
        return self.about.get("threshold", 0.5)

    def columns_of(
        self, table: pl.DataFrame, *, lenient: bool = False, header: bool | None = None, say: Say = lambda text: None
    ) -> Any:
        """The columns that the model was learnt from, in its order, every cell looked at."""
        if header is False:
            table = self.in_order(table)
        if self.names is None:  # learnt from an array
            width = getattr(self.fitted, "n_features_in_", table.width)
            if table.width != width:
                raise StudyError(f"The table has {table.width} columns; the model was learnt from {width}.")
            return table.to_numpy() if all(dtype.is_numeric() for dtype in table.dtypes) else table
        lacking = [name for name in self.names if name not in table.columns]
        if lacking:
            hint = did_you_mean(lacking[0], table.columns)
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise StudyError(f"The table lacks the column “{lacking[0]}”{more} that the model was learnt from; {hint}")
        X = table if table.columns == self.names else table.select(self.names)
        if self.encoder is not None:
            _check_cells(self.encoder, X, lenient, say)
        return X

    def in_order(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table whose columns have no names, with those of the learnt one."""
        return _in_order(table, self.about, self.path)

    def output(self, X: Any) -> np.ndarray:
        """Probabilities over all classes, or numbers, for rows from `columns_of`."""
        try:
            return output_of(self.fitted, X, self.classes)
        except ValueError as error:  # what a model says of rows it cannot take, or that it was never fitted
            raise StudyError(" ".join(str(error).split())) from error

    def unlike(self, X: Any) -> pl.Series:
        """What in each row from `columns_of` is unlike all that was learnt from, in words; null where nothing is.

        Examples
        --------
        >>> saved = SavedModel.open("model.learnt")         # doctest: +SKIP
        >>> saved.unlike(saved.columns_of(table)).to_list() # doctest: +SKIP
        [None, 'age = 900 (learnt from 18 to 95)']
        """
        if self.encoder is None or self.encoder.sparse_ or self.names is None:
            return pl.Series(UNLIKE, [None] * len(X), dtype=pl.String)
        found = unlike_rows(self.encoder, X, self.about.get("rows"), self.about.get("once"))
        return pl.Series(UNLIKE, found, dtype=pl.String)

    def decided(self, output: np.ndarray) -> pl.DataFrame:
        """The decision and the probabilities, or the amount and its interval."""
        half_width = self.about.get("half_width") if self.classes is None else None
        return pl.DataFrame(prediction_columns(output, self.classes, self.positive, self.threshold, half_width))


def _encoders(model: Any) -> Iterator[TableEncoder]:
    """The table encoders inside a model, wherever pipelines and ensembles keep them."""
    if isinstance(model, TableEncoder):
        yield model
    for part in _parts(model):
        yield from _encoders(part)


def _names(model: Any) -> Iterator[Any]:
    """The columns that a model, or a part of it that reads the table, was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        yield names
    for part in _parts(model):
        yield from _names(part)


def _parts(model: Any) -> Iterator[Any]:
    yield from (step for _, step in getattr(model, "steps", ()))
    if getattr(model, "estimator_", None) is not None:
        yield model.estimator_
    members = getattr(model, "estimators_", None)
    yield from members if isinstance(members, list) else ()


def _check_cells(encoder: TableEncoder, X: pl.DataFrame, lenient: bool, say: Callable[[str], None]) -> None:
    """Refuse text where the model was fitted on numbers or dates, or report how much of it counts as missing."""
    found = encoder.unreadable(X)
    if not found:
        return
    words = {"number": "numbers", "date": "dates", "boolean": "yes or no"}
    if lenient:
        told = ", ".join(f"{entry['count']:,} of “{entry['column']}”" for entry in found[:10])
        more = f" and {counted(len(found) - 10, 'more column')}" if len(found) > 10 else ""
        say(f"Cells that could not be read count as missing: {told}{more}.")
        return
    first = found[0]
    cell = first["cell"] if len(first["cell"]) <= 30 else first["cell"][:29] + "…"
    others = sum(entry["count"] for entry in found) - 1
    more = f", and {counted(others, 'other cell')} cannot be read either" if others else ""
    raise StudyError(
        f"Row {first['row'] + 1:,} of the column “{first['column']}” holds “{cell}” where the model knows "
        f"{words[first['kind']]}{more}; correct them, or add --lenient to count them as missing."
    )


def _in_order(table: pl.DataFrame, about: dict[str, Any], path: Path) -> pl.DataFrame:
    """Give unnamed columns the names of the training table, with or without its target."""
    width, target = about.get("width"), str(about.get("target"))
    if width is None:
        raise StudyError(f"{path} was learnt from a table with names; give the new table a line of names too.")
    learnt = [f"column_{k + 1}" for k in range(width)]
    if table.width == width - 1:
        learnt.remove(target)
    elif table.width != width:
        raise StudyError(
            f"The table has {table.width} columns; the model was learnt from one of {width}, so {width} or {width - 1} "
            f"(without {target}) are needed."
        )
    return table.rename(dict(zip(table.columns, learnt)))
