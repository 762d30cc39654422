"""A table from what was named: a file of any usual kind, a part of one, or standard input."""

from __future__ import annotations

import hashlib
import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from learnt.study._errors import StudyError, one_line
from learnt.study._example import example_path
from learnt.study.table._columns import fingerprint
from learnt.study.table._database import read_database
from learnt.study.table._frames import as_polars
from learnt.study.table._images import read_images
from learnt.study.table._json import read_json
from learnt.study.table._sheets import read_sheet
from learnt.study.table._source import Source, find, is_named, name_of
from learnt.study.table._text import read_text


def read_table(path: str | Path, header: bool | None = None) -> pl.DataFrame:
    """Read a table from a file, by what is in it and not by its name.

    Parameters
    ----------
    path : str or Path
        A text table (comma, semicolon, tab, bar or spaces between cells; UTF-8, UTF-16 or Windows' encoding), JSON (a
        list, or one object a line), Parquet, Arrow, Feather, an SQLite file, a spreadsheet, or an .npz of images; text
        may be packed by gzip, zip or Zstandard. ``"shop.db::orders"`` is a table of a database, a sheet or a file of an
        archive, ``"shop.db::SELECT …"`` a query, ``"-"`` standard input.
    header : bool or None, default=None
        Of text tables: False where the first line is a row like the others (columns are then called column_1, column_2,
        …), True where it holds names whatever it looks like, None to look at it.

    Returns
    -------
    table : polars.DataFrame
        The rows, with types seen from the cells.

    See Also
    --------
    profile : Says what a table holds.
    labelled_rows : Takes a target out of a table.
    learnt.scan : Reads tables that are larger than memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("a;b\\n1;x\\n2;y\\n")
    >>> read_table(path).columns
    ['a', 'b']
    """
    return _read(find(path), header)[0]


def _read(source: Source, header: bool | None) -> tuple[pl.DataFrame, bytes | None]:
    """The table, and its bytes as they were read where they are all in memory."""
    path, kind, raw = source.path, source.kind, source.raw
    if kind != "text" and header is False:
        raise StudyError(f"{path} is no text table, its columns have names already; leave --no-header out.")
    try:
        if kind in ("text", "JSON", "spreadsheet"):
            raw = source.read()
        if kind == "text":
            assert raw is not None
            table = read_text(raw, path, header)
        else:
            table = _of_kind(kind, source, raw)
    except StudyError:
        raise
    except MemoryError:
        raise StudyError(f"{path} does not fit in memory; draw a sample of its rows first.") from None
    except Exception as error:  # whatever the reader of that format raises
        said = one_line(error)
        raise StudyError(
            f"{path} could not be read as {kind}: {said}; export it again or convert it to CSV."
        ) from error
    if table.width == 0 or table.height == 0:
        raise StudyError(f"{path} has no rows; a table needs a line of column names and rows below it.")
    _check_patterns(table)
    return table, raw


def _of_kind(kind: str, source: Source, raw: bytes | None) -> pl.DataFrame:
    """A table that is no text."""
    path, where = source.path, source.path if raw is None else io.BytesIO(raw)
    if source.part and kind not in ("SQLite", "spreadsheet"):
        raise StudyError(f"{path} holds one table; leave ::{source.part} out.")
    if kind == "JSON":
        assert raw is not None
        return read_json(raw, path)
    if kind == "spreadsheet":
        assert raw is not None
        return read_sheet(raw, path, source.part)
    if kind == "parquet":
        return pl.read_parquet(where)
    if kind.startswith("arrow"):
        return pl.read_ipc_stream(where) if kind == "arrow stream" else pl.read_ipc(where)
    if raw is not None:
        raise StudyError(f"{path} holds a packed {kind} file; unpack it first.")
    return read_images(path) if kind == "images" else read_database(path, source.part)


def _check_patterns(table: pl.DataFrame) -> None:
    """Polars takes such names for patterns, wherever they are used."""
    for name in table.columns:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise StudyError(f"A column is called “{name}”, which stands for several columns; give it another name.")


def open_table(table: Any, header: bool | None = None) -> tuple[pl.DataFrame, str, str, bool]:
    """The table, a name for it, a fingerprint of its content, and whether it is the shipped example."""
    if table is None:
        table, example = example_path(), True
    else:
        example = is_named(table) and os.path.realpath(table) == os.path.realpath(example_path())
    if is_named(table):
        source = find(table)
        with ThreadPoolExecutor(1) as aside:  # the bytes of the file are hashed while it is read
            hashed = aside.submit(_hash_of_file, source.path) if source.is_file else None
            frame, raw = _read(source, header)
            digest = hashed.result() if hashed is not None else _hash_inside(source, frame, raw)
        return frame, name_of(table), digest, example
    table = as_polars(table)
    _check_patterns(table)
    return table, "table", fingerprint(table), False


def _hash_of_file(path: Path) -> str:
    """Of its bytes as they lie there, packed or not."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_inside(source: Source, frame: pl.DataFrame, raw: bytes | None) -> str:
    """Of the bytes of a table that is no file by itself; of one in a database or a book, of its cells."""
    return fingerprint(frame) if raw is None or source.kind == "spreadsheet" else hashlib.sha256(raw).hexdigest()
