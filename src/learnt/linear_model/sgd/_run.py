"""Epochs until nothing improves: what SGD does for one vector of coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.matrices import Route, route
from learnt.erm.losses import NAMES, Hinge
from learnt.linear_model.sgd import _kernels as k

_CELLS = 1 << 25  # cells that take a fraction of a second
SCHEDULES = {"constant": 0, "optimal": 1, "invscaling": 2, "adaptive": 3, "pa1": 4, "pa2": 5}


class Start(NamedTuple):
    """Coefficients to start from, and the average so far of how many."""

    coef: np.ndarray
    intercept: float
    average_coef: np.ndarray | None = None
    average_intercept: float = 0.0
    averaged: float = 0.0


class End(NamedTuple):
    """What a run leaves: plain and averaged coefficients, updates so far, epochs, and how it ended."""

    coef: np.ndarray
    intercept: float
    average_coef: np.ndarray
    average_intercept: float
    averaged: float
    t: float
    n_iter: int
    moves: int
    status: str


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    loss: str
    epsilon: float
    alpha: float
    l1_ratio: float
    schedule: str
    eta0: float
    power_t: float
    average: int
    fit_intercept: bool
    shuffle: bool
    max_iter: int
    tol: float | None
    patience: int
    penalised: bool = True
    sparse_intercept: float = 1.0
    until_perfect: bool = False
    drift: float = 0.0  # a linear penalty on the intercept

    def numbers(self) -> np.ndarray:
        """The same for the kernels."""
        if self.loss == "perceptron":
            loss: Any = Hinge(0.0)
        else:
            kind = NAMES[self.loss]
            loss = kind(self.epsilon) if self.loss == "huber" or "insensitive" in self.loss else kind()
        optimal0 = k.first_step(self.alpha) if self.schedule == "optimal" else 0.0
        price = self.alpha if self.penalised else 0.0
        # scikit-learn's squared error is halved
        factor = 0.5 if self.loss == "squared_error" else 1.0
        l1, l2 = price * self.l1_ratio, price * (1.0 - self.l1_ratio)
        schedule = SCHEDULES[self.schedule]
        return np.array([loss.code, loss.parameter, factor, self.alpha, l1, l2, schedule, self.eta0, self.power_t,
                         optimal0, float(self.average), float(self.fit_intercept), self.drift])  # fmt: skip


class Descent:
    """A run of one vector of coefficients: the rows it visits, and whether an epoch was its last.

    With `judged` the epochs are judged by a score on rows held out, and the coefficients that scored best are kept.
    """

    def __init__(self, start: Start, t: float, settings: Settings, judged: bool = False) -> None:
        self.settings, self.judged = settings, judged
        self.fixed = settings.numbers()
        self.moving = np.zeros(12)
        self.moving[[k.SCALE, k.INTERCEPT, k.T, k.ETA]] = 1.0, start.intercept, t, settings.eta0
        self.v = np.array(start.coef, dtype=np.float64)
        self.moving[k.SQUARE] = np.square(self.v).sum()
        self.rest = np.zeros(self.v.size)
        if settings.average > 0 and start.average_coef is not None and start.averaged:
            self.rest += start.average_coef * start.averaged
            self.moving[[k.COUNT, k.INTERCEPT_SUM]] = start.averaged, start.average_intercept * start.averaged
        self.paid = np.zeros(self.v.size if self.fixed[k.L1] > 0 else 0)
        self.others = None if self.fixed[k.CODE] in k.WRITTEN_OUT else 1
        self.n_iter, self.status, self.over = 0, "budget", False
        self._loss, self._moves, self._idle = 0.0, 0.0, 0
        self._best, self._best_score = np.inf, -np.inf
        self._kept: End | None = None

    @property
    def coef(self) -> np.ndarray:
        return self.moving[k.SCALE] * self.v

    @property
    def intercept(self) -> float:
        return float(self.moving[k.INTERCEPT])

    def visit(self, X: Any, y: np.ndarray, weight: np.ndarray, order: np.ndarray) -> None:
        """A step for each of these rows."""
        epoch_of: Any = k.dense_epoch
        matrix: tuple[Any, ...] = (X,)
        fixed = self.fixed
        if route(X) is Route.SPARSE:
            # unsigned: a signed index would be tested for being negative at every access
            unsigned = np.uint32 if X.indices.dtype.itemsize == 4 else np.uint64
            epoch_of, matrix = k.sparse_epoch, (X.data, X.indices.view(unsigned), X.indptr)
            fixed = fixed.copy()
            fixed[k.WITH_INTERCEPT] *= self.settings.sparse_intercept
        piece = max(1, _CELLS * X.shape[0] // max(1, matrix[0].size))
        state = self.others, self.v, self.rest, self.paid, fixed, self.moving
        for first in range(0, len(order), piece):  # Ctrl-C is handled between two of them
            epoch_of(*matrix, y, weight, order[first : first + piece], *state)
            self._loss += self.moving[k.LOSS]

    def close_epoch(self, n: int, score: float = 0.0) -> bool:
        """After all n rows, with the score on rows held out where it is `judged`: whether this epoch was the last."""
        moving, settings = self.moving, self.settings
        self.n_iter += 1
        if not (np.isfinite(self.v).all() and np.isfinite(moving[k.INTERCEPT])):
            raise ValueError(
                f"Floating-point under-/overflow occurred at epoch #{self.n_iter}: the steps are too long. Scaling "
                "input data with StandardScaler or MinMaxScaler might help, as might a lower eta0."
            )
        tol = -np.inf if settings.tol is None else settings.tol
        if self.judged:
            self._idle = self._idle + 1 if score < self._best_score + tol else 0
            if score > self._best_score and settings.tol is not None:
                self._best_score, self._kept = score, self._now()
        else:
            objective = self._loss / max(n, 1)
            if self.fixed[k.L1] > 0:
                objective += self.fixed[k.L1] * float(np.abs(self.coef).sum())
                moving[k.SQUARE] = np.square(self.v).sum()  # since the L1 penalty has changed it
            self._idle = self._idle + 1 if objective > self._best - tol else 0
            self._best = min(self._best, objective)
        if settings.until_perfect and moving[k.MOVES] == self._moves:
            self.status, self.over = "converged", True
        elif self._idle >= settings.patience and settings.tol is not None:
            if settings.schedule == "adaptive" and moving[k.ETA] > 1e-6:
                moving[k.ETA] /= 5
                self._idle = 0
            else:
                self.status, self.over = "converged", True
        self._loss, self._moves = 0.0, moving[k.MOVES]
        return self.over

    def end(self) -> End:
        end, kept = self._now(), self._kept
        return end if kept is None else kept._replace(t=end.t, n_iter=end.n_iter, status=end.status, moves=end.moves)

    def _now(self) -> End:
        moving, count = self.moving, self.moving[k.COUNT]
        average = (moving[k.HEAVY] * self.v + self.rest) / count if count else np.zeros(self.v.size)
        average_intercept = moving[k.INTERCEPT_SUM] / count if count else 0.0
        return End(
            self.coef,
            self.intercept,
            average,
            float(average_intercept),
            float(count),
            float(moving[k.T]),
            self.n_iter,
            int(moving[k.MOVES]),
            self.status,
        )


def run(
    X: Any,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    start: Start,
    t: float,
    settings: Settings,
    seed: int,
    held: np.ndarray | None = None,
    judge: Callable[[np.ndarray, float], float] | None = None,
    report: Callable[[], bool] | None = None,
) -> End:
    """Epochs over `rows`, but for those `held` out, until neither the objective nor, with `judge`, the validation score
    improves.

    With `judge` the coefficients that scored best are returned.
    """
    descent = Descent(start, t, settings, judged=judge is not None)
    order = rows.copy()
    for _ in range(settings.max_iter):
        if settings.shuffle:
            k.shuffle(order, seed)
        descent.visit(X, y, weight, order if held is None else order[~held[order]])
        last = descent.close_epoch(len(rows), 0.0 if judge is None else judge(descent.coef, descent.intercept))
        if report is not None and report() and not last:
            descent.status, last = "stopped", True
        if last:
            break
    return descent.end()
