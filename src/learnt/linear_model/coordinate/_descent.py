"""The elastic net on a working set of columns, certified on all of them.

    min over w of  ½‖y − Xw‖² + l1‖w‖₁ + ½ l2‖w‖²

Few coefficients are not 0. So the problem is solved on the columns with the largest |xᵀr|, whose inner products are
kept; then one pass over all columns gives the duality gap, and finds columns that were left out wrongly. Along a path
of decreasing penalties the working set only grows, and each solution is the start of the next. Reference: Tibshirani et
al., Strong rules for discarding predictors in lasso-type problems, JRSS B 74 (2012).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.linear_model.coordinate._kernels import DEPTH, LONG, Past, descend, duality_gap

# The tolerance on the working set, as shares of the gap on all columns and of the goal: tighter while sweeps have cost
# less than a pass over all columns would.
_EARLY, _EARLY_GOAL = 1e-3, 0.01
_LATE, _LATE_GOAL = 0.1, 0.3
FEWEST = 50  # sweeps before any other test, enough for easy problems
_FIRST = 32  # columns of the first working set, or
_BALANCE = 1.25  # the root of this times the number of columns: their products then cost less than a pass over all


class Descent:
    """One target and its working set; `solve` may be called for one penalty after another."""

    def __init__(
        self, problem: Any, target: int | slice = 0, positive: bool = False, start: np.ndarray | None = None
    ) -> None:
        problem.restart()
        self._problem, self._target, self._positive = problem, target, positive
        self._q = np.ascontiguousarray(problem.q[:, target])
        self._p = len(self._q)
        self._square = float(np.sum(problem.squares[target]))
        self._batch = max(_FIRST, int((_BALANCE * self._p) ** 0.5))
        self._taken = np.empty(0, dtype=np.intp)
        self._left = np.ones(self._p, dtype=bool)
        self._w = np.zeros((0, *self._q.shape[1:]))
        self._slopes = self._q.copy()
        self._last = np.inf
        self._started = start is not None and bool(start.any())
        self._begin()
        if start is not None and self._started:
            support = np.flatnonzero(start if start.ndim == 1 else start.any(axis=1))
            self._take(support)
            self._restart_from(start[support].astype(np.float64))
            self._slopes = self._all_slopes()

    @property
    def coef(self) -> np.ndarray:
        coef = np.zeros(self._q.shape)
        coef[self._taken] = self._w
        return coef

    def path(self, penalties: np.ndarray, ridges: np.ndarray, tol: float, max_sweeps: int) -> tuple:
        """The weights (p, …, A), gaps and sweeps at each pair of penalties."""
        coefs, ends = [], []
        for l1, l2 in zip(penalties.tolist(), ridges.tolist(), strict=True):
            ends.append(self.solve(l1, l2, tol, max_sweeps))
            coefs.append(self.coef)
        gaps, sweeps = zip(*ends, strict=True)
        return np.stack(coefs, axis=-1), np.array(gaps), list(sweeps)

    def solve(self, l1: float, l2: float, tol: float, max_sweeps: int) -> tuple[float, int]:
        """Descend to a duality gap of tol · ‖y‖², or for `max_sweeps`; returns the gap and the number of sweeps."""
        goal, sweeps = tol * self._square, 0
        closer = 1.0
        expected = l1 if np.isinf(self._last) else min(2 * l1 - self._last, l1)
        self._last = l1
        gap = self.gap(l1, l2)
        if self._started and gap <= goal:  # the start is the solution already
            return gap, 0
        self._started = False
        grown, before = True, np.inf
        while True:
            last, grown = grown, self._grow(expected)
            expected = l1
            if (gap <= goal and sweeps > 0) or sweeps >= max_sweeps:
                return gap, sweeps
            if not (grown or last) and gap >= before and l1 + l2 > 0.0:  # limited by rounding
                return gap, sweeps
            closer *= 1.0 if grown or not sweeps else 0.1  # with the same columns only a tighter tolerance can help
            early = max(_EARLY * gap, closer * _EARLY_GOAL * goal)
            late = max(_LATE * gap, closer * _LATE_GOAL * goal)
            sweeps += self._approach(l1, l2, early, late, max_sweeps - sweeps)
            self._slopes = self._all_slopes()
            before, gap = gap, self.gap(l1, l2)
            if gap <= goal:
                return gap, sweeps

    def _approach(self, l1: float, l2: float, early: float, late: float, max_sweeps: int) -> int:
        """Descend on the working set to a gap of `early`, or of `late` once sweeps have cost as much as a pass."""
        patience = min(self._patience(), max_sweeps)
        sweeps = self._descend(l1, l2, early, patience)
        if patience <= sweeps < max_sweeps:
            sweeps += self._descend(l1, l2, late, max_sweeps - sweeps)
        return sweeps

    def _patience(self) -> int:
        """Sweeps on the working set that cost as much as a pass over all columns."""
        used = np.count_nonzero(self._w if self._w.ndim == 1 else self._w[:, 0])
        return max(FEWEST, int(self._problem.cost / (len(self._taken) * used + 1)))

    def _begin(self) -> None:
        self._Q = np.zeros((0, 0))

    def _restart_from(self, w: np.ndarray) -> None:
        self._w = w

    def _all_slopes(self) -> np.ndarray:
        return self._problem.slopes(self._taken, self._w, self._target)

    def gap(self, l1: float, l2: float) -> float:
        """The duality gap: how far the objective can be above its minimum."""
        if l1 == 0.0 and l2 == 0.0:
            return self._distance()
        w = self.coef
        return duality_gap(w, self._slopes, self._q, self._p, self._square, l1, l2, self._positive)

    def _distance(self) -> float:
        """A substitute for the gap without a penalty, where no feasible dual point is known.

        The gain of one step in each coordinate.
        """
        slopes = np.where((self.coef == 0) & (self._slopes < 0), 0.0, self._slopes) if self._positive else self._slopes
        curves = self._problem.curves()
        curved = curves > 0
        return float(0.5 * (slopes[curved].T ** 2 / curves[curved]).sum())

    def _grow(self, level: float) -> bool:
        """Add columns whose slope is above `level` to the working set, the steepest first."""
        steep = self._steepness()
        new = np.flatnonzero((steep > level) & self._left)
        most = max(self._batch, int(np.count_nonzero(self._w if self._w.ndim == 1 else self._w[:, 0])))
        if len(new) > most:
            new = np.sort(new[np.argpartition(-steep[new], most)[:most]])
        if len(new):
            self._take(new)
        return len(new) > 0

    def _steepness(self) -> np.ndarray:
        return self._slopes if self._positive else np.abs(self._slopes)

    def _take(self, new: np.ndarray) -> None:
        self._inner_products(new)
        self._taken = np.concatenate([self._taken, new])
        self._left[new] = False
        self._w = np.concatenate([self._w, np.zeros((len(new), *self._w.shape[1:]))])

    def _inner_products(self, new: np.ndarray) -> None:
        m, end = len(self._taken), len(self._taken) + len(new)
        if end > len(self._Q):
            room = max(end, 2 * m, 64)
            wider = np.zeros((room, room))
            wider[:m, :m] = self._Q[:m, :m]
            self._Q = wider
        rows = self._problem.inner(self._taken, new)
        self._Q[m:end, :end] = rows
        self._Q[:m, m:end] = rows[:, :m].T

    def _descend(self, l1: float, l2: float, goal: float, max_sweeps: int) -> int:
        m = len(self._taken)
        q = self._q[self._taken]
        g = self._slopes[self._taken]
        history = np.empty((2, DEPTH + 1, m))
        past = Past(history[0], history[1], np.empty((DEPTH, DEPTH)), np.empty(DEPTH))
        if l1 == 0.0 and l2 == 0.0:
            goal = -goal  # no duality gap to stop at: until a sweep gains no more than that
        stop = np.zeros(1, np.int64)
        descent = partial(
            descend,
            self._Q,
            m,
            self._w,
            g,
            q,
            self._square,
            (np.full(m, l1), np.full(m, l2)),
            (float(l1), float(l2)),
            self._positive,
            (float(goal), max_sweeps),
            past,
            stop,
        )
        sweeps, _ = stoppable(descent, stop, long=max_sweeps * m * m > LONG)
        self._slopes[self._taken] = g
        return sweeps
