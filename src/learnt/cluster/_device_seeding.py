"""Seeds for arrays on a device, and the choice of the right kind for any rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.cluster._seeding import (
    BUCKETS,
    CompiledSeeds,
    LargeLottery,
    Lottery,
    Seeds,
    SparseSeeds,
    direction,
)
from learnt.distances import DEVICE_CELLS, expanded
from learnt.engine.arrays import is_foreign_array, like, namespace, to_numpy


class DeviceLottery:
    """`Lottery` for an array on a device."""

    def __init__(self, X: Any) -> None:
        xp = namespace(X)
        self._order = xp.argsort(X @ like(direction(X.shape[1]), X))

    def draw(self, chances: Any, uniforms: np.ndarray) -> np.ndarray:
        xp = namespace(chances)
        totals = xp.cumulative_sum(xp.take(xp.astype(chances, xp.float64), self._order))
        levels = like(uniforms * float(totals[-1]), totals)
        at = xp.clip(xp.searchsorted(totals, levels, side="right"), max=totals.shape[0] - 1)
        return to_numpy(xp.take(self._order, at))


class DeviceSeeds(Seeds):
    """The same for an array on a device; distances stay there."""

    def __init__(self, X: Any, weights: Any, origin: Any) -> None:
        self.X, self.weights, self._origin = X, weights, origin
        xp = namespace(X)
        self.n = X.shape[0]
        self.chosen = []
        self.squared = xp.full((self.n,), float("inf"), dtype=X.dtype, device=X.device)
        self._tried = {}

    def chances(self) -> Any:
        xp = namespace(self.X)
        if not self.chosen:
            return xp.ones_like(self.squared) if self.weights is None else self.weights
        return self.squared if self.weights is None else self.squared * self.weights

    def distances(self, index: np.ndarray) -> Any:
        xp = namespace(self.X)
        at = like(index, self.X, xp.int64)
        C = xp.astype(xp.take(self.X, at, axis=0), xp.float64)
        step = max(1, DEVICE_CELLS // self.X.shape[1])  # about the origin: not of all rows at once
        parts = [self._some_distances(self.X[lo : lo + step, :], C) for lo in range(0, self.n, step)]
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)

    def _some_distances(self, X: Any, C: Any) -> Any:
        xp = namespace(X)
        scores, norms = expanded(X, C, self._origin)
        scores = xp.clip(scores + norms[:, None], min=0.0)
        unit = xp.finfo(X.dtype).eps * (X.shape[1] + 8)
        return xp.where(scores < unit * norms[:, None], xp.zeros_like(scores), scores).T

    def potentials(self, index: np.ndarray) -> np.ndarray:
        xp = namespace(self.X)
        found = xp.minimum(self.distances(index), self.squared[None, :])
        self._tried = {int(i): found[l, :] for l, i in enumerate(index)}
        return to_numpy(xp.sum(found if self.weights is None else found * self.weights, axis=1, dtype=xp.float64))

    def take(self, i: int) -> None:
        xp = namespace(self.X)
        new = self._tried[i] if i in self._tried else self.distances(np.array([i]))[0, :]
        self.squared = xp.minimum(self.squared, new)
        self._tried = {}
        self.chosen.append(i)

    def farthest(self) -> int:
        xp = namespace(self.X)
        return int(xp.argmax(self.squared if self.weights is None else xp.where(self.weights > 0, self.squared, -1.0)))


def seeds_of(X: Any, weights: Any, origin: Any, rounded: tuple[np.ndarray, np.ndarray] | None) -> Seeds:
    """The kind of `Seeds` for these rows; `rounded` is W and its squared norms, where there is such a copy of X."""
    if is_foreign_array(X):
        return DeviceSeeds(X, weights, origin)
    if rounded is not None:
        return CompiledSeeds(*rounded, weights)
    return SparseSeeds(X, weights) if sparse.issparse(X) else Seeds(X, weights)


def lottery_of(X: Any) -> Any:
    """The kind of `Lottery` for these rows."""
    if is_foreign_array(X):
        return DeviceLottery(X)
    return LargeLottery(X) if X.shape[0] > BUCKETS else Lottery(X)
