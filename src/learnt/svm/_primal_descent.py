"""Coordinate descent on the columns for the squared hinge with the absolute penalty, where many have a coefficient.

A column's step is Newton's for its own coefficient, taken if the objective falls by it; else the step of a parabola
that lies above the objective everywhere. Columns at 0 that are far from leaving it sit out later passes.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.svm._design import Design
from learnt.svm._losses import Loss

_SEED = 20011
_ONCE = 25  # passes between looks at the gap


class PrimalDescent:
    """Passes over the columns, from w, whose scores are s; both are kept up to date."""

    def __init__(self, design: Design, loss: Loss, w: np.ndarray, s: np.ndarray) -> None:
        X = sparse.csc_matrix(design.X)
        if design.bias:
            X = sparse.hstack([X, np.full((design.n, 1), design.bias)], format="csc")
        self._columns = (
            X.data.astype(np.float64),
            X.indices.astype(np.int32).view(np.uint32),
            X.indptr.astype(np.int64),
        )
        self._sign, self._weight = loss.y, loss.weight
        self.w, self._slack = w.copy(), 1.0 - loss.y * s
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self._active = np.ones(w.size, dtype=np.bool_)

    @property
    def s(self) -> np.ndarray:
        return self._sign * (1.0 - self._slack)

    def passes(self) -> int:
        """Some passes, the first over all columns."""
        firm = np.inf
        self._active[:] = True
        for _ in range(_ONCE):
            order = self._random.permutation(np.flatnonzero(self._active))
            largest = column_pass(
                *self._columns, self._sign, self._weight, order, firm, self.w, self._slack, self._active
            )
            firm = min(largest, 1.0)
        return _ONCE


@kernel(reassociate=True)
def column_pass(data, indices, indptr, sign, weight, order, firm, w, slack, active):
    """One pass; `slack` is 1 − y s. Returns the largest distance of a slope from where it should be."""
    largest = 0.0
    for k in range(order.size):
        c = order[k]
        x = data[indptr[c] : indptr[c + 1]]
        i = indices[indptr[c] : indptr[c + 1]]
        slope, curve, most = 0.0, 0.0, 0.0
        for t in range(x.size):
            r = slack[i[t]]
            square = 2.0 * weight[i[t]] * x[t] * x[t]
            most += square
            if r > 0.0:
                slope -= 2.0 * weight[i[t]] * sign[i[t]] * x[t] * r
                curve += square
        old = w[c]
        if most == 0.0:
            w[c] = 0.0
            continue
        if old == 0.0:
            off = max(abs(slope) - 1.0, 0.0)
            if off == 0.0:
                if 1.0 - abs(slope) > firm:
                    active[c] = False
                continue
        else:
            off = abs(slope + (1.0 if old > 0.0 else -1.0))
        largest = max(largest, off)
        step = best_step(old, slope, max(curve, 1e-10 * most))
        change = abs(old + step) - abs(old)
        for t in range(x.size):
            r = slack[i[t]]
            new = max(r - step * sign[i[t]] * x[t], 0.0)
            r = max(r, 0.0)
            change += weight[i[t]] * (new - r) * (new + r)
        if change > 0.0:
            step = best_step(old, slope, most)
        if step != 0.0:
            w[c] = old + step
            for t in range(x.size):
                slack[i[t]] -= step * sign[i[t]] * x[t]
    return largest


@kernel
def best_step(old, slope, curve):
    """The step to the minimum of  slope d + curve d²/2 + |old + d|."""
    aim = old - slope / curve
    edge = 1.0 / curve
    new = aim - edge if aim > edge else (aim + edge if aim < -edge else 0.0)
    return new - old
