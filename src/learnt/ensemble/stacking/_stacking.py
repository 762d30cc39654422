"""Stacking: a model that learns how to use the answers of other models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from learnt.engine.classification.labels import encode_labels
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from learnt.engine.params import check_choice, check_flag
from learnt.engine.validation import check_target
from learnt.ensemble._common import check_fit_params, row_count, several_columns
from learnt.ensemble._trial_members import classifiers, regressors
from learnt.ensemble.stacking._base import METHODS, Stacking, final_has
from learnt.ensemble.stacking._schema import STACKING_CLASSIFIER, STACKING_REGRESSOR
from learnt.linear_model import LogisticRegression, RidgeCV


class StackingClassifier(ClassifierMixin, Stacking):
    """A classifier on the answers of others:  f(h₁(x), …, h_M(x)), f fitted on answers to rows the members left out.

    The final estimator learns which member to trust, which is often a little better than the best of them. It pays
    where members differ, such as a linear model, a forest and neighbours.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members and their names; copies are fitted. "drop" in place of an estimator leaves it out. Members that err
        on different rows gain most from each other.
    final_estimator : classifier or None, default=None
        What learns from the members' answers; None is `LogisticRegression()`. A regularised linear model is a good
        choice, since the answers are much alike.
    cv : int, splitter, iterable, "prefit" or None, default=None
        How the left-out rows are chosen: an integer is the number of folds, None is 5 folds, by class. "prefit": the
        members are fitted already and used as they are; the rows given to `fit` should then be ones that they have not
        seen.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which answers of the members are used; "auto" takes the first of the three that a member has.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is one after another, each free to use all threads.
    passthrough : bool, default=False
        Whether the final estimator sees X too, beside the answers. It may then correct the members where they err, and
        overfits sooner.
    verbose : int, default=0
        Whether a line is said of every member when it is fitted: to the log "learnt", or to stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The class labels, sorted; a list where y has several columns of labels.
    estimators_ : list of estimator
        The fitted members, which were fitted to labels 0 to K - 1.
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : estimator
        The fitted final estimator.
    stack_method_ : list of str
        The method of each member whose answers are used.
    n_features_in_ : int
        Number of columns seen during `fit`.

    See Also
    --------
    StackingRegressor : The same for numbers.
    VotingClassifier : Members vote, and nothing is learnt about them: one fit each.
    BaggingClassifier : Many copies of one model.

    Notes
    -----
    Each member is fitted once for each fold, for answers to rows it has not seen, and once more to all rows, for
    predictions. Of two classes one probability a member is used, since the other follows from it.

    References
    ----------
    .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import LogisticRegression
    >>> from learnt.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "in", "out")
    >>> members = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
    >>> StackingClassifier(members).fit(X, y).predict([[2.0, 0.0], [-1.0, 0.1]])
    array(['in', 'out'], dtype='<U3')
    """

    __learnt_schema__ = STACKING_CLASSIFIER
    __learnt_trial__ = Trial(
        quick=lambda: {"estimators": classifiers()},
        warmup=lambda: (Warm("classes", {"estimators": classifiers(), "cv": 2}),),
        any_order=False,  # folds are cut by position
        weight_unit_free=False,  # members and final estimator have penalties
    )

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StackingClassifier:
        """Fit the members and the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels: numbers, text or booleans; several columns of 0 and 1 where the members take them.
        **fit_params : dict
            `sample_weight`, which is passed on to all members and the final estimator; other metadata by scikit-learn's
            metadata routing.
        """
        check_fit_params(self, fit_params)
        X, y, fit_params, present = self._present(X, y, fit_params)
        check_choice(self, "stack_method", ("auto", *METHODS))
        check_flag(self, "passthrough")
        if not is_classifier(self._final()):
            raise ValueError(f"'final_estimator' parameter should be a classifier. Got {self._final()!r:.80}.")
        name = type(self).__name__
        n_rows = row_count(X, name)
        if several_columns(y) and type_of_target(y) == "multilabel-indicator":
            coded = [encode_labels(column) for column in np.asarray(y).T]
            self.classes_, codes = [classes for classes, _ in coded], np.column_stack([code for _, code in coded])
        else:
            self.classes_, codes = encode_labels(check_target(y, "label", np.empty((n_rows, 0)), name))
        return self._fit_stack(X, codes, fit_params, self.stack_method, present)

    def _final(self) -> Any:
        return LogisticRegression() if self.final_estimator is None else self.final_estimator

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> np.ndarray:
        """The class that the final estimator predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **predict_params : dict
            Passed on to the `predict` of the final estimator, such as `return_std=True`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predicted label of each row.
        """
        codes = self._predict(X, predict_params)
        if isinstance(self.classes_, list):
            return np.column_stack([classes[column] for classes, column in zip(self.classes_, codes.T)])
        return self.classes_[codes]

    @available_if(final_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The final estimator's probabilities; for several columns of labels, that of the first class of each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes) or (n_samples, n_outputs)
            The probability of each class, in the order of `classes_`; for several columns of labels, that of the first
            class of each.
        """
        check_is_fitted(self)
        found = self.final_estimator_.predict_proba(self.transform(X))
        return np.column_stack([part[:, 0] for part in found]) if isinstance(self.classes_, list) else found

    @available_if(final_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """The final estimator's scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, more than 0 for `classes_[1]`; else one for each class.
        """
        check_is_fitted(self)
        return self.final_estimator_.decision_function(self.transform(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class StackingRegressor(RegressorMixin, Stacking):
    """A regressor on the answers of others:  f(h₁(x), …, h_M(x)), f fitted on answers to rows the members left out.

    The final estimator learns which member to trust, which is often a little better than the best of them. It pays
    where members differ, such as a linear model, a forest and neighbours.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members and their names; copies are fitted. "drop" in place of an estimator leaves it out. Members that err
        on different rows gain most from each other.
    final_estimator : regressor or None, default=None
        What learns from the members' answers; None is `RidgeCV()`. A regularised linear model is a good choice, since
        the answers are much alike.
    cv : int, splitter, iterable, "prefit" or None, default=None
        How the left-out rows are chosen: an integer is the number of folds, None is 5 folds. "prefit": the members are
        fitted already and used as they are; the rows given to `fit` should then be ones that they have not seen.
    n_jobs : int or None, default=None
        How many members are fitted at a time; None is one after another, each free to use all threads.
    passthrough : bool, default=False
        Whether the final estimator sees X too, beside the answers. It may then correct the members where they err, and
        overfits sooner.
    verbose : int, default=0
        Whether a line is said of every member when it is fitted: to the log "learnt", or to stderr.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : estimator
        The fitted final estimator.
    stack_method_ : list of str
        The method of each member whose answers are used.
    n_features_in_ : int
        Number of columns seen during `fit`.

    See Also
    --------
    StackingClassifier : The same for classes.
    VotingRegressor : The mean of the members, and nothing is learnt about them: one fit each.
    BaggingRegressor : Many copies of one model.

    Notes
    -----
    Each member is fitted once for each fold, for answers to rows it has not seen, and once more to all rows, for
    predictions.

    References
    ----------
    .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.baseline import ConstantRegressor
    >>> from learnt.linear_model import LinearRegression
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> members = [("line", LinearRegression()), ("mean", ConstantRegressor())]
    >>> StackingRegressor(members, LinearRegression()).fit(X, 3 * X[:, 0]).predict([[30.0]]).round(6)
    array([90.])
    """

    __learnt_schema__ = STACKING_REGRESSOR
    __learnt_trial__ = Trial(
        quick=lambda: {"estimators": regressors()},
        warmup=lambda: (Warm("amount", {"estimators": regressors(), "cv": 2}),),
        any_order=False,  # folds are cut by position
        weight_unit_free=False,  # members and final estimator have penalties
    )

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StackingRegressor:
        """Fit the members and the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        **fit_params : dict
            `sample_weight`, which is passed on to all members and the final estimator; other metadata by scikit-learn's
            metadata routing.
        """
        check_fit_params(self, fit_params)
        X, y, fit_params, present = self._present(X, y, fit_params)
        check_flag(self, "passthrough")
        if not is_regressor(self._final()):
            raise ValueError(f"'final_estimator' parameter should be a regressor. Got {self._final()!r:.80}.")
        name = type(self).__name__
        targets = check_target(y, "number", np.empty((row_count(X, name), 0)), name)
        return self._fit_stack(X, targets, fit_params, "predict", present)

    def _final(self) -> Any:
        return RidgeCV() if self.final_estimator is None else self.final_estimator

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> np.ndarray:
        """The number that the final estimator predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **predict_params : dict
            Passed on to the `predict` of the final estimator, such as `return_std=True`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted number of each row.
        """
        return self._predict(X, predict_params)
