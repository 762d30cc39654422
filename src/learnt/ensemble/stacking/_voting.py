"""Voting: several different models, one decision."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import ClassifierMixin, RegressorMixin, clone
from learnt.engine.params import check_choice, check_flag
from learnt.engine.progress import task
from learnt.engine.validation import check_target
from learnt.ensemble._common import (
    LabelCodes,
    check_fit_params,
    fit_member,
    member_params,
    row_count,
    several_columns,
)
from learnt.ensemble._trial_members import classifiers, regressors
from learnt.ensemble.stacking._named_members import NamedMembers, check_members
from learnt.ensemble.stacking._schema import VOTING_CLASSIFIER, VOTING_REGRESSOR
from learnt.explanation import Explained


class _Voting(NamedMembers, Explained):
    """Members fitted on the same rows, and their answers side by side."""

    weights: Any

    def _fit_voters(self, X: Any, y: np.ndarray, fit_params: dict[str, Any]) -> Any:
        names = check_members(self)
        if self.weights is not None and len(self.weights) != len(names):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(names)} estimators."
            )
        params = member_params(self, names, fit_params)
        with task(f"{type(self).__name__} fit", len(self._kept())) as bar:
            self._fit_members(lambda name, member: fit_member(clone(member), X, y, params[name]), bar)
        return self

    def _answers(self, X: Any) -> np.ndarray:
        """(n, members): what each member predicts."""
        check_is_fitted(self)
        return np.column_stack([member.predict(X) for member in self.estimators_])

    def _kept_weights(self) -> Any:
        """The weights of the members that were not dropped."""
        if self.weights is None:
            return None
        return [weight for weight, name in zip(self.weights, self._fitted_names) if name[0] == "+"]


def _soft(self: Any) -> bool:
    if self.voting != "soft":
        raise AttributeError(f"predict_proba is not available when voting={self.voting!r}; use voting='soft'.")
    return True


class VotingClassifier(ClassifierMixin, _Voting):
    """Many classifiers vote:  argmax over c of Σₘ wₘ [hₘ(x) = c]  (hard)  or of  Σₘ wₘ pₘ(c | x)  (soft).

    The simplest way to combine different models: their errors partly cancel. Soft votes are better where the members'
    probabilities are calibrated.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members and their names; copies are fitted. "drop" in place of an estimator leaves it out. Members that err
        on different rows gain most from each other.
    voting : {"hard", "soft"}, default="hard"
        Whether members give their class or their probabilities, of which the mean is taken.
    weights : array-like of float of shape (n_estimators,) or None, default=None
        How much each vote counts; None counts all alike.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is one after another, each free to use all threads.
    flatten_transform : bool, default=True
        Whether `transform` of soft votes returns one matrix, (n_samples, n_members · n_classes), instead of three axes,
        (n_members, n_samples, n_classes).
    verbose : bool, default=False
        Whether a line is said of every member when it is fitted: to the log "learnt", or to stderr.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted members, which were fitted to labels 0 to K - 1.
    named_estimators_ : Bunch
        The fitted members by name.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    le_ : LabelCodes
        Turns labels into the codes 0 to K - 1 (`transform`) and back (`inverse_transform`).
    n_features_in_ : int
        Number of columns seen during `fit`.

    See Also
    --------
    VotingRegressor : The mean of different regressors.
    StackingClassifier : Learns which member to trust.
    BaggingClassifier : Many copies of one model.

    Notes
    -----
    One fit for each member. Among classes with the same vote the first of `classes_` wins.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import LogisticRegression
    >>> from learnt.naive_bayes import GaussianNB
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array(["no", "no", "no", "yes", "yes", "yes"])
    >>> members = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
    >>> VotingClassifier(members, voting="soft").fit(X, y).predict([[-0.5, 0], [0.6, 0.1]])
    array(['no', 'yes'], dtype='<U3')
    """

    __learnt_schema__ = VOTING_CLASSIFIER
    __learnt_trial__ = Trial(
        quick=lambda: {"estimators": classifiers(), "voting": "soft"},
        warmup=lambda: (Warm("classes", {"estimators": classifiers()}),),
    )

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> VotingClassifier:
        """Fit a copy of every member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,)
            Class labels: numbers, text or booleans.
        **fit_params : dict
            `sample_weight`, which is passed on to all members; other metadata by scikit-learn's metadata routing.
        """
        check_fit_params(self, fit_params)
        X, y, fit_params, _ = self._present(X, y, fit_params)
        check_choice(self, "voting", ("hard", "soft"))
        check_flag(self, "flatten_transform")
        name = type(self).__name__
        n_rows = row_count(X, name)
        if several_columns(y):
            raise NotImplementedError(
                f"{name} only supports binary or multiclass classification. Multilabel and multi-output classification "
                "are not supported: fit one for each column of y."
            )
        labels = check_target(y, "label", np.empty((n_rows, 0)), name)
        self.classes_, codes = encode_labels(labels)
        return self._fit_voters(X, codes, fit_params)

    @property
    def le_(self) -> LabelCodes:
        """The labels as integers, which the members predict, and back."""
        return LabelCodes(self.classes_)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the most votes; among equals the first of `classes_`."""
        check_is_fitted(self)
        votes = self._average(X) if self.voting == "soft" else self._counts(X)
        return self.classes_[votes.argmax(axis=1)]

    def _counts(self, X: Any) -> np.ndarray:
        """(n, classes): the weight of the members that predict each class."""
        weights = self._kept_weights()
        answers = self._answers(X)
        votes = np.zeros((answers.shape[0], len(self.classes_)))
        rows = np.arange(answers.shape[0])
        for m in range(answers.shape[1]):
            votes[rows, answers[:, m].astype(np.int64, copy=False)] += 1.0 if weights is None else weights[m]
        return votes

    def _probabilities(self, X: Any) -> np.ndarray:
        """(members, n, classes)."""
        check_is_fitted(self)
        return np.asarray([member.predict_proba(X) for member in self.estimators_])

    def _average(self, X: Any) -> np.ndarray:
        return np.average(self._probabilities(X), axis=0, weights=self._kept_weights())

    @available_if(_soft)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The weighted mean of the members' probabilities; only of soft votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`.
        """
        return self._average(X)

    def transform(self, X: Any) -> np.ndarray:
        """The predictions of each member: codes of classes (hard) or probabilities (soft).

        Returns
        -------
        X_new : ndarray
            Of hard votes (n_samples, n_members); of soft votes (n_samples, n_members * n_classes), or (n_members,
            n_samples, n_classes) without `flatten_transform`.
        """
        if self.voting != "soft":
            return self._answers(X)
        probabilities = self._probabilities(X)
        return np.hstack(list(probabilities)) if self.flatten_transform else probabilities

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used; kept for scikit-learn's signature.
        """
        check_is_fitted(self)
        if self.voting == "soft" and not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`: the result "
                "has three axes."
            )
        names = self._kept_names()
        if self.voting == "soft":
            names = [f"{name}{c}" for name in names for c in range(len(self.classes_))]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class VotingRegressor(RegressorMixin, _Voting):
    """The weighted mean of many regressors:  Σₘ wₘ hₘ(x) / Σₘ wₘ.

    The simplest way to combine different models: their errors partly cancel.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members and their names; copies are fitted. "drop" in place of an estimator leaves it out. Members that err
        on different rows gain most from each other.
    weights : array-like of float of shape (n_estimators,) or None, default=None
        How much each member counts; None counts all alike.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is one after another, each free to use all threads.
    verbose : bool, default=False
        Whether a line is said of every member when it is fitted: to the log "learnt", or to stderr.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name.
    n_features_in_ : int
        Number of columns seen during `fit`.

    See Also
    --------
    VotingClassifier : Different classifiers vote.
    StackingRegressor : Learns which member to trust.
    BaggingRegressor : Many copies of one model.

    Notes
    -----
    One fit for each member.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.baseline import ConstantRegressor
    >>> from learnt.linear_model import LinearRegression
    >>> X, y = np.arange(4.0).reshape(-1, 1), np.array([0.0, 2.0, 4.0, 6.0])
    >>> members = [("line", LinearRegression()), ("mean", ConstantRegressor())]
    >>> VotingRegressor(members, weights=[3, 1]).fit(X, y).predict([[5.0]]).round(6)
    array([8.25])
    """

    __learnt_schema__ = VOTING_REGRESSOR
    __learnt_trial__ = Trial(
        quick=lambda: {"estimators": regressors()},
        warmup=lambda: (Warm("amount", {"estimators": regressors()}),),
        weight_unit_free=False,  # members and final estimator have penalties
    )

    def __init__(
        self, estimators: Any, *, weights: Any = None, n_jobs: int | None = None, verbose: bool = False
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> VotingRegressor:
        """Fit a copy of every member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        **fit_params : dict
            `sample_weight`, which is passed on to all members; other metadata by scikit-learn's metadata routing.
        """
        check_fit_params(self, fit_params)
        X, y, fit_params, _ = self._present(X, y, fit_params)
        name = type(self).__name__
        targets = check_target(y, "number", np.empty((row_count(X, name), 0)), name)
        return self._fit_voters(X, targets, fit_params)

    def predict(self, X: Any) -> np.ndarray:
        """The weighted mean of the members' predictions."""
        return np.average(self._answers(X), axis=1, weights=self._kept_weights())

    def transform(self, X: Any) -> np.ndarray:
        """The predictions of each member.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_members)
            A column for each member.
        """
        return self._answers(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used; kept for scikit-learn's signature.
        """
        check_is_fitted(self)
        return np.asarray(self._kept_names(), dtype=object)
