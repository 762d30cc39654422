"""Where a fit starts: units for the columns, and a sample of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import dense, double, take_rows
from learnt.engine.random import uniforms
from learnt.engine.rows import ArrayRows, Rows
from learnt.engine.rows.blocks import Block
from learnt.linear_model.logistic import _kernels as kernels
from learnt.linear_model.logistic._loss import Target, codes_of, csr_arrays, floats, is_sparse, row_weights
from learnt.linear_model.logistic._problem import Problem, total

_SEED = 20011  # of the sample: the optimum does not depend on it, and the path there is always the same
_FEWEST_OF_A_CLASS = 200  # rows, unless that were more than half the sample


class Units(NamedTuple):
    """Mean and variance of each column, and how many rows the variance rests on: (Σz²)²/Σz⁴."""

    mean: np.ndarray
    variance: np.ndarray
    support: np.ndarray


def units(rows: Rows, target: Target, centred: bool) -> Units:
    """The columns' units from all of `rows`; not centred where there is no intercept to take up the mean."""
    if centred:  # a mean of some rows to subtract before squaring, so that large means do not cancel
        some = Block(rows.X[:256, :]) if rows.in_memory else rows.head(256)
        shift = np.zeros(rows.n_features) if is_sparse(some.X) else to_numpy(floats(some.X)).mean(axis=0)
    else:
        shift = np.zeros(rows.n_features)
    with np.errstate(over="ignore", invalid="ignore"):  # `scale_of` names columns that are too large
        sums = total(rows, _column_sums, target, shift)
        weight, first, second, squares, fourths = (to_numpy(part) for part in sums)
        mean = first / weight if centred else np.zeros_like(shift)
        variance = np.maximum(second / weight - mean**2, 0.0)
        rounding = 1e-24 * (second / weight + shift**2)  # what is left of a constant column
        variance = np.where(variance <= rounding, 0.0, variance)
        return Units(mean + shift, variance, squares**2 / np.maximum(fourths, np.finfo(float).tiny))


def units_of_few(rows: Rows, target: Target, centred: bool) -> Units:
    """The same where two passes over the rows cost nothing; the number of rows behind the variances is not computed."""
    X = double(dense(rows.X))
    w = row_weights(Block(rows.X, rows.y, rows.w), X, target)
    total_weight = w.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = w @ X / total_weight if centred else np.zeros(X.shape[1])
        variance = w @ np.square(X - mean) / total_weight
        constant = variance <= 1e-24 * np.square(mean)  # up to what rounding left of it
    variance[constant & np.isfinite(variance)] = 0.0
    return Units(mean, variance, np.full(X.shape[1], np.inf))


def weighted_mean(rows: Rows, target: Target) -> np.ndarray:
    """The mean of each column of a table in memory."""
    X = floats(rows.X)
    thin = is_sparse(X)
    w = row_weights(Block(rows.X, rows.y, rows.w), np.empty(0) if thin else X, target)
    return to_numpy(X.T @ w if thin else w @ X) / float(namespace(w).sum(w))


def _column_sums(block: Block, target: Target, shift: np.ndarray) -> tuple[Any, ...]:
    """Σ w, Σ w z, Σ w z², Σ z² and Σ z⁴ of every column, with z = x − shift (x where X is sparse)."""
    X = block.X
    if is_sparse(X):  # too wide for a sample: the effective number of rows is not needed
        w = row_weights(block, np.empty(0), target)
        sums = np.zeros((X.shape[1], 2))
        if target.compiled:
            kernels.csr_column_sums(*csr_arrays(X), w, sums)
        else:
            X = floats(X)
            sums[:, 0], sums[:, 1] = X.T @ w, X.power(2).T @ w
        return float(w.sum()), sums[:, 0], sums[:, 1], np.full(X.shape[1], np.inf), np.ones(X.shape[1])
    Z = floats(X)
    Z = Z - like(shift, Z)
    w = row_weights(block, Z, target)
    xp = namespace(Z)
    squares = Z * Z
    return xp.sum(w), w @ Z, w @ squares, xp.sum(squares, axis=0), xp.sum(squares * squares, axis=0)


def scale_of(curve: float, alpha: float, columns: Units) -> np.ndarray:
    """Units in which the objective curves by one, where one more score costs `curve` in all rows together."""
    scale = np.sqrt(curve * columns.variance + alpha)
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise ValueError(f"Column {column} of X is too large to be squared in float64; rescale it.")
    idle = scale == 0  # a constant column and no penalty: any unit will do
    scale[idle] = np.sqrt(curve) * np.maximum(np.abs(columns.mean[idle]), 1.0)
    return scale


def standardised(problem: Problem) -> Problem:
    """The same problem in the same variables, over a dense copy of its rows that is in their units."""
    rows = problem.rows
    Z = np.array(dense(rows.X), dtype=np.float64)
    Z -= problem.shift
    Z /= problem.scale
    penalty = problem.penalty.copy()
    penalty[:-1] /= problem.scale**2
    return Problem(ArrayRows(Z, rows.y, rows.w, rows.n_jobs), problem.target, penalty)


def sample(rows: Rows, target: Target, counts: np.ndarray, size: int) -> tuple[ArrayRows, Target]:
    """About `size` rows as dense arrays in memory, each standing for as many as were left out.

    Of a rare class more rows are kept, with less weight, so that none is missing.
    """
    share = min(1.0, size / counts.sum())
    fewest = min(_FEWEST_OF_A_CLASS, size / (2 * counts.size))
    keep = np.minimum(1.0, np.maximum(share, fewest / np.maximum(counts, 1.0)))
    if rows.in_memory:
        parts = _take(Block(rows.X, rows.y, rows.w), target, share, keep)
    else:
        parts = rows.reduce(_take, _collect, target, share, keep)
    X, codes, w = (column[0] if len(column) == 1 else np.concatenate(column) for column in zip(*parts, strict=True))
    return ArrayRows(X, codes, w, rows.n_jobs), target._replace(labels=None)


def _take(block: Block, target: Target, share: float, keep: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    codes = to_numpy(codes_of(block, target))
    n = codes.shape[0]
    kept = _one_a_stretch(block.start, n, share)
    more = np.flatnonzero(keep > share)
    if more.size:
        rare = np.isin(codes, more)
        rows = np.flatnonzero(rare)
        rows = rows[uniforms(block.start + rows, _SEED + 1) < keep[codes[rows].astype(np.intp)]]
        kept = np.sort(np.concatenate([kept[~rare[kept]], rows]))
    X = to_numpy(dense(take_rows(block.X, kept)))
    codes = codes[kept]
    w = 1.0 / keep[codes.astype(np.intp, copy=False)]
    if block.w is not None:
        w *= to_numpy(block.w)[kept]
    return [(X, codes, w)]


def _one_a_stretch(start: int, n: int, share: float) -> np.ndarray:
    """Of the rows from `start` on, one at random from every stretch of 1/share rows, however they are cut in blocks."""
    stretch = np.arange(max(int(start * share) - 1, 0), int((start + n) * share) + 2)
    rows = ((stretch + uniforms(stretch, _SEED)) / share).astype(np.int64) - start
    return rows[(rows >= 0) & (rows < n)].astype(np.intp)


def _collect(total: list | None, part: list | None) -> list | None:
    if total is None or part is None:
        return part if total is None else total
    return total + part
