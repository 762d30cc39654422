"""From a table of numbers, codes of categories and empty cells to what the first layer reads.

Numbers come first, their empty cells filled by the mean of training; then a column of 0 and 1 for each column that had
empty cells in training; then every category's embedding, a few learnt numbers. Embedding 0 is for empty cells and for
values that did not occur in training.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.forestry import Categories


class Inputs(NamedTuple):
    """How a table with categories or empty cells is read."""

    numbers: np.ndarray  # places of the columns of numbers
    fill: np.ndarray  # of each of them, what an empty cell becomes
    marked: np.ndarray  # of them, the places (among numbers) that have a column of 0 and 1
    codes: np.ndarray  # places of the columns of categories
    levels: np.ndarray  # the number of known values of each of them

    @classmethod
    def learn(cls, X: np.ndarray, categories: Categories | None, w: np.ndarray | None) -> Inputs | None:
        """None where X is numbers without empty cells."""
        empty = np.isnan(X)
        if categories is None and not empty.any():
            return None
        columns = np.zeros(0, np.int64) if categories is None else categories.columns
        numbers = np.setdiff1d(np.arange(X.shape[1]), columns)
        values, holes = X[:, numbers], empty[:, numbers]
        weights = np.where(holes, 0.0, 1.0 if w is None else w[:, None])
        total = weights.sum(axis=0)
        fill = np.divide(
            (np.where(holes, 0, values) * weights).sum(axis=0), total, out=np.zeros(len(numbers)), where=total > 0
        )
        levels = [] if categories is None else [len(values) for values in categories.values]
        return cls(numbers, fill, np.flatnonzero(holes.any(axis=0)), columns, np.asarray(levels, dtype=np.int64))

    def read(self, X: np.ndarray) -> np.ndarray:
        """Numbers, marks, and for each column of categories the row of its embedding."""
        values = X[:, self.numbers]
        holes = np.isnan(values)
        parts = [np.where(holes, self.fill.astype(X.dtype), values), holes[:, self.marked].astype(X.dtype)]
        if len(self.codes):
            codes = X[:, self.codes] + 1  # −1 is an unknown value
            parts.append(np.where(np.isnan(codes), 0, codes))
        return np.concatenate(parts, axis=1)

    @property
    def n_plain(self) -> int:
        """How many inputs are numbers or marks."""
        return len(self.numbers) + len(self.marked)

    def widths(self) -> list[int]:
        """The sizes of the embeddings: half as many numbers as there are values, 50 at most."""
        return [int(min(50, (n + 1) // 2)) if n > 1 else 1 for n in self.levels]

    def embedded(self, table: np.ndarray, embeddings: list[np.ndarray]) -> np.ndarray:
        """What `read` gave, with embeddings in place of their rows."""
        q = self.n_plain
        parts = [table[:, :q]]
        parts += [rows[table[:, q + k].astype(np.int64)] for k, rows in enumerate(embeddings)]
        return np.concatenate(parts, axis=1)


def inputs_check(value: Any, dims: dict[str, int]) -> str | None:
    """Whether `value` from a model file can read tables of d columns."""
    if type(value) is not dict or set(value) != set(Inputs._fields):
        return "is not a record of inputs"
    d = dims.get("d", 0)
    numbers, fill, marked, codes, levels = (value[name] for name in Inputs._fields)
    places = (numbers, marked, codes, levels)
    if not all(type(a) is np.ndarray and a.ndim == 1 and a.dtype == np.int64 for a in places):
        return "is not a record of inputs"
    if (
        type(fill) is not np.ndarray
        or fill.shape != numbers.shape
        or fill.dtype != np.float64
        or not np.isfinite(fill).all()
    ):
        return "does not fill every column of numbers"
    both = np.concatenate([numbers, codes])
    if not np.array_equal(np.sort(both), np.arange(d)) or levels.shape != codes.shape or (levels < 0).any():
        return "names other columns than there are"
    if marked.size and not (marked.min() >= 0 and marked.max() < len(numbers)):
        return "marks columns that do not exist"
    return None
