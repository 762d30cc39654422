"""A classifier that labels more rows by and by, and learns from them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from learnt.engine.documentation import Documented
from learnt.engine.estimator import Trial
from learnt.engine.matrices import take_rows
from learnt.engine.mixins import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
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

    Take it to use rows without labels with any classifier whose probabilities are trustworthy; what it labels wrongly
    it learns from, so that an early mistake can grow.

    Parameters
    ----------
    estimator : classifier
        Has `fit` and `predict_proba`; `learnt.calibration.CalibratedClassifierCV` gives probabilities to any.
    threshold : float, default=0.75
        For criterion="threshold": rows with a probability above it are labelled, in [0, 1). Higher labels fewer rows,
        and fewer wrongly.
    criterion : {"threshold", "k_best"}, default="threshold"
        Which rows are labelled in a round: "threshold", those of a probability above `threshold`; "k_best", those
        `k_best` of largest probability.
    k_best : int, default=10
        For criterion="k_best": how many rows are labelled in a round.
    max_iter : int or None, default=10
        The most rounds; None goes on until no row is labelled any more.
    verbose : bool, default=False
        Log how many rows are labelled in each round to the logger "learnt".

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted to all rows with a label in the end.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, without −1.
    transduction_ : ndarray of shape (n_samples,)
        The label of each training row, −1 where none was found.
    labeled_iter_ : ndarray of shape (n_samples,)
        In which round each row was labelled: 0 if its label was given, −1 if never.
    n_iter_ : int
        The number of rounds.
    termination_condition_ : {"max_iter", "no_change", "all_labeled"}
        Why it ended: after all rounds, because no row was sure enough, or because all rows have a label.

    See Also
    --------
    LabelPropagation : Labels move along a graph of similar rows.
    LabelSpreading : The same, robust against wrong labels.
    learnt.calibration.CalibratedClassifierCV : Probabilities that can be trusted.

    Notes
    -----
    The classifier is fitted once a round and once at the end. X may be what the classifier takes.

    References
    ----------
    .. [1] D. Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", ACL, 1995.

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

    def __init__(
        self,
        estimator: Any = None,
        threshold: float = 0.75,
        criterion: str = "threshold",
        k_best: int = 10,
        max_iter: int | None = 10,
        verbose: Any = False,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **params: Any) -> SelfTrainingClassifier:
        """Fit to the rows with labels, and label others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from, with labels and without.
        y : array-like of shape (n_samples,)
            Class labels; −1 for rows without one. Where labels are text, an array of dtype object with the number −1.
        **params : dict
            Metadata such as `sample_weight` for `fit` of the classifier; needs
            `sklearn.set_config(enable_metadata_routing=True)`.
        """
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
        """The classes that `estimator_` predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the method of `estimator_`; needs `sklearn.set_config(enable_metadata_routing=True)`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted label of each row.
        """
        return self._ask("predict", params, X)

    @available_if(_answers("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """The probabilities of the classes by `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the method of `estimator_`; needs `sklearn.set_config(enable_metadata_routing=True)`.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`.
        """
        return self._ask("predict_proba", params, X)

    @available_if(_answers("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """The scores of the classes by `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the method of `estimator_`; needs `sklearn.set_config(enable_metadata_routing=True)`.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, usually more than 0 for `classes_[1]`; else one for each class.
        """
        return self._ask("decision_function", params, X)

    @available_if(_answers("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """The logarithms of the probabilities of the classes by `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        **params : dict
            Metadata for the method of `estimator_`; needs `sklearn.set_config(enable_metadata_routing=True)`.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            The logarithm of the probability of each class, in the order of `classes_`.
        """
        return self._ask("predict_log_proba", params, X)

    @available_if(_answers("score"))
    def score(self, X: Any, y: Any, **params: Any) -> float:
        """The score of `estimator_`: the share of right predictions, for most classifiers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.
        y : array-like of shape (n_samples,)
            The true labels.
        **params : dict
            Metadata for the method of `estimator_`; needs `sklearn.set_config(enable_metadata_routing=True)`.

        Returns
        -------
        score : float
            What `score` of `estimator_` returns; the higher, the better.
        """
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
        """Which metadata goes to the methods of the classifier, for scikit-learn's metadata routing."""
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
