"""The squared error of every penalty on rows left out, of rows that are read in blocks.

One pass gives the inner products of the rows that each fold leaves out; those that it trains on are all others. A
second pass gives the errors of all folds and penalties.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from learnt.engine.rows import Block, Rows
from learnt.engine.threads import run_tasks
from learnt.linear_model.coordinate._folds import about_means, loses_digits, products_of_rest
from learnt.linear_model.coordinate._path import solve_path
from learnt.linear_model.coordinate._problem import Products
from learnt.statistics import joint_products


class LazyFolds:
    """The problems of all rows and of every fold's training rows.

    Parameters
    ----------
    rows : Rows
        X in blocks; y and weights are passed besides.
    y, w : arrays of shape (n,); w may be None
    fold : int array of shape (n,)
        The fold that leaves each row out.
    center : bool
        Whether there is an intercept.
    """

    def __init__(self, rows: Rows, y: np.ndarray, w: np.ndarray | None, fold: np.ndarray, center: bool) -> None:
        self.n_folds = int(fold.max()) + 1
        self._rows = rows.again(np.column_stack([y.astype(np.float64), fold]), w, None)
        x0, y0 = None, y.mean(dtype=np.float64, keepdims=True) if center else None
        while True:
            sums = self._rows.sum(sums_by_fold, self.n_folds, x0, y0)
            parts = [list(sums[5 * k : 5 * k + 5]) for k in range(self.n_folds)]
            total = [sum(column) for column in zip(*parts, strict=True)]
            self.all_rows: Products = about_means(total, x0, y0)
            if x0 is not None or not center or not loses_digits(self.all_rows):
                break
            x0 = self.all_rows.x_mean  # a second pass, about the means
        self._weights = [float(part[0]) for part in parts]
        if min(float(total[0]) - weight for weight in self._weights) <= 1e-12 * float(total[0]):
            raise ValueError("A fold has no training rows with weight; use fewer folds or drop rows of weight 0.")
        self._problems: list[Callable[[], Products]] = [partial(products_of_rest, total, p, x0, y0) for p in parts]

    def errors(self, grids: list[tuple[float, np.ndarray]], settings: dict[str, Any], n_jobs: int | None) -> np.ndarray:
        """(ratios, folds, penalties): the mean squared error on what each fold leaves out."""
        planes = run_tasks([partial(_planes, make, grids, settings) for make in self._problems], n_jobs=n_jobs)
        sums = self._rows.sum(errors_by_fold, planes)
        found = [np.asarray(part) / weight for part, weight in zip(sums, self._weights, strict=True)]
        return np.stack(found).reshape(self.n_folds, len(grids), -1).transpose(1, 0, 2)


def fold_of_rows(n: int, folds: list) -> np.ndarray:
    """The fold that leaves each of n rows out.

    >>> fold_of_rows(3, [([1, 2], [0]), ([0], [1, 2])]).tolist()
    [0, 1, 1]
    """
    out, held = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for k, (train, test) in enumerate(folds):
        held[test] += 1
        out[test] = k
        if len(train) + len(test) != n:
            held[:] = 2
    if (held != 1).any():
        raise ValueError(
            "Rows that are read in blocks need folds that leave every row out once and train on all others; "
            "set cv to a number, or load X."
        )
    return out


def _planes(make: Callable[[], Products], grids: list, settings: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (p, ratios · penalties) and intercepts of one fold."""
    problem = make()
    coefs = np.hstack([solve_path(problem, 0, alphas, ratio, **settings).coefs for ratio, alphas in grids])
    return coefs, problem.y_mean[0] - problem.x_mean @ coefs


def sums_by_fold(block: Block, n_folds: int, x0: Any, y0: Any) -> tuple:
    """For every fold the sums of `joint_products` over the rows that it leaves out, and Σω(y−y₀)²."""
    out: list[Any] = []
    for k in range(n_folds):
        part = _left_out(block, k)
        Y = part.y if y0 is None else part.y - y0
        squares = np.einsum("ij,ij->j", Y, Y if part.w is None else Y * part.w[:, None])
        out += [*joint_products(part, x0, y0), squares]
    return tuple(out)


def errors_by_fold(block: Block, planes: list[tuple[np.ndarray, np.ndarray]]) -> tuple:
    """For every fold Σω(y − xᵀb − c)² over the rows that it leaves out, of each of its planes."""
    out = []
    for k, (coef, intercept) in enumerate(planes):
        part = _left_out(block, k)
        squares = (part.X @ coef + intercept - part.y) ** 2
        out.append(squares.sum(axis=0) if part.w is None else part.w @ squares)
    return tuple(out)


def _left_out(block: Block, k: int) -> Block:
    rows = block.y[:, 1] == k
    return Block(block.X[rows], block.y[rows, :1], None if block.w is None else block.w[rows])
