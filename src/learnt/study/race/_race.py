"""Step 4, the race: every candidate on every fold, on all rows, inside a time limit; every result in the journal.

The strong ones of every family race right after the constant, then the rest of their settings. Folds are handed to
several processes, one thread each, which is the best use of cores for many fits of few rows. Only where a table is so
long that its full fits would not fit the budget do all of them race on fewer rows.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learnt.study._journal import Journal
from learnt.study.race._budget import Budget, final_seconds
from learnt.study.race._candidates import QUICKEST_FIRST, Candidate, candidates_for
from learnt.study.race._ground import Ground, pick_values
from learnt.study.race._remote import Failed, TooSlow, Worker

LEAST_SECONDS = 0.3  # no fit is begun with less, but one that is known to take less
LONG = 25_000  # training rows from which on fits are first timed on fewer rows
PROBED = 5_000  # so many
HURRY = 4.0  # seconds of a race on an idle machine, below which quick families come first, on few rows of a long table
SHARE_OF_LEADERS = 0.8  # of the race's time, which the leaders on all rows may take
GROWTH = 1.15  # most fits grow a little faster than their rows
GROWTH_OF_PROBED = 1.5  # between the constant overhead of many classes and the quadratic growth of one pair
SHARE_OF_PROBED = 0.25  # share of the time left that an entry of a probed family may take
LEADERS = 5  # the best entries whose final fits have time reserved; in a hurry the best alone
SHARE_OF_PROBES = 0.15  # of the race's time, which is spent on foreseeing how many rows fit
MUCH_MORE = 1.5  # times the budget, from which on how many rows and folds race is decided anew
FEWER_TREES = 10  # a forest is timed with so many times fewer trees

Step = Callable[[str, int, int], None]


@dataclass
class Entry:
    """A candidate and how far it came."""

    candidate: Candidate
    results: dict[int, dict[str, Any]] = field(default_factory=dict)  # by fold
    state: str = "racing"  # then "finished", "skipped" or "failed"
    note: str = ""
    running: set[int] = field(default_factory=set)

    def curves(self) -> np.ndarray:
        """(folds, values of the path): the losses."""
        return np.array([self.results[fold]["curve"] for fold in sorted(self.results)])

    def mean(self) -> float:
        return float(self.curves().mean(axis=0).min()) if self.results else math.inf

    def finished(self, folds: int) -> bool:
        """Whether it is a model, and not the constant, that was measured on every fold."""
        return len(self.results) == folds and not self.candidate.is_constant

    def seconds(self) -> float:
        """Of one fit with its path and predictions for held-out rows, preparation not counted; 0 before the first."""
        return float(np.median([r["fit_s"] for r in self.results.values()])) if self.results else 0.0

    def training(self) -> float:
        """The same without the predictions, which a final fit does not make, and without loading the model's code."""
        took = {r.get("loaded", True): [] for r in self.results.values()}  # type: dict[bool, list[float]]
        for result in self.results.values():
            took[result.get("loaded", True)].append(result.get("train_s", result["fit_s"]))
        return float(np.median(took.get(True) or took[False])) if took else 0.0

    def preparation(self) -> float:
        """Seconds in which its columns were encoded for training, where it was the first to need them; else 0.

        Rows that are held out are encoded with them, which a final fit does not have: on few training rows of a long
        table they are the most.
        """
        took = [s for result in self.results.values() if (s := _of_training_rows(result)) > 0]
        return float(np.median(took)) if took else 0.0

    def final_fit(self) -> float:
        """Seconds of one fit at one value of the path, or with its share of rounds, on the rows of a fold."""
        path = self.candidate.family.path
        if path is None:
            return self.training()
        best = int(self.curves().mean(axis=0).argmin())
        share = path.values[best] / path.values[-1] if path.staged else 1 / len(path.values)
        return self.training() * share


def _of_training_rows(result: dict[str, Any]) -> float:
    """The part of the seconds of preparation that its training rows took."""
    return result.get("prepare_s", 0.0) * result["rows"] / max(result.get("prepared_rows", 0), result["rows"])


