"""Gaussian naive Bayes: the estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import beside, is_foreign_array, is_lazy, is_numpy, like, namespace, to_numpy
from learnt.engine.blocks import COMPILED_CELLS
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.kernel import compilation_enabled
from learnt.engine.labels import classes_beside, distinct_labels, encode_labels, labels_at
from learnt.engine.rows import Block, as_rows
from learnt.engine.schema import CLASSES, ONE, Schema, real
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_fit, check_predict
from learnt.naive_bayes import _density
from learnt.statistics import Moments, classes_in_y, labels_in_y, moments


class GaussianNB(RowsClassifier, Estimator):
    """Classify by Bayes' rule, with every feature normal and independent of the others within a class.

    p(c | x) ∝ π_c Π_j N(x_j; θ_cj, σ²_cj)

    `fit` needs one sum over rows, so X may be an array, a memory map, a `learnt.scan` table, a Dask collection or an
    array on a GPU. `partial_fit` on pieces gives what `fit` gives on the whole.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies.
    var_smoothing : float, default=1e-9
        This share of the largest variance of a feature is added to all variances, so that none is 0.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
        π.
    theta_ : array of shape (n_classes, n_features)
        Mean of each feature in each class.
    var_ : array of shape (n_classes, n_features)
        Variance of each feature in each class, smoothed.
    epsilon_ : float
        What was added to the variances.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where this differs from scikit-learn: `epsilon_` comes from all rows seen, by their weights, and not from the last
    piece given to `partial_fit`; a class whose rows all have weight 0 is not there.

    Examples
    --------
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
        y, w = _beside(X, y), _beside(X, w)
        classes, codes = _encode(y)
        found = class_moments(X, codes, w, classes)
        if w is not None:
            seen = to_numpy(found.weight > 0)
            if not seen.all():
                keep = np.flatnonzero(seen)
                found = found.take(keep)
                xp = namespace(classes)
                classes = classes[seen] if is_numpy(classes) else xp.take(classes, like(keep, classes, xp.int64))
        self.classes_ = classes
        self._record(found, X)
        _require_spread(self.var_, self.classes_)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> GaussianNB:
        """Add rows to those seen before; `classes`, all labels that can ever come, is needed at the first call."""
        _require_smoothing(self.var_smoothing)
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit: give all labels that can come.")
        X, y, w = check_fit(self, X, y, sample_weight, target="label", reset=first)
        y, w = _beside(X, y), _beside(X, w)
        known = _known_classes(y, classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(classes), to_numpy(known)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, which was {known.tolist()}; "
                "give the same labels, or none after the first call."
            )
        found = class_moments(X, _positions(y, known), w, known)
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
            None if self.priors is None else like(_checked_priors(self.priors, self.classes_.shape[0]), found.weight)
        )
        largest = float(xp.max(found.total().covariance()))
        # All features constant: any small number serves, as they cannot tell classes apart.
        self.epsilon_ = self.var_smoothing * (largest if largest > 0 else 1.0)
        self.class_count_ = found.weight
        self.class_prior_ = found.weight / xp.sum(found.weight) if priors is None else priors
        self.theta_ = like(found.mean, found.mean, dtype)
        self.var_ = like(found.covariance() + self.epsilon_, found.mean, dtype)
        # In full precision, for the next partial_fit.
        self._class_mean, self._class_ssd = found.mean, found.scatter

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        return self._map(X, _label, classes_beside(getattr(self, "classes_", np.empty(0)), X))

    def predict_proba(self, X: Any) -> Any:
        """p(c | x) of each row (n × K), columns as in `classes_`."""
        return self._map(X, _density.posterior)

    def predict_log_proba(self, X: Any) -> Any:
        """log p(c | x) of each row (n × K)."""
        return self._map(X, _density.log_posterior)

    def predict_joint_log_proba(self, X: Any) -> Any:
        """log p(x, c) of each row (n × K)."""
        return self._map(X, _same)

    def _map(self, X: Any, finish: Callable[..., Any], *state: Any) -> Any:
        X = check_predict(self, X)
        _require_spread(self.var_, self.classes_)
        prior, mean, variance = (beside(p, X) for p in (self.class_prior_, self.theta_, self.var_))
        if is_foreign_array(X):
            dtype, cells = X.dtype, 0
        else:
            dtype = np.result_type(mean, X.dtype if is_numpy(X) else mean)
            cells = X.shape[0] * mean.size if is_numpy(X) else 0
            prior, mean, variance = (p.astype(np.float64, copy=False) for p in (prior, mean, variance))
        compiled = _worth_compiling(X, cells)
        joint = _density.compiled_joint_log_density if compiled else _density.joint_log_density
        return as_rows(X).map(_finished, joint, _density.normals(prior, mean, variance), dtype, finish, *state)

    def linear_form(self) -> tuple[Any, Any]:
        """Weights w and offset b of the linear classifier that decides alike, where the classes share variances.

        With σ²_cj = σ²_j for all classes, log p(x, c) is linear in x but for a term that no class differs in:

            w_c = θ_c / σ²,        b_c = log π_c − ½ Σ_j θ²_cj / σ²_j

        Returns
        -------
        w, b
            For two classes w (d) and a number b: the second class where w·x + b > 0. For more, w (K × d) and b (K): the
            class with the largest w_c·x + b_c.

        Examples
        --------
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
    by = labels_in_y(classes) if is_lazy(codes) else classes_in_y(classes.shape[0])
    return moments(as_rows(X, codes, w), by)


def _worth_compiling(X: Any, cells: int) -> bool:
    """Whether compiled code pays: enough cells, or an unknown number of them, and a compiler."""
    return (is_lazy(X) or cells >= COMPILED_CELLS) and compilation_enabled()


def _finished(block: Block, joint: Any, density: Any, dtype: Any, finish: Any, *state: Any) -> Any:
    """What `finish` makes of a block's joint log densities; a module-level function, so that it can travel."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = finish(joint(block, density), *state)
    return values.astype(dtype, copy=False) if is_numpy(values) and values.ndim == 2 else values


