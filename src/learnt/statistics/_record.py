"""Weight, mean and scatter of some rows, or of each group of them; how two of these are put together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.matrices import take_rows

NONE, DIAGONAL, FULL, POOLED = "none", "diagonal", "full", "pooled"
_NUMBERS = (int, float, np.floating)


class Moments(NamedTuple):
    """Moments of all rows, or of K groups of rows with one more axis in front.

    weight   Σw: a number; (K,) for groups; (d,) where cells may be missing
    mean     (d,) or (K, d); undefined for a group without weight
    scatter  about the mean: None, Σw(x − mean)² of each column ("diagonal", mean's shape), Σw(x − mean)(x − mean)ᵀ
             ("full", one more axis), or the sum of that over the groups ("pooled", (d, d))

    >>> a = Moments(2.0, np.array([1.0]), np.array([2.0]), "diagonal")
    >>> a.merge(Moments(1.0, np.array([4.0]), np.array([0.0]), "diagonal"))
    Moments(weight=3.0, mean=array([2.]), scatter=array([8.]), kind='diagonal')
    """

    weight: Any
    mean: Any
    scatter: Any = None
    kind: str = NONE

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows together (Chan, Golub and LeVeque 1979)."""
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        share = spread_out(other.weight / divisor(weight), delta)
        mean = self.mean + share * delta
        if self.kind == NONE:
            return Moments(weight, mean)
        between = products(delta, share, self.weight, self.kind)
        return Moments(weight, mean, self.scatter + other.scatter + between, self.kind)

    def shifted(self, by: Any) -> Moments:
        """The moments of the rows x + by."""
        return self._replace(mean=self.mean + by)

    def total(self) -> Moments:
        """The moments of all groups' rows together: scatter within the groups plus scatter between them."""
        xp = namespace(self.mean)
        weight = float(xp.sum(self.weight))
        mean = xp.sum(self.weight[:, None] * self.mean, axis=0) / (weight or 1.0)
        if self.kind == NONE:
            return Moments(weight, mean)
        kind = DIAGONAL if self.kind == DIAGONAL else POOLED
        between = products(self.mean - mean, 1.0, self.weight, kind)
        between = xp.sum(between, axis=0) if kind == DIAGONAL else between
        return Moments(weight, mean, self.within() + between, DIAGONAL if kind == DIAGONAL else FULL)

    def within(self) -> Any:
        """The scatter about the groups' own means, summed over the groups: (d,) or (d, d)."""
        return self.scatter if self.kind == POOLED else namespace(self.scatter).sum(self.scatter, axis=0)

    def covariance(self, ddof: float = 0.0) -> Any:
        """Scatter divided by weight − ddof (pooled: total weight − ddof); 0 where there is no such divisor."""
        weight = self.weight if self.kind != POOLED else float(namespace(self.mean).sum(self.weight))
        return self.scatter / spread_out(divisor(weight - ddof), self.scatter)

    def take(self, groups: Any) -> Moments:
        """The moments of some of the groups, by their numbers. A pooled scatter stays that of all."""
        parts = (self.weight, self.mean, self.scatter if self.kind in (DIAGONAL, FULL) else None)
        weight, mean, scatter = (None if part is None else take_rows(part, groups) for part in parts)
        return Moments(weight, mean, self.scatter if self.kind == POOLED else scatter, self.kind)

    def to_numpy(self) -> Moments:
        """The same numbers as NumPy arrays."""
        weight = self.weight if isinstance(self.weight, float) else to_numpy(self.weight)
        scatter = None if self.scatter is None else to_numpy(self.scatter)
        return Moments(weight, to_numpy(self.mean), scatter, self.kind)


def products(delta: Any, share: Any, weight: Any, kind: str) -> Any:
    """share · weight · δδᵀ of each group: the diagonals, the matrices, or the sum of the matrices."""
    if kind == DIAGONAL:
        return delta**2 * share * spread_out(weight, delta)
    scale = share * spread_out(weight, delta)
    if kind == POOLED:
        root = delta * scale**0.5
        return root.T @ root
    scale = scale if isinstance(scale, float) else scale[..., None]
    return scale * (delta[..., :, None] * delta[..., None, :])


def spread_out(weight: Any, values: Any) -> Any:
    """A weight for each group, with trailing axes to broadcast with `values`.

    Numbers and per-column weights as they are.
    """
    if isinstance(weight, _NUMBERS) or weight.ndim in (0, values.ndim):
        return weight
    return weight[:, None] if values.ndim == 2 else weight[:, None, None]


def divisor(values: Any) -> Any:
    """Values to divide by: 1 in place of whatever is not above 0."""
    if isinstance(values, _NUMBERS):
        return values if values > 0 else 1.0
    xp = namespace(values)
    return xp.where(values > 0, values, xp.ones_like(values))
