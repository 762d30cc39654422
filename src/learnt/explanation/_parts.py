"""An additive explanation as it goes up through a model: averaged, and carried through maps.

A sum stays a sum where it is averaged or multiplied. A map that bends (from log-odds to a probability, a calibration)
does not keep sums; there the parts are carried along straight lines from background rows (or the baseline alone) to the
row's value: each gets the integral of the map's slope times its own share of the way, so that they add up again. For a
map of one number that is the factor (h(end) − h(start)) / (end − start) for all parts (the rescale rule of Chen,
Lundberg and Lee, Explaining a series of models by propagating Shapley values, 2022); for several classes the integral
is done by Gauss's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

NUMBER, PROBABILITY, SCORE = "number", "probability", "score"  # scores: a softmax makes them probabilities
EXACT, CARRIED, SAMPLED = "exact", "carried", "sampled"
_POINTS, _FEW_POINTS = 32, 4  # of the rule for a line, for one of many lines
_MANY, _SEVERAL = 100, 24  # lines from background rows: for a map of one number, of several
_FLAT = 1e-6  # a way so short that the slope is taken in place of the ratio

Map = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Parts:
    """A number (one column), or a score or probability of each class: a baseline and what each table column adds."""

    scale: str
    base: np.ndarray  # (n, K)
    values: np.ndarray  # (n, columns, K)
    variance: np.ndarray | None = None  # of sampled values
    how: str = EXACT
    reference: int = 0  # how many of the last rows are the background

    @property
    def total(self) -> np.ndarray:
        return self.base + self.values.sum(axis=1)

    def times(self, factor: float | np.ndarray, shift: float | np.ndarray = 0.0) -> Parts:
        """factor · parts, and the baseline moved by `shift`."""
        variance = None if self.variance is None else self.variance * np.square(factor)
        return replace(self, base=self.base * factor + shift, values=self.values * factor, variance=variance)


def weighted_sum(members: Sequence[Parts], weights: Sequence[float]) -> Parts:
    """Σ weight · parts, of one scale."""
    scaled = [member.times(weight) for member, weight in zip(members, weights, strict=True)]
    variances = [part.variance for part in scaled if part.variance is not None]
    return Parts(
        members[0].scale,
        np.sum([part.base for part in scaled], axis=0),
        np.sum([part.values for part in scaled], axis=0),
        np.sum(variances, axis=0) if variances else None,
        least_exact(members),
        members[0].reference,
    )


def least_exact(members: Sequence[Parts]) -> str:
    """How the least exact of these was found."""
    ways = [member.how for member in members]
    return SAMPLED if SAMPLED in ways else CARRIED if CARRIED in ways else EXACT


def carried_each(parts: Parts, h: Map, scale: str) -> Parts:
    """Through a map of single numbers, the same for every column."""
    end = parts.total
    there = h(end)
    values, base = np.zeros_like(parts.values), np.zeros_like(parts.base)
    variance = None if parts.variance is None else np.zeros_like(parts.variance)
    starts = _starts(parts, _MANY)
    for start, own in starts:
        way = end - start
        size = 1.0 + np.abs(start) + np.abs(end)
        flat = np.abs(way) <= _FLAT * size
        middle, reach = (start + end) / 2.0, np.sqrt(_FLAT) * size
        slope = (h(middle + reach) - h(middle - reach)) / (2.0 * reach)
        here = h(start)
        factor = np.where(flat, slope, (there - here) / np.where(flat, 1.0, way))[:, None, :] / len(starts)
        values += (parts.values - own) * factor
        base += here / len(starts)
        if variance is not None and parts.variance is not None:
            variance += parts.variance * factor**2 * len(starts)
    return _closed(
        replace(parts, scale=scale, base=base, values=values, variance=variance, how=_bent(parts.how)), there
    )


def carried(parts: Parts, h: Map, slope: Callable[[np.ndarray, np.ndarray], np.ndarray], scale: str) -> Parts:
    """Through a map of all outputs together; `slope(z, v)` is its derivative at z (n, K) in directions v (n, d, K)."""
    end = parts.total
    values, base = np.zeros_like(parts.values), np.zeros_like(parts.base)
    variance = None if parts.variance is None else np.zeros_like(parts.variance)
    starts = _starts(parts, _SEVERAL)
    at, weights = np.polynomial.legendre.leggauss(_POINTS if len(starts) == 1 else _FEW_POINTS)
    for start, own in starts:
        base += h(start) / len(starts)
        for t, w in zip((at + 1.0) / 2.0, weights / 2.0 / len(starts)):
            z = start + t * (end - start)
            values += w * slope(z, parts.values - own)
            if variance is not None and parts.variance is not None:
                variance += w * _reach(z, np.sqrt(parts.variance), slope) ** 2
    moved = replace(parts, scale=scale, base=base, values=values, variance=variance, how=_bent(parts.how))
    return _closed(moved, h(end))


def _starts(parts: Parts, most: int) -> list[tuple[np.ndarray, np.ndarray | float]]:
    """Where lines begin, and the parts that are there already: at background rows, or else at the baseline.

    The mean of the map over background rows is what is predicted of an unknown row; the map of the mean is not.
    """
    if not parts.reference:
        return [(parts.base, 0.0)]
    rows = np.arange(len(parts.base) - parts.reference, len(parts.base))
    some = rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64)]
    total = parts.total
    return [(np.broadcast_to(total[b], total.shape), parts.values[b]) for b in some]


def _reach(z: np.ndarray, error: np.ndarray, slope: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """How far errors of all inputs move each output at most: they are not independent."""
    total = np.zeros_like(error)
    for k in range(error.shape[2]):
        one = np.zeros_like(error)
        one[:, :, k] = error[:, :, k]
        total += np.abs(slope(z, one))
    return total


def _closed(parts: Parts, wanted: np.ndarray) -> Parts:
    """Parts that add up to what is wanted: the little that integration left is shared in proportion to their sizes."""
    rest = wanted - parts.total
    size = np.abs(parts.values)
    whole = size.sum(axis=1, keepdims=True)
    share = np.divide(size, whole, out=np.zeros_like(size), where=whole > 0)
    return replace(parts, values=parts.values + rest[:, None, :] * share)


def _bent(how: str) -> str:
    return CARRIED if how == EXACT else how


# --- the maps


def softmax(z: np.ndarray) -> np.ndarray:
    """Probabilities from scores."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def logistic(z: np.ndarray) -> np.ndarray:
    """1/(1 + exp(−z)) without overflow."""
    e = np.exp(-np.abs(z))
    return np.where(z > 0, 1.0 / (1.0 + e), e / (1.0 + e))


