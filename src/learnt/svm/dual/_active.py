"""One dual problem by active sets: those of its variables that break the optimality conditions most, and no others.

Most variables of a machine end at a bound that they never leave. `_smo` solves the problem in the active ones, whose
part of the kernel matrix is copied side by side, so that a step passes over a few dozen variables and not over all;
then the scores of all follow, in double precision, and the next set is chosen. The set has room for twice the
variables between their bounds: where they do not all fit in, sets undo what others did.

With the linear kernel no matrix of all rows is needed: the active ones are multiplied with one another, and scores
follow by a product of all rows with the change of the plane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.svm.dual._rows import add_rows
from learnt.svm.dual._smo import ROUNDING, Workspace, smo, workspace_for

_FEWEST = 48  # variables of an active set, at least
_SET_RATIO = 2  # size of the active set over the number of variables between their bounds
_SHARE = 0.1  # of the gap is left inside an active set
_SINGLE = 0.75  # of the gap asked for is left where kernels are in single precision, since they round
_APART = 16  # entries more in a row of their kernel matrix, or a thousand rows share the same lines of a cache
_BINS = 64  # steps between the lowest and the highest score, by which violators are ranked
_STUCK = 3  # sets one after the other in which nothing moved
_MOST_STEPS = 100_000  # in one set


class Entries(NamedTuple):
    """Where kernels are read from."""

    values: np.ndarray  # the kernel matrix, or rows whose products are its entries
    are_rows: bool


class Active(NamedTuple):
    """Memory for active sets of at most n variables."""

    at: np.ndarray  # int64, which variables are active
    place: np.ndarray  # int64, their rows in the kernel matrix
    sign: np.ndarray
    upper: np.ndarray
    alpha: np.ndarray
    change: np.ndarray
    score: np.ndarray  # about the middle of the ends, in the precision of the kernel matrix
    square: np.ndarray  # the kernel between them; memory that is not written to is not taken
    counts: np.ndarray  # (4, bins) int64, of the violators of each group and side, how many have a rank
    shares: np.ndarray  # (4, bins) which share of them is taken
    due: np.ndarray  # (4, bins) one is taken where this comes to 1
    ends: np.ndarray  # (2, 2) of each group, the highest score that may rise and the lowest that may fall
    plane: np.ndarray  # (columns of `Entries`,)
    work: Workspace


def active_for(n: int, K: Entries) -> Active:
    """Memory for problems of at most n variables whose kernels are these."""
    dtype, score = K.values.dtype, np.empty(n, K.values.dtype)
    at, place = np.empty((2, n), np.int64)
    sign, upper, alpha, change = np.empty((4, n))
    counts, (shares, due) = np.empty((4, _BINS), np.int64), np.empty((2, 4, _BINS))
    square, ends, plane = np.empty((n, n + _APART), dtype), np.empty((2, 2)), np.empty(K.values.shape[1])
    work = workspace_for(score)
    return Active(at, place, sign, upper, alpha, change, score, square, counts, shares, due, ends, plane, work)


@kernel(allocates=False)
def _may_move(t, sign, upper, alpha):
    """Whether variable t may move along its sign, and against it."""
    more, less = alpha[t] < upper[t], alpha[t] > 0.0
    return (more, less) if sign[t] > 0.0 else (less, more)


@kernel(allocates=False)
def _find_ends(group, sign, upper, alpha, score, ends):
    """Of each group, the highest score that may rise and the lowest that may fall.

    Returned are the largest score, whatever its sign, and how many variables are between their bounds.
    """
    ends[0, 0] = ends[1, 0] = -np.inf
    ends[0, 1] = ends[1, 1] = np.inf
    largest, free = 0.0, 0
    for t in range(len(score)):
        rise, fall = _may_move(t, sign, upper, alpha)
        f, g = score[t], 0 if t < group else 1
        if rise and f > ends[g, 0]:
            ends[g, 0] = f
        if fall and f < ends[g, 1]:
            ends[g, 1] = f
        largest = max(largest, abs(f))
        free += rise and fall
    return largest, free


@kernel(allocates=False)
def _rank(f, side, top, low):
    """0 for the worst violators, those with the highest scores (side 0) or the lowest, to _BINS − 1; −1 for none."""
    behind, width = top - f if side == 0 else f - low, top - low
    return min(np.int64(behind / width * _BINS), _BINS - 1) if behind < width else -1


@kernel(allocates=False)
def _set_shares(counts, most, shares):
    """Which share of the violators of each rank is taken so that there are at most `most`: the worst first."""
    for k in range(len(counts)):
        left = most
        for rank in range(_BINS):
            shares[k, rank] = min(1.0, left / max(counts[k, rank], 1))
            left = max(left - counts[k, rank], 0)


@kernel(allocates=False)
def _choose(group, sign, upper, alpha, score, most, active):
    """Which variables are active, in order: of each group about `most` of the worst violators; how many there are.

    Half are those with the highest scores that may rise, half those with the lowest that may fall. Of equals, as all
    are at the start, some are taken at even steps.
    """
    size = 0
    for k in range(4):
        for rank in range(_BINS):
            active.counts[k, rank], active.due[k, rank] = 0, 0.5
    for taking in range(2):
        for t in range(len(score)):
            rise, fall = _may_move(t, sign, upper, alpha)
            g, due = 0 if t < group else 1, False
            for side in range(2):
                rank = _rank(score[t], side, active.ends[g, 0], active.ends[g, 1])
                if rank < 0 or not (rise if side == 0 else fall):
                    continue
                if taking == 0:
                    active.counts[2 * g + side, rank] += 1
                else:
                    active.due[2 * g + side, rank] += active.shares[2 * g + side, rank]
                    if active.due[2 * g + side, rank] >= 1.0:
                        active.due[2 * g + side, rank] -= 1.0
                        due = True
            if due:
                active.at[size] = t
                size += 1
        if taking == 0:
            _set_shares(active.counts, max(most // 2, 1), active.shares)
    return size


@kernel(allocates=False)
def _gather(K, place, sign, upper, alpha, score, group, active, size):
    """The problem in the active variables alone: their kernel matrix, bounds and scores."""
    for a in range(size):
        t = active.at[a]
        active.place[a], active.sign[a], active.upper[a], active.alpha[a] = place[t], sign[t], upper[t], alpha[t]
        ends = active.ends[0 if t < group else 1]
        active.score[a] = score[t] - 0.5 * (ends[0] + ends[1])
    if K.are_rows:
        _products(K.values, active.place[:size], active.square)
        return
    for a in range(size):
        row, to = K.values[active.place[a]], active.square[a]
        for b in range(size):
            to[b] = row[active.place[b]]


@kernel(reassociate=True, allocates=False)
def _products(X, place, out):
    """All products of some rows, four at a time; the last are computed more than once."""
    size, d = len(place), X.shape[1]
    for a in range(size):
        x = X[place[a]]
        for lo in range(0, a + 1, 4):
            b, c, e = min(lo + 1, size - 1), min(lo + 2, size - 1), min(lo + 3, size - 1)
            p, q, r, s = X[place[lo]], X[place[b]], X[place[c]], X[place[e]]
            xp, xq, xr, xs = 0.0, 0.0, 0.0, 0.0
            for j in range(d):
                xp += x[j] * p[j]
                xq += x[j] * q[j]
                xr += x[j] * r[j]
                xs += x[j] * s[j]
            out[a, lo], out[a, b], out[a, c], out[a, e] = xp, xq, xr, xs
            out[lo, a], out[b, a], out[c, a], out[e, a] = xp, xq, xr, xs


@kernel(reassociate=True, allocates=False)
def _dot(x, z):
    total = 0.0
    for j in range(len(x)):
        total += x[j] * z[j]
    return total


@kernel(allocates=False)
def _follow(K, places, weights, place, cut, score, plane):
    """score += Σ weights · kernel rows of `places`."""
    for j in range(len(plane)):
        plane[j] = 0.0
    for part in range(2):
        lo, hi = (0, cut) if part == 0 else (cut, len(score))
        if K.are_rows:
            lo, hi = 0, (len(plane) if part == 0 else 0)
        if hi > lo:
            to = plane if K.are_rows else score
            add_rows(K.values, places, weights, 0 if K.are_rows else place[lo], to[lo:hi])
    if K.are_rows:
        for t in range(len(score)):
            score[t] += _dot(K.values[place[t]], plane)


@kernel(allocates=False)
def _start(place, sign, alpha, active):
    """Note every variable that is not 0 as a change; how many there are."""
    moved = 0
    for t in range(len(alpha)):
        if alpha[t] != 0.0:
            active.change[moved], active.place[moved] = -sign[t] * alpha[t], place[t]
            moved += 1
    return moved


@kernel(allocates=False)
def _changes(sign, alpha, active, size):
    """Take over the α of the active variables, and note what changed; how many did."""
    moved = 0
    for a in range(size):
        t = active.at[a]
        if active.alpha[a] != alpha[t]:
            active.change[moved], active.place[moved] = sign[t] * (alpha[t] - active.alpha[a]), active.place[a]
            alpha[t] = active.alpha[a]
            moved += 1
    return moved


@kernel(allocates=False)
def minimise(K, place, sign, cut, apart, upper, alpha, score, active, tol, most, stop):
    """Move α to the minimum: steps, the gap, and whether that is at most tol.

    Scores are those of α = 0 at the start, and those of α at the end. `place` is the row of each variable in K; those
    of the first `cut` follow one another, and those of the rest, which are a group of their own if `apart`.
    """
    n, steps, stuck = len(alpha), 0, 0
    group = cut if apart else n
    moved = _start(place, sign, alpha, active)
    while True:
        _follow(K, active.place[:moved], active.change[:moved], place, cut, score, active.plane)
        largest, free = _find_ends(group, sign, upper, alpha, score, active.ends)
        gap = max(active.ends[0, 0] - active.ends[0, 1], active.ends[1, 0] - active.ends[1, 1])
        goal = max(tol, ROUNDING * largest)
        aim = goal if active.work.wide is not None else _SINGLE * goal
        if not gap > aim or not gap < np.inf or steps >= most or stuck == _STUCK or atomic_load(stop, 0) != 0:
            return steps, gap, gap <= goal
        most_active = max(_FEWEST, _SET_RATIO * free) // (2 if apart else 1)
        size = _choose(group, sign, upper, alpha, score, most_active, active)
        first = size
        while first > 0 and active.at[first - 1] >= group:
            first -= 1
        _gather(K, place, sign, upper, alpha, score, group, active, size)
        taken, _ = smo(
            active.square,
            active.sign[:size],
            first,
            active.upper[:size],
            active.alpha[:size],
            active.score[:size],
            active.work,
            max(_SHARE * gap, 0.5 * aim),
            min(most - steps, _MOST_STEPS),
            stop,
        )
        steps += taken
        moved = _changes(sign, alpha, active, size)
        stuck = 0 if moved > 0 else stuck + 1
