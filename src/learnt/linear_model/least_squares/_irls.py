"""Least squares with an unknown noise variance for every row."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.rows import ArrayRows
from learnt.engine.schema import Schema, count, real
from learnt.engine.validation import check_fit
from learnt.engine.weights import present_rows, rows_given, scatter_rows
from learnt.linear_model._base import LinearPredictor, record_coefficients
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.least_squares._solvers import least_squares

_NORMAL = 1.4826  # the standard deviation of a normal variable over the median of its absolute values


class IterativelyReweightedLeastSquares(LinearPredictor, RegressorMixin, Estimator):
    """Least squares in turns with an estimate of every row's variance.

        b, c ← argmin Σᵢ wᵢ (yᵢ − xᵢᵀb − c)²/σᵢ²        σᵢ ← from the residuals

    For data whose noise differs from row to row (heteroscedasticity): exact rows then count more than noisy ones. With
    `variance="residual"` it is robust to outliers instead, since a row far from the fit loses its weight.

    Parameters
    ----------
    variance : {"residual", "features"} or callable, default="residual"
        Where the variances come from.

        - "residual": σᵢ² = eᵢ² + δ², every row for itself. δ keeps rows that happen to be met from taking over; the
          fixed point minimises Σ wᵢ log(eᵢ² + δ²), so that outliers hardly count.
        - "features": log σᵢ² is linear in xᵢ, for noise that grows or falls with some columns.
        - A callable gets (X, prediction, residual) and returns the variance of every row, up to a factor.
    floor : float, default=1.0
        δ in standard deviations of the noise, which are taken from the median of the absolute residuals. Smaller values
        treat more rows as outliers and converge less surely.
    max_iter : int, default=100
        The most least-squares problems to solve. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-6
        Stop when the predictions change by less than this share of their spread.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    variance_ : ndarray of shape (n_samples,)
        σᵢ² of the training rows; ∞ for rows of weight 0.
    n_iter_ : int
        Least-squares problems solved.

    See Also
    --------
    HuberRegressor : Robust to outliers by a convex loss, with one scale for all rows.
    LinearRegression : Least squares with the same noise in every row.
    QuantileRegressor : Regression of a quantile, which shows how the spread changes.

    Notes
    -----
    Each round is one weighted least-squares problem, O(n d²) for n rows and d columns. With `variance="residual"` the
    objective is not convex: the result is a local minimum, reached from plain least squares.

    References
    ----------
    .. [1] P. J. Green, "Iteratively Reweighted Least Squares for Maximum Likelihood Estimation, and some Robust and
           Resistant Alternatives", Journal of the Royal Statistical Society B 46(2), 1984.

    Examples
    --------
    Noise that grows with x:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 10, size=(500, 1))
    >>> y = 2.0 * X[:, 0] + X[:, 0] ** 2 * rng.normal(size=500) / 10
    >>> model = IterativelyReweightedLeastSquares(variance="features").fit(X, y)
    >>> model.coef_.round(1)
    array([2.])
    """

    __learnt_schema__ = Schema(
        state=LINE,
        extra={"n_iter_": count(), "variance_": real(None, low=0, finite=False)},
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"variance": "features", "tol": 1e-9}, warmup=(Warm("amount"),))

    def __init__(
        self,
        *,
        variance: Any = "residual",
        floor: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        fit_intercept: bool = True,
    ) -> None:
        self.variance = variance
        self.floor = floor
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IterativelyReweightedLeastSquares:
        """Fit the coefficients and the variances; a row of weight 2 counts as two rows, one of weight 0 as none."""
        if not (callable(self.variance) or self.variance in ("residual", "features")):
            raise ParameterError(
                f"The 'variance' parameter of {type(self).__name__} must be 'residual', 'features' or a function. "
                f"Got {self.variance!r} instead."
            )
        check_number(self, "floor", 0, open_low=True)
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)
        check_flag(self, "fit_intercept")
        present, n = present_rows(sample_weight, X), rows_given(sample_weight)
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        w = np.ones(X.shape[0]) if w is None else w
        y64 = y.astype(np.float64)
        variance, fitted, change, floor = np.ones(len(y)), None, np.inf, np.inf
        smallest = 1e-10 * _deviation(y64, w)  # below, the fit is exact
        n_iter = 0
        while n_iter < self.max_iter:
            n_iter += 1
            weights = w * (variance.min() / variance)
            solution = least_squares(ArrayRows(X, y, weights), "auto", self.fit_intercept)
            prediction = np.asarray(X @ solution.coef[:, 0]) + solution.intercept[0]
            residual = y64 - prediction
            spread = _spread(residual, w)
            floor = min(floor, spread * float(self.floor))  # the first fit's spread may be that of outliers
            if fitted is not None:
                change = float(np.sqrt(w @ (prediction - fitted) ** 2 / w.sum()))
            fitted = prediction
            if spread <= smallest and not callable(self.variance):
                break
            variance = self._variances(X, prediction, residual, w, floor)
            if change <= self.tol * max(_deviation(prediction, w), np.finfo(float).tiny):
                break
        else:
            if self.max_iter > 1:
                warnings.warn(
                    f"{type(self).__name__} stopped after {self.max_iter} rounds while its predictions still changed "
                    f"by {change:.1e} (root mean square); raise max_iter, floor or tol.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        record_coefficients(self, solution.coef, solution.intercept, ArrayRows(X, y), True)
        self.variance_, self.n_iter_ = scatter_rows(variance, present, n, np.inf), n_iter
        return self

    def _variances(
        self, X: Any, prediction: np.ndarray, residual: np.ndarray, w: np.ndarray, floor: float
    ) -> np.ndarray:
        if callable(self.variance):
            variance = np.asarray(self.variance(X, prediction, residual), dtype=np.float64)
            if variance.shape != residual.shape or not np.isfinite(variance).all() or not (variance > 0).all():
                raise ValueError(
                    f"The function given as variance must return {len(residual)} finite numbers above 0, one a row; "
                    f"it returned an array of shape {variance.shape} with {int((~(variance > 0)).sum())} others."
                )
            return variance
        least = floor**2
        if self.variance == "residual":
            return residual**2 + least
        # A floor well below the noise, so that the logarithm of a residual that happens to be 0 is no outlier.
        logs = np.log(residual**2 + 1e-2 * least)
        found = least_squares(ArrayRows(X, logs, w), "auto", True)
        logs = np.asarray(X @ found.coef[:, 0]) + found.intercept[0]
        return np.exp(np.clip(logs - logs.max(), -30.0, 0.0) + logs.max())


def _spread(residual: np.ndarray, w: np.ndarray) -> float:
    """A standard deviation from the weighted median of absolute residuals, or from their mean where that is 0."""
    order = np.argsort(np.abs(residual))
    share = np.cumsum(w[order])
    at = int(np.searchsorted(share, 0.5 * share[-1]))
    middle = float(np.abs(residual[order[min(at, len(order) - 1)]]))
    return _NORMAL * middle or float(w @ np.abs(residual) / w.sum())


def _deviation(values: np.ndarray, w: np.ndarray) -> float:
    mean = w @ values / w.sum()
    return float(np.sqrt(w @ (values - mean) ** 2 / w.sum())) or abs(float(mean))
