"""Counts whose variance is their mean, made to have variance 1."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaln

from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.mixins import OneToOneFeatureMixin, TransformerMixin
from learnt.engine.params import ParameterError, check_choice
from learnt.engine.schema import ANY_FEATURES, Schema, anyof, choice, listof, number, real
from learnt.engine.validation import check_fit, check_predict

_LARGEST_TABLED = 2500.0  # mean beyond which the first terms of the expansion have all the digits needed


class AnscombeTransformer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """The variance-stabilising transform of Poisson counts k seen as x = gain · k + offset:  z = 2 √(k + 3/8).

    For k ~ Poisson(μ) with μ above 4 or so, z is nearly normal with variance 1, so that ordinary least squares, and all
    that supposes equal noise, is right for z. Values below −3/8 counts (dark noise) become 0.

    Parameters
    ----------
    gain : float or array-like of shape (n_features,), default=1.0
        What one count adds to x (the amplification), other than 0.
    offset : float or array-like of shape (n_features,), default=0.0
        The x without any count (the dark signal).
    inverse : {"exact", "algebraic", "asymptotic"}, default="exact"
        What `inverse_transform` makes of z. "algebraic" undoes the formula, k = (z/2)² − 3/8; it takes the mean of z to
        something below the mean of k. "exact" takes the mean of z to the mean of k, and is the one for means, smoothed
        values and predictions. "asymptotic" does so for large means only, k = (z/2)² − 1/8.

    See Also
    --------
    StandardScaler : Equal variances of columns, not of counts.
    PowerTransformer : Learns a transform that makes columns nearly normal.
    learnt.linear_model.PoissonRegressor : A model of counts themselves.

    References
    ----------
    .. [1] F. J. Anscombe, "The transformation of Poisson, binomial and negative-binomial data", Biometrika 35, 1948.
    .. [2] M. Mäkitalo, A. Foi, "Optimal Inversion of the Anscombe Transformation in Low-Count Poisson Image Denoising",
       IEEE Transactions on Image Processing 20, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.random.default_rng(0).poisson(20.0, size=(100_000, 1))
    >>> z = AnscombeTransformer(gain=2.0, offset=100.0).fit_transform(2.0 * counts + 100.0)
    >>> float(z.var().round(2))
    1.0
    """

    __learnt_schema__ = Schema(
        params={
            "gain": anyof(number(), real("d"), listof(number())),
            "offset": anyof(number(), real("d"), listof(number())),
            "inverse": choice("exact", "algebraic", "asymptotic"),
        },
        state=ANY_FEATURES,
    )
    __learnt_trial__ = Trial(warmup=(Warm("none", {"offset": 100.0}),))

    def __init__(self, gain: Any = 1.0, offset: Any = 0.0, *, inverse: str = "exact") -> None:
        self.gain = gain
        self.offset = offset
        self.inverse = inverse

    def fit(self, X: Any, y: Any = None) -> AnscombeTransformer:
        """Check the parameters and note the columns; nothing is learnt."""
        check_choice(self, "inverse", ("exact", "algebraic", "asymptotic"))
        X = check_fit(self, X).X
        self._scales(X.shape[1])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """z, of standard deviation about 1, for every x."""
        X = check_predict(self, X)
        gain, offset = self._scales(X.shape[1])
        counts = (X - offset) / gain + 0.375
        return (2.0 * np.sqrt(np.maximum(counts, 0.0))).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """x for every z; see the parameter `inverse`."""
        Z = check_predict(self, X)
        gain, offset = self._scales(Z.shape[1])
        if self.inverse == "exact":
            counts = unbiased_inverse(Z)
        else:
            counts = np.square(Z / 2) - (0.375 if self.inverse == "algebraic" else 0.125)
        return (counts * gain + offset).astype(Z.dtype, copy=False)

    def _scales(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        checked = []
        for name in ("gain", "offset"):
            try:
                values = np.asarray(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError):
                values = np.full(2, np.nan)
            finite = values.shape in ((), (d,)) and np.isfinite(values).all()
            if not finite or (name == "gain" and (values == 0).any()):
                kind = "finite number other than 0" if name == "gain" else "finite number"
                raise ParameterError(
                    f"The {name!r} parameter of AnscombeTransformer must be a {kind}, or one for each of the {d} "
                    f"columns. Got {getattr(self, name)!r} instead."
                )
            checked.append(values)
        return checked[0], checked[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def mean_of_root(mean: np.ndarray) -> np.ndarray:
    """E[2 √(k + 3/8)] of k ~ Poisson(mean), by summing over all k that matter."""
    out = np.empty(mean.shape)
    for i, mu in np.ndenumerate(mean):
        reach = 12.0 * np.sqrt(mu) + 30.0
        k = np.arange(max(0.0, np.floor(mu - reach)), np.ceil(mu + reach))
        log = k * np.log(mu) - mu - gammaln(k + 1.0) if mu > 0 else np.where(k == 0, 0.0, -np.inf)
        out[i] = float(np.exp(log) @ (2.0 * np.sqrt(k + 0.375)))
    return out


def unbiased_inverse(z: np.ndarray) -> np.ndarray:
    """The mean of the Poisson variable whose transform has the mean z; 0 where no mean gives so small a z.

    >>> mean = np.array([0.0, 0.5, 30.0, 4000.0])
    >>> bool(np.allclose(unbiased_inverse(mean_of_root(mean)), mean, rtol=1e-6))
    True
    """
    z = np.asarray(z, dtype=np.float64)
    lowest, highest, excess = _table()
    inner = np.clip(z, lowest, highest)
    large = np.maximum(z, highest)
    last = (float(excess(highest)) + 0.125) * highest**2  # of the expansion μ = z²/4 − 1/8 + O(1/z²)
    counts = np.where(z > highest, large**2 / 4 - 0.125 + last / large**2, inner**2 / 4 + excess(inner))
    return np.where(z > lowest, np.maximum(counts, 0.0), 0.0)


@cache
def _table() -> tuple[float, float, CubicSpline]:
    """μ − z²/4 as a smooth function of z."""
    mean = np.square(np.linspace(0.0, np.sqrt(_LARGEST_TABLED), 600))
    z = mean_of_root(mean)
    return float(z[0]), float(z[-1]), CubicSpline(z, mean - z**2 / 4)
