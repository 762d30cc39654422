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
    `to_numpy()` brings all of it into memory. `scan` makes one; `table[["a", "b"]]` has only these columns.

    Parameters
    ----------
    file : DataFile
        The file, opened.
    columns : sequence of str
        The names of the columns.
    n_rows : int
        The number of rows.
    single : bool, default=False
        Whether it is one column, of shape (n_rows,).
    source : sequence of str or None, default=None
        The columns of the file that are read; None is `columns`.
    steps : tuple of Step, default=()
        What is done to each block that is read, by transformers.
    chosen : ndarray of int or None, default=None
        The numbers of the file's rows that it has, which increase; None is all.

    See Also
    --------
    learnt.scan : Opens a file as a table.

    Examples
    --------
    >>> import os, tempfile, learnt, polars
    >>> path = os.path.join(tempfile.mkdtemp(), "flights.parquet")
    >>> polars.DataFrame({"distance": [1.0, 2.0], "hour": [8.0, 9.0], "delay": [3.0, 5.0]}).write_parquet(path)
    >>> table = learnt.scan(path)
    >>> table.drop("delay").shape, table["delay"].to_numpy().tolist()
    ((2, 2), [3.0, 5.0])
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
        """Rows and columns; of one column `table["name"]` the rows alone."""
        return (self.n_rows,) if self.single else (self.n_rows, len(self.columns))

    @property
    def ndim(self) -> int:
        """1 for one column `table["name"]`, else 2."""
        return len(self.shape)

    @property
    def transformed(self) -> bool:
        """Whether its columns are those of a transformer, whose output has no names in scikit-learn either."""
        return bool(self._steps)

    @property
    def read_rows(self) -> int:
        """How many rows of the file are read at once: as many as memory allows."""
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
        """The rows of every read, in order.

        Parameters
        ----------
        step : int or None, default=None
            How many rows of the file are read at once; None is as many as memory allows.

        Yields
        ------
        lo : int
            The first row of a read.
        hi : int
            The row after its last.
        """
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
        """The table without these columns.

        Parameters
        ----------
        *names : str
            The names of the columns to leave out.

        Returns
        -------
        table : Table
            The same rows with the other columns; nothing is read yet.
        """
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
        """The table of what `function(block, *state)` gives for every block: one row a row.

        Parameters
        ----------
        function : callable
            Called with each block that is read, and `state`.
        state : tuple
            Further arguments of the function.
        columns : sequence of str
            The names of the columns that it gives.

        Returns
        -------
        table : Table
            A table whose blocks are transformed as they are read.
        """
        steps = (*self._steps, Step(function, state))
        return Table(self._file, columns, self.n_rows, source=self._source, steps=steps, chosen=self._chosen)

    def only(self, rows: np.ndarray) -> Table:
        """The table of some rows.

        Parameters
        ----------
        rows : ndarray of int
            The numbers of the rows, which increase.

        Returns
        -------
        table : Table
            The same columns of these rows; nothing is read yet.
        """
        table = copy(self)
        table._chosen, table.n_rows = rows if self._chosen is None else self._chosen[rows], len(rows)
        return table

    def _require(self, names: Sequence[str]) -> None:
        if unknown := [name for name in names if name not in self.columns]:
            raise KeyError(f"{self.path.name} has no column {unknown[0]!r}; it has {', '.join(self.columns)}.")

    def read(self, lo: int, hi: int) -> Any:
        """Rows lo…hi−1 as a Polars data frame.

        Parameters
        ----------
        lo : int
            The first row.
        hi : int
            The row after the last.

        Returns
        -------
        frame : polars.DataFrame
            The cells as they are in the file, before any transformer.
        """
        if self._chosen is None or lo == hi:
            return self._file.read(self._source, lo, hi)
        import polars as pl

        wanted, step = self._chosen[lo:hi], self.read_rows  # of the file so many are in memory at once
        starts = range(int(wanted[0]), int(wanted[-1]) + 1, step)
        ends = np.searchsorted(wanted, [*starts, wanted[-1] + 1]).tolist()
        some = [wanted[a:b] for a, b in pairwise(ends) if a < b]
        return pl.concat([self._file.read(self._source, int(n[0]), int(n[-1]) + 1)[n - n[0]] for n in some])

    def numbers(self, lo: int, hi: int) -> np.ndarray:
        """Rows lo…hi−1 as finite float64 numbers.

        Parameters
        ----------
        lo : int
            The first row.
        hi : int
            The row after the last.

        Returns
        -------
        X : ndarray of shape (hi − lo, n_columns)
            The cells, transformed where the table went through a transformer.
        """
        X = numeric_block(self.read(lo, hi), self.path.name, self._numbers(lo, hi))
        for function, state in self._steps:
            X = np.asarray(function(Block(X, None, None, lo), *state), dtype=np.float64)
        return X

    def matrix(self, lo: int, hi: int, cells: Callable[[Any], np.ndarray] | None = None) -> np.ndarray:
        """Rows lo…hi−1 as `cells` makes a matrix of them; without it as `numbers`.

        Parameters
        ----------
        lo : int
            The first row.
        hi : int
            The row after the last.
        cells : callable or None, default=None
            Makes a matrix of a Polars data frame (of an array, where the table went through a transformer).

        Returns
        -------
        X : ndarray of shape (hi − lo, n_columns)
            The matrix.
        """
        if cells is None:
            return self.numbers(lo, hi)
        piece = self.numbers(lo, hi) if self._steps else self.read(lo, hi)
        with rows_as_given(self._numbers(lo, hi)):
            return cells(piece)

    def _numbers(self, lo: int, hi: int) -> Sequence[int] | np.ndarray:
        """The numbers that rows lo…hi−1 have in the file."""
        return range(lo, hi) if self._chosen is None else self._chosen[lo:hi]

    def empty(self) -> Any:
        """No rows of these columns.

        Returns
        -------
        nothing : polars.DataFrame or ndarray
            A data frame without rows; a matrix where a transformer has made the columns.
        """
        return np.empty((0, len(self.columns))) if self._steps else self.read(0, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("A learnt.scan table is not read into memory in silence; do it with .to_numpy() if it fits.")

    def to_numpy(self) -> np.ndarray:
        """All rows in memory, as float64 numbers.

        Returns
        -------
        X : ndarray of shape (n_rows, n_columns) or (n_rows,)
            The cells; of one column `table["name"]` one axis.
        """
        out = np.empty((self.n_rows, len(self.columns)))
        for lo, hi in self.ranges():
            out[lo:hi] = self.numbers(lo, hi)
        return out[:, 0] if self.single else out

    def labels(self) -> np.ndarray:
        """The whole of one column in memory: a target fits where a table does not.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            The cells of the first column, numbers or text.
        """
        if self._steps:
            return self.to_numpy().ravel()
        return self.read(0, self.n_rows)[self.columns[0]].to_numpy()


def _columns(block: Block, places: np.ndarray) -> Any:
    return block.X[:, places]


def scan(path: str | os.PathLike[str]) -> Table:
    """Open a Parquet or Arrow (Feather) file, by whatever name, to be read in blocks: for tables larger than memory.

    The result can be passed as `X` (and a column of it as `y`) to every estimator that fits from sums over rows; the
    notes of an estimator say whether it takes one.

    Parameters
    ----------
    path : str or path-like
        The file. It has to stay as it is: a read of one that has changed since is refused.

    Returns
    -------
    table : Table
        Its columns by name: `table.drop("delay")` and `table[["distance", "hour"]]` are tables of some,
        `table["delay"]` is one, `to_numpy()` brings all into memory.

    Notes
    -----
    Only the header is read at first. Cells have to be numbers or booleans, none missing, where an estimator takes no
    others; the error names the column and the row.

    Examples
    --------
    >>> import os, tempfile, learnt, polars
    >>> from learnt.linear_model import LinearRegression
    >>> path = os.path.join(tempfile.mkdtemp(), "flights.parquet")
    >>> polars.DataFrame({"distance": [1.0, 2.0, 4.0], "delay": [3.0, 5.0, 9.0]}).write_parquet(path)
    >>> table = learnt.scan(path)
    >>> LinearRegression().fit(table.drop("delay"), table["delay"]).coef_.round(3)
    array([2.])
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
