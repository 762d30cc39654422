"""Sequential minimal optimisation of one dual problem whose kernel matrix is in memory.

    min over α of  ½ αᵀQα + pᵀα   with  Q_st = s_s s_t K_st,  0 ≤ α ≤ upper,  Σ sα as it was at the start

is solved two variables at a time. What is kept of the gradient G = Qα + p is the score f = −sG: an α that may move
along its sign wants f large, one that may move against it wants f small, and the minimum is reached when no score of
the first kind is above one of the second. The first variable of a step is the highest score, the second the one that
lowers the objective most along with it. Variables come in two groups, the first `cut` and the rest; pairs are taken
inside a group, so that the sum of each group stays as it was: what the ν-problems ask for (elsewhere the second is
empty).

A step passes twice over all variables: new scores with their extremes, and the gain of each as second variable. Both
become vector instructions, because extremes are taken of integers in the order of the floats: a maximum of floats
would stay scalar. Gains are only chosen by: the reciprocal in them is good to a fiftieth, and the place of a variable
in its block takes the last bits of its gain. Scores have the precision of K. Half the bits take half the time, and are
enough where scores are given about the middle of those that matter, so that they round in proportion to the gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load

ROUNDING = 64 * 2.0**-52
_FLAT = np.float32(1e-12)  # curvature along a direction that has none, over the largest k(x, x)
_LOOK = 1024  # steps between two reads of the stop flag
_BLOCK = 256  # variables whose extremes are kept, so that an extreme is looked for in one block
_PLACE = np.int32(_BLOCK - 1)  # the bits of a gain that hold an index in a block
_RECIPROCAL = np.int32(0x7EF311C7)  # minus the bits of x: those of 1/x, an eighth off at most
_LARGEST = np.int32(2**31 - 1)
_TWO = np.float32(2.0)


class Workspace(NamedTuple):
    """Workspace of the solver; bounds are integer masks for extremes of scores and gains."""

    up: np.ndarray  # the largest integer if it may move along its sign, else the least; as wide as a score
    down: np.ndarray  # the least integer if it may move against its sign, else the largest; as wide as a score
    second: np.ndarray  # int32: the largest if it may move against its sign, else −1
    own: np.ndarray  # k(x, x)
    tops: np.ndarray  # of each block, the highest score that may rise
    lows: np.ndarray  # of each block, the lowest score that may fall
    wide: int | None  # not None if scores are in double precision


def workspace_for(score: np.ndarray) -> Workspace:
    """Workspace for as many variables as there are scores, or fewer."""
    n, wide = len(score), None if score.dtype == np.float32 else 1
    whole = np.int32 if wide is None else np.int64
    blocks = n // _BLOCK + 2
    bounds = np.empty(n, whole), np.empty(n, whole), np.empty(n, np.int32)
    return Workspace(*bounds, np.empty(n, score.dtype), np.empty(blocks, whole), np.empty(blocks, whole), wide)


@kernel(allocates=False)
def _in_order(x, wide):
    """An integer for a float such that integers compare as the floats do: of 64 bits, or of 32 if `wide` is None."""
    if wide is None:
        bits = np.float32(x).view(np.int32)
        return np.int32(bits ^ ((bits >> 31) & _LARGEST))
    long_bits = np.float64(x).view(np.int64)
    return long_bits ^ ((long_bits >> 63) & np.int64(2**63 - 1))


@kernel(allocates=False)
def _float_of(key, wide):
    """The float of an integer."""
    if wide is None:
        return np.int32(key ^ ((key >> 31) & _LARGEST)).view(np.float32)
    return np.int64(key ^ ((key >> 63) & np.int64(2**63 - 1))).view(np.float64)


@kernel(allocates=False)
def _advance(first, second, score, up, down, move, wide):
    """New scores of a block after a step along two kernel rows; its highest that may rise and lowest that may fall."""
    top, low = up.dtype.type(np.iinfo(up.dtype).min), up.dtype.type(np.iinfo(up.dtype).max)
    for t in range(len(score)):
        f = score[t] - move * (first[t] - second[t])
        score[t] = f
        key = _in_order(f, wide)
        top = max(top, min(key, up[t]))
        low = min(low, max(key, down[t]))
    return top, low


@kernel(allocates=False)
def _best_gain(row, own, score, may, i_own, top, scale, bend_scale):
    """The largest gain over a block of second variables, as the integer of a float32 that ends in its place.

    Scales bring differences of scores and curvatures near 1, so that single precision is enough to choose by.
    """
    best = np.int32(-1)
    for t in range(len(score)):
        ahead = np.float32((top - score[t]) * scale)
        bend = np.float32(((i_own - row[t]) + (own[t] - row[t])) * bend_scale)
        bend = bend if bend > _FLAT else _FLAT
        inverse = np.int32(_RECIPROCAL - np.float32(bend).view(np.int32)).view(np.float32)
        inverse *= _TWO - bend * inverse
        gain = np.float32(ahead * abs(ahead) * inverse).view(np.int32)
        best = max(best, min(np.int32((gain & ~_PLACE) | np.int32(t)), may[t]))
    return best


@kernel(allocates=False)
def _allow(t, sign, upper, alpha, work):
    """Note whether variable t may move along its sign and against it."""
    more, less = alpha[t] < upper[t], alpha[t] > 0.0
    if sign[t] < 0.0:
        more, less = less, more
    least, most = np.iinfo(work.up.dtype).min, np.iinfo(work.up.dtype).max
    if more:
        work.up[t] = most
    else:
        work.up[t] = least
    if less:
        work.down[t], work.second[t] = least, _LARGEST
    else:
        work.down[t], work.second[t] = most, -1


@kernel(allocates=False)
def _move(i, j, unclipped, sign, upper, alpha):
    """Move α of i along its sign and of j against it, to a bound at most; how far.

    Exactly at a bound where the step ends there, so that rounding leaves no α almost at it.
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


