"""Dyadic cubes: the box around the data halved along every side, again and again; only cubes with rows are kept.

The cubes form a tree: a cube of level q has up to 2^d halves of level q + 1. A child is found by its key, the number of
its parent followed by d bits that say which half it is in each direction; keys are sorted, and bisection finds them.
"""

from __future__ import annotations

import numpy as np

MOST_COLUMNS = 30  # a key is an integer of 64 bits


class Cells:
    """The cubes that hold rows, coarse ones first.

    Attributes
    ----------
    lower, upper : arrays of shape (d,)
        The box around the data.
    keys : int64 array of shape (n_cells − 1,)
        Sorted; entry k belongs to cell k + 1, cell 0 being the whole box.
    level : int64 array of shape (n_cells,)
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray, keys: np.ndarray, level: np.ndarray) -> None:
        self.lower, self.upper, self.keys, self.level = lower, upper, keys, level

    @property
    def count(self) -> int:
        return len(self.level)

    @classmethod
    def around(cls, X: np.ndarray, depth: int) -> tuple[Cells, np.ndarray]:
        """The cubes down to `depth` that hold rows of X, and the cell of every row at every level (−1: not refined).

        A cube with a single row is not halved: nothing would change.
        """
        lower, upper = X.min(axis=0), X.max(axis=0)
        n = X.shape[0]
        cells = cls(lower, upper, np.empty(0, np.int64), np.zeros(1, np.int64))
        position = cells.scaled(X)
        path = np.full((n, depth + 1), -1, dtype=np.int64)
        path[:, 0] = 0
        keys, levels, count = [], [np.zeros(1, np.int64)], 1
        active = np.arange(n)
        for level in range(1, depth + 1):
            sizes = np.bincount(path[active, level - 1], minlength=count)
            active = active[sizes[path[active, level - 1]] > 1]
            if not len(active):
                break
            found, inverse = np.unique(
                cells.child_keys(path[active, level - 1], position[active], level), return_inverse=True
            )
            path[active, level] = count + inverse
            keys.append(found)
            levels.append(np.full(len(found), level))
            count += len(found)
        cells.keys = np.concatenate([np.empty(0, np.int64), *keys])
        cells.level = np.concatenate(levels)
        return cells, path

    def scaled(self, X: np.ndarray) -> np.ndarray:
        """X in the unit cube; what lies outside the box goes to its side."""
        span = np.where(self.upper > self.lower, self.upper - self.lower, 1.0)
        return np.clip((X - self.lower) / span, 0.0, np.nextafter(1.0, 0.0))

    def child_keys(self, cells: np.ndarray, position: np.ndarray, level: int) -> np.ndarray:
        """The keys of the halves of level `level` that rows of these cells lie in."""
        d = position.shape[1]
        bits = np.floor(position * 2.0**level).astype(np.int64) & 1
        return (cells << d) | (bits @ (np.int64(1) << np.arange(d, dtype=np.int64)))

    def find(self, X: np.ndarray, refine: np.ndarray) -> np.ndarray:
        """The finest cell of each row: it goes on from a cell that `refine` marks to the half it lies in, if kept."""
        position = self.scaled(X)
        found = np.zeros(X.shape[0], dtype=np.int64)
        active = np.arange(X.shape[0])
        depth = int(self.level.max()) if len(self.level) else 0
        for level in range(1, depth + 1):
            active = active[refine[found[active]]]
            if not len(active):
                break
            keys = self.child_keys(found[active], position[active], level)
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            known = self.keys[at] == keys
            active = active[known]
            found[active] = at[known] + 1
        return found

    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper corner of every cell."""
        d = len(self.lower)
        low, size = np.zeros((self.count, d)), np.ones((self.count, 1))
        for cell in range(1, self.count):
            key = int(self.keys[cell - 1])
            parent = key >> d
            bits = np.array([key >> j & 1 for j in range(d)])
            size[cell] = size[parent] / 2
            low[cell] = low[parent] + bits * size[cell]
        span = self.upper - self.lower
        return self.lower + low * span, self.lower + (low + size) * span
