"""The boosting loop: gradients, a tree for each output, new scores; until enough, or until nothing gets better."""

from __future__ import annotations

import queue
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.threads import run_tasks, thread_count
from learnt.ensemble._hist_boosting_losses import BoostingLoss, weighted_quantile
from learnt.forestry import Bins, BoostedTrees, GrownTree, Growth, HistogramGrower, from_grown, update_scores

_ALONE = 1 << 17  # cells below which the trees of one iteration are grown one after the other


@dataclass
class Booster:
    """A fit under way: data, loss and the scores so far.

    `X` is the table as trees see it, categories replaced by their bins; `y` are numbers, 0/1, or class numbers;
    `scores` is (n_outputs, n).
    """

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray | None
    counts: np.ndarray | None
    bins: Bins
    codes: tuple[np.ndarray, np.ndarray]
    loss: BoostingLoss
    growth: Growth
    learning_rate: float
    subsample: float
    monotone: np.ndarray | None
    groups: np.ndarray | None
    seed: int
    scores: np.ndarray

    def __post_init__(self) -> None:
        n, d = self.X.shape
        outputs = self.loss.n_outputs
        threads = thread_count()
        # With an output for each thread whole trees are the tasks; otherwise threads share a tree.
        self._apart = outputs >= threads > 1 and n * d > _ALONE
        self._workers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for _ in range(threads if self._apart else 1):
            by_column, by_row = self.codes
            grower = HistogramGrower(
                by_row,
                by_column,
                self.bins,
                self.growth,
                counts=self.counts,
                monotone=self.monotone,
                groups=self.groups,
                constant_hessian=self.loss.constant_hessian and self.w is None,
                steady=self.loss.steady and self.w is None,
                n_jobs=1 if self._apart else None,
            )
            self._workers.put((grower, np.empty(n), np.empty(n)))

    def iterate(self, iteration: int) -> list[BoostedTrees]:
        """One more tree for every output."""
        shared = self.loss.prepare(self.scores)
        rows = self._sample(iteration)
        tasks = [partial(self._tree, k, iteration, shared, rows) for k in range(self.loss.n_outputs)]
        return run_tasks(tasks) if self._apart else [task() for task in tasks]

    def _sample(self, iteration: int) -> np.ndarray | None:
        if self.subsample >= 1.0:
            return None
        n = len(self.y)
        rng = np.random.default_rng([self.seed, iteration])
        return np.sort(rng.permutation(n)[: max(1, int(self.subsample * n))]).astype(np.int32)

    def _tree(self, k: int, iteration: int, shared: np.ndarray, rows: np.ndarray | None) -> BoostedTrees:
        grower, g, h = worker = self._workers.get()
        try:
            top = self.loss.gradients(k, self.y, self.scores, shared, self.w, g, h)
            seed = int(np.random.SeedSequence([self.seed, iteration, k]).generate_state(1, np.uint64)[0] >> 1)
            tree = grower.grow(g, h, rows, seed, salt=iteration * self.loss.n_outputs + k, top=top)
            values = self.learning_rate * self._values(tree, k)
            packed = from_grown(tree, values, self.bins, self.X.shape[1], self.loss.n_outputs, k)
            if rows is None:
                update_scores(tree, values, self.scores[k])
            else:
                self.scores[k] += packed.packed.sum(self.X)[:, k]
            return packed
        finally:
            self._workers.put(worker)

    def _values(self, tree: GrownTree, k: int) -> np.ndarray:
        q = self.loss.leaf_quantile
        if q is None:
            return tree.values(self.growth)
        values = np.zeros(len(tree.left))
        for leaf in np.flatnonzero(tree.is_leaf):
            rows = tree.rows[tree.start[leaf] : tree.end[leaf]]
            residual = self.y[rows] - self.scores[k, rows]
            values[leaf] = weighted_quantile(residual, q, None if self.w is None else self.w[rows])
        return values


def should_stop(scores: list[float], patience: int, tol: float) -> bool:
    """Whether none of the last `patience` scores beats the one before them by more than `tol`."""
    if len(scores) <= patience:
        return False
    reference = scores[-patience - 1] + tol
    return not any(score > reference for score in scores[-patience:])
