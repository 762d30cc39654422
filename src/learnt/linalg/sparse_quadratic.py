"""The minimum of a quadratic with an L1 penalty: the subproblem of Newton's method for losses with such a penalty.

    min over v, c of  ‖r‖²/2 + l1‖v‖₁ + l2‖v‖²/2,     r = u/√h − √h (change of the scores)

where −u and h are the first and second derivatives of each row's loss by its score. It is a lasso over the columns x√h,
which are copied, so that r is all that sweeps read at random; `Entries` holds those of a sparse table, `Table` those of
a dense one. A sweep over all columns finds the active set; a few sweeps over it follow, then an extrapolation
(Anderson), in which coefficients that would cross 0 stay at 0.

Reference: Bertrand & Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.linalg.positive import keep_signs
from learnt.linalg.weighted_columns import Compressed, Entries, Table

_DEPTH, _ROUNDS = 5, 100  # sweeps over the active set in a round, and the most rounds
_CLOSER = 0.3  # tolerance of sweeps over the active set, as a share of that of sweeps over all columns
_FLOOR = 1e-10  # the least curvature, as a share of a row's weight
_STILL = 1e-26  # as a share of ‖r‖²: smaller changes of the objective are rounding
_SINGULAR = 1e-12
_LONG = 60_000  # entries of a column, beyond which sorting columns by size does not help
# the most columns for `_solve_signs`, and how much faster dense arithmetic is than that with entries
_FEW, _PACE = 3000, 10


def minimize(
    columns: Entries | Table,
    v: np.ndarray,
    u: np.ndarray,
    root: np.ndarray,
    l1: float,
    l2: float,
    intercept: bool,
    share: float,
) -> float:
    """Update the coefficients v of columns scaled by `root`; returns the change of the intercept.

    It ends where a sweep gains no more than `share` of what the first one did.
    """
    search = _Search(columns, root if intercept else np.empty(0), l1, l2, v, u / root)
    search.run(share)
    return float(search.constant[0])


def curvature_root(h: np.ndarray, w: np.ndarray) -> np.ndarray:
    """√h of rows with weights w, where h is at least a tiny share of w."""
    return np.sqrt(np.maximum(h, _FLOOR * w))


def sparse_step(
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
) -> tuple[np.ndarray, float, np.ndarray]:
    """New coefficients of some columns of a CSC matrix (see `compressed`); by what intercept and scores change."""
    sizes = np.minimum(parts[2][columns + 1] - parts[2][columns], np.uint64(_LONG)).astype(np.uint16)
    order = np.argsort(sizes, kind="stable")  # loops of equal length help the processor's branch prediction
    root, old = curvature_root(h, w), v[order]
    entries, new, along, out = Entries(parts, columns[order], root), old.copy(), np.zeros(len(u)), np.empty_like(old)
    shift = minimize(entries, new, u, root, l1, l2, intercept, share)
    entries.add(np.flatnonzero(new != old), (new - old)[new != old], along)
    out[order] = new
    return out, shift, along / root + shift


class _Search:
    """Coefficients and the residual that goes with them."""

    def __init__(
        self, columns: Entries | Table, root: np.ndarray, l1: float, l2: float, v: np.ndarray, r: np.ndarray
    ) -> None:
        self._columns, self._root, self._l1, self._l2 = columns, root, float(l1), float(l2)
        self._curves = columns.squares + l2
        self._inverse = np.divide(1.0, self._curves, out=np.zeros(len(v)), where=self._curves > 0.0)
        self.v, self.r, self.constant = v, r, np.zeros(1)

    def sweep(self, which: np.ndarray, steps: np.ndarray) -> float:
        """Every coordinate of `which` once, and the intercept; by how much the objective fell."""
        fixed = (self._curves, self._inverse, self._l1, self._l2)
        fell = self._columns.sweep(*fixed, which.view(np.uint64), self.v, self.r, steps)
        return fell + level(self._root, self.constant, self.r) if len(self._root) else fell

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
                spent += _DEPTH * float(np.sum(self._columns.sizes[own]))
                if spent > self._solve_cost(own):
                    self._solve_signs(own[self.v[own] != 0.0])
                    spent = 0.0

    def _extrapolate(self, own: np.ndarray, steps: np.ndarray, shifts: np.ndarray) -> None:
        """Try Anderson's extrapolation of the last sweeps."""
        back = np.cumsum(weights_of_changes(steps))[:-1]
        old = self.v[own]
        new = old - back @ steps[1:]
        new[new * old <= 0.0] = 0.0
        self._accept(own, new, -float(back @ shifts[1:]))

    def _solve_signs(self, own: np.ndarray) -> None:
        """Try the minimum for the present signs, by a linear system: sweeps converge slowly on correlated columns."""
        m, A, constant = len(own), self._columns.matrix(own), self._root[:, None]
        if isinstance(A, np.ndarray):
            A = np.hstack([A, constant]) if constant.size else A
            H = A.T @ A
        else:
            A = sparse.hstack([A, constant], format="csc") if constant.size else A
            H = (A.T @ A).toarray()
        old = np.zeros(len(H))
        old[:m] = self.v[own]
        H[np.arange(m), np.arange(m)] += self._l2
        change = keep_signs(H, A.T @ self.r - self._l1 * np.sign(old) - self._l2 * old, old)
        self._accept(own, old[:m] + change[:m], float(change[m:].sum()))

    def _solve_cost(self, own: np.ndarray) -> float:
        """The cost of `_solve_signs`, in cells that sweeps could read."""
        m, n, cells = len(own), len(self.r), float(np.sum(self._columns.sizes[own]))
        return m**3 / (3 * _PACE) + min(cells**2 / n, n * m**2 / _PACE) if m <= _FEW else np.inf

    def _accept(self, own: np.ndarray, new: np.ndarray, shift: float) -> None:
        """Accept these coefficients and add `shift` to the intercept, if that lowers the objective."""
        old, change = self.v[own], np.zeros_like(self.r)
        self._columns.add(own, old - new, change)
        if len(self._root):
            change -= shift * self._root
        gain = self._l1 * np.sum(np.abs(old) - np.abs(new)) + 0.5 * self._l2 * ((old - new) @ (old + new))
        if gain > change @ (self.r + 0.5 * change):  # from differences, since values of the objective would cancel
            self.v[own] = new
            self.r += change
            self.constant += shift


def weights_of_changes(steps: np.ndarray) -> np.ndarray:
    """Weights of the iterates such that the weighted steps cancel (Anderson)."""
    A = steps @ steps.T
    A.flat[:: len(A) + 1] += _SINGULAR * (np.trace(A) or 1.0)
    c = np.linalg.solve(A, np.ones(len(A)))
    return c / c.sum()


@kernel(reassociate=True)
def level(root, constant, r):
    """Minimise over the intercept; returns by how much the objective fell."""
    slope, curve = 0.0, 0.0
    for n in range(r.size):
        slope += root[n] * r[n]
        curve += root[n] * root[n]
    step = slope / curve
    constant[0] += step
    for n in range(r.size):
        r[n] -= step * root[n]
    return 0.5 * curve * step * step
