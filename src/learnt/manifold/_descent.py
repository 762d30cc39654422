"""Gradient descent with momentum and a gain for each coordinate (Jacobs, 1988)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.verbose import tell

_UP, _DOWN, _LEAST = 0.2, 0.8, 0.01  # of gains


class Descent(NamedTuple):
    """How one stage of the descent steps and stops."""

    rate: float
    momentum: float
    exaggeration: float
    patience: int  # iterations without a lower value
    least_gradient: float  # the length of a gradient at which it stops
    check: int  # iterations from one look at the value to the next
    verbose: bool


def descend(
    objective: Any, Y: np.ndarray, first: int, end: int, how: Descent, advance: Callable[[], Any]
) -> tuple[np.ndarray, int]:
    """Steps first…end−1 from Y: where they lead, and the number of the last.

    A gain grows while a coordinate keeps its direction, and shrinks where it turns.
    """
    step, gains = np.zeros_like(Y), np.ones_like(Y)
    best, best_at, last = math.inf, first, first
    for last in range(first, end):
        looks = (last + 1) % how.check == 0 or last == end - 1
        value, gradient = objective(Y, how.exaggeration, looks)
        turned = step * gradient > 0.0
        gains = np.where(turned, gains * _DOWN, gains + _UP)
        np.maximum(gains, _LEAST, out=gains)
        length = float(np.linalg.norm(gradient)) if looks else math.nan
        gradient *= gains
        gradient *= how.rate
        step *= how.momentum
        step -= gradient
        Y = Y + step
        advance()
        if not looks:
            continue
        if how.verbose:
            tell("[t-SNE] Iteration %d: error = %.7f, gradient norm = %.7f", last + 1, value, length)
        if value < best:
            best, best_at = value, last
        elif last - best_at > how.patience:
            if how.verbose:
                tell("[t-SNE] Iteration %d: no lower error in %d iterations. Finished.", last + 1, how.patience)
            break
        if length <= how.least_gradient:
            if how.verbose:
                tell("[t-SNE] Iteration %d: gradient norm %.7f. Finished.", last + 1, length)
            break
    return Y, last
