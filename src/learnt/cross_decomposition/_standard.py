"""Columns about their means, in units of their standard deviations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.rows import as_rows
from learnt.statistics import moments

_CONSTANT = 4 * float(np.finfo(np.float64).eps)  # of the mean: a deviation that rounding alone may leave
_FAR = 30.0  # means above this many deviations cost digits where they are subtracted from products


class Units(NamedTuple):
    """Mean and standard deviation of each column; 1 for a constant one, and for all without scaling."""

    mean: np.ndarray
    std: np.ndarray
    inverse: np.ndarray  # 1 / std, 0 for constant columns
    far: bool  # whether some mean is far from 0

    def apply(self, A: np.ndarray, overwrite: bool = False) -> np.ndarray:
        """The table in these units; constant columns are 0."""
        if not overwrite:
            A = A - self.mean
        else:
            A -= self.mean
        A *= self.inverse
        return A


def units_of(A: np.ndarray, scale: bool, name: str) -> Units:
    """The units of the columns of a table, named `name` in a refusal.

    >>> units_of(np.array([[1.0, 7.0], [3.0, 7.0]]), True, "X").inverse.round(4).tolist()
    [0.7071, 0.0]
    """
    n = len(A)
    found = moments(as_rows(A))
    mean, squares = np.asarray(found.mean, np.float64), np.asarray(found.scatter, np.float64)
    if not np.isfinite(squares).all():
        raise ValueError(f"{name} has values so large that their squares are infinite; divide its columns first.")
    with np.errstate(over="ignore"):
        constant = squares <= n * (_CONSTANT * mean) ** 2
    spread = np.sqrt(squares / max(n - 1, 1))
    std = np.where(constant | (not scale), 1.0, spread)
    far = bool((np.abs(mean) > _FAR * spread)[~constant].any())
    return Units(mean, std, np.where(constant, 0.0, 1.0 / std), far)


class Table(NamedTuple):
    """A standardised table: its values, or those of the caller with the units to take them in."""

    values: np.ndarray
    units: Units | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    def times(self, V: np.ndarray) -> np.ndarray:
        """Z V."""
        if self.units is None:
            return self.values @ V
        V = (V.T * self.units.inverse).T
        return self.values @ V - self.units.mean @ V

    def transposed_times(self, U: np.ndarray) -> np.ndarray:
        """ZᵀU of a vector, or of columns, which are taken one by one: BLAS is slow at thin matrices."""
        if U.ndim == 2:
            if U.shape[1] > 4:
                out = self.values.T @ U
            else:
                out = np.stack([column @ self.values for column in np.ascontiguousarray(U.T)], axis=1)
        else:
            out = U @ self.values
        if self.units is None:
            return out
        out -= np.multiply.outer(self.units.mean, U.sum(axis=0))
        return (out.T * self.units.inverse).T

    def all_values(self) -> np.ndarray:
        """Z itself."""
        return self.values if self.units is None else self.units.apply(self.values)
