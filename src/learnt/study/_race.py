"""Step 4, the race: successive halving on cross-validation, inside a time limit, every result in the journal."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learnt.model_selection import compare_scores, corrected_interval
from learnt.study._errors import StudyError
from learnt.study._families import Candidate, candidates_for
from learnt.study._journal import Journal
from learnt.study._remote import Failed, TooSlow, Worker

SMALLEST_RUNG = 1000
LEAST_SECONDS = 20.0  # for the constant, whatever the budget
EARLY_FOLDS = 3  # folds used before the last rung
EARLY_TESTED = 3000  # held-out rows of a fold used before the last rung


@dataclass
class Entry:
    """A candidate and how far it came."""

    candidate: Candidate
    results: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  # by rung, one a fold
    state: str = "racing"  # then "finished", "behind", "skipped" or "failed"
    note: str = ""

    def losses(self, rung: int) -> np.ndarray:
        return np.array([r["loss"] for r in self.results.get(rung, [])])

    def mean(self, rung: int, key: str = "loss") -> float:
        found = [r[key] for r in self.results.get(rung, []) if key in r]
        return float(np.mean(found)) if found else math.nan

    def seconds(self, rung: int) -> float:
        """Of one fit and its predictions, the preparation of its rows not counted."""
        return float(np.mean([r["fit_s"] + r["predict_s"] for r in self.results[rung]]))

    def preparation(self, rung: int) -> float:
        """Seconds to prepare the rows of one fold; 0 where others had prepared them before."""
        return max((r.get("prepare_s", 0.0) for r in self.results.get(rung, [])), default=0.0)


@dataclass
class Race:
    """The finished race: entries, the sizes of its rungs, and the rung on which the choice is made."""

    entries: list[Entry]
    rungs: list[int]
    folds: int
    last: int  # index of the rung that decides
    cut_short: bool
    seconds: float

    def finished(self) -> list[Entry]:
        """Entries measured on every fold of the deciding rung, best first."""
        done = [e for e in self.entries if len(e.results.get(self.last, [])) == self.needed(self.last)]
        return sorted(done, key=lambda e: (e.mean(self.last), e.candidate.id))

    def needed(self, rung: int) -> int:
        return folds_at(rung, len(self.rungs), self.folds)


def folds_at(rung: int, rungs: int, folds: int) -> int:
    return folds if rung == rungs - 1 else min(EARLY_FOLDS, folds)


def rungs_for(rows: int) -> list[int]:
    """Training sizes, each three times the one before, ending with all rows.

    >>> rungs_for(500), rungs_for(4000), rungs_for(40000)
    ([500], [1333, 4000], [4444, 13333, 40000])
    """
    sizes = [rows]
    while len(sizes) < 3 and sizes[0] // 3 >= SMALLEST_RUNG:
        sizes.insert(0, sizes[0] // 3)
    return sizes


def run_race(
    worker: Worker,
    journal: Journal,
    *,
    task: str,
    rows: int,
    folds: int,
    deadline: float,
    on_step: Callable[[str, int, int], None] = lambda *_: None,
) -> Race:
    """Race every candidate of the task; `deadline` is a `time.monotonic()` moment that is not passed."""
    started = time.monotonic()
    rungs = rungs_for(rows)
    entries = [Entry(c) for c in candidates_for(task)]
    warmed: set[tuple[str, int]] = set()
    cut_short = False
    for rung in range(len(rungs)):
        racing = [e for e in entries if e.state == "racing"]
        needed = folds_at(rung, len(rungs), folds)
        for step in range(len(racing)):
            waiting = [e for e in racing if rung not in e.results and e.state == "racing"]
            entry = _next(waiting, entries, rung)
            on_step(entry.candidate.label, step, len(racing))
            _measure(entry, entries, rung, rungs, needed, worker, journal, deadline, warmed)
            cut_short = cut_short or entry.state == "skipped"
        if rung < len(rungs) - 1:
            _halve([e for e in entries if e.state == "racing"], rung)
    deciding = _deciding(entries, rungs, folds)
    for entry in entries:
        if entry.state == "racing":
            entry.state = "finished"
    return Race(entries, rungs, folds, deciding, cut_short, time.monotonic() - started)


def _deciding(entries: list[Entry], rungs: list[int], folds: int) -> int:
    """The rung on which the choice is made: the last one that the leader of the rung before has also finished.

    A race cut short may have measured only also-rans on its last rung; they must not win for want of opponents.
    """
    deciding = 0
    for rung in range(1, len(rungs)):
        done = folds_at(rung - 1, len(rungs), folds)
        before = [e for e in entries if len(e.results.get(rung - 1, [])) == done]
        leader = min(before, key=lambda e: e.mean(rung - 1), default=None)
        if leader is None or len(leader.results.get(rung, [])) < folds_at(rung, len(rungs), folds):
            break
        deciding = rung
    return deciding


def _next(waiting: list[Entry], entries: list[Entry], rung: int) -> Entry:
    """Whose turn it is: the constant, then one of each family, then the quick before the slow; later the best first.

    Whatever happens the others are compared with the constant; every family is seen early; a slow family does not take
    the time of the quick ones; and when time runs out on a later rung, it runs out for those that were behind.
    """
    if rung > 0:
        return min(waiting, key=lambda e: (not e.candidate.is_constant, e.mean(rung - 1)))
    seen: dict[str, float] = {}
    for entry in entries:
        for done in entry.results.values():
            if done:
                taken = sum(r["fit_s"] + r["predict_s"] for r in done) / sum(r["rows"] for r in done)
                seen[entry.candidate.family.name] = max(seen.get(entry.candidate.family.name, 0.0), taken)

    def turn(entry: Entry) -> tuple[bool, bool, float]:
        name = entry.candidate.family.name
        return not entry.candidate.is_constant, name in seen, seen.get(name, 0.0)

    return min(waiting, key=turn)


def _measure(
    entry: Entry,
    entries: list[Entry],
    rung: int,
    rungs: list[int],
    needed: int,
    worker: Worker,
    journal: Journal,
    deadline: float,
    warmed: set[tuple[str, int]],
) -> None:
    """Measure one entry on the folds of one rung, from the journal where it is there."""
    size = rungs[rung]
    family = entry.candidate.family
    if size > 1.1 * family.most_rows and not entry.candidate.is_constant:
        entry.state, entry.note = "skipped", f"not tried on {size:,} rows: too slow to use on so many"
        return
    results = entry.results.setdefault(rung, [])
    last = rung == len(rungs) - 1
    sizes = {"most": size, "tested": None if last else EARLY_TESTED}
    held = worker.folder / "held"
    for fold in range(needed):
        name = _name(entry, rung, rungs, fold)
        result = journal.get("fit", name)
        if result is None:
            left = deadline - time.monotonic()
            if entry.candidate.is_constant and rung == 0:
                left = max(left, LEAST_SECONDS)  # it costs next to nothing, and without it nothing can be said
            expected = _expected(entry, entries, rung, rungs, needed - fold)
            if left < 1 or expected > left:
                entry.state, entry.note = "skipped", f"no time was left for {size:,} rows"
                if left >= 1:
                    entry.note = f"about {expected:.0f} s were needed for {size:,} rows, {left:.0f} s remained"
                return
            kept = str(held_file(held, name))
            result = _one(entry.candidate, fold, size, sizes | {"keep": kept}, worker, left, warmed)
            if "failed" not in result:  # what failed is tried again the next time, perhaps with more time or memory
                journal.add("fit", name, result)
        if "failed" in result:
            entry.state, entry.note = result["state"], result["failed"]
            return
        results.append(result)


def held_file(folder: Path, name: str) -> Path:
    """Where the held-out predictions of one fit are kept while the study runs."""
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.npz"


def fit_name(entry: Entry, race: Race, fold: int) -> str:
    """The name of an entry's fit on the deciding rung."""
    return _name(entry, race.last, race.rungs, fold)


