"""Gradient descent and its relatives, on all rows at once or on mini-batches.

`step` is a number or a function of t = 1, 2, … such as `Decay(t0)`; without one, it is one over the curvature's bound.
All share one loop; they differ in the rule that turns gradients into moves:

    GradientDescent   −step · g
    Momentum          −step · v,                     v ← momentum·v + g
    Nesterov          −step · (g + momentum·v),      v ← momentum·v + g
    Adagrad           −step · g / (√S + ε),          S ← S + g²
    Adam              −step · m̂ / (√v̂ + ε),          running means of g and g², their start corrected

With `batch_size`, an iteration is one epoch: the rows shuffled, then one move for each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.engine.matrices import square, take_rows
from learnt.engine.random import generator
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver
from learnt.erm.solvers._proximal import backtrack, first_step
from learnt.erm.solvers._schedules import as_schedule

Move = Callable[[Any, int], Any]


@dataclass(frozen=True)
class _Descent(Solver):
    step: Any = None
    batch_size: int | None = None
    random_state: Any = 0
    tol: float = 1e-7
    max_iter: int = 10_000

    needs_smooth_penalty = True

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        raise NotImplementedError

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        move, t = self.rule(), 0
        length = as_schedule(safe_step(problem) if self.step is None else self.step)
        batches = Batches(problem, self.batch_size, self.random_state)
        while True:
            left = float("inf")
            for batch in batches.epoch():
                t += 1
                step = length(t)
                gradient = batch.gradient(theta)
                if self.batch_size is None:
                    left = problem.stationarity(theta, gradient) / problem.scale
                theta = problem.prox(theta + move(gradient, t) * step, step)
            yield theta, left


@dataclass(frozen=True)
class GradientDescent(_Descent):
    """θ ← θ − step·gradient, then the prox of a penalty without a gradient or the projection onto a constraint.

    Parameters
    ----------
    step : float, callable or "line-search", default="line-search"
        Learning rate: a number, or a function of the number t = 1, 2, … of the step, such as `Decay(1.0)`.
        "line-search" doubles it after each iteration and halves it until the objective falls as its quadratic model
        says.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows for each step. With batches, an iteration is an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, where there are mini-batches.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=10000
        The most iterations.

    See Also
    --------
    FISTA : With momentum and the same proximal steps.
    LBFGS : Remembers curvature, which takes far fewer iterations.
    SGD : Mini-batches with steps that shrink.
    """

    step: Any = "line-search"
    needs_smooth_penalty = False

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        return lambda g, t: -g

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        if self.step != "line-search":
            yield from super().iterates(problem, theta)
            return
        value, gradient = problem.smooth(theta)
        step = first_step(problem, gradient)
        while step > 0:
            left = problem.stationarity(theta, gradient) / problem.scale
            theta, step = backtrack(problem, theta, value, gradient, 2 * step)
            yield theta, left
            value, gradient = problem.smooth(theta)


@dataclass(frozen=True)
class SGD(_Descent):
    """Gradient descent on mini-batches, shuffled every epoch, with shrinking steps.

    It has no stopping rule of its own: use validation rows, or the number of epochs.

    Parameters
    ----------
    step : float, callable or None, default=None
        Learning rate: a number, or a function of the number t = 1, 2, … of the step. None starts at one over the
        largest curvature that a batch can have, and shrinks as 1/√(1 + epochs).
    batch_size : int or None, default=32
        Rows of a mini-batch. Larger ones are less noisy and make fewer steps an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=100
        The number of epochs.

    See Also
    --------
    Adam : Steps for each coefficient by past gradients.
    GradientDescent : All rows for each step.
    learnt.linear_model.SGDClassifier : One row at a time, compiled.
    """

    batch_size: int | None = 32
    max_iter: int = 100
    needs_smooth_penalty = False

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        return lambda g, t: -g

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        solver = self if self.step is not None else replace(self, step=self._own_schedule(problem))
        yield from super(SGD, solver).iterates(problem, theta)

    def _own_schedule(self, problem: Problem) -> Callable[[int], float]:
        X = problem.X
        squares = square(X).sum(axis=1)
        size = self.batch_size or X.shape[0]
        longest = 1 + (float(squares.max()) + (size - 1) * float(squares.mean())) / size
        steepest = _steepest(problem)
        if problem.smooth_penalty and problem.alpha:
            longest += 2 * problem.alpha / steepest
        per_epoch = -(-X.shape[0] // size)
        return lambda t: 1 / (steepest * longest) / (1 + (t - 1) // per_epoch) ** 0.5


@dataclass(frozen=True)
class Momentum(_Descent):
    """A heavy ball: moves are remembered and fade by `momentum` each time.

    Parameters
    ----------
    step : float, callable or None, default=None
        Learning rate: a number, or a function of the number t = 1, 2, … of the step, such as `Decay(1.0)`. None is one
        over a bound of the curvature.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows for each step. With batches, an iteration is an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, where there are mini-batches.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=10000
        The most iterations.
    momentum : float, default=0.9
        Share of the last move that is kept, from 0 (none) to below 1.

    See Also
    --------
    Nesterov : Looks at the slope where it is going.
    FISTA : Momentum that grows, and restarts where it points uphill.
    """

    momentum: float = 0.9
    nesterov = False

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        velocity: Any = 0.0

        def move(g: Any, t: int) -> Any:
            nonlocal velocity
            velocity = self.momentum * velocity + g
            return -(g + self.momentum * velocity) if self.nesterov else -velocity

        return move


@dataclass(frozen=True)
class Nesterov(Momentum):
    """Momentum that looks at the slope where it is going.

    Parameters
    ----------
    step : float, callable or None, default=None
        Learning rate: a number, or a function of the number t = 1, 2, … of the step, such as `Decay(1.0)`. None is one
        over a bound of the curvature.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows for each step. With batches, an iteration is an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, where there are mini-batches.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=10000
        The most iterations.
    momentum : float, default=0.9
        Share of the last move that is kept, from 0 (none) to below 1.

    See Also
    --------
    Momentum : The slope where it is.
    FISTA : Momentum that grows, and restarts where it points uphill.
    """

    nesterov = True


@dataclass(frozen=True)
class Adagrad(_Descent):
    """A step for each coefficient: short where gradients have been large, long where they have been small.

    Parameters
    ----------
    step : float or callable, default=0.5
        Learning rate: a number, or a function of the number t = 1, 2, … of the step.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows for each step. With batches, an iteration is an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, where there are mini-batches.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=10000
        The most iterations.
    epsilon : float, default=1e-10
        Added to the root of summed squares, so that nothing is divided by 0.

    See Also
    --------
    Adam : Forgets old gradients.
    DiagonalNewton : A step for each coefficient by second derivatives.

    References
    ----------
    .. [1] J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and stochastic
       optimization", Journal of Machine Learning Research, 2011.
    """

    step: Any = 0.5
    epsilon: float = 1e-10

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        total: Any = 0.0

        def move(g: Any, t: int) -> Any:
            nonlocal total
            total = total + g**2
            return -g / (namespace(g).sqrt(total) + self.epsilon)

        return move


@dataclass(frozen=True)
class Adam(_Descent):
    """Momentum over a running root mean square of the gradient.

    Parameters
    ----------
    step : float or callable, default=0.01
        Learning rate: a number, or a function of the number t = 1, 2, … of the step.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows for each step. With batches, an iteration is an epoch.
    random_state : int, RandomState, Generator or None, default=0
        Draws the order of the rows, where there are mini-batches.
    tol : float, default=1e-7
        Convergence tolerance: how small the gradient may be beside that at 0. Not used with mini-batches.
    max_iter : int, default=10000
        The most iterations.
    beta1 : float, default=0.9
        How slowly the running mean of gradients forgets, from 0 to below 1.
    beta2 : float, default=0.999
        How slowly the running mean of their squares forgets, from 0 to below 1.
    epsilon : float, default=1e-8
        Added to the root mean square, so that nothing is divided by 0.

    See Also
    --------
    Adagrad : Forgets nothing.
    SGD : One step for all coefficients.

    References
    ----------
    .. [1] D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR, 2015.
    """

    step: Any = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def rule(self) -> Move:
        """A fresh rule: from the gradient and the length of step number t to the move."""
        first: Any = 0.0
        second: Any = 0.0

        def move(g: Any, t: int) -> Any:
            nonlocal first, second
            first = self.beta1 * first + (1 - self.beta1) * g
            second = self.beta2 * second + (1 - self.beta2) * g**2
            root = namespace(g).sqrt(second / (1 - self.beta2**t))
            return -(first / (1 - self.beta1**t)) / (root + self.epsilon)

        return move


def _steepest(problem: Problem) -> float:
    """The loss's largest curvature; that at θ = 0 where it has no bound; 1 where it is not known."""
    bound = getattr(problem.loss, "steepest", None)
    if bound is None and getattr(problem.loss, "smooth", True) and hasattr(problem.loss, "curvature"):
        bound = float(problem.loss.curvature(problem.y, problem.scores(problem.zero())).max())
    return bound or 1.0


