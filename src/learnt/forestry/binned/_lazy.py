"""The table that binned trees are grown on, of rows that are read in blocks."""

from __future__ import annotations

import numpy as np

from learnt.forestry.binned._forest import BinnedTable, has_columns
from learnt.forestry.bins._bins import Bins
from learnt.forestry.bins._chosen import ChosenRows, CodedRows, bin_chosen


class CodedTable(CodedRows):
    """Codes of rows, and the table that trees are grown on: the same bytes."""

    def __init__(self, bins: Bins, by_column: np.ndarray, binned: BinnedTable) -> None:
        super().__init__(bins, by_column, np.float32)
        self.binned = binned


def bin_rows(chosen: ChosenRows, random_splits: bool = False) -> CodedTable:
    """As `bin_table` of the same rows in single precision.

    >>> from learnt.engine.rows import as_rows
    >>> bin_rows(ChosenRows(as_rows(np.array([[1.0], [4.0], [2.0]])))).by_column.tolist()
    [[0, 2, 1]]
    """
    n, d = chosen.shape
    bins, (codes, columns, rows), _ = bin_chosen(chosen, by_column=has_columns(n, d), random_splits=random_splits)
    table = BinnedTable(codes, rows.shape[1], columns.size, bins)
    return CodedTable(bins, columns if columns.size else rows[:, :d].T, table)
