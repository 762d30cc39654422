"""The bends of one target's path of least angle regression, from rows of the Gram matrix."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.interrupts import stoppable
from learnt.linalg.pursuit import resume
from learnt.linear_model.lars._kernels import FULL, STUCK, Limits, State, follow

# A penalty so near to the one wanted is there: scikit-learn's figure, within what rounding and the scale of y allow.
_CLOSE = float(np.finfo(np.float32).eps)
_CLOSE_LEAST, _CLOSE_MOST = 1e-13, 1e-8  # as shares of the largest penalty
_PIVOT = 1e-7  # from which `eps` admits columns in the span of others
_ROOM = 64  # bends allocated at first
_LONG = 1e8  # multiplications that may take longer than a fraction of a second


class Path(NamedTuple):
    """Bends of a path: penalties (k + 1,), coefficients there (k + 1, d) or only the last (1, d), columns in use."""

    alphas: np.ndarray
    coefs: np.ndarray
    active: list[int]
    n_iter: int
    left_out: int  # columns in the span of others
    stuck: bool


class Options(NamedTuple):
    """What path is wanted, in the words of `lars_path`."""

    lasso: bool
    positive: bool
    alpha_min: float
    max_iter: float
    eps: float
    keep: bool  # the coefficients of every bend


def follow_path(source: Any, start: np.ndarray, n: float, options: Options) -> Path:
    """The path of one target with Xᵀy = `start` over n rows, until the penalty is `alpha_min`."""
    d = len(start)
    first = int(np.argmax(start if options.positive else np.abs(start)))
    level = float(start[first] if options.positive else abs(start[first]))
    end = n * options.alpha_min
    if level <= end:  # nothing moves
        return Path(np.array([options.alpha_min]), np.zeros((1, d)), [], 0, 0, False)
    steps = 2**62 if math.isinf(options.max_iter) else int(options.max_iter)
    close = min(max(n * _CLOSE, _CLOSE_LEAST * level), _CLOSE_MOST * level)
    pivot = options.eps if options.eps >= _PIVOT else 0.0
    limits = Limits(end, close, steps, options.lasso, options.positive, pivot)
    most = min(d, steps)
    # The system allocates memory only when it is written to.
    state = State(
        start.astype(np.float64), np.zeros(d), np.zeros(most, np.int64), np.zeros(most), np.empty((most, most)),
        np.empty(most), np.empty(d), np.zeros(d, np.int64), np.array([0, 0, first, -1, 0, 0]), np.array([level]),
    )  # fmt: skip
    room = min(steps, max(_ROOM, most)) + 1
    levels, coefs = np.zeros(room), np.zeros((room if options.keep else 0, d))
    levels[0] = level
    stop = np.zeros(1, np.int64)
    long = d * most * min(most, d) > _LONG

    while True:

        def step(rows: np.ndarray, where: np.ndarray, levels: np.ndarray = levels, coefs: np.ndarray = coefs) -> int:
            call = partial(follow, rows, where, limits, state, levels, coefs, stop)
            return stoppable(call, stop, long=long)

        ended = resume(source, state.correlation, step)
        if ended != FULL:
            break
        levels, coefs = _longer(levels), _longer(coefs)
    k, m = int(state.counts[0]), int(state.counts[1])
    active = state.support[:m].tolist()
    found = coefs[: k + 1] if options.keep else state.coef[None]
    alphas = levels[: k + 1] / n
    if levels[k] == end:
        alphas[-1] = options.alpha_min
    return Path(alphas, found, active, k, int(state.counts[5]), ended == STUCK)


def _longer(bends: np.ndarray) -> np.ndarray:
    """The same with room for twice as many, where it has any."""
    more = np.zeros((2 * len(bends), *bends.shape[1:]))
    more[: len(bends)] = bends
    return more


def warn_irregular(paths: list[Path], name: str) -> None:
    """One warning for columns in the span of others, or ties that could not be resolved."""
    if any(path.stuck for path in paths):
        warnings.warn(
            f"{name} stopped early: columns that are equally good enter and leave in turn, without a step in between; "
            "add a little noise to y (jitter), or drop columns that repeat others.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif left_out := sum(path.left_out for path in paths):
        warnings.warn(
            f"{name} met degenerate regressors: {left_out} times a column lay in the span of those in use, which "
            "explain y as well without it, and was left out; drop such columns, or raise eps to 1e-7 or more to keep "
            "them.",
            ConvergenceWarning,
            stacklevel=3,
        )
