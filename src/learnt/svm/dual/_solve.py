"""Dual problems of support vector machines: working sets whose kernel matrix fits in a cache, one after the other.

A working set holds the variables that break the optimality conditions most and those between their bounds; `_smo`
solves the problem in them alone, a product with the kernel rows of those that moved brings all scores up to date, and
so on until no pair of scores of the whole problem is further apart than `tol`. The set grows with the number of
variables between their bounds: where they do not all fit in, sets undo what others did. Once the violators are few,
all of them are in the set: what others call shrinking. Kernel rows are computed by matrix products, many at a time,
and kept.

A problem that fits in one set and needs steps beyond measure, since its bounds are large against its kernel, goes on
from what `_interior` finds, and ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.interrupts import check_stopped, stoppable
from learnt.svm.dual._interior import interior, interior_of_twins
from learnt.svm.dual._rows import KernelRows
from learnt.svm.dual._smo import ROUNDING, smo, workspace_for

WORKING = 1024  # variables of a working set, at least
# Size of the working set over the number of free variables, where that is larger and its kernel matrix fits
_SET_RATIO = 1.5
_STUCK = 3  # working sets one after the other in which nothing could be gained, or that were at their goal
_INNER = 0.1  # tolerance inside a working set, as a share of the whole problem's gap
_RENEW = 100_000  # steps after which scores are recomputed
_CHECK_EVERY = 20_000  # steps between two evaluations of the objective, where it has a limit
_BRIEF = 1 << 23  # variables times steps that take less than a tenth of a second
_AFTER = 10  # times the patience with a problem, how many steps it has after the interior point


class Unbounded(Exception):
    """The objective fell below the bound for any acceptable solution."""


class Dual(NamedTuple):
    """min ½ αᵀQα + pᵀα,  Q_st = s_s s_t K[row_s, row_t],  0 ≤ α ≤ upper,  sums by group as they are at the start."""

    row: np.ndarray  # (m,) which row of the table each variable belongs to
    sign: np.ndarray  # (m,) ±1
    linear: np.ndarray  # (m,) p
    upper: np.ndarray  # (m,)
    start: np.ndarray  # (m,) a feasible α
    by_sign: bool = False  # the variables of each sign have a sum of their own (ν-problems)


class Solution(NamedTuple):
    """Where the solver ended: α, the scores f = −s(Qα + p), steps, the gap between scores, and whether it is ≤ tol."""

    alpha: np.ndarray
    score: np.ndarray
    steps: int
    gap: float
    converged: bool


def solve(problem: Dual, rows: KernelRows, tol: float, max_iter: int, lowest: float = -np.inf) -> Solution:
    """The minimum, to where no pair of scores is more than `tol` apart; at most `max_iter` steps (−1: no limit).

    Raises `Unbounded` where the objective falls below `lowest`: by weak duality no solution of that size exists.
    """
    sign, upper, row = problem.sign, problem.upper, problem.row
    group = (sign < 0).astype(np.int8) if problem.by_sign else np.zeros(len(sign), np.int8)
    alpha = problem.start.copy()
    score = _scores(problem, rows, alpha)
    most = np.iinfo(np.int64).max if max_iter < 0 else max_iter
    trust = patience(len(sign))  # steps before the interior point
    steps, stuck, held, best = 0, 0, np.zeros(len(sign), bool), None
    while True:
        check_stopped()
        rise, fall = may_move(sign, upper, alpha)
        tops, lows = _ends(score, group, rise, fall)
        gap = float(max(tops - lows))
        goal = max(tol, ROUNDING * np.abs(score).max())
        value = _objective(problem, alpha, score)
        if value < lowest:
            raise Unbounded
        here = Solution(alpha.copy(), score.copy(), steps, gap, gap <= goal)  # neither where scores are no numbers
        if best is None or not value > best[0] + _doubt(problem, alpha, score):
            best = min(value, best[0]) if best else value, here
        if not gap > goal or steps >= most or stuck == _STUCK:
            return best[1]._replace(steps=steps)
        size = max(WORKING, min(int(_SET_RATIO * np.count_nonzero(rise & fall)), rows.most_square()))
        chosen = _working_set(size, score, group, rise, fall, tops, lows, held)
        held[:] = False
        held[chosen] = True
        chosen = chosen[np.argsort(group[chosen], kind="stable")]
        cut = len(chosen) - np.count_nonzero(group[chosen])
        K = rows.square(row[chosen])
        whole = len(chosen) == len(sign) and K.dtype == np.float64
        if whole and steps >= trust:
            alpha, trust = _from_inside(problem, rows, K, chosen, group, alpha, score, goal), most
            score, most = _scores(problem, rows, alpha), min(most, steps + _AFTER * patience(len(sign)))
            continue
        inner = score[chosen] if whole else _about_middle(score[chosen], group[chosen], tops, lows).astype(K.dtype)
        before, stop = alpha[chosen], np.zeros(1, np.int64)
        now = before.copy()
        inner_goal = goal if whole else max(_INNER * gap, 0.5 * goal)
        budget = min(most - steps, _CHECK_EVERY if np.isfinite(lowest) else _RENEW)
        if whole:
            budget = min(budget, max(trust - steps, 1))
        call = _inner(K, sign[chosen], cut, upper[chosen], now, inner, inner_goal, budget, stop)
        taken, _ = stoppable(call, stop, long=len(chosen) * budget > _BRIEF)
        steps += int(taken)
        # What rounding makes of scores may differ from those that a working set ended with
        stuck = stuck + 1 if not taken or (whole and taken < budget) else 0
        alpha[chosen] = now
        if whole:  # afresh: many steps, and large ones that others undo, leave more of their rounding than the gap
            score = _scores(problem, rows, alpha)
        else:
            moved = now != before
            _follow(score, rows, row, sign[chosen][moved], (now - before)[moved], chosen[moved])


def patience(variables: int) -> int:
    """How many steps cost about as much as an interior point."""
    return 10_000 + variables * variables // 8


def _from_inside(problem, rows, K, chosen, group, alpha, score, tol) -> np.ndarray:
    """What an interior point finds, or α where that is no better."""
    sign = problem.sign[chosen]
    sums = np.array([sign * (group[chosen] == g) for g in np.unique(group)])
    Q, linear, upper = K * sign * sign[:, None], problem.linear[chosen], problem.upper[chosen]
    half = len(sign) // 2
    if len(sums) == 1 and len(sign) == 2 * half and np.array_equal(problem.row[:half], problem.row[half:]):
        found = interior_of_twins(Q, linear, upper, sums, tol)
    else:
        found = interior(Q, linear, upper, sums, alpha[chosen], tol)
    if found is None:
        return alpha
    better = np.empty_like(alpha)
    better[chosen] = found
    least = _objective(problem, alpha, score)
    return better if _objective(problem, better, _scores(problem, rows, better)) < least else alpha


def _scores(problem: Dual, rows: KernelRows, alpha: np.ndarray) -> np.ndarray:
    """−s(Qα + p)."""
    score = -problem.sign * problem.linear
    _follow(score, rows, problem.row, problem.sign, alpha)
    return score


def _inner(K, sign, cut, upper, alpha, score, goal, most, stop):
    return lambda: smo(K, sign, cut, upper, alpha, score, workspace_for(score), goal, most, stop)


def _about_middle(score, group, tops, lows):
    """Scores about the middle of each group's ends, where rounding is in proportion to the gap; differences matter."""
    known = np.isfinite(tops) & np.isfinite(lows)
    return score - 0.5 * (np.where(known, tops, 0.0) + np.where(known, lows, 0.0))[group]


