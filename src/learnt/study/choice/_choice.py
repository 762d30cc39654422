"""Which model: the one with the lowest cross-validated loss, or a simpler one that is not measurably worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from learnt.model_selection import ScoreInterval, corrected_interval

CLOSE = 0.01  # a simpler model may lose this share at most


@dataclass(frozen=True)
class Contender:
    """What the choice depends on: losses fold by fold, how simple the model is, its family and its position in it."""

    id: str
    losses: np.ndarray
    rank: int
    family: str
    place: int = 0

    @property
    def mean(self) -> float:
        return float(self.losses.mean())


class Choice(NamedTuple):
    """Positions among the contenders, and what the simple one costs."""

    chosen: int
    best: int
    simple: int  # by the one-standard-error rule
    standard_error: float  # of the best one's loss, over folds


def choose(contenders: Sequence[Contender], parts: int, prefer: str = "best") -> Choice:
    """The lowest loss wins; a simpler model only where it is not measurably worse.

    A simpler one is taken where the interval of its paired excess over the best contains zero *and* its loss is within
    1 %. `prefer="simple"` takes the simplest within one standard error instead. `parts` is how many folds make up one
    partition of the rows; with the folds of one partition, the correction for shared rows needs no more.
    """
    order = sorted(range(len(contenders)), key=lambda k: (contenders[k].mean, contenders[k].id))
    best = order[0]
    leader = contenders[best]
    chosen = best
    for k in order:
        c = contenders[k]
        close = c.mean - leader.mean <= CLOSE * abs(leader.mean)
        if c.rank < contenders[chosen].rank and close and _interval(c.losses - leader.losses, parts).low <= 0:
            chosen = k
    simple, error = _simplest(contenders, best, parts)
    return Choice(simple if prefer == "simple" else chosen, best, simple, error)


def _simplest(contenders: Sequence[Contender], best: int, parts: int) -> tuple[int, float]:
    """The one-standard-error rule: the simplest within one standard error of the best.

    Within the family of the best that is the classical rule: its mean loss is at most one standard error (over folds)
    above. Another, simpler family must come that close on *paired* differences, fold by fold with the correction for
    shared rows: losses vary more between folds than between models, so that without pairing a poor model could be
    within one standard error.
    """
    leader = contenders[best]
    error = float(leader.losses.std(ddof=1) / math.sqrt(len(leader.losses)))
    within = [best]
    for k, c in enumerate(contenders):
        if k != best:
            excess = c.losses - leader.losses
            near = error if c.family == leader.family else _interval(excess, parts).std_error
            if excess.mean() <= near:
                within.append(k)
    rank = min(contenders[k].rank for k in within)
    simplest = [k for k in within if contenders[k].rank == rank]
    return min(simplest, key=lambda k: (contenders[k].place, contenders[k].mean)), error


def _interval(differences: np.ndarray, parts: int) -> ScoreInterval:
    return corrected_interval(differences, parts - 1, 1)
