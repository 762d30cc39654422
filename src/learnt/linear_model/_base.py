"""What linear models share: how a prediction is made, and how a solution is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import beside, is_lazy, is_numpy, like
from learnt.engine.blocks import Block
from learnt.engine.rows import as_rows
from learnt.engine.scoring import RowsRegressor
from learnt.engine.validation import check_predict

_SMALL = 1 << 17  # cells below which a plain product is quicker than blocks on the pool


def scores(X: Any, coef: Any, intercept: Any) -> Any:
    """X coefᵀ + intercept wherever X lies: (n,) for one vector of coefficients, (n, k) for several."""
    coef, intercept = beside(coef, X), beside(intercept, X)
    if is_numpy(X) and X.size <= _SMALL:
        return X @ coef.T + intercept
    return as_rows(X).map(_block_scores, coef, intercept)


def _block_scores(block: Block, coef: Any, intercept: Any) -> Any:
    product = block.X @ (coef if coef.ndim == 1 else coef.T)
    return (np.asarray(product) if sparse.issparse(block.X) else product) + intercept


class LinearPredictor(RowsRegressor):
    """`predict` and `score` for estimators with `coef_` and `intercept_`, on all that they can be fitted on."""

    def predict(self, X: Any) -> Any:
        """One number (or one row of numbers, with several targets) for every row of X."""
        X = check_predict(self, X, accept_sparse=True, foreign=True, lazy=True)
        return scores(X, self.coef_, self.intercept_)


def record_coefficients(
    estimator: Any, coef: np.ndarray, intercept: np.ndarray, rows: Any, single: bool, flat: bool = False
) -> None:
    """`coef_` as scikit-learn shapes it, in the library, place and precision of the data.

    `flat`: one target given as a column has its coefficients in one dimension, as scikit-learn's ridges do.
    """
    shaped = coef[:, 0] if single or (flat and coef.shape[1] == 1) else coef.T
    dtype = rows.dtype
    if is_numpy(rows.reference):
        estimator.coef_ = np.ascontiguousarray(shaped, dtype=dtype)
        if estimator.fit_intercept:
            estimator.intercept_ = dtype.type(intercept[0]) if single else intercept.astype(dtype)
        else:
            estimator.intercept_ = 0.0
        return
    estimator.coef_ = like(np.ascontiguousarray(shaped), rows.reference)
    estimator.intercept_ = (
        like(intercept[0] if single else intercept, rows.reference) if estimator.fit_intercept else 0.0
    )


def is_single(y: Any) -> bool:
    """Whether y is one number a row."""
    return (y.ndim if not is_lazy(y) else len(y.shape)) == 1
