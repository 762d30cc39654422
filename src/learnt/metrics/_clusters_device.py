"""Clusters of rows that lie on a device: what `_clusters` asks of rows, computed where they are, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.distances import DEVICE_CELLS
from learnt.engine.arrays import like, namespace
from learnt.engine.finite import require_finite
from learnt.engine.matrices import Route, route
from learnt.engine.rows import as_rows
from learnt.metrics._inputs import column
from learnt.statistics import given, moments

_EUCLIDEAN, _MANHATTAN = ("euclidean", "l2"), ("manhattan", "l1", "cityblock")


def coded_on_device(X: Any, labels: Any) -> tuple[Any, Any, int]:
    """The rows in float64, the number of each row's cluster beside them, and how many clusters there are."""
    xp = namespace(X)
    X = X if X.dtype == xp.float64 else xp.astype(X, xp.float64)
    require_finite(X, "X", "the score")
    if route(labels) is Route.DEVICE:
        names, codes = xp.unique_inverse(xp.reshape(labels, (-1,)))
        return X, codes, int(names.shape[0])
    names, found = np.unique(column(labels, "labels"), return_inverse=True)
    return X, like(found.astype(np.int64), X, xp.int64), len(names)


def cluster_means(values: Any, codes: Any, k: int) -> tuple[Any, Any]:
    """How many rows each cluster has, and their mean (k × columns)."""
    found = moments(as_rows(values), given(codes, k), scatter="none")
    return found.weight, found.mean


def silhouettes(X: Any, codes: Any, k: int, metric: Any) -> Any:
    """(b − a) / max(a, b) of each row, from the distances of some rows at a time."""
    xp, n = namespace(X), X.shape[0]
    member = codes[:, None] == like(np.arange(k), codes, codes.dtype)[None, :]
    shares = xp.astype(member, xp.float64)
    size = xp.sum(shares, axis=0)
    step = max(1, DEVICE_CELLS // n)
    parts = []
    for lo in range(0, n, step):
        hi = min(lo + step, n)
        own = member[lo:hi, :]
        sums = _distances(X[lo:hi, :], X, metric) @ shares
        others = xp.sum(xp.where(own, size[None, :] - 1, xp.zeros_like(sums)), axis=1)
        a = xp.sum(xp.where(own, sums, xp.zeros_like(sums)), axis=1) / xp.clip(others, min=1)
        b = xp.min(xp.where(own, xp.full_like(sums, xp.inf), sums / size), axis=1)
        top = xp.maximum(a, b)
        none = (others == 0) | (top == 0)
        parts.append(xp.where(none, xp.zeros_like(top), (b - a) / xp.where(top == 0, xp.ones_like(top), top)))
    return xp.concat(parts)


def _distances(some: Any, X: Any, metric: Any) -> Any:
    """Distances of some rows to all, a column at a time: no digits of close rows are lost."""
    if metric == "precomputed":
        return some
    if metric not in _EUCLIDEAN + _MANHATTAN:
        raise TypeError(
            f"On a device silhouettes are of Euclidean, Manhattan or precomputed distances, not {metric!r}; "
            "fetch X first, for example with X.cpu().numpy()."
        )
    xp = namespace(X)
    total = xp.zeros_like(some[:, :1] - X[None, :, 0])
    for j in range(X.shape[1]):
        gap = some[:, j][:, None] - X[:, j][None, :]
        total = total + (gap * gap if metric in _EUCLIDEAN else xp.abs(gap))
    return xp.sqrt(total) if metric in _EUCLIDEAN else total