def _objective(problem: Dual, alpha: np.ndarray, score: np.ndarray) -> float:
    """½αᵀQα + pᵀα, from the scores −s(Qα + p)."""
    return float(0.5 * (problem.linear @ alpha - (alpha * problem.sign) @ score))


def _doubt(problem: Dual, alpha: np.ndarray, score: np.ndarray) -> float:
    """What rounding may make of the objective."""
    return float(ROUNDING * (alpha @ (np.abs(problem.linear) + np.abs(score))))


def _follow(score, rows, row, sign, change, places=None) -> None:
    """Scores after `change` of some variables: f −= K (s Δα)."""
    changed = change != 0
    if changed.any():
        at = row[changed] if places is None else row[places[changed]]
        weight = np.bincount(at, (sign * change)[changed])  # what variables of the same row leave of one another
        used = np.flatnonzero(weight)
        score -= rows.times(used, weight[used])[row]


def may_move(sign, upper, alpha):
    """Which variables may move along their sign, and which against it."""
    more, less = alpha < upper, alpha > 0
    return np.where(sign > 0, more, less), np.where(sign > 0, less, more)


def _ends(score, group, rise, fall):
    """The highest score that may rise and the lowest that may fall, of each group."""
    tops, lows = np.full(2, -np.inf), np.full(2, np.inf)
    for g in range(2):
        inside = group == g
        tops[g] = score[inside & rise].max(initial=-np.inf)
        lows[g] = score[inside & fall].min(initial=np.inf)
    return tops, lows


def _working_set(size, score, group, rise, fall, tops, lows, held):
    """The variables to solve for next, in order: the worst violators, and those between their bounds."""
    if len(score) <= size:
        return np.arange(len(score))
    above = np.where(rise, score - lows[group], 0.0)  # the violation relative to the lowest that may fall
    below = np.where(fall, tops[group] - score, 0.0)
    free = rise & fall
    violation = np.maximum(above, below)
    candidates = np.flatnonzero((violation > 0) | (free & held))
    if len(candidates) <= size:
        return candidates
    kept = np.flatnonzero(free & held)
    if len(kept) > size // 2:
        kept = kept[np.argsort(-violation[kept], kind="stable")[: size // 2]]
    chosen = np.zeros(len(score), bool)
    chosen[kept] = True
    half = (size - len(kept)) // 2
    for beyond in (above, below):
        order = np.where(chosen, -np.inf, beyond)
        take = np.argpartition(-order, half)[:half]
        chosen[take[order[take] > 0]] = True
    # The most violating pair is always included, which guarantees progress.
    for g in range(2):
        inside = group == g
        if (inside & rise).any() and (inside & fall).any():
            chosen[np.argmax(np.where(inside & rise, score, -np.inf))] = True
            chosen[np.argmin(np.where(inside & fall, score, np.inf))] = True
    return np.flatnonzero(chosen)
