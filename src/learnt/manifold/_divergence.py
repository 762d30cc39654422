"""KL(P ‖ Q) of pairs of rows and of their images, and its gradient.

With u = (1 + d²/ν)^(−(ν+1)/2), q = u/Z and Z = Σ u over all ordered pairs (Student's distribution of ν degrees),

    ∂KL/∂yᵢ = 2 (ν+1)/ν (Σⱼ pᵢⱼ (1 + d²ᵢⱼ/ν)⁻¹ (yᵢ − yⱼ) − Σⱼ uᵢⱼ (1 + d²ᵢⱼ/ν)⁻¹ (yᵢ − yⱼ) / Z)

The first sum pulls neighbours together, the second pushes all points apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import run_tasks
from learnt.manifold._barnes_hut import grow, repel

_ROWS, _LEAVES = 2048, 128  # of a task
_PAIRS = 1 << 18  # of a task of the exact sums


@kernel
def attract(starts, indices, P, Y, lo, hi, freedom, logs_too, force, logs):
    """Σⱼ p (1 + d²/ν)⁻¹ (y − yⱼ) over the neighbours of the rows lo…hi−1, and if wanted Σⱼ p log(1 + d²/ν)."""
    flat = Y.shape[1] == 2
    for i in range(lo, hi):
        x, y, fx, fy, fz, total = Y[i, 0], Y[i, 1], 0.0, 0.0, 0.0, 0.0
        z = 0.0 if flat else Y[i, 2]
        for k in range(starts[i], starts[i + 1]):
            j = indices[k]
            dx, dy = x - Y[j, 0], y - Y[j, 1]
            square = dx * dx + dy * dy
            dz = 0.0 if flat else z - Y[j, 2]
            heavy = 1.0 + (square + dz * dz) / freedom
            w = P[k] / heavy
            fx += w * dx
            fy += w * dy
            fz += w * dz
            if logs_too:
                total += P[k] * math.log(heavy)
        force[i, 0], force[i, 1] = fx, fy
        if not flat:
            force[i, 2] = fz
        logs[i] = total


@kernel
def all_pairs(P, Y, lo, hi, freedom, pull, push, sums, logs):
    """Both forces on the rows lo…hi−1 from all others, Σⱼ u and Σⱼ p log(1 + d²/ν)."""
    n, d = Y.shape
    power = 0.5 * (freedom + 1.0)
    for i in range(lo, hi):
        pull[i, :] = 0.0
        push[i, :] = 0.0
        total, log = 0.0, 0.0
        for j in range(n):
            if j == i:
                continue
            square = 0.0
            for c in range(d):
                gap = Y[i, c] - Y[j, c]
                square += gap * gap
            heavy = 1.0 + square / freedom
            u = 1.0 / heavy if freedom == 1.0 else heavy**-power
            total += u
            log += P[i, j] * math.log(heavy)
            a, b = P[i, j] / heavy, u / heavy
            for c in range(d):
                gap = Y[i, c] - Y[j, c]
                pull[i, c] += a * gap
                push[i, c] += b * gap
        sums[i], logs[i] = total, log


class Divergence:
    """`divergence(Y, exaggeration, value)`: KL (NaN unless `value`), and the gradient for P times `exaggeration`."""

    def __init__(self, P: sparse.csr_array, n_components: int, n_jobs: int | None) -> None:
        self.freedom = float(max(n_components - 1, 1))
        self.n, self.d, self.n_jobs = P.shape[0], n_components, n_jobs
        held = P.data[P.data > 0]
        self._constant, self._mass = float((held * np.log(held)).sum()), float(held.sum())
        self._P = P

    def __call__(self, Y: np.ndarray, exaggeration: float = 1.0, value: bool = True) -> tuple[float, np.ndarray]:
        pull, push, Z, logs = self._sums(Y, value)
        gradient = 2.0 * (self.freedom + 1.0) / self.freedom * (exaggeration * pull - push / Z)
        if not value:
            return math.nan, gradient
        return self._constant + 0.5 * (self.freedom + 1.0) * logs + self._mass * math.log(Z), gradient

    def _sums(self, Y: np.ndarray, value: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
        raise NotImplementedError

    def _run(self, tasks: list[Callable[[], Any]]) -> None:
        run_tasks(tasks, n_jobs=self.n_jobs, apart=True)


class BarnesHut(Divergence):
    """Images on a line, a plane or in space: pairs by a tree. An `angle` of 0 sums over all pairs."""

    def __init__(self, P: sparse.csr_array, n_components: int, angle: float, n_jobs: int | None = None) -> None:
        super().__init__(P, n_components, n_jobs)
        self.angle = angle
        self._starts, self._indices = P.indptr.astype(np.int64), P.indices.astype(np.int64)

    def _sums(self, Y: np.ndarray, value: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
        if self.d == 1:  # a line on a plane
            Y = np.column_stack([Y, np.zeros(self.n)])
        tree = grow(Y)
        pull, pushed, logs = np.empty(Y.shape), np.empty(tree.points.shape), np.empty(self.n)
        leaves = len(tree.leaves)
        sums = np.empty(leaves)
        tasks: list[Callable[[], Any]] = [
            partial(repel, tree, self.angle, lo, min(lo + _LEAVES, leaves), pushed, sums)
            for lo in range(0, leaves, _LEAVES)
        ]
        graph = self._starts, self._indices, self._P.data
        tasks += [
            partial(attract, *graph, Y, lo, min(lo + _ROWS, self.n), self.freedom, value, pull, logs)
            for lo in range(0, self.n, _ROWS)
        ]
        self._run(tasks)
        push = np.empty(Y.shape)
        push[tree.order] = pushed.T
        tiny = float(np.finfo(np.float64).tiny)
        return pull[:, : self.d], push[:, : self.d], max(float(sums.sum()), tiny), float(logs.sum())


class Exact(Divergence):
    """Any number of components: all pairs."""

    def __init__(self, P: sparse.csr_array, n_components: int, n_jobs: int | None = None) -> None:
        super().__init__(P, n_components, n_jobs)
        self._dense = P.toarray()

    def _sums(self, Y: np.ndarray, value: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
        pull, push, sums, logs = np.empty(Y.shape), np.empty(Y.shape), np.empty(self.n), np.empty(self.n)
        grain = max(1, _PAIRS // self.n)
        self._run(
            [
                partial(all_pairs, self._dense, Y, lo, min(lo + grain, self.n), self.freedom, pull, push, sums, logs)
                for lo in range(0, self.n, grain)
            ]
        )
        tiny = float(np.finfo(np.float64).tiny)
        return pull, push, max(float(sums.sum()), tiny), float(logs.sum())
