"""The boosting loop: gradients, a tree for each output, new scores; until enough, or until nothing gets better."""

from __future__ import annotations

import queue
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.random import stream, task_seed
from learnt.engine.threads import run_tasks, thread_count
from learnt.ensemble.hist_boosting._losses import BoostingLoss, weighted_quantile
from learnt.forestry import (
    GIVEN,
    Bins,
    BoostedTrees,
    CodedRows,
    GrownTree,
    Growth,
    HistogramGrower,
    Target,
    from_grown,
    sum_of_trees,
)

_ALONE = 1 << 17  # cells below which the trees of one iteration are grown one after the other


class Binned(NamedTuple):
    """A table as it is boosted on: bins, codes by column and by row, the table, and what trees read of it."""

    bins: Bins
    codes: tuple[np.ndarray, np.ndarray]
    X: Any
    table: np.ndarray | CodedRows


@dataclass
class Booster:
    """A running fit: data, loss and the scores so far.

    `X` is the table as trees see it, categories replaced by their bins, or codes of it; `y` are numbers, 0/1, or class
    numbers; `scores` is (n_outputs, n).
    """

    X: np.ndarray | CodedRows
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
        if self.w is not None:  # in the one form that kernels are compiled for, also where they may not be written to
            self.w = np.require(self.w, np.float64, ["C", "W"])
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
                by_hessian=self.loss.information,
                n_jobs=1 if self._apart else None,
            )
            self._workers.put((grower, np.empty(n), np.empty(n)))

    def iterate(self, iteration: int) -> list[tuple[GrownTree, int]]:
        """One more tree for every output, and which output it is for."""
        shared = self.loss.prepare(self.scores)
        rows = self._sample(iteration)
        tasks = [partial(self._tree, k, iteration, shared, rows) for k in range(self.loss.n_outputs)]
        trees = run_tasks(tasks) if self._apart else [task() for task in tasks]
        return [(tree, k) for k, tree in enumerate(trees)]

    def packed(self, grown: list[tuple[GrownTree, int]]) -> BoostedTrees:
        """Trees of iterations as a model keeps them."""
        trees, outputs = [tree for tree, _ in grown], [k for _, k in grown]
        values = [tree.values for tree in trees]
        return from_grown(trees, values, self.bins, self.X.shape[1], self.loss.n_outputs, outputs)

    def _sample(self, iteration: int) -> np.ndarray | None:
        if self.subsample >= 1.0:
            return None
        n = len(self.y)
        rng = stream(self.seed, iteration)
        return np.sort(rng.permutation(n)[: max(1, int(self.subsample * n))]).astype(np.int32)

    def _column_seed(self, iteration: int, k: int) -> int:
        """The seed that columns are drawn by; 0, which costs no time, where all are searched."""
        if self.growth.max_features >= 1.0:
            return 0
        return task_seed(self.seed, iteration, k)

    def _tree(self, k: int, iteration: int, shared: np.ndarray, rows: np.ndarray | None) -> GrownTree:
        grower, g, h = worker = self._workers.get()
        try:
            loss, score = self.loss, self.scores[k]
            if loss.code == GIVEN:
                loss.gradients(k, self.y, self.scores, shared, self.w, g, h)
            weights = np.empty(0) if self.w is None else self.w
            q = loss.leaf_quantile
            update = q is None and rows is None
            target = Target(loss.code, self.y, score, shared, weights, k, self.learning_rate, update)
            tree = grower.grow(
                g, h, rows, self._column_seed(iteration, k), salt=iteration * loss.n_outputs + k, target=target
            )
            if q is not None:
                self._set_quantiles(tree, score, q)
            if rows is not None:
                score += sum_of_trees(self.packed([(tree, k)]).packed, self.X)[:, k]
            elif q is not None:
                score += tree.values[tree.leaf_of]
            return tree
        finally:
            self._workers.put(worker)

    def _set_quantiles(self, tree: GrownTree, score: np.ndarray, q: float) -> None:
        """Leaves that hold a quantile of their residuals."""
        for leaf in np.flatnonzero(tree.is_leaf):
            rows = tree.rows[tree.start[leaf] : tree.end[leaf]]
            weights = None if self.w is None else self.w[rows]
            tree.values[leaf] = self.learning_rate * weighted_quantile(self.y[rows] - score[rows], q, weights)


def sums_before(trees: BoostedTrees, table: np.ndarray | CodedRows, out: np.ndarray) -> np.ndarray:
    """What trees that are there already add to the score of each row, added to `out` (n, n_outputs)."""
    if not isinstance(table, CodedRows):
        return trees.packed.sum(table, out=out)
    return out if table.before is None else np.add(out, table.before, out=out)


def should_stop(scores: list[float], patience: int, tol: float) -> bool:
    """Whether none of the last `patience` scores beats the one before them by more than `tol`."""
    if len(scores) <= patience:
        return False
    reference = scores[-patience - 1] + tol
    return not any(score > reference for score in scores[-patience:])
