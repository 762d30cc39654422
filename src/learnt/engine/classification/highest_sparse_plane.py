"""Which of some planes is the highest at each row of a CSR matrix: the prediction of a linear classifier, in one pass.

With two planes their difference decides. With more, scores are summed in single precision, which halves the memory that
the planes are fetched from; a row whose two highest scores are nearer than their rounding is summed again in double.
Cells that are not finite show in the sum of each row's absolute values, so no separate check is needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.kernel import compilation_enabled, kernel
from learnt.engine.threads import for_blocks

_FEWEST_PRODUCTS = 1 << 17  # below which compiled code does not pay
_BLOCK_ENTRIES = 1 << 18
_UNIT = float(np.finfo(np.float32).eps)


class Entries(NamedTuple):
    """A CSR matrix whose cells count as they are, or as 1 above a threshold and as 0 elsewhere."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    binary: bool
    threshold: float

    @classmethod
    def of(cls, X: Any, above: float | None) -> Entries | None:
        """None where the cells are not float64, or where indices need more than four bytes."""
        if X.dtype != np.float64 or X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
            return None
        data, indices, indptr = (np.require(part, requirements=["C", "W"]) for part in (X.data, X.indices, X.indptr))
        return cls(data, indices.view(np.uint32), indptr, above is not None, float(above or 0.0))


def highest_sparse_planes(X: Any, W: np.ndarray, b: np.ndarray, above: float | None = None) -> np.ndarray | None:
    """The number of the plane with the largest w·x + b at each row, the first among equals; W is (K × d).

    `above`: cells count as 1 where they are greater than it, and as 0 elsewhere. None where there is little to do, X is
    not float64, or a cell or plane is not finite: the caller then takes the general code path.
    """
    entries = Entries.of(X, above)
    if entries is None or X.nnz * len(b) < _FEWEST_PRODUCTS or len(b) < 2 or not compilation_enabled():
        return None
    codes = np.empty(X.shape[0], dtype=np.int64)
    W, b = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    rows = max(1, _BLOCK_ENTRIES * X.shape[0] // X.nnz)
    if len(b) == 2:
        plane, offset = W[1] - W[0], float(b[1] - b[0])
        fine = for_blocks(lambda lo, hi: fill_sides(entries, plane, offset, lo, codes[lo:hi]), len(codes), grain=rows)
    else:
        near, offsets = np.empty((X.shape[1], len(b)), dtype=np.float32), (b - b[0]).astype(np.float32)
        size = fill_differences(W, near)
        fine = for_blocks(
            lambda lo, hi: fill_highest_sparse(
                entries, near, offsets, size, W, b, lo, codes[lo:hi], np.empty(len(b), np.float32)
            ),
            len(codes),
            grain=rows,
        )
    return codes if all(fine) and np.isfinite(b).all() else None


@kernel(allocates=False)
def fill_sides(entries, plane, offset, first, codes):
    """1 where the plane is above 0 and 0 elsewhere, from row `first` on; False if a row is not finite."""
    data, indices, indptr, binary, threshold = entries
    fine = True
    for i in range(codes.size):
        at, end = indptr[first + i], indptr[first + i + 1]
        fours = end - (end - at) % 4
        s0, s1, s2, s3 = offset, 0.0, 0.0, 0.0
        bad = False
        if binary:
            while at < end:
                bad |= not np.isfinite(data[at])
                s0 += plane[indices[at]] if data[at] > threshold else 0.0
                at += 1
        while at < fours:
            s0 += data[at] * plane[indices[at]]
            s1 += data[at + 1] * plane[indices[at + 1]]
            s2 += data[at + 2] * plane[indices[at + 2]]
            s3 += data[at + 3] * plane[indices[at + 3]]
            at += 4
        while at < end:
            s0 += data[at] * plane[indices[at]]
            at += 1
        score = (s0 + s1) + (s2 + s3)
        codes[i] = 1 if score > 0.0 else 0
        fine = fine and not bad and np.isfinite(score)
    return fine


@kernel(allocates=False)
def fill_differences(W, near):
    """W[k] − W[0], features first and rounded; the largest of them."""
    size = 0.0
    for j in range(W.shape[1]):
        for k in range(W.shape[0]):
            difference = W[k, j] - W[0, j]
            near[j, k] = difference
            size = max(size, abs(difference))
    return size


@kernel(reassociate=True, allocates=False)
def fill_highest_sparse(entries, near, offsets, size, W, b, first, codes, scores):
    """The highest of more than two planes, from row `first` on; False if a row is not finite."""
    data, indices, indptr, binary, threshold = entries
    fine = True
    n_planes = scores.size
    widest = 0.0
    for k in range(n_planes):
        widest = max(widest, abs(offsets[k]))
    for i in range(codes.size):
        start, end = np.uint64(indptr[first + i]), np.uint64(indptr[first + i + 1])
        total = 0.0
        for at in range(start, end):
            total += abs(data[at])
        if not np.isfinite(total):
            fine = False
        for k in range(n_planes):
            scores[k] = offsets[k]
        at = start
        fours = end - (end - start) % np.uint64(4)
        while at < fours:
            at1, at2, at3 = at + np.uint64(1), at + np.uint64(2), at + np.uint64(3)
            x0, x1 = cell(data[at], binary, threshold), cell(data[at1], binary, threshold)
            x2, x3 = cell(data[at2], binary, threshold), cell(data[at3], binary, threshold)
            j0, j1, j2, j3 = indices[at], indices[at1], indices[at2], indices[at3]
            for k in range(n_planes):
                scores[k] += x0 * near[j0, k] + x1 * near[j1, k] + x2 * near[j2, k] + x3 * near[j3, k]
            at += np.uint64(4)
        while at < end:
            x, j = cell(data[at], binary, threshold), indices[at]
            for k in range(n_planes):
                scores[k] += x * near[j, k]
            at += np.uint64(1)
        top, second, best = -np.inf, -np.inf, 0
        for k in range(n_planes):
            score = np.float64(scores[k])
            if score > top:
                top, second, best = score, top, k
            elif score > second:
                second = score
        most = np.float64(end - start) if binary else total
        # Twice the largest error of a score: cells, planes, products and sums are each rounded by half a unit at most.
        doubt = (np.float64(end - start) + 4.0) * _UNIT * (most * size + widest)
        if not top - second > doubt:
            best, top = exactly_highest(entries, start, end, W, b)
            fine = fine and np.isfinite(top)
        codes[i] = best
    return fine


@kernel(allocates=False)
def cell(value, binary, threshold):
    if binary:
        return np.float32(1.0) if value > threshold else np.float32(0.0)
    return np.float32(value)


@kernel(allocates=False)
def exactly_highest(entries, start, end, W, b):
    """The highest plane at one row and its score, in double precision."""
    best, top = 0, -np.inf
    for k in range(b.size):
        score = b[k]
        for at in range(start, end):
            x = entries.data[at]
            if entries.binary:
                x = 1.0 if x > entries.threshold else 0.0
            score += x * W[k, entries.indices[at]]
        if score > top:
            best, top = k, score
    return best, top
