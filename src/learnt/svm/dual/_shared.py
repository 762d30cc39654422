"""Machines of all pairs of classes that share one kernel matrix: what is solved for small tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.svm.dual._active import Entries
from learnt.svm.dual._kernel import Kernel, TrainingKernel
from learnt.svm.dual._pair_loop import Found, Pairs, solve_pairs
from learnt.svm.dual._problems import Effort, between, fill, gaps_of, margin_of, precision
from learnt.svm.dual._solve import WORKING

_MOST_COLUMNS = 256  # of rows that are multiplied when their products are needed
_PRECISE = 256  # rows up to which the kernel matrix is in double precision: machines are compared by their digits


class Machines(NamedTuple):
    """Fitted machines; the variables of one follow those of the one before."""

    coef: np.ndarray  # (m,)
    values: np.ndarray  # (m,) decision values of the same rows
    intercept: np.ndarray  # (p,)
    steps: np.ndarray  # (p,)
    gap: np.ndarray  # (p,) the KKT residual
    dual_gap: np.ndarray  # (p,) relative; NaN for ν-problems
    converged: np.ndarray  # (p,)


class Layout(NamedTuple):
    """Where variables belong; those of the first class of a pair come before those of the second."""

    pairs: np.ndarray  # (p, 2) classes
    sides: np.ndarray  # (2p,) where the variables of the first and second class of each pair begin
    at: np.ndarray  # (m,) rows, of those sorted by class
    sign: np.ndarray  # (m,) 1 for the first class, −1 for the second


class Table(NamedTuple):
    """The kernel matrix of all rows, class after class."""

    K: Entries
    order: np.ndarray  # (n,) the rows sorted by class
    begin: np.ndarray  # (k + 1,) where the rows of each class begin among them
    along: np.ndarray  # (n,) their products with the origin that the kernel measures them from

    def intercepts(self, b: np.ndarray, coef: np.ndarray, layout: Layout) -> np.ndarray:
        """Intercepts of machines of rows as they were given."""
        return b - np.add.reduceat(coef * self.along[layout.at], layout.sides[::2])

    def layout(self, pairs: np.ndarray) -> Layout:
        """The variables of these pairs of classes."""
        classes, count = pairs.ravel(), np.diff(self.begin)
        each = count[classes]
        ends = np.cumsum(each)
        sides = ends - each
        at = np.arange(ends[-1]) + np.repeat(self.begin[classes] - sides, each)
        return Layout(pairs, sides, at, np.repeat(1.0 - 2.0 * (np.arange(len(each)) % 2), each))


def has_room(codes: np.ndarray, n_classes: int, effort: Effort) -> bool:
    """Whether the kernel matrix of all rows fits in memory, and that of every pair of classes in a cache."""
    n, count = len(codes), np.sort(np.bincount(codes, minlength=n_classes))
    return bool(count[-2:].sum() <= WORKING and 8.0 * n * n <= effort.cache_bytes)


def table_of(kernel: Kernel, X: Any, codes: np.ndarray, n_classes: int, largest: float, effort: Effort) -> Table:
    """The kernel matrix of rows X, where no α is above `largest`."""
    order = np.argsort(codes, kind="stable")
    part = X[np.ix_(order, order)] if kernel.name == "precomputed" else X[order]
    training = TrainingKernel(kernel, part)
    begin = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])
    return Table(_entries(training, largest, effort.tol), order, begin, training.along)


def _entries(training: TrainingKernel, largest: float, tol: float) -> Entries:
    """Kernels of all rows; the linear kernel's when they are needed, since few variables of a plane are active."""
    n = training.n
    if n > _PRECISE and training.dense_linear and training.X.shape[1] <= _MOST_COLUMNS:
        return Entries(training.X, True)
    K = np.empty((n, n), np.float64 if n <= _PRECISE else precision(training, largest, tol))
    training.whole(K)
    return Entries(K, False)


def classify_pairs(table: Table, layout: Layout, upper: np.ndarray, effort: Effort) -> Machines:
    """C-classification of every pair: min ½‖w‖² + Σ upperᵢ ξᵢ."""
    alpha, sign, begin = np.zeros(len(upper)), layout.sign, layout.sides[::2]
    found = _solve(table, layout, upper, alpha, 1.0, False, effort)
    b = between(alpha, found.score, sign, upper, begin)
    gaps = gaps_of(alpha, found.score, sign, -1.0, upper, begin, b)
    values = sign - found.score + np.repeat(b, _sizes(layout))
    coef = sign * alpha
    b = table.intercepts(b, coef, layout)
    return Machines(coef, values, b, found.steps, found.gap, gaps, found.converged)


def classify_nu_pairs(table: Table, layout: Layout, weight: np.ndarray, nu: float, effort: Effort) -> Machines:
    """ν-classification of every pair: ν bounds the share of rows inside the margin."""
    alpha, sign, sides = np.empty(len(weight)), layout.sign, layout.sides
    total = np.add.reduceat(weight, sides[::2])
    for side, (lo, hi) in enumerate(zip(sides, [*sides[1:], len(weight)])):
        alpha[lo:hi] = fill(weight[lo:hi], nu * total[side // 2] / 2)
    found = _solve(table, layout, weight, alpha, 0.0, True, effort)
    above, below = between(alpha, found.score, sign, weight, sides).reshape(-1, 2).T
    margin = margin_of(above, below)
    b, each = (above + below) / 2 / margin, _sizes(layout)
    coef, values = sign * alpha / np.repeat(margin, each), np.repeat(b, each) - found.score / np.repeat(margin, each)
    b = table.intercepts(b, coef, layout)
    return Machines(coef, values, b, found.steps, found.gap, np.full(len(b), np.nan), found.converged)


def _solve(
    table: Table,
    layout: Layout,
    upper: np.ndarray,
    alpha: np.ndarray,
    linear: float,
    by_sign: bool,
    effort: Effort,
) -> Found:
    first, second = np.ascontiguousarray(layout.pairs.T)
    begin = np.append(layout.sides[::2], len(upper))
    pairs = Pairs(first, second, table.begin, begin, upper, alpha, linear, by_sign)
    return solve_pairs(table.K, pairs, effort.tol, effort.max_iter)


def _sizes(layout: Layout) -> np.ndarray:
    """How many variables each pair has."""
    begin = layout.sides[::2]
    return np.append(begin[1:], len(layout.at)) - begin
