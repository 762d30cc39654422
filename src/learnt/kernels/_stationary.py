"""Kernels of the difference x − z: near rows are similar.

RBF and Matérn are functions f of s = Σⱼ (xⱼ − zⱼ)²/ℓⱼ². One rule gives their derivatives: ∂k/∂log ℓⱼ = −2f′(s) sⱼ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gamma as gamma_function
from scipy.special import kv

from learnt.engine.arrays import is_numpy, namespace, to_numpy
from learnt.engine.matrices import Route, dense, route
from learnt.engine.params import ParameterError
from learnt.kernels._base import BOUNDS, Kernel, Pull, Term
from learnt.kernels._differences import absolute_gaps, as_numbers, dot, filled, square_gaps
from learnt.kernels._gaussian import gaussian, products_are_exact


class _Stationary(Kernel):
    """k(x, x) is the same everywhere: 1."""

    def is_stationary(self) -> bool:
        return True

    def diag(self, X: Any) -> Any:
        """k(x, x) = 1."""
        return filled(X, X[:1], 1.0)[:, 0]


class _Radial(_Stationary):
    """A function of the distance, measured in length scales: one for all features, or one each."""

    def _profile(self, xp: Any, s: Any) -> Any:
        """f(s)."""
        raise NotImplementedError

    def _slope(self, xp: Any, s: Any, K: Any) -> Any:
        """−2f′(s), where it is multiplied by 0 any number."""
        raise NotImplementedError

    def _scales(self, X: Any) -> np.ndarray:
        scales = np.squeeze(np.asarray(self.length_scale, dtype=np.float64))  # type: ignore[attr-defined]
        if scales.ndim > 1:
            raise ValueError("length_scale cannot be of dimension greater than 1")
        if scales.ndim == 1 and scales.shape[0] != X.shape[1]:
            raise ValueError(
                f"Anisotropic kernel must have the same number of dimensions as data ({scales.shape[0]}!={X.shape[1]})"
            )
        return scales

    def _square(self, X: Any, Y: Any, start: int | None) -> tuple[Any, np.ndarray]:
        scales = self._scales(X)
        if scales.ndim:
            weights = as_numbers(1.0 / scales, dense(X))
            return square_gaps(dense(X) * weights, dense(Y) * weights, start), scales
        s = square_gaps(X, Y, start)
        if is_numpy(s):
            s /= float(scales) ** 2
            return s, scales
        return s / float(scales) ** 2, scales

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        s, _ = self._square(X, Y, start)
        return self._profile(namespace(s), s)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        s, scales = self._square(X, Y, start)
        xp = namespace(s)
        K = self._profile(xp, xp.asarray(s, copy=True))
        if self.hyperparameter_length_scale.fixed:  # type: ignore[attr-defined]
            return K, []
        slope = self._slope(xp, s, K)
        if not scales.ndim:
            return K, [lambda: slope * s]

        def term(j: int) -> Any:
            gap = (X[:, j] / float(scales[j]))[:, None] - (Y[:, j] / float(scales[j]))[None, :]
            gap *= gap
            gap *= slope
            return gap

        return K, [lambda j=j: term(j) for j in range(len(scales))]  # type: ignore[misc]

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        s, scales = self._square(X, Y, start)
        xp = namespace(s)
        K = self._profile(xp, xp.asarray(s, copy=True))

        def pulled(W: Any) -> list[float]:
            if self.hyperparameter_length_scale.fixed:  # type: ignore[attr-defined]
                return []
            S = W * self._slope(xp, s, K)
            return _pulled_scales(S, dense(X), dense(Y), scales) if scales.ndim else [dot(S, s)]

        return (lambda: K), pulled


def _pulled_scales(S: Any, X: Any, Y: Any, scales: np.ndarray) -> list[float]:
    """Σᵢⱼ Sᵢⱼ (xᵢ − zⱼ)²/ℓ² of every feature: three products, and no matrix for each feature."""
    xp = namespace(S)
    unit, middle = as_numbers(1.0 / scales, X), xp.mean(Y, axis=0)
    X, Y = (X - middle) * unit, (Y - middle) * unit
    each = xp.sum(S, axis=1) @ (X * X) + xp.sum(S, axis=0) @ (Y * Y) - 2.0 * xp.sum(X * (S @ Y), axis=0)
    return [float(value) for value in each]


def _scale_of(gamma: Any, length_scale: Any) -> Any:
    """ℓ of  exp(−γ‖x − z‖²) = exp(−‖x − z‖²/2ℓ²)."""
    if np.ndim(length_scale) or length_scale != 1.0:
        raise ParameterError(f"RBF takes length_scale or gamma, not both; got {length_scale!r} and {gamma!r}.")
    try:
        widths = np.asarray(gamma, dtype=np.float64)
    except (TypeError, ValueError):
        widths = np.array(np.nan)
    if not np.all(widths >= 0):
        raise ParameterError(f"gamma of RBF must be at least 0, one number or one a feature; got {gamma!r}.")
    with np.errstate(divide="ignore"):  # γ = 0 has an infinite length scale
        scales = np.sqrt(0.5 / widths)
    return scales if scales.ndim else float(scales)


class RBF(_Radial):
    """exp(−‖x − z‖² / 2ℓ²): the Gaussian, with infinitely many features.

    The kernel to try first: rows are similar where they are near, and functions are smooth. Standardise the columns, or
    give each feature its own length scale.

    Parameters
    ----------
    length_scale : float or array-like of shape (n_features,), default=1.0
        The length scale ℓ (σ in some books): the distance over which values change. Larger ones give smoother functions
        and less overfitting, smaller ones finer detail. Several give each feature its own, large where it does not
        matter.
    length_scale_bounds : pair of floats, array-like of shape (n_features, 2) or "fixed", default=(1e-5, 1e5)
        Lowest and highest ℓ that a Gaussian process tries when it learns its kernel, for all features or for each;
        "fixed" keeps the value as it is.
    gamma : float or array-like of shape (n_features,), default=None
        The rate γ of  exp(−γ‖x − z‖²),  another way to give ℓ = √(1/2γ); only ℓ is kept.

    See Also
    --------
    Matern : Rougher functions; this kernel is its limit.
    RationalQuadratic : A mixture of these of many length scales.
    Laplacian : Of the distance ‖x − z‖₁, with a corner at 0.
    learnt.kernel_approximation.RBFSampler : Random features of it, for many rows.

    Notes
    -----
    Exponents come from one matrix product where its rounding stays below 1e-12, and from differences of the cells
    elsewhere. O(n m d) time.

    References
    ----------
    .. [1] Carl E. Rasmussen and Christopher K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.

    Examples
    --------
    >>> from learnt.kernels import RBF
    >>> print(3 * RBF(0.5))
    3·exp(−‖x − z‖²/0.5)
    >>> RBF(gamma=2.0)
    RBF(0.5)
    >>> RBF(1.0)([[0.0], [1.0], [3.0]]).round(3)
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    """

    learnable = ("length_scale",)
    not_kept = ("gamma",)

    def __init__(self, length_scale: Any = 1.0, length_scale_bounds: Any = BOUNDS, *, gamma: Any = None) -> None:
        self.length_scale = length_scale if gamma is None else _scale_of(gamma, length_scale)
        self.length_scale_bounds = length_scale_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        kinds, scales = {route(X), route(Y)}, self._scales(X)
        if kinds <= {Route.DENSE, Route.SPARSE}:
            if scales.ndim:
                X, Y = dense(X), dense(Y)
            return gaussian(X, Y, 1.0 / scales, start)
        return super().block(X, Y, start)

    def pull(self, X: Any, Y: Any, start: int | None) -> Pull:
        scales = self._scales(X)
        if not (route(X) is route(Y) is Route.DENSE and products_are_exact(X, Y, 1.0 / scales)):
            return super().pull(X, Y, start)
        K = gaussian(X, Y, 1.0 / scales, start)

        def pulled(W: Any) -> list[float]:
            if self.hyperparameter_length_scale.fixed:  # type: ignore[attr-defined]
                return []
            each = _pulled_scales(W * K, X, Y, scales)
            return each if scales.ndim else [sum(each)]

        return (lambda: K), pulled

    def _profile(self, xp: Any, s: Any) -> Any:
        return xp.exp(-0.5 * s)

    def _slope(self, xp: Any, s: Any, K: Any) -> Any:
        return K

    def formula(self) -> str:
        if np.ndim(self.length_scale):
            return f"exp(−½Σⱼ(xⱼ − zⱼ)²/ℓⱼ²; ℓ = {_listed(self.length_scale)})"
        return f"exp(−‖x − z‖²/{2.0 * float(self.length_scale) ** 2:g})"


class Matern(_Radial):
    """(2¹⁻ᵛ/Γ(ν)) ρᵛ Kᵥ(ρ) with ρ = √(2ν)‖x − z‖/ℓ: functions that can be derived fewer than ν times.

    Take it in place of `RBF` where the function is rough: measurements of nature are seldom as smooth as `RBF` says.

    Parameters
    ----------
    length_scale : float or array-like of shape (n_features,), default=1.0
        The length scale ℓ (σ in some books): the distance over which values change. Larger ones give smoother functions
        and less overfitting, smaller ones finer detail. Several give each feature its own, large where it does not
        matter.
    length_scale_bounds : pair of floats, array-like of shape (n_features, 2) or "fixed", default=(1e-5, 1e5)
        Lowest and highest ℓ that a Gaussian process tries when it learns its kernel, for all features or for each;
        "fixed" keeps the value as it is.
    nu : float, default=1.5
        The smoothness ν, which is not learnt. 0.5 is exp(−‖x − z‖/ℓ), whose functions are continuous, but rough; 1.5
        those that can be derived once, 2.5 twice; infinity is `RBF`. These four are quick. Others need Bessel functions
        of every pair, which takes many times as long.

    See Also
    --------
    RBF : The smooth limit.
    Laplacian : exp(−γ‖x − z‖₁), rough in each feature.
    RationalQuadratic : Smooth, of many length scales.

    References
    ----------
    .. [1] Carl E. Rasmussen and Christopher K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.

    Examples
    --------
    >>> from learnt.kernels import Matern
    >>> print(Matern(1.0, nu=0.5))
    exp(−‖x − z‖/1)
    >>> Matern(1.0, nu=1.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.483],
           [0.483, 1.   ]])
    """

    learnable = ("length_scale",)

    def __init__(self, length_scale: Any = 1.0, length_scale_bounds: Any = BOUNDS, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu

    def _profile(self, xp: Any, s: Any) -> Any:
        if self.nu == math.inf:
            return xp.exp(-0.5 * s)
        if self.nu not in (0.5, 1.5, 2.5):
            return self._bessel(s, self.nu)
        r = xp.sqrt(2.0 * self.nu * s)
        if self.nu == 0.5:
            return xp.exp(-r)
        if self.nu == 1.5:
            return (1.0 + r) * xp.exp(-r)
        return (1.0 + r + r * r / 3.0) * xp.exp(-r)

    def _slope(self, xp: Any, s: Any, K: Any) -> Any:
        if self.nu == math.inf:
            return K
        if self.nu not in (0.5, 1.5, 2.5):
            return self._bessel(s, self.nu, slope=True)
        r = xp.sqrt(2.0 * self.nu * s)
        if self.nu == 0.5:
            return K / xp.where(r > 0, r, xp.ones_like(r))
        if self.nu == 1.5:
            return 3.0 * xp.exp(-r)
        return (5.0 / 3.0) * (1.0 + r) * xp.exp(-r)

    def _bessel(self, s: Any, nu: float, slope: bool = False) -> Any:
        """c ρᵛ Kᵥ(ρ), or −2f′ = 2ν c ρᵛ⁻¹ Kᵥ₋₁(ρ); no array library but SciPy has these functions."""
        if not is_numpy(s):
            return as_numbers(self._bessel(to_numpy(s).astype(np.float64), nu, slope), s)
        rho = np.sqrt(2.0 * nu * s)
        rho[s == 0.0] = 1.0  # Kᵥ is infinite at 0, the product is not
        constant = 2.0 ** (1.0 - nu) / gamma_function(nu)
        if slope:
            return np.where(s > 0, 2.0 * nu * constant * rho ** (nu - 1.0) * kv(nu - 1.0, rho), 0.0)
        return np.where(s > 0, constant * rho**nu * kv(nu, rho), 1.0)

    def formula(self) -> str:
        scale = _listed(self.length_scale) if np.ndim(self.length_scale) else f"{float(self.length_scale):g}"
        return f"exp(−‖x − z‖/{scale})" if self.nu == 0.5 else f"Matérn({self.nu:g}; ‖x − z‖/{scale})"


class _Isotropic(_Stationary):
    """One length scale for all features, and a second parameter."""

    def _square(self, X: Any, Y: Any, start: int | None) -> Any:
        if np.size(self.length_scale) > 1:  # type: ignore[attr-defined]
            raise AttributeError(
                f"{type(self).__name__} kernel only supports isotropic version, please use a single scalar for "
                "length_scale"
            )
        return square_gaps(X, Y, start)

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self.terms(X, Y, start)[0]


class RationalQuadratic(_Isotropic):
    """(1 + ‖x − z‖² / 2αℓ²)^−α: a mixture of RBFs of many length scales.

    Take it where a function varies slowly and quickly at once, a trend with wiggles.

    Parameters
    ----------
    length_scale : float, default=1.0
        The length scale ℓ: the larger, the smoother the functions, and the less they overfit.
    alpha : float, default=1.0
        The weight α of the length scales: small mixes many of them, so that far rows stay similar; large is one RBF.
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest ℓ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.
    alpha_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest α that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    RBF : The limit for large α, of one length scale.
    Matern : Rough functions of one length scale.

    References
    ----------
    .. [1] Carl E. Rasmussen and Christopher K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.

    Examples
    --------
    >>> from learnt.kernels import RationalQuadratic
    >>> print(RationalQuadratic(1.0, 2.0))
    (1 + ‖x − z‖²/4)^−2
    >>> RationalQuadratic(1.0, 1.0)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.667],
           [0.667, 1.   ]])
    """

    learnable = ("alpha", "length_scale")

    def __init__(
        self,
        length_scale: Any = 1.0,
        alpha: float = 1.0,
        length_scale_bounds: Any = BOUNDS,
        alpha_bounds: Any = BOUNDS,
    ) -> None:
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        s = self._square(X, Y, start) / float(self.length_scale) ** 2
        xp = namespace(s)
        base = 1.0 + s / (2.0 * self.alpha)
        K = base ** (-self.alpha)
        terms: list[Term] = []
        if not self.hyperparameter_alpha.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: K * (0.5 * s / base - self.alpha * xp.log(base)))
        if not self.hyperparameter_length_scale.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: s * K / base)
        return K, terms

    def formula(self) -> str:
        return f"(1 + ‖x − z‖²/{2.0 * self.alpha * self.length_scale**2:g})^−{self.alpha:g}"


class ExpSineSquared(_Isotropic):
    """exp(−2 sin²(π‖x − z‖/p) / ℓ²): functions that repeat themselves with period p.

    A kernel of one feature; of several, distances do not repeat, and the matrix may have negative eigenvalues. Multiply
    it by `RBF` where seasons change over the years.

    Parameters
    ----------
    length_scale : float, default=1.0
        The length scale ℓ: the larger, the smoother the functions, and the less they overfit.
    periodicity : float, default=1.0
        The period p, in units of the feature: 12 for years of monthly rows. Start near the true one: the likelihood has
        many local maxima in it.
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest ℓ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.
    periodicity_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest p that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    RBF : Functions that do not repeat.
    Product : `RBF() * ExpSineSquared()` repeats nearly.

    References
    ----------
    .. [1] Carl E. Rasmussen and Christopher K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.

    Examples
    --------
    >>> from learnt.kernels import ExpSineSquared
    >>> print(ExpSineSquared(1.0, 7.0))
    exp(−2·sin²(π‖x − z‖/7)/1)
    >>> ExpSineSquared(1.0, 7.0)([[0.0], [3.5], [7.0]]).round(3)
    array([[1.   , 0.135, 1.   ],
           [0.135, 1.   , 0.135],
           [1.   , 0.135, 1.   ]])
    """

    learnable = ("length_scale", "periodicity")

    def __init__(
        self,
        length_scale: Any = 1.0,
        periodicity: float = 1.0,
        length_scale_bounds: Any = BOUNDS,
        periodicity_bounds: Any = BOUNDS,
    ) -> None:
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds

    @property
    def proven(self) -> bool:
        return False

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        square = self._square(X, Y, start)
        xp = namespace(square)
        angle = xp.sqrt(square) * (math.pi / self.periodicity)
        sine = xp.sin(angle)
        scale = float(self.length_scale) ** 2
        K = xp.exp(-2.0 / scale * sine * sine)
        terms: list[Term] = []
        if not self.hyperparameter_length_scale.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: (4.0 / scale) * sine * sine * K)
        if not self.hyperparameter_periodicity.fixed:  # type: ignore[attr-defined]
            terms.append(lambda: (4.0 / scale) * angle * xp.cos(angle) * sine * K)
        return K, terms

    def formula(self) -> str:
        return f"exp(−2·sin²(π‖x − z‖/{self.periodicity:g})/{self.length_scale**2:g})"


class Laplacian(_Stationary):
    """exp(−γ‖x − z‖₁): as the RBF, with a corner at 0.

    Distances add up over the features, and functions may be rough: less sensitive to outliers in a single feature than
    the RBF, whose differences are squared.

    Parameters
    ----------
    gamma : float, default=1.0
        How fast similarity decays, γ: larger values fit finer detail and overfit more easily.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest γ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    RBF : Of the squared Euclidean distance, smooth.
    Matern : With nu=0.5 the same of the Euclidean distance.
    learnt.kernel_approximation.Nystroem : Features of any kernel, for many rows.

    Examples
    --------
    >>> from learnt.kernels import Laplacian
    >>> Laplacian(0.5)([[0.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    learnable = ("gamma",)

    def __init__(self, gamma: float = 1.0, gamma_bounds: Any = BOUNDS) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        gaps = absolute_gaps(X, Y)
        return namespace(gaps).exp(-self.gamma * gaps)

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        gaps = absolute_gaps(X, Y)
        K = namespace(gaps).exp(-self.gamma * gaps)
        fixed = self.hyperparameter_gamma.fixed  # type: ignore[attr-defined]
        return K, [] if fixed else [lambda: -self.gamma * gaps * K]

    def formula(self) -> str:
        return f"exp(−{self.gamma:g}·‖x − z‖₁)"


def _listed(values: Any) -> str:
    return "(" + ", ".join(f"{float(v):g}" for v in np.ravel(values)) + ")"
