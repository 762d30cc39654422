"""Text tables: the encoding, the delimiter, whether there is a line of names, and which line is broken when one is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.study._errors import StudyError, one_line
from learnt.study.table._header import looks_like_data

_DELIMITERS = ",;\t|"
_SAMPLE = 200_000  # characters that delimiter and names are looked for in
_PIECE = 1 << 25
_CHECKED_BYTES = 5_000_000  # a larger file is checked line by line only where a quick check finds something


def read_text(raw: bytes, path: Path | str, header: bool | None) -> pl.DataFrame:
    """A text table from its bytes; `path` is what sentences call it."""
    text_bytes = as_utf8(raw, path)
    if not text_bytes[:1000].strip() and not text_bytes.strip():
        raise StudyError(f"{path} is empty; a table needs a line of column names and rows below it.")
    sample = text_bytes[:_SAMPLE].decode("utf-8", "ignore")
    delimiter = _delimiter(sample)
    if delimiter is None and _spaced(sample):
        text_bytes, delimiter = _without_spaces(text_bytes), "\t"
        sample = text_bytes[:_SAMPLE].decode("utf-8", "ignore")
    delimiter = delimiter or ","
    named = header is not False
    if header is None:
        lines = sample.splitlines(keepends=True)
        _check_first_line(
            lines if len(text_bytes) < _SAMPLE else lines[:-1], delimiter, path
        )  # the last may be cut off
    if len(text_bytes) <= _CHECKED_BYTES:
        _check_lines(text_bytes, delimiter, path, named)
    try:
        table = _typed(text_bytes, delimiter, named)
        # A line with too few cells lacks the last one; one with too many is no table to the reader.
        if len(text_bytes) > _CHECKED_BYTES and table[:, -1].has_nulls() and _uneven(text_bytes, delimiter):
            _check_lines(text_bytes, delimiter, path, named)
        if not named:
            return table.rename({name: f"column_{k + 1}" for k, name in enumerate(table.columns)})
        names = next(csv.reader(io.StringIO(text_bytes[:1_000_000].decode("utf-8", "ignore")), delimiter=delimiter))
        # Polars leaves doubled quotes in names as they are.
        return table.rename(dict(zip(table.columns, names))) if len(names) == table.width else table
    except StudyError:
        raise
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


def as_utf8(raw: bytes, path: Path | str) -> bytes:
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
    if raw.isascii():
        return raw
    try:
        raw.decode("utf-8")
        return raw
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace").encode()


def _delimiter(sample: str) -> str | None:
    """The delimiter that splits the first lines into the same number of fields, and into the most; None: there is none.

    >>> _delimiter("a;b\\n1,5;2\\n"), _delimiter("a b\\n1 2\\n")
    (';', None)
    """
    lines = [line for line in sample.splitlines()[:60] if line.strip()]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last may be cut off
    best, score = None, (0.0, 0)
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


def _spaced(sample: str) -> bool:
    """Whether spaces separate the cells: every line has the same number of them, and more than one.

    >>> _spaced("mpg  weight\\n18.0 3504\\n15 \\t3693\\n"), _spaced("word\\ntwo words\\n")
    (True, False)
    """
    lines = [line.strip() for line in sample.splitlines()[:200] if line.strip()]
    lines = lines[:-1] if len(sample) >= _SAMPLE // 2 and len(lines) > 2 else lines
    widths = {len(row) for row in _cells(lines)}
    return len(widths) == 1 and widths.pop() > 1


def _cells(lines: list[str]) -> Iterator[list[str]]:
    """The cells of lines whose delimiter is any number of spaces and tabs; quoted ones may hold them."""
    return csv.reader((line.strip().replace("\t", " ") for line in lines), delimiter=" ", skipinitialspace=True)


def _without_spaces(text_bytes: bytes) -> bytes:
    """The same table with a tab between cells."""
    out = io.StringIO()
    lines = text_bytes.decode("utf-8").splitlines()
    csv.writer(out, delimiter="\t", lineterminator="\n").writerows(_cells(lines))
    return out.getvalue().encode()


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
                    f"quote the cell that holds “{delimiter}”" if many == "more" else "complete the line or delete it"
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
        raise StudyError(f"{path} has two columns named “{repeated}”; rename one of them.")
