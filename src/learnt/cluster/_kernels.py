"""Compiled inner loops of k-means.

Distances are first computed in a fast, rounded copy W of the rows (float32, centred, scaled), by matrix products; an
error bound says which answers that settles. What it leaves open is settled by `square_distance` on the rows themselves,
so the label of a row never depends on the precision of W, on blocks or on threads.
"""

from __future__ import annotations

import numpy as np

from learnt.engine.kernel import kernel

_INF = np.inf
# BLAS takes a slow road for products below about a million multiplications; a tile should stay in the core's cache.
_TILE_WORK, _TILE_CELLS = 1_200_000, 1 << 17
_NARROW = 8  # features up to which a plain loop beats the matrix product's overhead
_TINY = 1e-30  # W is scaled to about 1: what underflows is smaller than this
_UP, _DOWN = np.float32(1.000001), np.float32(0.999999)  # rounding of float32 bounds, away from the safe side


@kernel
def square_distance(x, c, squares):
    """‖x − c‖² in float64, summed in order of the features.

    The squares pass through memory so that no multiplication is fused into the sum: NumPy gets the same bits.
    """
    for j in range(x.shape[0]):
        t = np.float64(x[j]) - c[j]
        squares[j] = t * t
    total = 0.0
    for j in range(x.shape[0]):
        total += squares[j]
    return total


