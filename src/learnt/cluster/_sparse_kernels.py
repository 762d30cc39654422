"""Compiled inner loops of k-means for rows of a CSR matrix.

Products are first computed in float32, in vectors (`_row_products.py`); an error bound says which rows that settles.
The others are compared in float64, so that the label of a row depends on no precision, block or thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.cluster._kernels import DOWN, UP
from learnt.cluster._row_products import row_products
from learnt.engine.kernel import kernel

_INF = np.inf
_TILE = 256  # rows that take their turn with the same centres, whose table stays in the cache
_SOME_FEATURES = 512  # of the centres, that are arranged at once
# Rounding of ‖c‖² − 2 x·c:  (entries + 8) · (_DOUBLE (‖x‖² + radius²) + _SINGLE ‖x‖ radius); of ‖x‖ = radius = 1
# scaled, _LEAST in place of what underflows.
_DOUBLE, _SINGLE, _LEAST = 2.0**-51, 1.25 * 2.0**-23, 1e-37
_FAR_OUT = 2.0**60  # of a starting centre, scaled


class Cells(NamedTuple):
    """A CSR matrix."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


class SparseView(NamedTuple):
    """Centres as the kernels want them; the scale, a power of two, brings rows and centres to a length of at most 1."""

    centers: np.ndarray  # float64, as they are
    table: np.ndarray  # float32, scaled, as `row_products` reads them
    extra: np.ndarray  # float64, squared norms
    radius: float
    scale: float


@kernel(reassociate=True)
def arrange(centers, last, scale, table, first, end, shifts, norms):
    """Fill the table with the features first…end−1 of the centres; add up their squared shifts since `last` and norms.

    The features are taken some at a time, which stay in the cache until all centres have been there.
    """
    width = table.shape[2]
    for lo in range(first, end, _SOME_FEATURES):
        hi = min(lo + _SOME_FEATURES, end)
        for c in range(centers.shape[0]):
            shift = norm = 0.0
            for j in range(lo, hi):
                v = centers[c, j]
                t = v - last[c, j]
                shift += t * t
                norm += v * v
            shifts[c] += shift
            norms[c] += norm
            p, place = c // width, c % width
            for j in range(lo, hi):
                table[p, j, place] = np.float32(centers[c, j] * scale)


@kernel
def assign_sparse(cells, norms, view, moves, labels, upper, lower):
    """Labels of rows of a CSR matrix, and bounds on their distances; how many labels changed.

    A row goes to the first of the centres that rounding in float64 cannot tell from the nearest.
    """
    indptr = cells.indptr
    shift, half, most, most_at, next_most = moves
    table, extra, radius, scale = view.table, view.extra, view.radius, view.scale
    n, k, width = labels.shape[0], extra.shape[0], table.shape[2]
    back = -2.0 / (scale * scale)
    scores = np.empty((_TILE, width * table.shape[0]), np.float32)
    exact = np.empty(k, np.float64)
    rows, known = np.empty(_TILE, np.int64), np.empty(_TILE, np.int64)
    changed = 0
    for lo in range(0, n, _TILE):
        m = 0  # rows that bounds do not settle, and the group of centres whose products are known of each
        for i in range(lo, min(lo + _TILE, n)):
            a = labels[i]
            known[m] = -1
            if a >= 0:
                u = (upper[i] + shift[a]) * UP
                low = (lower[i] - (next_most if a == most_at else most)) * DOWN
                bound = max(low, half[a])
                if not u < bound:
                    known[m] = a // width
                    row_products(cells, indptr[i], indptr[i + 1], scale, table, known[m], scores, m)
                    slack = _slack(indptr[i + 1] - indptr[i], norms[i], radius, scale)
                    u = (
                        np.float32(np.sqrt(max(norms[i] + back * np.float64(scores[m, a]) + extra[a] + slack, 0.0)))
                        * UP
                    )
                if u < bound:
                    upper[i] = u
                    lower[i] = low
                    continue
            rows[m] = i
            m += 1
        for p in range(table.shape[0]):
            for r in range(m):
                if p != known[r]:
                    row_products(cells, indptr[rows[r]], indptr[rows[r] + 1], scale, table, p, scores, r)
        for r in range(m):
            i = rows[r]
            entries, norm = indptr[i + 1] - indptr[i], norms[i]
            slack = _slack(entries, norm, radius, scale)
            best = second = _INF
            new = np.int32(0)
            for c in range(k):
                s = extra[c] + back * np.float64(scores[r, c])
                less = s < best
                worse = best if less else s
                best = s if less else best
                new = np.int32(c) if less else new
                second = worse if worse < second else second
            if not second - best > 4.0 * slack:
                new = _first_of_nearest(cells, i, view, scores[r], best + 4.0 * slack, norm, exact)
                second = best
            upper[i] = np.float32(np.sqrt(max(best + norm + 5.0 * slack, 0.0))) * UP
            lower[i] = np.float32(np.sqrt(max(second + norm - slack, 0.0))) * DOWN
            if new != labels[i]:
                changed += 1
                labels[i] = new
    return changed


