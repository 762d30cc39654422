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

    A solver that needs sums only (values, gradients, second derivatives) takes one like a `Problem`: so files larger
    than memory and tables on a cluster are fitted. θ is a NumPy array.

    Parameters
    ----------
    X : Rows
        The rows with their targets and weights, as `learnt.engine.rows.as_rows` makes them.
    y : None
        Not used: the rows have the targets.
    loss : object of learnt.erm.losses
        What a wrong score costs; it must be smooth.
    penalty : object of learnt.erm.penalties, default=NoPenalty()
        What coefficients cost.
    alpha : float, default=0.0
        Regularisation strength: what the penalty is multiplied by.
    bound : float or None, default=None
        Where it is given, the constraint penalty(w) ≤ bound takes the place of alpha·penalty(w).
    weight : None, default=None
        Not used: the rows have the weights.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    n_outputs : int, default=1
        Scores a row: K for a loss of K classes.

    See Also
    --------
    Problem : The same with all rows in memory.
    minimize : Runs a solver on a problem.

    Examples
    --------
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
        """The rows with their targets and weights."""
        return self.X

    @cached_property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.rows.n_features)

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(to_numpy(self.rows.sum(_weight)[0]))

    def zero(self) -> np.ndarray:
        """θ = 0.

        Returns
        -------
        theta : ndarray of shape (n_parameters,) or (n_parameters, n_outputs)
            Zeros.
        """
        size = self.n_features + int(self.fit_intercept)
        return np.zeros(size if self.n_outputs == 1 else (size, self.n_outputs))

    def risk(self, theta: np.ndarray) -> float:
        """The mean loss, without the penalty: one pass over the rows.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        risk : float
            Σᵢ sᵢ lossᵢ / Σᵢ sᵢ.
        """
        return float(self._mean(_risk, theta)[0])

    def mean_loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean loss and its gradient, without the penalty: one pass over the rows.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        value : float
            Σᵢ sᵢ lossᵢ / Σᵢ sᵢ.
        gradient : ndarray of the shape of theta
            Its derivatives.
        """
        value, gradient = self._mean(_mean_loss, theta)
        return float(value), gradient

    def mean_curvature(self, theta: np.ndarray) -> np.ndarray:
        """Second derivatives of the mean loss, without the penalty: one pass over the rows.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        H : ndarray of shape (theta.size, theta.size)
            The Hessian of the mean loss, θ read row by row.
        """
        return self._mean(_mean_curvature, theta)[0]

    def mean_curvature_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """The diagonal of the mean loss's second derivatives: one pass over the rows.

        Parameters
        ----------
        theta : array of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        diagonal : ndarray of the shape of theta
            The second derivative in each entry of theta.
        """
        return self._mean(_mean_curvature_diagonal, theta)[0]

    def count(self, which: Callable[[Problem, Any], Any], theta: np.ndarray) -> int:
        """How many rows `which(problem, theta)` is true of: one pass over the rows.

        Parameters
        ----------
        which : callable
            Called with the problem of a block and theta; returns a boolean for each row of the block.
        theta : ndarray of shape (n_parameters,) or (n_parameters, n_outputs)
            The coefficients, and below them the intercept.

        Returns
        -------
        count : int
            Number of such rows.
        """
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
