"""A problem over rows that are read in blocks: files larger than memory, and clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from learnt.engine.arrays import to_numpy
from learnt.engine.cached import cached_property
from learnt.engine.matrices import in_numpy
from learnt.engine.rows import Rows
from learnt.engine.rows.blocks import Block, widen
from learnt.erm._problem import Problem


@dataclass(frozen=True, eq=False)
class RowsProblem(Problem):
    """`Problem` with the engine's rows in place of X, y and the weights: each of its sums is a pass over them.

    A solver that needs sums only (values, gradients, second derivatives) takes one like a `Problem`. θ is a
    NumPy array.

    >>> from learnt.engine.rows import as_rows
    >>> from learnt.erm.losses import Squared
    >>> rows = as_rows(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> problem = RowsProblem(rows, None, Squared(), fit_intercept=False)
    >>> float(problem.objective(np.array([2.0]))), problem.gradient(np.array([0.0]))
    (0.0, array([-20.]))
    """

    in_memory: ClassVar[bool] = False

    @property
    def rows(self) -> Rows:
        return self.X

    @cached_property
    def n_features(self) -> int:
        return int(self.rows.n_features)

    @cached_property
    def total(self) -> float:
        """Σ weights."""
        return float(to_numpy(self.rows.sum(_weight)[0]))

    def zero(self) -> np.ndarray:
        size = self.n_features + int(self.fit_intercept)
        return np.zeros(size if self.n_outputs == 1 else (size, self.n_outputs))

    def risk(self, theta: np.ndarray) -> float:
        return float(self._mean(_risk, theta)[0])

    def mean_loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._mean(_mean_loss, theta)
        return float(value), gradient

    def mean_curvature(self, theta: np.ndarray) -> np.ndarray:
        return self._mean(_mean_curvature, theta)[0]

    def mean_curvature_diagonal(self, theta: np.ndarray) -> np.ndarray:
        return self._mean(_mean_curvature_diagonal, theta)[0]

    def count(self, which: Callable[[Problem, Any], Any], theta: np.ndarray) -> int:
        return int(self.rows.sum(_count, self.loss, theta, self.fit_intercept, self.n_outputs, which)[0])

    def _mean(self, statistic: Any, theta: np.ndarray) -> list[Any]:
        sums = self.rows.sum(statistic, self.loss, theta, self.fit_intercept, self.n_outputs)
        return [to_numpy(part) / self.total for part in sums]


def _weight(block: Block) -> tuple:
    return (float(block.X.shape[0] if block.w is None else block.w.sum()),)


def _of_block(block: Block, loss: Any, fit_intercept: bool, n_outputs: int) -> tuple[Problem, float]:
    """The problem of one block, and its weight."""
    (weight,) = _weight(block)
    X = in_numpy(widen(block.X))
    y = to_numpy(block.y)
    w = None if block.w is None else to_numpy(widen(block.w))
    y = y.astype(np.float64, copy=False) if n_outputs == 1 else y
    return Problem(X, y, loss, weight=w, fit_intercept=fit_intercept, n_outputs=n_outputs), weight


def _count(block: Block, loss: Any, theta: np.ndarray, fit_intercept: bool, n_outputs: int, which: Any) -> tuple:
    return (_of_block(block, loss, fit_intercept, n_outputs)[0].count(which, theta),)


def _risk(block: Block, loss: Any, theta: np.ndarray, *setting: Any) -> tuple:
    problem, weight = _of_block(block, loss, *setting)
    return (weight * problem.risk(theta) if weight else 0.0,)


def _mean_loss(block: Block, loss: Any, theta: np.ndarray, *setting: Any) -> tuple:
    problem, weight = _of_block(block, loss, *setting)
    if not weight:
        return 0.0, np.zeros_like(theta)
    value, gradient = problem.mean_loss(theta)
    return weight * value, weight * gradient


def _mean_curvature(block: Block, loss: Any, theta: np.ndarray, *setting: Any) -> tuple:
    problem, weight = _of_block(block, loss, *setting)
    return (weight * problem.mean_curvature(theta) if weight else np.zeros((theta.size, theta.size)),)


def _mean_curvature_diagonal(block: Block, loss: Any, theta: np.ndarray, *setting: Any) -> tuple:
    problem, weight = _of_block(block, loss, *setting)
    return (weight * problem.mean_curvature_diagonal(theta) if weight else np.zeros_like(theta),)
