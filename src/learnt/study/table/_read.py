"""Reading a table from a file, and saying which line is broken when one is."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.study._errors import StudyError, did_you_mean, one_line
from learnt.study._example import example_path
from learnt.study.table._columns import fingerprint
from learnt.study.table._frames import as_polars
from learnt.study.table._header import looks_like_data
from learnt.study.table._images import read_images

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".csv.gz": "csv", ".tsv.gz": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".jsonl": "ndjson", ".ndjson": "ndjson", ".json": "json",
    ".npz": "images", ".npy": "images",
}  # fmt: skip
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"II*\x00", b"MM\x00*")  # and documents
_DELIMITERS = ",;\t|"
_PIECE = 1 << 25
_CHECKED_BYTES = 5_000_000  # a larger file is checked line by line only where a quick check finds something


def read_table(path: str | Path, header: bool | None = None) -> pl.DataFrame:
    """Read CSV (any of four delimiters, four encodings, gzip), Parquet, Arrow/Feather, JSON lines; .npz of images.

    `header` is about text tables: False where the first line is a row like the others (columns are then called
    column_1, column_2, …), True where it holds names whatever it looks like, None where it should be looked at.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("a;b\\n1;x\\n2;y\\n")
    >>> read_table(path).columns
    ['a', 'b']
    """
    path = Path(path)
    kind = _format(path)
    if kind != "csv" and header is False:
        raise StudyError(f"{path} is no text table, its columns have names already; leave --no-header out.")
    try:
        if kind == "csv":
            table = _read_csv(path, header)
        elif kind == "images":
            table = read_images(path)
        elif kind == "parquet":
            table = pl.read_parquet(path)
        elif kind == "ipc":
            table = pl.read_ipc(path)
        else:
            table = pl.read_json(path) if kind == "json" else pl.read_ndjson(path)
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
    return table


def _check_patterns(table: pl.DataFrame) -> None:
    """Polars takes such names for patterns, wherever they are used."""
    for name in table.columns:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise StudyError(f'A column is called "{name}", which stands for several columns; give it another name.')


def _format(path: Path) -> str:
    if not path.exists():
        same_folder = [p.name for p in path.parent.glob("*") if p.is_file()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, same_folder) if same_folder else "check the path."
        raise StudyError(f"There is no file {path}; {hint.replace('the columns are', 'beside it are')}")
    if path.is_dir():
        raise StudyError(f"{path} is a folder, not a table; name the file inside it.")
    suffix = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise StudyError(f"{path} is empty; a table needs a line of column names and rows below it.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "ipc"
    if head.startswith(b"PK\x03\x04") and suffix != ".npz":
        raise StudyError(f"{path} looks like a spreadsheet or a zip archive; save the sheet as CSV first.")
    if suffix in FORMATS:
        return FORMATS[suffix]
    if head.startswith(_PICTURES):
        raise StudyError(f"{path} is a picture or a document, not a table; save the table in it as CSV first.")
    if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise StudyError(f"{path} is not a text table; CSV, Parquet, Arrow, Feather and JSON lines can be read.")
    return "csv"


def _read_csv(path: Path, header: bool | None) -> pl.DataFrame:
    raw = path.read_bytes()
    return read_text(gzip.decompress(raw) if path.suffix.lower() == ".gz" else raw, path, header)


def read_text(raw: bytes, path: Path | str, header: bool | None) -> pl.DataFrame:
    """A text table from its bytes; `path` is what sentences call it."""
    text_bytes = _as_utf8(raw, path)
    if not text_bytes.strip():
        raise StudyError(f"{path} is empty; a table needs a line of column names and rows below it.")
    sample = text_bytes[:200_000].decode("utf-8", "ignore")
    delimiter = _delimiter(sample)
    named = header is not False
    if header is None:
        lines = sample.splitlines(keepends=True)
        _check_first_line(lines if len(sample) < 200_000 else lines[:-1], delimiter, path)  # the last may be cut off
    if len(text_bytes) <= _CHECKED_BYTES or _uneven(text_bytes, delimiter):
        _check_lines(text_bytes, delimiter, path, named)
    try:
        table = _typed(text_bytes, delimiter, named)
        if not named:
            return table.rename({name: f"column_{k + 1}" for k, name in enumerate(table.columns)})
        names = next(csv.reader(io.StringIO(text_bytes[:1_000_000].decode("utf-8", "ignore")), delimiter=delimiter))
        # Polars leaves doubled quotes in names as they are.
        return table.rename(dict(zip(table.columns, names))) if len(names) == table.width else table
    except Exception as error:
        _check_lines(text_bytes, delimiter, path, named)
        raise StudyError(f"{path} could not be read: {one_line(error)}; check its quotes and delimiters.") from error


def _typed(text_bytes: bytes, delimiter: str, named: bool) -> pl.DataFrame:
    """Types from the first rows, which is quick; from all rows where a later cell does not fit."""
    options: dict[str, Any] = {"separator": delimiter, "null_values": [""], "has_header": named}
    try:
        return pl.read_csv(text_bytes, infer_schema_length=10_000, **options)
    except pl.exceptions.ComputeError:
        return pl.read_csv(text_bytes, infer_schema_length=None, **options)


def _as_utf8(raw: bytes, path: Path | str) -> bytes:
    """The same text in UTF-8: byte-order marks decide, then UTF-8 itself, then Windows' Western encoding."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            try:
                return raw.decode(encoding).encode()
            except UnicodeDecodeError:
                raise StudyError(f"{path} starts like {encoding} text but is not; save it again as UTF-8.") from None
    if b"\x00" in raw[:100_000]:
        line = raw[: raw.index(b"\x00")].count(b"\n") + 1
        raise StudyError(f"Line {line} of {path} holds a zero byte, so it is not text; save it again as UTF-8 CSV.")
    try:
        raw.decode("utf-8")
        return raw
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace").encode()


