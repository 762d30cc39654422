"""The logistic-regression objective over rows, in variables of like size.

    F(coef, c) = Σᵢ wᵢ ℓ(yᵢ, coef xᵢ + c) + α/2 ‖coef‖²,      α = 1/C

is minimised over  u = scale · coef  and  u₀ = c + coef · shift:  the coefficients of centred columns, each in the unit
in which the objective curves by one. Columns may then be in euros or in millions without any solver noticing.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import to_numpy
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import run_tasks
from learnt.linear_model.logistic._curvature import Blocks, Cholesky
from learnt.linear_model.logistic._loss import CsrRows, Target, hessian, hessian_blocks, loss_gradient

_LANES = 8
ALL_AT_ONCE = 150  # variables up to which the classes are solved for together


class Problem:
    """Rows, what is to be predicted, and the penalty.

    `penalty` has one strength a coefficient, the intercept's (last) being 0, or infinity where there is none.
    `shift` and `scale`, of the d columns, are None where the rows are in their units already.
    """

    def __init__(self, rows: Rows, target: Target, penalty: np.ndarray, shift: Any = None, scale: Any = None) -> None:
        self.rows, self.target, self.penalty, self.shift, self.scale = rows, target, penalty, shift, scale
        self.shape = (target.n_outputs, rows.n_features + 1)
        self.fit_intercept = bool(np.isfinite(penalty[-1]))
        self._strength = penalty[:-1]

    def over(self, rows: Rows, target: Target) -> Problem:
        """The same problem over other rows."""
        return Problem(rows, target, self.penalty, self.shift, self.scale)

    def variables(self, theta: np.ndarray) -> np.ndarray:
        """Flat variables from coefficients and intercepts (K × (d + 1))."""
        u = theta.copy()
        if self.shift is not None:
            u[:, -1] += theta[:, :-1] @ self.shift
            u[:, :-1] *= self.scale
        if not self.target.binary:
            u -= u.mean(axis=0)  # only differences between classes count; the penalty is least where their mean is 0
        if not self.fit_intercept:
            u[:, -1] = 0.0
        return u.ravel()

    def coefficients(self, u: np.ndarray) -> np.ndarray:
        """Coefficients and intercepts (K × (d + 1)) from flat variables."""
        theta = u.reshape(self.shape)
        if self.shift is not None:
            theta = theta.copy()
            theta[:, :-1] /= self.scale
            theta[:, -1] -= theta[:, :-1] @ self.shift
        return theta

    def evaluate(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient."""
        theta = self.coefficients(u)
        loss, gradient = total(self.rows, loss_gradient, theta, self.target)
        gradient = to_numpy(gradient)
        pull = self._strength * theta[:, :-1]
        value = float(loss) + float(np.vdot(pull, theta[:, :-1])) / 2
        g = np.empty(self.shape)
        np.add(gradient[:, :-1], pull, out=g[:, :-1])
        g[:, -1] = gradient[:, -1] if self.fit_intercept else 0.0
        if self.shift is not None:
            g[:, :-1] -= np.outer(g[:, -1], self.shift)
            g[:, :-1] /= self.scale
        return value, g.ravel()

    def hessian(self, u: np.ndarray) -> np.ndarray:
        """The second derivative of the objective.

        With K classes, adding one vector to the coefficients of all changes nothing but the penalty, and no gradient
        points there: that direction is given a curvature like the others'.
        """
        (H,) = total(self.rows, hessian, self.coefficients(u), self.target, self.shift, self.scale)
        K, D = self.shape
        H = np.array(to_numpy(H)).reshape(K, D, K, D)
        for k in range(K):
            self._penalise(H[k, :, k, :])
        if not self.fit_intercept:  # what intercepts there might be stay out of the equations
            H[:, -1] = H[..., -1] = 0.0
            H[:, -1, :, -1] = np.eye(K)
        for j in range(D if K > 1 else 0):
            H[:, j, :, j] += H[:, j, :, j].trace() / K**2
        return H.reshape(K * D, K * D)

    def curvature(self, u: np.ndarray) -> Cholesky | Blocks:
        """The second derivative as equations; for many classes without what ties them to each other."""
        if self.all_at_once:
            return Cholesky(self.hessian(u))
        (parts,) = total(self.rows, hessian_blocks, self.coefficients(u), self.target, self.shift, self.scale)
        parts = np.array(to_numpy(parts))
        for H in parts:
            self._penalise(H)
        return Blocks(parts, self.shape[0])

    @property
    def all_at_once(self) -> bool:
        """Whether `curvature` is exact."""
        return self.target.binary or self.shape[0] * self.shape[1] <= ALL_AT_ONCE

    def _penalise(self, H: np.ndarray) -> None:
        strength = self._strength if self.scale is None else self._strength / self.scale**2
        H[range(strength.size), range(strength.size)] += strength
        if not self.fit_intercept:
            H[-1, :] = H[:, -1] = 0.0
            H[-1, -1] = 1.0


def total(rows: Any, statistic: Any, *state: Any) -> tuple:
    """`rows.sum`, without hand-overs where there is one block, and in few parts where the sums are wide."""
    if not rows.in_memory:
        return rows.sum(statistic, *state)
    if rows.n_rows <= rows.block_size:
        return statistic(Block(rows.X, rows.y, rows.w), *state)
    if lanes := sparse_lanes(rows):
        parts = run_tasks([partial(statistic, block, *state) for block in lanes], n_jobs=rows.n_jobs)
        return tuple(sum(column[1:], column[0]) for column in zip(*parts, strict=True))
    return rows.sum(statistic, *state)


def sparse_lanes(rows: Any) -> list[Block]:
    """A CSR matrix in few parts, whatever the number of threads: each part's gradient is as wide as the table."""
    X = rows.X
    if not sparse.issparse(X):
        return []
    # a power of two: even shares for as many threads
    n_lanes = 1 << int(np.log2(np.clip(X.nnz / (4 * rows.n_features), 2, _LANES))) if X.nnz > 1 << 16 else 1
    ends = np.searchsorted(X.indptr, np.linspace(0, X.nnz, n_lanes + 1)[1:-1])
    bounds = [0, *(int(end) for end in ends), rows.n_rows]
    lanes = []
    for lo, hi in pairwise(bounds):
        part = CsrRows(X.data, X.indices, X.indptr[lo : hi + 1], (hi - lo, rows.n_features))
        lanes.append(Block(part, rows.y[lo:hi], None if rows.w is None else rows.w[lo:hi], lo))
    return [lane for lane in lanes if lane.X.shape[0]]
