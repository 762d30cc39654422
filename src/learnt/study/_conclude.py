"""Steps 5 to 7: the choice, the final fits, the test set, the report."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from learnt._version import __version__
from learnt.persistence import load
from learnt.study._example import make_deliveries
from learnt.study._predict import keep_with_model
from learnt.study.choice._combine import Standing
from learnt.study.choice._decide import (
    Decision,
    HeldOutPredictions,
    choice_fact,
    chosen_fact,
    decide,
    fit_judged,
    fit_on_everything,
    journaled_out_of_fold,
    standing_rows,
)
from learnt.study.judgement._ceiling import unbracketed
from learnt.study.judgement._curve import diagnose, reconciled
from learnt.study.judgement._opening import Run as Opening
from learnt.study.judgement._opening import add_importances, asked_metric, open_test_set, predictions, settle
from learnt.study.judgement._output import plain_data, write_facts, write_text
from learnt.study.race._background import BackgroundCall
from learnt.study.race._ground import Ground
from learnt.study.race._race import Entry, Race
from learnt.study.race._recipe import Recipe, build_recipe
from learnt.study.race._remote import Worker, readiest
from learnt.study.race._script import train_script
from learnt.study.report._report import write_report
from learnt.study.report._words import has_model, summarise
from learnt.study.table._problem import Problem
from learnt.study.table._seal import SPARE, Sealed, earlier_openings


class Run(Opening, Protocol):
    """The part of a running study that is used here."""

    began: float

    def timed(self, label: str, step: Callable, *arguments: Any, **options: Any) -> Any: ...


class Table(NamedTuple):
    """The table as it was read."""

    frame: pl.DataFrame
    name: str
    hash: str
    example: bool


class Conclusion:
    """From a finished race to the files of the study."""

    def __init__(self, run: Run, table: Table, problem: Problem, sealed: Sealed, ground: Ground) -> None:
        self.run, self.table, self.problem, self.sealed, self.ground = run, table, problem, sealed, ground
        self.settings, self.budget, self.journal = run.settings, run.budget, run.journal
        self.refit = self.settings.refits
        self.judged = run.work / ("judged.learnt" if self.refit else "model.learnt")

    def reach(self, workers: Sequence[Worker], race: Race, bracketing: BackgroundCall) -> dict[str, Any]:
        """Choose, fit, test, refit on all rows, diagnose; returns all facts, and the points to plot."""
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
        self._say_choice(decision, chosen)
        out_of_fold = journaled_out_of_fold(decision, chosen, self.journal, held_out)
        loading.result()
        ceiling = self._ceiling(bracketing)
        facts = self._facts(ceiling) | self._race_facts(decision, chosen, judged_rows)
        judging = has_model(facts)
        if not judging:
            self._leave_sealed(workers)
        model = load(self.judged) if judging else None  # the saved file is tested, as it will be used
        settle(facts, self.problem, self.sealed, out_of_fold, s, model=judging)
        held, predicted = out_of_fold
        written = [predictions(facts, self.problem, self.sealed.development[held], "out of fold", predicted)]
        points = None
        if judging and not s.keep_sealed:
            points, tested = run.timed("test", open_test_set, facts, self.problem, self.sealed, run, model)
            written.append(tested)
        pl.concat(written).write_parquet(run.work / "predictions.parquet")
        if self.refit:
            self._refit(facts, chosen, workers)
        facts["diagnosis"] = None
        # If few models were tried, none beating the constant says nothing about the columns
        if judging and (chosen.rank > 0 or not race.cut_short):
            facts["diagnosis"] = run.timed(
                "learning curve",
                diagnose,
                workers,
                self.journal,
                self.ground,
                self.budget,
                chosen.recipe,
                race.rows,
                ceiling,
            )
        facts["diagnosis"] = reconciled(facts["diagnosis"], facts)
        if facts["diagnosis"] is not None:
            run.say(facts["diagnosis"]["finding"])
        return {"facts": facts, "points": points, "model": model}

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

    def _ceiling(self, bracketing: BackgroundCall) -> dict[str, Any]:
        """The bounds computed during the race, journaled; trivial bounds where they are not ready."""
        found = self.journal.get("ceiling", "")
        if found is not None:
            return found
        waiting = max(self.budget.for_final_fits() / 4, 0.0)
        found = self.run.timed("ceiling", bracketing.result, waiting)
        if found is None:
            return plain_data(unbracketed(self.problem, self.sealed.development))
        return self.journal.add("ceiling", "", plain_data(found))

    def _race_facts(self, decision: Decision, chosen: Standing, judged_rows: int) -> dict[str, Any]:
        """The race, the choice and the model that was chosen."""
        race, metric = decision.race, asked_metric(self.problem, self.settings)
        return {
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
                "loss_name": self.ground.objective.name,
                "greater": None if metric is None else metric.greater,
            },
            "choice": choice_fact(decision, chosen, self.settings.prefer),
            "chosen": chosen_fact(chosen, self.problem.classify),
            "model": {"file": "model.learnt", "rows": judged_rows, "judged_rows": judged_rows, "final": "judged"},
        }

    def _facts(self, ceiling: dict[str, Any]) -> dict[str, Any]:
        """Facts from before the race, and the bounds on the best possible error."""
        free = {"threads": None, "fresh": None, "overwrite": None}
        problem, sealed, table = self.problem, self.sealed, self.table
        return {
            "learnt": __version__,
            "table": table.name,
            "example": _truth(table.example),
            "target": problem.target,
            "task": problem.task,
            "classes": problem.classes,
            "positive": None if problem.positive is None else (problem.classes or [])[problem.positive],
            "settings": {**asdict(self.settings), **free},
            "data": {
                "rows": len(table.frame),
                "width": table.frame.width,
                "rows_used": len(problem.y),
                "features": problem.features,
                "image": None if problem.image is None else problem.image.words,
                "columns": problem.columns,
                "set_aside": problem.set_aside,
                "notes": problem.notes,
                "misread": [asdict(entry) for entry in problem.misread],
                "target_type": str(table.frame.schema[problem.target]),
                "hash": table.hash,
                "time": problem.time,
                "group": problem.group,
            },
            "seal": {
                "test_rows": len(sealed.test),
                "development_rows": len(sealed.development),
                "how": sealed.how,
                "hash": sealed.hash,
                "opened": self._opened_before(),
            },
            "ceiling": ceiling,
        }

    def _opened_before(self) -> list[str] | None:
        """When the rows that stay sealed were opened by others."""
        if not self.settings.keep_sealed:
            return None
        return earlier_openings(self.sealed.hash, self.run.folder / SPARE)

    def _say_choice(self, decision: Decision, chosen: Standing) -> None:
        race = decision.race
        for sentence in said_of_unfinished(race.entries):
            self.run.say(sentence)
        if race.halved:
            sizes = f"{race.rows:,} of {race.all_rows:,} rows"
            self.run.say(f"The budget let models race on {sizes} only; the final model is fitted on all of them.")
        done = len(decision.standings)  # a blend among them, as in the report
        all_of_them = done + sum(e.state != "finished" for e in race.entries)
        rule = choice_fact(decision, chosen, self.settings.prefer)["rule"]
        self.run.say(f"Raced {all_of_them} models, {done} to the end; chosen: {chosen.label} ({rule}).")
        if decision.simple is not decision.best and decision.choice.cost > 0:
            costs = f"{100 * decision.choice.cost:.1f}%"
            self.run.say(
                f"The simplest within one standard error is {decision.simple.label}; its loss is {costs} higher."
            )

    def _refit(self, facts: dict[str, Any], chosen: Standing, workers: Sequence[Worker]) -> None:
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
        else:
            facts["model"] |= {"rows": rows, "final": "all"}

    def write(self, facts: dict[str, Any], points: Any, model: Any) -> dict[str, Any]:
        """What the judged model uses, in the time that is left; then the files, which come into place at the end."""
        run = self.run
        if facts["test"] is not None:
            run.timed("importances", add_importances, facts, self.problem, self.sealed, model, run)
        facts["summary"] = summarise(facts)
        run.seconds["total"] = time.monotonic() - run.began
        files = ["model.learnt"] + (["judged.learnt"] if self.refit else [])
        for name in files:
            keep_with_model(run.work / name, facts)
        facts["model"]["judged_file"] = files[-1]
        facts["model"]["sha256"] = hashlib.sha256((run.work / "model.learnt").read_bytes()).hexdigest()
        facts["model"]["bytes"] = (run.work / "model.learnt").stat().st_size
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        facts["run"] = {"finished": finished, "seconds": run.seconds, "reused": self.journal.reused}
        # Everything is written to temporary files first. study.json is moved into place first: it identifies the other
        # files, so that a study killed between two of them recognises them as its own when it resumes.
        write_facts(run.folder, facts)
        for name in [*files, "predictions.parquet"]:
            os.replace(run.work / name, run.folder / name)
        if "judged.learnt" not in files:
            (run.folder / "judged.learnt").unlink(missing_ok=True)  # of an earlier run
        write_text(run.folder / "train.py", train_script(facts))
        write_report(run.folder / "report.html", facts, points)
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


def _truth(example: bool) -> dict[str, float] | None:
    """For the shipped table the best possible error is known, since its generator is known."""
    if not example:
        return None
    made = make_deliveries()
    return {"bayes_error": made.bayes_error, "bayes_brier": made.bayes_brier}
