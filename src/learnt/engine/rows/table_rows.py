"""The rows of a `learnt.scan` table: the interface of rows in the summation form, for a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from learnt.engine.rows.array_rows import ArrayRows, Cells, Merge, Rows, Statistic
from learnt.engine.rows.blocks import Block
from learnt.engine.rows.tables import Table
from learnt.engine.threads import single_blas


class TableRows(Rows):
    """Rows of a `scan` table; y and weights are columns of a table or arrays in memory."""

    def __init__(
        self, X: Table, y: Any = None, w: Any = None, n_jobs: int | None = None, cells: Cells | None = None
    ) -> None:
        self.X, self.y, self.w, self.n_jobs, self.cells = X, y, w, n_jobs, cells
        self.n_rows, self.n_features = X.shape
        self.dtype = np.dtype(np.float64)
        self.reference = np.empty(0)
        self.read_rows = X.read_rows
        for name, values in (("y", y), ("sample_weight", w)):
            if values is not None and len(values) != self.n_rows:
                raise ValueError(f"X has {self.n_rows} rows but {name} has {len(values)}; pass equal lengths.")

    def again(self, y: Any, w: Any, cells: Cells | None) -> TableRows:
        return TableRows(self.X, y, w, self.n_jobs, cells)

    def _read(self, lo: int, hi: int) -> Block:
        return Block(self.X.matrix(lo, hi, self.cells), _part(self.y, lo, hi), _part(self.w, lo, hi), lo)

    def head(self, n: int) -> Block:
        return self._read(0, min(n, self.n_rows))

    def take(self, index: np.ndarray) -> np.ndarray:
        """One pass over the file in blocks, of which the wanted rows are kept."""
        out = np.empty((len(index), self.n_features))
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        for lo, hi in self.X.ranges(self.read_rows):
            first, last = np.searchsorted(wanted, (lo, hi))
            if first < last:
                out[order[first:last]] = self.X.matrix(lo, hi, self.cells)[wanted[first:last] - lo]
        return out

    def _chunks(self) -> Iterator[ArrayRows]:
        for lo, hi in self.X.ranges(self.read_rows):
            X, y, w, start = self._read(lo, hi)
            yield ArrayRows(X, y, w, self.n_jobs, start)

    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        total = None
        for chunk in self._chunks():
            total = merge(total, chunk.reduce(statistic, merge, *state))
        return total

    def pieces(self, function: Callable[..., Any], *state: Any) -> Iterator[tuple[int, Any]]:
        for lo, hi in self.X.ranges(self.read_rows):
            yield lo, function(self._read(lo, hi), *state)

    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        with single_blas():
            return np.concatenate([chunk.map(function, *state) for chunk in self._chunks()])


def _part(values: Any, lo: int, hi: int) -> Any:
    if isinstance(values, Table):
        numbers = values.numbers(lo, hi)
        return numbers[:, 0] if values.single else numbers
    return None if values is None else values[lo:hi]
