"""A finished study as an object: its leaderboard, predictions, reasons, report, model and numbers."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import warnings
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.study._errors import StudyError
from learnt.study._unlike import sentence
from learnt.study.door._html import first_screen
from learnt.study.door._judged_rows import JudgedRows
from learnt.study.door._leaderboard import leaderboard, loss_column
from learnt.study.door._report_file import ReportFile
from learnt.study.door._sentences import in_python, python_sentences
from learnt.study.table._frames import Library, as_polars

_FILES = ("report.html", "model.learnt", "judged.learnt", "study.json", "predictions.parquet", "train.py")


class Study(JudgedRows):
    """A finished study. `learnt.study(table, target=…)` returns it, `learnt.open_study(folder)` opens it again.

    Rows may come as a pandas, Polars or pyarrow table, as a path or as an array in the order of the columns; what is
    said about them comes back in the same library.

    Parameters
    ----------
    folder : str or Path
        The folder of a finished study.
    table : data frame, or path of a table, default=None
        The table that was studied, for answers that show its rows.
    library : object, default=None
        Which library of data frames answers come in; None is Polars.
    temporary : bool, default=False
        Whether the folder is removed with this object.

    Attributes
    ----------
    folder : Path
        Where its files lie: report.html, model.learnt, study.json, predictions.parquet. A temporary one, removed with
        this object, where `learnt.study` was given no ``out``; `save_all` keeps it.
    facts : dict
        Every number of the study, as in study.json.
    beats_constant : bool or None
        Whether the model is better than a constant on the test rows; None where they are sealed.

    See Also
    --------
    study : Makes a study.
    open_study : Opens one from its folder.
    compare : Compares two on the same test rows.

    Examples
    --------
    >>> import learnt, tempfile
    >>> s = learnt.study(target="late", budget="10m")                               # doctest: +SKIP
    >>> s.leaderboard.head(3)                                                       # doctest: +SKIP
    >>> s.predict(new_rows), s.predict_proba(new_rows)                              # doctest: +SKIP
    >>> s.report.save("late.html")                                                  # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        table: pl.DataFrame | str | Path | None = None,
        library: Library | None = None,
        temporary: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self._table, self._library = table, library or Library()
        if temporary:
            weakref.finalize(
                self, shutil.rmtree, self.folder, ignore_errors=True
            )  # when the process ends at the latest
        self._path = self.folder / "study.json"
        try:
            self.facts: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
            self.facts["summary"]["headline"], self.facts["race"]["entries"], self.facts["target"]
        except OSError:
            raise StudyError(f"{folder} holds no finished study (no study.json); run learnt study first.") from None
        except (ValueError, KeyError, TypeError):
            raise StudyError(f"{self._path} is damaged; run the study again.") from None

    # --- what it found ---

    @property
    def target(self) -> str:
        """The column that is predicted."""
        return str(self.facts["target"])

    @property
    def classes(self) -> list[Any] | None:
        """The classes, in the order of the probabilities; None for amounts."""
        return None if self.facts["classes"] is None else _typed(pl.Series(self.facts["classes"]), self._type).to_list()

    @property
    def beats_constant(self) -> bool | None:
        """Whether the model is better than a constant on the test rows; None where they are sealed."""
        return self.facts["beats_constant"]

    @property
    def leaderboard(self) -> Any:
        """The models of the race, best first, as a data frame.

        The loss is cross-validated and bears the name of the metric ("log_loss", "RMSE"), with an interval;
        ``settings`` are the estimators as they are written in Python.
        """
        return self._library.frame(leaderboard(self.facts))

    @property
    def importances(self) -> Any:
        """How much the loss grows when a column is shuffled, with an interval, as a data frame, largest first.

        Empty where no model beats a constant, or the budget left no time.
        """
        columns = {"column": pl.String, "loss_added": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        rows = [{name: found[name] for name in columns} for found in self.facts["importances"]]
        return self._library.frame(pl.DataFrame(rows, schema=columns))

    @property
    def report(self) -> ReportFile:
        """The report: it shows itself in a notebook, and `report.save("report.html")` writes it elsewhere."""
        return ReportFile(self.folder / "report.html")

    # --- its model ---

    @cached_property
    def model(self) -> Any:
        """The fitted estimator: a pipeline that takes raw tables, as `learnt.load(s.model_path)` reads it.

        Its own ``predict`` takes the likelier class. Where costs, a metric or a rare class moved the threshold, the
        decisions of the study are those of `Study.predict`, of ``learnt predict`` and of ``learnt serve``.
        """
        return self._saved.fitted

    @property
    def model_path(self) -> Path:
        """The file of the model."""
        return self.folder / "model.learnt"

    @cached_property
    def _saved(self) -> Any:
        from learnt.study._model import SavedModel

        return SavedModel.open(self.folder)

    @property
    def threshold(self) -> float | None:
        """The probability from which `predict` says the positive class; None for amounts and several classes."""
        return self._saved.threshold if self._saved.positive is not None else None

    def predict(self, rows: Any, *, lenient: bool = False) -> Any:
        """The decision for each row: a class, by the study's threshold, or an amount.

        Parameters
        ----------
        rows : data frame, path of a table, or array
            Rows with the columns the model was learnt from; others are ignored. An array has them in the order of the
            studied table.
        lenient : bool, default=False
            Whether text where the model knows numbers or dates counts as missing, with a warning; it is refused by
            default.

        Returns
        -------
        predicted : series
            The decision for each row, named like the target; of the library that came in.
        """
        library, decided, _ = self._decided(rows, lenient)
        found = decided["prediction"].alias(self.target)
        return library.series(found if self.facts["classes"] is None else _typed(found, self._type))

    def predict_proba(self, rows: Any, *, lenient: bool = False) -> Any:
        """The probability of each class for each row.

        Parameters
        ----------
        rows : data frame, path of a table, or array
            Rows with the columns the model was learnt from; others are ignored. An array has them in the order of the
            studied table.
        lenient : bool, default=False
            Whether text where the model knows numbers or dates counts as missing, with a warning; it is refused by
            default.

        Returns
        -------
        proba : data frame
            A column for each class, of the library that came in.
        """
        if self.facts["classes"] is None:
            raise StudyError(f"“{self.target}” is an amount, which has no classes; use predict or predict_interval.")
        library, _, output = self._decided(rows, lenient)
        names = self.classes or []
        return library.frame(pl.DataFrame({str(name): output[:, k] for k, name in enumerate(names)}), names)

    def predict_interval(self, rows: Any, *, lenient: bool = False) -> Any:
        """Bounds that were made to hold 90% of amounts; the report says what share they held of the test rows.

        Parameters
        ----------
        rows : data frame, path of a table, or array
            Rows with the columns the model was learnt from; others are ignored. An array has them in the order of the
            studied table.
        lenient : bool, default=False
            Whether text where the model knows numbers or dates counts as missing, with a warning; it is refused by
            default.

        Returns
        -------
        interval : data frame
            The columns ``low`` and ``high``, of the library that came in.
        """
        library, decided, _ = self._decided(rows, lenient)
        if "low" not in decided.columns:
            raise StudyError(f"“{self.target}” is predicted as a class; predict_proba says how sure the model is.")
        return library.frame(decided.select("low", "high"))

    def unlike(self, rows: Any) -> Any:
        """What in each row is unlike all that the model was learnt from: an age of 900, a town it has never seen.

        `predict` and its kin warn of such rows in one sentence.

        Parameters
        ----------
        rows : data frame, path of a table, or array
            Rows with the columns the model was learnt from; others are ignored. An array has them in the order of the
            studied table.

        Returns
        -------
        words : series
            What is unlike in each row, in words; missing where nothing is. Of the library that came in.
        """
        with python_sentences():
            found = self._saved.unlike(self._saved.columns_of(self._rows_of(rows), lenient=True))
        return Library.of(rows).series(found)

    def explain(self, rows: Any) -> Any:
        """Why the model predicts what it predicts: what each cell of a row adds to its prediction.

        Parameters
        ----------
        rows : data frame, path of a table, or array
            Rows with the columns the model was learnt from; others are ignored. An array has them in the order of the
            studied table.

        Returns
        -------
        reasons : Reasons
            ``values`` (a column of the table each), ``baseline`` and ``prediction``, which they add up to; ``words(k)``
            says the main reasons of row k.
        """
        from learnt.explanation import contributions

        with python_sentences():
            X = self._saved.columns_of(self._rows_of(rows), say=_warn)
            known = self._table is not None or self.facts["example"] is not None
            background = self._studied.select(self.facts["data"]["features"]) if known else None
            return contributions(self.model, X, background)

    def _decided(self, rows: Any, lenient: bool) -> tuple[Library, pl.DataFrame, np.ndarray]:
        """The library of the rows, decisions as in `predict_table`, and the output of the model."""
        library, saved = Library.of(rows), self._saved
        with python_sentences():
            X = saved.columns_of(self._rows_of(rows), lenient=lenient, say=_warn)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # unreadable cells were told
                output, strange = saved.output(X), saved.unlike(X)
            if (said := sentence(strange)) is not None:
                _warn(said)
        return library, saved.decided(output), output

    def _rows_of(self, rows: Any) -> pl.DataFrame:
        if isinstance(rows, str | Path):
            from learnt.study.table._read import read_table

            return read_table(rows)
        return as_polars(rows, self._saved.names)

    @property
    def _type(self) -> str:
        """How the target was typed in the table."""
        return str(self.facts["data"].get("target_type", ""))

    def code(self) -> str:
        """A script of under sixty lines that fits the model again from the table with plain `learnt` code.

        It lies in the folder as train.py: ``python train.py TABLE`` writes a model with the same predictions.

        Returns
        -------
        script : str
            The script, which needs nothing but `learnt` and the table.
        """
        from learnt.study.race._script import train_script

        return train_script(self.facts)

    # --- as files ---

    def save(self, path: str | Path) -> Path:
        """Copy the model file; `learnt.load`, ``learnt predict`` and ``learnt serve`` read it.

        Parameters
        ----------
        path : str or Path
            The file, such as "model.learnt".

        Returns
        -------
        path : Path
            Where the file is.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise StudyError(f"The folder {path.parent} does not exist; create it first.")
        shutil.copyfile(self.model_path, path)
        return path

    def save_all(self, folder: str | Path) -> Path:
        """Copy the report, the model, the numbers and the predictions to a folder; `learnt.open_study` opens it again.

        Parameters
        ----------
        folder : str or Path
            A folder that is empty or does not exist yet.

        Returns
        -------
        folder : Path
            Where the files are.
        """
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StudyError(f"{folder} is there already and not empty; name another folder.")
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
        return folder

    def __getstate__(self) -> dict[str, Any]:
        files = {name: (self.folder / name).read_bytes() for name in _FILES if (self.folder / name).is_file()}
        table = None
        if isinstance(self._table, pl.DataFrame):
            buffer = io.BytesIO()
            self._table.write_ipc(buffer)
            table = buffer.getvalue()
        return {"files": files, "table": table or self._table, "library": self._library.without_rows()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        folder = temporary_folder()
        for name, content in state["files"].items():
            (folder / name).write_bytes(content)
        table = state["table"]
        table = pl.read_ipc(table) if isinstance(table, bytes) else table
        self.__init__(folder, table=table, library=state["library"], temporary=True)  # type: ignore[misc]

    # --- as it shows itself ---

    def __repr__(self) -> str:
        facts = self.facts
        summary = facts["summary"]
        first = next((entry for entry in facts["race"]["entries"] if entry["state"] == "chosen"), None)
        model = facts["chosen"]["label"]
        if first is not None and first["family"] != "constant":
            value = leaderboard(facts).filter(pl.col("state") == "chosen")[loss_column(facts)][0]
            model += f", cross-validated {facts['race']['loss_name']} {value:.4g}"
        lines = [
            f"Study of “{facts['target']}” in {facts['table']}: {summary['verdict']}",
            in_python(summary["headline"]),
            f"Model: {model}",
            f"Next: {in_python(summary['lines'][-1]['text'])}",
            f"Files: {self.folder}",
        ]
        return "\n".join(_short(line) for line in lines)

    def _repr_html_(self) -> str:
        return first_screen(self.facts, self.folder)


def temporary_folder() -> Path:
    """A new folder, which the object that is made from it removes."""
    return Path(tempfile.mkdtemp(prefix="learnt-study-"))


def _warn(sentence: str) -> None:
    warnings.warn(in_python(sentence), UserWarning, stacklevel=5)


def _short(line: str, most: int = 160) -> str:
    """One line of at most so many characters."""
    line = " ".join(line.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _typed(labels: pl.Series, wanted: str) -> pl.Series:
    """Classes as the table had them: a study writes yes-or-no cells and broken numbers as text.

    >>> _typed(pl.Series(["false", "true"]), "Boolean").to_list()
    [False, True]
    """
    if labels.dtype != pl.String:
        return labels
    if wanted == "Boolean":
        return labels == "true"
    return labels.cast(pl.Float64) if wanted.startswith("Float") else labels
