"""Compiled inner loops of k-means with bounds for groups of centres: see `_grouped.py`.

`bounds[q, i]` − `drift[q]` ≤ distance of row i to every centre of group q but its own. `drift[q]` adds up how far the
centres of the group have moved, so that a bound is written only when distances are computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.cluster._group_products import group_products
from learnt.cluster._kernels import DOWN, UP
from learnt.engine.kernel import kernel

_INF = np.float32(np.inf)
_TINY = np.float32(1e-30)


class Groups(NamedTuple):
    """Centres in groups: the tables of group q are `span` from q · `span` on; centre c is in place `places[c]`."""

    table: np.ndarray  # (tables, features, centres in a table): −2 times the centres
    extra: np.ndarray  # (tables, centres in a table): their squared norms; ∞ where there is no centre
    places: np.ndarray
    owners: np.ndarray  # the centre in each place
    drift: np.ndarray
    span: int


class Errors(NamedTuple):
    """Bound the rounding of ‖c‖² − 2 x·c by  product · ‖x‖ + norm · ‖x‖² + constant."""

    product: np.float32
    norm: np.float32
    constant: np.float32


class Room(NamedTuple):
    """For some rows at a time: their cells, numbers and what is known of each; and of those listed for a group the
    scores of the centres of a table and the least of these.
    """

    rows: np.ndarray
    numbers: np.ndarray
    best: np.ndarray  # the score of the nearest centre so far,
    place: np.ndarray  # its place
    reach: np.ndarray  # and a bound on its distance from above
    limit: np.ndarray  # scores from here on are certainly of centres farther away
    second: np.ndarray  # the score of the next, if it is below the limit
    low: np.ndarray  # a bound on the distances of the others from below
    slack: np.ndarray
    norms: np.ndarray
    lengths: np.ndarray  # squared norms, less what rounding may do
    now: np.ndarray
    listed: np.ndarray
    scores: np.ndarray
    least: np.ndarray
    close: np.ndarray  # those of the listed that have a score below the limit
    step: int  # rows that are multiplied at once


@kernel(reassociate=True)
def tighten(rows, W, norms, view, errors, half, labels, upper, lower, best):
    """Compute the distance of each listed row to its own centre; keep in the list, with scores in `best`, those that
    this does not settle. How many they are.
    """
    m = 0
    for r in range(rows.shape[0]):
        i = rows[r]
        a = labels[i]
        rows[m] = i
        best[m] = _INF
        if a < 0:
            m += 1
            continue
        score = np.float32(0)
        for j in range(W.shape[1]):
            score += W[i, j] * view.minus2[a, j]
        score += view.extra[a]
        norm = norms[i]
        slack = errors.product * np.sqrt(norm) + errors.norm * norm + errors.constant
        reach = np.sqrt(max(score + norm + slack, _TINY)) * UP
        upper[i] = reach
        best[m] = score
        m += 0 if reach < max(half[a], lower[i]) else 1
    return m


@kernel
def _begin(rows, start, m, first, W, norms, errors, groups, labels, upper, best, room):
    """Bring m rows into the room; row i of the lane has number first + i."""
    for r in range(m):
        i = rows[start + r]
        for j in range(W.shape[1]):
            room.rows[r, j] = W[i, j]
        norm = norms[i]
        slack = errors.product * np.sqrt(norm) + errors.norm * norm + errors.constant
        room.numbers[r] = np.uint32(first + i)
        room.norms[r] = norm
        room.slack[r] = slack
        room.lengths[r] = norm - slack
        room.best[r] = best[start + r]
        room.limit[r] = best[start + r] + np.float32(2) * slack
        room.place[r] = groups.places[labels[i]] if labels[i] >= 0 else -1
        room.reach[r] = upper[i]
        room.second[r] = _INF
        room.low[r] = _INF


@kernel
def _list_rows(m, bound, drift, numbers, reach, now, low, listed):
    """List the rows that a group may hold the nearest centre of; how many they are. Loops that can be are vectors."""
    for r in range(m):
        now[r] = bound[numbers[r]]
    for r in range(m):
        value = (now[r] - drift) * DOWN
        value = value if reach[r] < value else _INF
        now[r] = value
        low[r] = value if value < low[r] else low[r]
    n = 0
    for r in range(m):
        listed[n] = np.uint32(r)
        n += 1 if now[r] == _INF else 0
    return n


@kernel
def _list_close(m, listed, least, limit, close):
    """List those of the m listed rows that have a score below their limit; how many they are."""
    n = 0
    for p in range(m):
        close[n] = np.uint32(p)
        n += 1 if least[p] < limit[listed[p]] else 0
    return n


@kernel
def _write_bounds(m, again, drift, room, bound):
    """Bounds on the distances that the least scores stand for; after the first table of a group the least of both."""
    listed, numbers, lengths, least, now, low = (
        room.listed, room.numbers, room.lengths, room.least, room.now, room.low,
    )  # fmt: skip
    for p in range(m):
        now[p] = lengths[listed[p]]
    for p in range(m):
        value = least[p] + now[p]
        value = np.sqrt(value if value > _TINY else _TINY) * DOWN
        least[p] = value
        now[p] = (value + drift) * DOWN
    for p in range(m):
        r = listed[p]
        i = numbers[r]
        bound[i] = bound[i] if again and bound[i] < now[p] else now[p]
        low[r] = least[p] if least[p] < low[r] else low[r]


@kernel
def _least_two(scores, p):
    """The least two of row p. Four pairs side by side: one minimum need not wait for the one before."""
    a, b, c, d = _INF, _INF, _INF, _INF
    a2, b2, c2, d2 = _INF, _INF, _INF, _INF
    for j in range(0, scores.shape[1], 4):
        w, x, y, z = scores[p, j], scores[p, j + 1], scores[p, j + 2], scores[p, j + 3]
        a2, b2, c2, d2 = min(a2, max(a, w)), min(b2, max(b, x)), min(c2, max(c, y)), min(d2, max(d, z))
        a, b, c, d = min(a, w), min(b, x), min(c, y), min(d, z)
    left, right = min(a, b), min(c, d)
    left2, right2 = min(max(a, b), min(a2, b2)), min(max(c, d), min(c2, d2))
    return min(left, right), min(max(left, right), min(left2, right2))


@kernel
def _take_up(n, v, groups, bounds, room):
    """Look through the scores of table v for n rows that are listed as close; leave in `least` the least score that is
    not the best of all.
    """
    scores, least, best, place, second = room.scores, room.least, room.best, room.place, room.second
    drift, span, width = groups.drift, groups.span, scores.shape[1]
    for b in range(n):
        p = room.close[b]
        r = room.listed[p]
        old, before = place[r], best[r]
        if v * width <= old < (v + 1) * width:
            scores[p, old - v * width] = _INF
        one, two = _least_two(scores, p)
        if one >= before:
            least[p] = one
            second[r] = one if one < second[r] else second[r]
            continue
        at = 0
        while at + 1 < width and scores[p, at] != one:
            at += 1
        best[r] = one
        place[r] = v * width + at
        room.reach[r] = np.sqrt(max(one + room.norms[r] + room.slack[r], _TINY)) * UP
        room.limit[r] = one + np.float32(2) * room.slack[r]
        nearest = two if two < before else before
        second[r] = nearest if nearest < second[r] else second[r]
        least[p] = two
        if old >= 0:  # the one it was is among the others now
            q = old // (width * span)
            i = room.numbers[r]
            below = np.sqrt(max(before + room.lengths[r], _TINY)) * DOWN
            bounds[q, i] = min(bounds[q, i], (below + drift[q]) * DOWN)
            room.low[r] = min(room.low[r], below)
            least[p] = nearest if q == v // span else two


@kernel
def _search(m, q, groups, bounds, room):
    """Compare the m listed rows with the centres of group q, and bound what is left of it."""
    listed, least, step, span = room.listed, room.least, room.step, groups.span
    for p in range(m, m + step - 1):
        listed[p] = listed[m - 1]  # computed for nothing
    for v in range(q * span, (q + 1) * span):
        for at in range(0, m, step):
            group_products(room.rows, listed, at, groups.table, v, groups.extra, room.scores, least)
        _take_up(_list_close(m, listed, least, room.limit, room.close), v, groups, bounds, room)
        _write_bounds(m, v > q * span, groups.drift[q], room, bounds[q])


@kernel
def settle_groups(rows, first, W, norms, errors, groups, bounds, labels, upper, best, room, found):
    """Nearest centres of the listed rows and bounds on their distances; label −1 where rounding leaves it open.

    How many these are. Row i of the lane has column first + i of the bounds.
    """
    n, width, n_open = rows.shape[0], room.norms.shape[0], 0
    for start in range(0, n, width):
        m = min(width, n - start)
        _begin(rows, start, m, first, W, norms, errors, groups, labels, upper, best, room)
        for q in range(bounds.shape[0]):
            listed = _list_rows(
                m, bounds[q], groups.drift[q], room.numbers, room.reach, room.now, room.low, room.listed
            )
            if listed > 0:
                _search(listed, q, groups, bounds, room)
        for r in range(m):
            settled = room.second[r] - room.best[r] > np.float32(2) * room.slack[r]
            found.label[start + r] = groups.owners[room.place[r]] if settled else -1
            n_open += 0 if settled else 1
            found.above[start + r] = room.reach[r]
            found.below[start + r] = room.low[r]
    return n_open
