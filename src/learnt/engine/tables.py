"""Parquet and Arrow files as rows, read a block at a time: for tables larger than memory.

table = learnt.scan("flights.parquet")
LinearRegression().fit(table.drop("delay"), table["delay"])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from learnt.engine import blocks
from learnt.engine.array_rows import ArrayRows, Merge, Rows, Statistic
from learnt.engine.blocks import Block
from learnt.engine.threads import single_blas

_READ_BYTES = 1 << 26  # a read of 64 MiB amortises the file's own blocks and still bounds memory


class Table:
    """Some columns of a file, read when needed. Stands for X; `table["name"]` is one column and stands for y."""

    __learnt_blocks__ = True

    def __init__(self, path: Path, columns: Sequence[str], n_rows: int, *, single: bool = False) -> None:
        self.path, self.columns, self.n_rows, self.single = path, list(columns), n_rows, single

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_rows,) if self.single else (self.n_rows, len(self.columns))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"learnt.scan({str(self.path)!r}) with {self.n_rows} rows and columns {', '.join(self.columns)}"

    def __getitem__(self, key: str | Sequence[str]) -> Table:
        names = [key] if isinstance(key, str) else list(key)
        self._require(names)
        return Table(self.path, names, self.n_rows, single=isinstance(key, str))

    def drop(self, *names: str) -> Table:
        """The table without these columns."""
        self._require(names)
        return Table(self.path, [c for c in self.columns if c not in names], self.n_rows)

    def _require(self, names: Sequence[str]) -> None:
        if unknown := [name for name in names if name not in self.columns]:
            raise KeyError(f"{self.path.name} has no column {unknown[0]!r}; it has {', '.join(self.columns)}.")

    def read(self, lo: int, hi: int) -> Any:
        """Rows lo…hi−1 as a polars data frame."""
        return _lazy_frame(self.path).select(self.columns).slice(lo, hi - lo).collect()

    def labels(self) -> np.ndarray:
        """The whole of one column: a target fits in memory where a table does not."""
        return self.read(0, self.n_rows)[self.columns[0]].to_numpy()


def _lazy_frame(path: Path) -> Any:
    import polars as pl

    return pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_ipc(path)


def scan(path: str | os.PathLike[str]) -> Table:
    """Open a Parquet (`.parquet`) or Arrow (`.arrow`, `.feather`, `.ipc`) file to be read in blocks.

    The result can be passed as `X` (and a column of it as `y`) to every estimator that fits from sums over rows.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"There is no file {str(file)!r}; check the path.")
    if file.suffix not in (".parquet", ".arrow", ".feather", ".ipc"):
        raise ValueError(
            f"{file.name} is neither Parquet nor Arrow, which can be read in blocks; "
            "convert it once, for example with polars.scan_csv(...).sink_parquet(...)."
        )
    import polars as pl

    try:
        frame = _lazy_frame(file)
        columns = frame.collect_schema().names()
        n_rows = frame.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{file.name} cannot be read as a table: {str(error).splitlines()[0]}.") from error
    return Table(file, columns, n_rows)


class TableRows(Rows):
    """Rows of a `scan` table; y and weights are columns of a table or arrays in memory."""

    def __init__(self, X: Table, y: Any = None, w: Any = None) -> None:
        self.X, self.y, self.w = X, y, w
        self.n_rows, self.n_features = X.shape
        self.dtype = np.dtype(np.float64)
        self.reference = np.empty(0)
        self.read_rows = max(256, min(self.n_rows, _READ_BYTES // (8 * self.n_features)))
        self.block_size = blocks.block_rows(self.n_rows, 8.0 * self.n_features)

    def _read(self, lo: int, hi: int) -> Block:
        X = numeric_block(self.X.read(lo, hi), self.X.path.name, lo)
        return Block(X, _part(self.y, lo, hi), _part(self.w, lo, hi), lo)

    def head(self, n: int) -> Block:
        return self._read(0, min(n, self.n_rows))

    def _chunks(self) -> Iterator[Any]:
        for lo in range(0, self.n_rows, self.read_rows):
            yield ArrayRows(*self._read(lo, min(lo + self.read_rows, self.n_rows))[:3])

    def reduce(self, statistic: Statistic, merge: Merge, *state: Any) -> Any:
        total = None
        for chunk in self._chunks():
            total = merge(total, chunk.reduce(statistic, merge, *state))
        return total

    def map(self, function: Callable[..., Any], *state: Any) -> Any:
        with single_blas():
            return np.concatenate([chunk.map(function, *state) for chunk in self._chunks()])


def _part(values: Any, lo: int, hi: int) -> Any:
    if isinstance(values, Table):
        return numeric_block(values.read(lo, hi), values.path.name, lo)[:, 0]
    return None if values is None else values[lo:hi]


def numeric_block(frame: Any, source: str, start: int) -> np.ndarray:
    """A data frame's cells as float64; says which column and row cannot be used."""
    import polars as pl

    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == pl.Boolean):
            raise ValueError(
                f"Column {name!r} of {source} holds {dtype}, not numbers; "
                f"encode it, or leave it out with .drop({name!r})."
            )
    cells = frame.select(pl.all().cast(pl.Float64)).to_numpy(order="c", writable=True)
    if not np.isfinite(cells.sum()) and not np.isfinite(cells).all():
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(cells)))
        raise ValueError(
            f"Column {frame.columns[column]!r} of {source} has a missing, NaN or infinite cell at row {start + row}; "
            "fill or drop such rows first."
        )
    return cells
