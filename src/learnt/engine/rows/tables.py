"""Parquet and Arrow files, read a block at a time: for tables larger than memory.

table = learnt.scan("flights.parquet")
LinearRegression().fit(table.drop("delay"), table["delay"])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.finite import all_finite, rows_as_given
from learnt.engine.memory import read_bytes
from learnt.engine.rows.blocks import Block
from learnt.engine.rows.files import DataFile, open_file, polars_errors, unreadable

_READ_BYTES = 1 << 26  # a read of 64 MiB amortises the file's own blocks and still bounds memory
_FEWEST_BYTES = 1 << 22  # with smaller reads a large table takes too long


class Step(NamedTuple):
    """A function applied to every block that has been read: `function(block, *state)`, one row for each row."""

    function: Callable[..., Any]
    state: tuple


class Table:
    """Some columns of a file, read when needed. Passed as X; `table["name"]` is one column and passed as y.

    A table that went through a transformer is a table again, whose blocks are transformed as they are read;
    `to_numpy()` brings all of it into memory.
    """

    __learnt_blocks__ = True

    def __init__(
        self,
        file: DataFile,
        columns: Sequence[str],
        n_rows: int,
        *,
        single: bool = False,
        source: Sequence[str] | None = None,
        steps: tuple[Step, ...] = (),
        chosen: np.ndarray | None = None,
    ) -> None:
        self._file, self.columns, self.n_rows, self.single = file, list(columns), n_rows, single
        self._source = self.columns if source is None else list(source)  # the columns of the file that are read
        self._steps = steps
        self._chosen = chosen  # the numbers of the file's rows that it has, in their order; None: it has all

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_rows,) if self.single else (self.n_rows, len(self.columns))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def transformed(self) -> bool:
        """Whether its columns are those of a transformer, whose output has no names in scikit-learn either."""
        return bool(self._steps)

    @property
    def read_rows(self) -> int:
        """Among how many rows of the file those are that are read at once."""
        import polars as pl

        row, n = 8 * max(len(self._source), len(self.columns)), self._end
        size = read_bytes(_READ_BYTES, min(_FEWEST_BYTES, row * n), pl.thread_pool_size(), self.path.name)
        return max(256, min(n, size // row))

    @property
    def _end(self) -> int:
        """The rows of the file that come before this are all that are read."""
        if self._chosen is None:
            return self.n_rows
        return int(self._chosen[-1]) + 1 if self.n_rows else 0

    def ranges(self, step: int | None = None) -> Iterator[tuple[int, int]]:
        """The rows of every read, in order: those among `step` of the file, as many as memory allows by default."""
        step = self.read_rows if step is None else step
        if self._chosen is None:
            for lo in range(0, self.n_rows, step):
                yield lo, min(lo + step, self.n_rows)
            return
        ends = np.searchsorted(self._chosen, np.arange(0, self._end + step, step)).tolist()
        yield from ((lo, hi) for lo, hi in pairwise(ends) if lo < hi)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"learnt.scan({str(self.path)!r}) with {self.n_rows} rows and columns {', '.join(self.columns)}"

    def __getitem__(self, key: str | Sequence[str]) -> Table:
        names = [key] if isinstance(key, str) or not np.iterable(key) else list(key)
        if not all(isinstance(name, str) for name in names):
            raise TypeError("A learnt.scan table is read in blocks and has columns, by name, but no rows to pick.")
        self._require(names)
        return self._with(names, single=isinstance(key, str))

    def drop(self, *names: str) -> Table:
        """The table without these columns."""
        self._require(names)
        return self._with([c for c in self.columns if c not in names])

    def _with(self, names: list[str], single: bool = False) -> Table:
        if not self._steps:
            return Table(self._file, names, self.n_rows, single=single, chosen=self._chosen)
        places = np.array([self.columns.index(name) for name in names], dtype=np.intp)
        steps = (*self._steps, Step(_columns, (places,)))
        return Table(
            self._file, names, self.n_rows, single=single, source=self._source, steps=steps, chosen=self._chosen
        )

    def then(self, function: Callable[..., Any], state: tuple, columns: Sequence[str]) -> Table:
        """The table of what `function(block, *state)` gives for every block: one row a row, under these names."""
        steps = (*self._steps, Step(function, state))
        return Table(self._file, columns, self.n_rows, source=self._source, steps=steps, chosen=self._chosen)

    def only(self, rows: np.ndarray) -> Table:
        """The table of the rows with these numbers, which increase."""
        table = copy(self)
        table._chosen, table.n_rows = rows if self._chosen is None else self._chosen[rows], len(rows)
        return table

    def _require(self, names: Sequence[str]) -> None:
        if unknown := [name for name in names if name not in self.columns]:
            raise KeyError(f"{self.path.name} has no column {unknown[0]!r}; it has {', '.join(self.columns)}.")

    def read(self, lo: int, hi: int) -> Any:
        """Rows lo…hi−1 as a polars data frame."""
        if self._chosen is None or lo == hi:
            return self._file.read(self._source, lo, hi)
        import polars as pl

        wanted, step = self._chosen[lo:hi], self.read_rows  # of the file so many are in memory at once
        starts = range(int(wanted[0]), int(wanted[-1]) + 1, step)
        ends = np.searchsorted(wanted, [*starts, wanted[-1] + 1]).tolist()
        some = [wanted[a:b] for a, b in pairwise(ends) if a < b]
        return pl.concat([self._file.read(self._source, int(n[0]), int(n[-1]) + 1)[n - n[0]] for n in some])

    def numbers(self, lo: int, hi: int) -> np.ndarray:
        """Rows lo…hi−1 as finite float64 numbers, (rows, columns)."""
        X = numeric_block(self.read(lo, hi), self.path.name, self._numbers(lo, hi))
        for function, state in self._steps:
            X = np.asarray(function(Block(X, None, None, lo), *state), dtype=np.float64)
        return X

    def matrix(self, lo: int, hi: int, cells: Callable[[Any], np.ndarray] | None = None) -> np.ndarray:
        """Rows lo…hi−1 as `cells` makes a matrix of them, of a polars data frame say; without it as `numbers`."""
        if cells is None:
            return self.numbers(lo, hi)
        piece = self.numbers(lo, hi) if self._steps else self.read(lo, hi)
        with rows_as_given(self._numbers(lo, hi)):
            return cells(piece)

    def _numbers(self, lo: int, hi: int) -> Sequence[int] | np.ndarray:
        """The numbers that rows lo…hi−1 have in the file."""
        return range(lo, hi) if self._chosen is None else self._chosen[lo:hi]

    def empty(self) -> Any:
        """No rows of these columns: a polars data frame, or a matrix where a transformer has made the columns."""
        return np.empty((0, len(self.columns))) if self._steps else self.read(0, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("A learnt.scan table is not read into memory in silence; do it with .to_numpy() if it fits.")

    def to_numpy(self) -> np.ndarray:
        """All rows in memory."""
        out = np.empty((self.n_rows, len(self.columns)))
        for lo, hi in self.ranges():
            out[lo:hi] = self.numbers(lo, hi)
        return out[:, 0] if self.single else out

    def labels(self) -> np.ndarray:
        """The whole of one column, as (n,): a target fits in memory where a table does not."""
        if self._steps:
            return self.to_numpy().ravel()
        return self.read(0, self.n_rows)[self.columns[0]].to_numpy()


def _columns(block: Block, places: np.ndarray) -> Any:
    return block.X[:, places]


def scan(path: str | os.PathLike[str]) -> Table:
    """Open a Parquet or Arrow (Feather) file, by whatever name, to be read in blocks.

    The result can be passed as `X` (and a column of it as `y`) to every estimator that fits from sums over rows. The
    file has to stay as it is: a read of one that has changed since is refused.
    """
    import polars as pl

    file = open_file(path)
    read_bytes(_READ_BYTES, 0, pl.thread_pool_size(), file.path.name)
    try:
        frame = file.frame()
        columns = frame.collect_schema().names()
        n_rows = frame.select(pl.len()).collect().item()
    except polars_errors() as error:
        raise unreadable(file.path, error) from error
    return Table(file, columns, n_rows)


def numeric_block(frame: Any, source: str, numbers: Sequence[int] | np.ndarray) -> np.ndarray:
    """A data frame's cells as float64; says which column and row, by its number, cannot be used."""
    import polars as pl

    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == pl.Boolean):
            raise ValueError(
                f"Column {name!r} of {source} holds {dtype}, not numbers; "
                f"encode it, or leave it out with .drop({name!r})."
            )
    cells = frame.select(pl.all().cast(pl.Float64)).to_numpy(order="c", writable=True)
    if not all_finite(cells):
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(cells)))
        raise ValueError(
            f"Column {frame.columns[column]!r} of {source} has a missing, NaN or infinite cell at row {numbers[row]}; "
            "fill or drop such rows first."
        )
    return cells
