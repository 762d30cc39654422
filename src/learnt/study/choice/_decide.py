"""Step 5, the decision: standings, the choice, its out-of-fold predictions, the final fits."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from learnt.engine import progress
from learnt.engine.random import generator
from learnt.engine.threads import thread_count
from learnt.persistence import load, save
from learnt.study._errors import StudyError
from learnt.study._journal import Journal
from learnt.study.choice._choice import Choice, choose
from learnt.study.choice._combine import Standing, combine, out_of_fold
from learnt.study.race._budget import Budget, final_seconds
from learnt.study.race._ground import Ground
from learnt.study.race._layout import write_all_rows
from learnt.study.race._race import Entry, Race, fit_name, held_file
from learnt.study.race._recipe import build_recipe
from learnt.study.race._remote import Failed, TooSlow, Worker

MOST_STORED = 20_000  # out-of-fold predictions written down
MOST_READ = 5_000  # rows that the encoder of a constant is fitted on
SHORTEST = 0.01  # seconds; nothing is fitted in less

Rows = tuple[np.ndarray, np.ndarray]


@dataclass
class Decision:
    """The standings, and the chosen model."""

    race: Race
    ground: Ground
    standings: list[Standing]
    choice: Choice

    @property
    def chosen(self) -> Standing:
        return self.standings[self.choice.chosen]

    @property
    def best(self) -> Standing:
        return self.standings[self.choice.best]

    @property
    def simple(self) -> Standing:
        return self.standings[self.choice.simple]


class HeldOutPredictions:
    """The held-out predictions of the race's fits, from their files; missing ones are computed again."""

    def __init__(self, workers: Sequence[Worker], race: Race, budget: Budget) -> None:
        self.worker, self.race, self.budget = workers[0], race, budget
        self._read: dict[tuple[str, int], np.ndarray] = {}

    def __call__(self, entry: Entry, fold: int) -> np.ndarray:
        key = (entry.candidate.id, fold)
        if key not in self._read:
            path = held_file(self.worker.folder / "held", fit_name(entry.candidate, self.race.rows, fold))
            if not path.exists():
                order = {"spec": entry.candidate.spec(), "fold": fold, "rows": self.race.rows, "most": self.race.rows}
                left = max(self.budget.for_final_fits(), 10.0 + 5 * entry.seconds())  # known to end
                try:
                    self.worker.call("evaluate", left, **order, keep=str(path))
                except (TooSlow, Failed) as error:
                    raise StudyError(f"A fit of {entry.candidate.label} could not be repeated: {error}.") from None
            with np.load(path) as held:
                self._read[key] = held["predicted"]
        return self._read[key]


def decide(
    race: Race,
    ground: Ground,
    journal: Journal,
    budget: Budget,
    held: HeldOutPredictions,
    *,
    prefer: str,
    refit: bool,
    threads: int = 1,
) -> Decision:
    """Calibrate, blend and choose; once made for a set of finished entries, the decision is kept."""
    names = "|".join(sorted(e.candidate.id for e in race.finished())) + f"@{race.rows}"
    name = hashlib.sha256(names.encode()).hexdigest()[:16]
    known = journal.get("standings", name)
    if known is None:
        growth = len(ground.y) / max(race.rows, 1)
        once = final_seconds([1.0], growth, refit, threads)
        found = combine(race, ground, held, 0.7 * budget.for_final_fits() / once)
        known = journal.add("standings", name, [s.plain() for s in found])
    standings = [Standing(**fields) for fields in known]
    choice = choose([s.contender() for s in standings], ground.parts, prefer)
    return Decision(race, ground, standings, choice)


def journaled_out_of_fold(decision: Decision, standing: Standing, journal: Journal, held: HeldOutPredictions) -> Rows:
    """Development rows and what models that had not seen them predicted; journaled, so that it stays the same.

    A constant's predictions for thousands of rows take longer to write than to compute again.
    """
    name = hashlib.sha256(standing.id.encode()).hexdigest()[:16] + f"@{decision.race.rows}"
    known = journal.get("out of fold", name) if standing.rank > 0 else None
    if known is None:
        rows, predicted = out_of_fold(standing, decision.race, decision.ground, held)
        rows, predicted = rows[:MOST_STORED], predicted[:MOST_STORED]
        if standing.rank == 0:
            return rows, predicted
        known = journal.add("out of fold", name, {"rows": rows.tolist(), "predicted": predicted.tolist()})
    return np.array(known["rows"], dtype=np.int64), np.array(known["predicted"], dtype=np.float64)


# --- final fits ----------------------------------------------------------------------------------------------


