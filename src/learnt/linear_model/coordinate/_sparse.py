"""The elastic net over sparse columns: a coordinate costs its non-zeros, so the residual is kept, not inner products.

Columns are centred without becoming dense. With weights ω, column x̃ = √ω(x − x̄) and residual r̃ = a + s√ω:

    x̃ᵀr̃ = Σ √ωᵢ xᵢ aᵢ + s N x̄,      r̃ − δx̃:  a ← a − δ√ω x,  s ← s + δx̄,      N = Σω

since √ω is orthogonal to a centred residual; a changes only where the column has entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.linalg.sparse_quadratic import weights_of_changes
from learnt.linalg.weighted_columns import add_columns, compressed
from learnt.linear_model.coordinate._descent import FEWEST, Descent
from learnt.linear_model.coordinate._kernels import DEPTH, duality_gap

_ENTRIES = 1 << 16  # entries for one task


@kernel(reassociate=True)
def column_products(data, indices, indptr, columns, a, constant, mean, out):
    """x̃ᵀr̃ of some columns."""
    for k in range(columns.size):
        j = columns[k]
        total = constant * mean[j]
        for e in range(indptr[j], indptr[j + np.uint64(1)]):
            total += data[e] * a[indices[e]]
        out[k] = total


@kernel(reassociate=True)
def sweep_columns(csc, columns, curves, mean, weight, w, a, s, l1, l2, positive):
    """Every coordinate once; returns by how much the objective fell, to second order."""
    data, indices, indptr = csc
    fell, shift = 0.0, s[0]
    for k in range(columns.size):
        j = columns[k]
        curve, old, lo, hi = curves[j], w[k], indptr[j], indptr[j + np.uint64(1)]
        if curve + l2 <= 0.0:
            continue
        aim = shift * weight * mean[j] + curve * old
        for e in range(lo, hi):
            aim += data[e] * a[indices[e]]
        low = 0.0 if positive else min(aim + l1, 0.0)
        change = (max(aim - l1, 0.0) + low) / (curve + l2) - old
        if change != 0.0:
            w[k] = old + change
            fell += 0.5 * (curve + l2) * change * change
            for e in range(lo, hi):
                a[indices[e]] -= change * data[e]
            shift += change * mean[j]
    s[0] = shift
    return fell


class SparseColumns:
    """A sparse X and its targets, centred and weighted without becoming dense."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool) -> None:
        n, p = X.shape
        self.weight = float(n) if w is None else float(w.sum())
        ones = np.ones(n) if w is None else np.sqrt(w)
        Y = Y.astype(np.float64, copy=False)
        self.y_mean = (ones**2) @ Y / self.weight if center else np.zeros(Y.shape[1])
        self.target = np.asfortranarray((Y - self.y_mean) * ones[:, None])
        X = X.astype(np.float64) if w is None else sparse.diags_array(ones) @ X
        X = sparse.csc_array(X)
        self.parts, self._p = compressed(X), p
        self.x_mean = np.zeros(p)
        self.x_mean = self.products(ones, 0.0) / self.weight if center else self.x_mean
        self.q = np.column_stack([self.products(column, 0.0) for column in self.target.T])
        self.squares = np.einsum("ij,ij->j", self.target, self.target)
        squares = np.bincount(np.repeat(np.arange(p), np.diff(X.indptr)), X.data**2, minlength=p)
        self._curves = np.maximum(squares - self.weight * self.x_mean**2, 0.0)

    def restart(self) -> None:
        """There is no working set to empty."""

    def curves(self) -> np.ndarray:
        """‖x̃‖² of every column."""
        return self._curves

    def products(self, a: np.ndarray, s: float) -> np.ndarray:
        """x̃ᵀr̃ of every column."""
        every, out = np.arange(self._p, dtype=np.uint64), np.empty(self._p)
        grain = max(int(_ENTRIES * len(out) / max(len(self.parts[0]), 1)), 1)
        a, constant = np.ascontiguousarray(a), s * self.weight

        def fill(lo: int, hi: int) -> None:
            column_products(*self.parts, every[lo:hi], a, constant, self.x_mean, out[lo:hi])

        for_blocks(fill, len(out), grain=grain)
        return out


class SparseDescent(Descent):
    """One target over sparse columns."""

    _problem: SparseColumns

    def _begin(self) -> None:
        self._rest = self._problem.target[:, self._target].copy()
        self._shift = np.zeros(1)

    def _restart_from(self, w: np.ndarray) -> None:
        self._w = w
        add_columns(*self._problem.parts, self._taken.view(np.uint64), -w, self._rest)
        self._shift[0] += w @ self._problem.x_mean[self._taken]

    def _all_slopes(self) -> np.ndarray:
        return self._problem.products(self._rest, float(self._shift[0]))

    def _inner_products(self, new: np.ndarray) -> None:
        """No inner products are kept."""

    def _patience(self) -> int:
        """A sweep is a pass over some of the columns."""
        return max(FEWEST, self._p // max(len(self._taken), 1))

    def _descend(self, l1: float, l2: float, goal: float, max_sweeps: int) -> int:
        """Sweep until the duality gap over these columns is `goal` (without a penalty: until sweeps gain so little)."""
        problem, columns, w = self._problem, self._taken.view(np.uint64), self._w
        fixed = (tuple(problem.parts), columns, problem.curves(), problem.x_mean, problem.weight)
        q, g, steps = self._q[self._taken], np.empty(len(w)), np.empty((DEPTH, len(w)))
        for sweeps in range(1, max_sweeps + 1):
            last = sweeps % DEPTH == 0
            before = w.copy()
            fell = sweep_columns(*fixed, w, self._rest, self._shift, l1, l2, self._positive)
            if l1 == 0.0 and l2 == 0.0:
                if fell <= goal:
                    return sweeps
            elif fell <= 0.1 * goal or last:
                constant = float(self._shift[0]) * problem.weight
                column_products(*problem.parts, columns, self._rest, constant, problem.x_mean, g)
                if duality_gap(w, g, q, len(w), self._square, l1, l2, self._positive) <= goal:
                    return sweeps
            steps[(sweeps - 1) % DEPTH] = w - before
            if last:
                self._extrapolate(steps, l1, l2)
        return max_sweeps

    def _extrapolate(self, steps: np.ndarray, l1: float, l2: float) -> None:
        """Anderson extrapolation of the last sweeps, but not across 0, if the objective is lower there."""
        old, mean, weight = self._w, self._problem.x_mean[self._taken], self._problem.weight
        new = old - np.cumsum(weights_of_changes(steps))[:-1] @ steps[1:]
        new[new * old <= 0.0] = 0.0
        change, shift = np.zeros_like(self._rest), float((new - old) @ mean)
        add_columns(*self._problem.parts, self._taken.view(np.uint64), old - new, change)
        gain = l1 * np.sum(np.abs(old) - np.abs(new)) + 0.5 * l2 * ((old - new) @ (old + new))
        gain += weight * shift * (float(self._shift[0]) + 0.5 * shift)  # ‖r̃‖² = ‖a‖² − s²N
        if gain > change @ (self._rest + 0.5 * change):
            self._w[:] = new
            self._rest += change
            self._shift += shift
