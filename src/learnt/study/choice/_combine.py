"""After the race: probabilities calibrated, leaders blended, all evaluated in the same way on held-out rows.

The race has left the held-out predictions of every fit in files; nothing is fitted here but maps of three numbers and
weights. What is evaluated on a fold never saw the fold: the value on a path, the map and the weights come from other
folds.

The lowest of many losses is biased downwards (the winner's curse), the more so the fewer the rows. A blend, whose
weights come from other rows, has no such bias; so that they can be compared, the best model is also selected for every
group of rows by all other groups, and the increase in loss is added to every single model in the choice
(`Standing.luck`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from learnt.study.choice._blend import STEPS, alone_weights, cross_fitted, equal_weights, greedy_weights
from learnt.study.choice._calibration import calibrate, reshapes
from learnt.study.choice._choice import Contender
from learnt.study.race._families import MANY_TREES
from learnt.study.race._ground import Ground
from learnt.study.race._race import Entry, Race, settle
from learnt.study.race._recipe import Recipe, alone, recalibrated, settled

CALIBRATED = 24  # of the leaders
BLENDED = 16  # may become members
BLENDED_BY_METRIC, STEPS_BY_METRIC = 6, 8  # where every average has to be scored by a metric of decisions or rankings
BLEND, AVERAGE = "blend", "average"

Held = Callable[[Entry, int], np.ndarray]  # an entry and a fold -> (values of the path, rows, …)


@dataclass
class Standing:
    """A model after the race: its parts, and its losses on held-out rows."""

    id: str
    label: str
    family: str
    words: str
    rank: int
    place: int
    recipe: Recipe
    losses: list[float]  # one a fold
    also: dict[str, float]  # well-known metrics
    note: str = ""
    seconds: float = 0.0  # of a fit on a fold
    final_seconds: float = 0.0
    made_of: list[dict[str, Any]] = field(default_factory=list)  # of a blend: labels and weights
    calibrated_from: float | None = None  # the loss before calibration
    luck: list[float] = field(default_factory=list)  # selection bias of the lowest of many losses, one a fold

    @property
    def loss(self) -> float:
        return float(np.mean(self.losses))

    def contender(self) -> Contender:
        losses = np.array(self.losses) + (np.array(self.luck) if self.luck else 0.0)
        return Contender(self.id, losses, self.rank, self.family, self.place)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def combine(race: Race, ground: Ground, held: Held, allowed: float) -> list[Standing]:
    """The standing of every entry that finished, and of blends of them, best first.

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
        if reshapes(calibration):
            standing.calibrated_from = float(ground.fold_losses(np.concatenate(parts)).mean())
        standings.append(standing)
        predictions.append(predicted)
    luck = _luck(standings, predictions, ground)
    blends = _blends(standings, predictions, ground, allowed)
    for standing in standings:
        if standing.rank > 0:
            standing.luck = luck
    return sorted(standings + blends, key=lambda s: (s.loss, s.id))


def _rough(entry: Entry, ground: Ground) -> bool:
    """Whether a model is not calibrated.

    The constant is already, and metrics other than the log loss need no probabilities.
    """
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


def _luck(standings: list[Standing], predictions: list[np.ndarray], ground: Ground) -> list[float]:
    """Fold by fold, the loss of a model picked by all other groups of rows, over that of the one picked by all.

    Empty where the mean increase is not positive, or where the loss is not a mean over rows.
    """
    models = [k for k, s in enumerate(standings) if s.rank > 0]
    if len(models) < 2 or ground.objective.metric is not None:
        return []
    y = ground.y[ground.rows]
    essences = np.array([ground.objective.essence(y, predictions[k]) for k in models])
    loss_of = lambda rows: ground.objective.of_blends(y[rows])  # noqa: E731
    best, by_group = cross_fitted(essences, loss_of, ground.groups, alone_weights)
    picked = _mixed([predictions[k] for k in models], by_group, ground.groups)
    excess = ground.fold_losses(picked) - ground.fold_losses(predictions[models[int(best.argmax())]])
    return excess.tolist() if excess.mean() > 0 else []


def _mixed(predictions: list[np.ndarray], by_group: dict[int, np.ndarray], groups: np.ndarray) -> np.ndarray:
    """What each group's own weights make of the predictions for its rows."""
    mixed = np.zeros_like(predictions[0])
    for g, weights in by_group.items():
        inside = groups == g
        for k in np.flatnonzero(weights):
            mixed[inside] += weights[k] * predictions[k][inside]
    return mixed


def _blends(standings: list[Standing], predictions: list[np.ndarray], ground: Ground, allowed: float) -> list[Standing]:
    """Greedy selection among the leaders, and the best of a few families in equal shares; none of a single model."""
    metric = ground.objective.metric
    order = sorted(
        (k for k, s in enumerate(standings) if s.rank > 0), key=lambda k: (standings[k].loss, standings[k].id)
    )
    few = order[: BLENDED if metric is None else BLENDED_BY_METRIC]
    if len(few) < 2:
        return []
    known = (standings, predictions, ground, allowed)
    greedy = _blend(few, *known, greedy_weights, steps=STEPS if metric is None else STEPS_BY_METRIC)
    equal = _blend(order, *known, equal_weights, families=[standings[k].family for k in order])
    return [found for found in (greedy, equal) if found is not None]


def _blend(
    order: list[int],
    standings: list[Standing],
    predictions: list[np.ndarray],
    ground: Ground,
    allowed: float,
    weigh: Callable[..., np.ndarray],
    **options: Any,
) -> Standing | None:
    """The standing of a weighted average of some models; None where one of them has all the weight."""
    y = ground.y[ground.rows]
    essences = np.array([ground.objective.essence(y, predictions[k]) for k in order])
    costs = np.array([standings[k].final_seconds for k in order])
    options |= {"costs": costs, "allowed": max(allowed, float(costs.min()))}
    weights, by_group = cross_fitted(
        essences, lambda rows: ground.objective.of_blends(y[rows]), ground.groups, weigh, **options
    )
    if (weights > 0).sum() < 2:
        return None
    predicted = _mixed([predictions[k] for k in order], by_group, ground.groups)
    calibration, before = None, predicted
    if ground.n_classes is not None and ground.objective.metric is None:
        calibration, predicted = calibrate(predicted, y, ground.groups, ground.repeats)
    members = [(standings[k], float(w)) for k, w in zip(order, weights) if w > 0]
    members.sort(key=lambda pair: -pair[1])
    recipe = {
        "members": [{**s.recipe["members"][0], "weight": w} for s, w in members],
        "calibration": calibration,
    }
    equal = weigh is equal_weights
    return Standing(
        (AVERAGE if equal else BLEND) + ": " + " + ".join(f"{w:.3g} {s.id}" for s, w in members),
        f"{'average' if equal else 'blend'} of {len(members)} models",
        BLEND,
        f"averages what several models predict, {'all alike' if equal else 'each with its weight'}",
        MANY_TREES,
        0,
        recipe,
        ground.fold_losses(predicted).tolist(),
        ground.objective.also(y, predicted),
        seconds=sum(s.seconds for s, _ in members),
        final_seconds=sum(s.final_seconds for s, _ in members),
        made_of=[{"label": s.label, "id": s.id, "weight": w, "loss": s.loss} for s, w in members],
        calibrated_from=float(ground.fold_losses(before).mean()) if reshapes(calibration) else None,
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