@kernel(reassociate=True)
def round_rows(X, origin, scale, out, norms):
    """out = (X − origin) · scale, rounded, and the squared norms of its rows, in one pass."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            v = (X[i, j] - origin[j]) * scale
            out[i, j] = v
            total += v * v
        norms[i] = total


@kernel
def _best_two(scores, extra, best, second, label):
    """In every column of `scores` (k × m, 4 divides k): least and second least of scores[c] + extra[c], and which.

    Four centres a pass and no branch: the loop over r becomes vector instructions.
    """
    k, m = scores.shape
    for r in range(m):
        best[r] = _INF
        second[r] = _INF
        label[r] = 0
    for c in range(0, k, 4):
        e0, e1, e2, e3 = extra[c], extra[c + 1], extra[c + 2], extra[c + 3]
        c0, c1, c2, c3 = np.int32(c), np.int32(c + 1), np.int32(c + 2), np.int32(c + 3)
        for r in range(m):
            b = best[r]
            t = second[r]
            l = label[r]
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
            label[r] = l


@kernel
def _products(minus2, G, m, scores):
    """scores = minus2 · Gᵀ for the first m columns; G is (m × d), or (d × width) where d is small."""
    k, d = minus2.shape
    if d > _NARROW:
        np.dot(minus2, G[:m].T, scores)
        return
    for c in range(k):
        for r in range(m):
            scores[c, r] = minus2[c, 0] * G[0, r]
        for j in range(1, d):
            for r in range(m):
                scores[c, r] += minus2[c, j] * G[j, r]


@kernel
def _closest(scores, extra, r, limit, X, i, C, squares):
    """The nearest of the centres whose scores for row i, in column r, are within the limit; the first of equals.

    Also returns how many there were. Called only where W's precision does not settle it: a call costs as much as a row.
    """
    least = _INF
    new = np.int32(0)
    evaluated = 0
    for c in range(C.shape[0]):
        if not np.float64(scores[c, r] + extra[c]) > limit:
            exact = square_distance(X[i], C[c], squares)
            evaluated += 1
            if exact < least:
                least = exact
                new = np.int32(c)
    return new, evaluated


@kernel
def _move(x, origin, w, old, new, sums, mass, counts):
    """Take a row out of its old centre's sums (old < 0: it has none) and put it into the new one's."""
    d = x.shape[0]
    one = 1 if w > 0.0 else 0
    if old >= 0:
        for j in range(d):
            sums[old, j] -= w * (x[j] - origin[j])
        mass[old] -= w
        counts[old] -= one
    for j in range(d):
        sums[new, j] += w * (x[j] - origin[j])
    mass[new] += w
    counts[new] += one


@kernel
def _unsettled(labels, shift, half, most, most_at, next_most, upper, lower, rows):
    """Move the bounds with the centres; the rows whose centre they do not settle. No branch, which would be a toss."""
    m = 0
    for i in range(labels.shape[0]):
        a = max(labels[i], 0)  # a row without a label has upper = ∞
        u = (upper[i] + shift[a]) * _UP
        low = (lower[i] - (next_most if a == most_at else most)) * _DOWN
        upper[i] = u
        lower[i] = low
        bound = half[a] if half[a] > low else low
        rows[m] = i
        m += 0 if u < bound else 1
    return m


@kernel(reassociate=True)
def _tighten(W, centred, radius, product_error, norm_error, labels, half, upper, lower, rows):
    """Replace the upper bounds of the given rows by true distances; the rows that this does not settle either."""
    m = 0
    for t in range(rows.shape[0]):
        i = rows[t]
        a = labels[i]
        if a >= 0:
            total = W[i, 0] * 0
            for j in range(W.shape[1]):
                v = W[i, j] - centred[a, j]
                total += v * v
            own = np.sqrt(np.float64(total))
            u = np.float32(own + product_error * own + norm_error * (own + radius)) * _UP
            upper[i] = u
            if u < max(half[a], lower[i]):
                continue
        rows[m] = i
        m += 1
    return m


@kernel(reassociate=True)
def assign(
    W, norms, X, C, centred, minus2, extra, radius, product_error, norm_error, origin, weights, shift, half, most,
    most_at, next_most, labels, upper, lower, sums, mass, counts,
):  # fmt: skip
    """One pass of Lloyd's algorithm over some rows, skipping those whose nearest centre cannot have changed (Hamerly).

    `upper[i]` ≥ distance of row i to its own centre; `lower[i]` ≤ distance to any other. Centre c moved by `shift[c]`
    since the last pass, none further than `most` (centre `most_at`) or else `next_most`; `half[c]` is half the
    distance from c to the centre nearest to it. `sums`, `mass` and `counts` follow the labels by differences.

    Returns how many labels changed, and how many distances had to be computed exactly.
    """
    n, d = W.shape
    rows = np.empty(n, np.int32)
    left = _unsettled(labels, shift, half, most, most_at, next_most, upper, lower, rows)
    left = _tighten(W, centred, radius, product_error, norm_error, labels, half, upper, lower, rows[:left])
    wide = minus2.shape[0]
    width = max(16, min(1024, max(256, _TILE_WORK // (wide * d)), _TILE_CELLS // wide))
    narrow = d <= _NARROW
    G = np.empty((d, width) if narrow else (width, d), W.dtype)
    best = np.empty(width, W.dtype)
    second = np.empty(width, W.dtype)
    label = np.empty(width, np.int32)
    flat = np.empty(wide * width, W.dtype)
    squares = np.empty(d, np.float64)
    changed = 0
    evaluated = 0
    for start in range(0, left, width):
        m = min(width, left - start)
        for r in range(m):
            i = rows[start + r]
            if narrow:
                for j in range(d):
                    G[j, r] = W[i, j]
            else:
                for j in range(d):
                    G[r, j] = W[i, j]
        scores = flat[: wide * m].reshape(wide, m)
        _products(minus2, G, m, scores)
        _best_two(scores, extra, best[:m], second[:m], label[:m])
        for r in range(m):
            i = rows[start + r]
            norm = np.float64(norms[i])
            slack = product_error * np.sqrt(norm) * radius + norm_error * (norm + radius * radius) + _TINY
            one = np.float64(best[r])
            new = label[r]
            high = one + norm + slack
            low = np.float64(second[r]) + norm - slack
            if not np.float64(second[r]) - one > 2.0 * slack:
                new, n_exact = _closest(scores, extra, r, one + 2.0 * slack, X, i, C, squares)
                evaluated += n_exact
                high = one + norm + 3.0 * slack
                low = one + norm - slack
            upper[i] = np.float32(np.sqrt(max(high, 0.0))) * _UP
            lower[i] = np.float32(np.sqrt(max(low, 0.0))) * _DOWN
            if new != labels[i]:
                changed += 1
                w = weights[i] if weights.shape[0] > 0 else 1.0
                _move(X[i], origin, w, labels[i], new, sums, mass, counts)
                labels[i] = new
    return changed, evaluated


@kernel(reassociate=True)
def label_rows(X, C, minus2, extra, radius, product_error, norm_error, origin, scale, labels):
    """The nearest centre of every row: `assign` without memory of an earlier pass. Rows are rounded in the tile."""
    n, d = X.shape
    wide = minus2.shape[0]
    width = max(16, min(1024, max(256, _TILE_WORK // (wide * d)), _TILE_CELLS // wide))
    narrow = d <= _NARROW
    G = np.empty((d, width) if narrow else (width, d), minus2.dtype)
    norms = np.empty(width, np.float64)
    best = np.empty(width, minus2.dtype)
    second = np.empty(width, minus2.dtype)
    label = np.empty(width, np.int32)
    flat = np.empty(wide * width, minus2.dtype)
    squares = np.empty(d, np.float64)
    for start in range(0, n, width):
        m = min(width, n - start)
        for r in range(m):
            norm = 0.0
            if narrow:
                for j in range(d):
                    v = (X[start + r, j] - origin[j]) * scale
                    G[j, r] = v
                    norm += v * v
            else:
                for j in range(d):
                    v = (X[start + r, j] - origin[j]) * scale
                    G[r, j] = v
                    norm += v * v
            norms[r] = norm
        scores = flat[: wide * m].reshape(wide, m)
        _products(minus2, G, m, scores)
        _best_two(scores, extra, best[:m], second[:m], label[:m])
        for r in range(m):
            slack = product_error * np.sqrt(norms[r]) * radius + norm_error * (norms[r] + radius * radius) + _TINY
            one = np.float64(best[r])
            labels[start + r] = label[r]
            if not np.float64(second[r]) - one > 2.0 * slack:
                labels[start + r] = _closest(scores, extra, r, one + 2.0 * slack, X, start + r, C, squares)[0]


@kernel(reassociate=True)
def assign_sparse(
    data, indices, indptr, norms, Ct, extra, radius, norm_error, shift, half, most, most_at, next_most,
    labels, upper, lower,
):  # fmt: skip
    """`assign` for rows of a CSR matrix, in float64; Ct is the centres transposed (d × k), extra their squared norms.

    A row goes to the first of the centres that rounding cannot tell from the nearest.
    """
    n = labels.shape[0]
    k = Ct.shape[1]
    scores = np.empty(k, np.float64)
    changed = 0
    for i in range(n):
        start, end = indptr[i], indptr[i + 1]
        norm = norms[i]
        slack = norm_error * (end - start + 8) * (norm + radius * radius) + _TINY
        a = labels[i]
        stays = False
        if a >= 0:
            u = (upper[i] + shift[a]) * _UP
            low = (lower[i] - (next_most if a == most_at else most)) * _DOWN
            bound = max(low, half[a])
            if not u < bound:
                own = 0.0
                for p in range(start, end):
                    own += data[p] * Ct[indices[p], a]
                u = np.float32(np.sqrt(max(norm - 2.0 * own + extra[a] + slack, 0.0))) * _UP
            if u < bound:
                upper[i] = u
                lower[i] = low
                stays = True
        if stays:
            continue
        for c in range(k):
            scores[c] = 0.0
        for p in range(start, end):
            v = np.float64(data[p])
            j = indices[p]
            for c in range(k):
                scores[c] += v * Ct[j, c]
        best = _INF
        for c in range(k):
            s = extra[c] - 2.0 * scores[c]
            scores[c] = s
            if s < best:
                best = s
        new = np.int32(-1)
        second = _INF
        for c in range(k):
            s = scores[c]
            if new < 0 and s <= best + 2.0 * slack:
                new = np.int32(c)
            elif s < second:
                second = s
        upper[i] = np.float32(np.sqrt(max(best + norm + 3.0 * slack, 0.0))) * _UP
        lower[i] = np.float32(np.sqrt(max(second + norm - slack, 0.0))) * _DOWN
        if new != a:
            changed += 1
            labels[i] = new
    return changed


@kernel
def add_rows(X, origin, weights, labels, sums, mass, counts):
    """Sums of the rows of each cluster, afresh: differences add up rounding that a last pass takes away."""
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] > 0 else 1.0
        _move(X[i], origin, w, -1, labels[i], sums, mass, counts)


@kernel
def add_sparse_rows(data, indices, indptr, weights, labels, sums, mass, counts):
    """`add_rows` for rows of a CSR matrix, about 0."""
    for i in range(labels.shape[0]):
        w = weights[i] if weights.shape[0] > 0 else 1.0
        a = labels[i]
        for p in range(indptr[i], indptr[i + 1]):
            sums[a, indices[p]] += w * data[p]
        mass[a] += w
        if w > 0.0:
            counts[a] += 1


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
def seed_distances(W, norms, candidates, minus2, extra, weights, squared, out, sums):
    """out[l, i] = min(squared[i], ‖Wᵢ − candidate l‖²) and sums[l] = Σ wᵢ out[l, i], for every candidate l.

    By a matrix product; a distance that is small beside the norms loses its digits there and is taken by differences.
    """
    n, d = W.shape
    n_candidates = candidates.shape[0]
    small = extra[0] * 0 + extra.dtype.type(0.01)
    width = min(n, max(2048, min(16384, _TILE_WORK // (n_candidates * d))))
    flat = np.empty(n_candidates * width, W.dtype)
    for start in range(0, n, width):
        m = min(width, n - start)
        scores = flat[: n_candidates * m].reshape(n_candidates, m)
        np.dot(minus2, W[start : start + m].T, scores)
        near = norms[start : start + m]
        old = squared[start : start + m]
        for l in range(n_candidates):
            row = scores[l]
            e = extra[l]
            close = 0
            for r in range(m):
                s = row[r] + e + near[r]
                b = old[r]
                close += s < small * near[r]
                row[r] = s if s < b else b
            if close > 0:
                for r in range(m):
                    if row[r] < small * near[r] and row[r] < old[r]:
                        s = small * 0
                        for j in range(d):
                            t = W[start + r, j] - candidates[l, j]
                            s += t * t
                        row[r] = min(s, old[r])
            total = small * 0
            if weights.shape[0] > 0:
                for r in range(m):
                    total += weights[start + r] * row[r]
            else:
                for r in range(m):
                    total += row[r]
            sums[l] += total
            out[l, start : start + m] = row
