"""Bagged classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.baseline import ConstantClassifier
from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.weights import RowIndex, take_rows
from learnt.ensemble._common import fit_member
from learnt.ensemble._trial_members import one_classifier, takes_what_members_take
from learnt.ensemble.bagging._base import Bagging, warn_of_unseen
from learnt.ensemble.bagging._schema import CLASSIFIER
from learnt.tree import DecisionTreeClassifier


def _has_decision_function(self: Any) -> bool:
    members = getattr(self, "estimators_", None) or [self._prototype()]
    return all(callable(member.decision_function) for member in members)


class BaggingClassifier(ClassifierMixin, Bagging):
    """The mean of classifiers fitted on random samples of the rows:  p(c | x) = (1/B) Σ_b p_b(c | x).

    Parameters
    ----------
    estimator : estimator or None
        What is fitted; None: `DecisionTreeClassifier()`.
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
    estimators_ : list of the fitted members; they were fitted on labels 0…K−1
    estimators_features_, estimators_samples_ : lists of arrays
        Columns and rows each member was fitted on.
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    oob_score_ : float
        The share of rows that the members which had not seen them get right.
    oob_decision_function_ : array of shape (n, n_classes)
        What those members say; NaN for a row that all have seen.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X.sum(axis=1) > 0, "up", "down")
    >>> model = BaggingClassifier(GaussianNB(), 30, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict([[1.0, 1.0], [-1.0, 0.0]])
    array(['up', 'down'], dtype='<U4')
    >>> model.oob_score_ > 0.9
    True
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_classifier(), "n_estimators": 5, "random_state": 0},
        warmup=(Warm("classes", {"n_estimators": 2}),),
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BaggingClassifier:
        """Fit the members; rows are drawn by `sample_weight` where it is given."""
        return self._fit(X, y, sample_weight, fit_params, "label")

    def _prototype(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _targets(self, y: np.ndarray) -> np.ndarray:
        classes, codes = encode_labels(y)
        going_on = self.warm_start and hasattr(self, "estimators_")
        if going_on and not np.array_equal(classes, getattr(self, "classes_", classes)):
            raise ValueError("y has other classes than the members that are there; set warm_start=False to begin anew.")
        self.classes_, self.n_classes_ = classes, len(classes)
        return codes

    def _fit_one(
        self, member: Any, X: Any, y: np.ndarray, fit_params: dict[str, Any], counts: np.ndarray | None
    ) -> Any:
        """A sample may have rows of one class only: where the estimator refuses it, that class is predicted."""
        try:
            return fit_member(member, X, y, fit_params)
        except ValueError:
            rows = slice(None) if counts is None else counts > 0
            if len(np.unique(y[rows])) > 1:
                raise
            return ConstantClassifier().fit(take_rows(X, rows), y[rows])

    def _calls(self) -> dict[str, str]:
        answer = "predict_proba" if hasattr(self._prototype(), "predict_proba") else "predict"
        return {
            **dict.fromkeys(("predict", "predict_proba", "predict_log_proba"), answer),
            "decision_function": "decision_function",
        }

    def _ballot(self, member: Any, X: Any, params: dict[str, Any]) -> np.ndarray:
        """One member's probabilities, or 1 for its class where it has none: (n, K)."""
        out = np.zeros((X.shape[0], self.n_classes_))
        if hasattr(member, "predict_proba"):
            out[:, np.asarray(member.classes_)] = member.predict_proba(X, **params)
        else:
            out[np.arange(X.shape[0]), member.predict(X, **params)] = 1.0
        return out

    def _ballots(self, X: Any, params: dict[str, Any]) -> Any:
        for member, features in zip(self.estimators_, self.estimators_features_):
            yield self._ballot(member, self._part(X, features), params)

    def _mean(self, X: Any, params: dict[str, Any]) -> np.ndarray:
        return self._over_rows(self._check(X), lambda rows: sum(self._ballots(rows, params))) / len(self.estimators_)

    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """The mean of the members' probabilities, or their share of votes where they have none."""
        return self._mean(X, self._routed("predict_proba", params))

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """The class of largest mean probability."""
        check_is_fitted(self)
        return self.classes_[self._mean(X, self._routed("predict", params)).argmax(axis=1)]

    def predict_log_proba(self, X: Any, **params: Any) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self._mean(X, self._routed("predict_log_proba", params)))

    @available_if(_has_decision_function)
    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """The mean of the members' scores."""
        X, params = self._check(X), self._routed("decision_function", params)
        parts = zip(self.estimators_, self.estimators_features_)
        return sum(member.decision_function(self._part(X, features), **params) for member, features in parts) / len(
            self
        )

    def spread(self, X: Any) -> np.ndarray:
        """How far the members disagree: the standard deviation of their probabilities, (n, K)."""

        def deviation(rows: Any) -> np.ndarray:
            return np.std(list(self._ballots(rows, {})), axis=0)

        return self._over_rows(self._check(X), deviation)

    def _score_unseen(self, X: Any, y: np.ndarray, present: RowIndex, given: Any) -> None:
        votes = np.zeros((len(y), self.n_classes_))
        for member, part, unseen in self._unseen(X, present):
            votes[unseen] += self._ballot(member, part, {})
        total = votes.sum(axis=1, keepdims=True)
        warn_of_unseen(bool((total == 0).any()))
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = self._with_absent(votes / total, present, given, self.predict_proba)
        self.oob_score_ = float(np.mean(votes.argmax(axis=1) == y))
