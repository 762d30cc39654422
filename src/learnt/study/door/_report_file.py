"""The report of a study: a file to open or to hand on, and a page inside a notebook."""

from __future__ import annotations

import os
import shutil
from html import escape
from pathlib import Path

from learnt.study._errors import StudyError
from learnt.study.facts import Facts
from learnt.study.judgement._output import write_text
from learnt.study.report._markdown import markdown


class ReportFile(os.PathLike[str]):
    """The report of a study. In a notebook it shows itself; `str`, `open` and `Path` take it as its path.

    Attributes
    ----------
    path : Path
        Where report.html lies.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"ReportFile({str(self.path)!r})"

    def save(self, path: str | Path) -> Path:
        """Write the report to a file; returns its path.

        Parameters
        ----------
        path : path
            A file ending in .html: one self-contained page, without network. Or in .md: sentences and tables as
            Markdown. For PDF print the page from a browser.

        Returns
        -------
        Path
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".html", ".htm", ".md"):
            raise StudyError(f"A report is saved as .html or .md; {path} ends otherwise.")
        if not path.parent.is_dir():
            raise StudyError(f"The folder {path.parent} does not exist; create it first.")
        if kind == ".md":
            write_text(path, markdown(Facts.of_folder(self.path.parent)))
        elif path.resolve() != self.path.resolve():
            shutil.copyfile(self.path, path)
        return path

    def _repr_html_(self) -> str:
        page = escape(self.path.read_text(encoding="utf-8"), quote=True)
        style = "width: 100%; height: 46rem; border: 1px solid #8884; border-radius: 8px"
        return f'<iframe srcdoc="{page}" style="{style}" title="Report of the study"></iframe>'