def _same(joint: Any) -> Any:
    return joint


def _label(joint: Any, classes: Any) -> Any:
    return labels_at(classes, _density.winner(joint))


def _encode(y: Any) -> tuple[Any, Any]:
    """The sorted labels, and y as their positions; a lazy y stays as it is."""
    if is_lazy(y):
        return distinct_labels(y), y
    if is_numpy(y):
        return encode_labels(y)
    classes = like(distinct_labels(y), y)
    return classes, namespace(y).searchsorted(classes, y)


def _known_classes(y: Any, classes: Any) -> Any:
    """The `classes` of a first partial_fit, sorted, in y's library."""
    known = np.unique(to_numpy(classes))
    return like(known, y) if is_foreign_array(y) else known


def _positions(y: Any, known: Any) -> Any:
    """y as positions in the classes known from the first call."""
    labels, known_labels = distinct_labels(y), to_numpy(known)
    strange = [label for label in labels.tolist() if label not in set(known_labels.tolist())]
    if strange:
        raise ValueError(
            f"The target label(s) {strange} in y do not exist in the initial classes {known_labels.tolist()}; "
            "name every label in `classes` at the first call of partial_fit."
        )
    if is_lazy(y):
        return y
    return namespace(y).searchsorted(known, y) if is_foreign_array(y) else np.searchsorted(known, y)


def _beside(X: Any, values: Any) -> Any:
    """y or weights in memory where X is: a lazy column beside an array is read at once."""
    return np.asarray(values.compute()) if is_lazy(values) and not is_lazy(X) else values


def _checked_priors(priors: Any, n_classes: int) -> np.ndarray:
    priors = to_numpy(priors).astype(np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(
            f"Number of priors must match number of classes: there are {priors.size} priors and {n_classes} classes."
        )
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1; it is {priors.sum():g}.")
    if (priors < 0).any():
        raise ValueError(f"Priors must be non-negative; the lowest is {priors.min():g}.")
    return priors


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
