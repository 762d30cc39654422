"""What linear models share: how a prediction is made, and how a solution is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_lazy, like
from learnt.engine.rows import scores
from learnt.engine.scoring import RowsRegressor
from learnt.engine.validation import check_predict
from learnt.explanation import Explained


class LinearPredictor(RowsRegressor, Explained):
    """`predict` and `score` for estimators with `coef_` and `intercept_`, on all kinds of data they take."""

    coef_: Any
    intercept_: Any

    def predict(self, X: Any) -> Any:
        """One number (or one row of numbers, with several targets) for every row of X."""
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, self.intercept_)


def record_coefficients(
    estimator: Any, coef: np.ndarray, intercept: np.ndarray, rows: Any, single: bool, flat: bool = False
) -> None:
    """`coef_` as scikit-learn shapes it, in the library, on the device and in the dtype of the data.

    `flat`: one target given as a column has its coefficients in one dimension, as scikit-learn's ridges do.
    """
    shaped = coef[:, 0] if single or (flat and coef.shape[1] == 1) else coef.T
    estimator.coef_ = like(np.ascontiguousarray(shaped), rows.reference)
    constant = like(intercept[0] if single else intercept, rows.reference)
    estimator.intercept_ = constant[()] if estimator.fit_intercept else 0.0


def is_single(y: Any) -> bool:
    """Whether y is one number a row."""
    return (y.ndim if not is_lazy(y) else len(y.shape)) == 1
