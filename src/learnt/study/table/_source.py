"""What is named as a table: a file, a part of one (`shop.db::orders`), or standard input (`-`); packed or not.

packed     gzip, Zstandard, a zip archive of one file, or of several of which one is named after ::
kind       by the first bytes, which no name can belie; of text by the ending, or by the first character
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard
from urllib.parse import unquote, urlsplit

import polars as pl

from learnt.study._errors import StudyError, did_you_mean

STANDARD_INPUT = "standard input"
_ENDINGS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow",
    ".jsonl": "JSON", ".ndjson": "JSON", ".json": "JSON",
    ".npz": "images", ".npy": "images",
}  # fmt: skip
_PACKED = (".gz", ".zst", ".zip")
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
_STARTS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"SQLite format 3\x00": "SQLite",
    b"\xd0\xcf\x11\xe0": "spreadsheet",  # .xls
    b"\x93NUMPY": "images",
}
_GZIP, _ZSTANDARD, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"II*\x00", b"MM\x00*")  # and documents
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # two letters at least: one is a drive


@dataclass(frozen=True)
class Source:
    """Where a table comes from.

    Attributes
    ----------
    path : the file, as sentences call it.
    part : what was named after ::, a table, a sheet, a file of an archive or a query; empty where nothing was.
    raw : its bytes, where it is no plain file.
    ending : of the name of the unpacked table, such as ".csv".
    whole : whether there is nothing else in the file.
    """

    path: Path
    part: str = ""
    raw: bytes | None = None
    ending: str = ""
    whole: bool = True

    @property
    def is_file(self) -> bool:
        """Whether the table is the file and all of it, packed or not."""
        return self.whole and self.path.is_file() and self.kind not in ("SQLite", "spreadsheet")

    def start(self) -> bytes:
        """Its first bytes."""
        if self.raw is not None:
            return self.raw[:64]
        with self.path.open("rb") as file:
            return file.read(64)

    def read(self) -> bytes:
        """All of its bytes."""
        return self.path.read_bytes() if self.raw is None else self.raw

    @property
    def kind(self) -> str:
        """What it holds: "text", "JSON", "parquet", "arrow", "arrow stream", "SQLite", "spreadsheet" or "images"."""
        start = self.start()
        for bytes_, kind in _STARTS.items():
            if start.startswith(bytes_):
                return kind
        if start.startswith(_ZIP):  # what is left of them when archives are unpacked
            return "images" if self.ending == ".npz" else "spreadsheet"
        if start.startswith(b"FEA1"):
            raise StudyError(f"{self.path} is a Feather file of the first version; write it again as Parquet.")
        if self.ending in _ENDINGS:
            return _ENDINGS[self.ending]
        if start.startswith(_PICTURES):
            raise StudyError(f"{self.path} is a picture or a document, not a table; save the table in it as CSV first.")
        if b"\x00" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")) and self.ending not in _TEXT:
            raise StudyError(
                f"{self.path} is not a text table; CSV, JSON, Parquet, Arrow, Feather, SQLite and Excel can be read."
            )
        begins_json = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
        return "JSON" if begins_json and self.ending not in _TEXT else "text"


def is_named(table: object) -> TypeGuard[str | os.PathLike]:
    """Whether a table is given by a name, not as a data frame."""
    return isinstance(table, str | os.PathLike)


def name_of(table: str | os.PathLike) -> str:
    """A short name for a table, as folders of studies have.

    >>> name_of("data/orders.2024.csv.gz"), name_of("shop.db::orders"), name_of("shop.db::SELECT 1"), name_of("-")
    ('orders', 'orders', 'shop', 'stdin')
    """
    path, part = _parts(table)
    if str(path) == "-":
        return "stdin"
    short = part.split(".")[0] if re.fullmatch(r"[\w .-]+", part) and " " not in part.strip() else ""
    return short or path.name.split(".")[0] or "table"


def title_of(table: str | os.PathLike) -> str:
    """What a table is called in a report.

    >>> title_of("data/orders.csv"), title_of("data/shop.db::orders"), title_of("-")
    ('orders.csv', 'shop.db::orders', 'standard input')
    """
    path, part = _parts(table)
    return STANDARD_INPUT if str(path) == "-" else f"{path.name}{'::' if part else ''}{part}"


def place_of(table: str | os.PathLike) -> str | None:
    """Where a table can be found again from any folder; None for standard input."""
    path, part = _parts(table)
    return None if str(path) == "-" else f"{path.resolve()}{'::' if part else ''}{part}"


def find(table: str | os.PathLike) -> Source:
    """The source that a name stands for, unpacked; a sentence where there is none."""
    path, part = _parts(table)
    if str(path) == "-" and not path.exists():
        return _unpacked(Source(Path(STANDARD_INPUT), part, _standard_input()))
    _check_there(path)
    return _unpacked(Source(path, part, None, _ending(path.name)))


def _parts(table: str | os.PathLike) -> tuple[Path, str]:
    """The file, and what was named inside of it."""
    text = os.fspath(table)
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    elif (found := _ADDRESS.match(text)) and not os.path.exists(text):
        shown = text if f"{found[0]}/" in text else text.replace(":/", "://", 1)  # a Path has one slash
        raise StudyError(
            f"{shown} is an address, and only files of this machine are read; download it first and name the file."
        )
    path, mark, part = text.partition("::")
    return (Path(path), part.strip()) if mark and not os.path.exists(text) else (Path(text), "")


def _check_there(path: Path) -> None:
    if not path.exists():
        same_folder = [p.name for p in path.parent.glob("*") if p.is_file()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, same_folder) if same_folder else "check the path."
        raise StudyError(f"There is no file {path}; {hint.replace('the columns are', 'beside it are')}")
    if path.is_dir():
        raise StudyError(f"{path} is a folder, not a table; name the file inside it.")


def _standard_input() -> bytes:
    raw = sys.stdin.buffer.read()
    if not raw:
        raise StudyError("Standard input is empty; send a table into it, as in: cat table.csv | learnt study - …")
    return raw


def _ending(name: str) -> str:
    """Of the table in it, however it is packed.

    >>> _ending("A.CSV.gz"), _ending("b.tar"), _ending("c")
    ('.csv', '.tar', '')
    """
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in _PACKED else path.suffix


# --- packed ---


def _unpacked(source: Source) -> Source:
    start = source.start()
    if not start:
        raise StudyError(f"{source.path} is empty; a table needs a line of column names and rows below it.")
    if start.startswith(_GZIP):
        try:
            return replace(source, raw=gzip.decompress(source.read()))
        except (OSError, EOFError):
            raise StudyError(f"{source.path} is a damaged or cut-off gzip file; pack it again.") from None
    if start.startswith(_ZSTANDARD):
        return replace(source, raw=_from_zstandard(source))
    if start.startswith(_ZIP) and source.ending != ".npz":
        return _from_zip(source)
    return source


def _from_zstandard(source: Source) -> bytes:
    """The lines of a text table; Polars unpacks them where Python has no package for it before 3.14."""
    options = {"has_header": False, "separator": "\x00", "quote_char": None, "infer_schema": False}
    try:
        lines = pl.read_csv(source.read(), **options).to_series().fill_null("")  # type: ignore[arg-type]
    except Exception:
        raise StudyError(
            f"{source.path} is packed by Zstandard, of which only text tables in UTF-8 are read; unpack it first."
        ) from None
    return ("\n".join(lines) + "\n").encode()


def _from_zip(source: Source) -> Source:
    try:
        with zipfile.ZipFile(source.path if source.raw is None else io.BytesIO(source.raw)) as archive:
            files = [info.filename for info in archive.infolist() if not info.is_dir()]
            files = [name for name in files if not name.startswith("__MACOSX/")]
            if "[Content_Types].xml" in files or "mimetype" in files:
                return replace(source, ending=".xlsx")
            name = source.part or (files[0] if len(files) == 1 else "")
            if name not in files:
                shown = ", ".join(files[:8]) + (", …" if len(files) > 8 else "")
                held = f"{source.path} is an archive of {shown}" if files else f"{source.path} is an empty archive"
                raise StudyError(f"{held}; name one of them: {source.path}::{(files or ['table.csv'])[0]}.")
            return replace(source, part="", raw=archive.read(name), ending=_ending(name), whole=len(files) == 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        raise StudyError(
            f"{source.path} is a damaged or locked spreadsheet or zip archive; save the table in it as CSV first."
        ) from None
