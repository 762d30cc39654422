"""The inner loops of matching pursuit and forward stagewise regression, on rows of the Gram matrix G = XᵀX.

As in `linalg.pursuit_kernels`, they return where they need a row of G that is not computed yet, and resume when called
again; they also return when stop[0] is set.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.linalg.pursuit_kernels import DONE, SPENT

LONG = 1e9  # multiplications that may take longer than a fraction of a second


class Limits(NamedTuple):
    """What ends a matching pursuit."""

    columns: int  # that get a coefficient, at most
    steps: int
    residual: float  # ‖residual‖² that is small enough
    gain: float  # that a step must have, as a share of the energy


@kernel
def match(rows, where, square, energy, limits, positive, correlation, coef, progress, stop):
    """Matching pursuit: again and again the one column, and its one coefficient, that shorten the residual most.

    It ends by `limits`. progress = (steps, ‖residual‖², columns in use).
    """
    limit, max_iter, tol, floor = limits
    steps, left, used = progress[0], progress[1], progress[2]
    while True:
        progress[0], progress[1], progress[2] = steps, left, used
        if left <= tol or steps >= max_iter or atomic_load(stop, 0) != 0:
            return DONE
        j, best, by = -1, 0.0, 0.0
        for c in range(correlation.size):
            if square[c] > 0.0 and (used < limit or coef[c] != 0.0):
                move = correlation[c] / square[c]
                if positive and coef[c] + move < 0.0:
                    move = -coef[c]
                gain = move * (2.0 * correlation[c] - move * square[c])
                if gain > best:
                    j, best, by = c, gain, move
        if best <= floor * energy:
            return SPENT
        if where[j] < 0:
            return j
        before = coef[j] != 0.0
        coef[j] += by
        used += (1.0 if coef[j] != 0.0 else 0.0) - (1.0 if before else 0.0)
        left -= best
        steps += 1.0
        source = rows[where[j]]
        for c in range(correlation.size):
            correlation[c] -= by * source[c]


@kernel
def stagewise(rows, where, spread, weight, step, max_iter, correlation, coef, progress, features, moves, stop):
    """Forward stagewise: the standardised column most correlated with the residual, a small step, and again.

    It ends when no step of this size makes the residual shorter. progress = (steps,); what was done is in `features`
    and `moves`.
    """
    steps = int(progress[0])
    while True:
        progress[0] = steps
        if steps >= max_iter or atomic_load(stop, 0) != 0:
            return DONE
        j, best = -1, 0.5 * step * weight
        for c in range(correlation.size):
            if abs(correlation[c]) > best * spread[c] and spread[c] > 0.0:
                j, best = c, abs(correlation[c]) / spread[c]
        if j < 0:
            return SPENT
        if where[j] < 0:
            return j
        by = math.copysign(step / spread[j], correlation[j])
        coef[j] += by
        features[steps] = j
        moves[steps] = by
        steps += 1
        source = rows[where[j]]
        for c in range(correlation.size):
            correlation[c] -= by * source[c]
