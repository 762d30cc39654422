"""Sine and cosine features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator
from learnt.engine.mixins import TransformerMixin
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.schema import FEATURES, Schema, count, flag, real
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit, check_predict
from learnt.preprocessing._feature_maps import names_in

MOST_HARMONICS = 100_000
_CELLS = 1 << 16  # cells a task: a sine costs some twenty multiplications


class FourierFeatures(TransformerMixin, Estimator):
    """Waves of every column:  sin(2πk x / period) and cos(2πk x / period)  for k = 1 … n_harmonics.

    A linear model on them is a Fourier series: right for what repeats (hours, seasons), and with a period longer than
    the data a smooth curve through what does not.

    Parameters
    ----------
    n_harmonics : int, default=3
        How many multiples of the basic frequency. More follow sharper changes, and overfit sooner.
    period : float, array-like of shape (n_features,) or None, default=None
        After what distance a column repeats; None is twice the range it had in `fit`, so that its ends do not meet.
    include_bias : bool, default=False
        Whether to begin with a column of ones.

    Attributes
    ----------
    period_ : ndarray of shape (n_features,)
        The period of each column.

    See Also
    --------
    SplineTransformer : Smooth curves of local pieces.
    PolynomialFeatures : Powers and products of columns.
    GaussianFeatures : Bumps around centres.

    Examples
    --------
    >>> hours = [[0.0], [6.0], [12.0]]
    >>> FourierFeatures(1, period=24).fit_transform(hours).round(6) + 0.0
    array([[ 0.,  1.],
           [ 1.,  0.],
           [ 0., -1.]])
    >>> FourierFeatures(1, period=24).fit(hours).get_feature_names_out(["hour"])
    array(['sin(1 hour)', 'cos(1 hour)'], dtype=object)
    """

    __learnt_schema__ = Schema(
        params={"n_harmonics": count(1, MOST_HARMONICS), "include_bias": flag},
        state={**FEATURES, "period_": real("d", above=0)},
    )

    def __init__(self, n_harmonics: int = 3, *, period: Any = None, include_bias: bool = False) -> None:
        self.n_harmonics = n_harmonics
        self.period = period
        self.include_bias = include_bias

    def fit(self, X: Any, y: Any = None) -> FourierFeatures:
        """Find the periods, where they are not given."""
        check_number(self, "n_harmonics", 1, MOST_HARMONICS, integer=True)
        check_flag(self, "include_bias")
        X, _, _ = check_fit(self, X)
        if self.period is None:
            width = 2.0 * np.ptp(X, axis=0).astype(np.float64)
            self.period_ = np.where(width > 0, width, 1.0)  # a constant column is one point of any wave
        else:
            self.period_ = self._given(X.shape[1])
        return self

    def _given(self, d: int) -> np.ndarray:
        try:
            period = np.broadcast_to(np.asarray(self.period, dtype=np.float64), (d,)).copy()
        except (TypeError, ValueError):
            period = np.array([np.nan])
        if not (np.isfinite(period).all() and (period > 0).all()):
            raise ParameterError(
                f"The 'period' parameter of FourierFeatures must be None, a number greater than 0, or one for each of "
                f"the {d} columns. Got {self.period!r} instead."
            )
        return period

    def transform(self, X: Any) -> np.ndarray:
        """(bias, then for each column) sin k=1, cos k=1, sin k=2, …"""
        X = check_predict(self, X)
        n, d = X.shape
        bias, K = int(bool(self.include_bias)), self.n_harmonics
        out = np.empty((n, bias + 2 * K * d), dtype=X.dtype)
        out[:, :bias] = 1.0
        waves = out[:, bias:].reshape(n, d, K, 2) if not bias else None
        factors = 2.0 * np.pi * np.arange(1, K + 1) / self.period_[:, None]  # (d, K)

        def work(lo: int, hi: int) -> None:
            # Full periods are subtracted first: the sine of a large angle loses the digits of its integer part.
            turns = np.remainder(X[lo:hi].astype(np.float64), self.period_)
            angles = turns[:, :, None] * factors
            both = np.stack([np.sin(angles), np.cos(angles)], axis=3)
            if waves is None:
                out[lo:hi, bias:] = both.reshape(hi - lo, -1)
            else:
                waves[lo:hi] = both

        for_blocks(work, n, grain=max(16, _CELLS // (2 * K * d)))
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """sin(1 a), cos(1 a), sin(2 a), …: the wave, its frequency in periods, and the column."""
        check_is_fitted(self)
        names = [
            f"{wave}({k} {name})"
            for name in names_in(self, input_features)
            for k in range(1, self.n_harmonics + 1)
            for wave in ("sin", "cos")
        ]
        return np.array(["1", *names] if self.include_bias else names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
