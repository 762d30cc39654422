"""The sealed test set of a study opened, once: the study goes on from its files to its verdict."""

from __future__ import annotations

import hashlib
import time
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from learnt.persistence import load
from learnt.study._errors import StudyError
from learnt.study._folder import held
from learnt.study._journal import Journal
from learnt.study._session import Say, Session
from learnt.study._settings import Settings
from learnt.study.facts import Facts, Sections
from learnt.study.judgement._curve import reconciled
from learnt.study.judgement._further import further_sections, written_output
from learnt.study.judgement._opening import importances, open_test_set
from learnt.study.judgement._output import write_facts, write_text
from learnt.study.race._budget import Budget
from learnt.study.report._markdown import markdown
from learnt.study.report._report import write_report
from learnt.study.report._words import summarise
from learnt.study.table._problem import pose
from learnt.study.table._read import open_table
from learnt.study.table._seal import seal


def evaluate_study(
    folder: str | Path, table: str | Path | pl.DataFrame | None = None, *, say: Say = lambda text: None
) -> tuple[dict[str, Any], bool]:
    """Open the sealed test set of a study, once; the study's facts, and whether this was the opening.

    What was opened before is not judged again.

    Parameters
    ----------
    folder : str or Path
        The folder of a study that was made with `keep_sealed`.
    table : str, Path, polars.DataFrame or None, default=None
        Where the studied table lies now, if it was moved; None is where it was.
    say : callable, default=lambda text: None
        Called with a sentence on each step; by default nothing is said.

    Returns
    -------
    facts : dict
        Every number of the study, as in study.json.
    opened : bool
        Whether the test set was opened by this call.

    See Also
    --------
    study : Makes a study, sealed with `keep_sealed`.
    evaluate_table : Judges a model on other rows.
    """
    folder = Path(folder)
    facts = facts_of(folder)
    if facts.test is not None:
        return facts.plain(), False
    if not facts.has_model:
        raise StudyError(
            f"{folder} holds no model to judge, for lack of time; run the study again with more of it (--budget 5m)."
        )
    with held(folder):
        facts = facts_of(folder)
        if facts.test is not None:  # by another process, meanwhile
            return facts.plain(), False
        return _opened(folder, facts, table, say).plain(), True


def facts_of(folder: Path) -> Facts:
    """What the study.json of a folder holds."""
    try:
        return Facts.of_folder(folder)
    except OSError:
        raise StudyError(f"{folder} holds no finished study (no study.json); run learnt study first.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StudyError(f"{folder / 'study.json'} is damaged; run the study again.") from None


def _opened(folder: Path, facts: Facts, table: Any, say: Say) -> Facts:
    started = time.monotonic()
    known = {f.name for f in fields(Settings)}
    recorded = {k: v for k, v in facts.settings.items() if k in known and v is not None}
    arguments: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in recorded.items()}
    settings = Settings(**arguments)
    journal = Journal(folder / "journal.jsonl", settings.key(facts.data.hash))
    where = table if table is not None else journal.get("table", "")
    if where is None:
        raise StudyError(f"{folder} does not say where its table lies; name it: learnt evaluate {folder} TABLE.")
    frame, _, table_hash, _ = open_table(where, settings.header)
    if table_hash != facts.data.hash:
        raise StudyError(f"{where} is not the table that was studied, or has changed since; name the right one.")
    problem = pose(frame, settings.target, name=facts.table, **settings.of_columns)
    sealed = seal(problem, settings.seed)
    path = folder / "model.learnt"
    if sealed.hash != facts.seal.hash:
        raise StudyError(f"This version of learnt cannot tell which rows {folder} sealed; study the table again.")
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != facts.model.sha256:
        raise StudyError(f"{path} is not the model that the study chose; run the study again.")
    model, session = load(path), Session(settings, folder, journal, say, Budget(settings.budget), folder, started)
    facts, points, tested = open_test_set(facts, problem, sealed, session, model)
    facts = replace(
        facts,
        importances=importances(facts, problem, sealed, model, session),
        settings={**facts.settings, "keep_sealed": False},
        diagnosis=reconciled(facts.diagnosis, facts.test, facts.beats_constant),
    )
    so_far, output = facts.sections or Sections(), written_output(tested, problem.classes)
    made = (facts, problem, sealed, session, model, None, output)
    facts = replace(facts, sections=further_sections(so_far, *made))
    session.seconds["test"] = time.monotonic() - started
    assert facts.run is not None
    clock = {**facts.run.seconds, **session.seconds}
    evaluated = datetime.now(UTC).isoformat(timespec="seconds")
    facts = replace(facts, summary=summarise(facts), run=replace(facts.run, seconds=clock, evaluated=evaluated))
    _add_predictions(folder / "predictions.parquet", tested)
    write_report(folder / "report.html", facts, points)
    if (folder / "report.md").exists():  # it was asked for
        write_text(folder / "report.md", markdown(facts))
    write_facts(folder, facts)  # last: a process killed before this repeats the same opening
    return facts


def _add_predictions(path: Path, tested: pl.DataFrame) -> None:
    held_out = pl.read_parquet(path).filter(pl.col("part") != "test")
    part = path.with_suffix(".tmp")
    pl.concat([held_out, tested.cast(held_out.schema)]).write_parquet(part)
    part.replace(path)
