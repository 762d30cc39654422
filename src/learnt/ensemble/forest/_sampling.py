"""Which rows each tree of a forest sees: a bootstrap sample, drawn anew from the tree's seed when asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from learnt.engine.random import random_state_of

MOST_DRAWN = 1 << 26  # rows of a sample that is larger than the table: half a gigabyte
_SPARSE_DRAW = 0.01  # below this share scikit-learn draws numbers one by one, and again where one is there already


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
            present = np.arange(self.n, dtype=np.int32)
            return present if self.weights is None else present[self.weights > 0]
        random = random_state_of(seed)
        if self.weights is None:
            return random.randint(0, self.n, self.size).astype(np.int32)
        return draw_weighted(random, self.weights, self.size, replace=True).astype(np.int32)

    def counts(self, seed: int) -> np.ndarray:
        """How often each row was drawn."""
        return np.bincount(self.indices(seed), minlength=self.n)

    def left_out(self, seed: int) -> np.ndarray:
        """The rows that a tree has not seen."""
        return np.flatnonzero(self.counts(seed) == 0)


def draw_weighted(random: np.random.RandomState, weights: np.ndarray, size: int, *, replace: bool) -> np.ndarray:
    """Rows drawn in proportion to their weights: the same whether rows of weight 0 are among them or not."""
    return random.choice(len(weights), size, replace=replace, p=weights / weights[weights > 0].sum())


def draw_apart(random: np.random.RandomState, n: int, size: int) -> np.ndarray:
    """`size` different numbers below n: scikit-learn's draws, all at once where it makes one after the other.

    >>> a, b = np.random.RandomState(0), np.random.RandomState(0)
    >>> bool((draw_apart(a, 500, 4) == sample_without_replacement(500, 4, random_state=b)).all())
    True
    """
    if not 0 < size < _SPARSE_DRAW * n:
        return sample_without_replacement(n, size, random_state=random)
    drawn = random.randint(0, n, size)
    while True:
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        if len(drawn) == size:
            return drawn
        drawn = np.concatenate([drawn, random.randint(0, n, size - len(drawn))])


def sample_size(max_samples: Any, n: int, weights: np.ndarray | None, *, stacklevel: int) -> int:
    """How many of n rows are drawn for each member; a share is one of the weight of all rows, as in scikit-learn."""
    if max_samples is None:
        return n
    share = not isinstance(max_samples, Integral)
    total = float(n) if weights is None else float(weights.sum())
    what = f"number of samples is {n}" if weights is None else f"total sum of sample weights is {total:.6g}"
    size = max(int(max_samples * total), 1) if share else int(max_samples)
    if share and size < max(10, n ** (1 / 3)):
        warnings.warn(
            f"Using the fractional value max_samples={max_samples!r} when the {what} results in a low number ({size}) "
            "of bootstrap samples. We recommend passing `max_samples` as an integer instead.",
            stacklevel=stacklevel,
        )
    if size > max(n, MOST_DRAWN):
        why = f", where the {what}," if share else ""
        raise ValueError(
            f"max_samples={max_samples!r}{why} would draw {size:.3g} rows for every member, more than memory is for; "
            "pass max_samples as a whole number, or weights that count rows."
        )
    return size


def balanced_weights(codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights under which the classes of a sample weigh the same, for `class_weight="balanced_subsample"`."""
    weights = np.ones(len(codes))
    for column in codes.T.astype(np.int64):
        mass = np.bincount(column, counts)
        present = mass > 0
        weight = np.zeros(len(mass))
        weight[present] = mass.sum() / (present.sum() * mass[present])
        weights *= weight[column]
    return weights


def in_order(seeds: np.ndarray, sampling: Sampling) -> Iterator[tuple[int, np.ndarray]]:
    """The number of each tree and the rows it has not seen."""
    for t, seed in enumerate(seeds):
        yield t, sampling.left_out(int(seed))
