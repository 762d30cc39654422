"""Steps 5 to 7: the choice, the final fits, the test set, the report."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt._version import __version__
from learnt.persistence import load
from learnt.study._clock import note_total, time_spent
from learnt.study._example import make_deliveries
from learnt.study._predict import ModelNotes
from learnt.study._session import Session, Table
from learnt.study.choice._combine import Standing
from learnt.study.choice._decide import (
    Decision,
    HeldOutPredictions,
    decide,
    fit_judged,
    fit_on_everything,
    journaled_out_of_fold,
)
from learnt.study.choice._looks import finished_at, journaled_calibration
from learnt.study.choice._told import choice_facts, chosen_facts, race_facts
from learnt.study.facts import Ceiling, Data, Facts, ModelFile, RunFacts, Seal, Sections, Truth, read_plain, to_plain
from learnt.study.judgement._ceiling import unbracketed
from learnt.study.judgement._curve import diagnose, reconciled
from learnt.study.judgement._further import Predicted, further_sections, written_output
from learnt.study.judgement._opening import asked_metric, importances, open_test_set, predictions, settle
from learnt.study.judgement._output import write_facts, write_text
from learnt.study.race._background import BackgroundCall
from learnt.study.race._ground import Ground
from learnt.study.race._race import Entry, Race
from learnt.study.race._recipe import Recipe, build_recipe
from learnt.study.race._remote import Worker, readiest
from learnt.study.race._script import train_script
from learnt.study.report._report import write_report
from learnt.study.report._words import race_words, simplicity_words, summarise
from learnt.study.table._problem import Problem
from learnt.study.table._seal import SPARE, Sealed, earlier_openings


class Reached(NamedTuple):
    """What there is to be written at the end."""

    facts: Facts
    points: tuple[np.ndarray, np.ndarray] | None  # observed and predicted amounts of the test rows
    model: Any
    known: Sections  # what the race and the choice know of the further sections
    held: Predicted  # development rows, by models that had not seen them
    output: np.ndarray | None  # of the test rows


class Conclusion:
    """From a finished race to the files of the study."""

    def __init__(self, run: Session, table: Table, problem: Problem, sealed: Sealed, ground: Ground) -> None:
        self.run, self.table, self.problem, self.sealed, self.ground = run, table, problem, sealed, ground
        self.settings, self.budget, self.journal = run.settings, run.budget, run.journal
        self.refit = self.settings.refits
        self.judged = run.work / ("judged.learnt" if self.refit else "model.learnt")

    def reach(self, workers: Sequence[Worker], race: Race, bracketing: BackgroundCall) -> Reached:
        """Choose, fit, test, refit on all rows, diagnose."""
        s, run = self.settings, self.run
        held_out = HeldOutPredictions(workers, race, self.budget)
        decision = run.timed(
            "choice",
            decide,
            race,
            self.ground,
            self.journal,
            self.budget,
            held_out,
            prefer=s.prefer,
            refit=self.refit,
            threads=len(workers),
        )
        loading = BackgroundCall(self._load_classes, decision.chosen.recipe)
        loading.start()  # while another process fits them
        chosen, judged_rows = run.timed(
            "final fit",
            fit_judged,
            decision,
            readiest(workers),
            self.budget,
            self.judged,
            s.threads,
            self._development,
            refit=self.refit,
        )
        out_of_fold = journaled_out_of_fold(decision, chosen, self.journal, held_out)
        named = (self.problem.classes, self.problem.positive)
        calibration = journaled_calibration(decision, chosen, self.journal, held_out, *named)
        loading.result()
        facts = self._facts(self._ceiling(bracketing), decision, chosen, judged_rows)
        self._say_choice(race, facts)
        judging = facts.has_model
        if not judging:
            self._leave_sealed(workers)
        model = load(self.judged) if judging else None  # the saved file is tested, as it will be used
        facts = settle(facts, self.problem, self.sealed, out_of_fold, s, model=judging)
        held, predicted = out_of_fold
        written = [predictions(facts, self.problem, self.sealed.development[held], "out of fold", predicted)]
        points, output = None, None
        if judging and not s.keep_sealed:
            facts, points, tested = run.timed("test", open_test_set, facts, self.problem, self.sealed, run, model)
            written.append(tested)
            output = written_output(tested, self.problem.classes)
        pl.concat(written).write_parquet(run.work / "predictions.parquet")
        if self.refit:
            facts = replace(facts, model=self._refit(facts.model, chosen, workers))
        # If few models were tried, none beating the constant says nothing about the columns
        if judging and (chosen.rank > 0 or not race.cut_short):
            found = run.timed(
                "learning curve",
                diagnose,
                workers,
                self.journal,
                self.ground,
                self.budget,
                chosen.recipe,
                race.rows,
                facts.ceiling,
            )
            facts = replace(facts, diagnosis=reconciled(found, facts.test, facts.beats_constant))
        if facts.diagnosis is not None:
            run.say(facts.diagnosis.finding)
        known = Sections(finishers=finished_at(decision), calibration=calibration)
        predicted_rows = Predicted(self.sealed.development[held], predicted)
        return Reached(facts, points, model, known, predicted_rows, output)

    def _leave_sealed(self, workers: Sequence[Worker]) -> None:
        """There is no model but a constant, for lack of time: nothing to judge, and no other fit will follow."""
        for worker in workers:
            worker.stop()  # it may still be loading, on a processor that is needed
        if self.refit:
            os.replace(self.judged, self.run.work / "model.learnt")
            self.refit = False

    def _load_classes(self, recipe: Recipe) -> None:
        """Import what the model file will need when it is read."""
        classes = self.problem.classes
        build_recipe(recipe, None if classes is None else list(range(len(classes))))

    def _development(self) -> tuple[pl.DataFrame, np.ndarray]:
        rows = self.sealed.development
        return self.problem.X[rows], self.problem.y[rows]

    def _ceiling(self, bracketing: BackgroundCall) -> Ceiling:
        """The bounds computed during the race, journaled; trivial bounds where they are not ready."""
        found = self.journal.get("ceiling", "")
        if found is not None:
            return read_plain(Ceiling, found)
        waiting = max(self.budget.for_final_fits() / 4, 0.0)
        ceiling: Ceiling | None = self.run.timed("ceiling", bracketing.result, waiting)
        if ceiling is None:
            return unbracketed(self.problem, self.sealed.development)
        self.journal.add("ceiling", "", to_plain(ceiling))
        return ceiling

    def _facts(self, ceiling: Ceiling, decision: Decision, chosen: Standing, judged_rows: int) -> Facts:
        """What is known before anything is judged: the table, the bounds, the race, the choice."""
        free = {"threads": None, "fresh": None, "overwrite": None}
        problem, sealed, table = self.problem, self.sealed, self.table
        metric = asked_metric(problem, self.settings)
        race = race_facts(decision, chosen, self.ground.objective.name, metric)
        return Facts(
            learnt=__version__,
            table=table.name,
            example=_truth(table.example),
            target=problem.target,
            task=problem.task,
            classes=problem.classes,
            positive=None if problem.positive is None else (problem.classes or [])[problem.positive],
            settings={**asdict(self.settings), **free},
            data=Data(
                rows=len(table.frame),
                width=table.frame.width,
                rows_used=len(problem.y),
                features=problem.features,
                image=None if problem.image is None else problem.image.words,
                columns=problem.columns,
                set_aside=problem.set_aside,
                notes=problem.notes,
                misread=tuple(problem.misread),
                target_type=str(table.frame.schema[problem.target]),
                hash=table.hash,
                time=problem.time,
                group=problem.group,
            ),
            seal=Seal(
                test_rows=len(sealed.test),
                development_rows=len(sealed.development),
                how=sealed.how,
                hash=sealed.hash,
                opened=self._opened_before(),
            ),
            ceiling=ceiling,
            race=race,
            choice=choice_facts(decision, chosen, self.settings.prefer, race),
            chosen=chosen_facts(chosen, problem.classify),
            model=ModelFile("model.learnt", judged_rows, judged_rows, "judged"),
            test=None,
            beats_constant=None,
            diagnosis=None,
        )

    def _opened_before(self) -> list[str] | None:
        """When the rows that stay sealed were opened by others."""
        if not self.settings.keep_sealed:
            return None
        return earlier_openings(self.sealed.hash, self.run.folder / SPARE)

    def _say_choice(self, race: Race, facts: Facts) -> None:
        for sentence in said_of_unfinished(race.entries):
            self.run.say(sentence)
        if race.halved:
            sizes = f"{race.rows:,} of {race.all_rows:,} rows"
            self.run.say(f"The budget let models race on {sizes} only; the final model is fitted on all of them.")
        self.run.say(race_words(facts))
        if said := simplicity_words(facts):
            self.run.say(said)

    def _refit(self, file: ModelFile, chosen: Standing, workers: Sequence[Worker]) -> ModelFile:
        """After the test set has been opened, its rows may be used for training.

        The final model is fitted on every row.
        """
        problem = self.problem
        labels = None if problem.classes is None else np.array(problem.classes)
        y = problem.y if labels is None else np.searchsorted(labels, problem.y)
        path, threads = self.run.work / "model.learnt", self.settings.threads
        everything = (problem.X, y, labels)
        rows = self.run.timed(
            "refit", fit_on_everything, chosen, readiest(workers), self.budget, self.judged, path, *everything, threads
        )
        if rows is None:
            self.run.say("There was no time to refit the model on all rows; model.learnt is the one that was judged.")
            return file
        return replace(file, rows=rows, final="all")

    def write(self, reached: Reached) -> Facts:
        """What the judged model uses, in the time that is left; then the files, which come into place at the end."""
        run, facts = self.run, reached.facts
        if facts.test is not None:
            used = run.timed("importances", importances, facts, self.problem, self.sealed, reached.model, run)
            facts = replace(facts, importances=used)
        sections = reached.known
        if facts.has_model:
            made = (facts, self.problem, self.sealed, run, reached.model, reached.held, reached.output)
            sections = run.timed("sections", further_sections, sections, *made)
        facts = replace(facts, sections=sections)
        facts = replace(facts, summary=summarise(facts))
        note_total(run.seconds, time.monotonic() - run.began)
        run.say(time_spent(run.seconds, self.settings.budget))
        files = ["model.learnt"] + (["judged.learnt"] if self.refit else [])
        for name in files:
            ModelNotes.of(facts).write(run.work / name)
        path = run.work / "model.learnt"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        file = replace(facts.model, judged_file=files[-1], sha256=digest, bytes=path.stat().st_size)
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        facts = replace(facts, model=file, run=RunFacts(finished, run.seconds, self.journal.reused))
        # Everything is written to temporary files first. study.json is moved into place first: it identifies the other
        # files, so that a study killed between two of them recognises them as its own when it resumes.
        write_facts(run.folder, facts)
        for name in [*files, "predictions.parquet"]:
            os.replace(run.work / name, run.folder / name)
        if "judged.learnt" not in files:
            (run.folder / "judged.learnt").unlink(missing_ok=True)  # of an earlier run
        write_text(run.folder / "train.py", train_script(facts.plain()))
        write_report(run.folder / "report.html", facts, reached.points)
        shutil.rmtree(run.work, ignore_errors=True)
        return facts


def said_of_unfinished(entries: Sequence[Entry]) -> list[str]:
    """One sentence for all models that were left out for the same reason."""
    by_reason: dict[tuple[str, str], dict[str, list[str]]] = {}
    for entry in entries:
        if entry.state in ("failed", "skipped"):
            families = by_reason.setdefault((entry.state, entry.note.rstrip(".")), {})
            families.setdefault(entry.candidate.family.name, []).append(entry.candidate.label)
    said = []
    for (state, note), families in by_reason.items():
        names = [
            labels[0] if len(labels) == 1 else f"{name} ({len(labels)} settings)" for name, labels in families.items()
        ]
        said.append(f"{_listed(names)} {state}: {note}.")
    return said


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{'; '.join(names[:-1])} and {names[-1]}"


def _truth(example: bool) -> Truth | None:
    """For the shipped table the best possible error is known, since its generator is known."""
    if not example:
        return None
    made = make_deliveries()
    return Truth(made.bayes_error, made.bayes_brier)
