"""The data of a race in the study's process: targets, folds, and which rows of a fold are held out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnt.engine.random import stream
from learnt.study.race._objective import Objective

MOST_VALID = 10_000  # held-out rows of a fold


def fold_rows(fold: tuple[np.ndarray, np.ndarray], number: int, seed: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows of a fold in random order (a prefix is a sample), at most `most`, and its held-out rows."""
    rng = stream(seed, number)
    train, valid = fold
    return train[rng.permutation(len(train))][:most], valid[rng.permutation(len(valid))][:MOST_VALID]


@dataclass(frozen=True)
class Ground:
    """Class numbers or amounts of the development rows, and the folds that are used."""

    y: np.ndarray
    folds: list[tuple[np.ndarray, np.ndarray]]
    parts: int  # folds of one partition of the rows; more folds are further partitions
    n_classes: int | None
    objective: Objective
    seed: int
    image: tuple[int, int, int] | None = None  # rows, columns and channels, where all columns are pixels

    @cached_property
    def held(self) -> list[np.ndarray]:
        """The held-out rows of every fold, in the order of the predictions that are kept."""
        return [fold_rows(fold, k, self.seed, 1)[1] for k, fold in enumerate(self.folds)]

    @cached_property
    def rows(self) -> np.ndarray:
        """The held-out rows of all folds, one after another; with several partitions a row is there several times."""
        return np.concatenate(self.held)

    @cached_property
    def fold(self) -> np.ndarray:
        """Which fold each of `rows` is held out in."""
        return np.repeat(np.arange(len(self.held)), [len(rows) for rows in self.held])

    @cached_property
    def groups(self) -> np.ndarray:
        """A group for each of `rows`, the same wherever a row appears: its fold in the first partition."""
        first = np.zeros(len(self.y), dtype=np.int64)
        for k, (_, valid) in enumerate(self.folds[: self.parts]):
            first[valid] = k
        return first[self.rows]

    @cached_property
    def repeats(self) -> float:
        """How many times a row is held out, in the mean."""
        return len(self.rows) / len(np.unique(self.rows))

    @property
    def training_rows(self) -> int:
        return max(len(train) for train, _ in self.folds)

    def constant(self, fold: int) -> np.ndarray:
        """What the best constant of a fold's training rows predicts for its held-out rows."""
        inside = self.y[self.folds[fold][0]]
        n = len(self.held[fold])
        if self.n_classes is None:
            return np.full(n, inside.mean())
        return np.tile(np.bincount(inside, minlength=self.n_classes) / len(inside), (n, 1))

    def fold_losses(self, predicted: np.ndarray) -> np.ndarray:
        """The loss on the held-out rows of each fold; `predicted` has a line for each of `rows`."""
        y = self.y[self.rows]
        return np.array(
            [self.objective.loss(y[self.fold == k], predicted[self.fold == k]) for k in range(len(self.folds))]
        )


def pick_values(curves: np.ndarray, parts: int) -> tuple[np.ndarray, int]:
    """Which value of a path each fold takes, and which one the final model.

    `curves` has the losses of every value (columns) in every fold (lines). A fold takes the value that was best on the
    other folds of its partition, so that its own held-out rows have no influence; the final model the best over all.

    >>> pick_values(np.array([[3.0, 1.0], [1.0, 2.0], [2.5, 2.0]]), 3)
    (array([0, 1, 1]), 1)
    """
    picked = np.empty(len(curves), dtype=np.int64)
    for k in range(len(curves)):
        first = k - k % parts
        others = [j for j in range(first, min(first + parts, len(curves))) if j != k]
        picked[k] = curves[others].mean(axis=0).argmin() if others else curves.mean(axis=0).argmin()
    return picked, int(curves.mean(axis=0).argmin())
