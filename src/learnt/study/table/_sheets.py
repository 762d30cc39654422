"""Spreadsheets (.xlsx, .xlsm, .xls, .ods), by the package `fastexcel`, an extra of ours."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from learnt.study._errors import StudyError, did_you_mean, one_line


def read_sheet(raw: bytes, path: Path, sheet: str) -> pl.DataFrame:
    """The sheet of that name, or the only one; types from all of its cells."""
    try:
        import fastexcel  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise StudyError(
            f'{path} is a spreadsheet, which takes a package to read: pip install "learnt[excel]" (fastexcel), or save '
            "the sheet as CSV."
        ) from None
    try:
        book = fastexcel.read_excel(raw)
        there = list(book.sheet_names)
        chosen = there[0] if not sheet and len(there) == 1 else next((s for s in there if s == sheet), None)
        if chosen is not None:
            # Types from every cell: else text below the first thousand numbers would become missing in silence.
            table = book.load_sheet(chosen, schema_sample_rows=None).to_polars()
            return table.filter(~pl.all_horizontal(pl.all().is_null()))
    except Exception as error:
        raise StudyError(f"{path} could not be read as a spreadsheet: {one_line(error)}; save it as CSV.") from error
    hint = did_you_mean(sheet, there).replace("the columns are", "the sheets are")
    said = f"has no sheet “{sheet}”" if sheet else f"holds {len(there)} sheets"
    raise StudyError(f"{path} {said}; {hint.rstrip('.')} – name one as {path}::{there[0]}.")
