"""What is fitted in the cells of a partition: means, least squares, or copies of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from learnt.engine.mixins import clone


class CellModels:
    """One model a cell.

    Attributes
    ----------
    coef : array of shape (n_cells, d), or (n_cells, 0) where cells are constant
    intercept : array of shape (n_cells,)
    estimators : list of fitted estimators, one a cell, or empty
    error : array of shape (n_cells,)
        The mean squared error of each cell on its own rows.
    count : array of shape (n_cells,)
    """

    def __init__(
        self, coef: np.ndarray, intercept: np.ndarray, estimators: list[Any], error: np.ndarray, count: np.ndarray
    ) -> None:
        self.coef, self.intercept, self.estimators, self.error, self.count = coef, intercept, estimators, error, count

    def predict(self, X: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """What the cell of each row says of it."""
        if self.estimators:
            out = np.empty(X.shape[0])
            for number in np.unique(cell):
                rows = cell == number
                out[rows] = self.estimators[number].predict(X[rows])
            return out
        out = self.intercept[cell]
        if self.coef.shape[1]:
            out = out + np.einsum("ij,ij->i", X, self.coef[cell])
        return out


def fit_cells(cells: Any, path: np.ndarray, X: np.ndarray, y: np.ndarray, w: Any, leaf: Any) -> CellModels:
    """Fit every cell to its rows; `path` has the cell of each row at each level."""
    n, d = X.shape
    weights = np.ones(n) if w is None else w
    count = np.zeros(cells.count, dtype=np.int64)
    error, intercept = np.zeros(cells.count), np.zeros(cells.count)
    coef = np.zeros((cells.count, d if isinstance(leaf, str) and leaf == "linear" else 0))
    estimators: list[Any] = []
    for level in range(path.shape[1]):
        rows = np.flatnonzero(path[:, level] >= 0)
        if not len(rows):
            break
        numbers = path[rows, level]
        count += np.bincount(numbers, minlength=cells.count)
        if isinstance(leaf, str) and leaf == "constant":
            _fit_means(numbers, y[rows], weights[rows], intercept, error)
            continue
        order = rows[np.argsort(numbers, kind="stable")]
        for part in np.split(order, np.flatnonzero(np.diff(path[order, level])) + 1):
            cell = path[part[0], level]
            if isinstance(leaf, str):
                coef[cell], intercept[cell] = fit_plane(X[part], y[part], weights[part])
                said = X[part] @ coef[cell] + intercept[cell]
            else:
                model = fit_copy(leaf, X[part], y[part], None if w is None else w[part])
                estimators.append(model)  # cells are met in the order of their numbers
                said = model.predict(X[part])
            error[cell] = np.average((y[part] - said) ** 2, weights=weights[part])
    if isinstance(leaf, str) and leaf == "linear":  # rounding is no error
        scale = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
        error[error <= 1e-24 * scale] = 0.0
    return CellModels(coef, intercept, estimators, error, count)


def _fit_means(
    numbers: np.ndarray, y: np.ndarray, weights: np.ndarray, intercept: np.ndarray, error: np.ndarray
) -> None:
    size = len(intercept)
    mass = np.bincount(numbers, weights=weights, minlength=size)
    present = mass > 0
    mean = np.zeros(size)
    mean[present] = np.bincount(numbers, weights=weights * y, minlength=size)[present] / mass[present]
    squares = np.bincount(numbers, weights=weights * (y - mean[numbers]) ** 2, minlength=size)
    intercept[present], error[present] = mean[present], squares[present] / mass[present]


def fit_plane(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weighted least squares; the shortest coefficients where the rows do not decide them."""
    centre, level = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    root = np.sqrt(weights / weights.max())
    coef = np.linalg.lstsq((X - centre) * root[:, None], (y - level) * root, rcond=1e-10)[0]
    return coef, float(level - centre @ coef)


def fit_copy(leaf: Any, X: np.ndarray, y: np.ndarray, w: Any) -> Any:
    """A fitted copy of the leaf's estimator."""
    model = clone(leaf)
    if w is None:
        model.fit(X, y)
    elif has_fit_parameter(model, "sample_weight"):
        model.fit(X, y, sample_weight=w)
    else:
        raise TypeError(f"Underlying estimator {type(leaf).__name__} does not support sample weights.")
    return model
