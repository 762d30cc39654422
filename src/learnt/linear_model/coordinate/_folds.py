"""The squared error of every penalty on rows left out, fold by fold.

Where XᵀX is worth computing, that of a fold's training rows is the total minus that of its test rows: all folds
together cost one pass over the table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from learnt.engine.rows import as_rows
from learnt.engine.threads import run_tasks
from learnt.linear_model.coordinate._path import make_problem, solve_path
from learnt.linear_model.coordinate._problem import Products
from learnt.statistics import joint_products

_DIGITS_TO_SPARE = 1e5

Fold = tuple[np.ndarray, np.ndarray]


class FoldErrors:
    """Mean squared errors on the rows that each fold leaves out."""

    def __init__(self, X: Any, Y: np.ndarray, w: np.ndarray | None, center: bool, folds: list[Fold]) -> None:
        self._X, self._Y, self._w, self._center, self._folds = X, Y, w, center, folds
        self.all_rows: Products | None = None  # the problem of all rows, where it was computed

    def problems(self, n_penalties: int, n_jobs: int | None) -> list[Callable[[], Products] | None]:
        """A function for every fold that gives its problem as a difference from all rows.

        None where a pass over its own rows is better.
        """
        n, p = self._X.shape
        if sparse.issparse(self._X) or p > 0.5 * n or p > 8 * n_penalties:
            return [None] * len(self._folds)
        found = complements(self._X, self._Y, self._w, self._center, self._folds, n_jobs)
        if found is None:
            return [None] * len(self._folds)
        self.all_rows = found[0]
        return list(found[1])

    def errors(
        self,
        k: int,
        make: Callable[[], Products] | None,
        target: int | None,
        grids: list[tuple[float, np.ndarray]],
        settings: dict[str, Any],
    ) -> np.ndarray:
        """(ratios, penalties): the error of every (ratio, penalties) of `grids` on what fold k leaves out."""
        train, test = self._folds[k]
        w = None if self._w is None else self._w[train]
        n_penalties = sum(len(alphas) for _, alphas in grids)
        posed = (
            make_problem(self._X[train], self._Y[train], w, self._center, n_penalties, target is None)
            if make is None
            else make()
        )
        return np.array([self._error(posed, test, target, ratio, alphas, settings) for ratio, alphas in grids])

    def _error(
        self, problem: Any, test: np.ndarray, target: int | None, ratio: float, alphas: np.ndarray, settings: Any
    ) -> np.ndarray:
        coefs = solve_path(problem, target, alphas, ratio, **settings).coefs
        coefs = coefs[:, None, :] if target is not None else coefs  # (p, k, A)
        used = np.flatnonzero(coefs.any(axis=(1, 2)))
        X = self._X[np.ix_(test, used)]
        coefs = coefs[used]
        intercepts = problem.y_mean[:, None] - np.tensordot(problem.x_mean[used], coefs, axes=1)
        flat = X @ coefs.reshape(len(used), coefs.shape[1] * coefs.shape[2])
        rest = np.asarray(flat).reshape(len(test), *coefs.shape[1:]) + intercepts - self._Y[test][:, :, None]
        weights = None if self._w is None else self._w[test]
        return np.average((rest**2).mean(axis=1), axis=0, weights=weights)


def complements(
    X: np.ndarray, Y: np.ndarray, w: np.ndarray | None, center: bool, folds: list[Fold], n_jobs: int | None
) -> tuple[Products, list[Callable[[], Products]]] | None:
    """The problem of all rows, and a function for that of every fold; None where a fold does not train on all rows but
    its test rows.

    So only the folds in progress have their XᵀX in memory.
    """
    n = X.shape[0]
    if not all(_are_complements(n, *fold) for fold in folds):
        return None
    once = np.all(np.bincount(np.concatenate([test for _, test in folds]), minlength=n) == 1)
    x0, y0 = None, Y.mean(axis=0, dtype=np.float64) if center else None
    while True:
        parts = run_tasks([partial(_sums, X, Y, w, test, x0, y0) for _, test in folds], n_jobs=n_jobs)
        all_rows = [sum(column) for column in zip(*parts, strict=True)] if once else _sums(X, Y, w, None, x0, y0)
        everything = about_means(all_rows, x0, y0)
        if x0 is not None or not center or not loses_digits(everything):
            break
        x0 = everything.x_mean  # a second pass, about the means
    if min(all_rows[0] - part[0] for part in parts) <= 1e-12 * all_rows[0]:
        raise ValueError("A fold has no training rows with weight; use fewer folds or drop rows of weight 0.")
    return everything, [partial(products_of_rest, all_rows, part, x0, y0) for part in parts]


def products_of_rest(all_rows: list, part: list, x0: Any, y0: Any) -> Products:
    """The problem of all rows but some, from the sums of both."""
    return about_means([everything - some for everything, some in zip(all_rows, part, strict=True)], x0, y0, True)


def _are_complements(n: int, train: np.ndarray, test: np.ndarray) -> bool:
    return len(train) + len(test) == n and len(test) < n and np.bincount(np.r_[train, test], minlength=n).max() == 1


def _sums(X: np.ndarray, Y: np.ndarray, w: np.ndarray | None, rows: Any, x0: Any, y0: Any) -> list:
    """Σω, Σω(x−x₀)[1, (y−y₀)ᵀ], Σω(y−y₀), Σω(x−x₀)(x−x₀)ᵀ and Σω(y−y₀)² of some rows."""
    if rows is not None:
        X, Y, w = X[rows], Y[rows], None if w is None else w[rows]
    total, joint, sy, gram = as_rows(X, Y, w).sum(joint_products, x0, y0)
    Y = Y.astype(np.float64, copy=False) if y0 is None else Y - y0
    return [float(total), joint, sy, gram, np.einsum("ij,ij->j", Y, Y if w is None else Y * w[:, None])]


def about_means(sums: list, x0: Any, y0: Any, spend: bool = False) -> Products:
    """The problem of some rows; y₀ is None without an intercept, and x₀ is None for 0.

    With `spend` the matrix may be overwritten.
    """
    weight, joint, sy, gram, squares = sums
    if y0 is None:
        return Products(gram, joint[:, 1:], squares, weight)
    dx, dy = joint[:, 0] / weight, sy / weight
    Q = blas.dger(-weight, dx, dx, a=gram.T, overwrite_a=spend).T
    q = joint[:, 1:] - weight * np.outer(dx, dy)
    return Products(Q, q, squares - weight * dy**2, weight, (dx if x0 is None else x0 + dx, y0 + dy))


def loses_digits(problem: Products) -> bool:
    """Whether means are so far from 0 that squares about the means lose digits when computed from squares about 0."""
    raised = problem.weight * problem.x_mean**2
    return bool(np.any(raised > _DIGITS_TO_SPARE * np.diag(problem.Q) + np.finfo(float).tiny))