@kernel(allocates=False)
def _block(b, in_first, cut, n):
    """Where the variables of a block begin and end: those of the first `cut` are in blocks of their own."""
    lo = b * _BLOCK if b < in_first else cut + (b - in_first) * _BLOCK
    return lo, min(lo + _BLOCK, cut if b < in_first else n)


@kernel(allocates=False)
def _find(key, score, up, wide):
    """The first variable of a block whose score, where it may rise, is this one."""
    found = np.int32(len(score))
    for t in range(len(score)):
        found = min(found, np.int32(t) if min(_in_order(score[t], wide), up[t]) == key else found)
    return found


@kernel(allocates=False)
def smo(K, sign, cut, upper, alpha, score, work, tol, most, stop):
    """Move α, and the scores with it, until no pair of scores is more than tol apart; the steps, and how far they are.

    The first `cut` variables and the rest are a group each; K may have more rows and columns. The gap is at most tol
    where the minimum was reached, or at most what rounding leaves of the scores.
    """
    n, own, up, down, tops, lows, wide = len(alpha), work.own, work.up, work.down, work.tops, work.lows, work.wide
    largest = 0.0
    for t in range(n):
        own[t] = K[t, t]
        largest = max(largest, abs(own[t]))
        _allow(t, sign, upper, alpha, work)
    bend_scale = score.dtype.type(1.0 / largest if largest > 0.0 else 1.0)
    in_first = (cut + _BLOCK - 1) // _BLOCK  # blocks of the first variables
    blocks = in_first + (n - cut + _BLOCK - 1) // _BLOCK
    i, j, move, steps = 0, 0, 0.0, 0
    while True:
        shift = score.dtype.type(move)
        for b in range(blocks):
            lo, hi = _block(b, in_first, cut, n)
            tops[b], lows[b] = _advance(K[i, lo:hi], K[j, lo:hi], score[lo:hi], up[lo:hi], down[lo:hi], shift, wide)
        gap = -np.inf
        for g in range(2):
            b, low = _group_ends(g, in_first, blocks, tops, lows)
            if b > -1 and _movable(tops[b], lows[low], up):
                gap = max(gap, np.float64(_float_of(tops[b], wide)) - np.float64(_float_of(lows[low], wide)))
        if not gap > tol or steps >= most or (steps % _LOOK == 0 and atomic_load(stop, 0) != 0):
            return steps, gap
        scale = score.dtype.type(1.0 / gap)
        best, block = np.int32(-1), 0
        for g in range(2):
            b, low = _group_ends(g, in_first, blocks, tops, lows)
            if b < 0 or not _movable(tops[b], lows[low], up) or not tops[b] > lows[low]:
                continue
            lo, hi = _block(b, in_first, cut, n)
            first = lo + _find(tops[b], score[lo:hi], up[lo:hi], wide)
            for c in range(in_first if g else 0, blocks if g else in_first):
                if tops[b] > lows[c]:
                    lo, hi = _block(c, in_first, cut, n)
                    row, may = K[first, lo:hi], work.second[lo:hi]
                    gain = _best_gain(row, own[lo:hi], score[lo:hi], may, own[first], score[first], scale, bend_scale)
                    if gain > best:
                        best, i, block = gain, first, c
        j = _block(block, in_first, cut, n)[0] + (best & _PLACE)
        unclipped = np.float64(score[i]) - np.float64(score[j])
        shared = np.float64(K[i, j])
        bend = (np.float64(own[i]) - shared) + (np.float64(own[j]) - shared)
        move = _move(i, j, unclipped / max(bend, np.float64(_FLAT) * largest), sign, upper, alpha)
        _allow(i, sign, upper, alpha, work)
        _allow(j, sign, upper, alpha, work)
        steps += 1


@kernel(allocates=False)
def _movable(top, low, like):
    """Whether extremes belong to a variable, and are not the masks for none."""
    return top > np.iinfo(like.dtype).min and low < np.iinfo(like.dtype).max


@kernel(allocates=False)
def _group_ends(group, of_first, blocks, tops, lows):
    """The blocks of a group with the highest score that may rise and the lowest that may fall; −1 if it is empty."""
    lo, hi = (0, of_first) if group == 0 else (of_first, blocks)
    top, low = -1, -1
    for b in range(lo, hi):
        if top < 0 or tops[b] > tops[top]:
            top = b
        if low < 0 or lows[b] < lows[low]:
            low = b
    return top, low