def safe_step(problem: Problem) -> float:
    """One over the trace of the Hessian at 0, which no direction's curvature exceeds."""
    if not hasattr(problem.loss, "curvature") or not getattr(problem.loss, "smooth", True):
        return 0.1 / problem.scale
    trace = problem.hessian_diagonal(problem.zero())
    return 1 / max(float(namespace(trace).sum(trace)), 1e-300)


class Batches:
    """The problem on a few rows at a time, every row once an epoch, in a new order each."""

    def __init__(self, problem: Problem, size: int | None, random_state: Any) -> None:
        self.problem, self.size = problem, size
        self.random = generator(random_state) if size is not None else None

    def epoch(self) -> Iterator[Problem]:
        if self.size is None or self.random is None:
            yield self.problem
            return
        order = self.random.permutation(self.problem.X.shape[0])
        for lo in range(0, len(order), self.size):
            yield self._take(np.sort(order[lo : lo + self.size]))

    def _take(self, rows: np.ndarray) -> Problem:
        p = self.problem
        part = replace(p, X=take_rows(p.X, rows), y=take_rows(p.y, rows), weight=None)
        if p.weight is not None:  # a batch represents all rows: its weights are n/size times those of its rows
            part.__dict__["share"] = take_rows(p.share, rows) * (p.X.shape[0] / len(rows))
        return part
