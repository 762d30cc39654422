"""The file of a table: known by its content, and refused when it is no longer what it was when it was opened.

A fit reads its file many times. Were it written anew meanwhile, the model would be of some rows of one table and some
of another.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

_CONVERT = "convert it once, for example with polars.scan_csv(...).sink_parquet(...)"
# How a file begins, how many bytes at its end tell how long the part before them is that lists its blocks of rows.
_MARKS = {"parquet": (b"PAR1", 8), "arrow": (b"ARROW1", 10)}


class State(NamedTuple):
    """What tells one content of a file from another: size, time of the last change, and the list of its row groups."""

    size: int
    changed: int
    blocks: bytes


class DataFile(NamedTuple):
    """A Parquet or Arrow file, as it was when it was opened."""

    path: Path
    kind: str
    state: State

    def frame(self) -> Any:
        """Its columns as a polars frame of which nothing has been read."""
        import polars as pl

        return pl.scan_parquet(self.path) if self.kind == "parquet" else pl.scan_ipc(self.path)

    def read(self, columns: list[str], lo: int, hi: int) -> Any:
        """Rows lo…hi−1 of some columns as a polars data frame."""
        self._require_unchanged()
        try:
            found = self.frame().select(columns).slice(lo, hi - lo).collect()
        except polars_errors() as error:
            self._require_unchanged()
            raise unreadable(self.path, error) from error
        self._require_unchanged()  # while it was read, too
        return found

    def _require_unchanged(self) -> None:
        if not self.path.is_file():
            raise FileNotFoundError(
                f"There is no file {str(self.path)!r} any more; call learnt.scan on one that stays."
            )
        if state_of(self.path, self.kind) != self.state:
            raise ValueError(
                f"{self.path.name} has changed since learnt.scan opened it, so that its rows are not those of one "
                "table; call learnt.scan again."
            )


def open_file(path: Any) -> DataFile:
    """The file, which is one of those that can be read in blocks, whatever its name ends in."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"learnt.scan takes the path of one file and got a {type(path).__name__}; put several files, or a frame, "
            "into one first, for example with polars.scan_parquet([...]).sink_parquet(...)."
        )
    name = os.fspath(path)
    if "://" in name:
        raise ValueError(
            f"learnt.scan reads files of this machine and {name!r} is an address; fetch the file, and give its path."
        )
    file = Path(path)
    if name and file.is_dir():
        raise IsADirectoryError(
            f"{name!r} is a folder, and learnt.scan takes one file; put those in it into one, for example with "
            "polars.scan_parquet('.../*.parquet').sink_parquet(...)."
        )
    if not (name and file.exists()):
        raise FileNotFoundError(f"There is no file {name!r}; check the path.")
    if not file.is_file():
        raise ValueError(
            f"{name!r} is a pipe or a device, and learnt.scan reads a file several times; put what comes out of it "
            "into one first."
        )
    kind = _kind_of(file)
    return DataFile(file, kind, state_of(file, kind))


def _kind_of(file: Path) -> str:
    with file.open("rb") as opened:
        beginning = opened.read(8)
    for kind, (mark, _) in _MARKS.items():
        if beginning.startswith(mark):
            return kind
    raise ValueError(
        f"{file.name} is neither Parquet nor Arrow's file format (Feather 2), which can be read in blocks; {_CONVERT}."
    )


def state_of(file: Path, kind: str) -> State:
    """The state that a file is in now."""
    mark, tail = _MARKS[kind]
    with file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        opened.seek(max(0, found.st_size - tail))
        end = opened.read(tail)
        length = int.from_bytes(end[:4], "little") if end.endswith(mark) else 0
        opened.seek(max(0, found.st_size - tail - length))
        blocks = hashlib.blake2b(opened.read(length)).digest()
    return State(found.st_size, found.st_mtime_ns, blocks)


def polars_errors() -> tuple[type[Exception], ...]:
    """What polars raises where it cannot read a file."""
    import polars as pl

    return pl.exceptions.PolarsError, OSError


def unreadable(file: Path, error: Exception) -> ValueError:
    """The sentence about a file that only begins as a table does."""
    return ValueError(f"{file.name} cannot be read as a table: {str(error).splitlines()[0]}.")
