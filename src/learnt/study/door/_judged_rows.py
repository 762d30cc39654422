"""The part of a study's object that speaks of rows: those it judged, and how its predictions change with a column."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from learnt.study._errors import StudyError
from learnt.study.door._sentences import python_sentences
from learnt.study.table._frames import Library


class JudgedRows:
    """What `Study` says of rows; it has the numbers, the table and the model of the study."""

    folder: Path
    facts: dict[str, Any]
    classes: Any
    _saved: Any
    _table: pl.DataFrame | str | Path | None
    _library: Library

    def worst_rows(self, count: int = 10) -> Any:
        """The rows that were predicted worst, worst first: test rows, by the model before its last fit.

        While the test set is sealed they are rows of the cross-validation. Their cells are there where the table is
        known (`learnt.open_study(folder, table=…)`).

        Parameters
        ----------
        count : int, default=10
            How many rows.

        Returns
        -------
        rows : data frame
            ``row`` (its place in the table, from 0), the target, ``prediction``, ``probability_of_truth`` of classes,
            ``loss`` (−log of that probability, or the absolute error), and the columns of the table.
        """
        from learnt.study.door import _answers as answers

        table = None if self._table is None else self._studied
        return self._library.frame(answers.worst_rows(self.facts, self._judged, table, count))

    def errors_by(self, column: str) -> Any:
        """The error in each group of rows: the values of a column, or quarters of its range.

        Parameters
        ----------
        column : str
            Any column of the table, whether the model used it or not.

        Returns
        -------
        errors : data frame
            ``group``, ``rows``, ``error`` (share of wrong rows, or mean absolute error) with its 95% interval ``low``
            to ``high``, ``elsewhere`` (of all other rows), ``p_value`` (corrected for the number of groups) and
            ``differs``.
        """
        from learnt.study.door import _answers as answers

        with python_sentences():
            return self._library.frame(answers.errors_by(self.facts, self._judged, self._studied, column))

    def partial_dependence(self, column: str, about: Any = None) -> Any:
        """How the prediction changes when one column alone is changed.

        Parameters
        ----------
        column : str
            A column the model was learnt from.
        about : object, default=None
            The class whose probability is shown. None is the positive one of two, of several the one that moves most.

        Returns
        -------
        dependence : data frame
            ``value``, ``place`` (the number, where values are numbers or days), ``about``, ``mean`` (the prediction
            with every row's cell set to the value), and ``low`` to ``high``, between which half of the rows are.
        """
        from learnt.study.door import _answers as answers

        positive = self._saved.positive
        if about is not None:
            if about not in (self.classes or []):
                raise StudyError(f"{about!r} is no class of the study; there are {self.classes}.")
            positive = (self.classes or []).index(about)
        with python_sentences(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unreadable cells count as missing
            found = answers.partial_dependence(self.facts, self._studied, column, self._saved.output, positive)
        return self._library.frame(found)

    @cached_property
    def _judged(self) -> pl.DataFrame:
        from learnt.study.door import _answers as answers  # slow to load, and most studies are not asked

        return answers.judged_rows(pl.read_parquet(self.folder / "predictions.parquet"))

    @cached_property
    def _studied(self) -> pl.DataFrame:
        """The table that was studied; a sentence where it is not known or another one."""
        from learnt.study.table._read import open_table

        if self._table is None and self.facts["example"] is None:
            raise StudyError(f"{self.folder} does not hold its table; name it: open_study(folder, table=…).")
        header = self.facts["settings"].get("header")
        frame, _, found, _ = open_table(self._table, header if isinstance(self._table, str | Path) else None)
        if found != self.facts["data"]["hash"]:
            raise StudyError("This is not the table that was studied, or it has changed since; name the right one.")
        return frame
