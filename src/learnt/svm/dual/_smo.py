"""Sequential minimal optimisation of one dual problem whose kernel matrix is at hand.

    min over α of  ½ αᵀQα + pᵀα   with  Q_st = s_s s_t K_st,  0 ≤ α ≤ upper,  Σ sα as it was at the start

is solved two variables at a time. What is kept of the gradient G = Qα + p is the score f = −sG: an α that may move
along its sign wants f large, one that may move against it wants f small, and the minimum is reached when no score of
the first kind is above one of the second. The first variable of a step is the highest score, the second the one that
lowers the objective most along with it. Variables come in two groups, the first `cut` and the rest; pairs are taken
inside a group, so that the sum of each group stays as it was: what the ν-problems ask for (elsewhere the second is
empty).

A step passes twice over all variables: the gain of each as second variable, and new scores with their extremes. Both
become vector instructions, because extremes are taken of integers in the order of the floats: a maximum of floats
would stay scalar (4.4 ns a variable and pass against 1.6, x86_64 with AVX-512).
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

ROUNDING = 64 * 2.0**-52
_FLAT = np.float32(1e-12)  # curvature along a direction that has none, over the largest k(x, x)
_LOOK = 1024  # steps between two looks at the stop word
_BLOCK = 256  # variables whose extremes are kept, so that an extreme is looked for in one block
_MAGNITUDE = np.int64(2**63 - 1)  # all bits of a float but its sign


@kernel
def _in_order(x):
    """An integer for a float such that integers compare as the floats do."""
    bits = np.float64(x).view(np.int64)
    return bits ^ ((bits >> 63) & _MAGNITUDE)


@kernel
def _float_of(key):
    return np.int64(key ^ ((key >> 63) & _MAGNITUDE)).view(np.float64)


@kernel
def _advance(first, second, score, up, down, move):
    """New scores of a block after a step along two kernel rows; its highest that may rise and lowest that may fall."""
    top, low = -_MAGNITUDE, _MAGNITUDE
    for t in range(len(score)):
        f = score[t] - move * (np.float64(first[t]) - np.float64(second[t]))
        score[t] = f
        top = max(top, _in_order(f + up[t]))
        low = min(low, _in_order(f + down[t]))
    return top, low


@kernel
def _best_gain(row, own, score, down, i_own, top, scales):
    """The largest gain over a block of second variables, as the integer of a float32; nothing is gained at 0.

    `scales` brings differences of scores and curvatures near 1, so that single precision is enough to choose by.
    """
    best = np.int32(0)
    for t in range(len(score)):
        ahead = np.float32((top - score[t] - down[t]) * scales[0])
        bend = np.float32((i_own + own[t] - 2.0 * row[t]) * scales[1])
        bend = bend if bend > _FLAT else _FLAT
        best = max(best, np.float32(ahead * abs(ahead) / bend).view(np.int32))
    return best


@kernel
def _second(row, own, score, down, i_own, top, scales):
    """The second variable of most gain in a block."""
    best, place = -1.0, -1
    for t in range(len(score)):
        ahead = (top - score[t] - down[t]) * scales[0]
        if ahead > 0.0:
            gain = ahead * ahead / max((i_own + own[t] - 2.0 * row[t]) * scales[1], np.float64(_FLAT))
            if gain > best:
                best, place = gain, t
    return place


@kernel
def _allow(t, sign, upper, alpha, up, down):
    """Whether variable t may move along its sign (up is 0, else −∞) and against it (down is 0, else ∞)."""
    more, less = alpha[t] < upper[t], alpha[t] > 0.0
    if sign[t] < 0.0:
        more, less = less, more
    up[t] = 0.0 if more else -np.inf
    down[t] = 0.0 if less else np.inf


@kernel
def _move(i, j, unclipped, sign, upper, alpha):
    """Move α of i along its sign and of j against it, to a bound at most; how far.

    Exactly at a bound where the step ends there, so that rounding leaves no α just beside it.
    """
    most_i = upper[i] - alpha[i] if sign[i] > 0.0 else alpha[i]
    most_j = alpha[j] if sign[j] > 0.0 else upper[j] - alpha[j]
    if unclipped >= most_i and most_i <= most_j:
        alpha[i] = upper[i] if sign[i] > 0.0 else 0.0
        alpha[j] = min(max(alpha[j] - sign[j] * most_i, 0.0), upper[j])
        return most_i
    if unclipped >= most_j:
        alpha[j] = 0.0 if sign[j] > 0.0 else upper[j]
        alpha[i] = min(max(alpha[i] + sign[i] * most_j, 0.0), upper[i])
        return most_j
    alpha[i] += sign[i] * unclipped
    alpha[j] -= sign[j] * unclipped
    return unclipped


@kernel
def smo(K, sign, cut, upper, alpha, score, tol, most, stop):
    """Move α, and the scores with it, until no pair of scores is more than tol apart; the steps, and how far they are.

    The gap is at most tol where the minimum was reached, or at most what rounding leaves of the scores.
    """
    n = len(alpha)
    own, up, down = np.empty(n), np.empty(n), np.empty(n)
    largest = 0.0
    for t in range(n):
        own[t] = K[t, t]
        largest = max(largest, abs(own[t]))
        tol = max(tol, ROUNDING * abs(score[t]))  # less than rounding cannot be asked for
        _allow(t, sign, upper, alpha, up, down)
    scales = np.array([1.0, 1.0 / largest if largest > 0.0 else 1.0])
    in_first = (cut + _BLOCK - 1) // _BLOCK  # blocks of the first group
    blocks = in_first + (n - cut + _BLOCK - 1) // _BLOCK
    start = np.empty(blocks + 1, np.int64)
    for b in range(blocks):
        start[b] = b * _BLOCK if b < in_first else cut + (b - in_first) * _BLOCK
    start[blocks] = n
    tops, lows = np.empty(blocks, np.int64), np.empty(blocks, np.int64)
    i, j, move, steps = 0, 0, 0.0, 0
    while True:
        for b in range(blocks):
            lo, hi = start[b], min(start[b] + _BLOCK, cut if b < in_first else n)
            tops[b], lows[b] = _advance(K[i, lo:hi], K[j, lo:hi], score[lo:hi], up[lo:hi], down[lo:hi], move)
        gap = -np.inf
        for g in range(2):
            b, low = _group_ends(g, in_first, tops, lows)
            if b > -1:
                gap = max(gap, _float_of(tops[b]) - _float_of(lows[low]))
        if not gap > tol or steps >= most or (steps % _LOOK == 0 and atomic_load(stop, 0) != 0):
            return steps, gap
        scales[0] = 1.0 / gap
        best, block, highest = np.int32(-1), 0, 0.0
        for g in range(2):
            b, low = _group_ends(g, in_first, tops, lows)
            if b < 0 or not tops[b] > lows[low]:
                continue
            top, first = _float_of(tops[b]), start[b]
            while score[first] + up[first] != top:
                first += 1
            for c in range(in_first if g else 0, blocks if g else in_first):
                if tops[b] > lows[c]:
                    lo, hi = start[c], min(start[c] + _BLOCK, cut if c < in_first else n)
                    row = K[first, lo:hi]
                    gain = _best_gain(row, own[lo:hi], score[lo:hi], down[lo:hi], own[first], top, scales)
                    if gain > best:
                        best, i, block, highest = gain, first, c, top
        lo, hi = start[block], min(start[block] + _BLOCK, cut if block < in_first else n)
        j = lo + _second(K[i, lo:hi], own[lo:hi], score[lo:hi], down[lo:hi], own[i], highest, scales)
        unclipped = highest - score[j]
        bend = max((own[i] + own[j] - 2.0 * K[i, j]) * scales[1], np.float64(_FLAT)) / scales[1]
        move = _move(i, j, unclipped / bend, sign, upper, alpha)
        _allow(i, sign, upper, alpha, up, down)
        _allow(j, sign, upper, alpha, up, down)
        steps += 1


@kernel
def _group_ends(group, in_first, tops, lows):
    """The blocks of a group with the highest score that may rise and the lowest that may fall; −1 if it is empty."""
    lo, hi = (0, in_first) if group == 0 else (in_first, len(tops))
    top, low = -1, -1
    for b in range(lo, hi):
        if top < 0 or tops[b] > tops[top]:
            top = b
        if low < 0 or lows[b] < lows[low]:
            low = b
    return top, low
