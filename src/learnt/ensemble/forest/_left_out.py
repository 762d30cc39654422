"""Rows that a tree has not seen: predictions, scores, importances by permutation, and how far intervals must reach."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.matrices import dense
from learnt.engine.random import streams
from learnt.engine.threads import run_tasks
from learnt.ensemble.forest._sampling import Sampling
from learnt.forestry import Grove, parts_of_rows

_CALIBRATION_ROWS = 2000


def predictions(grove: Grove, seeds: np.ndarray, sampling: Sampling, X: Any) -> np.ndarray:
    """For each training row the mean over the trees that have not seen it, (n, n_outputs · n_classes)."""
    X = dense(X)
    out = np.zeros((X.shape[0], grove.value.shape[1]))
    seen = np.zeros(X.shape[0], dtype=np.int64)
    for t, seed in enumerate(seeds):  # in order, so that sums do not depend on threads; the rows are shared out
        rows = sampling.left_out(int(seed))
        for part in parts_of_rows(X, rows):
            out[part] += grove.sum(X[part], t, t + 1)
        seen[rows] += 1
    if (seen == 0).any():
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few trees were used to compute any reliable "
            "OOB estimates; raise n_estimators.",
            stacklevel=4,
        )
    return out / np.maximum(seen, 1)[:, None]


def permutation_importances(
    grove: Grove, seeds: np.ndarray, sampling: Sampling, X: Any, score: Any, random_state: Any, n_jobs: Any
) -> np.ndarray:
    """How much worse each tree is on rows it has not seen when a column is shuffled, (n_features, n_trees).

    `score(rows, values)` says how good the values of a tree's leaves are for these rows.
    """
    X = dense(X)

    def task(t: int, rng: np.random.Generator) -> np.ndarray:
        out = np.zeros(grove.n_features)
        rows = sampling.left_out(int(seeds[t]))
        if not len(rows):
            return out
        lo, hi = grove.roots[t], grove.roots[t] + grove.sizes[t]
        feature = grove.feature[lo:hi]
        table = X[rows]
        base = score(rows, grove.sum(table, t, t + 1))
        for j in np.unique(feature[feature >= 0]):  # a column that the tree does not look at changes nothing
            column = table[:, j].copy()
            table[:, j] = rng.permutation(column)
            out[j] = base - score(rows, grove.sum(table, t, t + 1))
            table[:, j] = column
        return out

    draws = streams(random_state, grove.n_trees)
    columns = run_tasks([partial(task, t, draws[t]) for t in range(grove.n_trees)], n_jobs=n_jobs)
    return np.column_stack(columns)


def standardized_errors(
    grove: Grove, seeds: np.ndarray, sampling: Sampling, X: Any, y: np.ndarray
) -> tuple[np.ndarray, float]:
    """Errors on rows left out, each divided by the spread of its trees, in order; and the least spread used."""
    n = X.shape[0]
    rows = np.unique(np.linspace(0, n - 1, min(n, _CALIBRATION_ROWS)).astype(np.int64))
    if sampling.weights is not None:
        rows = rows[sampling.weights[rows] > 0]
    table = X[rows]
    table = dense(table)
    total, squares, count = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    centre = float(y[rows].mean()) if len(rows) else 0.0
    for t, seed in enumerate(seeds):
        unseen = sampling.counts(int(seed))[rows] == 0
        values = grove.sum(table, t, t + 1)[:, 0] - centre
        total += np.where(unseen, values, 0.0)
        squares += np.where(unseen, values**2, 0.0)
        count += unseen
    known = count >= 2
    if not known.any():
        return np.empty(0), 0.0
    mean = total[known] / count[known]
    spread = np.sqrt(np.maximum(squares[known] / count[known] - mean**2, 0.0))
    errors = y[rows][known] - centre - mean
    # Few trees leave a row out, and their mean errs more than that of all: by the variance of a tree times this.
    fewer = np.mean(spread**2 * (1.0 / count[known] - 1.0 / len(seeds)))
    errors *= np.sqrt(max(1.0 - float(fewer) / max(float(np.mean(errors**2)), 1e-300), 0.25))
    floor = 0.1 * float(np.sqrt(np.mean(errors**2)))
    if floor == 0.0:
        return np.zeros(int(known.sum())), 1.0
    return np.sort(errors / np.maximum(spread, floor)), floor
