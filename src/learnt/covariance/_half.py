"""The half of the rows whose covariance has the smallest determinant (FAST-MCD; Rousseeuw and Van Driessen 1999).

A concentration step takes the h rows nearest to a centre, in units of a covariance, and their mean and covariance: the
determinant never rises. It begins at many small random sets of rows, so that some hold no outlier; two steps tell which
are worth going on with. Of more rows than some hundreds, the first steps are made on parts of them.
In one dimension the best half is a stretch of the sorted rows, and found exactly.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import run_tasks, single_blas
from learnt.linalg.decompositions import eigh
from learnt.statistics import gaussians, log_densities, moments

_STARTS, _BEST = 500, 10  # small sets in all, and of these how many are followed to the end
_PART, _PARTS = 300, 5  # rows of a part, and the most parts
_MOST_STEPS = 200  # to the end: each step lowers the determinant, and there are finitely many sets
_SINGULAR = 1e-12  # a variance that is rounding, as a share of the column's own


class Halves(NamedTuple):
    """Means (T, d) and covariances (T, d, d) of T sets of rows, and the logarithms of the determinants."""

    mean: np.ndarray
    covariance: np.ndarray
    log_det: np.ndarray

    def take(self, which: np.ndarray) -> Halves:
        return Halves(*(part[which] for part in self))


def support_size(n: int, d: int, fraction: float | None) -> int:
    """h: a share of the rows, or just more than half of them.

    >>> support_size(100, 5, None), support_size(100, 5, 0.75)
    (53, 75)
    """
    if fraction is None:
        return min(n, -(-(n + d + 1) // 2))
    return max(1, int(fraction * n))


@single_blas()
def best_half(X: np.ndarray, h: int, random: np.random.Generator) -> np.ndarray:
    """Which rows (a mask) are the h whose covariance has the smallest determinant.

    Directions in which no rows differ are left out.

    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [0.2, 0.2], [9.0, 8.0], [0.3, 0.1]])
    >>> best_half(X, 4, np.random.default_rng(0))
    array([ True,  True,  True, False,  True])
    """
    if h >= len(X):
        return np.ones(len(X), dtype=bool)
    Z = spread(X)
    if Z.shape[1] == 0:
        return np.arange(len(X)) < h
    if Z.shape[1] == 1:
        return shortest_stretch(Z[:, 0], h)
    return _search(Z, h, random)


def spread(X: np.ndarray) -> np.ndarray:
    """The rows in the directions in which they differ, each of variance 1: no determinant's rank changes.

    >>> spread(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0], [1.0]]
    """
    found = moments(as_rows(X), scatter="full").to_numpy()
    C = found.scatter / len(X)
    unit = np.sqrt(np.diag(C))
    rounding = np.abs(found.mean) * 1e-14
    kept = np.flatnonzero(unit > rounding)
    Z = (X[:, kept] - found.mean[kept]) / unit[kept]
    if not kept.size:
        return Z
    values, vectors = eigh(C[np.ix_(kept, kept)] / np.outer(unit[kept], unit[kept]))
    if values[0] > len(kept) * _SINGULAR:
        return Z
    own = values > len(kept) * _SINGULAR
    return Z @ (vectors[:, own] / np.sqrt(values[own]))


def shortest_stretch(x: np.ndarray, h: int) -> np.ndarray:
    """The h numbers of least variance: a stretch of the sorted ones.

    >>> shortest_stretch(np.array([5.0, 0.0, 0.1, 7.0, 0.3]), 3).tolist()
    [False, True, True, False, True]
    """
    order = np.argsort(x, kind="stable")
    values = x[order] - np.median(x)
    first, second = (np.concatenate([[0.0], np.cumsum(v)]) for v in (values, values**2))
    total, square = first[h:] - first[:-h], second[h:] - second[:-h]
    start = int(np.argmin(square - total**2 / h))
    mask = np.zeros(len(x), dtype=bool)
    mask[order[start : start + h]] = True
    return mask


def _search(Z: np.ndarray, h: int, random: np.random.Generator) -> np.ndarray:
    n = len(Z)
    parts = min(_PARTS, n // _PART)
    if parts < 2:
        found = _from_random(Z, random, h, _STARTS)
    else:
        order = random.permutation(n)[: parts * _PART]
        blocks = [Z[np.sort(one)] for one in order.reshape(parts, _PART)]
        share, some = h / n, _STARTS // parts
        size = _share(share, _PART)
        each = run_tasks([partial(_from_random, *one, size, some) for one in zip(blocks, random.spawn(parts))])
        found = Halves(*(np.concatenate(columns) for columns in zip(*each)))
        merged = np.concatenate(blocks)
        if len(merged) < n:
            found = _best(_concentrated(merged, found, _share(share, len(merged)), 2))
    found = _to_the_end(Z, found, h)
    best = found.take(np.array([int(np.argmin(found.log_det))]))
    return _nearest(Z, best, h)[0]


def _share(share: float, n: int) -> int:
    return min(n, max(1, int(np.ceil(share * n))))


def _from_random(Z: np.ndarray, random: np.random.Generator, h: int, starts: int) -> Halves:
    """Two steps from small random sets of rows, of which the best go on."""
    n, d = Z.shape
    order = np.argsort(random.random((starts, n)), axis=1)
    size = min(d + 1, h)
    found = _of_sets(Z, _mask(order[:, :size], n))
    while size < h and (flat := np.flatnonzero(~np.isfinite(found.log_det))).size:
        size = min(2 * size, h)  # sets of rows that span nothing are made larger
        again = _of_sets(Z, _mask(order[flat, :size], n))
        for old, new in zip(found, again):
            old[flat] = new
    return _best(_concentrated(Z, found, h, 2))


def _best(found: Halves) -> Halves:
    return found.take(np.argsort(found.log_det, kind="stable")[:_BEST])


def _concentrated(Z: np.ndarray, found: Halves, h: int, steps: int) -> Halves:
    for _ in range(steps):
        found = _of_sets(Z, _nearest(Z, found, h))
    return found


def _to_the_end(Z: np.ndarray, found: Halves, h: int) -> Halves:
    """Steps until no set changes; two on the way, the best go on."""
    found = _best(_concentrated(Z, found, h, 2))
    for _ in range(_MOST_STEPS):
        new = _of_sets(Z, _nearest(Z, found, h))
        lower = new.log_det < found.log_det
        if not lower.any():
            break
        for old, now in zip(found, new):
            old[lower] = now[lower]
    return found


def _mask(index: np.ndarray, n: int) -> np.ndarray:
    mask = np.zeros((len(index), n), dtype=bool)
    np.put_along_axis(mask, index, True, axis=1)
    return mask


def _nearest(Z: np.ndarray, found: Halves, h: int) -> np.ndarray:
    """The h rows nearest to each centre: masks (T, n)."""
    near = log_densities(Block(Z), gaussians("full", found.mean, _factors(found.covariance)))
    return _mask(np.argpartition(-near.T, h - 1, axis=1)[:, :h], len(Z))


def _of_sets(Z: np.ndarray, masks: np.ndarray) -> Halves:
    """The mean and the covariance of each set of rows."""
    found = moments(as_rows(Z), masks.T.astype(np.float64), scatter="full").to_numpy()
    C = found.covariance()
    sign, log_det = np.linalg.slogdet(C)
    variance = np.diagonal(C, axis1=1, axis2=2)
    with np.errstate(divide="ignore"):
        least = np.log(variance).sum(axis=1) + np.log(_SINGULAR)
    flat = (sign <= 0) | ~(log_det > least)
    return Halves(found.mean, C, np.where(flat, -np.inf, log_det))


def _factors(C: np.ndarray) -> np.ndarray:
    """F with C⁻¹ = F Fᵀ, upper triangular; far from a plane that all rows of a set lie in, distances are large."""
    d = C.shape[1]
    variance = np.trace(C, axis1=1, axis2=2) / d
    ridge = _SINGULAR * np.where(variance > 0, variance, 1.0)
    L = np.linalg.cholesky(C + ridge[:, None, None] * np.eye(d))
    return np.ascontiguousarray(np.swapaxes(np.linalg.inv(L), 1, 2))
