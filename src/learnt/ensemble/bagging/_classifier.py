"""Bagged classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.baseline import ConstantClassifier
from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import ClassifierMixin
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

    Averaging takes away much of the variance of a model, and leaves its bias. For trees a random forest does it better.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The model whose copies are fitted; None is `DecisionTreeClassifier()`. Models of much variance, which overfit
        alone, gain most.
    n_estimators : int, default=10
        Number of members. More make the mean steadier and never overfit more, at a cost in proportion.
    max_samples : int, float or None, default=None
        How many rows are drawn for each member: a number, a share (float), or as many as there are (None). Fewer make
        the members more different and the fit quicker.
    max_features : int or float, default=1.0
        How many columns are drawn for each member: a number, or a share (float). Fewer make the members more different
        (random subspaces).
    bootstrap : bool, default=True
        Whether rows are drawn with replacement (bagging) or without (pasting).
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement.
    oob_score : bool, default=False
        Whether to score each training row by the members that were not fitted to it: a validation score (accuracy)
        without a validation set. Needs `bootstrap`, and no `warm_start`.
    warm_start : bool, default=False
        Whether the next `fit` keeps the members that are there and adds what is missing to `n_estimators`, instead of
        starting afresh.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is all threads for learnt's own estimators, one after another for
        others.
    random_state : int, RandomState, Generator or None, default=None
        Draws rows and columns and seeds the members; the same seed draws scikit-learn's rows and columns. Pass an
        integer for the same model every time.
    verbose : int, default=0
        Has no effect; kept for scikit-learn's signature. `learnt.engine.progress.show` shows progress.

    Attributes
    ----------
    estimator_ : estimator
        The model that was copied.
    estimators_ : list of estimator
        The fitted members, which were fitted to labels 0 to K - 1.
    estimators_features_ : list of ndarray
        The columns of each member.
    estimators_samples_ : list of ndarray
        The rows of each member, drawn again from its seed when asked for.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_classes_ : int
        Number of classes.
    oob_score_ : float
        Share of rows that the members which had not seen them get right; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities by those members; NaN for a row that all have seen. Only with `oob_score`.

    See Also
    --------
    BaggingRegressor : The same for numbers.
    RandomForestClassifier : Bagged trees that also draw columns at each split: better and quicker.
    VotingClassifier : Different models on the same rows.
    AdaBoostClassifier : Members fitted one after another, which lowers bias too.

    Notes
    -----
    `n_estimators` fits of the model, on threads. Where the model takes weights, a row drawn twice weighs 2 and the
    table is not copied. With `sample_weight` rows are drawn in proportion to it. Rows drawn with replacement are
    bagging [1]_, without it pasting [2]_; columns alone are random subspaces [3]_, both are random patches [4]_.

    References
    ----------
    .. [1] L. Breiman, "Bagging predictors", Machine Learning 24, 1996.
    .. [2] L. Breiman, "Pasting small votes for classification in large databases and on-line", Machine Learning 36,
           1999.
    .. [3] T. K. Ho, "The random subspace method for constructing decision forests", IEEE Transactions on Pattern
           Analysis and Machine Intelligence 20, 1998.
    .. [4] G. Louppe and P. Geurts, "Ensembles on random patches", ECML PKDD, 2012.

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
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
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
        """Fit the members, each to rows and columns drawn for it.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Rows are drawn in proportion to it; None draws all alike.
        **fit_params : dict
            Other metadata for the `fit` of the members, by scikit-learn's metadata routing.
        """
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
        """The mean of the members' probabilities, or their share of votes where they have none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the members, by scikit-learn's metadata routing.
        """
        return self._mean(X, self._routed("predict_proba", params))

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """The class of largest mean probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the members, by scikit-learn's metadata routing.
        """
        check_is_fitted(self)
        return self.classes_[self._mean(X, self._routed("predict", params)).argmax(axis=1)]

    def predict_log_proba(self, X: Any, **params: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes; -inf for a probability of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the members, by scikit-learn's metadata routing.
        """
        with np.errstate(divide="ignore"):
            return np.log(self._mean(X, self._routed("predict_log_proba", params)))

    @available_if(_has_decision_function)
    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """The mean of the members' scores; only where the members have some.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the members, by scikit-learn's metadata routing.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, more than 0 for `classes_[1]`; else one for each class.
        """
        X, params = self._check(X), self._routed("decision_function", params)
        parts = zip(self.estimators_, self.estimators_features_)
        return sum(member.decision_function(self._part(X, features), **params) for member, features in parts) / len(
            self
        )

    def spread(self, X: Any) -> np.ndarray:
        """How far the members disagree: the standard deviation of their probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        spread : ndarray of shape (n_samples, n_classes)
            The standard deviation over members, in the order of `classes_`.
        """

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
