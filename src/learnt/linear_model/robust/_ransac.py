"""RANSAC: the model of a few random rows that most other rows agree with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from learnt.engine.documentation import Documented
from learnt.engine.estimator import Takes, Trial
from learnt.engine.matrices import take_rows
from learnt.engine.mixins import BaseEstimator, MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, clone
from learnt.engine.params import ParameterError, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, anyof, count, estimator, flags, none
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.weights import present_rows, rows_given, scatter_rows, take_params
from learnt.linear_model.least_squares._ordinary import LinearRegression

_EPS = float(np.spacing(1.0))
_COUNTS = ("n_trials_", "n_skips_no_inliers_", "n_skips_invalid_data_", "n_skips_invalid_model_")


class Agreement(NamedTuple):
    """The rows that agree with a model, and its score on them."""

    mask: np.ndarray
    size: int
    score: float


class RANSACRegressor(MetaEstimatorMixin, RegressorMixin, MultiOutputMixin, Documented, BaseEstimator):
    """Fit a few random rows, count the rows within a threshold of the model, again; fit those of the best model.

    For data with many outliers, in X or y, from which a clean part stands out, as in computer vision. It works with any
    regressor and withstands any share of outliers, if there are trials enough: with a share e of inliers and m rows a
    trial, log(1 − p)/log(1 − eᵐ) of them have one without outliers with probability p. For noise with heavy tails and
    no clear line between good and bad rows take `HuberRegressor`.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is fitted; has `fit`, `predict` and `score`. None is `LinearRegression`.
    min_samples : int, float or None, default=None
        Rows of a trial: a number of them, or as a float a share of all. None is one more than columns, for least
        squares only. Fewer rows are more often free of outliers.
    residual_threshold : float or None, default=None
        The largest loss of an inlier; None is the median of |y − median(y)|, which is far too large where y depends
        strongly on X. Set it to about three standard deviations of the noise.
    is_data_valid : callable or None, default=None
        Whether to fit these rows: `is_data_valid(X, y)`.
    is_model_valid : callable or None, default=None
        Whether to consider this model: `is_model_valid(model, X, y)`. Slower than `is_data_valid`.
    max_trials : int, default=100
        The most trials. Raise it for many outliers or many columns.
    max_skips : int or inf, default=inf
        The most trials that may be in vain: invalid, or with fewer inliers than the best.
    stop_n_inliers : int or inf, default=inf
        Stop with so many inliers.
    stop_score : float, default=inf
        Stop with such a score on the inliers.
    stop_probability : float, default=0.99
        Stop when a trial without outliers has come with this probability, judged by the inliers found so far.
    loss : {"absolute_error", "squared_error"} or callable, default="absolute_error"
        The loss of each row, which is compared with `residual_threshold`: |y − ŷ| or (y − ŷ)², of several targets their
        sum; or a function `loss(y, prediction)` that returns one number a row.
    random_state : int, RandomState or None, default=None
        Where the random rows come from, and the random numbers of an estimator that uses some. Pass an integer to get
        the same result every time.

    Attributes
    ----------
    estimator_ : regressor
        Fitted to the inliers.
    inlier_mask_ : ndarray of bool of shape (n_samples,)
        Which rows are inliers of the best model; none of weight 0.
    n_trials_ : int
        Trials, at most `max_trials`.
    n_skips_no_inliers_ : int
        Trials in vain because they had fewer inliers than the best before.
    n_skips_invalid_data_ : int
        Trials in vain because `is_data_valid` said no.
    n_skips_invalid_model_ : int
        Trials in vain because `is_model_valid` said no.

    See Also
    --------
    HuberRegressor : Robust to outliers in y, without random trials.
    TheilSenRegressor : Robust to outliers in X and y, without a threshold.
    QuantileRegressor : Least absolute errors.

    Notes
    -----
    A trial costs a fit of a few rows and a prediction of all. Weights go to the estimator, where it takes them; they do
    not change how often a row is drawn. Which tables X may be depends on the estimator.

    References
    ----------
    .. [1] M. A. Fischler and R. C. Bolles, "Random Sample Consensus: A Paradigm for Model Fitting with Applications to
           Image Analysis and Automated Cartography", Communications of the ACM 24(6), 1981.
    .. [2] S. Choi, T. Kim and W. Yu, "Performance Evaluation of RANSAC Family", British Machine Vision Conference,
           2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2.0 * X[:, 0] + 1.0
    >>> y[3] = 100.0
    >>> model = RANSACRegressor(random_state=0).fit(X, y)
    >>> model.estimator_.coef_.round(6), np.flatnonzero(~model.inlier_mask_)
    (array([2.]), array([3]))
    """

    __learnt_schema__ = Schema(
        params={"estimator": anyof(none, estimator("fit", "predict"))},
        state={**FEATURES, "estimator_": estimator("predict")},
        extra={
            "inlier_mask_": flags(None),
            **dict.fromkeys(_COUNTS, count()),
        },
    )
    # rows are drawn by number; a weight is not a second chance of being drawn
    __learnt_trial__ = Trial(quick={"random_state": 0}, any_order=False, weight_repeats=False)

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_samples: float | None = None,
        residual_threshold: float | None = None,
        is_data_valid: Any = None,
        is_model_valid: Any = None,
        max_trials: float = 100,
        max_skips: float = math.inf,
        stop_n_inliers: float = math.inf,
        stop_score: float = math.inf,
        stop_probability: float = 0.99,
        loss: Any = "absolute_error",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.min_samples = min_samples
        self.residual_threshold = residual_threshold
        self.is_data_valid = is_data_valid
        self.is_model_valid = is_model_valid
        self.max_trials = max_trials
        self.max_skips = max_skips
        self.stop_n_inliers = stop_n_inliers
        self.stop_score = stop_score
        self.stop_probability = stop_probability
        self.loss = loss
        self.random_state = random_state

    @property
    def __learnt_takes__(self) -> Takes:
        tags = self.__sklearn_tags__().input_tags
        return Takes(sparse=tags.sparse, missing=tags.allow_nan)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> RANSACRegressor:
        """Find the inliers and fit them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, passed on to the estimator; a row of weight 0 is not there.
        **fit_params : dict
            Metadata for the estimator, with scikit-learn's metadata routing.
        """
        self._check_parameters()
        self._refuse_unrouted(fit_params, "fit")
        given, n_given = present_rows(sample_weight, X), rows_given(sample_weight)
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        n = X.shape[0]
        model = LinearRegression() if self.estimator is None else clone(self.estimator)
        size = self._trial_size(model, n, X.shape[1])
        random = random_state_of(self.random_state)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=random)
        if w is not None and not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"{type(model).__name__} does not support sample_weight: take another estimator, or leave the weights."
            )
        to_fit, to_score = self._routed(w, take_params(fit_params, given, n_given))
        best = self._search(X, y, model, size, random, (to_fit, to_score))
        self.estimator_ = model.fit(take_rows(X, best.mask), y[best.mask], **take_params(to_fit, best.mask, n))
        self.inlier_mask_ = scatter_rows(best.mask, given, n_given, False)
        return self

    def _search(
        self, X: Any, y: np.ndarray, model: Any, size: int, random: Any, routed: tuple[dict[str, Any], dict[str, Any]]
    ) -> Agreement:
        """The largest agreement of the trials; of two as large the one that scores higher."""
        n, (to_fit, to_score) = X.shape[0], routed
        trial = _quick(model, X, to_fit, to_score) if self.is_model_valid is None else None
        trial = model if trial is None else trial
        threshold, loss = self._threshold(y), self._loss()
        best, least, most = None, 1, self.max_trials
        self.n_trials_ = self.n_skips_no_inliers_ = self.n_skips_invalid_data_ = self.n_skips_invalid_model_ = 0
        while self.n_trials_ < most:
            self.n_trials_ += 1
            if self._skips() > self.max_skips:
                break
            rows = sample_without_replacement(n, size, random_state=random)
            some, target = take_rows(X, rows), y[rows]
            if self.is_data_valid is not None and not self.is_data_valid(some, target):
                self.n_skips_invalid_data_ += 1
                continue
            trial.fit(some, target, **take_params(to_fit, rows, n))
            if self.is_model_valid is not None and not self.is_model_valid(trial, some, target):
                self.n_skips_invalid_model_ += 1
                continue
            mask = np.asarray(loss(y, trial.predict(X)) <= threshold)
            agreeing = int(mask.sum())
            if agreeing < least:
                self.n_skips_no_inliers_ += 1
                continue
            score = trial.score(take_rows(X, mask), y[mask], **take_params(to_score, mask, n))
            if best is not None and agreeing == best.size and score < best.score:
                continue
            best, least = Agreement(mask, agreeing, score), agreeing
            most = min(most, trials_needed(agreeing / n, size, self.stop_probability))
            if agreeing >= self.stop_n_inliers or score >= self.stop_score:
                break
        self._tell(best)
        assert best is not None
        return best

    def _skips(self) -> int:
        return self.n_skips_no_inliers_ + self.n_skips_invalid_data_ + self.n_skips_invalid_model_

    def _tell(self, best: Agreement | None) -> None:
        over = self._skips() > self.max_skips
        if best is None:
            how = (
                f"RANSAC skipped more iterations than `max_skips` ({self.max_skips}) without finding a valid consensus "
                "set."
                if over
                else "RANSAC could not find a valid consensus set in all `max_trials` iterations."
            )
            raise ValueError(
                f"{how} Of {self.n_trials_} trials {self.n_skips_invalid_data_} had invalid data, "
                f"{self.n_skips_invalid_model_} an invalid model and {self.n_skips_no_inliers_} no inliers (n_skips*); "
                "raise residual_threshold, max_trials or max_skips."
            )
        if over:
            warnings.warn(
                "RANSAC found a valid consensus set but exited early due to skipping more iterations than `max_skips`. "
                f"See estimator attributes for diagnostics (n_skips*), and raise max_skips above {self.max_skips}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_parameters(self) -> None:
        if self.estimator is not None and (
            isinstance(self.estimator, type) or not all(hasattr(self.estimator, a) for a in ("fit", "predict", "score"))
        ):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be a regressor with fit, predict and score, "
                f"or None. Got {self.estimator!r:.80} instead."
            )
        share = isinstance(self.min_samples, float | np.floating)
        check_number(self, "min_samples", 0 if share else 1, 1 if share else None, integer=not share, also=(None,))
        check_number(self, "residual_threshold", 0, also=(None,))
        for name in ("max_trials", "max_skips", "stop_n_inliers"):
            if getattr(self, name) != math.inf:
                check_number(self, name, 0, integer=True)
        check_number(self, "stop_score")
        check_number(self, "stop_probability", 0, 1)
        if not (callable(self.loss) or self.loss in ("absolute_error", "squared_error")):
            raise ParameterError(
                f"The 'loss' parameter of {type(self).__name__} must be 'absolute_error', 'squared_error' or a "
                f"function of y and predictions. Got {self.loss!r} instead."
            )

    def _trial_size(self, model: Any, n: int, d: int) -> int:
        """How many rows are drawn."""
        size = self.min_samples
        if size is None:
            # scikit-learn's least squares too, which is not imported for it
            if not any(kind.__name__ == "LinearRegression" for kind in type(model).__mro__):
                raise ValueError(
                    "`min_samples` needs to be explicitly set when estimator is not a LinearRegression: give how many "
                    f"rows determine a {type(model).__name__}."
                )
            size = d + 1
        elif size < 1 or isinstance(size, float | np.floating):
            size = math.ceil(size * n)
        if size > n:
            raise ValueError(
                f"`min_samples` may not be larger than number of samples: n_samples = {n}, and {size} are to be drawn."
            )
        return int(size)

    def _threshold(self, y: np.ndarray) -> float:
        if self.residual_threshold is not None:
            return float(self.residual_threshold)
        return float(np.median(np.abs(y - np.median(y))))

    def _loss(self) -> Callable[[Any, Any], Any]:
        """The loss of each row."""
        if callable(self.loss):
            return self.loss
        squared = self.loss == "squared_error"

        def each(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
            rest = y - prediction
            rest = rest * rest if squared else np.abs(rest)
            return rest if rest.ndim == 1 else rest.sum(axis=1)

        return each

    def _refuse_unrouted(self, params: dict[str, Any], method: str) -> None:
        if params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments ({', '.join(params)}) to {type(self).__name__}.{method} is only "
                "supported if enable_metadata_routing=True, which is set by sklearn.set_config."
            )

    def _routed(self, w: np.ndarray | None, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the estimator's `fit` and `score` get besides rows."""
        given = params if w is None else {**params, "sample_weight": w}
        if not (given and get_config()["enable_metadata_routing"]):
            return given, {}
        routed = process_routing(self, "fit", **given).estimator
        return dict(routed.fit), dict(routed.score)

    def _ask(self, method: str, params: dict[str, Any], X: Any, *y: Any) -> Any:
        check_is_fitted(self)
        self._refuse_unrouted(params, method)
        given = dict(process_routing(self, method, **params).estimator[method]) if params else {}
        return getattr(self.estimator_, method)(check_predict(self, X), *y, **given)

    def predict(self, X: Any, **params: Any) -> Any:
        """What `estimator_` predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the estimator's `predict`, with scikit-learn's metadata routing.
        """
        return self._ask("predict", params, X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """What `estimator_` scores, outliers among the rows or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the columns it was fitted to.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The true numbers.
        **params : dict
            Metadata for the estimator's `score`, with scikit-learn's metadata routing.

        Returns
        -------
        score : float
            R² for regressors such as `LinearRegression`.
        """
        return self._ask("score", params, X, y)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to the estimator, for scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="fit", callee="score")
        mapping.add(caller="score", callee="score").add(caller="predict", callee="predict")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(LinearRegression() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def trials_needed(share: float, size: int, probability: float) -> float:
    """How many draws of `size` rows have one of inliers alone with this probability, where they are this share.

    >>> trials_needed(0.5, 2, 0.99)
    17.0
    """
    miss, chance = max(_EPS, 1.0 - probability), max(_EPS, 1.0 - share**size)
    if miss == 1.0:
        return 0.0
    return math.inf if chance == 1.0 else abs(math.ceil(math.log(miss) / math.log(chance)) * 1.0)


class _Line:
    """Least squares of a few rows, without what an estimator does besides: trials are many and small."""

    def __init__(self, fit_intercept: bool) -> None:
        self._centre = fit_intercept

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        x_mean = X.mean(axis=0) if self._centre else np.zeros(X.shape[1])
        y_mean = y.mean(axis=0) if self._centre else np.zeros(y.shape[1:])
        self._coef = np.linalg.lstsq(X - x_mean, y - y_mean, rcond=_EPS)[0]
        self._constant = y_mean - x_mean @ self._coef

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X @ self._coef + self._constant

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """R², of several targets its mean."""
        if len(y) < 2:
            return math.nan
        rest = np.atleast_1d(np.square(y - self.predict(X)).sum(axis=0))
        spread = np.atleast_1d(np.square(y - y.mean(axis=0)).sum(axis=0))
        share = np.divide(rest, spread, out=np.where(rest > 0, 1.0, 0.0), where=spread > 0)
        return float(1.0 - share.mean())


def _quick(model: Any, X: Any, to_fit: dict[str, Any], to_score: dict[str, Any]) -> _Line | None:
    """What stands for the model in trials: plain least squares of dense rows without weights; None for others."""
    if type(model) is not LinearRegression or to_fit or to_score or type(X) is not np.ndarray:
        return None
    plain = LinearRegression(fit_intercept=model.fit_intercept).get_params(deep=False)
    return _Line(bool(model.fit_intercept)) if model.get_params(deep=False) == plain else None
