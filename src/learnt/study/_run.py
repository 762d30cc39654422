"""The seven steps of a study, in order; every costly one goes through the journal."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt._version import __version__
from learnt.engine import progress
from learnt.engine.threads import thread_count
from learnt.plots import number
from learnt.study._ahead import compile_ahead
from learnt.study._bench import MOST_CELLS, lay_out
from learnt.study._beside import Beside
from learnt.study._budget import Budget
from learnt.study._ceiling import floor, floor_and_ceiling
from learnt.study._combine import Standing
from learnt.study._curve import diagnose
from learnt.study._decide import (
    Decision,
    Keeper,
    choice_fact,
    chosen_fact,
    decide,
    fit_judged,
    fit_on_everything,
    kept_out_of_fold,
    standing_rows,
)
from learnt.study._errors import StudyError
from learnt.study._example import TARGET, make_deliveries
from learnt.study._families import candidates_for
from learnt.study._folder import check_nothing_is_lost, held, make_folder
from learnt.study._ground import Ground
from learnt.study._journal import Journal
from learnt.study._metric import metric_of
from learnt.study._objective import Objective
from learnt.study._opening import add_importances, open_test_set
from learnt.study._output import plain_data, write_text
from learnt.study._predict import keep_with_model
from learnt.study._problem import Problem, pose
from learnt.study._race import Race, run_race
from learnt.study._read import open_table
from learnt.study._remote import Worker
from learnt.study._report import write_report
from learnt.study._seal import PARTS, Sealed, seal
from learnt.study._settings import Settings
from learnt.study._words import summarise

LONG_ENOUGH = 30.0  # seconds of a budget that pay for more than one partition of few rows

Say = Callable[[str], None]


@dataclass(frozen=True)
class Study:
    """A finished study: its numbers and where its files lie."""

    facts: dict[str, Any]
    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    @property
    def model(self) -> Path:
        return self.folder / "model.learnt"

    @property
    def beats_constant(self) -> bool:
        return bool(self.facts["beats_constant"])


def study(
    table: str | Path | pl.DataFrame | None = None,
    target: str | None = None,
    *,
    out: str | Path | None = None,
    say: Say = lambda text: None,
    began: float | None = None,
    **options: Any,
) -> Study:
    """Go from a table to a judged model: profile, seal, bracket, race, choose and diagnose, test once, report.

    Parameters
    ----------
    table : path of a CSV, Parquet, Arrow, Feather or JSON-lines file, or a data frame; None: the shipped example.
    target : name of the column to predict.
    out : folder for the report, the model, the numbers and the predictions; ``learnt-study-<name>`` by default.
    say : called with one sentence whenever something worth saying happened.
    began : the `time.monotonic()` from which the budget counts; now by default. A command counts its start as well.
    **options : ``task``, ``time``, ``group``, ``cost``, ``keep``, ``drop``, ``seed``, ``budget`` (seconds),
        ``threads``, ``fresh``, ``header``, ``metric``, ``overwrite``; see `Settings`.

    Returns
    -------
    Study
        ``facts`` (what study.json holds), ``report``, ``model``, ``beats_constant``.

    Examples
    --------
    >>> from learnt.study import study
    >>> found = study("deliveries.csv", "late", budget=30)      # doctest: +SKIP
    >>> found.facts["test"]["error"]                            # doctest: +SKIP
    """
    began = time.monotonic() if began is None else began
    frame, name, data_hash, example = open_table(table, options.get("header"))
    if target is None:
        if not example:
            raise StudyError("Which column should be predicted? Name it with --target.")
        target = TARGET
    settings = Settings(target=target, **options)
    if settings.header is False:
        settings = settings.with_numbered_columns(frame.columns)
    folder = Path(out) if out is not None else Path(f"learnt-study-{name}")
    make_folder(folder)
    with held(folder):
        check_nothing_is_lost(folder, settings, data_hash)
        journal = Journal(folder / "journal.jsonl", settings.key(data_hash), fresh=settings.fresh)
        if journal.found:
            say(f"Resuming: {journal.found} results of an earlier run are in {journal.path}.")
        run = _Run(settings, folder, journal, say, began)
        return run.all_steps(frame, name, data_hash, example)


class _Run:
    """One study under way; the methods are its steps."""

    def __init__(self, settings: Settings, folder: Path, journal: Journal, say: Say, began: float) -> None:
        self.settings, self.folder, self.journal, self.say, self.began = settings, folder, journal, say, began
        self.work = folder / f".work-{journal.key}"
        self.budget = Budget(settings.budget, began)
        self.seconds: dict[str, float] = {}

    @property
    def end(self) -> float:
        return self.budget.end

    @property
    def closing(self) -> float:
        return self.budget.closing

    def all_steps(self, frame: pl.DataFrame, name: str, data_hash: str, example: bool) -> Study:
        s = self.settings
        self.work.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            workers = [stack.enter_context(Worker(self.work, s.threads)) for _ in range(self._processes(frame))]
            for worker in workers:
                worker.start()  # they load while the rows are looked at
            started, calculated = time.monotonic(), time.process_time()
            problem = self._timed("profile", pose, frame, s.target, **self._asked(name))
            self._say_what_was_found(problem, len(frame))
            if s.cost is not None and problem.positive is None:
                raise StudyError("Costs of false alarms and misses need a target with two classes; leave --cost out.")
            sealed = self._timed("seal", seal, problem, s.seed)
            self.say(f"Sealed {len(sealed.test):,} test rows: {sealed.how}.")
            ground = self._lay_out(problem, sealed)
            self.budget.notice_pace(time.monotonic() - started, time.process_time() - calculated)
            entries = candidates_for(problem.task, ground.training_rows, ground.n_classes)
            families = {c.family.name: c.family for c in entries}
            sizes = [min(ground.training_rows, 1000), ground.training_rows]
            self.seconds["compiling"] = compile_ahead(workers[0], families.values(), sizes, self.say)
            self.budget.not_counted(self.seconds["compiling"])
            self._say_floor(problem, floor(problem, sealed.development))
            bracketing = Beside(floor_and_ceiling, problem, sealed.development, s.seed)
            if self.journal.get("ceiling", "") is None:
                bracketing.start()  # beside the race, which is run by other processes
            ground = self._partitions(ground)
            race = self._race(workers, problem, ground)
            ceiling = self._remembered("ceiling", "", bracketing.result)
            keeper = Keeper(workers, race, self.budget)
            refit = s.final == "all"
            decision = self._timed(
                "choice",
                decide,
                race,
                ground,
                self.journal,
                self.budget,
                keeper,
                prefer=s.prefer,
                refit=refit,
                threads=len(workers),
            )
            judged = self.work / ("judged.learnt" if refit else "model.learnt")
            development = sealed.development
            chosen, judged_rows = self._timed(
                "final fit",
                fit_judged,
                decision,
                workers[0],
                self.budget,
                judged,
                s.threads,
                lambda: (problem.X[development], problem.y[development]),
            )
            self._say_choice(decision, chosen)
            oof = kept_out_of_fold(decision, chosen, self.journal, keeper)
            facts = self._facts(frame, name, data_hash, example, problem, sealed, ceiling)
            facts |= {
                "race": {
                    "entries": standing_rows(decision, chosen),
                    "rungs": [race.rows],
                    "rows": race.rows,
                    "all_rows": race.all_rows,
                    "halved": race.halved,
                    "folds": race.folds,
                    "parts": race.parts,
                    "cut_short": race.cut_short,
                    "standard_error": decision.choice.standard_error,
                    "best": decision.best.label,
                    "loss_name": ground.objective.name,
                },
                "choice": choice_fact(decision, chosen, s.prefer),
                "chosen": chosen_fact(chosen, problem.classify),
                "model": {"file": "model.learnt", "rows": judged_rows, "judged_rows": judged_rows, "final": "judged"},
            }
            points = self._timed("test", open_test_set, facts, problem, sealed, oof, self, judged)
            if refit:
                self._refit(facts, problem, chosen, workers[0], judged)
            facts["diagnosis"] = self._timed(
                "learning curve",
                diagnose,
                workers,
                self.journal,
                ground,
                self.budget,
                chosen.recipe,
                race.rows,
                ceiling,
            )
            if facts["diagnosis"] is not None:
                self.say(facts["diagnosis"]["finding"])
        self._timed("importances", add_importances, facts, problem, sealed, judged, self)
        facts["summary"] = summarise(facts)
        self._write(facts, points)
        return Study(facts, self.folder)

    def _facts(
        self,
        frame: pl.DataFrame,
        name: str,
        data_hash: str,
        example: bool,
        problem: Problem,
        sealed: Sealed,
        ceiling: dict[str, Any],
    ) -> dict[str, Any]:
        """What is known before the race."""
        free = {"threads": None, "fresh": None, "overwrite": None}
        return {
            "learnt": __version__,
            "table": name,
            "example": _truth(example),
            "target": problem.target,
            "task": problem.task,
            "classes": problem.classes,
            "positive": None if problem.positive is None else (problem.classes or [])[problem.positive],
            "settings": {**asdict(self.settings), **free},
            "data": {
                "rows": len(frame),
                "width": frame.width,
                "rows_used": len(problem.y),
                "features": problem.features,
                "columns": problem.columns,
                "set_aside": problem.set_aside,
                "notes": problem.notes,
                "hash": data_hash,
                "time": problem.time,
                "group": problem.group,
            },
            "seal": {
                "test_rows": len(sealed.test),
                "development_rows": len(sealed.development),
                "how": sealed.how,
                "hash": sealed.hash,
            },
            "ceiling": ceiling,
        }

    def _processes(self, frame: pl.DataFrame) -> int:
        """How many processes fit models: one a core, fewer where each would need much memory for its rows."""
        large = frame.height * frame.width > 5_000_000
        return min(thread_count(self.settings.threads), 2 if large else 4)

    def _lay_out(self, problem: Problem, sealed: Sealed) -> Ground:
        s, y = self.settings, problem.y[sealed.development]
        codes = np.searchsorted(np.array(problem.classes), y) if problem.classes is not None else y
        n_classes = None if problem.classes is None else len(problem.classes)
        metric = None
        if s.metric is not None:
            metric = Objective.plain(metric_of(s.metric, problem.task, n_classes or 2, problem.positive, s.cost))
        lay_out(self.work, problem.X[sealed.development], codes, sealed.folds, problem.classes, s.seed, metric)
        parts = min(PARTS, len(sealed.folds))
        return Ground(codes, sealed.folds, parts, n_classes, Objective(n_classes, metric), s.seed)

    def _partitions(self, ground: Ground) -> Ground:
        """More than one partition of few rows where the time is long, for the pace of this machine; that stays."""
        count = self.journal.get("folds", "")
        if count is None:
            enough = self.settings.budget >= LONG_ENOUGH * self.budget.pace
            count = self.journal.add("folds", "", len(ground.folds) if enough else ground.parts)
        return replace(ground, folds=ground.folds[: int(count)])

    # --- step 1 ---

    def _asked(self, name: str) -> dict[str, Any]:
        s = self.settings
        return {"name": name, "task": s.task, "time": s.time, "group": s.group, "keep": s.keep, "drop": s.drop}

    def _say_what_was_found(self, problem: Problem, rows: int) -> None:
        kinds: dict[str, int] = {}
        for column in problem.columns:
            if column["used"]:
                kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
        held = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda kv: -kv[1]))
        what = f"{len(problem.classes)} classes" if problem.classes else "an amount"
        self.say(f'Read {rows:,} rows; "{problem.target}" is {what}; columns to learn from: {held}.')
        for entry in problem.set_aside:
            self.say(f'Set aside "{entry["column"]}": {entry["reason"].rstrip(".")}.')
        for note in problem.notes:
            self.say(note)

    # --- step 3 ---

    def _say_floor(self, problem: Problem, constant: dict[str, Any]) -> None:
        if problem.classify:
            self.say(f'Always saying "{constant["predicts"]}" errs on {constant["error"]:.1%}.')
        else:
            self.say(f"Always saying the mean has an RMSE of {number(constant['rmse'])}.")

    # --- step 4 ---

    def _race(self, workers: list[Worker], problem: Problem, ground: Ground) -> Race:
        started = time.monotonic()
        with progress.task("racing models") as bar:

            def step(label: str, done: int, total: int) -> None:
                bar.total, bar.done = total, done
                bar.note(label)

            race = run_race(
                workers,
                self.journal,
                ground,
                self.budget,
                task=problem.task,
                most=max(MOST_CELLS // max(len(problem.features), 1), 1000),
                refit=self.settings.final == "all",
                on_step=step,
            )
            bar.done = bar.total or 0
        self.seconds["race"] = time.monotonic() - started
        return race

    def _say_choice(self, decision: Decision, chosen: Standing) -> None:
        race = decision.race
        told: dict[tuple[str, str, str], list[str]] = {}
        for entry in race.entries:
            if entry.state in ("failed", "skipped"):
                key = (entry.candidate.family.name, entry.state, entry.note)
                told.setdefault(key, []).append(entry.candidate.label)
        for (family, state, note), labels in told.items():
            who = labels[0] if len(labels) == 1 else f"{family} ({len(labels)} settings)"
            self.say(f"{who} {state}: {note.rstrip('.')}.")
        if race.halved:
            sizes = f"{race.rows:,} of {race.all_rows:,} rows"
            self.say(f"The budget let models race on {sizes} only; the final model is fitted on all of them.")
        done, all_of_them = sum(e.state == "finished" for e in race.entries), len(race.entries)
        rule = choice_fact(decision, chosen, self.settings.prefer)["rule"]
        self.say(f"Raced {all_of_them} models, {done} to the end; chosen: {chosen.label} ({rule}).")
        if decision.simple is not decision.best and decision.choice.cost > 0:
            costs = f"{100 * decision.choice.cost:.1f}%"
            self.say(f"The simplest within one standard error is {decision.simple.label}; its loss is {costs} higher.")

    # --- step 6 ---

    def _refit(self, facts: dict[str, Any], problem: Problem, chosen: Standing, worker: Worker, judged: Path) -> None:
        """After the test set has been opened, its rows may be learnt from: the model to be used has seen every row."""
        labels = None if problem.classes is None else np.array(problem.classes)
        y = problem.y if labels is None else np.searchsorted(labels, problem.y)
        path, s = self.work / "model.learnt", self.settings
        rows = self._timed(
            "refit", fit_on_everything, chosen, worker, self.budget, judged, path, problem.X, y, labels, s.threads
        )
        if rows is None:
            self.say("There was no time to refit the model on all rows; model.learnt is the one that was judged.")
        else:
            facts["model"] |= {"rows": rows, "final": "all"}

    # --- step 7 ---

    def _write(self, facts: dict[str, Any], points: Any) -> None:
        self.seconds["total"] = time.monotonic() - self.began
        made = ["model.learnt"] + (["judged.learnt"] if facts["settings"]["final"] == "all" else [])
        for name in made:
            keep_with_model(self.work / name, facts)
        facts["model"]["judged_file"] = made[-1]
        facts["model"]["sha256"] = hashlib.sha256((self.work / "model.learnt").read_bytes()).hexdigest()
        facts["model"]["bytes"] = (self.work / "model.learnt").stat().st_size
        run = {"finished": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": self.seconds}
        facts["run"] = {**run, "reused": self.journal.reused}
        text = json.dumps(plain_data(facts), indent=1, allow_nan=False, ensure_ascii=False)
        # Everything is made where nobody looks. The numbers come into place first: they say whose the other files are,
        # so that a study killed between two of them is known as its own when it goes on.
        write_text(self.folder / "study.json", text)
        for name in [*made, "predictions.parquet"]:
            os.replace(self.work / name, self.folder / name)
        if "judged.learnt" not in made:
            (self.folder / "judged.learnt").unlink(missing_ok=True)  # of an earlier run
        write_report(self.folder / "report.html", facts, points)
        shutil.rmtree(self.work, ignore_errors=True)

    # --- helpers ---

    def _timed(self, label: str, step: Callable, *arguments: Any, **options: Any) -> Any:
        started = time.monotonic()
        result = step(*arguments, **options)
        self.seconds[label] = time.monotonic() - started
        return result

    def _remembered(self, kind: str, name: str, step: Callable, *arguments: Any) -> Any:
        found = self.journal.get(kind, name)
        if found is None:
            found = self.journal.add(kind, name, plain_data(self._timed(kind, step, *arguments)))
        return found


def _truth(example: bool) -> dict[str, float] | None:
    """For the shipped table the best possible error is known, because its generator is."""
    if not example:
        return None
    made = make_deliveries()
    return {"bayes_error": made.bayes_error, "bayes_brier": made.bayes_brier}