@dataclass
class Race:
    """The finished race."""

    entries: list[Entry]
    rows: int  # of a training fold that were used
    all_rows: int  # that there were
    folds: int
    parts: int
    cut_short: bool
    seconds: float

    @property
    def halved(self) -> bool:
        return self.rows < self.all_rows

    def final_seconds(self, entry: Entry) -> float:
        """Seconds of one final fit of an entry on the rows of a fold, the preparation of its columns included."""
        return final_fit_seconds(entry, self.entries)

    def finished(self) -> list[Entry]:
        """Entries measured on every fold, best first."""
        done = [e for e in self.entries if len(e.results) == self.folds and e.state == "finished"]
        return sorted(done, key=lambda e: (e.mean(), e.candidate.id))


def run_race(
    workers: Sequence[Worker],
    journal: Journal,
    ground: Ground,
    budget: Budget,
    *,
    task: str,
    most: int,
    refit: bool = True,
    on_step: Step = lambda *_: None,
) -> Race:
    """Race every candidate of the task on at most `most` training rows of a fold."""
    return _Race(workers, journal, ground, budget, task, most, refit, on_step).run()


class _Race:
    """A running race; workers take jobs from it, one at a time, until there is none or no time."""

    def __init__(
        self,
        workers: Sequence[Worker],
        journal: Journal,
        ground: Ground,
        budget: Budget,
        task: str,
        most: int,
        refit: bool,
        on_step: Step,
    ) -> None:
        self.workers, self.journal, self.ground, self.budget = workers, journal, ground, budget
        self.refit, self.on_step = refit, on_step
        self.folds = len(ground.folds)
        self.all_rows = ground.training_rows
        self.rows = min(self.all_rows, most)
        self.in_a_hurry = budget.race_until(0.0) - budget.clock() < HURRY * budget.pace
        self.entries = [Entry(c) for c in self._candidates(task)]
        self.lock = threading.Condition()
        self.started = budget.clock()
        self.spent = 0.0  # seconds that earlier runs of the same study have raced
        self.closed = self.cut_short = False
        self.foreseen: dict[str, float | None] = {}  # seconds of a fit, by family; None while it is being probed
        self.trouble: BaseException | None = None

    def _candidates(self, task: str) -> list[Candidate]:
        ground = self.ground
        return candidates_for(task, self.all_rows, ground.n_classes, self.in_a_hurry, ground.image)

    def run(self) -> Race:
        self._constant()
        if self.all_rows > LONG:
            self.rows = self._rows_that_fit()
        over = self.journal.get("race over", self._name())
        self._remember({} if over is None else over["states"])
        if over is not None:
            self.closed, self.cut_short = True, over["cut_short"]
        threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self.workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except BaseException:
            self.closed = True
            raise
        if self.trouble is not None:
            raise self.trouble
        for entry in self.entries:
            if entry.state == "racing":
                whole = len(entry.results) == self.folds
                entry.state, entry.note = ("finished", "") if whole else ("skipped", entry.note or "no time was left")
        if not self.closed:
            states = {e.candidate.id: [e.state, e.note] for e in self.entries}
            self.journal.add("race over", self._name(), {"states": states, "cut_short": self.cut_short})
        seconds = self.budget.clock() - self.started
        return Race(self.entries, self.rows, self.all_rows, self.folds, self.ground.parts, self.cut_short, seconds)

    def _constant(self) -> None:
        """Evaluated in this process: it costs nothing, and everything is compared with it."""
        entry = next(e for e in self.entries if e.candidate.is_constant)
        for fold, rows in enumerate(self.ground.held):
            loss = self.ground.objective.loss(self.ground.y[rows], self.ground.constant(fold))
            entry.results[fold] = {"curve": [loss], "fit_s": 0.0, "rows": self.rows, "converged": True}
        entry.state = "finished"

    def _name(self) -> str:
        """The name of the race in the journal: with a larger budget it is another race, which continues this one."""
        return f"{self.budget.seconds:g} s"

    def _remember(self, over: dict[str, list[str]]) -> None:
        """Take results from the journal; where the race is `over`, nothing else is tried."""
        for entry in self.entries:
            if entry.state == "racing":
                for fold in range(self.folds):
                    found = self.journal.get("fit", fit_name(entry.candidate, self.rows, fold))
                    if found is not None:
                        entry.results[fold] = found
                        self.spent = max(self.spent, found["at"])
                entry.state, entry.note = over.get(entry.candidate.id, (entry.state, entry.note))
        self.budget.already_spent(self.spent)

    # --- how many rows ---

    def _rows_that_fit(self) -> int:
        """All rows, or as many as let the leaders finish in their share of the time.

        Once decided, that stays, until the budget is much larger.
        """
        known = self.journal.get("race rows", "")
        if known is not None and self.budget.seconds < MUCH_MORE * known["budget"]:
            return int(known["rows"])
        if self.in_a_hurry:
            return self._decided_rows(min(self.rows, PROBED))
        leaders = [e for e in self.entries if e.candidate.leads and not e.candidate.is_constant]
        # Trees take the most time; of models whose time grows faster than the rows few will race on so many.
        probes = leaders[:1] + [e for e in leaders[1:] if (f := e.candidate.family).brief and f.probed is None]
        now = self.budget.clock()
        until = now + SHARE_OF_PROBES * max(self.budget.race_until(0.0) - now, LEAST_SECONDS)
        took: list[float] = []
        for entry in probes:
            left = until - self.budget.clock()
            if left > 0 and (seconds := self._timed(entry, left)) is not None:
                took.append(seconds)
        # Those there was no time for will take as long as the others in the mean, or longer.
        seconds = float(np.mean(took)) * len(probes) if took else 0.0
        available = SHARE_OF_LEADERS * max(self.budget.race_until(0.0) - self.budget.clock(), 0.0)
        rows = rows_that_fit(self.rows, seconds * self.folds / len(self.workers), PROBED, available)
        return self._decided_rows(rows)

    def _decided_rows(self, rows: int) -> int:
        self.journal.add("race rows", "", {"rows": rows, "budget": self.budget.seconds})
        return rows

    def _timed(self, entry: Entry, left: float) -> float | None:
        """Seconds of a fit on few rows; all that were left where it is not done by then, None where it fails."""
        spec, times = entry.candidate.spec(), 1
        trees = spec["params"].get("n_estimators")
        if trees is not None and trees >= 2 * FEWER_TREES:
            times = FEWER_TREES
            spec["params"] = {**spec["params"], "n_estimators": trees // times}
        order = {"spec": spec, "fold": 0, "rows": PROBED, "most": PROBED, "tested": 1000}
        try:
            return times * float(self.workers[0].call("evaluate", left, **order)["fit_s"])
        except TooSlow:
            return times * left
        except Failed:
            return None

    # --- turns ---

    def _serve(self, worker: Worker) -> None:
        try:
            while (job := self._claim()) is not None:
                entry, fold, left = job
                if fold is None:
                    self._probe(worker, entry, left)
                    continue
                try:
                    result = self._measure(worker, entry, fold, left)
                except (TooSlow, Failed) as error:
                    self._fail(entry, fold, error)
                else:
                    self._record(entry, fold, result) if "unfit" not in result else self._leave_out(entry, result)
        except BaseException as error:
            self.trouble = error
            self.closed = True

    def _measure(self, worker: Worker, entry: Entry, fold: int, left: float) -> dict[str, Any]:
        stored = held_file(worker.folder / "held", fit_name(entry.candidate, self.rows, fold))
        order = {"spec": entry.candidate.spec(), "fold": fold, "rows": self.rows, "most": self.rows}
        return worker.call("evaluate", left, **order, keep=str(stored), threads=1)

    def _probe(self, worker: Worker, entry: Entry, left: float) -> None:
        """Predict the time of a fit on all rows from one on few of them; once measured, it is kept."""
        family, name = entry.candidate.family, f"{entry.candidate.family.name}@{self.rows}"
        found = self.journal.get("probe", name)
        if found is None:
            order = {"spec": entry.candidate.spec(), "fold": 0, "rows": family.probed, "most": self.rows}
            try:
                took = float(worker.call("evaluate", left, **order, threads=1).get("fit_s", 0.0))
                found = self.journal.add("probe", name, took)
            except TooSlow:
                found = left
            except Failed:
                found = 0.0  # the fit on all rows will report why
        assert family.probed is not None
        with self.lock:
            self.foreseen[family.name] = float(found) * (self.rows / family.probed) ** GROWTH_OF_PROBED
            self.lock.notify_all()

    def _claim(self) -> tuple[Entry, int | None, float] | None:
        """The next fit, and the seconds it may take; without a fold it is a probe of the entry's family."""
        with self.lock:
            while True:
                found = next((job for entry in self.entries if (job := self._job(entry)) is not None), None)
                if found is not None or None not in self.foreseen.values():
                    return found or self._rescue()
                self.lock.wait(0.2)  # a probe is under way, and nothing else is left to do

    def _job(self, entry: Entry) -> tuple[Entry, int | None, float] | None:
        """What is to be done for an entry now, with the lock held."""
        if entry.state != "racing":
            return None
        waiting = [k for k in range(self.folds) if k not in entry.results and k not in entry.running]
        if not waiting:
            return None
        family = entry.candidate.family
        if self.rows > family.most_rows:
            entry.state, entry.note = "skipped", f"not tried on {self.rows:,} rows: too slow to use on so many"
            return None
        left = self._until() - self.budget.clock()
        expected = self._expected(entry)
        over = self.closed or left < (min(1.5 * expected, LEAST_SECONDS) if entry.results else LEAST_SECONDS)
        probed = family.probed is not None and self.rows > family.probed
        if probed and not over:
            if family.name not in self.foreseen:
                self.foreseen[family.name] = None
                return entry, None, left
            if self.foreseen[family.name] is None:  # another worker is probing it
                return None
        needed = expected * math.ceil(len(waiting) / len(self.workers))
        if entry.results and not any(r.get("loaded", True) for r in entry.results.values()):
            needed = min(needed, expected)  # which loading took the most of: another fit will tell
        rescued = self._to_be_rescued()
        if rescued and entry.results and entry is next(iter(self._quickest()), None):
            over, left = False, self.budget.end + self.budget.grace - self.budget.clock()  # others would take longer
        if over or needed > (SHARE_OF_PROBED * left if probed else left):
            self.cut_short = True
            if rescued:
                entry.note = f"no time was left for {self.rows:,} rows"
                return None  # it may be the one that overruns the budget
            entry.state, entry.note = "skipped", f"no time was left for {self.rows:,} rows"
            if not over:
                remained = f"{_seconds(left)} remained" + (" for all others too" if probed else "")
                entry.note = f"about {_seconds(needed)} were needed for {self.rows:,} rows, {remained}"
            return None
        entry.running.add(waiting[0])
        done = sum(e.state != "racing" or len(e.results) == self.folds for e in self.entries)
        self.on_step(entry.candidate.label, done, len(self.entries))
        unforeseen = probed or family.images  # limit fits whose time is uncertain
        return entry, waiting[0], left / 2 if unforeseen else left

    def _until(self) -> float:
        """When the race must end, so that the leaders can be fitted finally."""
        done = [e for e in self.entries if len(e.results) == self.folds]
        if all(e.candidate.is_constant for e in done):
            return self.budget.race_until_the_first()
        self.budget.to_choose_from(len(done) - 1, sum(map(len, self.ground.held)))
        leaders = sorted(done, key=lambda e: (e.mean(), e.candidate.id))[: 1 if self.in_a_hurry else LEADERS]
        growth = len(self.ground.y) / max(self.rows, 1)
        fits = [final_fit_seconds(e, self.entries) for e in leaders]
        return self.budget.race_until(final_seconds(fits, growth, self.refit, len(self.workers)))

    def _quickest(self) -> list[Entry]:
        """The leaders of the families that still race, the quickest first."""
        leaders = [e for e in self.entries if e.state == "racing" and e.candidate.leads and not e.candidate.is_constant]
        return [e for name in QUICKEST_FIRST for e in leaders if e.candidate.family.name == name]

    def _to_be_rescued(self) -> bool:
        """Whether a model may still overrun the budget, since none but the constant is done."""
        return not self.closed and self.budget.grace > 0 and not any(e.finished(self.folds) for e in self.entries)

    def _rescue(self) -> tuple[Entry, int | None, float] | None:
        """The next fit of the one entry that overruns the budget rather than leave the constant alone.

        That is the entry that is nearest to its end, of those begun, else the first of the quick families.
        """
        left = self.budget.end + self.budget.grace - self.budget.clock()
        if not self._to_be_rescued() or left < LEAST_SECONDS:
            return None
        begun = [e for e in self.entries if e.state == "racing" and (e.results or e.running)]
        nearest = sorted(begun, key=lambda e: (self.folds - len(e.results)) * e.seconds()) or self._quickest()
        waiting = (
            [k for k in range(self.folds) if k not in {*nearest[0].results, *nearest[0].running}] if nearest else []
        )
        if not waiting:
            return None
        nearest[0].running.add(waiting[0])
        return nearest[0], waiting[0], left

    def _expected(self, entry: Entry) -> float:
        """Seconds of one fit: its own, or the quickest that its family has shown, or was foreseen to take."""
        if entry.results:
            return entry.seconds()
        alike = [e.seconds() for e in self.entries if e.candidate.family is entry.candidate.family and e.results]
        return min(alike, default=self.foreseen.get(entry.candidate.family.name) or 0.0)

    def _record(self, entry: Entry, fold: int, result: dict[str, Any]) -> None:
        with self.lock:
            result["at"] = self.spent + self.budget.clock() - self.started
            processor = result.pop("processor_s", None)
            if processor is not None:
                self.budget.notice_fit(result["prepare_s"] + result["fit_s"], processor)
            self.journal.add("fit", fit_name(entry.candidate, self.rows, fold), result)
            entry.running.discard(fold)
            entry.results[fold] = result

    def _leave_out(self, entry: Entry, result: dict[str, Any]) -> None:
        """The model does not apply to this table: neither a failure nor a lack of time."""
        with self.lock:
            entry.running.clear()
            entry.state, entry.note = "skipped", result["unfit"]

    def _fail(self, entry: Entry, fold: int, error: Exception) -> None:
        """A failure is reported but not journaled: it is tried again when resumed, perhaps with more time or memory."""
        with self.lock:
            entry.running.discard(fold)
            if entry.state == "racing":
                slow = isinstance(error, TooSlow)
                self.cut_short = self.cut_short or slow
                entry.state = "skipped" if slow else "failed"
                entry.note = f"{error} on {self.rows:,} rows" if slow else str(error)


def _seconds(value: float) -> str:
    """With a decimal where whole seconds would seem alike.

    >>> _seconds(2.96), _seconds(12.3)
    ('3.0 s', '12 s')
    """
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def rows_that_fit(rows: int, probed_seconds: float, probed: int, available: float) -> int:
    """All rows where fits on them, so many times longer than on `probed`, fit the time; else as many as do.

    >>> rows_that_fit(100_000, 1.0, 5000, 1000.0), rows_that_fit(100_000, 10.0, 5000, 100.0) // 1000
    (100000, 37)
    """
    expected = probed_seconds * (rows / probed) ** GROWTH
    if expected <= available:
        return rows
    return max(min(rows, int(probed * (max(available, 1e-9) / probed_seconds) ** (1 / GROWTH))), min(rows, probed))


def final_fit_seconds(entry: Entry, entries: Sequence[Entry]) -> float:
    """Of an entry on the rows of a fold; what encodes its columns was measured with the first entry that needed it."""
    alike = [e.preparation() for e in entries if e.candidate.encoding == entry.candidate.encoding]
    return entry.final_fit() + max(alike, default=0.0)


def held_file(folder: Path, name: str) -> Path:
    """Where the held-out predictions of one fit are kept while the study runs."""
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.npz"


def fit_name(candidate: Candidate, rows: int, fold: int) -> str:
    """The name of a fit in the journal."""
    return f"{candidate.id}@{rows}#{fold}"


def settle(entry: Entry, parts: int) -> tuple[np.ndarray, float | None]:
    """Which position on the path each fold takes, and the value the final model has (None without a path)."""
    picked, final = pick_values(entry.curves(), parts)
    path = entry.candidate.family.path
    return picked, None if path is None else path.values[final]
