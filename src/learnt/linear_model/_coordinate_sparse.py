"""The elastic net over sparse columns: a coordinate costs its non-zeros, so the residual is kept, not inner products.

Columns are centred without being filled. With weights ω, column x̃ = √ω(x − x̄) and residual r̃ = a + s√ω:

    x̃ᵀr̃ = Σ √ωᵢ xᵢ aᵢ + s N x̄,      r̃ − δx̃:  a ← a − δ√ω x,  s ← s + δx̄,      N = Σω

since √ω is orthogonal to a centred residual; a changes only where the column has entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.linear_model._coordinate_descent import FEWEST, Descent
from learnt.linear_model._coordinate_kernels import DEPTH, duality_gap, shrink, weights_of_past

_ENTRIES = 1 << 16  # that one task takes


@kernel(reassociate=True)
def column_product(data, indices, lo, hi, a):
    """Σ xᵢ aᵢ over the entries lo…hi of a column."""
    total = 0.0
    for e in range(lo, hi):
        total += data[e] * a[indices[e]]
    return total


@kernel
def column_products(data, indices, indptr, columns, a, constant, mean, lo, hi, out):
    """x̃ᵀr̃ of some columns."""
    for k in range(lo, hi):
        j = columns[k]
        out[k] = column_product(data, indices, indptr[j], indptr[j + 1], a) + constant * mean[j]


@kernel
def column_squares(data, indptr, weight, mean, out):
    """‖x̃‖² of every column."""
    for j in range(out.size):
        total = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            total += data[e] * data[e]
        out[j] = max(total - weight * mean[j] * mean[j], 0.0)


@kernel
def move(data, indices, indptr, j, change, mean, a, s):
    """The residual after a change of one coordinate."""
    for e in range(indptr[j], indptr[j + 1]):
        a[indices[e]] -= change * data[e]
    s[0] += change * mean[j]


@kernel
def sweep_columns(data, indices, indptr, columns, curves, mean, weight, w, a, s, l1, l2, positive):
    """Every coordinate once; returns by how much the objective fell, to second order."""
    fell = 0.0
    for k in range(columns.size):
        j = columns[k]
        curve = curves[j]
        if curve + l2 <= 0.0:
            continue
        slope = column_product(data, indices, indptr[j], indptr[j + 1], a) + s[0] * weight * mean[j]
        change = shrink(slope + curve * w[k], l1, positive) / (curve + l2) - w[k]
        if change != 0.0:
            w[k] += change
            move(data, indices, indptr, j, change, mean, a, s)
            fell += 0.5 * (curve + l2) * change * change
    return fell


@kernel(reassociate=True)
def total_value(w, a, s, weight, l1, l2):
    """The objective: ‖r̃‖² = ‖a‖² − s²N."""
    rest, size, square = 0.0, 0.0, 0.0
    for i in range(a.size):
        rest += a[i] * a[i]
    for k in range(w.size):
        size += abs(w[k])
        square += w[k] * w[k]
    return 0.5 * (rest - s * s * weight) + l1 * size + 0.5 * l2 * square


@kernel
def extrapolate_columns(data, indices, indptr, columns, mean, weight, w, a, s, l1, l2, positive, past, A, c):
    """Go where the last sweeps were heading, and come back if the objective is not lower there."""
    m = columns.size
    if not weights_of_past(past, m, c.size, A, c):
        return
    here = total_value(w, a, s[0], weight, l1, l2)
    there = past[0]
    for k in range(m):
        total = 0.0
        for i in range(DEPTH):
            total += c[i] * past[i + 1, k]
        if positive and total < 0.0:
            return
        there[k] = total
    for turn in range(2):
        for k in range(m):
            change = there[k] - w[k]
            there[k] = w[k]
            if change != 0.0:
                w[k] += change
                move(data, indices, indptr, columns[k], change, mean, a, s)
        if turn == 0 and total_value(w, a, s[0], weight, l1, l2) < here:
            return


@kernel
def descend_columns(
    data,
    indices,
    indptr,
    columns,
    curves,
    mean,
    weight,
    w,
    a,
    s,
    q,
    square,
    l1,
    l2,
    positive,
    goal,
    most,
    g,
    past,
    A,
    c,
):
    """Sweep until the duality gap over these columns is `goal` (without a penalty: until sweeps gain that little)."""
    sweeps, m, start = 0, columns.size, np.int64(0)  # a constant would have its callee compiled once more
    while sweeps < most:
        position = sweeps % DEPTH
        if position == 0:
            for k in range(m):
                past[0, k] = w[k]
        fell = sweep_columns(data, indices, indptr, columns, curves, mean, weight, w, a, s, l1, l2, positive)
        sweeps += 1
        if l1 == 0.0 and l2 == 0.0:
            if fell <= goal:
                break
        elif fell <= 0.1 * goal or position == DEPTH - 1:
            column_products(data, indices, indptr, columns, a, s[0] * weight, mean, start, m, g)
            if duality_gap(w, g, q, m, square, l1, l2, positive) <= goal:
                break
        for k in range(m):
            past[position + 1, k] = w[k]
        if position == DEPTH - 1:
            extrapolate_columns(data, indices, indptr, columns, mean, weight, w, a, s, l1, l2, positive, past, A, c)
    return sweeps


class SparseColumns:
    """A sparse X and its targets, centred and weighted without being filled."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool) -> None:
        n, p = X.shape
        self.weight = float(n) if w is None else float(w.sum())
        ones = np.ones(n) if w is None else np.sqrt(w)
        Y = Y.astype(np.float64, copy=False)
        self.y_mean = (ones**2) @ Y / self.weight if center else np.zeros(Y.shape[1])
        self.target = np.asfortranarray((Y - self.y_mean) * ones[:, None])
        X = X.astype(np.float64) if w is None else sparse.diags_array(ones) @ X
        self.X = sparse.csc_array(X)
        self.everything = np.arange(p)
        self.x_mean = np.zeros(p)
        self.x_mean = self.products(ones, 0.0) / self.weight if center else self.x_mean
        self.q = np.column_stack([self.products(column, 0.0) for column in self.target.T])
        self.squares = np.einsum("ij,ij->j", self.target, self.target)
        self._curves = np.empty(p)
        column_squares(self.X.data, self.X.indptr, self.weight, self.x_mean, self._curves)

    def restart(self) -> None:
        """Nothing was taken."""

    def curves(self) -> np.ndarray:
        """‖x̃‖² of every column."""
        return self._curves

    def products(self, a: np.ndarray, s: float) -> np.ndarray:
        """x̃ᵀr̃ of every column."""
        X, out = self.X, np.empty(self.X.shape[1])
        grain = max(int(_ENTRIES * len(out) / max(X.nnz, 1)), 1)
        a, constant = np.ascontiguousarray(a), s * self.weight

        def fill(lo: int, hi: int) -> None:
            column_products(X.data, X.indices, X.indptr, self.everything, a, constant, self.x_mean, lo, hi, out)

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
        X = self._problem.X
        for j, weight in zip(self._taken, w, strict=True):
            move(X.data, X.indices, X.indptr, j, weight, self._problem.x_mean, self._rest, self._shift)

    def _all_slopes(self) -> np.ndarray:
        return self._problem.products(self._rest, float(self._shift[0]))

    def _inner_products(self, new: np.ndarray) -> None:
        """None are kept."""

    def _patience(self) -> int:
        """A sweep is a pass over some of the columns."""
        return max(FEWEST, self._p // max(len(self._taken), 1))

    def _descend(self, l1: float, l2: float, goal: float, max_sweeps: int) -> int:
        X, m = self._problem.X, len(self._taken)
        return descend_columns(
            X.data,
            X.indices,
            X.indptr,
            self._taken,
            self._problem.curves(),
            self._problem.x_mean,
            self._problem.weight,
            self._w,
            self._rest,
            self._shift,
            self._q[self._taken],
            self._square,
            l1,
            l2,
            self._positive,
            goal,
            max_sweeps,
            np.empty(m),
            np.empty((DEPTH + 1, m)),
            np.empty((DEPTH, DEPTH)),
            np.empty(DEPTH),
        )
