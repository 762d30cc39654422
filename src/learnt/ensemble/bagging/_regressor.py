"""Bagged regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from learnt.engine.estimator import Trial, Warm
from learnt.engine.weights import RowIndex
from learnt.ensemble._trial_members import one_regressor, takes_what_members_take
from learnt.ensemble.bagging._base import Bagging, warn_of_unseen
from learnt.ensemble.bagging._schema import REGRESSOR
from learnt.metrics import r2_score
from learnt.tree import DecisionTreeRegressor


class BaggingRegressor(RegressorMixin, Bagging):
    """The mean of regressors fitted on random samples of the rows:  f(x) = (1/B) Σ_b f_b(x).

    Parameters
    ----------
    estimator : estimator or None
        What is fitted; None: `DecisionTreeRegressor()`.
    n_estimators : int, default=10
    max_samples : int, float or None
        Rows drawn for each member: a number, a share of the rows, or None for as many as there are.
    max_features : int or float, default=1.0
        Columns drawn for each member.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement (bagging) or without (pasting).
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to judge each row by the members that were not fitted on it.
    warm_start : bool, default=False
        Whether `fit` adds members to those of the last fit.
    n_jobs : int or None
        How many members are fitted at a time; None: all threads for learnt's own estimators, one by one for others.
    random_state : int, RandomState or None
        The same seed draws scikit-learn's rows and columns.
    verbose : int, default=0
        Kept for scikit-learn's signature: progress is shown by `learnt.engine.progress`.

    Attributes
    ----------
    estimator_ : the estimator that was copied
    estimators_ : list of the fitted members
    estimators_features_, estimators_samples_ : lists of arrays
        Columns and rows each member was fitted on.
    oob_score_ : float
        R² of the predictions of the members that had not seen a row.
    oob_prediction_ : array of shape (n,) or (n, n_outputs)
        Those predictions; 0 for a row that all have seen.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> model = BaggingRegressor(LinearRegression(), random_state=0).fit(X, 2 * X[:, 0] + 1)
    >>> model.predict([[30.0]]).round(6), model.spread([[30.0]]).round(6)
    (array([61.]), array([0.]))
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_regressor(), "n_estimators": 5, "random_state": 0},
        warmup=(Warm("amount", {"n_estimators": 2}),),
        weighted=({"estimator": None, "oob_score": True, "n_estimators": 20}, {"max_samples": 0.5}),
        members="n_estimators",
        any_order=False,
        weight_repeats=False,  # rows are drawn
    )

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BaggingRegressor:
        """Fit the members; rows are drawn by `sample_weight` where it is given."""
        return self._fit(X, y, sample_weight, fit_params, "numbers")

    def _prototype(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _targets(self, y: np.ndarray) -> np.ndarray:
        return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y

    def _answers(self, X: Any, params: dict[str, Any]) -> Any:
        for member, features in zip(self.estimators_, self.estimators_features_):
            yield member.predict(self._part(X, features), **params)

    def predict(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """The mean of the members' predictions; with `return_std` also their standard deviation."""
        X, params = self._check(X), self._routed("predict", params)
        mean = self._over_rows(X, lambda rows: sum(self._answers(rows, params))) / len(self.estimators_)
        return (mean, self.spread(X)) if return_std else mean

    def spread(self, X: Any) -> np.ndarray:
        """How far the members disagree: the standard deviation of their predictions, not of y."""
        return self._over_rows(self._check(X), lambda rows: np.std(list(self._answers(rows, {})), axis=0))

    def _score_unseen(self, X: Any, y: np.ndarray, present: RowIndex, given: Any) -> None:
        total, count = np.zeros(y.shape), np.zeros(len(y))
        for member, part, unseen in self._unseen(X, present):
            total[unseen] += member.predict(part)
            count[unseen] += 1
        warn_of_unseen(bool((count == 0).any()))
        count = np.maximum(count, 1).reshape((-1,) + (1,) * (y.ndim - 1))
        found = total / count
        self.oob_prediction_ = self._with_absent(found, present, given, self.predict)
        self.oob_score_ = float(r2_score(y, found))
