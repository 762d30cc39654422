"""Rows that are read in blocks, for ensembles of trees: what is brought into memory, and answers block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from learnt.engine.arrays import is_lazy
from learnt.engine.mixins import ClassifierMixin, RegressorMixin
from learnt.engine.rows import Rows, as_rows, in_memory, target_in_memory
from learnt.engine.targets import Shape
from learnt.engine.validation import check_fit, check_predict, check_target, check_weights
from learnt.forestry import piece_cells


def check_lazy(model: Any, X: Any, y: Any, sample_weight: Any, target: str, reset: bool) -> tuple[Rows, Any, Any]:
    """The rows of X, and y and weights in memory, validated as those of a table in memory are."""
    X = check_fit(model, X, lazy=True, allow_nan=True, reset=reset).X
    rows = as_rows(X, cells=piece_cells(X, type(model).__name__, {}))
    if rows.n_rows == 0:
        raise ValueError(f"X has 0 rows in all its pieces, and {type(model).__name__} needs at least 1.")
    known = Shape((rows.n_rows, rows.n_features), rows.dtype)
    y = check_target(target_in_memory(y), target, known, type(model).__name__)
    return rows, y, check_weights(target_in_memory(sample_weight), known)


def rows_of_model(model: Any, X: Any, categories: str) -> Rows:
    """Rows as the trees of a fitted model read them; `categories` is the attribute that has the values of these."""
    X = check_predict(model, X, lazy=True, allow_nan=True)
    return as_rows(X, cells=piece_cells(X, type(model).__name__, getattr(model, categories)))


class LazyClassifier(ClassifierMixin):
    """`score` for classifiers that predict rows in blocks."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        if not is_lazy(X):
            return super().score(X, y, sample_weight)
        y, found, w = _known_and_predicted(self, X, y, sample_weight, "label")
        return float(accuracy_score(y, found, sample_weight=w))


class LazyRegressor(RegressorMixin):
    """`score` for regressors that predict rows in blocks."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² = 1 − Σw(y − ŷ)² / Σw(y − ȳ)²: 1 at best, 0 for the mean of y."""
        if not is_lazy(X):
            return super().score(X, y, sample_weight)
        y, found, w = _known_and_predicted(self, X, y, sample_weight, "numbers")
        return float(r2_score(y, found, sample_weight=w))


def _known_and_predicted(
    model: Any, X: Any, y: Any, sample_weight: Any, target: str
) -> tuple[np.ndarray, np.ndarray, Any]:
    """The targets, what is predicted for them, and the weights."""
    found = in_memory(model.predict(X))
    known = Shape((len(found), X.shape[1]), np.float64)
    y = check_target(target_in_memory(y), target, known, type(model).__name__)
    return y, found, check_weights(target_in_memory(sample_weight), known)
