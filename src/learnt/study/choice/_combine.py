"""After the race: probabilities calibrated, leaders blended, everybody measured alike on held-out rows.

The race has left the held-out predictions of every fit in files; nothing is fitted here but maps of three numbers and
weights. What a fold is judged by never saw the fold: the value on a path, the map and the weights come from others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from learnt.study.choice._blend import cross_fitted
from learnt.study.choice._calibration import bends, calibrate
from learnt.study.choice._choice import Contender
from learnt.study.race._families import MANY_TREES
from learnt.study.race._ground import Ground
from learnt.study.race._race import Entry, Race, settle
from learnt.study.race._recipe import Recipe, alone, recalibrated, settled

CALIBRATED = 24  # of the leaders
BLENDED = 16  # may become members
BLENDED_BY_METRIC = 6  # where every average has to be scored by a metric of decisions or ranks
BLEND = "blend"

Held = Callable[[Entry, int], np.ndarray]  # an entry and a fold -> (values of the path, rows, …)


@dataclass
class Standing:
    """A model as it came out: what it is made of, and its losses on held-out rows."""

    id: str
    label: str
    family: str
    words: str
    rank: int
    place: int
    recipe: Recipe
    losses: list[float]  # one a fold
    also: dict[str, float]  # measures people know
    note: str = ""
    seconds: float = 0.0  # of a fit on a fold
    final_seconds: float = 0.0
    made_of: list[dict[str, Any]] = field(default_factory=list)  # of a blend: labels and weights
    calibrated_from: float | None = None  # the loss before calibration

    @property
    def loss(self) -> float:
        return float(np.mean(self.losses))

    def contender(self) -> Contender:
        return Contender(self.id, np.array(self.losses), self.rank, self.family, self.place)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def combine(race: Race, ground: Ground, held: Held, allowed: float) -> list[Standing]:
    """The standing of every entry that finished, and of a blend of them, best first.

    `allowed` is how many seconds the members of a blend may take to be fitted on the rows of a fold.
    """
    y = ground.y[ground.rows]
    standings, predictions = [], []
    for place, entry in enumerate(race.finished()):
        picked, value = settle(entry, ground.parts)
        parts = [
            ground.constant(k) if entry.candidate.is_constant else held(entry, k)[picked[k]] for k in range(race.folds)
        ]
        predicted = np.concatenate(parts)
        calibration = None
        if place < CALIBRATED and ground.n_classes is not None and not _rough(entry, ground):
            calibration, predicted = calibrate(predicted, y, ground.groups, ground.repeats)
        spec = settled(entry.candidate.spec(), value)
        standing = _standing(entry, alone(spec, calibration), ground, predicted, race.final_seconds(entry))
        if bends(calibration):
            standing.calibrated_from = float(ground.fold_losses(np.concatenate(parts)).mean())
        standings.append(standing)
        predictions.append(predicted)
    blend = _blend(standings, predictions, ground, allowed)
    if blend is not None:
        standings.append(blend)
    return sorted(standings, key=lambda s: (s.loss, s.id))


def _rough(entry: Entry, ground: Ground) -> bool:
    """Not to be calibrated: the constant is, and by another metric than the log loss nobody asks for probabilities."""
    return entry.candidate.is_constant or ground.objective.metric is not None


def _standing(entry: Entry, recipe: Recipe, ground: Ground, predicted: np.ndarray, final_seconds: float) -> Standing:
    candidate = entry.candidate
    return Standing(
        candidate.id,
        candidate.label,
        candidate.family.name,
        candidate.family.words,
        candidate.family.rank,
        candidate.place // len(candidate.family.encodings),
        recipe,
        ground.fold_losses(predicted).tolist(),
        ground.objective.also(ground.y[ground.rows], predicted),
        "" if all(r["converged"] for r in entry.results.values()) else "did not fully converge",
        entry.seconds(),
        final_seconds,
    )


def _blend(standings: list[Standing], predictions: list[np.ndarray], ground: Ground, allowed: float) -> Standing | None:
    """Greedy selection among the leaders; None where one of them alone is best."""
    metric = ground.objective.metric
    most = BLENDED if metric is None else BLENDED_BY_METRIC
    order = sorted(
        (k for k, s in enumerate(standings) if s.rank > 0), key=lambda k: (standings[k].loss, standings[k].id)
    )
    order = order[:most]
    if len(order) < 2:
        return None
    y = ground.y[ground.rows]
    essences = np.array([ground.objective.essence(y, predictions[k]) for k in order])
    costs = np.array([standings[k].final_seconds for k in order])
    options = {"costs": costs, "allowed": max(allowed, float(costs.min()))}
    if metric is not None:
        options["steps"] = 8
    weights, by_group = cross_fitted(
        essences, lambda rows: ground.objective.of_blends(y[rows]), ground.groups, **options
    )
    if (weights > 0).sum() < 2:
        return None
    predicted = np.zeros_like(predictions[0])
    for g, chosen in by_group.items():
        inside = ground.groups == g
        for k, weight in zip(order, chosen):
            if weight > 0:
                predicted[inside] += weight * predictions[k][inside]
    calibration, before = None, predicted
    if ground.n_classes is not None and metric is None:
        calibration, predicted = calibrate(predicted, y, ground.groups, ground.repeats)
    members = [(standings[k], float(w)) for k, w in zip(order, weights) if w > 0]
    members.sort(key=lambda pair: -pair[1])
    recipe = {
        "members": [{**s.recipe["members"][0], "weight": w} for s, w in members],
        "calibration": calibration,
    }
    return Standing(
        BLEND + ": " + " + ".join(f"{w:.3g} {s.id}" for s, w in members),
        f"blend of {len(members)} models",
        BLEND,
        "averages what several models predict, each with its weight",
        MANY_TREES,
        0,
        recipe,
        ground.fold_losses(predicted).tolist(),
        ground.objective.also(y, predicted),
        seconds=sum(s.seconds for s, _ in members),
        final_seconds=sum(s.final_seconds for s, _ in members),
        made_of=[{"label": s.label, "id": s.id, "weight": w, "loss": s.loss} for s, w in members],
        calibrated_from=float(ground.fold_losses(before).mean()) if bends(calibration) else None,
    )


def out_of_fold(standing: Standing, race: Race, ground: Ground, held: Held) -> tuple[np.ndarray, np.ndarray]:
    """Development rows, each once, and what the recipe predicts for them with members that did not see them."""
    by_id = {e.candidate.id: e for e in race.entries}
    ids = [part["id"] for part in standing.made_of] or [standing.id]
    rows, predicted = [], []
    for fold in range(min(ground.parts, race.folds)):
        total: Any = 0.0
        for name, member in zip(ids, standing.recipe["members"]):
            entry = by_id[name]
            picked, _ = settle(entry, ground.parts)
            p = ground.constant(fold) if entry.candidate.is_constant else held(entry, fold)[picked[fold]]
            total = total + member["weight"] * recalibrated(p, member["calibration"])
        rows.append(ground.held[fold])
        predicted.append(recalibrated(total, standing.recipe["calibration"]))
    return np.concatenate(rows), np.concatenate(predicted)
