"""Decisions with the least expected loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes, Trial, takes_of
from learnt.engine.mixins import ClassifierMixin, MetaEstimatorMixin, clone
from learnt.engine.params import ParameterError
from learnt.engine.schema import Schema, estimator, labels, real
from learnt.engine.validation import refuse_elsewhere
from learnt.naive_bayes import GaussianNB


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, Estimator):
    """Decide for the class with the least expected loss:  argmin over j of Σ_k p(k | x) L_kj.

    For errors of different costs: a missed illness against a false alarm. Where all errors cost the same, that is the
    most probable class. p(k | x) comes from a classifier, which should be calibrated.

    Parameters
    ----------
    estimator : classifier
        One with `predict_proba`; a copy is fitted.
    loss_matrix : array-like of shape (n_classes, n_classes), default=None
        L_kj, the loss of deciding for class j where the class is k, both in the order of the sorted labels; None: 1 for
        every error.

    Attributes
    ----------
    estimator_ : classifier
        The fitted copy.
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the classifier's.
    loss_matrix_ : ndarray of shape (n_classes, n_classes)
        L: the losses in use.

    See Also
    --------
    learnt.calibration.CalibratedClassifierCV : Makes probabilities honest, which this needs.
    learnt.model_selection.TunedThresholdClassifierCV : Chooses the threshold for any score, by cross-validation.
    learnt.model_selection.FixedThresholdClassifier : A given threshold for two classes.

    References
    ----------
    .. [1] Charles Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI, 2001.

    Examples
    --------
    Missing the illness "yes" costs ten times as much as a false alarm.

    >>> from learnt.bayes import CostSensitiveClassifier
    >>> from learnt.naive_bayes import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [2.0], [3.0], [4.0]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> GaussianNB().fit(X, y).predict([[1.5]])
    array(['no'], dtype='<U3')
    >>> careful = CostSensitiveClassifier(GaussianNB(), [[0, 1], [10, 0]]).fit(X, y)
    >>> careful.predict([[1.5]])
    array(['yes'], dtype='<U3')
    """

    __learnt_schema__ = Schema(
        state={"classes_": labels("c"), "loss_matrix_": real("c", "c"), "estimator_": estimator("predict_proba")},
        rule=lambda model, state, dims: (
            None if len(getattr(state["estimator_"], "classes_", ())) == dims["c"] else "has a model of other classes"
        ),
    )
    __learnt_trial__ = Trial(quick=lambda: {"estimator": GaussianNB()})

    @property
    def __learnt_takes__(self) -> Takes:
        inner = takes_of(self.estimator)
        return Takes(sparse=inner.sparse, categories=inner.categories, missing=inner.missing)

    def __init__(self, estimator: Any, loss_matrix: Any = None) -> None:
        self.estimator = estimator
        self.loss_matrix = loss_matrix

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostSensitiveClassifier:
        """Fit a copy of the classifier; weights are passed on to it."""
        refuse_elsewhere(X, type(self).__name__)
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise ParameterError(f"estimator must be a classifier such as GaussianNB(); it is {self.estimator!r}.")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        fitted = clone(self.estimator).fit(X, y, **weights)
        if not hasattr(fitted, "predict_proba"):
            raise ParameterError(
                f"CostSensitiveClassifier weighs losses by probabilities, and {type(fitted).__name__} has no "
                "predict_proba; give another estimator, or calibrate it."
            )
        self.loss_matrix_ = _losses(self.loss_matrix, len(fitted.classes_))
        self.estimator_, self.classes_ = fitted, fitted.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(c | x) of each row (n × K), the classifier's own."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def expected_loss(self, X: Any) -> np.ndarray:
        """Return Σ_k p(k | x) L_kj of each row and decision (n × K).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to decide for.

        Returns
        -------
        losses : ndarray of shape (n_samples, n_classes)
            The expected loss of deciding for each class, in the order of `classes_`.
        """
        return self.predict_proba(X) @ self.loss_matrix_

    def predict(self, X: Any) -> np.ndarray:
        """Return the decision with the least expected loss, the first among equals."""
        check_is_fitted(self)
        return self.classes_[self.expected_loss(X).argmin(axis=1)]

    @property
    def n_features_in_(self) -> int:
        """The number of columns `fit` saw."""
        return self._inner("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns `fit` saw, where they had names."""
        return self._inner("feature_names_in_")

    def _inner(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r} before it is fitted; call fit first."
            )
        return getattr(self.estimator_, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        tags.input_tags.positive_only, tags.input_tags.categorical = inner.positive_only, inner.categorical
        return tags


def _losses(matrix: Any, n: int) -> np.ndarray:
    """The loss matrix, checked."""
    if matrix is None:
        return 1.0 - np.eye(n)
    losses = np.asarray(matrix, dtype=np.float64)
    if losses.shape != (n, n):
        raise ParameterError(
            f"loss_matrix has the shape {losses.shape} and there are {n} classes; give a row for each class and a "
            "column for each decision."
        )
    if not np.isfinite(losses).all():
        raise ParameterError("loss_matrix must hold finite numbers.")
    return losses
