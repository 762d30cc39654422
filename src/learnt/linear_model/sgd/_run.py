"""Epochs until nothing improves: what SGD does for one vector of coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

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
                         optimal0, float(self.average), float(self.fit_intercept)])  # fmt: skip


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
    fixed = settings.numbers()
    if sparse.issparse(X):
        fixed[k.WITH_INTERCEPT] *= settings.sparse_intercept
    moving = np.zeros(12)
    moving[[k.SCALE, k.INTERCEPT, k.T, k.ETA]] = 1.0, start.intercept, t, settings.eta0
    v = np.array(start.coef, dtype=np.float64)
    moving[k.SQUARE] = np.square(v).sum()
    averaging = settings.average > 0
    rest = np.zeros(v.size)
    if averaging and start.average_coef is not None and start.averaged:
        rest += start.average_coef * start.averaged
        moving[[k.COUNT, k.INTERCEPT_SUM]] = start.averaged, start.average_intercept * start.averaged
    paid = np.zeros(v.size if fixed[k.L1] > 0 else 0)
    order = rows.copy()
    epoch_of, matrix = _parts(X)
    piece = max(1, _CELLS * X.shape[0] // max(1, matrix[0].size))
    others = None if fixed[k.CODE] in k.WRITTEN_OUT else 1
    tol = -np.inf if settings.tol is None else settings.tol
    best, best_score, idle, status = np.inf, -np.inf, 0, "budget"
    kept: End | None = None
    n_iter = 0
    for epoch in range(1, settings.max_iter + 1):
        if settings.shuffle:
            k.shuffle(order, seed)
        before = moving[k.MOVES]
        now = order if held is None else order[~held[order]]
        loss = 0.0
        for first in range(0, len(now), piece):  # Ctrl-C is handled between two of them
            epoch_of(*matrix, y, weight, now[first : first + piece], others, v, rest, paid, fixed, moving)
            loss += moving[k.LOSS]
        moving[k.LOSS] = loss
        n_iter = epoch
        if not (np.isfinite(v).all() and np.isfinite(moving[k.INTERCEPT])):
            raise ValueError(
                f"Floating-point under-/overflow occurred at epoch #{epoch}: the steps are too long. Scaling "
                "input data with StandardScaler or MinMaxScaler might help, as might a lower eta0."
            )
        coef = moving[k.SCALE] * v
        if judge is not None:
            score = judge(coef, moving[k.INTERCEPT])
            idle = idle + 1 if score < best_score + tol else 0
            if score > best_score and settings.tol is not None:
                best_score, kept = score, _end(coef, moving, v, rest, n_iter, status)
        else:
            objective = moving[k.LOSS] / max(len(rows), 1)
            if fixed[k.L1] > 0:
                objective += fixed[k.L1] * float(np.abs(coef).sum())
                moving[k.SQUARE] = np.square(v).sum()  # since the L1 penalty has changed it
            idle = idle + 1 if objective > best - tol else 0
            best = min(best, objective)
        if report is not None and report():
            status = "stopped"
            break
        if settings.until_perfect and moving[k.MOVES] == before:
            status = "converged"
            break
        if idle >= settings.patience and settings.tol is not None:
            if settings.schedule == "adaptive" and moving[k.ETA] > 1e-6:
                moving[k.ETA] /= 5
                idle = 0
            else:
                status = "converged"
                break
    end = _end(moving[k.SCALE] * v, moving, v, rest, n_iter, status)
    return end if kept is None else kept._replace(t=end.t, n_iter=n_iter, status=status, moves=end.moves)


def _parts(X: Any) -> tuple[Any, tuple]:
    """The kernel, and the matrix as it takes it."""
    if not sparse.issparse(X):
        return k.dense_epoch, (X,)
    # unsigned: a signed index would be tested for being negative at every access
    unsigned = np.uint32 if X.indices.dtype.itemsize == 4 else np.uint64
    return k.sparse_epoch, (X.data, X.indices.view(unsigned), X.indptr)


def _end(coef: np.ndarray, moving: np.ndarray, v: np.ndarray, rest: np.ndarray, n_iter: int, status: str) -> End:
    count = moving[k.COUNT]
    average = (moving[k.HEAVY] * v + rest) / count if count else np.zeros(v.size)
    average_intercept = moving[k.INTERCEPT_SUM] / count if count else 0.0
    return End(
        coef.copy(),
        float(moving[k.INTERCEPT]),
        average,
        float(average_intercept),
        float(count),
        float(moving[k.T]),
        n_iter,
        int(moving[k.MOVES]),
        status,
    )
