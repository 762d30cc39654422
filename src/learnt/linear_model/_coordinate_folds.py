"""The squared error of every penalty on rows left out, fold by fold.

Where XᵀX is worth having, that of the rows of a fold is the whole less that of the rows it leaves out: all folds
together cost one pass over the table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.rows import as_rows
from learnt.engine.threads import run_tasks
from learnt.linear_model._coordinate_path import pose, solve_path
from learnt.linear_model._coordinate_problem import Products
from learnt.linear_model._moments import Moments, moments

Fold = tuple[np.ndarray, np.ndarray]


class FoldErrors:
    """Mean squared errors on the rows that each fold leaves out."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool, folds: list[Fold]) -> None:
        self._X, self._Y, self._w, self._center, self._folds = X, Y, w, center, folds

    def problems(self, n_penalties: int, n_jobs: int | None) -> list[Products | None]:
        """The problem of every fold as the whole less a part; None where it is better posed from its own rows."""
        X = self._X
        n, p = X.shape
        tall = not sparse.issparse(X) and p <= 0.5 * n and p <= 8 * n_penalties
        if not (tall and all(self._are_complements(*fold) for fold in self._folds)):
            return [None] * len(self._folds)
        parts = run_tasks([partial(self._moments, test) for _, test in self._folds], n_jobs=n_jobs)
        times = np.bincount(np.concatenate([test for _, test in self._folds]), minlength=n)
        whole = merged(parts) if np.all(times == 1) else self._moments(np.arange(n))
        return [less(whole, part) for part in parts]

    def errors(
        self,
        k: int,
        problem: Products | None,
        target: int | None,
        grids: list[tuple[float, np.ndarray]],
        settings: dict[str, Any],
    ) -> np.ndarray:
        """(ratios, penalties): the error of every (ratio, penalties) of `grids` on what fold k leaves out."""
        train, test = self._folds[k]
        w = None if self._w is None else self._w[train]
        n_penalties = sum(len(alphas) for _, alphas in grids)
        posed = problem or pose(self._X[train], self._Y[train], w, self._center, n_penalties, target is None)
        return np.array([self._error(posed, test, target, ratio, alphas, settings) for ratio, alphas in grids])

    def _error(
        self, problem: Any, test: np.ndarray, target: int | None, ratio: float, alphas: np.ndarray, settings: Any
    ) -> np.ndarray:
        coefs = solve_path(problem, target, alphas, ratio, **settings).coefs
        coefs = coefs[:, None, :] if target is not None else coefs  # (p, k, A)
        used = np.flatnonzero(coefs.any(axis=(1, 2)))
        X = self._X[test][:, used] if sparse.issparse(self._X) else self._X[np.ix_(test, used)]
        coefs = coefs[used]
        intercepts = problem.y_mean[:, None] - np.tensordot(problem.x_mean[used], coefs, axes=1)
        flat = X @ coefs.reshape(len(used), coefs.shape[1] * coefs.shape[2])
        rest = np.asarray(flat).reshape(len(test), *coefs.shape[1:]) + intercepts - self._Y[test][:, :, None]
        weights = None if self._w is None else self._w[test]
        return np.average((rest**2).mean(axis=1), axis=0, weights=weights)

    def _are_complements(self, train: np.ndarray, test: np.ndarray) -> bool:
        n = self._X.shape[0]
        return len(train) + len(test) == n and len(test) < n and np.bincount(np.r_[train, test], minlength=n).max() == 1

    def _moments(self, rows: np.ndarray) -> tuple[Moments, np.ndarray]:
        """Moments of some rows about their means (0 without an intercept), and Σwy² about the same."""
        w = None if self._w is None else self._w[rows]
        if w is not None and not w.any():
            p, k = self._X.shape[1], self._Y.shape[1]
            return Moments(0.0, np.zeros(p), np.zeros(k), np.zeros((p, p)), np.zeros((p, k))), np.zeros(k)
        m = moments(as_rows(self._X[rows], self._Y[rows], w), self._center)
        Y = self._Y[rows].astype(np.float64) - m.y_mean
        return m, np.einsum("ij,ij->j", Y, Y if w is None else Y * w[:, None])


def merged(parts: list[tuple[Moments, np.ndarray]]) -> tuple[Moments, np.ndarray]:
    """Moments of several sets of rows together."""
    weight = sum(m.weight for m, _ in parts)
    x_mean = np.sum([m.weight * m.x_mean for m, _ in parts], axis=0) / weight
    y_mean = np.sum([m.weight * m.y_mean for m, _ in parts], axis=0) / weight
    moved = [_moved(part, x_mean, y_mean) for part in parts]
    gram, cross, squares = (sum(column) for column in zip(*moved, strict=True))
    return Moments(weight, x_mean, y_mean, gram, cross), squares


def less(whole: tuple[Moments, np.ndarray], part: tuple[Moments, np.ndarray]) -> Products:
    """The problem of the rows that are in the whole and not in the part."""
    m, k = whole[0], part[0]
    weight = m.weight - k.weight
    if weight <= 1e-12 * m.weight:
        raise ValueError("A fold has no training rows with weight; use fewer folds or drop rows of weight 0.")
    gram, cross, squares = _moved(part, m.x_mean, m.y_mean)
    dx, dy = (-k.weight / weight * (a - b) for a, b in ((k.x_mean, m.x_mean), (k.y_mean, m.y_mean)))
    Q = m.gram - gram - weight * np.outer(dx, dx)
    q = m.cross - cross - weight * np.outer(dx, dy)
    return Products(Q, q, whole[1] - squares - weight * dy**2, weight, (m.x_mean + dx, m.y_mean + dy))


def _moved(part: tuple[Moments, np.ndarray], x_mean: np.ndarray, y_mean: np.ndarray) -> tuple:
    """Second moments about another point than the mean."""
    m, squares = part
    dx, dy = m.x_mean - x_mean, m.y_mean - y_mean
    return m.gram + m.weight * np.outer(dx, dx), m.cross + m.weight * np.outer(dx, dy), squares + m.weight * dy**2
