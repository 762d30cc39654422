"""Predictions with intervals, and the summary, for least squares without a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import like, to_numpy
from learnt.engine.params import ParameterError
from learnt.engine.rows import Rows, as_rows, scores
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model.least_squares._inference import (
    Inference,
    Interval,
    check_level,
    forget,
    half_width,
    infer,
    remember,
    remembered,
    rows_in_memory,
)
from learnt.linear_model.least_squares._operator import is_operator, operator_scores
from learnt.linear_model.least_squares._summary import LinearSummary


class InferringPredictor(LinearPredictor):
    """`predict` with intervals, `predict_interval` and `summary`, for estimators with `coef_` and `intercept_`.

    `fit` ends with `_remember(rows)`. The first use costs two passes over the rows of the fit; the result, d × d, is
    kept with the model, also in files.
    """

    coef_: Any
    intercept_: Any
    n_features_in_: int
    fit_intercept: bool
    _inference: dict[str, Any]

    def predict(self, X: Any, interval: Any = None, level: float = 0.95) -> Any:
        """One number (or one row of numbers, with several targets) for every row of X, with intervals where asked for.

        Parameters
        ----------
        interval : {None, "prediction", "confidence"} or float, default=None
            "prediction" adds the ends of an interval that holds a new y with probability `level`; "confidence" those of
            one that holds the mean of y. A number such as 0.95 is a prediction interval at that level. None gives the
            prediction alone. Intervals need the rows of the fit: `summary` says for how long these are remembered.
        level : float, default=0.95
            Probability of the interval, between 0 and 1, where `interval` is a word.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets), or a named tuple of three such arrays
            The predicted numbers; with `interval` they come as (prediction, lower, upper).
        """
        if is_operator(X) and interval is None:
            return operator_scores(self, X)
        if interval is None:
            return super().predict(X)
        kind = interval
        if not isinstance(interval, str):
            kind, level = "prediction", check_level(interval, "interval")
        elif interval not in ("prediction", "confidence"):
            raise ParameterError(f"interval must be 'prediction', 'confidence' or a level; it is {interval!r}.")
        level = check_level(level, "level")
        X = check_predict(self, X, accept_sparse=True, lazy=False)
        mean = scores(X, self.coef_, self.intercept_)
        width = half_width(self._inference_of(), rows_in_memory(X), kind, level)
        width = width[:, 0] if mean.ndim == 1 else width
        width = like(width, mean)
        return Interval(mean, mean - width, mean + width)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Any, Any]:
        """The ends of an interval that holds a new y with a given probability, for every row of X.

        Parameters
        ----------
        coverage : float, default=0.95
            The probability, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The lower ends.
        upper : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The upper ends.
        """
        return self.predict(X, interval=check_level(coverage, "coverage"))[1:]

    def summary(self, X: Any = None, y: Any = None, sample_weight: Any = None, *, level: float = 0.95) -> LinearSummary:
        """Estimates with standard errors, t, p and confidence intervals; R², noise and F. Prints as a table.

        The noise is taken to be independent, normal and of variance σ²/wᵢ, so that the coefficients have the covariance
        σ²(XᵀWX)⁻¹; weights are those of weighted least squares (statsmodels' WLS), not counts of rows.

        `fit` computes none of this and takes no time for it. It remembers where its rows are: tables up to 32 MB, files
        and Dask collections for as long as the model lives, larger arrays for as long as you hold them too. Where they
        are gone, or the model came from a file, pass X and y again. What was asked once stays known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The rows of the fit, together with y; None for those that are remembered.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            The targets of the fit.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the fit, where there were any.
        level : float, default=0.95
            Probability of the confidence intervals, between 0 and 1.

        Returns
        -------
        summary : LinearSummary
            Arrays `estimate`, `stderr`, `t`, `p` and `interval`, numbers such as `r2`, `sigma`, `f`, `aic` and `bic`;
            prints as a table, also in notebooks.
        """
        level = check_level(level, "level")
        check_is_fitted(self, msg="This %(name)s instance is not fitted yet: call 'fit' with training data first.")
        if (X is None) != (y is None):
            raise ValueError("summary needs X and y together, or neither for the rows of the fit.")
        inference = self._inference_of(None if X is None else self._rows_of(X, y, sample_weight))
        coef = to_numpy(self.coef_)
        estimate = np.atleast_2d(coef).astype(np.float64)
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(coef.shape[-1])])]
        if self.fit_intercept:
            estimate = np.column_stack([np.atleast_1d(to_numpy(self.intercept_)), estimate])
            names = ["intercept", *names]
        return LinearSummary(inference, names, estimate, level, coef.ndim == 1)

    def _rows_of(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X, y, w = check_fit(
            self, X, y, sample_weight, target="numbers", accept_sparse=True, foreign=True, lazy=True, reset=False
        )
        return as_rows(X, y, w)

    def _remember(self, rows: Rows) -> None:
        self.__dict__.pop("_inference", None)
        remember(self, rows)

    def _forget(self) -> None:
        self.__dict__.pop("_inference", None)
        forget(self)

    def _inference_of(self, rows: Rows | None = None) -> Inference:
        name = type(self).__name__
        if getattr(self, "positive", False):
            raise ValueError(
                f"{name} with positive=True keeps coefficients at 0, which leaves them no standard errors; "
                "fit with positive=False."
            )
        if rows is None:
            if hasattr(self, "_inference"):
                return Inference(**self._inference)
            rows = remembered(self)
            if rows is None:
                raise ValueError(
                    f"The rows that this {name} was fitted on are not there any more, and standard errors need them; "
                    "call summary(X, y) with the training data once."
                )
        coef = np.atleast_2d(to_numpy(self.coef_)).astype(np.float64).T
        inference = infer(rows, self.fit_intercept, coef, name)
        self._inference = inference._asdict()
        return inference
