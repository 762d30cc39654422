"""Which method finds the minimum: chosen by the shape of the table; all of them reach the same one.

rows      fewer rows than columns, and not many: Newton in the space of the rows
columns   columns few enough for a matrix of them: the minimum over a sample first, then Newton over all rows; a small
          dense table has a Newton of few calls (`_tiny`)
descent   passes over the rows, and leaps, where both are many
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.random import generator
from learnt.svm._curvature import COLUMNS, Curvature
from learnt.svm._descent import descend
from learnt.svm._design import Design, RowSpace
from learnt.svm._losses import Loss
from learnt.svm._newton import Outcome, minimize
from learnt.svm._tiny import is_small, newton

_FEW_ROWS = 2000
_ROWS_PER_COLUMN, _SAMPLE_SHARE = 20, 16  # in a sample: rows a column at least, and the share of all rows
_SAMPLE_TOL = 1e-4
_SEED = 20011
# The largest matrix for Newton's method when passes fail, and how little the kink is smoothed then
_LARGE, _NARROW = 5000, 0.1
_WIDTH = 2.0  # how far from its kink a loss is smoothed at first, in sizes of the larger targets
_RESCUE, _CELLS = 1000, 1 << 30  # passes at most after Newton's method has failed, and the cells that they read
_FACTOR = 1e-7  # relative: what rounding in the factor of the rows' products may cost


def pose(X: Any, bias: float, n_jobs: int | None = None) -> tuple[Design, RowSpace | None]:
    """The table, and its row space where that method is taken: both serve the problems of all classes."""
    design = Design(X, bias, n_jobs)
    return design, RowSpace(design) if design.n <= min(_FEW_ROWS, design.D - 1) else None


def solve(design: Design, space: RowSpace | None, loss: Loss, tol: float, max_iter: int, watch: Any) -> Outcome:
    """The minimum of  ‖w‖²/2 + Σ φᵢ(aᵢ·w)  up to a duality gap of `tol` times it."""
    settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "watch": watch}
    if space is not None:
        found = minimize(space, loss, np.zeros(space.D), width=width_of(loss), **settings)
        return with_passes(design, loss, in_columns(design, space, loss, found, tol), settings)
    if design.D > COLUMNS:
        found = descend(design, loss, np.zeros(design.n), **settings)
        return found if found.converged or found.n_iter >= max_iter else in_earnest(design, loss, found, settings)
    if not design.sparse and is_small(design.n, design.D):
        quick = newton(design.whole(), loss, tol, max_iter, 0.0 if loss.smooth else width_of(loss), watch)
        if quick is not None:
            return quick
    start = sampled(design, loss) if loss.smooth else np.zeros(design.D)  # a kink learns little from a sample
    return with_passes(design, loss, minimize(design, loss, start, width=width_of(loss), **settings), settings)


def with_passes(design: Design, loss: Loss, found: Outcome, settings: dict[str, Any]) -> Outcome:
    """Passes over the rows where Newton's equations lose their digits, as they do for columns far from 0.

    Both bound the minimum: the better coefficients are kept, and the better bound.
    """
    left = min(settings["max_iter"] - found.n_iter, _RESCUE, _CELLS // max(design.n * design.D, 1))
    if found.converged or left <= 0:
        return found
    other = descend(design, loss, np.zeros(design.n), **{**settings, "max_iter": left})
    best = other if other.value < found.value else found
    gap = best.value - max(found.value - found.gap, other.value - other.gap)
    converged = gap <= settings["tol"] * best.value
    return best._replace(gap=max(gap, 0.0), n_iter=found.n_iter + other.n_iter, converged=converged)


def in_earnest(design: Design, loss: Loss, found: Outcome, settings: dict[str, Any]) -> Outcome:
    """Newton's equations after all, from where the passes got stuck."""
    settings["max_iter"] -= found.n_iter
    curvature = Curvature(design, _LARGE, _LARGE)
    width = _NARROW * width_of(loss)
    last = minimize(design, loss, found.w, curvature=curvature, centre=found.beta, width=width, **settings)
    best = last if last.gap <= found.gap else found
    return best._replace(n_iter=found.n_iter + last.n_iter)


def in_columns(design: Design, space: RowSpace, loss: Loss, found: Outcome, tol: float) -> Outcome:
    """A solution in the row space, with its gap in the table's own columns.

    Its coefficients give Aᵀβ or, where β is inexact, the combination of rows with the same scores.
    """
    w = design.combine(found.beta)
    dual = float(loss.reward(found.beta).sum()) - 0.5 * float(w @ w)
    other = design.combine(space.rows_of(found.w))
    value, better = objective(design, loss, w), objective(design, loss, other)
    if better < value:
        value, w = better, other
    gap = max(value - dual, 0.0)
    return Outcome(w, found.beta, value, gap, found.n_iter, found.converged and gap <= max(tol, _FACTOR) * value)


def objective(design: Design, loss: Loss, w: np.ndarray) -> float:
    return 0.5 * float(w @ w) + float(loss.value(design.scores(w)).sum())


def sampled(design: Design, loss: Loss) -> np.ndarray:
    """Coefficients to start from: the minimum over a sample, each of its rows standing for as many."""
    size = max(_ROWS_PER_COLUMN * design.D, design.n // _SAMPLE_SHARE)
    if 4 * size > design.n:
        return np.zeros(design.D)
    rows = np.sort(generator(_SEED).choice(design.n, size, replace=False))
    part = loss.take(rows, design.n / size)
    few = Design(design.X[rows], design.bias, design.n_jobs)
    return minimize(few, part, np.zeros(design.D), tol=_SAMPLE_TOL, max_iter=50, width=width_of(part)).w


def width_of(loss: Loss) -> float:
    """How far from its kink a loss is smoothed at first: so far that nearly all rows curve."""
    size = np.abs(loss.y)
    return max(_WIDTH * float(np.quantile(size, 0.95)), 1e-3 * float(size.max()), np.finfo(float).tiny)
