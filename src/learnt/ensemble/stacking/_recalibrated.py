"""A classifier whose probabilities go through a given map."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from learnt.engine.documentation import Documented
from learnt.engine.estimator import Trial, Warm
from learnt.engine.mixins import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from learnt.engine.params import ParameterError
from learnt.ensemble._common import check_fit_params, fit_member, row_count
from learnt.ensemble._trial_members import one_classifier, takes_what_members_take
from learnt.ensemble.stacking._named_members import check_fitted_attribute
from learnt.ensemble.stacking._probability_map import recalibrate
from learnt.ensemble.stacking._schema import RECALIBRATED
from learnt.explanation import Explained

LARGEST = 1e3  # of exponents and offsets: far beyond any use, and no row of probabilities overflows


class RecalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, Documented, BaseEstimator, Explained):
    """Probabilities bent by a given map:  (1 − doubt)·p′ + doubt/K  with  p′_c ∝ exp(b_c) · (p_c + floor)^exponent.

    The map is given, not learnt: fit it to probabilities of rows that the classifier has not seen. An exponent above 1
    sharpens, below 1 softens (temperature scaling with temperature 1/exponent); offsets move single classes (Platt's
    scaling); the floor keeps a probability of 0 from staying 0. The doubt is the share of rows on which the classifier
    may know nothing at all: no class is surer than it allows, whatever the exponent.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`; a copy is fitted.
    exponent : float, default=1.0
        Power of the probabilities, above 0: more than 1 makes the classifier surer (sharpens), less than 1 less sure,
        as temperature scaling with the temperature 1/exponent does.
    floor : float, default=0.0
        Added to each probability before the power, from 0 to 1, so that a probability of 0 does not stay 0.
    offsets : array-like of float of shape (n_classes,) or None, default=None
        One number for each class, in the order of `classes_`, added to the logarithms; a positive one makes its class
        more probable. None adds nothing.
    doubt : float, default=0.0
        Weight of equal shares of all K classes, from 0 to less than 1: no class becomes surer than it allows.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of columns seen during `fit`.

    See Also
    --------
    recalibrate : The map alone.
    learnt.calibration.CalibratedClassifierCV : Learns a map by cross-validation.

    Notes
    -----
    One fit of the classifier; the map costs next to nothing. With an exponent of 1 and nothing else, probabilities stay
    as they are.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural networks", ICML, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.naive_bayes import GaussianNB
    >>> X, y = np.array([[-1.0], [-2], [0.5], [1], [2], [-0.5]]), np.array([0, 0, 0, 1, 1, 1])
    >>> soft = RecalibratedClassifier(GaussianNB(), exponent=0.5).fit(X, y)
    >>> soft.predict_proba([[1.0]]).round(2)
    array([[0.31, 0.69]])
    """

    __learnt_schema__ = RECALIBRATED
    __learnt_takes__ = property(takes_what_members_take)
    __learnt_trial__ = Trial(
        quick=lambda: {"estimator": one_classifier(), "exponent": 0.8, "floor": 1e-3, "doubt": 1e-3},
        warmup=lambda: (Warm("classes", {"estimator": one_classifier()}),),
    )

    def __init__(
        self, estimator: Any, *, exponent: float = 1.0, floor: float = 0.0, offsets: Any = None, doubt: float = 0.0
    ) -> None:
        self.estimator = estimator
        self.exponent = exponent
        self.floor = floor
        self.offsets = offsets
        self.doubt = doubt

    def fit(self, X: Any, y: Any, **fit_params: Any) -> RecalibratedClassifier:
        """Fit a copy of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from; any table that the members take.
        y : array-like of shape (n_samples,)
            Class labels: numbers, text or booleans.
        **fit_params : dict
            `sample_weight`, which is passed on to the classifier; other metadata by scikit-learn's metadata routing.
        """
        check_fit_params(self, fit_params)
        row_count(X, type(self).__name__)  # tables that are elsewhere are refused
        self._check_map()
        fitted = fit_member(clone(self.estimator), X, y, fit_params)
        if not hasattr(fitted, "predict_proba"):
            raise ParameterError(
                f"{type(self).__name__} bends probabilities, and {type(fitted).__name__} has no predict_proba; give "
                "another estimator."
            )
        n_classes = len(fitted.classes_)
        if self.offsets is not None and len(self.offsets) != n_classes:
            raise ParameterError(
                f"offsets of {type(self).__name__} has {len(self.offsets)} numbers for {n_classes} classes; give one "
                "each."
            )
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        return self

    def _check_map(self) -> None:
        name = type(self).__name__
        if not (isinstance(self.exponent, int | float | np.number) and 0 < self.exponent <= LARGEST):
            raise ParameterError(f"exponent of {name} must be above 0 and at most {LARGEST:g}; got {self.exponent!r}.")
        if not (isinstance(self.floor, int | float | np.number) and 0 <= self.floor <= 1):
            raise ParameterError(f"floor of {name} must be between 0 and 1; got {self.floor!r}.")
        if not (isinstance(self.doubt, int | float | np.number) and 0 <= self.doubt < 1):
            raise ParameterError(f"doubt of {name} must be at least 0 and below 1; got {self.doubt!r}.")
        if self.offsets is not None:
            offsets = np.asarray(self.offsets, dtype=np.float64)
            if offsets.ndim != 1 or not (np.abs(offsets) <= LARGEST).all():
                raise ParameterError(f"offsets of {name} must be one number a class, at most {LARGEST:g} in size.")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The recalibrated probabilities of the classes."""
        check_is_fitted(self)
        return recalibrate(self.estimator_.predict_proba(X), self.exponent, self.floor, self.offsets, self.doubt)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class; among equals the first of `classes_`."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def n_features_in_(self) -> int:
        """The number of columns `fit` saw."""
        check_fitted_attribute(self, "n_features_in_")
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns `fit` saw, where they had names."""
        check_fitted_attribute(self, "feature_names_in_")
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags
