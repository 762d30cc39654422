"""Categories as numbers: a column for each common level, or the mean target of each level where there are many.

The mean of a level is shrunk towards the mean m of all rows by empirical Bayes: with n_c rows of level c, variance σ²
within levels and τ² between them,

    value(c) = m + (mean(c) − m) · n_c / (n_c + σ²/τ²).

A level of one row is nearly ignored, and a column without information gets τ² = 0 and the same value everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.engine.random import generator
from learnt.preprocessing._frame import Column
from learnt.preprocessing._squash import robust_spread, squash
from learnt.preprocessing._strings import Factor, factor

MAX_CLASSES = 20  # a target of integers with more values than this is a quantity


class Target(NamedTuple):
    """The target as columns of numbers: itself, or a 0/1 column a class; with a name for each."""

    values: np.ndarray
    names: list[str]


def read_target(y: Any) -> Target:
    """A numeric target as it is; classes as 0/1 columns, one of them enough where there are two."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return Target(values.astype(np.float64), [f": mean target {k}" for k in range(values.shape[1])])
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            f"y has {int(np.isnan(values).sum())} missing values; drop those rows before fitting TableEncoder."
        )
    numeric = values.dtype.kind in "iuf"
    distinct = _distinct(values)
    if numeric and (len(distinct) > MAX_CLASSES or len(distinct) < 2 or (distinct != np.round(distinct)).any()):
        return Target(values.astype(np.float64)[:, None], [": mean target"])
    if values.dtype.kind == "O":
        values = values.astype(str)
    classes = distinct[1:] if len(distinct) == 2 else distinct
    return Target(
        (values[:, None] == classes[None, :]).astype(np.float64), [f": share of {value}" for value in classes.tolist()]
    )


