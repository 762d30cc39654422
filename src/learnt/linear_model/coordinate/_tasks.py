"""The elastic net of several targets that share their columns:  ½‖Y − XW‖² + l1 Σⱼ‖Wⱼ‖ + ½ l2‖W‖²,  Wⱼ a row of W.

A column has weights for all targets or for none. The same working set as for one target; a coordinate is a row.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.linear_model.coordinate._descent import Descent
from learnt.linear_model.coordinate._kernels import LONG


@kernel
def sweep_rows(Q, m, n_tasks, W, G, l1, l2, z):
    """Every row once."""
    for k in range(m):
        curve = Q[k, k] + l2
        if curve <= 0.0:
            continue
        size, here = 0.0, False
        for t in range(n_tasks):
            z[t] = G[k, t] + Q[k, k] * W[k, t]
            size += z[t] * z[t]
            here = here or W[k, t] != 0.0
        size = size**0.5
        if not here and size <= l1:
            continue
        share = max(1.0 - l1 / size, 0.0) / curve if size > 0.0 else 0.0
        for t in range(n_tasks):
            change = share * z[t] - W[k, t]
            W[k, t] += change
            z[t] = change
        for i in range(m):
            factor = Q[k, i]
            for t in range(n_tasks):
                G[i, t] -= factor * z[t]


@kernel
def tasks_gap(W, G, q, m, n_tasks, square, l1, l2):
    """The duality gap; as for one target with the length of a row in place of the absolute value."""
    wq, wg, ww, size, top, apart = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(m):
        length, slope, steep = 0.0, 0.0, 0.0
        for t in range(n_tasks):
            wq += W[k, t] * q[k, t]
            wg += W[k, t] * G[k, t]
            length += W[k, t] * W[k, t]
            slope += (G[k, t] - l2 * W[k, t]) ** 2
            steep += G[k, t] * G[k, t]
        ww += length
        size += length**0.5
        top = max(top, slope**0.5)
        beyond = max(steep**0.5 - l1, 0.0)
        apart += beyond * beyond
    rest = max(square - wq - wg, 0.0) + l2 * ww
    share = 1.0 if top <= l1 else l1 / top
    gap = 0.5 * rest * (1.0 - share) ** 2 + l1 * size + share * (l2 * ww - wg)
    if l2 > 0.0:
        gap = min(gap, l1 * size + 0.5 * l2 * ww - wg + 0.5 * apart / l2)
    return max(gap, 0.0)


@kernel
def descend_rows(Q, W, G, q, square, l1, l2, goal, max_sweeps, z, stop):
    """Sweep until the duality gap is `goal`, or stop[0] is set; returns the number of sweeps."""
    sweeps, (m, n_tasks) = 0, W.shape
    while sweeps < max_sweeps and atomic_load(stop, 0) == 0:
        sweep_rows(Q, m, n_tasks, W, G, l1, l2, z)
        sweeps += 1
        if tasks_gap(W, G, q, m, n_tasks, square, l1, l2) <= goal:
            break
    return sweeps


class TaskDescent(Descent):
    """All targets together."""

    def __init__(self, problem: Any, start: np.ndarray | None = None) -> None:
        super().__init__(problem, slice(None), False, start)

    def _steepness(self) -> np.ndarray:
        return np.linalg.norm(self._slopes, axis=1)

    def gap(self, l1: float, l2: float) -> float:
        """The duality gap: how far the objective can be above its minimum."""
        if l1 == 0.0 and l2 == 0.0:
            return self._distance()
        p, n_tasks = self._q.shape
        return tasks_gap(self.coef, self._slopes, self._q, p, n_tasks, self._square, l1, l2)

    def _descend(self, l1: float, l2: float, goal: float, max_sweeps: int) -> int:
        m, n_tasks = self._w.shape
        q, G = self._q[self._taken], self._slopes[self._taken]
        stop = np.zeros(1, np.int64)
        descent = partial(
            descend_rows, self._Q, self._w, G, q, self._square, l1, l2, goal, max_sweeps, np.empty(n_tasks), stop
        )
        sweeps = stoppable(descent, stop, long=max_sweeps * m * m * n_tasks > LONG)
        self._slopes[self._taken] = G
        return sweeps
