"""A constant number."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.baseline import ConstantNumber
from learnt.engine.estimator import Trial
from learnt.engine.params import ParameterError
from learnt.engine.schema import Schema, choice, count, real


class DummyRegressor(ConstantNumber):
    """Predict the same number for every row, without looking at X: the mean, the median, a quantile or a given one.

    The baseline that a regressor must beat: with the mean, its R² on the training rows is 0. With weights, the median
    and other quantiles are the smallest y at which the share of the weight is reached, min{y : Σ_{yᵢ ≤ y} wᵢ ≥ q Σ wᵢ};
    without, NumPy's, linear between two values. (`learnt.baseline.ConstantRegressor` has the quantiles of rows repeated
    by their weights instead, and intervals.)

    Parameters
    ----------
    strategy : {"mean", "median", "quantile", "constant"}, default="mean"
        What is predicted: "mean", best for squared loss; "median", best for absolute loss; the `quantile` that is asked
        for, best for pinball loss; or the `constant` that is given.
    constant : float, or array-like of shape (n_outputs,), default=None
        What strategy="constant" predicts, one number for all outputs or one each.
    quantile : float in [0, 1], default=None
        Which quantile strategy="quantile" predicts: 0.5 is the median.

    Attributes
    ----------
    constant_ : ndarray of shape (1, n_outputs)
        What is predicted.
    n_outputs_ : int
        How many targets y has.

    See Also
    --------
    learnt.baseline.ConstantRegressor : The same, with intervals, and a weight of 2 as the row twice.
    DummyClassifier : The same of labels.

    Examples
    --------
    >>> from learnt.dummy import DummyRegressor
    >>> DummyRegressor().fit([[0], [1], [2]], [1.0, 2.0, 9.0]).predict([[7], [8]])
    array([4., 4.])
    >>> DummyRegressor(strategy="median").fit([[0], [1], [2]], [1.0, 2.0, 9.0]).predict([[7], [8]])
    array([2., 2.])
    """

    __learnt_schema__ = Schema(
        params={"strategy": choice("mean", "median", "quantile", "constant")},
        state={"n_outputs_": count(1, name="t"), "constant_": real(1, "t")},
    )
    __learnt_trial__ = Trial(weighted=({"strategy": "median"},))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DummyRegressor:
        """Find the constant.

        Parameters
        ----------
        X : anything with rows, or None
            Its rows are counted, and it is not read.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers; of several outputs one column each.
        """
        self._fit_constant(X if X is not None or y is None else np.empty((np.shape(y)[0], 0)), y, sample_weight)
        if X is None:
            del self.n_features_in_
        return self

    def _best(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if weight is None and self.strategy == "median":
            return np.median(y, axis=0).astype(np.float64)
        if weight is None or self.strategy not in ("median", "quantile"):
            return super()._best(y, weight)
        if self.strategy == "quantile" and self.quantile is None:
            raise ParameterError(
                "When using `strategy='quantile', you have to specify the desired quantile in the range [0, 1]."
            )
        share = 0.5 if self.strategy == "median" or self.quantile is None else self.quantile
        return np.array([_reached(column, weight, share) for column in y.T], dtype=np.float64)


def _reached(y: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The smallest y at which the share of the weight is reached.

    >>> float(_reached(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5))
    2.0
    """
    order = np.argsort(y)
    reached = np.cumsum(weight[order])
    return y[order[min(np.searchsorted(reached, share * reached[-1]), y.size - 1)]]