def fit_judged(
    decision: Decision,
    worker: Worker,
    budget: Budget,
    path: Path,
    threads: int | None,
    constant_rows: Callable[[], tuple[Any, np.ndarray]],
    *,
    refit: bool = True,
) -> tuple[Standing, int]:
    """Fit the choice on every development row; where there is no time for it, the best that there is time for.

    Where not even the quickest model ends in time on all of them, it is fitted on as many as it raced on. Returns what
    was fitted and on how many rows. The constant needs neither time nor the worker.
    """
    count = thread_count(threads)
    expected = {s.id: _expected(s, decision, refit, count) for s in decision.standings}
    first = _affordable(decision, expected, budget)
    quickest = min((s for s in decision.standings if s.rank > 0), key=lambda s: expected[s.id], default=None)
    few = decision.race.rows if decision.race.halved else None
    attempts: list[tuple[Standing | None, int | None]] = [(first, None)]
    attempts += [(quickest, None)] if quickest is not first else []
    attempts += [(quickest, few)] if few is not None else []
    for standing, most in attempts:
        if standing is None or standing.rank == 0:
            break
        left = budget.for_the_judged_fit()
        if (standing, most) == attempts[-1]:  # a model that was measured is not lost
            left = max(left, budget.grace)
        # Leave time for the quickest model, should this fit take too long
        if standing is not quickest and quickest is not None:
            left = max(left - expected[quickest.id], 0.7 * left)
        if left < SHORTEST:
            break
        try:
            with progress.task("fitting the final model"):
                order = {"recipe": standing.recipe, "path": str(path), "threads": count, "most": most}
                return standing, int(worker.call("fit", left, **order)["rows"])
        except (TooSlow, Failed):
            continue
    constant = next(s for s in decision.standings if s.rank == 0)
    X, y = constant_rows()
    in_need = first.rank > 0 or quickest is None  # it was not chosen, but is all that there was time for
    _save_constant(constant, decision.ground.n_classes is not None, X, y, path, brief=in_need)
    return constant, len(y)


def _expected(standing: Standing, decision: Decision, refit: bool, threads: int) -> float:
    """Seconds of its final fits."""
    growth = len(decision.ground.y) / max(decision.race.rows, 1)
    return final_seconds([standing.final_seconds], growth, refit, threads)


def _affordable(decision: Decision, expected: dict[str, float], budget: Budget) -> Standing:
    """The choice, or the best whose final fits are expected to fit the time; the quickest where none does."""
    left = budget.for_the_judged_fit()
    if expected[decision.chosen.id] <= left:
        return decision.chosen
    models = [s for s in decision.standings if s.rank > 0]  # best first
    within = [s for s in models if expected[s.id] <= left]
    return (within or sorted(models, key=lambda s: expected[s.id]) or [decision.chosen])[0]


def fit_on_everything(
    standing: Standing,
    worker: Worker,
    budget: Budget,
    judged: Path,
    path: Path,
    X: pl.DataFrame,
    y: np.ndarray,
    labels: np.ndarray | None,
    threads: int | None,
) -> int | None:
    """Refit the judged recipe on all labelled rows, the opened test rows among them; None where there was no time.

    `y` holds class numbers where there are `labels`.
    """
    if standing.rank == 0:
        _save_fitted_constant(load(judged), y if labels is None else labels[y], path)  # its encoder is fitted already
        return len(y)
    left = budget.for_the_refit()
    try:
        if left > SHORTEST:
            write_all_rows(worker.folder, X, y)
            with progress.task("refitting on all rows"):
                order = {"recipe": standing.recipe, "path": str(path), "everything": True}
                return int(worker.call("fit", left, **order, threads=thread_count(threads))["rows"])
    except (TooSlow, Failed):
        pass
    shutil.copyfile(judged, path)
    return None


def _save_constant(
    standing: Standing, classify: bool, X: pl.DataFrame, y: np.ndarray, path: Path, *, brief: bool = False
) -> None:
    """Fit the constant on every row; its encoder, which only needs names and types of columns, on a few thousand.

    Where it must be `brief` the encoder looks at a single column: on a busy machine all of them take a second.
    """
    model = build_recipe(standing.recipe, [] if classify else None)  # a constant has no map of probabilities
    few = np.sort(generator(0).permutation(len(y))[:MOST_READ])
    if brief:
        one = next((c for c, kind in X.schema.items() if kind.is_numeric()), X.columns[0])
        try:
            model[0].set_params(kinds={c: "drop" for c in X.columns if c != one})
            model.fit(X[few], y[few])
        except ValueError:  # it holds nothing in these rows
            model[0].set_params(kinds=None)
            brief = False
    if not brief:
        model.fit(X[few], y[few])
    _save_fitted_constant(model, y, path)


def _save_fitted_constant(model: Any, y: np.ndarray, path: Path) -> None:
    """Fit the constant anew on these targets, and nothing of the pipeline before it."""
    model[-1].fit(np.broadcast_to(0.0, (len(y), model[-1].n_features_in_)), y)
    part = path.with_suffix(".part")
    save(model, part)
    os.replace(part, path)
