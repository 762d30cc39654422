"""Gaussian naive Bayes: the estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import is_foreign_array, is_lazy, is_numpy, like, namespace, to_device_of, to_numpy
from learnt.engine.classification.class_labels import (
    checked_priors,
    encode,
    known_classes,
    positions,
    require_classes,
    require_same_classes,
)
from learnt.engine.classification.posterior import JointDensityClassifier
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.kernel import compilation_enabled
from learnt.engine.matrices import in_numpy
from learnt.engine.rows import as_rows
from learnt.engine.rows.blocks import COMPILED_CELLS
from learnt.engine.schema import CLASSES, ONE, Schema, real
from learnt.engine.validation import check_fit, check_predict
from learnt.naive_bayes import _density
from learnt.statistics import Moments, moments, of_classes


class GaussianNB(JointDensityClassifier, Estimator):
    """Classify by Bayes' rule, with every feature normal and independent of the others within a class.

    p(c | x) ∝ π_c Π_j N(x_j; θ_cj, σ²_cj)

    A quick baseline for columns of numbers, with a quadratic boundary and nothing to tune. Where columns are correlated
    it counts the same evidence twice, and its probabilities are too near 0 and 1: `CalibratedClassifierCV` mends them.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies. Set them where classes are as rare elsewhere as
        they are not in the training rows.
    var_smoothing : float, default=1e-9
        This share of the largest variance of a feature is added to all variances, so that none is 0. More of it (1e-3,
        0.1) regularises: boundaries become smoother.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        π: the probabilities of the classes.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    var_ : ndarray of shape (n_classes, n_features)
        Variance of each feature in each class, smoothed.
    epsilon_ : float
        What was added to the variances.

    See Also
    --------
    learnt.discriminant_analysis.QuadraticDiscriminantAnalysis : Normal classes whose columns may be correlated.
    HistogramNB : A histogram instead of a normal density.
    MixedNB : For columns of different kinds.
    learnt.calibration.CalibratedClassifierCV : Makes the probabilities honest.

    Notes
    -----
    One pass over the rows: O(n d) time. `partial_fit` on pieces gives what `fit` gives on the whole.

    Where this differs from scikit-learn: `epsilon_` comes from all rows seen, by their weights, and not from the last
    piece given to `partial_fit`; a class whose rows all have weight 0 is not there.

    Examples
    --------
    >>> from learnt.naive_bayes import GaussianNB
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = GaussianNB().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[-0.8, -1], [1, 0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.theta_
    array([[-2.  , -1.333],
           [ 2.  ,  1.333]])
    """

    __learnt_schema__ = Schema(
        state={
            **CLASSES,
            "class_count_": real("c", low=0),
            "class_prior_": real("c", low=0, high=1),
            "theta_": real("c", "d"),
            "var_": real("c", "d", low=0),
            "epsilon_": ONE,
        },
        extra={"_class_mean": real("c", "d"), "_class_ssd": real("c", "d", low=0)},
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GaussianNB:
        """Estimate the means and variances of each class; a weight of 2 counts a row twice, 0 not at all."""
        _require_smoothing(self.var_smoothing)
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        classes, codes = encode(y)
        self.classes_ = classes
        self._record(class_moments(X, codes, w, classes), X)
        _require_spread(self.var_, self.classes_)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> GaussianNB:
        """Learn these rows too, besides those seen before; pieces give what `fit` gives on the whole.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), default=None
            All labels that can ever come; needed at the first call, and the same or left out later.
        """
        _require_smoothing(self.var_smoothing)
        first = not hasattr(self, "classes_")
        if first:
            require_classes(classes)
        X, y, w = check_fit(self, X, y, sample_weight, target="label", reset=first)
        known = known_classes(y, classes) if first else self.classes_
        require_same_classes(classes, known)
        found = class_moments(X, positions(y, known), w, known)
        if not first:
            found = Moments(self.class_count_, self._class_mean, self._class_ssd, "diagonal").merge(found)
        self.classes_ = known
        self._record(found, X)
        return self

    def _record(self, found: Moments, X: Any) -> None:
        xp = namespace(found.mean)
        dtype = getattr(X, "dtype", None)
        dtype = xp.float32 if str(dtype).endswith("float32") else xp.float64
        priors = (
            None if self.priors is None else like(checked_priors(self.priors, self.classes_.shape[0]), found.weight)
        )
        largest = float(xp.max(found.total().covariance()))
        # All features are constant: any small number will do, since they do not distinguish classes.
        # No less than what has a reciprocal, if anything is to be added at all.
        least = float(xp.finfo(dtype).smallest_normal) if self.var_smoothing > 0 else 0.0
        self.epsilon_ = max(self.var_smoothing * (largest if largest > 0 else 1.0), least)
        self.class_count_ = found.weight
        self.class_prior_ = found.weight / xp.sum(found.weight) if priors is None else priors
        self.theta_ = like(found.mean, found.mean, dtype)
        self.var_ = like(found.covariance() + self.epsilon_, found.mean, dtype)
        # In full precision, for the next partial_fit.
        self._class_mean, self._class_ssd = found.mean, found.scatter

    def _joint(self, X: Any) -> tuple[Any, tuple, Any]:
        _require_spread(self.var_, self.classes_)
        prior, mean, variance = (to_device_of(p, X) for p in (self.class_prior_, self.theta_, self.var_))
        if is_foreign_array(X):
            dtype, cells = X.dtype, 0
        else:
            dtype = np.result_type(mean, X.dtype if is_numpy(X) else mean)
            cells = X.shape[0] * mean.size if is_numpy(X) else 0
            prior, mean, variance = (p.astype(np.float64, copy=False) for p in (prior, mean, variance))
        compiled = _worth_compiling(X, cells)
        joint = _density.compiled_joint_log_density if compiled else _density.joint_log_density
        return joint, (_density.normals(prior, mean, variance),), dtype

    def contributions(self, X: Any) -> np.ndarray:
        """Return what every column adds to the log-odds of every row: exact Shapley values.

        Where a column is not known, it is distributed as in the mixture of the classes that the model describes.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features + 1) or (n_samples, n_classes, n_features + 1)
            The second shape for three classes or more. A row adds up to log p(x, c), less that of the first of two
            classes. The last column is its expectation.
        """
        check_is_fitted(self)
        _require_spread(self.var_, self.classes_)
        X = in_numpy(check_predict(self, X)).astype(np.float64, copy=False)
        prior, mean, variance = (to_numpy(p).astype(np.float64) for p in (self.class_prior_, self.theta_, self.var_))
        return _density.normal_contributions(X, prior, mean, variance)

    def linear_form(self) -> tuple[Any, Any]:
        """Return weights w and offset b of the equivalent linear classifier, where the classes share variances.

        With σ²_cj = σ²_j for all classes, log p(x, c) is linear in x but for a term that no class differs in:

            w_c = θ_c / σ²,        b_c = log π_c − ½ Σ_j θ²_cj / σ²_j

        Returns
        -------
        w : ndarray of shape (n_features,) or (n_classes, n_features)
            Weights: for two classes one vector, for more a row a class.
        b : float or ndarray of shape (n_classes,)
            The offsets: for two classes the second is predicted where w·x + b > 0, for more the class with the largest
            w_c·x + b_c.

        Raises
        ------
        ValueError
            Where the classes differ in a variance: the boundary is quadratic.

        Examples
        --------
        >>> from learnt.naive_bayes import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
        >>> model.linear_form()
        (array([4.]), -12.0)
        """
        check_is_fitted(self)
        _require_spread(self.var_, self.classes_)
        mean, variance = (to_numpy(p).astype(np.float64) for p in (self.theta_, self.var_))
        tolerance = 1e-4 if str(self.theta_.dtype).endswith("float32") else 1e-8
        spread = np.ptp(variance, axis=0) / variance.max(axis=0)
        if (spread > tolerance).any():
            j = int(np.argmax(spread))
            raise ValueError(
                f"GaussianNB is linear only where all classes have the same variances, and those of feature {j} differ "
                f"by {100 * spread[j]:.3g} %; use predict, whose boundary is quadratic."
            )
        variance = variance.mean(axis=0)
        with np.errstate(divide="ignore"):
            b = np.log(to_numpy(self.class_prior_).astype(np.float64)) - 0.5 * (mean**2 / variance).sum(axis=1)
        w = mean / variance
        if len(b) == 2:
            return like(w[1] - w[0], self.theta_), float(b[1] - b[0])
        return like(w, self.theta_), like(b, self.theta_)


def class_moments(X: Any, codes: Any, w: Any, classes: Any) -> Moments:
    """The moments of each class; `codes` still holds labels where y is lazy."""
    return moments(as_rows(X, codes, w), of_classes(classes, codes))


def _worth_compiling(X: Any, cells: int) -> bool:
    """Whether compiled code pays: enough cells, or an unknown number of them, and a compiler."""
    return (is_lazy(X) or cells >= COMPILED_CELLS) and compilation_enabled()


def _require_smoothing(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        raise ValueError(f"var_smoothing must be a number of at least 0; it is {value!r}.")


def _require_spread(variance: Any, classes: Any) -> None:
    if not bool(namespace(variance).all(variance > 0)):
        k, j = (int(i) for i in np.argwhere(to_numpy(variance) <= 0)[0])
        raise ValueError(
            f"Feature {j} is constant in class {to_numpy(classes)[k]!r} and var_smoothing is 0, so its density is "
            "infinite; set var_smoothing above 0, for example to 1e-9, or drop the feature."
        )
