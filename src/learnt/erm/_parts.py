"""From what a user gives — a name, an object, a loss of their own — to the parts of a problem."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.arrays import namespace, to_numpy
from learnt.engine.params import ParameterError
from learnt.erm import losses, penalties, solvers


def named(estimator: Any, what: str, table: dict[str, type], needed: tuple[str, ...], also: tuple = ()) -> Any:
    """The parameter `what`: a name of the table becomes its object; an object must have the methods needed."""
    given = getattr(estimator, what)
    if isinstance(given, str) and given in table:
        return table[given]()
    if given in also if isinstance(given, str | None) else False:
        return given
    missing = [name for name in needed if not hasattr(given, name)]
    if isinstance(given, str | type) or missing:
        wanted = " and ".join(needed)
        raise ParameterError(
            f"The {what!r} parameter of {type(estimator).__name__} must be one of "
            f"{', '.join(map(repr, [*table, *also]))} or an object with {wanted}. Got {given!r} instead."
        )
    return given


def loss_of(estimator: Any, default_target: str) -> Any:
    """The loss, guarded if it is a user's own."""
    loss = named(estimator, "loss", losses.NAMES, ("value",))
    if isinstance(loss, losses.Loss):
        return loss
    if not hasattr(loss, "gradient"):
        raise ParameterError(
            f"The loss {type(loss).__name__} given to {type(estimator).__name__} has a value and no gradient; "
            "add gradient(y, score), the derivative of the value in the score."
        )
    return Guarded(loss, default_target)


def penalty_of(estimator: Any) -> Any:
    """The penalty; None is none."""
    if estimator.penalty is None:
        return penalties.NoPenalty()
    return named(estimator, "penalty", penalties.NAMES, ("value",))


def check_solver(estimator: Any) -> None:
    named(estimator, "solver", solvers.NAMES, ("iterates",), also=("auto",))


class Guarded:
    """A user's loss: missing attributes get defaults, and returned values are validated."""

    def __init__(self, loss: Any, target: str) -> None:
        self._loss = loss
        self.target = getattr(loss, "target", target)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("smooth", "steepest", "lowest", "mean"):
            return getattr(self._loss, name, getattr(losses.Loss(), name))
        found = getattr(self._loss, name)
        return partial(self._curvature, found) if name == "curvature" else found

    def __repr__(self) -> str:
        return repr(self._loss)

    def value(self, y: Any, score: Any) -> Any:
        return self._look(self._loss.value(y, score), "value", score.shape[:1])

    def gradient(self, y: Any, score: Any) -> Any:
        return self._look(self._loss.gradient(y, score), "gradient", score.shape)

    def _curvature(self, curvature: Callable, y: Any, score: Any) -> Any:
        return self._look(curvature(y, score), "curvature", (*score.shape, *score.shape[1:]))

    def _look(self, found: Any, method: str, shape: tuple) -> Any:
        name = type(self._loss).__name__
        if tuple(getattr(found, "shape", ())) != tuple(shape):
            raise ValueError(
                f"{name}.{method} returned an array of shape {tuple(getattr(found, 'shape', ()))} for scores of shape "
                f"{tuple(shape)}; return one entry for every score, without summing."
            )
        if bool(namespace(found).any(namespace(found).isnan(found))):
            row = int(np.argwhere(np.isnan(to_numpy(found)))[0, 0])
            raise ValueError(
                f"{name}.{method} returned NaN, first at row {row}; it must be finite for every finite score, so look "
                "for a logarithm, a root or a division there."
            )
        return found
