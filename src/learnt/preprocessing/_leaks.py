"""Columns that give the target away: a copy, a one-to-one function, or something known only after the fact.

A column is suspected when it alone predicts almost perfectly. For a number and two classes that is the area under the
ROC curve, for a number and a number Spearman's rank correlation, for levels the share of rows their majority explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.random import generator

PERFECT = 0.995
MIN_LEVEL = 5  # a level of fewer rows is pure by chance
MAX_ROWS = 50_000  # a sample of this size distinguishes 0.995 from 0.99
N_BINS = 50


class Suspicion(NamedTuple):
    """How well a column predicts the target on its own, in words and as a number."""

    score: float
    words: str


class Outcome(NamedTuple):
    """The target as numbers (a quantity) or as codes 0…k−1 (classes); −1 or NaN where missing."""

    values: np.ndarray
    n_classes: int


def suspect(numbers: np.ndarray | None, codes: np.ndarray, missing: np.ndarray, outcome: Outcome) -> Suspicion | None:
    """Why a column is suspected of a leak, or None. `numbers` is None where the column has only levels (`codes`)."""
    rows = np.flatnonzero(outcome.values >= 0 if outcome.n_classes else np.isfinite(outcome.values))
    if len(rows) > MAX_ROWS:
        rows = np.sort(generator(0).choice(rows, MAX_ROWS, replace=False))
    y, missing, codes = outcome.values[rows], missing[rows], codes[rows]
    if len(rows) < 20 or _spread(y) == 0:
        return None
    if 0 < missing.sum() < len(rows):
        told = _told_by_levels(missing.astype(np.int64), y, outcome.n_classes)
        if told > PERFECT:
            return Suspicion(told, "is missing exactly where the target says so: probably filled in only afterwards")
    present = ~missing
    if present.sum() < 20 or _spread(y[present]) == 0:
        return None
    y = y[present]
    if numbers is not None:
        return _by_numbers(numbers[rows][present], y, outcome.n_classes) or _by_levels(
            bins(numbers[rows][present]), y, outcome.n_classes
        )
    return _by_levels(codes[present], y, outcome.n_classes)


def _by_numbers(x: np.ndarray, y: np.ndarray, n_classes: int) -> Suspicion | None:
    if n_classes == 0:
        if np.array_equal(x, y):
            return Suspicion(1.0, "is a copy of the target")
        score = abs(rank_correlation(x, y))
        words = f"follows the target almost perfectly (rank correlation {score:.4f})"
    elif n_classes == 2:
        score = area_under_roc(x, y == y.max())
        score = max(score, 1 - score)
        words = f"separates the two classes almost perfectly on its own (area under the ROC curve {score:.4f})"
    else:
        return None
    return Suspicion(float(score), words) if score > PERFECT else None


def _by_levels(codes: np.ndarray, y: np.ndarray, n_classes: int) -> Suspicion | None:
    told = _told_by_levels(codes, y, n_classes)
    if told <= PERFECT:
        return None
    return Suspicion(told, f"determines the target: its levels alone explain {100 * min(told, 1.0):.1f} % of it")


def _told_by_levels(codes: np.ndarray, y: np.ndarray, n_classes: int) -> float:
    """The share of the target's uncertainty (errors of the majority, variance) that the levels take away."""
    _, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    usable = counts[codes] >= MIN_LEVEL
    if len(counts) < 2 or usable.sum() < 0.5 * len(codes):
        return 0.0
    codes, y = codes[usable], y[usable]
    n = len(y)
    if n_classes:
        y = y.astype(np.int64)
        table = np.bincount(codes * n_classes + y, minlength=len(counts) * n_classes).reshape(len(counts), n_classes)
        errors, alone = n - table.max(axis=1).sum(), n - np.bincount(y).max()
        return float(1 - errors / alone) if alone else 0.0
    n_c = np.bincount(codes, minlength=len(counts)).astype(np.float64)
    centred = y - y.mean()
    means = np.bincount(codes, weights=centred, minlength=len(counts)) / np.maximum(n_c, 1)
    within, total = ((centred - means[codes]) ** 2).sum(), (centred**2).sum()
    return float(1 - within / max(n - (n_c > 0).sum(), 1) / (total / max(n - 1, 1))) if total > 0 else 0.0


def bins(x: np.ndarray) -> np.ndarray:
    """A number as levels: its own values where there are few, else fifty bins of equal size."""
    distinct, codes = np.unique(x, return_inverse=True)
    if len(distinct) <= N_BINS:
        return codes
    in_order = np.sort(x)
    edges = np.unique(in_order[len(x) * np.arange(1, N_BINS) // N_BINS])
    return np.searchsorted(edges, x, side="right")


def ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties at their mean rank."""
    _, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[codes]


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's ρ: the correlation of the ranks."""
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 0.0


def area_under_roc(x: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive row has the larger x, ties counting half."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return 0.5
    return float((ranks(x)[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _spread(y: Any) -> float:
    return float(y.max() - y.min()) if len(y) else 0.0
