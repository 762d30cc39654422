"""StandardScaler: every column to mean 0 and variance 1."""

from __future__ import annotations

from copy import copy as shallow_copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.cells import frame_matrix, is_frame
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import Route, route
from learnt.engine.mixins import OneToOneFeatureMixin, TransformerMixin
from learnt.engine.params import check_flag
from learnt.engine.rows import ArrayRows, as_rows, transform
from learnt.engine.rows.blocks import Block
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.preprocessing._scaler_schema import SCALER
from learnt.statistics import Moments, moments

_NO_CENTRE = "Cannot center sparse matrices: pass `with_mean=False` instead, which only divides by the scale."


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Subtract the mean of each column and divide by its standard deviation:  z = (x − mean) / scale.

    What penalised linear models, support vectors, neighbours, k-means and networks want before them: columns of one
    size. Trees do not need it. Outliers move the mean and the scale; see `RobustScaler`.

    Parameters
    ----------
    copy : bool, default=True
        False scales a NumPy array or a CSR matrix of floats in place.
    with_mean : bool, default=True
        Subtract the mean; not possible for sparse matrices, which would become dense.
    with_std : bool, default=True
        Divide by the standard deviation.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,) or None
        What columns are divided by; None where `with_std=False`. A constant column has 1.
    mean_ : ndarray of shape (n_features,) or None
        The mean of each column; None where both `with_mean` and `with_std` are False.
    var_ : ndarray of shape (n_features,) or None
        The variance of each column (divided by n); None where `with_std=False`.
    n_samples_seen_ : int or ndarray of shape (n_features,)
        How many rows were seen (with weights: their sum); for each column where NaN makes that differ.

    See Also
    --------
    RobustScaler : By median and quartiles, which outliers do not move.
    MinMaxScaler : To a given range.
    scale : The same as a function.
    learnt.decomposition.PCA : With `whiten=True`, removes correlations too.

    Notes
    -----
    The moments are sums over rows, so it fits NumPy arrays, data frames, memory maps, `learnt.scan` tables, Dask
    collections and PyTorch tensors alike, and `partial_fit` in any chunks gives what `fit` gives. In memory, NaN is
    left out of the moments and stays NaN. One pass over the rows, time n·d.

    Examples
    --------
    >>> from learnt.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[0.0, 5.0], [2.0, 5.0]])
    >>> scaler.mean_, scaler.scale_
    (array([1., 5.]), array([1., 1.]))
    >>> scaler.transform([[3.0, 6.0]])
    array([[2., 1.]])
    """

    mean_: Any
    var_: Any
    scale_: Any

    __learnt_schema__ = SCALER
    __learnt_trial__ = Trial(sparse={"with_mean": False})

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=not self.with_mean, tensors=True, lazy=True, missing=True)

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StandardScaler:
        """Learn the mean and the scale of each column."""
        check_flag(self, "copy", "with_mean", "with_std")
        self._reset()
        return self.partial_fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StandardScaler:
        """Learn from further rows: the result is that of `fit` on all rows seen so far."""
        before = self._moments_so_far()
        X, _, w = check_fit(self, X, sample_weight=sample_weight, accept_sparse=True, reset=before is None)
        if sparse.issparse(X) and self.with_mean:
            raise ValueError(_NO_CENTRE)
        found = moments(as_rows(X, None, w), missing=True)
        self._record(found if before is None else before.merge(found), integer_weights=w is None)
        return self

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """(X − mean) / scale, in the library, on the device and in the precision of X; a scan table stays one."""
        check_is_fitted(self)
        return self._rescaled(standardise, _inverse, self, X, copy)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """X · scale + mean: what `transform` was given."""
        check_is_fitted(self)
        # The input is our own output, whose names are not checked: an array is accepted after fitting a data frame.
        nameless = shallow_copy(self)
        nameless.__dict__.pop("feature_names_in_", None)
        X = frame_matrix(X, type(self).__name__) if is_frame(X) else X
        return self._rescaled(restore, np.asarray, nameless, X, copy)

    def _rescaled(self, function: Any, factors: Any, checked_by: StandardScaler, X: Any, copy: bool | None) -> Any:
        if sparse.issparse(X) and self.with_mean:
            raise ValueError(_NO_CENTRE)
        matrix = check_predict(checked_by, X, accept_sparse=True)
        in_place = not (self.copy if copy is None else copy)
        if sparse.issparse(matrix):
            return _scaled_columns(matrix, factors(to_numpy(self.scale_)) if self.with_std else None, in_place)
        mean = self.mean_ if self.with_mean else None
        scale = self.scale_ if self.with_std else None
        return _apply(function, matrix, mean, scale, in_place, self.get_feature_names_out)

    def _reset(self) -> None:
        for name in ("scale_", "n_samples_seen_", "mean_", "var_"):
            if hasattr(self, name):
                delattr(self, name)

    def _moments_so_far(self) -> Moments | None:
        if not hasattr(self, "n_samples_seen_"):
            return None
        if self.mean_ is None:
            weight = np.broadcast_to(np.asarray(self.n_samples_seen_, dtype=np.float64), (self.n_features_in_,))
            return Moments(weight, np.zeros(self.n_features_in_), np.zeros(self.n_features_in_), "diagonal")
        xp = namespace(self.mean_)
        mean = self.mean_
        weight = self.n_samples_seen_ * xp.ones_like(mean)
        mean = xp.where(weight > 0, mean, xp.zeros_like(mean))
        squares = (
            xp.zeros_like(mean) if self.var_ is None else xp.where(weight > 0, self.var_ * weight, xp.zeros_like(mean))
        )
        return Moments(weight, mean, squares, "diagonal")

    def _record(self, found: Moments, integer_weights: bool) -> None:
        weight, mean = found.weight, found.mean
        xp = namespace(mean)
        self.n_samples_seen_ = _seen(weight, integer_weights, xp)
        if not self.with_mean and not self.with_std:
            self.mean_ = self.var_ = self.scale_ = None
            return
        never = xp.full_like(mean, xp.nan)
        self.mean_ = xp.where(weight > 0, mean, never)
        if not self.with_std:
            self.var_ = self.scale_ = None
            return
        self.var_ = xp.where(weight > 0, found.covariance(), never)
        self.scale_ = scale_of(self.var_, self.mean_, weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def scale_of(variance: Any, mean: Any, weight: Any) -> Any:
    """√variance, and 1 where a column is constant up to the rounding of its own moments."""
    xp = namespace(variance)
    eps = float(np.finfo(np.float64).eps)
    bound = weight * eps * variance + (weight * mean * eps) ** 2
    return xp.where(variance <= bound, xp.ones_like(variance), xp.sqrt(variance))


def standardise(block: Block, mean: Any, scale: Any) -> Any:
    """(X − mean) / scale of a block; either may be None."""
    X = block.X
    _refuse_infinite(X)
    Z = X if mean is None else X - mean
    return Z if scale is None else Z / scale


def restore(block: Block, mean: Any, scale: Any) -> Any:
    """X · scale + mean of a block; either may be None."""
    X = block.X
    _refuse_infinite(X)
    Z = X if scale is None else X * scale
    return Z if mean is None else Z + mean


def _apply(function: Any, X: Any, mean: Any, scale: Any, in_place: bool, names: Any) -> Any:
    rows = as_rows(X)
    mean, scale = (
        None if part is None else like(_portable(part, rows.reference), rows.reference) for part in (mean, scale)
    )
    if in_place and isinstance(rows, ArrayRows) and _writeable(X):

        def overwrite(lo: int, hi: int) -> None:
            X[lo:hi, :] = function(Block(X[lo:hi, :]), mean, scale)

        if rows.route is Route.DEVICE:
            for lo in range(0, X.shape[0], rows.block_size):
                overwrite(lo, min(lo + rows.block_size, X.shape[0]))
        else:
            for_blocks(overwrite, X.shape[0], grain=rows.block_size)
        return X
    if mean is None and scale is None and isinstance(X, np.ndarray):
        _refuse_infinite(X)
        return X.copy()  # the rows as they were, but not the caller's
    return transform(X, names, function, mean, scale)


def _writeable(X: Any) -> bool:
    """Arrays of JAX never are."""
    if isinstance(X, np.ndarray):
        return bool(X.flags.writeable)
    return route(X) is Route.DEVICE and not type(X).__module__.startswith("jax")


def _inverse(scale: np.ndarray) -> np.ndarray:
    return 1.0 / scale


def _portable(values: Any, reference: Any) -> Any:
    """Fitted on another library's arrays: over to NumPy, from where any library takes them."""
    return values if type(values) is type(reference) else to_numpy(values)


def _scaled_columns(X: Any, factors: np.ndarray | None, in_place: bool) -> Any:
    _refuse_infinite(X.data)
    out = X if in_place else X.copy()
    if factors is not None:
        out.data *= factors.astype(out.dtype)[out.indices]
    return out


def _refuse_infinite(X: Any) -> None:
    xp = namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):
        fine = bool(xp.isfinite(xp.sum(X)))
    if not fine and bool(xp.any(xp.isinf(X))):
        raise ValueError(
            "Input X contains infinity, which StandardScaler cannot scale; replace infinities by NaN or by numbers."
        )


def _seen(weight: Any, integer_weights: bool, xp: Any) -> Any:
    """One number where all columns saw the same rows; integers where rows have no weights."""
    low, high = float(xp.min(weight)), float(xp.max(weight))
    if low == high:
        return int(low) if integer_weights and low.is_integer() else low
    return weight.astype(np.int64) if integer_weights and isinstance(weight, np.ndarray) else weight
