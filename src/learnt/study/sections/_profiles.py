"""Profiles of columns: how the cells are distributed, what is missing, and how the target goes with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.special import stdtrit

from learnt.diagnosis import wilson_interval
from learnt.plots import number
from learnt.study.facts._sections import ColumnPart, ColumnProfile
from learnt.study.sections._values import FEW, MISSING, OTHERS, Values, read_values

MOST_COLUMNS = 60
MOST_ROWS = 50_000  # of more, evenly spaced ones
BINS = 10
TOP = 8  # labels that are shown; the others are taken together
MOST_WHOLE = 1000  # a range of whole numbers that are counted one by one
TAIL = 0.01  # share of either tail that is in the outermost bin


def profile_columns(
    table: pl.DataFrame,
    y: np.ndarray,
    *,
    classes: list | None = None,
    positive: int | None = None,
    kinds: dict[str, str] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[ColumnProfile, ...]:
    """Each column in at most ten parts, with the target in each.

    Parameters
    ----------
    table : DataFrame
        The raw cells.
    y : array
        The target: labels out of `classes`, or amounts.
    classes : list, optional
        The sorted classes; None for amounts.
    positive : int, optional
        The number of the class whose share is shown; of several, that which differs most between the parts.
    kinds : dict, optional
        What `learnt.preprocessing.profile` says that a column holds.
    columns : names, optional
        All by default; at most sixty are looked at.

    Returns
    -------
    tuple of ColumnProfile

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Oslo"] * 6 + ["Rome"] * 4})
    >>> (found,) = profile_columns(table, np.array([0.0] * 6 + [1.0] * 4))
    >>> [(part.label, part.rows, part.target) for part in found.parts], found.explains
    ([('Oslo', 6, 0.0), ('Rome', 4, 1.0)], 1.0)
    """
    if len(table) > MOST_ROWS:
        kept = np.linspace(0, len(table) - 1, MOST_ROWS).astype(np.int64)
        table, y = table[kept], y[kept]
    if classes is None:
        targets = np.asarray(y, dtype=np.float64)[:, None]
    else:
        targets = (np.asarray(y)[:, None] == np.array(classes)[None, :]).astype(np.float64)
    found = []
    for name in list(columns if columns is not None else table.columns)[:MOST_COLUMNS]:
        kind = (kinds or {}).get(name)
        values = read_values(table, name, kind)
        if values is None or values.missing.all():
            continue
        codes, labels = _parts(values)
        which = positive if positive is not None else _most_different(codes, targets)
        about = "" if classes is None else str(classes[which])
        missing = float(values.missing.mean())
        parts = _measured(codes, labels, targets[:, which], classes is not None)
        explains, overall = explained(codes, targets), float(targets[:, which].mean())
        ordered = values.numbers is not None
        found.append(ColumnProfile(name, kind or "", ordered, len(table), missing, about, overall, parts, explains))
    return tuple(found)


def explained(codes: np.ndarray, targets: np.ndarray) -> float:
    """The share of the targets' variance that lies between groups, less what as many groups of noise would show.

    That is 1 - (1 - η²)(n - 1)/(n - k), for indicators of classes with Goodman and Kruskal's τ for η²; at least 0.

    >>> explained(np.array([0, 0, 1, 1]), np.array([[0.0], [0.0], [1.0], [1.0]]))
    1.0
    """
    n, sizes = len(codes), np.bincount(codes)
    k = int((sizes > 0).sum())
    total = float(((targets - targets.mean(axis=0)) ** 2).sum())
    if total == 0 or n <= k:
        return 0.0
    between = float((_between(codes, sizes, targets)).sum())
    return max(1 - (1 - between / total) * (n - 1) / (n - k), 0.0)


def _between(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Sums of squares between the groups, one a target."""
    centred = targets - targets.mean(axis=0)
    sums = np.stack([np.bincount(codes, weights=column, minlength=len(sizes)) for column in centred.T], axis=1)
    return (sums**2 / np.maximum(sizes, 1)[:, None]).sum(axis=0)


def _most_different(codes: np.ndarray, targets: np.ndarray) -> int:
    return int(_between(codes, np.bincount(codes), targets).argmax())


def _parts(values: Values) -> tuple[np.ndarray, list[str]]:
    """The part of each row, and their labels; missing cells are the last part."""
    if values.numbers is not None:
        codes, labels = _bins(values)
    else:
        assert values.codes is not None
        codes, labels = values.codes, list(values.labels)
        if len(labels) > TOP + 1:
            codes, labels = np.minimum(codes, TOP), [*labels[:TOP], OTHERS]
    if values.missing.any():
        codes, labels = np.where(values.missing, len(labels), codes), [*labels, MISSING]
    return codes.astype(np.int64), labels


def _bins(values: Values) -> tuple[np.ndarray, list[str]]:
    """Numbers in bins of equal width, long tails in the outermost; few different ones each for itself."""
    assert values.numbers is not None
    there = values.numbers[~values.missing]
    distinct = np.unique(there)
    filled = np.where(values.missing, distinct[0], values.numbers)
    if len(distinct) <= FEW:
        return np.searchsorted(distinct, filled), [values.said(v) for v in distinct]
    low, high = np.quantile(there, [TAIL, 1 - TAIL])
    if high <= low:
        low, high = distinct[0], distinct[-1]
    if not values.unit and high - low < MOST_WHOLE and (distinct == np.floor(distinct)).all():
        return _whole_bins(filled, (float(distinct[0]), float(distinct[-1])), low, high)
    inner = np.linspace(low, high, BINS + 1)[1:-1]
    ends = [float(distinct[0]), *inner.tolist(), float(distinct[-1])]
    labels = [f"{values.said(a)} to {values.said(b)}" for a, b in pairwise(ends)]
    return np.searchsorted(inner, filled, side="right"), labels


def _whole_bins(filled: np.ndarray, ends: tuple[float, float], low: float, high: float) -> tuple[np.ndarray, list[str]]:
    """Whole numbers in bins that each hold as many of them."""
    low, high = np.floor(low), np.ceil(high)
    step = np.ceil((high - low + 1) / BINS)
    starts = np.arange(low + step, high + 1, step)  # of all bins but the first
    firsts, lasts = [ends[0], *starts.tolist()], [*(starts - 1).tolist(), ends[1]]
    labels = [number(a) if a == b else f"{number(a)} to {number(b)}" for a, b in zip(firsts, lasts)]
    return np.searchsorted(starts, filled, side="right"), labels


def _measured(codes: np.ndarray, labels: list[str], target: np.ndarray, share: bool) -> tuple[ColumnPart, ...]:
    parts = []
    for code, label in enumerate(labels):
        own = target[codes == code]
        parts.append(ColumnPart(label, len(own), *(_share(own) if share else _mean(own))))
    return tuple(parts)


def _share(own: np.ndarray) -> tuple[float | None, float | None, float | None]:
    if not len(own):
        return None, None, None
    found = wilson_interval(float(own.sum()), len(own))
    return found.estimate, found.low, found.high


def _mean(own: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """Student's interval; none for a single row."""
    if len(own) < 2:
        return (float(own[0]), None, None) if len(own) else (None, None, None)
    half = float(stdtrit(len(own) - 1, 0.975)) * own.std(ddof=1) / math.sqrt(len(own))
    return float(own.mean()), float(own.mean() - half), float(own.mean() + half)