def _distinct(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        return np.array(pl.Series(values.astype(str)).unique().sort().to_list())
    rising = np.sort(values)
    return rising[np.append(True, rising[1:] != rising[:-1])] if len(rising) else rising


# --- learning ------------------------------------------------------------------------------------------------


def learn_category(
    column: Column, options: Any, target: Target | None
) -> tuple[dict, list[str], dict, np.ndarray | None]:
    """Levels by how often they occur, and the coding that suits their number."""
    levels, counts, rows = levels_of(factor(column))
    n = len(rows)
    missing = int((rows < 0).sum())
    statistics = {
        "missing": missing,
        "levels": len(levels),
        "top": [[level, int(count)] for level, count in zip(levels[:10], counts[:10].tolist())],
    }
    if not levels or (len(levels) == 1 and not missing):
        return {}, [], statistics, None
    if len(levels) <= options.max_onehot:
        kept = _frequent(counts, n, options.min_frequency)
        return *_onehot(levels, counts, kept, missing), statistics, None
    if options.high_cardinality == "drop":
        return {}, [], statistics, None
    if options.high_cardinality == "target" and target is not None:
        table = shrunk_means(np.where(rows < 0, len(levels), rows), target.values, len(levels) + 1)
        held_out = None
        if options.n_folds:
            held_out = cross_fitted(rows, target.values, len(levels) + 1, options.n_folds, options.seed)
        if options.numeric == "squash":
            table, held_out = _squashed(table, rows, held_out)
        coding = {"method": "target", "levels": levels, "means": table}
        return coding, list(target.names), statistics, held_out
    kept = _frequent(counts, n, options.min_frequency)[: options.max_onehot - 1]
    coding, suffixes = _onehot(levels, counts, kept, missing)
    coding |= {"method": "frequency", "all_levels": levels, "shares": counts / n}
    return coding, [": frequency", *suffixes], statistics, None


def levels_of(strings: Factor) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Levels (most frequent first, then by name), their counts, and the level of every row (−1: missing)."""
    position: dict[str, int] = {}
    place = np.empty(len(strings.labels), dtype=np.int64)
    for k, label in enumerate(strings.labels):  # distinct strings; two may be one level once stripped
        place[k] = -1 if label is None else position.setdefault(label, len(position))
    counts = np.bincount(place[place >= 0], weights=strings.counts[place >= 0], minlength=len(position)).astype(
        np.int64
    )
    names = list(position)
    order = sorted((k for k in range(len(names)) if counts[k]), key=lambda k: (-counts[k], names[k]))
    rank = np.full(len(names) + 1, -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    place = rank[place]
    return [names[k] for k in order], counts[order], np.append(place, -1)[strings.codes]


def _frequent(counts: np.ndarray, n: int, min_frequency: float) -> list[int]:
    least = min_frequency * n if isinstance(min_frequency, float) else min_frequency
    return [k for k, count in enumerate(counts.tolist()) if count >= least]


def _onehot(levels: list[str], counts: np.ndarray, kept: list[int], missing: int) -> tuple[dict, list[str]]:
    pooled = int(counts.sum() - counts[kept].sum())
    coding: dict[str, Any] = {
        "method": "onehot",
        "levels": [levels[k] for k in kept] if kept or missing else [],
        "other": pooled > 0 and bool(kept or missing),
        "missing": missing > 0,
    }
    suffixes = [f"={level}" for level in coding["levels"]] + ["=other"] * coding["other"]
    return coding, suffixes + [" missing"] * coding["missing"]


def _squashed(table: np.ndarray, rows: np.ndarray, held_out: np.ndarray | None) -> tuple[np.ndarray, Any]:
    """The means squashed as numbers are, with the centre and spread they have over the rows."""
    out, held = np.empty_like(table), None if held_out is None else np.empty_like(held_out)
    for k in range(table.shape[1]):
        centre, spread = float(table[-1, k]), robust_spread(table[np.where(rows < 0, len(table) - 2, rows), k])
        out[:, k] = squash(table[:, k], centre, spread)
        if held is not None and held_out is not None:
            held[:, k] = squash(held_out[:, k], centre, spread)
    return out, held


def shrunk_means(rows: np.ndarray, target: np.ndarray, n_levels: int) -> np.ndarray:
    """The shrunk mean target of each level, and of no level (a last row: the mean of all)."""
    counts = np.bincount(rows, minlength=n_levels).astype(np.float64)
    middle = target.mean(axis=0)  # squares of what is far from zero would cancel
    return middle + _shrink(counts, *_sums(rows, target - middle, n_levels))


def cross_fitted(rows: np.ndarray, target: np.ndarray, n_levels: int, n_folds: int, seed: Any) -> np.ndarray:
    """For each row the shrunk mean of its level over the other folds.

    So that no row's value depends on its own target.
    """
    rows = np.where(rows < 0, n_levels - 1, rows)
    n = len(rows)
    fold = generator(seed).permutation(n) % min(n_folds, n)
    total = np.bincount(rows, minlength=n_levels).astype(np.float64)
    middle = target.mean(axis=0)
    target = target - middle
    sums, squares = _sums(rows, target, n_levels)
    out = np.empty_like(target)
    for k in range(min(n_folds, n)):
        mine = fold == k
        part_sums, part_squares = _sums(rows[mine], target[mine], n_levels)
        counts = total - np.bincount(rows[mine], minlength=n_levels)
        out[mine] = middle + _shrink(counts, sums - part_sums, squares - part_squares)[rows[mine]]
    return out


def _sums(rows: np.ndarray, target: np.ndarray, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    columns = [target[:, k] for k in range(target.shape[1])]
    sums = [np.bincount(rows, weights=t, minlength=n_levels) for t in columns]
    squares = [np.bincount(rows, weights=t * t, minlength=n_levels) for t in columns]
    return np.stack(sums, axis=1), np.stack(squares, axis=1)


def _shrink(counts: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    n, n_levels = counts.sum(), int((counts > 0).sum())
    overall = sums.sum(axis=0) / max(n, 1.0)
    values = np.repeat(overall[None, :], len(counts) + 1, axis=0)
    if n_levels < 2 or n <= n_levels:
        return values  # one level, or no level twice: no information beyond noise
    seen = counts > 0
    means = sums[seen] / counts[seen, None]
    within = np.maximum((squares[seen] - counts[seen, None] * means**2).sum(axis=0), 0.0) / (n - n_levels)
    between = (counts[seen, None] * (means - overall) ** 2).sum(axis=0) / (n_levels - 1)
    size = (n - (counts**2).sum() / n) / (n_levels - 1)
    tau = np.maximum((between - within) / size, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        trust = counts[seen, None] * tau / (counts[seen, None] * tau + within)
    values[:-1][seen] = overall + (means - overall) * np.where(np.isfinite(trust), trust, 0.0)
    return values


# --- replaying -----------------------------------------------------------------------------------------------


def encode_category(coding: dict[str, Any], column: Column, out: np.ndarray) -> int:
    """Fill the columns of a category; a level not seen in fit is "other" where there is one, else all zeros."""
    strings = factor(column)
    if coding["method"] == "target":
        n_levels = len(coding["levels"])
        places = _places(strings, coding["levels"], unseen=n_levels + 1, missing=n_levels)
        out[:] = coding["means"][places]
        return 0
    if coding["method"] == "frequency":
        shares = np.append(coding["shares"], [0.0, 0.0])
        out[:, 0] = shares[_places(strings, coding["all_levels"], unseen=len(shares) - 1, missing=len(shares) - 1)]
        out = out[:, 1:]
    n_levels, width = len(coding["levels"]), out.shape[1]
    out[:] = 0.0
    unseen = n_levels if coding["other"] else width
    missing = width - 1 if coding["missing"] else width
    places = _places(strings, coding["levels"], unseen=unseen, missing=missing)
    hit = np.flatnonzero(places < width)
    out[hit, places[hit]] = 1.0
    return 0


def _places(strings: Factor, levels: list[str], unseen: int, missing: int) -> np.ndarray:
    index = {level: k for k, level in enumerate(levels)}
    place = [missing if label is None else index.get(label, unseen) for label in strings.labels]
    return np.array([*place, missing], dtype=np.int64)[strings.codes]
