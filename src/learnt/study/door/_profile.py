"""A table looked through before anything is learnt from it: step 1 of a study alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import polars as pl

from learnt.engine.random import generator
from learnt.plots import number
from learnt.preprocessing import profile as profile_table
from learnt.study._counting import counted
from learnt.study._errors import StudyError, did_you_mean
from learnt.study.door._html import scrolling, styled
from learnt.study.door._sentences import python_sentences
from learnt.study.sections._profiles import ColumnProfile, profile_columns
from learnt.study.table._columns import set_unreadable_aside
from learnt.study.table._frames import Library
from learnt.study.table._problem import labelled_rows
from learnt.study.table._read import open_table

MOST_ROWS = 30_000  # of a longer table as many are looked at
SHOWN = 20  # lines of the text
_NO_BARS = ("identifier", "text", "constant")  # every cell by itself, or all alike


@dataclass(frozen=True, repr=False)
class TableProfile:
    """What a table holds. `print` it, see it in a notebook, or take its `frame`.

    `profile` makes it.

    Parameters
    ----------
    name : str
        What the table is called.
    rows : int
        Number of rows.
    width : int
        Number of columns.
    target : str or None
        The column whose relation to the others is shown.
    columns : list of dict
        For each column: name, kind, reason, share missing, number of different values, range or commonest values.
    findings : list of str
        What a careful person wants to know: identifiers, constants, leaks, missing cells, copies.
    parts : dict of str to ColumnProfile
        How the cells of each column are distributed, and the target in each part.
    _library : Library
        Which library of data frames `frame` comes in.

    Attributes
    ----------
    rows : int
        Number of rows.
    width : int
        Number of columns.
    target : str or None
        The column whose relation to the others is shown.
    columns : list of dict
        For each column: name, kind, reason, share missing, number of different values, range or commonest values.
    findings : list of str
        What a careful person wants to know: identifiers, constants, leaks, missing cells, copies.
    parts : dict of str to ColumnProfile
        How the cells of each column are distributed, and the target in each part.

    See Also
    --------
    profile : Looks through a table.
    study : Goes on to a judged model.
    """

    name: str
    rows: int
    width: int
    target: str | None
    columns: list[dict[str, Any]]
    findings: list[str]
    parts: dict[str, ColumnProfile]
    _library: Library

    @property
    def frame(self) -> Any:
        """A line a column, as a data frame of the library that came in."""
        types = (pl.String, pl.String, pl.Float64, pl.Int64, pl.String, pl.String, pl.Float64, pl.String, pl.String)
        names = ("column", "kind", "missing", "unique", "min", "max", "mean", "top", "reason")
        schema: dict[str, Any] = dict(zip(names, types))
        if self.target is not None:
            schema["explains"] = pl.Float64
        lines = [{name: line.get(name) for name in schema} for line in self._lines()]
        return self._library.frame(pl.DataFrame(lines, schema=schema))

    def _lines(self) -> Iterator[dict[str, Any]]:
        for column in self.columns:
            ends = {end: None if column.get(end) is None else _plain(column[end]) for end in ("min", "max")}
            top = ", ".join(f"{value} ({count:,})" for value, count in column.get("top") or []) or None
            parts = self.parts.get(column["name"])
            explains = None if parts is None else parts.explains
            yield {**column, "column": column["name"], **ends, "top": top, "explains": explains}

    def __repr__(self) -> str:
        about = f"{self.name}: {counted(self.rows, 'row')}, {counted(self.width, 'column')}"
        lines = [about + (f"; target “{self.target}”" if self.target is not None else "")]
        lines += [f"  {_line(column, self.parts.get(column['name']))}" for column in self.columns[:SHOWN]]
        if len(self.columns) > SHOWN:
            lines.append(f"  and {counted(len(self.columns) - SHOWN, 'more column')} in .frame")
        return "\n".join([*lines, *self.findings])

    def _repr_html_(self) -> str:
        heads = ["Column", "Kind", "Missing", "Different", "Cells", "Holds"]
        heads += [] if self.target is None else [f"Explains of {self.target}"]
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
        rows = "".join(self._row(column) for column in self.columns)
        found = "".join(f"<dd>{escape(finding)}</dd>" for finding in self.findings)
        about = f"{escape(self.name)}: {counted(self.rows, 'row')}, {counted(self.width, 'column')}"
        body = (
            f'<p class="about">{about}</p>{scrolling(head, rows, "Columns")}'
            f"{'<p class=about>Findings</p>' if found else ''}{found}"
        )
        return styled(body, f"Profile of {self.name}")

    def _row(self, column: dict[str, Any]) -> str:
        parts = self.parts.get(column["name"])
        cells = [
            f"<td>{escape(column['name'])}</td><td>{escape(column['kind'])}</td>",
            f'<td class="n">{_share(column["missing"])}</td><td class="n">{column["unique"]:,}</td>',
            f"<td>{'' if parts is None or column['kind'] in _NO_BARS else _bars(parts)}</td>",
            f"<td>{escape(_holds(column))}</td>",
        ]
        if self.target is not None:
            cells.append(f'<td class="n">{"" if parts is None else _share(parts.explains)}</td>')
        return f"<tr>{''.join(cells)}</tr>"


def profile(table: Any, target: str | None = None, *, header: bool | None = None) -> TableProfile:
    """Look through a table: what each column holds, what is missing, and how the target goes with it.

    Parameters
    ----------
    table : data frame, or path of a table
        The table, as a data frame of any library or a file that `read_table` reads.
    target : str or None, default=None
        The column to be predicted: the others are then shown with the share of its variance that they explain alone,
        and those that give it away are found.
    header : bool or None, default=None
        Whether the first line of a text table holds names; None looks at it.

    Returns
    -------
    profile : TableProfile
        What the table holds.

    See Also
    --------
    study : Goes on to a judged model.
    read_table : Reads a table.

    Notes
    -----
    Of a table of more than 30,000 rows as many are looked at, drawn at random.

    Examples
    --------
    >>> import learnt
    >>> found = learnt.profile({"city": ["Oslo", "Rome"] * 20, "rent": list(range(40))}, target="rent")
    >>> found.frame["kind"].to_list()
    ['category']
    """
    library = Library.of(table).without_rows()
    with python_sentences():
        frame, name, _, _ = open_table(table, header)
        if target is not None and target not in frame.columns:
            raise StudyError(f"There is no column “{target}” (the target); {did_you_mean(str(target), frame.columns)}")
        readable, aside = set_unreadable_aside(frame, {} if target is None else {target: "the target"})
        if readable.width == 0:
            raise StudyError("No column of the table holds single values; there is nothing to look at.")
        few = _sample(readable)
        found = profile_table(few, target)
        kinds = {column["name"]: column["kind"] for column in found["columns"]}
        parts = _parts(few, target, kinds)
    findings = [finding["message"] for finding in found["findings"]]
    findings += [f"'{entry['column']}': {entry['reason']}." for entry in aside]
    if len(few) < len(frame):
        findings.append(f"Looked at {len(few):,} of {len(frame):,} rows, drawn at random.")
    return TableProfile(name, len(frame), frame.width, target, found["columns"], findings, parts, library)


def _sample(frame: pl.DataFrame) -> pl.DataFrame:
    if len(frame) <= MOST_ROWS:
        return frame
    return frame[np.sort(generator(0).permutation(len(frame))[:MOST_ROWS])]


def _parts(frame: pl.DataFrame, target: str | None, kinds: dict[str, str]) -> dict[str, ColumnProfile]:
    """How each column's cells are distributed, and the target in each part."""
    if target is None:
        columns = profile_columns(frame, np.zeros(len(frame)), kinds=kinds)
    else:
        rows, y = labelled_rows(frame, target)
        classes = None if y.dtype == np.float64 else np.unique(y).tolist()
        names = [name for name in frame.columns if name != target]
        columns = profile_columns(rows, y, classes=classes, kinds=kinds, columns=names)
    return {column.name: column for column in columns}


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else str(value)


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _holds(column: dict[str, Any]) -> str:
    """A range, the commonest values, or why there is neither."""
    if column.get("min") is not None:
        return f"{_plain(column['min'])} to {_plain(column['max'])}"
    if column["kind"] in ("category", "boolean") and column.get("top"):
        return ", ".join(f"{str(value)[:30]} ({count:,})" for value, count in column["top"][:3])
    return str(column["reason"])


def _line(column: dict[str, Any], parts: ColumnProfile | None) -> str:
    gone = f", {_share(column['missing'])} missing" if column["missing"] else ""
    alone = "" if parts is None or parts.explains < 0.01 else f", explains {_share(parts.explains)} alone"
    return f"{column['name']}: {column['kind']}, {_holds(column)}{gone}{alone}"


def _bars(parts: ColumnProfile) -> str:
    """The rows of each part as small bars, with the part and its rows to be read on each."""
    most = max((part.rows for part in parts.parts), default=0) or 1
    step = 8
    drawn = ""
    for k, part in enumerate(parts.parts):
        tall = round(22 * part.rows / most, 1)
        told = f"<title>{escape(part.label)}: {part.rows:,} rows</title>"
        drawn += f'<rect x="{step * k}" y="{24 - tall}" width="{step - 2}" height="{tall}">{told}</rect>'
    width = step * len(parts.parts)
    label = escape(f"rows of {parts.name} in {len(parts.parts)} parts")
    return f'<svg role="img" aria-label="{label}" width="{width}" height="24" fill="var(--accent)">{drawn}</svg>'
