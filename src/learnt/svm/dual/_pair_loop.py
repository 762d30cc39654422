"""All pairs of classes of a small table in one compiled loop.

The kernel matrix of all rows, class after class, is computed once, and `_smo` solves the problem of a pair in the rows
and columns of its two classes; its scores are then recomputed from α. A variable whose bound is 0 never moves, but
has a score: that of a row which the machine has not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.threads import for_blocks
from learnt.svm.dual._rows import add_rows
from learnt.svm.dual._smo import ROUNDING, smo, workspace_for

_STUCK = 3  # calls of the solver one after the other in which nothing could be gained
_RENEW = 100_000  # steps after which scores are recomputed
_SINGLE = 0.75  # of the gap asked for is left where scores are in single precision, since they round
_CELLS = 1 << 19  # of the kernel matrices of a block of pairs
_BRIEF = 1 << 12  # variables of problems that take a fraction of a second


class Pairs(NamedTuple):
    """min ½ αᵀQα − linear · Σα for every pair of classes; the variables of a pair follow those of the one before."""

    first: np.ndarray  # (p,) the class whose sign is +1; its variables come first
    second: np.ndarray  # (p,)
    rows: np.ndarray  # (k + 1,) where the rows of each class begin in the kernel matrix
    begin: np.ndarray  # (p + 1,) where the variables of each pair begin
    upper: np.ndarray  # (m,)
    alpha: np.ndarray  # (m,) feasible at the start; moved to the minimum
    linear: float
    by_sign: bool  # the variables of each class have a sum of their own (ν-problems)


class Found(NamedTuple):
    """What the solver leaves of every pair besides α."""

    score: np.ndarray  # (m,) f = −s(Qα − linear)
    steps: np.ndarray  # (p,)
    gap: np.ndarray  # (p,) between scores that should be in order
    converged: np.ndarray  # (p,)


@kernel
def _score_all(K, place, sign, cut, linear, alpha, score):
    """Scores from α alone."""
    slots, weights, used = np.empty(len(alpha), np.int64), np.empty(len(alpha)), 0
    for t in range(len(alpha)):
        score[t] = sign[t] * linear
        if alpha[t] != 0.0:
            slots[used], weights[used] = place[t], -sign[t] * alpha[t]
            used += 1
    for lo, hi in ((0, cut), (cut, len(alpha))):
        add_rows(K, slots[:used], weights[:used], place[lo], score[lo:hi])


@kernel
def _centre(spans, sign, upper, alpha, score, inner):
    """How far scores of a group that should be in order are apart; scores about the middle of these ends in `inner`.

    There rounding is in proportion to the gap; only differences matter.
    """
    gap = -np.inf
    for lo, hi in spans:
        top, low = -np.inf, np.inf
        for t in range(lo, hi):
            more, less = alpha[t] < upper[t], alpha[t] > 0.0
            if sign[t] < 0.0:
                more, less = less, more
            if more:
                top = max(top, score[t])
            if less:
                low = min(low, score[t])
        gap = max(gap, top - low)
        middle = 0.5 * (top + low) if np.isfinite(top) and np.isfinite(low) else 0.0
        for t in range(lo, hi):
            inner[t] = score[t] - middle
    return gap


@kernel
def _solve_one(K, place, cut, pairs, span, score, inner, work, tol, most, stop):
    """The minimum of one pair, whose second class begins at `cut`: steps, the gap, and whether that is at most tol."""
    upper, alpha = pairs.upper[span[0] : span[1]], pairs.alpha[span[0] : span[1]]
    n, steps, stuck = len(alpha), 0, 0
    group = cut if pairs.by_sign else n
    spans = ((0, group), (group, n))
    sign = np.ones(n)
    sign[cut:] = -1.0
    while True:
        _score_all(K, place, sign, cut, pairs.linear, alpha, score)
        largest = 0.0
        for t in range(n):
            largest = max(largest, abs(score[t]))
        goal = max(tol, ROUNDING * largest)
        gap = _centre(spans, sign, upper, alpha, score, inner)
        if not gap > goal or steps >= most or stuck == _STUCK or atomic_load(stop, 0) != 0:
            return steps, gap, not gap > goal
        aim, budget = _SINGLE * goal if work.wide is None else goal, min(most - steps, _RENEW)
        taken, _ = smo(K, place, sign, cut, pairs.by_sign, upper, alpha, inner, work, aim, budget, stop)
        steps += taken
        stuck = 0 if taken > 0 else stuck + 1


@kernel
def _solve_block(K, pairs, found, lo, hi, inner, work, tol, most, stop):
    """The minima of the pairs from lo to hi."""
    for p in range(lo, hi):
        a, b = pairs.rows[pairs.first[p]], pairs.rows[pairs.first[p] + 1]
        c, begin, end = pairs.rows[pairs.second[p]], pairs.begin[p], pairs.begin[p + 1]
        m, cut = end - begin, b - a
        place = np.empty(m, np.int64)
        for t in range(m):
            place[t] = a + t if t < cut else c + t - cut
        found.steps[p], found.gap[p], found.converged[p] = _solve_one(
            K, place, cut, pairs, (begin, end), found.score[begin:end], inner[:m], work, tol, most, stop
        )


def solve_pairs(K: np.ndarray, pairs: Pairs, tol: float, max_iter: int) -> Found:
    """Move α of every pair to its minimum, where no two scores that should be in order are more than `tol` apart."""
    count, total = len(pairs.first), len(pairs.alpha)
    found = Found(np.empty(total), np.empty(count, np.int64), np.empty(count), np.empty(count, np.bool_))
    most = np.iinfo(np.int64).max if max_iter < 0 else max_iter
    largest = int((pairs.begin[1:] - pairs.begin[:-1]).max())
    stop = np.zeros(1, np.int64)

    def block(lo: int, hi: int) -> None:
        inner = np.empty(largest, K.dtype)
        _solve_block(K, pairs, found, lo, hi, inner, workspace_for(inner), tol, most, stop)

    grain = max(1, _CELLS // (largest * largest))
    stoppable(lambda: for_blocks(block, count, grain=grain), stop, long=total > _BRIEF)
    return found
