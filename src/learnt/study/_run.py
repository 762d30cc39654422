"""The seven steps of a study, in order; every costly one goes through the journal."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt._version import __version__
from learnt.diagnosis import curve_sizes, read_curve
from learnt.engine import progress
from learnt.plots import number
from learnt.study._ahead import compile_ahead
from learnt.study._bench import MOST_CELLS, lay_out
from learnt.study._ceiling import floor_and_ceiling
from learnt.study._errors import StudyError
from learnt.study._example import TARGET, make_deliveries
from learnt.study._families import candidates_for
from learnt.study._folder import check_nothing_is_lost, held, make_folder
from learnt.study._journal import Journal
from learnt.study._opening import open_test_set
from learnt.study._output import plain_data, write_text
from learnt.study._predict import keep_with_model
from learnt.study._problem import Problem, pose
from learnt.study._race import Entry, Race, choose, fit_name, held_file, run_race, rungs_for, standings
from learnt.study._read import open_table
from learnt.study._remote import Failed, TooSlow, Worker
from learnt.study._report import write_report
from learnt.study._seal import Sealed, seal
from learnt.study._settings import Settings
from learnt.study._words import summarise

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
    **options: Any,
) -> Study:
    """Go from a table to a judged model: profile, seal, bracket, race, choose and diagnose, test once, report.

    Parameters
    ----------
    table : path of a CSV, Parquet, Arrow, Feather or JSON-lines file, or a data frame; None: the shipped example.
    target : name of the column to predict.
    out : folder for the report, the model, the numbers and the predictions; ``learnt-study-<name>`` by default.
    say : called with one sentence whenever something worth saying happened.
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
    began = time.monotonic()
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
        self.end = began + settings.budget
        self.seconds: dict[str, float] = {}

    def all_steps(self, frame: pl.DataFrame, name: str, data_hash: str, example: bool) -> Study:
        s = self.settings
        problem = self._timed("profile", pose, frame, s.target, **self._asked(name))
        self._say_what_was_found(problem, len(frame))
        if s.cost is not None and problem.positive is None:
            raise StudyError("Costs of false alarms and misses need a target with two classes; leave --cost out.")
        sealed = self._timed("seal", seal, problem, s.seed)
        self.say(f"Sealed {len(sealed.test):,} test rows: {sealed.how}.")
        development = sealed.development
        y = problem.y[development]
        codes = np.searchsorted(np.array(problem.classes), y) if problem.classify else y
        lay_out(self.work, problem.X[development], codes, sealed.folds, problem.classes, s.seed)
        rungs = rungs_for(self._most_rows(problem, sealed))
        families = {c.family.model: c.family for c in candidates_for(problem.task)}
        with Worker(self.work, s.threads) as worker:
            worker.start()  # loads while the ceiling is measured
            self.seconds["compiling"] = compile_ahead(worker, families.values(), rungs, self.say)
            self.end += self.seconds["compiling"]  # the budget is for models
            ceiling = self._remembered("ceiling", "", floor_and_ceiling, problem, development, s.seed)
            self._say_ceiling(problem, ceiling)
            race = self._race(worker, problem, sealed)
            chosen, best, spread = choose(race)
            rows = standings(race, chosen)
            self._say_choice(race, chosen, best)
            diagnosis = self._diagnose(worker, race, chosen, sealed, ceiling)
            oof = self._out_of_fold(worker, race, chosen)
            fitted = self._fit(worker, chosen, race, len(development))
        facts = {
            "learnt": __version__,
            "table": name,
            "example": _truth(example),
            "target": problem.target,
            "task": problem.task,
            "classes": problem.classes,
            "positive": None if problem.positive is None else problem.classes[problem.positive],
            "settings": {**asdict(s), "threads": None, "fresh": None, "overwrite": None},
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
                "development_rows": len(development),
                "how": sealed.how,
                "hash": sealed.hash,
            },
            "ceiling": ceiling,
            "race": {
                "entries": rows,
                "rungs": race.rungs,
                "folds": len(sealed.folds),
                "cut_short": race.cut_short,
                "standard_error": spread,
                "best": best.candidate.label,
            },
            "chosen": {
                "label": chosen.candidate.label,
                "id": chosen.candidate.id,
                "family": chosen.candidate.family.name,
                **chosen.candidate.spec(),
            },
            "diagnosis": diagnosis,
            "model": fitted,
        }
        points = self._timed("test", open_test_set, facts, problem, sealed, oof, self)
        facts["summary"] = summarise(facts)
        self._write(facts, points)
        return Study(facts, self.folder)

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

    def _say_ceiling(self, problem: Problem, ceiling: dict[str, Any]) -> None:
        constant = ceiling["constant"]
        if problem.classify:
            b = ceiling["bayes_error"]
            best = f"no rule is likely to err on less than {b['lower']:.1%}"
            self.say(f'Always saying "{constant["predicts"]}" errs on {constant["error"]:.1%}; {best}.')
        else:
            n = ceiling["noise"]
            between = f"{number(math.sqrt(n['lower']))} and {number(math.sqrt(n['upper']))}"
            self.say(f"Always saying the mean has an RMSE of {number(constant['rmse'])}; noise is between {between}.")

    # --- step 4 ---

    @staticmethod
    def _most_rows(problem: Problem, sealed: Sealed) -> int:
        """Training rows on the last rung of the race."""
        rows = min(max(len(train) for train, _ in sealed.folds), 100_000)
        return min(rows, max(MOST_CELLS // max(4 * len(problem.features), 1), 1000))

    def _race(self, worker: Worker, problem: Problem, sealed: Sealed) -> Race:
        now = time.monotonic()
        deadline = now + 0.6 * max(self.end - now, 0.0)
        started = now
        with progress.task("racing models") as bar:

            def step(label: str, done: int, total: int) -> None:
                bar.total, bar.done = total, done
                bar.note(label)

            race = run_race(
                worker,
                self.journal,
                task=problem.task,
                rows=self._most_rows(problem, sealed),
                folds=len(sealed.folds),
                deadline=deadline,
                on_step=step,
            )
            bar.done = bar.total or 0
        self.seconds["race"] = time.monotonic() - started
        return race

    def _say_choice(self, race: Race, chosen: Entry, best: Entry) -> None:
        told: dict[tuple[str, str, str], list[str]] = {}
        finished = set(map(id, race.finished()))
        for entry in race.entries:
            if entry.state in ("failed", "skipped") and id(entry) not in finished:
                key = (entry.candidate.family.name, entry.state, entry.note)
                told.setdefault(key, []).append(entry.candidate.label)
        for (family, state, note), labels in told.items():
            who = labels[0] if len(labels) == 1 else f"{family} ({len(labels)} settings)"
            self.say(f"{who} {state}: {note.rstrip('.')}.")
        if race.last < len(race.rungs) - 1:
            sizes = f"{race.rungs[race.last]:,} of {race.rungs[-1]:,} rows"
            self.say(f"The budget ended the race at {sizes}; a larger --budget goes on from here.")
        done, all_of_them = len(finished), len(race.entries)
        why = "the best" if chosen is best else f"the simplest within one standard error of {best.candidate.label}"
        self.say(f"Raced {all_of_them} models, {done} to the end; chosen: {chosen.candidate.label} ({why}).")

    # --- step 5 ---

    def _diagnose(
        self, worker: Worker, race: Race, chosen: Entry, sealed: Sealed, ceiling: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Learning curve of the choice and what it says; None when there was no time for it."""
        most = race.rungs[race.last]
        top = min(min(len(train) for train, _ in sealed.folds), race.rungs[race.last])
        sizes = curve_sizes(top, 6)
        now = time.monotonic()
        deadline = now + 0.45 * max(self.end - now, 0.0)
        started, spec = now, chosen.candidate.spec()
        curve: dict[int, list[dict]] = {}
        with progress.task("learning curve", total=len(sizes) * race.folds) as bar:
            for size in reversed(sizes):  # the largest first: one size is enough for a verdict
                found = []
                for fold in range(race.folds):
                    result = self._curve_point(worker, chosen, spec, fold, size, most, deadline)
                    bar.advance()
                    if result is None:
                        break
                    found.append(result)
                if len(found) == race.folds:
                    curve[size] = found
        self.seconds["learning curve"] = time.monotonic() - started
        if not curve:
            return None
        kept = sorted(curve)
        train = np.array([[r["train_loss"] for r in curve[size]] for size in kept])
        valid = np.array([[r["loss"] for r in curve[size]] for size in kept])
        noise = (ceiling["noise"]["lower"], ceiling["noise"]["upper"])
        constant = next(e for e in race.entries if e.candidate.is_constant)
        level = constant.mean(race.last)
        words: dict[str, Any] = {"form": lambda v: number(math.sqrt(max(v, 0.0))), "loss_name": "RMSE"}
        if "bayes_error" in ceiling:
            words = {"form": number, "loss_name": "Brier score"}
        verdict = read_curve(np.array(kept), train, valid, noise=noise, constant=level, **words)
        self.say(verdict.finding)
        return {
            "regime": verdict.regime,
            "finding": verdict.finding,
            "evidence": list(verdict.evidence),
            "treatments": list(verdict.treatments),
            "parts": {part: getattr(verdict, part)._asdict() for part in ("noise", "bias", "variance")},
            "loss": verdict.loss,
            "train_loss": verdict.train_loss,
            "constant": verdict.constant,
            "curve": {"sizes": kept, "train": train.tolist(), "valid": valid.tolist()},
        }

    def _curve_point(
        self, worker: Worker, chosen: Entry, spec: dict, fold: int, size: int, most: int, deadline: float
    ) -> dict | None:
        name = f"{chosen.candidate.id}@{size}#{fold}"
        result = self.journal.get("fit", name)
        if result is not None:
            return result
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        try:
            result = worker.call("evaluate", left, spec=spec, fold=fold, rows=size, most=most)
        except TooSlow:
            return None
        except Failed:  # too few rows for this model
            return None
        return self.journal.add("fit", name, result)

    def _out_of_fold(self, worker: Worker, race: Race, chosen: Entry) -> tuple[np.ndarray, np.ndarray]:
        """Predictions of the choice for development rows by models that did not see them: rows and predictions.

        The race has left them in files; what is no longer there (a finished study run again) is worked out again.
        """
        started = time.monotonic()
        rows, predicted = [], []
        spec, size = chosen.candidate.spec(), race.rungs[race.last]
        for fold in range(race.needed(race.last)):
            path = held_file(self.work / "held", fit_name(chosen, race, fold))
            if not path.exists():
                # Known to take so long; a restarted process also has to prepare its rows.
                left = max(0.5 * (self.end - time.monotonic()), 10.0 + 3 * chosen.seconds(race.last))
                try:
                    worker.call("evaluate", left, spec=spec, fold=fold, rows=size, most=size, keep=str(path))
                except (TooSlow, Failed):
                    continue
            with np.load(path) as held:
                rows.append(held["rows"])
                predicted.append(held["predicted"])
        self.seconds["out of fold"] = time.monotonic() - started
        if not rows:
            raise StudyError(
                "The budget ended before the chosen model could be checked; run again with a larger --budget."
            )
        return np.concatenate(rows), np.concatenate(predicted)

    def _fit(self, worker: Worker, chosen: Entry, race: Race, rows: int) -> dict[str, Any]:
        """The final model on all development rows, or on as many as the time left allows."""
        started = time.monotonic()
        path, spec = str(self.folder / "model.learnt"), chosen.candidate.spec()
        left = self.end - time.monotonic()
        size = race.rungs[race.last]
        preparing = max(e.preparation(race.last) for e in race.entries)
        expected = 1.5 * (chosen.seconds(race.last) + preparing) * (rows / size) ** 1.1
        limits: list[int | None] = [None, size] if expected < 0.7 * left or size >= rows else [size]
        for k, limit in enumerate(limits):
            last = k == len(limits) - 1
            try:
                with progress.task("fitting the final model"):
                    # The last attempt repeats a fit that is known to end; it is not cut off.
                    allowed = max(left, 30.0 + 3 * chosen.seconds(race.last)) if last else 0.8 * left
                    fitted = worker.call("fit", allowed, spec=spec, path=path, rows=limit)
                self.seconds["final fit"] = time.monotonic() - started
                return {"file": "model.learnt", "rows": fitted["rows"], "columns": fitted["columns"]}
            except TooSlow as error:
                if last:
                    raise StudyError(f"The final fit was {error}; run again with a larger --budget.") from None
            except Failed as error:
                raise StudyError(f"The chosen model could not be fitted to all rows: {error}.") from None
        raise AssertionError("unreachable: the last attempt returns or raises")

    # --- step 7 ---

    def _write(self, facts: dict[str, Any], points: Any) -> None:
        self.seconds["total"] = time.monotonic() - self.began
        keep_with_model(self.folder / "model.learnt", facts)
        facts["model"]["sha256"] = hashlib.sha256((self.folder / "model.learnt").read_bytes()).hexdigest()
        facts["model"]["bytes"] = (self.folder / "model.learnt").stat().st_size
        run = {"finished": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": self.seconds}
        facts["run"] = {**run, "reused": self.journal.reused}
        text = json.dumps(plain_data(facts), indent=1, allow_nan=False, ensure_ascii=False)
        write_text(self.folder / "study.json", text)
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
