"""The sealed test set of a study opened, once: the study goes on from its files to its verdict."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from learnt.persistence import load
from learnt.study._errors import StudyError
from learnt.study._folder import held
from learnt.study._journal import Journal
from learnt.study._settings import Settings
from learnt.study.judgement._curve import reconciled
from learnt.study.judgement._opening import add_importances, open_test_set
from learnt.study.judgement._output import write_facts
from learnt.study.race._budget import Budget
from learnt.study.report._report import write_report
from learnt.study.report._words import has_model, summarise
from learnt.study.table._problem import pose
from learnt.study.table._read import open_table
from learnt.study.table._seal import seal

Say = Callable[[str], None]


class _Opener:
    """The attributes of a running study that opening its test set reads (`judgement._opening.Run`)."""

    def __init__(self, settings: Settings, folder: Path, journal: Journal, say: Say) -> None:
        self.settings, self.folder, self.journal, self.say = settings, folder, journal, say
        self.work, self.budget = folder, Budget(settings.budget)
        self.seconds: dict[str, float] = {}


def evaluate_study(
    folder: str | Path, table: str | Path | pl.DataFrame | None = None, *, say: Say = lambda text: None
) -> tuple[dict[str, Any], bool]:
    """Open the sealed test set of a study, once; the study's facts, and whether this was the opening.

    `table` is where the studied table lies now, if it was moved. What was opened before is not judged again.
    """
    folder = Path(folder)
    facts = _facts_of(folder)
    if facts["test"] is not None:
        return facts, False
    if not has_model(facts):
        raise StudyError(
            f"{folder} holds no model to judge, for lack of time; run the study again with more of it (--budget 5m)."
        )
    with held(folder):
        facts = _facts_of(folder)
        if facts["test"] is not None:  # by another process, meanwhile
            return facts, False
        return _opened(folder, facts, table, say), True


def _facts_of(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        facts["summary"]["headline"], facts["test"], facts["settings"]["target"], facts["data"]["hash"]
        return facts
    except OSError:
        raise StudyError(f"{folder} holds no finished study (no study.json); run learnt study first.") from None
    except (ValueError, KeyError, TypeError):
        raise StudyError(f"{folder / 'study.json'} is damaged; run the study again.") from None


def _opened(folder: Path, facts: dict[str, Any], table: Any, say: Say) -> dict[str, Any]:
    started = time.monotonic()
    known = {f.name for f in fields(Settings)}
    recorded = {k: v for k, v in facts["settings"].items() if k in known and v is not None}
    arguments: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in recorded.items()}
    settings = Settings(**arguments)
    journal = Journal(folder / "journal.jsonl", settings.key(facts["data"]["hash"]))
    where = table if table is not None else journal.get("table", "")
    if where is None:
        raise StudyError(f"{folder} does not say where its table lies; name it: learnt evaluate {folder} TABLE.")
    frame, _, table_hash, _ = open_table(where, settings.header)
    if table_hash != facts["data"]["hash"]:
        raise StudyError(f"{where} is not the table that was studied, or has changed since; name the right one.")
    problem = pose(frame, settings.target, name=facts["table"], **settings.of_columns)
    sealed = seal(problem, settings.seed)
    path = folder / "model.learnt"
    if sealed.hash != facts["seal"]["hash"]:
        raise StudyError(f"This version of learnt cannot tell which rows {folder} sealed; study the table again.")
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != facts["model"]["sha256"]:
        raise StudyError(f"{path} is not the model that the study chose; run the study again.")
    model, run = load(path), _Opener(settings, folder, journal, say)
    points, tested = open_test_set(facts, problem, sealed, run, model)
    add_importances(facts, problem, sealed, model, run)
    facts["settings"]["keep_sealed"] = False
    facts["diagnosis"] = reconciled(facts["diagnosis"], facts)
    facts["summary"] = summarise(facts)
    run.seconds["test"] = time.monotonic() - started
    facts["run"]["seconds"] |= run.seconds
    facts["run"]["evaluated"] = datetime.now(UTC).isoformat(timespec="seconds")
    _add_predictions(folder / "predictions.parquet", tested)
    write_report(folder / "report.html", facts, points)
    write_facts(folder, facts)  # last: a process killed before this repeats the same opening
    return facts


def _add_predictions(path: Path, tested: pl.DataFrame) -> None:
    held_out = pl.read_parquet(path).filter(pl.col("part") != "test")
    part = path.with_suffix(".tmp")
    pl.concat([held_out, tested.cast(held_out.schema)]).write_parquet(part)
    part.replace(path)
