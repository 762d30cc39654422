"""All pairs of classes of a small table in one compiled loop.

The kernel matrix of all rows, class after class, is computed once, and `_active` solves the problem of a pair in the
rows and columns of its two classes. A variable whose bound is 0 never moves, but has a score: that of a row which the
machine has not seen. A pair that needs steps beyond measure is left to `_solve`, which ends in any case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.svm.dual._active import Entries, active_for, minimise
from learnt.svm.dual._rows import KernelRows
from learnt.svm.dual._solve import Dual, patience, solve

_CELLS = 1 << 19  # of the kernel matrices of a block of pairs
_BRIEF = 1 << 25  # variables times the most steps of a pair: what takes a fraction of a second


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
def _solve_one(K, place, cut, pairs, span, score, active, tol, most, stop):
    """The minimum of one pair, whose second class begins at `cut`: steps, the gap, and whether that is at most tol."""
    upper, alpha = pairs.upper[span[0] : span[1]], pairs.alpha[span[0] : span[1]]
    sign = np.empty(len(alpha))
    for t in range(len(sign)):
        sign[t] = 1.0 if t < cut else -1.0
        score[t] = pairs.linear * sign[t]
    return minimise(K, place, sign, cut, pairs.by_sign, upper, alpha, score, active, tol, most, stop)


@kernel
def _solve_block(K, pairs, found, lo, hi, active, tol, most, stop):
    """The minima of the pairs from lo to hi."""
    for p in range(lo, hi):
        a, b = pairs.rows[pairs.first[p]], pairs.rows[pairs.first[p] + 1]
        c, begin, end = pairs.rows[pairs.second[p]], pairs.begin[p], pairs.begin[p + 1]
        m, cut = end - begin, b - a
        place = np.empty(m, np.int64)
        for t in range(m):
            place[t] = a + t if t < cut else c + t - cut
        found.steps[p], found.gap[p], found.converged[p] = _solve_one(
            K, place, cut, pairs, (begin, end), found.score[begin:end], active, tol, most, stop
        )


def solve_pairs(K: Entries, pairs: Pairs, tol: float, max_iter: int) -> Found:
    """Move α of every pair to its minimum, where no two scores that should be in order are more than `tol` apart."""
    count, total = len(pairs.first), len(pairs.alpha)
    found = Found(np.empty(total), np.empty(count, np.int64), np.empty(count), np.empty(count, np.bool_))
    largest = int((pairs.begin[1:] - pairs.begin[:-1]).max())
    most = patience(largest) if max_iter < 0 else min(patience(largest), max_iter)
    stop = np.zeros(1, np.int64)

    def block(lo: int, hi: int) -> None:
        _solve_block(K, pairs, found, lo, hi, active_for(largest, K), tol, most, stop)

    grain = max(1, _CELLS // (largest * largest))
    stoppable(lambda: for_blocks(block, count, grain=grain), stop, long=total * most > _BRIEF)
    for p in np.flatnonzero(~found.converged):
        if max_iter < 0 or found.steps[p] < max_iter:
            _go_on(K, pairs, found, int(p), tol, max_iter)
    return found


class _Matrix:
    """A kernel matrix in memory, as `KernelRows` asks for its entries."""

    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def rows(self, places: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        out[slots] = self.K[places]

    def between(self, places: np.ndarray, columns: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        out[slots] = self.K[np.ix_(places, columns)]


def _go_on(K: Entries, pairs: Pairs, found: Found, p: int, tol: float, max_iter: int) -> None:
    """The minimum of pair p, from where it is."""
    i, j, span = pairs.first[p], pairs.second[p], slice(pairs.begin[p], pairs.begin[p + 1])
    place = np.r_[pairs.rows[i] : pairs.rows[i + 1], pairs.rows[j] : pairs.rows[j + 1]]
    values = K.values[place] @ K.values[place].T if K.are_rows else K.values[np.ix_(place, place)]
    m = len(place)
    sign = np.where(np.arange(m) < pairs.rows[i + 1] - pairs.rows[i], 1.0, -1.0)
    linear = np.full(m, -pairs.linear)
    problem = Dual(np.arange(m), sign, linear, pairs.upper[span], pairs.alpha[span], pairs.by_sign)
    rows = KernelRows(_Matrix(values), m, 16.0 * m * m, np.dtype(np.float64))
    rest = max_iter if max_iter < 0 else max_iter - int(found.steps[p])
    ended = solve(problem, rows, tol, rest)
    pairs.alpha[span], found.score[span] = ended.alpha, ended.score
    found.steps[p] += ended.steps
    found.gap[p], found.converged[p] = ended.gap, ended.converged
