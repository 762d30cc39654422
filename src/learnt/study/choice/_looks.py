"""What the race and the choice know of the report's further sections: when models finished, what calibration did."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from learnt.study._journal import Journal
from learnt.study.choice._calibration import calibrate
from learnt.study.choice._combine import Standing, out_of_fold
from learnt.study.choice._decide import MOST_STORED, Decision, HeldOutPredictions
from learnt.study.facts import read_plain, to_plain
from learnt.study.facts._sections import BeforeAndAfter, Finisher
from learnt.study.race._recipe import Recipe
from learnt.study.sections._finishers import finishers
from learnt.study.sections._reliability import before_and_after


def finished_at(decision: Decision) -> tuple[Finisher, ...]:
    """When each model of the race had all its folds, with its loss as the race's table shows it."""
    losses = {s.id: s.loss for s in decision.standings}
    return finishers(
        (e.candidate.label, e.candidate.family.name, max(r["at"] for r in e.results.values()), losses[e.candidate.id])
        for e in decision.race.finished()
        if e.candidate.id in losses and all("at" in r for r in e.results.values())
    )


def journaled_calibration(
    decision: Decision,
    chosen: Standing,
    journal: Journal,
    held: HeldOutPredictions,
    classes: list | None,
    positive: int | None,
) -> BeforeAndAfter | None:
    """Held-out probabilities of the chosen model without and with a map from other rows; None where it has none."""
    ground = decision.ground
    if chosen.calibrated_from is None or classes is None:
        return None
    name = hashlib.sha256(chosen.id.encode()).hexdigest()[:16] + f"@{decision.race.rows}"
    known = journal.get("calibration", name)
    if known is None:
        rows, before = out_of_fold(replace(chosen, recipe=_without_map(chosen.recipe)), decision.race, ground, held)
        parts = min(ground.parts, decision.race.folds)
        fold = np.repeat(np.arange(parts), [len(ground.held[k]) for k in range(parts)])
        rows, before, fold = rows[:MOST_STORED], before[:MOST_STORED], fold[:MOST_STORED]
        _, after = calibrate(before, ground.y[rows], fold)
        found = before_and_after(ground.y[rows], before, after, classes=classes, positive=positive)
        known = journal.add("calibration", name, to_plain(found))
    return read_plain(BeforeAndAfter, known)


def _without_map(recipe: Recipe) -> Recipe:
    """The recipe without the map that comes last: that of a blend, or of a single model."""
    members = recipe["members"]
    if len(members) == 1:
        members = [{**members[0], "calibration": None}]
    return {**recipe, "members": members, "calibration": None}
