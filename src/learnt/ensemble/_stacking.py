"""Stacking: a model that learns how to use the answers of other models."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from learnt.engine.labels import encode_labels
from learnt.engine.params import check_choice, check_flag
from learnt.engine.progress import task
from learnt.engine.validation import check_target
from learnt.ensemble._common import (
    NamedMembers,
    check_fit_params,
    check_members,
    dropped,
    fit_member,
    member_params,
    plain_columns,
    routing_enabled,
    row_count,
    run_members,
    several_columns,
)
from learnt.linear_model import LogisticRegression, RidgeCV

_METHODS = ("predict_proba", "decision_function", "predict")


def _final_has(method: str) -> Any:
    """Whether the final estimator, fitted or as given, has a method."""

    def check(self: Any) -> bool:
        final = getattr(self, "final_estimator_", None)
        final = self._final() if final is None else final
        getattr(final, method)
        return True

    return check


class _Stacking(TransformerMixin, NamedMembers):
    """Members, their answers to rows they have not seen, and the final estimator fitted on those answers."""

    final_estimator: Any
    classes_: Any
    cv: Any
    n_jobs: Any
    passthrough: Any

    def _fit_stack(self, X: Any, y: np.ndarray, fit_params: dict[str, Any], method: str) -> Any:
        members = check_members(self, kind=not is_classifier(self))
        self.final_estimator_ = clone(self._final())
        params = member_params(self, [name for name, _ in members], fit_params)
        kept = [(name, member) for name, member in members if not dropped(member)]
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        with task(f"{type(self).__name__} fit", 2 * len(kept) + 1) as bar:

            def fit(name: str, member: Any) -> Any:
                if prefit:
                    check_is_fitted(member)
                else:
                    member = fit_member(clone(member), X, y, params[name])
                bar.advance(note=name)
                return member

            fitted = run_members([partial(fit, name, member) for name, member in kept], self.n_jobs)
            self._record_members(fitted)
            self.stack_method_ = [_method_of(name, member, method) for name, member in kept]
            if not prefit:
                folds = check_cv(self.cv, y=y, classifier=is_classifier(self))
                if getattr(folds, "random_state", 0) is None:
                    folds.random_state = np.random.RandomState()  # every member must get the same folds

            def unseen(m: int, name: str, member: Any) -> Any:
                """What the member says of each row when it was fitted on the others."""
                if prefit:
                    answers = getattr(member, self.stack_method_[m])(X)
                else:
                    answers = cross_val_predict(
                        clone(member), X, y, cv=deepcopy(folds), method=self.stack_method_[m], params=params[name]
                    )
                bar.advance(note=name)
                return answers

            answers = run_members([partial(unseen, m, *named) for m, named in enumerate(kept)], self.n_jobs)
            columns = self._columns(answers)
            self._n_feature_outs = [column.shape[1] for column in columns]
            fit_member(self.final_estimator_, self._side_by_side(X, columns), y, fit_params)
            bar.advance(note="final estimator")
        return self

    def _columns(self, answers: list[Any]) -> list[np.ndarray]:
        """Each member's answers as a matrix, without the probability that the others determine."""
        columns: list[np.ndarray] = []
        for answer, method in zip(answers, self.stack_method_):
            if isinstance(answer, list):  # several outputs: the probability of each label
                columns.extend(np.asarray(part)[:, 1:] for part in answer)
                continue
            answer = np.asarray(answer)
            if answer.ndim == 1:
                answer = answer[:, None]
            elif method == "predict_proba" and is_classifier(self) and len(self.classes_) == 2:
                answer = answer[:, 1:]
            columns.append(answer)
        return columns

    def _side_by_side(self, X: Any, columns: list[np.ndarray]) -> Any:
        if not self.passthrough:
            return np.hstack(columns)
        if sparse.issparse(X):
            return sparse.hstack([*columns, X], format=X.format)
        return np.hstack([*columns, plain_columns(X)])

    def transform(self, X: Any) -> Any:
        """What the members say of X: the final estimator's table."""
        check_is_fitted(self)
        answers = [getattr(member, method)(X) for member, method in zip(self.estimators_, self.stack_method_)]
        return self._side_by_side(X, self._columns(answers))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then what the members say of X."""
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of `transform`'s columns."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        kept = [name[1:] for name in self._fitted_names if name[0] == "+"]
        names = []
        for name, width in zip(kept, self._n_feature_outs):
            names += [f"{prefix}_{name}"] if width == 1 else [f"{prefix}_{name}{i}" for i in range(width)]
        if self.passthrough:
            if input_features is None:
                input_features = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
            names += [str(name) for name in input_features]
        return np.asarray(names, dtype=object)

    def _predict(self, X: Any, predict_params: dict[str, Any]) -> np.ndarray:
        check_is_fitted(self)
        if routing_enabled():
            predict_params = process_routing(self, "predict", **predict_params).final_estimator_["predict"]
        return self.final_estimator_.predict(self.transform(X), **predict_params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to which member, for scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        for name, member in self.estimators:
            router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(
            final_estimator_=getattr(self, "final_estimator_", self.final_estimator),
            method_mapping=MethodMapping().add(caller="predict", callee="predict"),
        )


def _method_of(name: str, member: Any, wanted: str) -> str:
    """The method whose answers are stacked."""
    for method in _METHODS if wanted == "auto" else (wanted,):
        if hasattr(member, method):
            return method
    raise ValueError(
        f"Underlying estimator {name} does not implement the method {wanted}; choose another stack_method."
    )


class StackingClassifier(ClassifierMixin, _Stacking):
    """A classifier on the answers of others:  f(h₁(x), …, h_M(x)), f fitted on answers to rows the members left out.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; copies are fitted. 'drop' in place of an estimator leaves it out.
    final_estimator : estimator or None
        What learns from their answers; None: `LogisticRegression()`.
    cv : int, splitter, iterable, "prefit" or None
        How the left-out rows are chosen (None: 5 folds by class); "prefit": the members are fitted already and used as
        they are.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
        Which answers; "auto" takes the first of the three that a member has.
    n_jobs : int or None
        How many members are fitted at a time; None: one after another, each free to use all threads.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    verbose : int, default=0
        Kept for scikit-learn's signature: progress is shown by `learnt.engine.progress`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of them where y has several columns of labels
    estimators_ : list of the fitted members; they were fitted on labels 0…K−1
    named_estimators_ : the same by name
    final_estimator_ : the fitted final estimator
    stack_method_ : list of str
    n_features_in_ : int

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

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        stack_method="auto",
        n_jobs=None,
        passthrough=False,
        verbose=0,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StackingClassifier:
        """Fit members and final estimator; `sample_weight` is passed on to all of them."""
        check_fit_params(self, fit_params)
        check_choice(self, "stack_method", ("auto", *_METHODS))
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
        return self._fit_stack(X, codes, fit_params, self.stack_method)

    def _final(self) -> Any:
        return LogisticRegression() if self.final_estimator is None else self.final_estimator

    @available_if(_final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> np.ndarray:
        """The class the final estimator predicts."""
        codes = self._predict(X, predict_params)
        if isinstance(self.classes_, list):
            return np.column_stack([classes[column] for classes, column in zip(self.classes_, codes.T)])
        return self.classes_[codes]

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The final estimator's probabilities; for several columns of labels, that of the first class of each."""
        check_is_fitted(self)
        found = self.final_estimator_.predict_proba(self.transform(X))
        return np.column_stack([part[:, 0] for part in found]) if isinstance(self.classes_, list) else found

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """The final estimator's scores."""
        check_is_fitted(self)
        return self.final_estimator_.decision_function(self.transform(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class StackingRegressor(RegressorMixin, _Stacking):
    """A regressor on the answers of others:  f(h₁(x), …, h_M(x)), f fitted on answers to rows the members left out.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; copies are fitted. 'drop' in place of an estimator leaves it out.
    final_estimator : estimator or None
        What learns from their answers; None: `RidgeCV()`.
    cv : int, splitter, iterable, "prefit" or None
        How the left-out rows are chosen (None: 5 folds); "prefit": the members are fitted already and used as they are.
    n_jobs : int or None
        How many members are fitted at a time; None: one after another, each free to use all threads.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    verbose : int, default=0
        Kept for scikit-learn's signature: progress is shown by `learnt.engine.progress`.

    Attributes
    ----------
    estimators_ : list of the fitted members
    named_estimators_ : the same by name
    final_estimator_ : the fitted final estimator
    stack_method_ : list of str
    n_features_in_ : int

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

    def __init__(self, estimators, final_estimator=None, *, cv=None, n_jobs=None, passthrough=False, verbose=0):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StackingRegressor:
        """Fit members and final estimator; `sample_weight` is passed on to all of them."""
        check_fit_params(self, fit_params)
        check_flag(self, "passthrough")
        if not is_regressor(self._final()):
            raise ValueError(f"'final_estimator' parameter should be a regressor. Got {self._final()!r:.80}.")
        name = type(self).__name__
        targets = check_target(y, "number", np.empty((row_count(X, name), 0)), name)
        return self._fit_stack(X, targets, fit_params, "predict")

    def _final(self) -> Any:
        return RidgeCV() if self.final_estimator is None else self.final_estimator

    @available_if(_final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> np.ndarray:
        """What the final estimator predicts."""
        return self._predict(X, predict_params)
