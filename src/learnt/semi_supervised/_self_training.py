"""A classifier that labels more rows by and by, and learns from them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.engine.documentation import Documented
from learnt.engine.estimator import Trial
from learnt.engine.matrices import take_rows
from learnt.engine.params import ParameterError, check_choice, check_number, check_verbose
from learnt.engine.progress import task
from learnt.engine.schema import Schema, anyof, choice, count, estimator, labels, none, record
from learnt.engine.verbose import tell
from learnt.engine.weights import take_params
from learnt.ensemble._common import check_fit_params, row_count
from learnt.ensemble._trial_members import one_classifier, takes_what_members_take
from learnt.semi_supervised._labels import labelled_rows

_ASKED = ("predict", "predict_proba", "decision_function", "predict_log_proba", "score")


def _answers(method: str) -> Any:
    """Whether the classifier has a method."""

    def check(self: Any) -> bool:
        getattr(self.estimator_ if "estimator_" in vars(self) else self.estimator, method)
        return True

    return check


class SelfTrainingClassifier(ClassifierMixin, MetaEstimatorMixin, Documented, BaseEstimator):
    """Fit a classifier to the rows with labels, label those it is sure of, and again (Yarowsky, 1995).

    Parameters
    ----------
    estimator : classifier
        Has `fit` and `predict_proba`; `CalibratedClassifierCV` gives probabilities to any.
    threshold : float, default=0.75
        For "threshold": rows with a probability above it are labelled.
    criterion : {"threshold", "k_best"}, default="threshold"
    k_best : int, default=10
        For "k_best": how many rows, those of largest probability, are labelled at a time.
    max_iter : int or None, default=10
        None: until no row is labelled any more.
    verbose : bool, default=False
        Tell how many rows are labelled, in the log or on stderr.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all labels.
    classes_ : array of shape (n_classes,)
    transduction_ : array of shape (n_samples,)
        The label of each row, −1 where none was found.
    labeled_iter_ : array of shape (n_samples,)
        When each row was labelled: 0 if it was given, −1 if never.
    n_iter_ : int
    termination_condition_ : {"max_iter", "no_change", "all_labeled"}
    n_features_in_, feature_names_in_
        Those of `estimator_`.

    Examples
    --------
    >>> from learnt.naive_bayes import GaussianNB
    >>> X, y = [[0.0], [0.2], [0.4], [0.9], [3.0], [3.3], [3.6]], [0, 0, -1, -1, 1, 1, -1]
    >>> model = SelfTrainingClassifier(GaussianNB()).fit(X, y)
    >>> model.transduction_, model.labeled_iter_
    (array([0, 0, 0, 0, 1, 1, 1]), array([0, 0, 1, 1, 0, 0, 1]))
    """

    __learnt_schema__ = Schema(
        params={"estimator": anyof(none, estimator("fit"))},
        state={
            "estimator_": estimator("fit"),
            "classes_": labels("c"),
            "transduction_": record,
            "labeled_iter_": record,
            "n_iter_": count(0),
            "termination_condition_": choice("max_iter", "no_change", "all_labeled"),
        },
    )
    __learnt_takes__ = property(takes_what_members_take)
    # A round may be needless: n_iter_ is 0 where all rows have a label.
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_classifier()}, exempt=("check_non_transformer_estimators_n_iter",)
    )

    def __init__(self, estimator=None, threshold=0.75, criterion="threshold", k_best=10, max_iter=10, verbose=False):
        self.estimator = estimator
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **params: Any) -> SelfTrainingClassifier:
        """Fit to the rows with labels, and label others; y is −1 where there is none."""
        check_fit_params(self, params, allowed=())
        self._check()
        name = type(self).__name__
        n = row_count(X, name)
        y, known, _, _ = labelled_rows(y, n, name)
        given = dict(process_routing(self, "fit", **params).estimator.fit) if params else {}
        left = int(n - known.sum())
        if not left:
            warnings.warn("y contains no unlabeled samples: they are marked -1.", UserWarning, stacklevel=2)
        if self.criterion == "k_best" and left and self.k_best > left:
            warnings.warn(
                f"k_best is larger than the amount of unlabeled samples, {left}: all get a label at once.",
                UserWarning,
                stacklevel=2,
            )
        self.estimator_ = clone(self.estimator)
        self.transduction_, self.labeled_iter_ = y.copy(), np.where(known, 0, -1)
        with task(f"{name} fit", self.max_iter) as bar:
            self._train(X, known, given, bar)
        self.estimator_.fit(take_rows(X, known), self.transduction_[known], **take_params(given, known, n))
        self.classes_ = self.estimator_.classes_
        return self

    def _check(self) -> None:
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise ParameterError(
                f"The 'estimator' parameter of {type(self).__name__} must be a classifier with fit and predict_proba. "
                f"Got {self.estimator!r:.80} instead."
            )
        check_number(self, "threshold", 0, float(np.nextafter(1.0, 0.0)))
        check_choice(self, "criterion", ("threshold", "k_best"))
        check_number(self, "k_best", 1, integer=True)
        check_number(self, "max_iter", 0, integer=True, also=(None,))
        check_verbose(self)

    def _train(self, X: Any, known: np.ndarray, given: dict[str, Any], bar: Any) -> None:
        """Label rows by and by; `known` is brought up to date."""
        self.n_iter_, self.termination_condition_ = 0, "max_iter"
        while not known.all() and (self.max_iter is None or self.n_iter_ < self.max_iter):
            self.n_iter_ += 1
            member, rest = self.estimator_, np.flatnonzero(~known)
            member.fit(take_rows(X, known), self.transduction_[known], **take_params(given, known, len(known)))
            if not hasattr(member, "predict_proba"):
                raise AttributeError(
                    f"{type(member).__name__!r} has no attribute 'predict_proba', which {type(self).__name__} needs; "
                    "take CalibratedClassifierCV of it."
                )
            probability = member.predict_proba(take_rows(X, rest))
            sure = self._sure(probability.max(axis=1))
            new = rest[sure]
            self.transduction_[new] = member.classes_[probability[sure].argmax(axis=1)]
            self.labeled_iter_[new] = self.n_iter_
            known[new] = True
            bar.advance(1, f"{known.sum()} rows with a label")
            if not new.size:
                if self.n_iter_ != self.max_iter:
                    self.termination_condition_ = "no_change"
                break
            if self.verbose:
                tell("End of iteration %d, added %d new labels.", self.n_iter_, new.size)
        if known.all():
            self.termination_condition_ = "all_labeled"

    def _sure(self, probability: np.ndarray) -> np.ndarray:
        """Which rows get their label; of equal ones the first."""
        if self.criterion == "threshold":
            return np.flatnonzero(probability > self.threshold)
        return np.sort(np.argsort(-probability, kind="stable")[: self.k_best])

    def _ask(self, method: str, params: dict[str, Any], *data: Any) -> Any:
        check_is_fitted(self)
        check_fit_params(self, params, method, allowed=())
        given = dict(process_routing(self, method, **params).estimator[method]) if params else {}
        return getattr(self.estimator_, method)(*data, **given)

    @available_if(_answers("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """The classes that `estimator_` predicts."""
        return self._ask("predict", params, X)

    @available_if(_answers("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Its probabilities of the classes."""
        return self._ask("predict_proba", params, X)

    @available_if(_answers("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Its scores."""
        return self._ask("decision_function", params, X)

    @available_if(_answers("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """The logarithms of its probabilities."""
        return self._ask("predict_log_proba", params, X)

    @available_if(_answers("score"))
    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Its share of right predictions."""
        return self._ask("score", params, X, y)

    @property
    def n_features_in_(self) -> int:
        """The number of columns `fit` saw."""
        return self._of_estimator("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns `fit` saw, where they had names."""
        return self._of_estimator("feature_names_in_")

    def _of_estimator(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no {name}; call fit first.")
        return getattr(self.estimator_, name)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to the classifier, for scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="fit", callee="score")
        for method in _ASKED:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags
