"""The sparse inverse covariance of largest penalised likelihood, with a certificate (graphical lasso).

    min over P ≻ 0   tr(S P) − log det P + α Σ_{i≠j} |P_ij|                                  (primal)
    max over W ≻ 0   log det W + d,      W_ii = S_ii,  |W_ij − S_ij| ≤ α                     (dual; W = P⁻¹ at the end)

A column of W at a time is set to its best value, the others fixed, which is a lasso (Friedman, Hastie and Tibshirani
2008). W starts inside its bounds and stays there, positive definite, so that the dual value is a bound at any time. The
coefficients of the lassos give P. The difference of the two values is how far P can be from the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.threads import single_blas

_MOST_SWEEPS = 1000  # of a lasso
_LONG = 1e8  # multiplications that may take longer than a fraction of a second
_CLOSER = 1e-3  # the tolerance of the lassos all together, as a share of the goal


class Sparse(NamedTuple):
    """W, P, the objective and the duality gap after each pass over the columns; coefficients B to go on from."""

    covariance: np.ndarray
    precision: np.ndarray
    costs: list[tuple[float, float]]
    B: np.ndarray

    @property
    def gap(self) -> float:
        return self.costs[-1][1]


class Goal(NamedTuple):
    """When to stop: the duality gap, the most that a lasso's last sweep may gain, passes over the columns."""

    tol: float
    enet_tol: float
    max_iter: int


def largest_penalty(S: np.ndarray) -> float:
    """The least α for which P is diagonal.

    >>> largest_penalty(np.array([[1.0, -0.5], [-0.5, 2.0]]))
    0.5
    """
    return float(np.max(np.abs(S - np.diag(np.diag(S))), initial=0.0))


@single_blas()
def graphical_lasso_of(
    S: np.ndarray,
    alpha: float,
    goal: Goal,
    start: tuple[np.ndarray, np.ndarray, float] | None = None,
    report: Callable[[float, float], bool] | None = None,
) -> Sparse:
    """The best P for a penalty α > 0; `start` is W, B and the penalty of a solution for a larger one.

    `report` is told objective and gap after each pass, and stops it by True.

    >>> S = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> graphical_lasso_of(S, 0.6, Goal(1e-8, 1e-8, 100)).precision.tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    S = np.ascontiguousarray(S, dtype=np.float64)
    d = len(S)
    W, B = _first(S, alpha, start)
    inner = min(goal.enet_tol, _CLOSER * goal.tol / d)
    g, stop = np.empty(d), np.zeros(1, np.int64)
    costs: list[tuple[float, float]] = []
    best, found = math.inf, np.diag(1.0 / np.diag(S))
    for _ in range(goal.max_iter):
        stoppable(
            partial(sweep_columns, S, W, B, alpha, inner, _MOST_SWEEPS, g, stop), stop, long=float(d) ** 3 * 10 > _LONG
        )
        P = precision_of(W, B)
        value = objective(S, P, alpha)
        if value <= best:
            best, found = value, P
        bound = dual_value(W)
        costs.append((best, max(best - bound, 0.0)))
        if costs[-1][1] <= goal.tol or (report is not None and report(*costs[-1])):
            break
    return Sparse(W, found, costs, B)


def _first(S: np.ndarray, alpha: float, start: tuple[np.ndarray, np.ndarray, float] | None) -> tuple:
    """W within its bounds and positive definite: between S and a matrix that is both for a larger penalty."""
    if start is None:
        top = largest_penalty(S)
        W, B, larger = np.diag(np.diag(S)), np.zeros_like(S), top
    else:
        W, B, larger = start
        B = B.copy()
    share = max(0.0, 1.0 - alpha / larger) if larger > 0 else 0.0
    return np.ascontiguousarray(W + share * (S - W)), B


def precision_of(W: np.ndarray, B: np.ndarray) -> np.ndarray:
    """P from the coefficients of each column's lasso: symmetric, and 0 where either column has 0."""
    d = len(W)
    off = np.where(np.eye(d, dtype=bool), 0.0, W)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # of a singular W: then P is no candidate
        diagonal = 1.0 / (np.diag(W) - (off * B).sum(axis=1))
        P = -B * diagonal[:, None]
        P = np.where((P != 0.0) & (P.T != 0.0), 0.5 * (P + P.T), 0.0)
    P[np.arange(d), np.arange(d)] = diagonal
    return P


def objective(S: np.ndarray, P: np.ndarray, alpha: float) -> float:
    """The primal value of P; ∞ where P is not positive definite."""
    log_det = _log_det(P)
    if not math.isfinite(log_det):
        return math.inf
    penalty = np.abs(P).sum() - np.abs(np.diag(P)).sum()
    return float((S * P).sum() + alpha * penalty - log_det)


def dual_value(W: np.ndarray) -> float:
    """The dual value of W, which is within its bounds; −∞ where rounding left it not positive definite."""
    return _log_det(W) + len(W)


def _log_det(A: np.ndarray) -> float:
    factor, failed = lapack.dpotrf(A, lower=1)
    return -math.inf if failed or not np.isfinite(A).all() else 2.0 * float(np.log(np.diag(factor)).sum())


@kernel
def sweep_columns(S, W, B, alpha, inner, most, g, stop):
    """Each column of W once: a lasso in row j of B, warm-started, then that row and column of W within their bounds.

    g = s_j − W b  is kept up to date. A lasso ends where a sweep's gain, which changes log det W by twice that over the
    column's conditional variance, is below `inner`. Ends when stop[0] is set.
    """
    d = S.shape[0]
    for j in range(d):
        if atomic_load(stop, 0) != 0:
            return
        for i in range(d):
            g[i] = S[j, i]
        for k in range(d):
            b = B[j, k]
            if b != 0.0:
                for i in range(d):
                    g[i] -= b * W[k, i]
        for _ in range(most):
            fell, explained = 0.0, 0.0
            for k in range(d):
                if k == j:
                    continue
                curve, old = W[k, k], B[j, k]
                z = g[k] + curve * old
                new = (z - alpha if z > alpha else (z + alpha if z < -alpha else 0.0)) / curve
                change = new - old
                if change != 0.0:
                    B[j, k] = new
                    for i in range(d):
                        g[i] -= change * W[k, i]
                    fell += 0.5 * curve * change * change
            for k in range(d):
                if k != j:
                    explained += B[j, k] * (S[j, k] - g[k])
            if 2.0 * fell <= inner * max(W[j, j] - explained, 0.0):
                break
        for i in range(d):
            if i != j:
                w = S[j, i] - min(max(g[i], -alpha), alpha)
                W[j, i] = w
                W[i, j] = w
