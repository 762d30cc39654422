"""The seven steps of a study, in order; every costly one goes through the journal."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.engine import progress
from learnt.plots import number
from learnt.study._clock import beyond_half
from learnt.study._counting import counted
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._example import TARGET
from learnt.study._folder import JOURNAL, WORK, check_nothing_is_lost, folder_of_a_study
from learnt.study._journal import Journal
from learnt.study._session import Say, Session, Table
from learnt.study._settings import Settings
from learnt.study.facts import Ceiling, Constant
from learnt.study.judgement._ceiling import floor, floor_and_ceiling
from learnt.study.race._background import BackgroundCall
from learnt.study.race._budget import Budget
from learnt.study.race._candidates import candidates_for
from learnt.study.race._compilation import compile_ahead
from learnt.study.race._ground import Ground
from learnt.study.race._layout import MOST_CELLS, write_rows
from learnt.study.race._metric import metric_of
from learnt.study.race._objective import Objective
from learnt.study.race._process import MOST, process_count
from learnt.study.race._race import MUCH_MORE, Race, run_race
from learnt.study.race._remote import Worker
from learnt.study.report._words import share
from learnt.study.table._images import besides_pixels
from learnt.study.table._problem import Problem, pose
from learnt.study.table._read import open_table
from learnt.study.table._seal import PARTS, Sealed, seal
from learnt.study.table._source import is_named, place_of

LONG_ENOUGH = 30.0  # seconds of budget from which small tables get more than one partition
ENOUGH_TO_BRACKET = 8.0  # and from which bounds on the best possible error are computed, each on an idle machine


def carry_out(
    table: str | Path | pl.DataFrame | None,
    target: str | None,
    *,
    out: Path,
    say: Say,
    began: float | None = None,
    **options: Any,
) -> None:
    """Go from a table to a judged model, in the folder `out`; `options` are those of `Settings`.

    The budget is what one waits for once the table is read. A command `began`, on the clock of `time.monotonic`, with
    its process, any other study begins now.
    """
    moment = (time.monotonic(), time.process_time()) if began is None else (began, 0.0)
    loaded = time.process_time()
    frame, name, data_hash, example = open_table(table, options.get("header"))
    read = time.monotonic()
    if target is None:
        if not example:
            known = did_you_mean("", besides_pixels(frame.columns))
            raise StudyError(f"Which column should be predicted? Name it with --target; {known}")
        target = TARGET
    settings = Settings(target=target, **options)
    if settings.header is False:
        settings = settings.with_numbered_columns(frame.columns)
    with folder_of_a_study(out):
        check_nothing_is_lost(out, settings, data_hash)
        journal = Journal(out / JOURNAL, settings.key(data_hash), fresh=settings.fresh)
        if journal.found:
            say(f"Resuming: {journal.found} results of an earlier run are in {journal.path}.")
        if settings.keep_sealed and is_named(table) and (place := place_of(table)) is not None:
            journal.add("table", "", place)  # where the sealed rows are
        budget, work = Budget(settings.budget, read), out / f"{WORK}{journal.key}"
        session = Session(settings, out, journal, say, budget, work, moment[0], {"read": read - moment[0]})
        RunningStudy(session, moment[1], loaded).all_steps(Table(frame, name, data_hash, example))


class RunningStudy:
    """The steps of a study up to the race, and the rest handed to `_conclude`."""

    def __init__(self, session: Session, calculated: float, loaded: float) -> None:
        self.session = session
        self.settings, self.journal, self.say, self.budget = (
            session.settings,
            session.journal,
            session.say,
            session.budget,
        )
        self.calculated = calculated  # seconds of the processor before the study
        self.loaded = loaded  # and when the table was about to be read

    def all_steps(self, table: Table) -> None:
        s, session, frame = self.settings, self.session, table.frame
        session.work.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            workers = [stack.enter_context(Worker(session.work, s.threads)) for _ in range(self._processes(frame))]
            for worker in workers:
                worker.start()  # they load while the rows are profiled
            problem = session.timed("profile", pose, frame, s.target, name=table.name, **s.of_columns)
            self._say_what_was_found(problem, len(frame))
            if s.cost is not None and problem.positive is None:
                raise StudyError("Costs of false alarms and misses need a target with two classes; leave --cost out.")
            sealed = session.timed("seal", seal, problem, s.seed)
            self.say(f"Sealed {counted(len(sealed.test), 'test row')}: {sealed.how}.")
            ground = self._write_rows(problem, sealed)
            self.budget.notice_pace(time.monotonic() - session.began, time.process_time() - self.calculated)
            self.budget.work = time.process_time() - self.loaded
            entries = candidates_for(problem.task, ground.training_rows, ground.n_classes, image=ground.image)
            families = {c.family.name: c.family for c in entries}
            sizes = [min(ground.training_rows, 1000), ground.training_rows]
            session.seconds["compiling"] = compile_ahead(workers[0], families.values(), sizes, self.say)
            session.seconds["not counted"] = beyond_half(time.monotonic() - self.budget.began, s.budget)
            self.budget.not_counted(session.seconds["not counted"])
            self._say_constant(floor(problem, sealed.development))
            background = BackgroundCall(self._during_the_race, problem, sealed.development)
            background.start()  # the race is run by other processes
            ground = self._partitions(ground)
            race = self._race(workers, problem, ground)
            from learnt.study._conclude import Conclusion

            conclusion = Conclusion(session, table, problem, sealed, ground)
            reached = conclusion.reach(workers, race, background)
            conclusion.write(reached)

    def _processes(self, frame: pl.DataFrame) -> int:
        """How many processes fit models: fewer where each would need much memory for its rows."""
        large = frame.height * frame.width > 5_000_000
        return process_count(self.settings.threads, self.settings.budget, 2 if large else MOST)

    def _write_rows(self, problem: Problem, sealed: Sealed) -> Ground:
        s = self.settings
        codes = problem.codes[sealed.development].astype(np.int64 if problem.classify else np.float64)
        n_classes = None if problem.classes is None else len(problem.classes)
        metric = None
        if s.metric is not None:
            metric = Objective.plain(metric_of(s.metric, problem.task, n_classes or 2, problem.positive, s.cost))
        X, work = problem.X[sealed.development], self.session.work
        write_rows(work, X, codes, sealed.folds, problem.classes, s.seed, metric)
        parts = min(PARTS, len(sealed.folds))
        return Ground(codes, sealed.folds, parts, n_classes, Objective(n_classes, metric), s.seed, problem.image)

    def _partitions(self, ground: Ground) -> Ground:
        """More than one partition for small tables where the budget allows it on this machine.

        The decision is kept until the budget is much larger: the study goes on as it began.
        """
        budget, known = self.settings.budget, self.journal.get("folds", "")
        if known is None or budget >= MUCH_MORE * known["budget"]:
            count = len(ground.folds) if budget >= LONG_ENOUGH * self.budget.pace else ground.parts
            known = self.journal.add("folds", "", {"count": count, "budget": budget})
        return replace(ground, folds=ground.folds[: int(known["count"])])

    # --- step 1 ---

    def _say_what_was_found(self, problem: Problem, rows: int) -> None:
        kinds: dict[str, int] = {}
        for column in problem.columns:
            if column["used"]:
                kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
        held = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda kv: -kv[1]))
        what = counted(len(problem.classes), "class", "classes") if problem.classes else "an amount"
        if problem.grid is not None:
            held = held.replace("1 image", f"images of {problem.grid.words}")
        self.say(f"Read {counted(rows, 'row')}; “{problem.target}” is {what}; columns to learn from: {held}.")
        for entry in problem.set_aside:
            self.say(f"Set aside “{entry['column']}”: {entry['reason'].rstrip('.')}.")
        for note in problem.notes:
            self.say(note)

    # --- step 3 ---

    def _say_constant(self, constant: Constant) -> None:
        if constant.error is not None:
            self.say(f"Always saying “{constant.predicts}” is wrong on {share(constant.error)} of rows.")
        elif constant.rmse is not None:
            self.say(f"Always saying the mean has an RMSE of {number(constant.rmse)}.")

    def _during_the_race(self, problem: Problem, development: np.ndarray) -> Ceiling | None:
        """Load and compile what is needed after the race, and bound the best possible error.

        The bounds take processor seconds; a study with a small budget has none, nor are known ones computed again.
        """
        import_module("learnt.study._conclude")
        import_module("learnt.study.report._report").compiled_page()
        known = self.journal.get("ceiling", "") is not None
        if known or self.settings.budget < ENOUGH_TO_BRACKET * self.budget.pace:
            return None
        return floor_and_ceiling(problem, development, self.settings.seed)

    # --- step 4 ---

    def _race(self, workers: list[Worker], problem: Problem, ground: Ground) -> Race:
        started = time.monotonic()
        with progress.task("racing models") as bar:
            bar.until = self.budget.race_until(0.0)

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
                refit=self.settings.refits,
                on_step=step,
            )
            bar.total, bar.done = len(race.entries), sum(entry.state == "finished" for entry in race.entries)
            bar.note("measured to the end")
        self.session.seconds["race"] = time.monotonic() - started
        return race