def _name(entry: Entry, rung: int, rungs: list[int], fold: int) -> str:
    early = "" if rung == len(rungs) - 1 else " early"
    return f"{entry.candidate.id}@{rungs[rung]}{early}#{fold}"


def _one(
    candidate: Candidate,
    fold: int,
    size: int,
    sizes: dict[str, Any],
    worker: Worker,
    left: float,
    warmed: set[tuple[str, int]],
) -> dict[str, Any]:
    """One fit; a failure is a result too."""
    model, until = candidate.family.model, time.monotonic() + left
    road = (model, size if candidate.family.brief else 0)  # trees take other roads through more rows
    try:
        if road not in warmed:  # load the code before the clock runs
            with suppress(Failed):  # too few rows for it, perhaps; the real fit will tell
                brief = sizes | {"tested": 100, "keep": None}
                worker.call("evaluate", left, spec=candidate.brief_spec(), fold=fold, rows=size, **brief)
            warmed.add(road)
        left = max(until - time.monotonic(), 0.5)
        return worker.call("evaluate", left, spec=candidate.spec(), fold=fold, rows=size, **sizes)
    except TooSlow as error:
        return {"failed": f"{error} on {size:,} rows", "state": "skipped"}
    except Failed as error:
        return {"failed": str(error), "state": "failed"}