def as_probability(parts: Parts) -> Parts:
    """Probabilities of the classes, from their scores where those are explained."""
    if parts.scale != SCORE:
        return parts
    if parts.base.shape[1] == 2:
        gap = replace(parts, base=np.diff(parts.base), values=np.diff(parts.values), variance=_of_gap(parts))
        return of_second(carried_each(gap, logistic, PROBABILITY))

    def slope(z: np.ndarray, v: np.ndarray) -> np.ndarray:
        p = softmax(z)[:, None, :]
        return p * (v - (p * v).sum(axis=2, keepdims=True))

    return carried(parts, softmax, slope, PROBABILITY)


def _of_gap(parts: Parts) -> np.ndarray | None:
    """The variance of the score of the second class less the first's, which are never both uncertain but together."""
    if parts.variance is None:
        return None
    return np.sqrt(parts.variance).sum(axis=2, keepdims=True) ** 2


def of_second(parts: Parts) -> Parts:
    """Both of two classes, from the probability of the second."""
    variance = None if parts.variance is None else np.repeat(parts.variance, 2, axis=2)
    base, values = parts.base, parts.values
    return replace(
        parts,
        base=np.concatenate([1.0 - base, base], axis=1),
        values=np.concatenate([-values, values], axis=2),
        variance=variance,
    )


def second_of(parts: Parts) -> Parts:
    """The second of two classes alone."""
    variance = None if parts.variance is None else parts.variance[:, :, 1:]
    return replace(parts, base=parts.base[:, 1:], values=parts.values[:, :, 1:], variance=variance)


def log_odds_of_two(parts: Parts) -> Parts:
    """The log-odds of the second of two classes, as one column."""
    if parts.scale == SCORE:
        return replace(parts, base=np.diff(parts.base), values=np.diff(parts.values), variance=_of_gap(parts))
    return carried_each(second_of(parts), _logit, SCORE)


def _logit(p: np.ndarray) -> np.ndarray:
    tiny = np.finfo(np.float64).tiny
    return np.log(np.maximum(p, tiny)) - np.log(np.maximum(1.0 - p, tiny))
