"""Samples of the spectrum of the additive χ² kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import stored
from learnt.engine.mixins import TransformerMixin, clone
from learnt.engine.params import ParameterError, check_number
from learnt.engine.schema import ANY_FEATURES, FREE_FEATURES, Dims, Schema, anyof, count, none, number
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict

_INTERVALS = {1: 0.8, 2: 0.5, 3: 0.4}  # the best by Vedaldi and Zisserman (2012), figure 2c


def _columns_can_be_named(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files, which say nothing about the number of columns."""
    return "makes too many columns" if dims["d"] * (2 * model.sample_steps - 1) > FREE_FEATURES else None


class AdditiveChi2Sampler(TransformerMixin, Estimator):
    """Features of Σⱼ 2xⱼzⱼ / (xⱼ + zⱼ) for histograms: the spectrum of each feature, sampled at even steps.

    The additive χ² kernel compares histograms, such as counts of words or colours, and is a sum over features: each is
    mapped by itself, without randomness. A linear model on the result comes near a kernel machine with that kernel.

    Parameters
    ----------
    sample_steps : int, default=2
        Samples of the spectrum of each feature, which becomes 2 · sample_steps − 1 columns. More steps approximate the
        kernel more closely; 2 or 3 are usually enough.
    sample_interval : float or None, default=None
        Distance between the samples. None takes the best known for 1, 2 or 3 steps: 0.8, 0.5 or 0.4; it must be given
        for more steps.

    See Also
    --------
    SkewedChi2Sampler : A kernel that multiplies over features, by random features.
    Nystroem : Approximates any kernel from some rows.
    learnt.kernels.AdditiveChi2 : −Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ): twice this kernel less the sums of both rows.

    Notes
    -----
    Nothing is learnt: `fit` checks parameters and signs, and may be left out. Time and memory in
    n · d · (2 · sample_steps − 1); sparse rows stay sparse, since 0 is mapped to 0. X must have no negative values.

    References
    ----------
    .. [1] A. Vedaldi, A. Zisserman, "Efficient additive kernels via explicit feature maps", IEEE Transactions on
       Pattern Analysis and Machine Intelligence, 2012.

    Examples
    --------
    Inner products of the features, and the kernel that they approximate to a few per cent:

    >>> X = [[1.0, 3.0], [2.0, 2.0]]
    >>> features = AdditiveChi2Sampler(sample_steps=3).fit_transform(X)
    >>> features.shape
    (2, 10)
    >>> (features @ features.T).round(1)
    array([[3.8, 3.6],
           [3.6, 3.8]])
    >>> round(sum(2 * x * z / (x + z) for x, z in zip(*X)), 1)
    3.7
    """

    __learnt_schema__ = Schema(
        params={"sample_steps": count(1, 1 << 10), "sample_interval": anyof(none, number(0))},
        state=ANY_FEATURES,
        rule=_columns_can_be_named,
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial()

    def __init__(self, *, sample_steps: int = 2, sample_interval: float | None = None) -> None:
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval

    def fit(self, X: Any, y: Any = None) -> AdditiveChi2Sampler:
        """Validate the parameters and the signs of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without negative values.
        """
        check_number(self, "sample_steps", 1, integer=True)
        check_number(self, "sample_interval", 0, also=(None,))
        self._interval()
        _require_counts(check_fit(self, X).X)
        return self

    def _interval(self) -> float:
        if self.sample_interval is not None:
            return float(self.sample_interval)
        if self.sample_steps not in _INTERVALS:
            raise ParameterError("If sample_steps is not in [1, 2, 3], you need to provide sample_interval")
        return _INTERVALS[self.sample_steps]

    def transform(self, X: Any) -> Any:
        """√x, then cosines and sines of log x at each step; sparse where X is. `fit` may be left out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without negative values.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features * (2 * sample_steps - 1))
            The features; a CSR matrix where X is sparse.
        """
        X = check_predict(self, X) if hasattr(self, "n_features_in_") else check_fit(clone(self), X).X
        _require_counts(X)
        interval = self._interval()
        values = stored(X)
        positive = values > 0
        logs = interval * np.log(values, out=np.zeros_like(values), where=positive)
        blocks = [np.sqrt(values * interval)]
        for step in range(1, self.sample_steps):
            size = np.sqrt(2.0 * values * interval / np.cosh(np.pi * step * interval))
            blocks += [size * np.cos(step * logs), size * np.sin(step * logs)]
        if not sparse.issparse(X):
            return np.hstack([block.astype(X.dtype, copy=False) for block in blocks])
        made = [sparse.csr_array((block, X.indices, X.indptr), shape=X.shape) for block in blocks]
        joined = sparse.hstack(made, format="csr")
        return sparse.csr_matrix(joined) if isinstance(X, sparse.spmatrix) else joined

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names with _sqrt, _cos1, _sin1, and so on.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns that went in. None takes those seen during `fit`, or x0, x1 and so on.
        """
        check_is_fitted(self, "n_features_in_", msg=NOT_FITTED)
        names = getattr(self, "feature_names_in_", None)
        if input_features is None:
            input_features = [f"x{j}" for j in range(self.n_features_in_)] if names is None else names
        elif names is not None and not np.array_equal(names, input_features):
            raise ValueError("input_features is not equal to feature_names_in_")
        elif len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{len(input_features)}"
            )
        parts = ["sqrt", *(f"{kind}{step}" for step in range(1, self.sample_steps) for kind in ("cos", "sin"))]
        made = [f"additivechi2sampler_{name}_{part}" for part in parts for name in input_features]
        return np.array(made, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.requires_fit = False
        return tags


def _require_counts(X: Any) -> None:
    values = stored(X)
    if values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data passed to X in AdditiveChi2Sampler (lowest {values.min():g}); it takes counts "
            "of at least 0."
        )