def _expected(entry: Entry, entries: list[Entry], rung: int, rungs: list[int], folds_left: int) -> float:
    """Seconds the remaining folds will take, from what was measured so far; 0 when nothing was."""
    growth = [
        (rungs[rung] / rungs[k]) ** 1.3 for k in range(rung + 1)
    ]  # most fits grow a little faster than their rows
    fitting = next((entry.seconds(k) * growth[k] for k in range(rung, -1, -1) if entry.results.get(k)), 0.0)
    alike = [e for e in entries if e.candidate.encoding == entry.candidate.encoding]
    if any(len(e.results.get(rung, [])) > len(entry.results.get(rung, [])) for e in alike):
        return fitting * folds_left  # their rows are prepared already
    preparing = next((p * growth[k] for k in range(rung, -1, -1) if (p := max(e.preparation(k) for e in alike))), 0.0)
    return (fitting + preparing) * folds_left


def _halve(racing: list[Entry], rung: int) -> None:
    """Keep the best third, the best of each family, and the constant; the rest fell behind."""
    ranked = sorted(racing, key=lambda e: (e.mean(rung), e.candidate.id))
    keep = set(map(id, ranked[: max(3, math.ceil(len(ranked) / 3))]))
    seen: set[str] = set()
    for entry in ranked:
        if entry.candidate.family.name not in seen:
            seen.add(entry.candidate.family.name)
            keep.add(id(entry))
    for entry in ranked:
        if id(entry) not in keep:
            entry.state, entry.note = "behind", "fell behind on fewer rows"


def choose(race: Race) -> tuple[Entry, Entry, float]:
    """The one-standard-error rule: the simplest entry that is within one standard error of the best.

    Within the family of the best that is the classical rule: its mean loss is at most one standard error (over folds)
    above. Another, simpler family must come that close on *paired* differences, fold by fold with the correction for
    shared rows: folds differ from each other far more than models do, and must not lend a poor model their spread.

    Returns the choice, the entry with the lowest loss, and the standard error of the latter.
    """
    ranked = race.finished()
    if not ranked:
        first = next((e for e in race.entries if e.note), race.entries[0])
        raise StudyError(f"No model could be fitted; the first, {first.candidate.label}, {first.state}: {first.note}.")
    best = ranked[0]
    losses = best.losses(race.last)
    error = float(losses.std(ddof=1) / math.sqrt(len(losses)))
    within = [best]
    for entry in ranked[1:]:
        excess = entry.losses(race.last) - losses
        if entry.candidate.family is best.candidate.family:
            near = excess.mean() <= error
        else:
            near = excess.mean() <= corrected_interval(excess, *_shares(len(excess))).std_error
        if near:
            within.append(entry)
    rank = min(e.candidate.family.rank for e in within)
    simplest = [e for e in within if e.candidate.family.rank == rank]
    chosen = min(simplest, key=lambda e: (e.candidate.place // len(e.candidate.family.encodings), e.mean(race.last)))
    return chosen, best, error


def _shares(folds: int) -> tuple[int, int]:
    """Training and test rows of a fold, up to a factor: all that the correction for shared rows needs."""
    return folds - 1, 1


def standings(race: Race, chosen: Entry) -> list[dict[str, Any]]:
    """The race as plain rows: finished ones best first with ties marked, then those that did not finish."""
    rows: list[dict[str, Any]] = []
    finished = race.finished()
    reference = chosen.losses(race.last)
    for entry in finished:
        losses = entry.losses(race.last)
        interval = corrected_interval(losses, *_shares(len(losses)))
        compared = compare_scores(losses, reference, *_shares(len(losses)))
        results = entry.results[race.last]
        rows.append(
            {
                "label": entry.candidate.label,
                "id": entry.candidate.id,
                "family": entry.candidate.family.name,
                "words": entry.candidate.family.words,
                "state": "chosen" if entry is chosen else "finished",
                "loss": entry.mean(race.last),
                "low": interval.low,
                "high": interval.high,
                "train_loss": entry.mean(race.last, "train_loss"),
                **{k: entry.mean(race.last, k) for k in ("error", "auc", "mae") if k in results[0]},
                "rows": race.rungs[race.last],
                "fold_losses": losses.tolist(),
                "p_value": None if entry is chosen else compared.p_value,
                "tied": entry is not chosen and compared.tied,
                "note": "" if all(r["converged"] for r in results) else "did not fully converge",
                "timing": {
                    "fit_s": float(np.mean([r["fit_s"] for r in results])),
                    "predict_s": float(np.mean([r["predict_s"] for r in results])),
                },
            }
        )
    left = [e for e in race.entries if all(e is not f for f in finished)]
    rows += [
        {
            "label": e.candidate.label,
            "id": e.candidate.id,
            "family": e.candidate.family.name,
            "words": e.candidate.family.words,
            "state": e.state,
            "note": e.note,
        }
        for e in left
    ]
    return rows
