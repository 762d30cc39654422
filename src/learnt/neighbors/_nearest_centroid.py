"""The nearest class mean."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from learnt.engine.arrays import namespace, to_device_of, to_numpy
from learnt.engine.classification.class_labels import encode
from learnt.engine.classification.posterior import ScoreClassifier, difference, label_of, log_posterior, posterior
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import dense, result_dtype, row_squares
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.rows import Block, as_rows
from learnt.engine.rows.blocks import widen
from learnt.engine.schema import CLASSES, Schema, choice, real
from learnt.engine.validation import check_fit
from learnt.statistics import Moments, moments, of_classes

_ROUNDING = 1e-15  # as a share of a constant feature's mean: its deviations after rounding


def _has_probabilities(model: Any) -> bool:
    return model.metric == "euclidean"


class NearestCentroid(ScoreClassifier, Estimator):
    """The class whose centre is nearest:  argmin over c of ‖x − μ_c‖.

    μ_c is the mean of the class for the Euclidean distance, the median of each feature for the Manhattan distance. With
    `shrink_threshold` centres are drawn towards the mean of all rows, which drops features that tell no class apart:
    the nearest shrunken centroids of gene expression. A quick baseline, with a model of one row for each class; classes
    of several separate clusters need something else.

    X may be an array, a SciPy matrix, a memory map, a `learnt.scan` table, a Dask collection or an array on a GPU;
    medians need rows in memory.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        The distance. "manhattan" takes medians, which outliers move less; it has no probabilities and takes no weights.
    shrink_threshold : float or None, default=None
        How far centres are drawn towards the mean of all rows, in standard errors of each feature. Larger values drop
        more features (more regularisation); None draws none. Choose it by cross-validation.
    priors : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        Probabilities of the classes before a row is seen: all alike, their shares of the training rows, or these.
        Unless all are alike, the class is the one with the highest `decision_function`.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes, n_features)
        The centres μ_c, shrunk.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        The priors of the classes; they add up to 1.
    within_class_std_dev_ : ndarray of shape (n_features,)
        The standard deviation of each feature about the centres.
    deviations_ : ndarray of shape (n_classes, n_features)
        How far the centres are from the mean of all rows, in standard errors, shrunk; 0 where a feature was dropped.

    See Also
    --------
    KNeighborsClassifier : The nearest rows instead of the nearest means.
    learnt.discriminant_analysis.LinearDiscriminantAnalysis : Takes the covariance of the features into account.
    learnt.naive_bayes.GaussianNB : A variance for each class and feature.

    Notes
    -----
    One pass over the rows finds means and variances (n·d time, and memory of the classes times d); a prediction costs d
    for each class. A weight of 2 counts a row twice. `predict` measures distances as they are while the priors are
    alike; `decision_function` and the probabilities divide each feature by its standard deviation.

    References
    ----------
    .. [1] R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu, "Diagnosis of multiple cancer types by shrunken centroids of
       gene expression", Proceedings of the National Academy of Sciences 99, 2002.

    Examples
    --------
    >>> NearestCentroid().fit([[0, 0], [1, 2], [8, 9]], ["a", "a", "b"]).predict([[1, 1], [6, 6]])
    array(['a', 'b'], dtype='<U1')
    """

    __learnt_schema__ = Schema(
        params={"metric": choice("euclidean", "manhattan")},
        state={
            **CLASSES,
            "centroids_": real("c", "d"),
            "class_prior_": real("c", low=0),
            "within_class_std_dev_": real("d", low=0),
            "deviations_": real("c", "d"),
        },
    )
    __learnt_trial__ = Trial(weight_unit_free=False)  # a standard deviation counts degrees of freedom

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True, tensors=self.metric == "euclidean", lazy=self.metric == "euclidean")

    def __init__(
        self, metric: str = "euclidean", *, shrink_threshold: float | None = None, priors: Any = "uniform"
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NearestCentroid:
        """Find the centres; a weight of 2 counts a row twice, 0 not at all."""
        check_choice(self, "metric", ("euclidean", "manhattan"))
        check_number(self, "shrink_threshold", 0, open_low=True, also=(None,))
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        if self.metric == "manhattan" and w is not None and np.ptp(w) > 0:
            raise ValueError(
                "NearestCentroid with metric='manhattan' takes medians, which have no weights here; give none."
            )
        classes, codes = encode(y)
        found = moments(as_rows(X, codes, w), of_classes(classes, codes)).to_numpy()
        seen = found.weight > 0
        found, classes = found.take(np.flatnonzero(seen)), to_numpy(classes)[seen]
        if len(classes) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(classes)} class. Give rows of two or more."
            )
        centres = found.mean if self.metric == "euclidean" else medians(X, codes, len(classes))
        self.class_prior_ = self._checked_priors(found.weight / found.weight.sum())
        self.classes_ = classes
        self._record(found, centres)
        return self

    def _record(self, found: Moments, centres: np.ndarray) -> None:
        total = found.total()
        weight, n, n_classes = found.weight, float(total.weight), len(found.weight)
        if (total.scatter <= n * (_ROUNDING * total.mean) ** 2).all():
            raise ValueError(
                "All features have zero variance. Division by zero. The rows are all alike; give rows that differ."
            )
        squares = found.within() + (weight[:, None] * (found.mean - centres) ** 2).sum(axis=0)
        deviation = np.sqrt(squares / (n - n_classes)) if n > n_classes else np.zeros(len(squares))
        if not deviation.all():
            warnings.warn(
                f"Feature {int(np.argmin(deviation))} is the same in all rows of each class (a standard deviation of "
                "0), so that it counts in its own unit; scale it, or drop it.",
                UserWarning,
                stacklevel=3,
            )
        error = np.sqrt(np.maximum(1.0 / weight - 1.0 / n, 0.0))[:, None] * (deviation + np.median(deviation))
        away = np.divide(centres - total.mean, error, out=np.zeros_like(centres), where=error > 0)
        if self.shrink_threshold is not None:
            away = np.sign(away) * np.maximum(np.abs(away) - self.shrink_threshold, 0.0)
            centres = total.mean + error * away
        self.centroids_, self.within_class_std_dev_, self.deviations_ = centres, deviation, away

    def _checked_priors(self, frequencies: np.ndarray) -> np.ndarray:
        n = len(frequencies)
        if isinstance(self.priors, str):
            if self.priors not in ("uniform", "empirical"):
                raise ParameterError(f"priors must be 'uniform', 'empirical' or probabilities; it is {self.priors!r}.")
            return frequencies if self.priors == "empirical" else np.full(n, 1.0 / n)
        priors = np.array(to_numpy(self.priors), dtype=np.float64)
        if priors.shape != (n,):
            raise ValueError(f"priors has {priors.size} numbers and there are {n} classes; give one for each.")
        if not (priors >= 0).all() or not priors.any():
            raise ValueError(f"priors must be non-negative, and not all 0; they are {priors.tolist()}.")
        if not np.isclose(priors.sum(), 1.0):
            warnings.warn(
                "The priors do not sum to 1. Normalizing such that it sums to one.", UserWarning, stacklevel=3
            )
            priors = priors / priors.sum()
        return priors

    def predict(self, X: Any) -> Any:
        """The class of the nearest centre; with unequal priors, of the highest score."""
        uniform = "class_prior_" in vars(self) and np.allclose(self.class_prior_, 1 / len(self.classes_))
        return self._map(X, label_of, labels=True, joint=self._nearness if uniform else None)

    @available_if(_has_probabilities)
    def decision_function(self, X: Any) -> Any:
        """−‖(x − μ_c) / σ‖² + 2 log π_c of each row (n, K); of two classes the second's less the first's (n).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score, with the columns of those it was fitted to.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, more than 0 for `classes_[1]`; else one for each class.
        """
        return self._map(X, difference)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The scores of each row as probabilities (n × K), columns as in `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class; a row adds up to 1.
        """
        return self._map(X, posterior)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities of each row (n × K).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict, with the columns of those it was fitted to.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            The logarithm of the probability of each class, in the order of `classes_`.
        """
        return self._map(X, log_posterior)

    def _nearness(self, X: Any) -> tuple[Any, tuple, Any]:
        """Scores by the distances as they are."""
        return self._scores(X, np.ones(self.n_features_in_), np.zeros(len(self.classes_)))

    def _joint(self, X: Any) -> tuple[Any, tuple, Any]:
        """Scores by distances in units of the standard deviations, and priors."""
        deviation = self.within_class_std_dev_
        with np.errstate(divide="ignore"):  # a prior of 0 has the logarithm −∞
            log_prior = 2.0 * np.log(self.class_prior_)
        return self._scores(X, np.where(deviation > 0, deviation, 1.0), log_prior)

    def _scores(self, X: Any, unit: np.ndarray, offset: np.ndarray) -> tuple[Any, tuple, Any]:
        function = minus_squares if self.metric == "euclidean" else minus_sums
        state = (to_device_of(part, X) for part in (self.centroids_, unit, offset))
        return function, tuple(state), result_dtype(X)


def minus_squares(block: Block, centres: Any, unit: Any, offset: Any) -> Any:
    """−‖(x − μ_c) / unit‖² + offset of each row and centre, about the middle of the centres so that digits stay."""
    X = block.X
    if sparse.issparse(X):
        X, C = widen(X) @ sparse.diags_array(1.0 / unit), centres / unit
        squares = row_squares(X)[:, None]
        return 2.0 * (X @ C.T) - squares - (C**2).sum(axis=1) + offset
    xp = namespace(X)
    middle = xp.mean(centres, axis=0)
    Z, C = (X - middle) / unit, (centres - middle) / unit
    squares = row_squares(Z)
    return 2.0 * (Z @ C.T) - squares[:, None] - xp.sum(C * C, axis=1) + offset


def minus_sums(block: Block, centres: np.ndarray, unit: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """−(Σ|x − μ_c| / unit)² + offset of each row and centre."""
    X = dense(block.X)
    return np.stack([-((np.abs(X - c) / unit).sum(axis=1) ** 2) for c in centres], axis=1) + offset


def medians(X: Any, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """The median of each feature in each class; of a sparse table column by column, so that it stays sparse."""
    if not sparse.issparse(X):
        return np.stack([np.median(X[codes == k], axis=0) for k in range(n_classes)])
    out = np.zeros((n_classes, X.shape[1]))
    for k in range(n_classes):
        inside = X[codes == k].tocsc()
        column = np.empty(inside.shape[0])
        for j in np.flatnonzero(2 * np.diff(inside.indptr) >= inside.shape[0]):  # fewer entries: the median is 0
            entries = inside.data[inside.indptr[j] : inside.indptr[j + 1]]
            column[:] = 0.0
            column[: len(entries)] = entries
            out[k, j] = np.median(column)
    return out
