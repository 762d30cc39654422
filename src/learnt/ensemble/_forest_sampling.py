"""Which rows each tree of a forest sees: a bootstrap sample, drawn anew from the tree's seed when asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np


class Sampling:
    """The samples of the trees of one forest: the same draws as scikit-learn's for the same seeds.

    Parameters
    ----------
    n : int
        Training rows.
    size : int or None
        Rows drawn with replacement for each tree; None: every tree sees all rows once.
    weights : array of shape (n,) or None
        Weights of the rows: chances to be drawn, or weights themselves where nothing is drawn.
    """

    def __init__(self, n: int, size: int | None, weights: np.ndarray | None) -> None:
        self.n, self.size, self.weights = n, size, weights

    def indices(self, seed: int) -> np.ndarray:
        """The rows of a sample, as often as they were drawn."""
        if self.size is None:
            return np.arange(self.n, dtype=np.int32)
        random = np.random.RandomState(seed)
        if self.weights is None:
            return random.randint(0, self.n, self.size).astype(np.int32)
        chances = self.weights / self.weights.sum()
        return random.choice(self.n, self.size, replace=True, p=chances).astype(np.int32)

    def counts(self, seed: int) -> np.ndarray:
        """How often each row was drawn."""
        return np.bincount(self.indices(seed), minlength=self.n)

    def left_out(self, seed: int) -> np.ndarray:
        """The rows that a tree has not seen."""
        return np.flatnonzero(self.counts(seed) == 0)


def sample_size(n: int, max_samples: Any, weights: np.ndarray | None) -> int:
    """How many rows are drawn for each tree; a share is one of the weight of all rows."""
    if max_samples is None:
        return n
    if isinstance(max_samples, Integral):
        return int(max_samples)
    total = n if weights is None else float(weights.sum())
    size = max(int(max_samples * total), 1)
    if size < max(10, n ** (1 / 3)):
        what = "number of samples is" if weights is None else "total sum of sample weights is"
        warnings.warn(
            f"Using the fractional value max_samples={max_samples} when the {what} {total} results in a low number "
            f"({size}) of bootstrap samples; pass max_samples as a whole number instead.",
            stacklevel=4,
        )
    return size


def balanced_weights(codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights under which the classes of a sample weigh the same, for `class_weight="balanced_subsample"`."""
    weights = np.ones(len(codes))
    for column in codes.T.astype(np.int64):
        mass = np.bincount(column, counts)
        there = mass > 0
        weight = np.zeros(len(mass))
        weight[there] = mass.sum() / (there.sum() * mass[there])
        weights *= weight[column]
    return weights


def in_order(seeds: np.ndarray, sampling: Sampling) -> Iterator[tuple[int, np.ndarray]]:
    """The number of each tree and the rows it has not seen."""
    for t, seed in enumerate(seeds):
        yield t, sampling.left_out(int(seed))
