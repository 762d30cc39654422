"""Squared hinge with the absolute penalty:  min over w of  ‖w‖₁ + Σ Cᵢ max(0, 1 − yᵢ aᵢ·w)².

Proximal Newton: the L1 subproblem of each step, the quadratic model plus ‖w‖₁, is minimised by coordinate descent and
Newton steps on a d × d matrix, over the columns that have a coefficient or the largest gradients. Where these are too
many for a matrix, `_thin_columns` does the same on their entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.positive import keep_signs
from learnt.svm._curvature import COLUMNS
from learnt.svm._design import Design
from learnt.svm._losses import Loss
from learnt.svm._newton import Outcome
from learnt.svm._thin_columns import ThinColumns

_GROWTH, _FIRST = 2, 100  # a working set: twice the columns with a coefficient, and some
_PASSES, _ROUNDS = 5, 100  # passes of coordinate descent before each Newton step, and rounds of both
_INNER = 1e-14  # of the objective: the gain below which a parabola counts as solved
_HALVINGS = 40
_NOTHING, _ROUNDING = 1e-12, 1e-13  # as shares of the objective: a predicted and an actual decrease that count as 0
_TINY = 1e-16  # the curvature of columns without any, as a share of the largest
_NEAR = 0.95  # pulls from which a column takes part, where many do
_POWER = 0.8  # a step leaves about this power of a relative gap, times the gap


def minimize_l1(design: Design, loss: Loss, tol: float, max_iter: int, watch: Any) -> Outcome:
    """Minimise until the duality gap is at most `tol` times the objective."""
    w, s = np.zeros(design.D), np.zeros(design.n)
    n_iter, dual = 0, 0.0
    thin: ThinColumns | None = None
    while True:
        beta, moving = loss.multipliers(s, None, None)
        v = design.combine(beta)
        value = float(np.abs(w).sum() + loss.value(s).sum())
        dual = max(dual, best_dual(loss, beta, v))  # the minimum is above all of them
        gap = value - dual
        if gap <= tol * value or n_iter >= max_iter or (watch is not None and watch(value, n_iter)):
            near = tol ** (2 / 3) if n_iter >= max_iter else tol
            return Outcome(w, beta, value, max(gap, 0.0), n_iter, gap <= near * value)
        step, curve = np.zeros(design.D), moving / loss.soft
        wide = not design.sparse and design.n < design.D  # a matrix of columns would be singular
        if wide or np.count_nonzero((w != 0) | (np.abs(v) > 1.0)) > COLUMNS:  # or cost more than passes
            columns = np.flatnonzero((w != 0) | (np.abs(v) > _NEAR))
            thin = thin or ThinColumns(design)
            new, along = thin.parabola(columns, w[columns], beta, curve, 1.0 / loss.soft, closeness(gap / value, tol))
            step[columns] = new - w[columns]
        else:
            columns, rows = working_set(w, v), np.flatnonzero(moving)
            part = within(design, columns)
            H = part.gram(rows, curve[rows])
            H.flat[:: H.shape[0] + 1] += _TINY * H.diagonal().max(initial=1.0)
            step[columns] = parabola(H, -v[columns], w[columns], _INNER * value) - w[columns]
            along = part.scores(step[columns])
        a = 1.0
        for _ in range(_HALVINGS):
            if np.abs(w + a * step).sum() + loss.value(s + a * along).sum() < (1.0 - _ROUNDING) * value:
                break
            a *= 0.5
        else:  # the quadratic model is exact where no row crosses a kink: no predicted decrease proves the minimum
            promise = v @ step - 0.5 * curve @ along**2 + np.abs(w).sum() - np.abs(w + step).sum()
            return Outcome(w, beta, value, max(gap, 0.0), n_iter, promise <= _NOTHING * value)
        w, s = w + a * step, s + a * along
        n_iter += 1


def closeness(gap: float, tol: float) -> float:
    """How closely to solve a parabola over many columns, in what a sweep gains, for a step to leave what it must.

    The gap is of first order in the slopes, a sweep's gain of second.
    """
    return float(np.clip((0.5 * max(min(gap, 1.0) ** _POWER, tol / gap)) ** 2, 1e-9, 1e-3))


def best_dual(loss: Loss, beta: np.ndarray, v: np.ndarray) -> float:
    """The highest dual objective among multiples of β that keep |Aᵀβ| ≤ 1 in every column."""
    curve = float(np.sum(loss.soft * beta * beta))
    most = 1.0 / max(float(np.abs(v).max()), np.finfo(float).tiny)
    factor = min(float(loss.y @ beta) / curve if curve else 0.0, most)
    return float(loss.reward(max(factor, 0.0) * beta).sum())


def working_set(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Columns with a coefficient, and of the others those whose gradient is near 1 or above, the largest first."""
    size = min(max(_GROWTH * int(np.count_nonzero(w)) + _FIRST, COLUMNS // 4), w.size)
    urge = np.where(w != 0, np.inf, np.abs(v))
    loud = np.argpartition(-urge, size - 1)[:size]
    return np.sort(loud[urge[loud] > 0.9])


def within(design: Design, columns: np.ndarray) -> Design:
    """The table with only these columns; the last may be the intercept's."""
    if columns.size == design.D:
        return design
    bias = design.bias if columns.size and columns[-1] == design.d else 0.0
    return Design(design.X[:, columns[columns < design.d]], bias, design.n_jobs)


def parabola(H: np.ndarray, g: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
    """argmin over z of  g·(z − start) + (z − start)ᵀH(z − start)/2 + ‖z‖₁.

    Passes over the columns find the signs; with these, the coefficients that are not 0 solve linear equations.
    """
    z, slope = start.copy(), g.copy()
    for k in range(_ROUNDS):
        if l1_passes(H, tol, _PASSES, z, slope) <= tol and k:  # once in any case: what gains little may slope steeply
            break
        own = np.flatnonzero(z)
        if not own.size:
            break
        change = keep_signs(H[np.ix_(own, own)], -slope[own] - np.sign(z[own]), z[own])
        z[own] += change
        slope += H[:, own] @ change
    return z


@kernel(reassociate=True)
def l1_passes(H, tol, passes, z, slope):
    """Coordinate descent, `slope` being that of the parabola at z; the largest gain of the last pass."""
    gain = 0.0
    for _ in range(passes):
        gain = 0.0
        for j in range(z.size):
            h = H[j, j]
            old = z[j]
            aim = old - slope[j] / h
            new = aim - 1.0 / h if aim > 1.0 / h else (aim + 1.0 / h if aim < -1.0 / h else 0.0)
            step = new - old
            if step != 0.0:
                z[j] = new
                gain = max(gain, 0.5 * h * step * step)
                for k in range(z.size):
                    slope[k] += step * H[j, k]
        if gain <= tol:
            break
    return gain