def _delimiter(sample: str) -> str:
    """The delimiter that splits the first lines into the same number of fields, and into the most."""
    lines = [line for line in sample.splitlines()[:60] if line.strip()]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last may be cut off
    best, score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        same = sum(w == widths[0] for w in widths) / len(widths)
        score, best = max((score, best), ((round(same, 1), widths[0]), delimiter), key=lambda pair: pair[0])
    return best


def _uneven(text_bytes: bytes, delimiter: str) -> bool:
    """Whether the lines of a long text hold different numbers of delimiters; text with quotes is left to the reader."""
    if b'"' in text_bytes:
        return False
    cells = np.frombuffer(text_bytes, dtype=np.uint8)
    expected, start = None, 0
    while start < len(cells):
        stop = text_bytes.rfind(b"\n", start, start + _PIECE) + 1 or len(cells)  # whole lines
        piece = cells[start:stop]
        ends = np.append(np.flatnonzero(piece == ord("\n")), len(piece))
        held = np.diff(np.searchsorted(np.flatnonzero(piece == ord(delimiter)), ends), prepend=0)
        long = np.diff(ends, prepend=-1) > 2  # not empty, and no mere carriage return
        expected = held[0] if expected is None else expected
        if np.any(held[long] != expected):
            return True
        start = stop
    return False


def _check_first_line(lines: list[str], delimiter: str, path: Path | str) -> None:
    """Raise a sentence where the first line looks like a row of data."""
    if looks_like_data(lines, delimiter):
        start = lines[0].strip()
        start = start if len(start) <= 40 else start[:39] + "…"
        raise StudyError(
            f"The first line of {path} looks like data, not like column names ({start}); if it is, add --no-header "
            "(columns are then column_1, column_2, …; --target takes the name or the number), if not, add --header."
        )


def _check_lines(text_bytes: bytes, delimiter: str, path: Path | str, named: bool) -> None:
    """Raise the sentence that names the first broken line."""
    reader = csv.reader(
        io.StringIO(text_bytes.decode("utf-8", "replace"), newline=""), delimiter=delimiter, strict=True
    )
    csv.field_size_limit(10_000_000)
    started, header = 1, None
    try:
        for row in reader:
            if header is None:
                header = row
                if named:
                    _check_names(header, path)
            elif len(row) != len(header) and row:
                many = "more" if len(row) > len(header) else "fewer"
                remedy = (
                    f'quote the cell that holds "{delimiter}"' if many == "more" else "complete the line or delete it"
                )
                counted = (
                    f"has {len(row)} fields, {many} than the {len(header)} of the {'header' if named else 'first line'}"
                )
                raise StudyError(f"Line {started} of {path} {counted}; {remedy}.")
            started = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            said = f"Line {started} of {path} opens a quote that is never closed; close it or remove it."
        else:
            said = f"Line {reader.line_num} of {path} is broken ({error}); check its quotes."
        raise StudyError(said) from None


def _check_names(names: list[str], path: Path | str) -> None:
    repeated = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if repeated is not None:
        raise StudyError(f'{path} has two columns named "{repeated}"; rename one of them.')


def open_table(table: Any, header: bool | None = None) -> tuple[pl.DataFrame, str, str, bool]:
    """The table, a name for it, a fingerprint of its content, and whether it is the shipped example."""
    if table is None:
        table, example = example_path(), True
    else:
        example = isinstance(table, str | Path) and os.path.realpath(table) == os.path.realpath(example_path())
    if isinstance(table, str | Path):
        path = Path(table)
        frame = read_table(path, header)
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
        return frame, path.name.split(".")[0] or "table", digest.hexdigest(), example
    table = as_polars(table)
    _check_patterns(table)
    return table, "table", fingerprint(table), False
