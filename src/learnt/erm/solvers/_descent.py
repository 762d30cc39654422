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

    `step` is a number, a function of t such as `Decay(t0)`, or "line-search": doubled after each iteration and halved
    until the objective falls as its quadratic model says.
    """

    step: Any = "line-search"
    needs_smooth_penalty = False

    def rule(self) -> Move:
        return lambda g, t: -g

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
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

    Without a `step`, the first is one over the largest curvature that a batch can have, and they shrink as
    1/√(1 + epochs).
    `max_iter` counts epochs. It has no stopping rule of its own: use validation rows, or the number of epochs.
    """

    batch_size: int | None = 32
    max_iter: int = 100
    needs_smooth_penalty = False

    def rule(self) -> Move:
        return lambda g, t: -g

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
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
    """A heavy ball: moves are remembered and fade by `momentum` each time."""

    momentum: float = 0.9
    nesterov = False

    def rule(self) -> Move:
        velocity: Any = 0.0

        def move(g: Any, t: int) -> Any:
            nonlocal velocity
            velocity = self.momentum * velocity + g
            return -(g + self.momentum * velocity) if self.nesterov else -velocity

        return move


@dataclass(frozen=True)
class Nesterov(Momentum):
    """Momentum that looks at the slope where it is going."""

    nesterov = True


@dataclass(frozen=True)
class Adagrad(_Descent):
    """A step for each coefficient: short where gradients have been large, long where they have been small."""

    step: Any = 0.5
    epsilon: float = 1e-10

    def rule(self) -> Move:
        total: Any = 0.0

        def move(g: Any, t: int) -> Any:
            nonlocal total
            total = total + g**2
            return -g / (namespace(g).sqrt(total) + self.epsilon)

        return move


@dataclass(frozen=True)
class Adam(_Descent):
    """Momentum over a running root mean square of the gradient."""

    step: Any = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def rule(self) -> Move:
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
