"""Which road leads to the minimum: chosen by the shape of the table, and the same minimum from each.

rows      fewer rows than columns, and not many: Newton in the space of the rows
columns   columns few enough for a matrix of them: the minimum over a sample first, then Newton over all rows
descent   passes over the rows, and leaps, where both are many
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.svm._curvature import COLUMNS
from learnt.svm._descent import descend
from learnt.svm._design import Design, RowSpace
from learnt.svm._losses import Loss
from learnt.svm._newton import Outcome, minimize

_FEW_ROWS = 2000
_ROWS_PER_COLUMN, _SAMPLE_SHARE = 20, 16  # in a sample: rows a column at least, and the share of all rows
_SAMPLE_TOL = 1e-4
_SEED = 20011
_WIDTH = 0.3  # of the targets' size: how far from its kink a loss is smoothed at first
_FACTOR = 1e-7  # relative: what rounding in the factor of the rows' products may cost


def pose(X: Any, bias: float, n_jobs: int | None = None) -> tuple[Design, RowSpace | None]:
    """The table, and its row space where that is the road: both serve the problems of all classes."""
    design = Design(X, bias, n_jobs)
    return design, RowSpace(design) if design.n <= min(_FEW_ROWS, design.D - 1) else None


def solve(design: Design, space: RowSpace | None, loss: Loss, tol: float, max_iter: int, watch: Any) -> Outcome:
    """The minimum of  ‖w‖²/2 + Σ φᵢ(aᵢ·w)  up to a duality gap of `tol` times it."""
    settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "watch": watch}
    if space is not None:
        found = minimize(space, loss, np.zeros(space.D), width=width_of(loss), **settings)
        return in_columns(design, loss, found, tol)
    if design.D > COLUMNS:
        return descend(design, loss, np.zeros(design.n), **settings)
    start = sampled(design, loss) if loss.smooth else np.zeros(design.D)  # a kink learns little from a sample
    return minimize(design, loss, start, width=width_of(loss), **settings)


def in_columns(design: Design, loss: Loss, found: Outcome, tol: float) -> Outcome:
    """What was found in the row space, with the gap as it is in the table's own columns."""
    w = design.combine(found.beta)
    s = design.scores(w)
    value = 0.5 * float(w @ w) + float(loss.value(s).sum())
    gap = max(float(loss.slack(s, found.beta).sum()), 0.0)
    return Outcome(w, found.beta, value, gap, found.n_iter, found.converged and gap <= max(tol, _FACTOR) * value)


def sampled(design: Design, loss: Loss) -> np.ndarray:
    """Coefficients to start from: the minimum over a sample, each of its rows standing for as many."""
    size = max(_ROWS_PER_COLUMN * design.D, design.n // _SAMPLE_SHARE)
    if 4 * size > design.n:
        return np.zeros(design.D)
    rows = np.sort(np.random.Generator(np.random.PCG64(_SEED)).choice(design.n, size, replace=False))
    part = loss.take(rows, design.n / size)
    few = Design(design.X[rows], design.bias, design.n_jobs)
    return minimize(few, part, np.zeros(design.D), tol=_SAMPLE_TOL, max_iter=50, width=width_of(part)).w


def width_of(loss: Loss) -> float:
    """How far from its kink a loss is smoothed at first."""
    return max(_WIDTH * float(np.abs(loss.y).mean()), np.finfo(float).tiny)