@kernel
def _slack(entries, norm, radius, scale):
    """How far a score from products in float32 may be from one in float64, and that from the truth."""
    if radius * scale > _FAR_OUT:
        return _INF  # products might overflow
    single = _SINGLE * np.sqrt(norm) * radius + _LEAST / (scale * scale)
    return (entries + 8) * (_DOUBLE * (norm + radius * radius) + single)


@kernel
def _first_of_nearest(cells, i, view, scores, most, norm, exact):
    """The first centre that float64 cannot tell from the nearest, among those of a score of at most `most`."""
    C, extra, radius, scale = view.centers, view.extra, view.radius, view.scale
    back = -2.0 / (scale * scale)
    data, indices, start, end = cells.data, cells.indices, cells.indptr[i], cells.indptr[i + 1]
    best = _INF
    for c in range(extra.shape[0]):
        exact[c] = _INF
        if not extra[c] + back * np.float64(scores[c]) > most:
            product = 0.0
            for p in range(start, end):
                product += np.float64(data[p]) * C[c, indices[p]]
            exact[c] = extra[c] - 2.0 * product
            best = exact[c] if exact[c] < best else best
    within = best + 2.0 * _DOUBLE * (end - start + 8) * (norm + radius * radius)
    for c in range(extra.shape[0]):
        if exact[c] <= within:
            return np.int32(c)
    return np.int32(0)


@kernel
def move_sparse_rows(cells, weights, old, labels, first, last, sums, mass, counts):
    """Bring the sums of the centres first…last−1 from the labels `old` to `labels`, for rows of a CSR matrix, about 0.

    Label −1 is in no sum. The rows are taken in order, so that who does which centres changes nothing.
    """
    data, indices, indptr = cells
    for i in range(labels.shape[0]):
        if old[i] == labels[i]:
            continue
        w = weights[i] if weights.shape[0] > 0 else 1.0
        one = 1 if w > 0.0 else 0
        for c, sign in ((labels[i], 1), (old[i], -1)):
            if first <= c < last:
                for p in range(indptr[i], indptr[i + 1]):
                    sums[c, indices[p]] += sign * w * data[p]
                mass[c] += sign * w
                counts[c] += sign * one


@kernel(reassociate=True)
def sparse_row_errors(cells, norms, C, extra, labels, out):
    """out[i] = ‖xᵢ − c(i)‖² for rows of a CSR matrix, by the expansion; norms and extra are ‖x‖² and ‖c‖²."""
    data, indices, indptr = cells
    for i in range(labels.shape[0]):
        a = labels[i]
        product = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            product += data[p] * C[a, indices[p]]
        out[i] = max(norms[i] - 2.0 * product + extra[a], 0.0)
