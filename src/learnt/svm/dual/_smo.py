"""Sequential minimal optimisation of one dual problem whose kernel matrix is at hand.

    min over α of  ½ αᵀQα + pᵀα   with  Q_st = s_s s_t K_st,  0 ≤ α ≤ upper,  Σ sα as it was at the start

is solved two variables at a time. What is kept of the gradient G = Qα + p is the score f = −sG: an α that may move
along its sign wants f large, one that may move against it wants f small, and the minimum is reached when no score of
the first kind is above one of the second. The first variable of a step is the highest score, the second the one that
lowers the objective most along with it. Where `group` has two values, pairs are taken inside a group, so that the sum
of each group stays as it was: what the ν-problems ask for.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.intrinsics import atomic_load
from learnt.engine.kernel import kernel

_FLAT = 1e-12  # curvature along a direction that has none
ROUNDING = 64 * 2.0**-52
_LOOK = 1024  # steps between two looks at the stop word


@kernel
def smo(K, sign, group, upper, alpha, score, tol, most, stop):
    """Move α, and the scores with it, until no pair of scores is more than tol apart; the steps, and how far they are.

    The gap is at most tol where the minimum was reached, or at most what rounding leaves of the scores.
    """
    n = len(alpha)
    top, low = np.empty(2), np.empty(2)
    first = np.empty(2, np.int64)
    own = np.empty(n)  # k(x, x) side by side: in the matrix each has a cache line of its own
    for t in range(n):
        own[t] = K[t, t]
    steps, gap = 0, np.inf
    for t in range(n):  # less than rounding cannot be asked for
        tol = max(tol, ROUNDING * abs(score[t]))
    while True:
        for g in range(2):
            top[g], low[g], first[g] = -np.inf, np.inf, -1
        for t in range(n):
            f, g = score[t], group[t]
            may_rise, may_fall = alpha[t] < upper[t], alpha[t] > 0.0
            if sign[t] < 0.0:
                may_rise, may_fall = may_fall, may_rise
            if may_rise and f > top[g]:
                top[g], first[g] = f, t
            if may_fall and f < low[g]:
                low[g] = f
        gap = max(top[0] - low[0], top[1] - low[1])
        if not gap > tol or steps >= most or (steps % _LOOK == 0 and atomic_load(stop, 0) != 0):
            return steps, gap
        best, second = -1.0, -1
        for t in range(n):
            g = group[t]
            ahead = top[g] - score[t]
            if ahead <= 0.0 or first[g] < 0:
                continue
            if (alpha[t] > 0.0) if sign[t] > 0.0 else (alpha[t] < upper[t]):
                i = first[g]
                bend = max(own[i] + own[t] - 2.0 * K[i, t], _FLAT)
                gain = ahead * ahead / bend
                if gain > best:
                    best, second = gain, t
        i, j = first[group[second]], second
        move = (top[group[second]] - score[j]) / max(own[i] + own[j] - 2.0 * K[i, j], _FLAT)
        most_i = upper[i] - alpha[i] if sign[i] > 0.0 else alpha[i]
        most_j = alpha[j] if sign[j] > 0.0 else upper[j] - alpha[j]
        # Exactly at a bound where the step ends there, so that rounding leaves no α just beside it.
        if move >= most_i and most_i <= most_j:
            move = most_i
            alpha[i] = upper[i] if sign[i] > 0.0 else 0.0
            alpha[j] -= sign[j] * move
            alpha[j] = min(max(alpha[j], 0.0), upper[j])
        elif move >= most_j:
            move = most_j
            alpha[j] = 0.0 if sign[j] > 0.0 else upper[j]
            alpha[i] += sign[i] * move
            alpha[i] = min(max(alpha[i], 0.0), upper[i])
        else:
            alpha[i] += sign[i] * move
            alpha[j] -= sign[j] * move
        for t in range(n):
            score[t] -= move * (K[i, t] - K[j, t])
        steps += 1
