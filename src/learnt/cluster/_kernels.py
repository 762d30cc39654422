"""Compiled inner loops of k-means; those of sparse rows are in `_sparse_kernels.py`.

Distances are first computed in a fast, rounded copy W of the rows (float32, centred, scaled), by matrix products; an
error bound says which answers that settles. What it leaves open is settled by `square_distance` on the rows themselves,
so the label of a row never depends on the precision of W, on blocks or on threads.

`upper[i]` ≥ distance of row i to its own centre; `lower[i]` ≤ distance to any other (Hamerly's bounds).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.distances import square_distance
from learnt.engine.kernel import kernel

_INF = np.inf
_SOME_ROWS = 256  # that seeds are tried on at once
_TINY = 1e-30  # W is scaled to about 1: what underflows is smaller than this
UP, DOWN = np.float32(1.000001), np.float32(0.999999)  # rounding of float32 bounds, away from the safe side


class Moves(NamedTuple):
    """How far the centres moved since the last assignment, in scaled units, rounded up: centre c by `shift[c]`, none
    further than `most` (centre `most_at`) or else `next_most`; `half[c]` is half the distance from c to the centre
    nearest to it.
    """

    shift: np.ndarray
    half: np.ndarray
    most: np.float32
    most_at: int
    next_most: np.float32


class View(NamedTuple):
    """Centres as the kernels want them: about the origin, scaled, rounded like W, padded to a multiple of 4."""

    centers: np.ndarray  # float64, as they are
    scaled: np.ndarray  # float64, (c − origin) · scale
    minus2: np.ndarray
    extra: np.ndarray
    radius: float
    product_error: float
    norm_error: float


class Tile(NamedTuple):
    """Room for some rows of W and what is computed of them: a column of scores a row, and what `best_two` finds."""

    gathered: np.ndarray
    scores: np.ndarray
    best: np.ndarray
    second: np.ndarray
    which: np.ndarray


class Found(NamedTuple):
    """Nearest centres of the listed rows, and bounds on the distances to them and to all others."""

    label: np.ndarray
    above: np.ndarray
    below: np.ndarray


@kernel
def best_two(scores, extra, m, best, second, which):
    """In the first m columns of `scores` (4 divides its rows): the two least of scores[c] + extra[c], and whose.

    Four centres a pass and no branch: the loop over r becomes vector instructions.
    """
    k = scores.shape[0]
    for r in range(m):
        best[r] = _INF
        second[r] = _INF
        which[r] = 0
    for c in range(0, k, 4):
        e0, e1, e2, e3 = extra[c], extra[c + 1], extra[c + 2], extra[c + 3]
        c0, c1, c2, c3 = np.int32(c), np.int32(c + 1), np.int32(c + 2), np.int32(c + 3)
        for r in range(m):
            b = best[r]
            t = second[r]
            l = which[r]
            s = scores[c, r] + e0
            less = s < b
            worse = b if less else s
            b = s if less else b
            l = c0 if less else l
            t = worse if worse < t else t
            s = scores[c + 1, r] + e1
            less = s < b
            worse = b if less else s
            b = s if less else b
            l = c1 if less else l
            t = worse if worse < t else t
            s = scores[c + 2, r] + e2
            less = s < b
            worse = b if less else s
            b = s if less else b
            l = c2 if less else l
            t = worse if worse < t else t
            s = scores[c + 3, r] + e3
            less = s < b
            worse = b if less else s
            b = s if less else b
            l = c3 if less else l
            t = worse if worse < t else t
            best[r] = b
            second[r] = t
            which[r] = l


@kernel
def unsettled(labels, moves, upper, lower, rows):
    """Move the bounds with the centres, and list the rows whose centre they do not settle; how many there are.

    There is no branch on the outcome, which would be a toss.
    """
    shift, half, most, most_at, next_most = moves
    m = 0
    for i in range(labels.shape[0]):
        a = max(labels[i], 0)  # a row without a label has upper = ∞
        u = (upper[i] + shift[a]) * UP
        low = (lower[i] - (next_most if a == most_at else most)) * DOWN
        upper[i] = u
        lower[i] = low
        bound = half[a] if half[a] > low else low
        rows[m] = i
        m += 0 if u < bound else 1
    return m


@kernel
def decide(rows, start, m, tile, view, norms, X, squares, found):
    """Settle the labels of m rows from `start` on, and bound their distances; how many had to be computed exactly.

    Column r of the tile's scores belongs to row rows[start + r].
    """
    scores, best, second, C, extra = tile.scores, tile.best, tile.second, view.centers, view.extra
    radius, product_error, norm_error = view.radius, view.product_error, view.norm_error
    evaluated = 0
    reach = norm_error * radius * radius + _TINY
    for r in range(m):
        i = rows[start + r]
        norm = np.float64(norms[i])
        slack = product_error * np.sqrt(norm) * radius + norm_error * norm + reach
        one = np.float64(best[r])
        high = one + norm + slack
        low = np.float64(second[r]) + norm - slack
        found.label[start + r] = tile.which[r]
        if not np.float64(second[r]) - one > 2.0 * slack:
            # Too close for W's precision: compare the close ones exactly; the first of equals wins.
            least = _INF
            for c in range(C.shape[0]):
                if not np.float64(scores[c, r] + extra[c]) > one + 2.0 * slack:
                    exact = square_distance(X, i, C, c, squares)
                    evaluated += 1
                    if exact < least:
                        least = exact
                        found.label[start + r] = np.int32(c)
            high = one + norm + 3.0 * slack
            low = one + norm - slack
        found.above[start + r] = np.float32(np.sqrt(max(high, 0.0))) * UP
        found.below[start + r] = np.float32(np.sqrt(max(low, 0.0))) * DOWN
    return evaluated


@kernel
def settle(W, norms, X, rows, view, tile, squares, found):
    """Nearest centres of the listed rows and bounds on their distances, a matrix product of some rows at a time.

    `squares` has room for a cell a column. How many distances had to be computed exactly.
    """
    gathered = tile.gathered
    n, width, d = rows.shape[0], gathered.shape[0], gathered.shape[1]
    evaluated = 0
    for start in range(0, n, width):
        m = min(width, n - start)
        for r in range(m):
            i = rows[start + r]
            for j in range(d):
                gathered[r, j] = W[i, j]
        np.dot(view.minus2, gathered.T, tile.scores)
        best_two(tile.scores, view.extra, m, tile.best, tile.second, tile.which)
        evaluated += decide(rows, start, m, tile, view, norms, X, squares, found)
    return evaluated


@kernel
def relabel(rows, label, above, below, X, origin, weights, labels, upper, lower, totals):
    """Write down labels and bounds; the sums follow the labels by differences. How many labels changed.

    `totals` are Σ w (x − origin), Σ w and the number of rows with weight, for each centre; label −1 is in none.
    """
    sums, mass, counts = totals
    d = X.shape[1]
    changed = 0
    for r in range(rows.shape[0]):
        i = rows[r]
        upper[i] = above[r]
        lower[i] = below[r]
        old, new = labels[i], label[r]
        if old != new:
            changed += 1
            labels[i] = new
            w = weights[i] if weights.shape[0] > 0 else 1.0
            one = 1 if w > 0.0 else 0
            for j in range(d):
                v = w * (X[i, j] - origin[j])
                sums[new, j] += v
                if old >= 0:
                    sums[old, j] -= v
            mass[new] += w
            counts[new] += one
            if old >= 0:
                mass[old] -= w
                counts[old] -= one
    return changed


@kernel
def row_errors(X, C, labels, out):
    """out[i] = ‖xᵢ − c(i)‖² in float64: how far each row is from its own centre."""
    for i in range(X.shape[0]):
        a = labels[i]
        total = 0.0
        for j in range(X.shape[1]):
            t = np.float64(X[i, j]) - C[a, j]
            total += t * t
        out[i] = total


@kernel(reassociate=True)
def seed_minima(scores, extra, W, norms, candidates, weights, squared, first, small, out, sums):
    """out[l, first + r] = min(squared[r], ‖W[r] − candidate l‖²) from scores = −2 candidates · Wᵀ; their weighted sums.

    A distance that is small beside the norms loses its digits in the product and is taken by differences.
    """
    m = scores.shape[1]
    for l in range(scores.shape[0]):
        e = extra[l]
        for lo in range(0, m, _SOME_ROWS):  # a candidate is a row: where it lies, and hardly elsewhere, some are close
            hi = min(lo + _SOME_ROWS, m)
            line, lengths, before, after = (
                scores[l, lo:hi],
                norms[lo:hi],
                squared[lo:hi],
                out[l, first + lo : first + hi],
            )
            close = np.int32(0)
            total = small * 0
            for r in range(line.shape[0]):
                s = line[r] + e + lengths[r]
                close += np.int32(s < small * lengths[r])
                s = s if s < before[r] else before[r]
                after[r] = s
                total += s
            if close > 0:
                total = small * 0
                for r in range(line.shape[0]):
                    if after[r] < small * lengths[r] and after[r] < before[r]:
                        s = small * 0
                        for j in range(W.shape[1]):
                            t = W[lo + r, j] - candidates[l, j]
                            s += t * t
                        after[r] = min(s, before[r])
                    total += after[r]
            if weights.shape[0] > 0:
                total = small * 0
                for r in range(line.shape[0]):
                    total += weights[lo + r] * after[r]
            sums[l] += total
