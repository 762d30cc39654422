"""A quadratic with absolute values over sparse columns: a step of Newton's method for losses with an L1 penalty.

    min over v, c of  ‖r‖²/2 + l1‖v‖₁ + l2‖v‖²/2,     r = u/√h − √h (change of the scores)

where u and h are what each row's loss falls by and curves by with its score. It is a lasso over the columns x√h, of
which a copy is made: one array is then all that sweeps read at random. A sweep over all columns says which have
coefficients; a few over these alone follow, and where they were heading is tried (Anderson); what that would bring
across 0 is left at 0.

Entries are visited in plain loops of each kernel: a slice of an array, or a call with one, costs more than a column.
Reference: Bertrand & Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.positive import keep_signs

_DEPTH, _ROUNDS = 5, 500  # sweeps over the columns with coefficients in a round, and rounds
_CLOSER = 0.3  # of what a sweep over all columns may gain at the end, for those between
_FLOOR = 1e-10  # of a row's weight: the least curvature
_STILL = 1e-26  # of ‖r‖²: rounding moves the objective by less
_SINGULAR = 1e-12
# Columns for a leap at most, how much faster dense arithmetic is than that with entries, and the density where it pays.
_FEW, _PACE, _THIN = 3000, 10, 0.2

Compressed = tuple[np.ndarray, np.ndarray, np.ndarray]


def minimize(
    parts: Compressed,
    columns: np.ndarray,
    v: np.ndarray,
    u: np.ndarray,
    h: np.ndarray,
    w: np.ndarray,
    l1: float,
    l2: float,
    intercept: bool,
    share: float,
) -> np.ndarray:
    """Change the coefficients v of these columns of a CSC matrix; returns the change of the intercept.

    `w` are the weights of the rows, of which h is taken to be a tiny share at least. Row numbers and bounds of columns
    are unsigned (`compressed`). It ends where a sweep gains no more than `share` of what the first one did.
    """
    data, indices, indptr = parts
    root = np.sqrt(np.maximum(h, _FLOOR * w))
    sizes = (indptr[columns + 1] - indptr[columns]).astype(np.int64)
    order = np.argsort(sizes, kind="stable")  # a processor guesses well how often a loop runs that ran so before
    starts = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.uint64)
    values, rows = np.empty(int(starts[-1])), np.empty(int(starts[-1]), dtype=np.uint32)
    curves = np.empty(len(columns))
    gather(data, indices, indptr, columns[order].astype(np.uint64), root, values, rows, curves)
    search = _Search((values, rows, starts), curves, root if intercept else np.empty(0), l1, l2, v[order], u / root)
    search.run(share)
    v[order] = search.v
    return search.constant


def compressed(X: Any) -> Compressed:
    """Values, places and bounds of a CSC or CSR matrix, as the kernels take them."""
    data, indices, indptr = X.data, X.indices, X.indptr
    # unsigned: a signed index would be tested every time for counting from the end
    places = np.require(indices, np.int32, ["C", "W"]).view(np.uint32)
    return np.require(data, data.dtype, ["C", "W"]), places, indptr.astype(np.uint64)


class _Search:
    """Coefficients and the residual that goes with them."""

    def __init__(
        self,
        columns: Compressed,
        curves: np.ndarray,
        root: np.ndarray,
        l1: float,
        l2: float,
        v: np.ndarray,
        r: np.ndarray,
    ) -> None:
        self._columns, self._root, self._l1, self._l2 = columns, root, float(l1), float(l2)
        self._curves = curves + l2
        self._inverse = np.divide(1.0, self._curves, out=np.zeros(len(v)), where=self._curves > 0.0)
        self._sizes = np.diff(columns[2]).astype(np.int64)
        self.v, self.r, self.constant = v, r, np.zeros(1)

    def sweep(self, which: np.ndarray, steps: np.ndarray) -> float:
        """Every coordinate of `which` once; by how much the objective fell."""
        fixed = (*self._columns, self._curves, self._inverse, self._root, self._l1, self._l2)
        return sweep(*fixed, which.view(np.uint64), self.v, self.constant, self.r, steps)

    def run(self, share: float) -> None:
        """Rounds until a sweep gains no more than `share` of what the first one did."""
        everything, goal, spent = np.arange(len(self.v)), 0.0, 0.0
        ignored, constants = np.empty(len(self.v)), np.empty(_DEPTH + 1)
        for k in range(_ROUNDS):
            fell = self.sweep(everything, ignored)
            if k and fell <= goal:
                return
            goal = goal if k else max(share * fell, _STILL * float(self.r @ self.r))
            own = np.flatnonzero(self.v)
            steps = np.empty((_DEPTH, len(own)))
            constants[0] = self.constant[0]
            for i in range(_DEPTH):
                fell = self.sweep(own, steps[i])
                constants[i + 1] = self.constant[0]
                if fell <= _CLOSER * goal:
                    break
            else:
                self._extrapolate(own, steps, np.diff(constants))
                m, entries = len(own), float(np.sum(self._sizes[own]))
                spent += _DEPTH * entries
                if m <= _FEW and spent > m**3 / (3 * _PACE) + min(entries**2 / len(self.r), len(self.r) * m**2 / _PACE):
                    self._leap(own[self.v[own] != 0.0])
                    spent = 0.0

    def _extrapolate(self, own: np.ndarray, steps: np.ndarray, shifts: np.ndarray) -> None:
        """Go where the last sweeps were heading."""
        back = np.cumsum(weights_of_changes(steps))[:-1]
        old = self.v[own]
        new = old - back @ steps[1:]
        new[new * old < 0.0] = 0.0
        self._go(own, new, -float(back @ shifts[1:]))

    def _leap(self, own: np.ndarray) -> None:
        """Go where the minimum is with the signs as they are: sweeps slide slowly between columns that are alike."""
        m, n, constant = len(own), len(self.r), self._root[:, None]
        values, rows, starts = self._columns
        X = sparse.csc_array((values, rows.view(np.int32), starts.astype(np.int64)), shape=(n, len(self.v)))
        A = X[:, own]
        if A.nnz > _THIN * n * m:
            A = np.hstack([A.toarray(), constant] if constant.size else [A.toarray()])
            H = A.T @ A
        else:
            A = sparse.hstack([A, constant], format="csc") if constant.size else A
            H = (A.T @ A).toarray()
        old = np.zeros(len(H))
        old[:m] = self.v[own]
        H[np.arange(m), np.arange(m)] += self._l2
        change = keep_signs(H, A.T @ self.r - self._l1 * np.sign(old) - self._l2 * old, old)
        self._go(own, old[:m] + change[:m], float(change[m:].sum()))

    def _go(self, own: np.ndarray, new: np.ndarray, shift: float) -> None:
        """To these coefficients and on by `shift` with the intercept, if the objective is lower there."""
        old, r = self.v[own], self.r.copy()
        add_columns(*self._columns, own.view(np.uint64), old - new, r)
        if len(self._root):
            r -= shift * self._root
        if self._value(new, r) < self._value(old, self.r):
            self.v[own], self.r = new, r
            self.constant += shift

    def _value(self, v: np.ndarray, r: np.ndarray) -> float:
        return float(0.5 * (r @ r) + self._l1 * np.abs(v).sum() + 0.5 * self._l2 * (v @ v))


def weights_of_changes(steps: np.ndarray) -> np.ndarray:
    """How to weigh the ends of some steps so that the steps cancel."""
    A = steps @ steps.T
    A.flat[:: len(A) + 1] += _SINGULAR * (np.trace(A) or 1.0)
    c = np.linalg.solve(A, np.ones(len(A)))
    return c / c.sum()


@kernel
def gather(data, indices, indptr, columns, root, values, rows, curves):
    """The columns x√h one after the other, and their squares."""
    place = np.uint64(0)
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            x = data[e] * root[indices[e]]
            values[place] = x
            rows[place] = indices[e]
            place += np.uint64(1)
            total += x * x
        curves[k] = total


@kernel(reassociate=True)
def sweep(values, rows, starts, curves, inverse, root, l1, l2, which, v, constant, r, steps):
    """Each coordinate of `which` set to its minimum, then the intercept; by how much the objective fell."""
    fell = 0.0
    for t in range(which.size):
        k = which[t]
        lo, hi, old = starts[k], starts[k + np.uint64(1)], v[k]
        aim = (curves[k] - l2) * old
        for e in range(lo, hi):
            aim += values[e] * r[rows[e]]
        new = (max(aim - l1, 0.0) + min(aim + l1, 0.0)) * inverse[k]
        step = new - old
        steps[t] = step
        if step != 0.0:
            v[k] = new
            fell += curves[k] * step * step
            for e in range(lo, hi):
                r[rows[e]] -= step * values[e]
    if root.size:
        slope, curve = 0.0, 0.0
        for n in range(r.size):
            slope += root[n] * r[n]
            curve += root[n] * root[n]
        step = slope / curve
        constant[0] += step
        for n in range(r.size):
            r[n] -= step * root[n]
        fell += curve * step * step
    return 0.5 * fell


@kernel
def add_columns(data, indices, indptr, columns, change, out):
    """out += Σ change · x over some columns of a CSC matrix, or rows of a CSR matrix."""
    for k in range(columns.size):
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            out[indices[e]] += change[k] * data[e]


@kernel(reassociate=True)
def column_dots(data, indices, indptr, columns, u, out):
    """out ← x·u of some columns of a CSC matrix, or rows of a CSR matrix."""
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + np.uint64(1)]):
            total += data[e] * u[indices[e]]
        out[k] = total
