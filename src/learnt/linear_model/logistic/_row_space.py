"""Fewer rows than columns: the coefficients are combinations of rows, so there are only n of them to find.

In the variables u of the problem, whose penalty is ‖u‖²/2, let A = (X − mean)/√α. At the minimum u = Aᵀt, and with
G = AAᵀ = LLᵀ the variables v = Lᵀt have the same penalty, ‖v‖²/2, and the same scores, Lv: L is a table of n columns
that stands for X.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from learnt.engine.arrays import is_numpy, like, to_numpy
from learnt.engine.matrices import product
from learnt.engine.rows import ArrayRows
from learnt.engine.rows.blocks import Block
from learnt.linalg.gram import gram
from learnt.linear_model.logistic._curvature import Cholesky, cholesky
from learnt.linear_model.logistic._loss import curve, floats, is_sparse, row_weights, scores_of
from learnt.linear_model.logistic._problem import Problem
from learnt.statistics import far_from_zero

_SOME = 256  # rows to measure a spread by


class RowSpace:
    """A problem over n rows of more columns, as one over n columns; `problem` is in units of √α."""

    def __init__(self, problem: Problem, alpha: float) -> None:
        rows = problem.rows
        self.problem, self.alpha, self._bordered = problem, alpha, problem.fit_intercept
        self._X = floats(rows.X)
        self._gram = centred_gram(self._X, problem.shift, rows.n_jobs) / alpha
        self._L = np.ascontiguousarray(cholesky(self._gram))
        n = rows.n_rows
        penalty = np.append(np.ones(n), problem.penalty[-1])
        w = None if rows.w is None else to_numpy(rows.w)
        self.reduced = Problem(ArrayRows(self._L, to_numpy(rows.y), w, rows.n_jobs), problem.target, penalty)

    def reduce(self, u: np.ndarray) -> np.ndarray:
        """The reduced variables of the same scores."""
        u = u.reshape(self.problem.shape)
        rows = self._forth(u[:, :-1])
        v = linalg.solve_triangular(self._L, rows, lower=True, check_finite=False).T
        return np.concatenate([v, u[:, -1:]], axis=1).ravel()

    def expand(self, v: np.ndarray) -> np.ndarray:
        """The problem's variables from reduced ones."""
        v = v.reshape(self.reduced.shape)
        t = linalg.solve_triangular(self._L, v[:, :-1].T, lower=True, trans="T", check_finite=False)
        return np.concatenate([self._back(t), v[:, -1:]], axis=1).ravel()

    def reduced_curvature(self, v: np.ndarray) -> Woodbury:
        scores = scores_of(self._L, self.reduced.coefficients(v))
        L = self._L
        return Woodbury(self._gram, self._rates(scores), lambda coef: L @ coef.T, lambda t: t.T @ L, self._bordered)

    def curvature(self, u: np.ndarray) -> Woodbury:
        scores = to_numpy(scores_of(self._X, self.problem.coefficients(u)))
        return Woodbury(self._gram, self._rates(scores), self._forth, self._back, self._bordered)

    def _rates(self, scores: np.ndarray) -> np.ndarray:
        """What each score of each row curves the loss by, n × K."""
        rows, target = self.reduced.rows, self.problem.target
        return row_weights(Block(rows.X, rows.y, rows.w), scores, target)[:, None] * curve(scores, target)

    def _forth(self, coef: np.ndarray) -> np.ndarray:
        """A coefᵀ, n × K."""
        coef = coef / np.sqrt(self.alpha)
        return _product(self._X, coef.T) - coef @ self.problem.shift

    def _back(self, t: np.ndarray) -> np.ndarray:
        """(Aᵀ t)ᵀ, K × d."""
        return (_product(self._X.T, t).T - np.outer(t.sum(axis=0), self.problem.shift)) / np.sqrt(self.alpha)


class Woodbury:
    """H = I + AᵀSA, bordered by the intercept, with S = diag(rates):  H⁻¹g = g − AᵀS½ (I + S½GS½)⁻¹ S½Ag.

    Only the factor of an n × n matrix is needed, one a class. `forth` and `back` multiply by A and Aᵀ.
    """

    def __init__(self, gram: np.ndarray, rates: np.ndarray, forth: Any, back: Any, fit_intercept: bool) -> None:
        self._roots, self._forth, self._back = np.sqrt(rates), forth, back
        self.exact = rates.shape[1] == 1  # what ties classes to each other is left out
        self._inner = [Cholesky(_plus_one(root[:, None] * gram * root)) for root in self._roots.T]
        self._ones = self._each(self._roots)
        border = np.sum(self._roots * self._ones, axis=0)
        self._border = np.where(border > 0, border, np.inf) if fit_intercept else np.inf  # 0: every row is certain

    def solve(self, g: np.ndarray) -> np.ndarray:
        g = g.reshape(self._roots.shape[1], -1)
        rows = self._each(self._roots * self._forth(g[:, :-1]))
        step = np.empty_like(g)
        step[:, -1] = (g[:, -1] - np.sum(self._roots * rows, axis=0)) / self._border
        step[:, :-1] = g[:, :-1] - self._back(self._roots * (rows + self._ones * step[:, -1]))
        if not self.exact:
            step -= step.mean(axis=0)  # one vector added to all classes changes nothing
        return step.ravel()

    def _each(self, V: np.ndarray) -> np.ndarray:
        return np.stack([inner.solve(v) for inner, v in zip(self._inner, V.T, strict=True)], axis=1)


def _plus_one(B: np.ndarray) -> np.ndarray:
    B.flat[:: B.shape[0] + 1] += 1.0
    return B


def centred_gram(X: Any, mean: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """(X − mean)(X − mean)ᵀ, tile by tile on the pool."""
    if is_numpy(X):
        if far_from_zero(mean, X[:_SOME]):
            return gram(X - mean, n_jobs)
        products = gram(X, n_jobs)
    else:
        products = to_numpy(product(X, X.T))
    cross = _product(X, mean[:, None])[:, 0]
    return products - cross[:, None] - cross + mean @ mean


def _product(X: Any, V: np.ndarray) -> np.ndarray:
    return X @ V if is_numpy(X) or is_sparse(X) else to_numpy(X @ like(V, X))
