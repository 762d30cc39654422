"""Rows from the body of a request: JSON objects or a text table become the table that a file would give."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import polars as pl

from learnt.study._errors import StudyError, did_you_mean
from learnt.study.table._text import read_text

_WORDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
_WORDS[type(None)] = "null"
_LARGEST = 2**63


def rows_from_csv(body: bytes, header: bool | None) -> pl.DataFrame:
    """A text table, read as `learnt predict` reads a file."""
    table = read_text(body, "the body", header)
    if table.height == 0:
        raise StudyError("The body has no rows; send a line of column names and rows below it.")
    return table


class Rows(NamedTuple):
    """The rows of a body, whether it was one object alone, which gets one answer, and whether it asks for reasons."""

    table: pl.DataFrame
    single: bool
    explain: bool = False


def rows_from_json(body: bytes, columns: list[str]) -> Rows:
    """The wanted columns of one object, of a list of objects, or of the list under "rows"; other keys are ignored.

    >>> rows_from_json(b'[{"x": 1, "town": "Oslo", "more": 0}, {"x": 2.5, "town": null}]', ["x", "town"]).table.rows()
    [(1.0, 'Oslo'), (2.5, None)]
    >>> rows_from_json(b'{"x": 1}', ["x"]).single
    True
    """
    found = _parsed(body)
    single = isinstance(found, dict) and not isinstance(found.get("rows"), list)
    rows = [found] if single else _rows(found)
    for k, row in enumerate(rows):
        if not isinstance(row, dict):
            raise StudyError(f"Row {k + 1:,} is {_WORDS[type(row)]}; every row is an object of columns and values.")
        for name in columns:
            if name not in row:
                raise StudyError(
                    f"Row {k + 1:,} lacks the column “{name}”; {did_you_mean(name, row)} "
                    "Send null where a value is missing."
                )
    table = pl.DataFrame([_series(name, [row[name] for row in rows]) for name in columns])
    return Rows(table, single, isinstance(found, dict) and not single and _asks(found.get("explain", False)))


def _asks(explain: Any) -> bool:
    if not isinstance(explain, bool):
        raise StudyError(f"“explain” is {_WORDS[type(explain)]}; send true or false.")
    return explain


def _parsed(body: bytes) -> Any:
    try:
        text = body.decode("utf-8-sig")
        found = json.loads(text, parse_constant=_refuse)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()  # fails at half a pair, which no later step could write
        return found
    except UnicodeDecodeError as error:
        raise StudyError(f"Byte {error.start + 1:,} of the body is no UTF-8; send JSON in UTF-8.") from None
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise StudyError(
            f"The body holds {half}, which is half of a character; send both halves of the pair."
        ) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise StudyError(f"The body is no JSON ({error.msg} at {place}); send a list of objects.") from None
    except RecursionError:
        raise StudyError("The body is nested too deeply; send a list of objects.") from None
    except ValueError as error:  # a number of thousands of digits
        if isinstance(error, StudyError):
            raise
        raise StudyError("The body holds a number with too many digits; send it shorter.") from None


def _refuse(word: str) -> None:
    raise StudyError(f"The body holds {word}, which JSON does not have; send null where a value is missing.")


def _rows(found: Any) -> list:
    if isinstance(found, dict):
        found = found["rows"]
    if not isinstance(found, list):
        raise StudyError(
            f'The body is {_WORDS[type(found)]}; send a list of objects, one a row, or {{"rows": [one object a row]}}.'
        )
    if not found:
        raise StudyError("The body has no rows; send a list of objects, one a row.")
    return found


def _series(name: str, cells: list) -> pl.Series:
    """The type that a file would give: numbers, true and false, or text where they are mixed."""
    kinds = {type(cell) for cell in cells if cell is not None}
    for kind in kinds & {dict, list}:
        row = next(k for k, cell in enumerate(cells) if type(cell) is kind)
        raise StudyError(f"Row {row + 1:,} of the column “{name}” holds {_WORDS[kind]}; a cell is one value.")
    if kinds & {int, float}:
        _refuse_beyond_doubles(name, cells)
    if not kinds:
        return pl.Series(name, cells, dtype=pl.String)
    if kinds == {bool}:
        return pl.Series(name, cells, dtype=pl.Boolean)
    if kinds <= {int, float}:
        if kinds == {int} and all(cell is None or -_LARGEST <= cell < _LARGEST for cell in cells):
            return pl.Series(name, cells, dtype=pl.Int64)
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)
    return pl.Series(name, [_text(cell) for cell in cells], dtype=pl.String)


def _refuse_beyond_doubles(name: str, cells: list) -> None:
    """A number that becomes infinity would be counted as missing."""
    for k, cell in enumerate(cells):
        if type(cell) in (int, float) and abs(cell) > sys.float_info.max:
            raise StudyError(
                f"Row {k + 1:,} of the column “{name}” holds a number beyond 1.8e308, the largest there is; send null "
                "where a value is missing."
            )


def _text(cell: Any) -> str | None:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell if cell is None or isinstance(cell, str) else repr(cell)
