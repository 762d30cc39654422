"""The five support vector machines as dual problems, and how their solutions are read.

Every prediction is  Σ coefᵢ k(xᵢ, x) + b;  `coef` has one entry a training row. For classes y is ±1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.svm.dual._kernel import TrainingKernel
from learnt.svm.dual._rows import KernelRows
from learnt.svm.dual._solve import Dual, Solution, may_move, solve

_TINY = float(np.finfo(float).tiny)
_ONE = np.zeros(1, np.int64)  # where the variables of a problem alone begin
PRECISE = 1000  # rows up to which kernels are kept in double precision
_UNEVEN = 1e-9  # of the coefficients of both signs, a difference that is no rounding of theirs
HARD = 1e6  # over the largest k(x, x), in place of C = ∞: margins down to a thousandth of the data's size


class Machine(NamedTuple):
    """One fitted machine."""

    coef: np.ndarray
    intercept: float
    steps: int
    gap: float  # how far apart scores are that should be in order: the KKT residual
    dual_gap: float  # primal minus dual objective, relative; NaN for ν-problems
    converged: bool


class Effort(NamedTuple):
    """How precisely to solve, and with how much memory."""

    tol: float
    max_iter: int
    cache_bytes: float


def kernel_rows(training: TrainingKernel, largest: float, effort: Effort) -> KernelRows:
    """The kernel matrix of a training table; in single precision where rows are many and rounding is below tol."""
    dtype = np.dtype(np.float64) if training.n <= PRECISE else precision(training, largest, effort.tol)
    return KernelRows(training, training.n, effort.cache_bytes, dtype)


def precision(training: TrainingKernel, largest: float, tol: float) -> np.dtype:
    """The least precision of kernels in which rounding is below tol, and with products in it where these allow it.

    Scores are sums of α, at most `largest`, times kernel entries, and rounding errors of the entries have either sign:
    ten terms are allowed for. Most are of rows of the usual length; the longest lie far from all others, and each has
    few terms that are not 0.
    """
    one = largest * training.largest() / tol
    if not 10 * one * np.finfo(np.float32).eps < 1:
        return np.dtype(np.float64)
    usual, longest = (training.rounding(np.float32, norm) for norm in (training.norms.mean(), training.norms.max()))
    if one * max(10 * usual, longest) < 1:
        training.single()
    return np.dtype(np.float32)


def finite_C(C: float, training: TrainingKernel) -> float:
    """C, or a substitute for C = ∞ relative to the largest k(x, x)."""
    largest = training.largest()
    return HARD / (largest if 0 < largest < np.inf else 1.0) if np.isinf(C) else float(C)


def classify(rows: KernelRows, y: np.ndarray, upper: np.ndarray, effort: Effort, max_norm: float = np.inf) -> Machine:
    """C-classification: min ½‖w‖² + Σ upperᵢ ξᵢ.

    Raises `Unbounded` where no ‖w‖² up to `max_norm` is without mistakes.
    """
    n = len(y)
    problem = Dual(np.arange(n), y, -np.ones(n), upper, np.zeros(n))
    found = solve(problem, rows, effort.tol, effort.max_iter, -0.5 * max_norm)
    b = _intercept(found, problem)
    return Machine(y * found.alpha, b, found.steps, found.gap, _dual_gap(found, problem, b), found.converged)


def regress(
    rows: KernelRows, y: np.ndarray, upper: np.ndarray, epsilon: float, effort: Effort, max_norm: float = np.inf
) -> Machine:
    """ε-regression: errors up to ε cost nothing.

    Raises `Unbounded` where no ‖w‖² up to `max_norm` is without larger ones.
    """
    n = len(y)
    sign = np.repeat([1.0, -1.0], n)
    problem = Dual(np.tile(np.arange(n), 2), sign, epsilon - sign * np.tile(y, 2), np.tile(upper, 2), np.zeros(2 * n))
    found = solve(problem, rows, effort.tol, effort.max_iter, -0.5 * max_norm)
    b = _intercept(found, problem)
    coef = found.alpha[:n] - found.alpha[n:]
    return Machine(coef, b, found.steps, found.gap, _dual_gap(found, problem, b), found.converged)


def enclose(rows: KernelRows, weight: np.ndarray, nu: float, effort: Effort) -> Machine:
    """One class: at most the share ν of the rows is left outside."""
    n = len(weight)
    problem = Dual(np.arange(n), np.ones(n), np.zeros(n), weight, fill(weight, nu * weight.sum()))
    found = solve(problem, rows, effort.tol, effort.max_iter)
    b = float(between(found.alpha, found.score, problem.sign, problem.upper, _ONE)[0])
    return Machine(found.alpha, b, found.steps, found.gap, np.nan, found.converged)


def classify_nu(rows: KernelRows, y: np.ndarray, weight: np.ndarray, nu: float, effort: Effort) -> Machine:
    """ν-classification: ν bounds the share of rows inside the margin from above and of support vectors from below."""
    half = nu * weight.sum() / 2
    start = np.zeros(len(y))
    for side in (y > 0, y < 0):
        start[side] = fill(weight[side], half)
    problem = Dual(np.arange(len(y)), y, np.zeros(len(y)), weight, start, by_sign=True)
    found = solve(problem, rows, effort.tol, effort.max_iter)
    above, below = _sides(found, problem)
    margin = float(margin_of(above, below))
    b = (above + below) / 2 / margin
    return Machine(y * found.alpha / margin, b, found.steps, found.gap, np.nan, found.converged)


def regress_nu(rows: KernelRows, y: np.ndarray, upper: np.ndarray, nu: float, effort: Effort) -> Machine:
    """ν-regression: ε is found such that about the share ν of the rows misses by more.

    It is 0 where coefficients of either sign do not come to half of that share: the variables of some rows, one for
    each sign, would share what is left, and coefficients be small differences of large numbers.
    """
    n, half = len(y), nu * upper.sum() / 2
    if upper.max() > upper.sum() - half:  # the others of the heaviest row do not come to it
        return regress(rows, y, upper, 0.0, effort)
    sign = np.repeat([1.0, -1.0], n)
    problem = Dual(
        np.tile(np.arange(n), 2),
        sign,
        -sign * np.tile(y, 2),
        np.tile(upper, 2),
        np.tile(fill(upper, half), 2),
        by_sign=True,
    )
    found = solve(problem, rows, effort.tol, effort.max_iter)
    above, below = _sides(found, problem)
    coef = found.alpha[:n] - found.alpha[n:]
    if effort.max_iter < 0 and (not found.converged or abs(coef.sum()) > _UNEVEN * np.abs(coef).sum()):
        other = regress(rows, y, upper, 0.0, effort)
        if np.abs(other.coef).sum() <= 2.0 * half:
            return other
    return Machine(coef, (above + below) / 2, found.steps, found.gap, np.nan, found.converged)


def margin_of(above, below) -> np.ndarray:
    """Half of what is between the scores of two classes."""
    margin = np.subtract(below, above) / 2
    return np.where(margin > 0, margin, np.finfo(float).tiny ** 0.5)  # identical classes have margin 0


def fill(room: np.ndarray, total: float) -> np.ndarray:
    """The first entries at their bounds, so that the sum is `total`."""
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    return np.clip(total - before, 0.0, room)


def between(alpha, score, sign, upper, begin) -> np.ndarray:
    """The intercepts of problems whose variables begin at `begin`.

    They are the score of variables between their bounds, each counted by what a mistake on it costs since they differ
    by `tol`, or the middle of what the others allow.
    """
    share = np.where((alpha > 0) & (alpha < upper), upper / max(float(upper.max()), _TINY), 0.0)
    count = np.add.reduceat(share, begin)
    total = np.add.reduceat(share * score, begin)
    if (count > 0).all():
        return total / count
    rise, fall = may_move(sign, upper, alpha)
    tops = np.maximum.reduceat(np.where(rise, score, -np.inf), begin)
    lows = np.minimum.reduceat(np.where(fall, score, np.inf), begin)
    above, below = np.isfinite(tops), np.isfinite(lows)
    ends = np.where(above, tops, 0.0) + np.where(below, lows, 0.0)
    return np.where(count > 0, total / np.where(count > 0, count, 1.0), ends / np.maximum(above * 1.0 + below, 1.0))


def gaps_of(alpha, score, sign, linear, upper, begin, b) -> np.ndarray:
    """How far the primal objectives of these problems are above the dual ones, as a share of them."""
    each = np.append(begin[1:], len(alpha)) - begin
    ahead = sign * (score - np.repeat(b, each))
    bound = np.where(np.isfinite(upper), upper, 0.0)
    terms = np.stack([bound * np.maximum(ahead, 0.0), alpha * ahead, alpha * (sign * score + linear)])
    paid, claimed, square = np.add.reduceat(terms, begin, axis=1)
    primal = paid - 0.5 * square
    return np.maximum(paid - claimed, 0.0) / np.maximum(np.abs(primal), _TINY)


def as_given(machine: Machine, training: TrainingKernel) -> Machine:
    """A machine of rows as they were given, where the kernel measures them from another origin."""
    return machine._replace(intercept=machine.intercept - float(machine.coef @ training.along))


def _intercept(found: Solution, problem: Dual) -> float:
    """Of a problem with one sum, which is 0."""
    alpha, score, sign, upper = found.alpha, found.score, problem.sign, problem.upper
    if found.gap > 0 and not ((alpha > 0) & (alpha < upper)).any():
        order = np.argsort(score)  # no b fits all: the one whose mistakes cost least
        least = np.searchsorted(np.cumsum(upper[order]), upper[sign > 0].sum())
        return float(score[order[min(least, len(order) - 1)]])
    return float(between(alpha, score, sign, upper, _ONE)[0])


def _sides(found: Solution, problem: Dual) -> tuple[float, float]:
    """The common score of the variables of each sign."""
    sides = []
    for side in (problem.sign > 0, problem.sign < 0):
        part = found.alpha[side], found.score[side], problem.sign[side], problem.upper[side]
        sides.append(float(between(*part, _ONE)[0]))
    return sides[0], sides[1]


def _dual_gap(found: Solution, problem: Dual, b: float) -> float:
    terms = found.alpha, found.score, problem.sign, problem.linear, problem.upper
    return float(gaps_of(*terms, _ONE, np.array([b]))[0])
