"""Mixtures of Gaussians by maximum likelihood."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.estimator import Trial
from learnt.engine.rows import as_rows
from learnt.engine.validation import check_predict
from learnt.mixture._base import BaseMixture, covariances_of, factors, invertible, precisions, schema
from learnt.mixture._em import Step
from learnt.statistics import Gaussians, Moments, gaussians

_TINY = 10 * float(np.finfo(np.float64).eps)  # of a component that no row has a share in


class Parameters(NamedTuple):
    """Weights (K,), means (K, d), covariances and the factors of their inverses."""

    weights: np.ndarray
    means: np.ndarray
    covariances: Any
    factors: np.ndarray


class GaussianMixture(BaseMixture):
    """K Gaussians, each with a share of the rows:  p(x) = Σ_k π_k N(x; μ_k, Σ_k),  by EM.

    Every iteration is one sum over rows, so X may be an array, a memory map, a `learnt.scan` table larger than memory,
    a Dask collection or an array on a GPU. The result does not depend on the number of threads. With `reg_covar=0` no
    iteration lowers the likelihood.

    Parameters
    ----------
    n_components : int, default=1
        K.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix for each component, one for all, variances of the features, or one variance.
    tol : float, default=1e-3
        EM stops when the mean log likelihood of a row changes by less.
    reg_covar : float, default=1e-6
        Added to all variances, so that no component collapses; a warning says where one would have.
    max_iter : int, default=100
        Most iterations of one start; 0 keeps the start itself.
    n_init : int, default=1
        How many starts; the one with the highest likelihood is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Components start as the rows around centres (of k-means, its seeds, random rows), or with random shares in rows.
    weights_init, means_init, precisions_init : arrays, default=None
        Start with these instead; shapes (K,), (K, d), and that of the covariances.
    random_state : int, RandomState, Generator or None
        Seed of the starts, and of `sample`.
    warm_start : bool, default=False
        Go on from the last fit.
    verbose, verbose_interval : int, default=0, 10
        Tell every so many iterations to the logger named "learnt".

    Attributes
    ----------
    weights_ : array of shape (K,)
        π.
    means_ : array of shape (K, d)
        μ.
    covariances_, precisions_, precisions_cholesky_ : arrays
        Σ, Σ⁻¹, and upper triangular F with Σ⁻¹ = F Fᵀ: (K, d, d), (d, d), (K, d) or (K,) by `covariance_type`.
    converged_ : bool
    n_iter_ : int
        Iterations of the start that was kept.
    lower_bound_ : float
        The mean log likelihood of a row, before the last maximisation.
    lower_bounds_ : list of float
        The same of all iterations.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where this differs from scikit-learn: `sample_weight`; "k-means++" and "random_from_data" start with the covariances
    of the rows around the centres and not with those of single rows.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]])
    >>> model = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    >>> model.means_[model.predict([[0.0, 0.0], [12.0, 3.0]])]
    array([[ 1.,  2.],
           [10.,  2.]])
    """

    __learnt_schema__ = schema({}, {})
    __learnt_trial__ = Trial(
        quick={"n_components": 3, "random_state": 0, "tol": 1e-10},
        start=lambda X: {"means_init": X[:3], "weights_init": np.full(3, 1 / 3), "precisions_init": _unit(X, 3)},
        any_order=False,
        weight_repeats=False,
    )

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    def _prepare(self, whole: Moments) -> None:
        self._given(len(whole.mean))

    def _given(self, d: int) -> tuple[Any, Any, Any]:
        """Weights, means and factors that a user gave for the start, checked."""
        return (
            _weights_given(self.weights_init, self.n_components),
            _means_given(self.means_init, (self.n_components, d)),
            _factors_given(self.precisions_init, self.covariance_type, self.n_components, d),
        )

    @property
    def _start_is_given(self) -> bool:
        return all(values is not None for values in (self.weights_init, self.means_init, self.precisions_init))

    def _start(self, found: Any) -> Parameters:
        weights, means, F = self._given(self.n_features_in_ if found is None else found.mean.shape[1])
        weights = _shares(found) if weights is None else weights
        means = found.mean if means is None else means
        if F is None:
            C = covariances_of(self.covariance_type, found, self.reg_covar)
            C = invertible(self.covariance_type, C, found.weight)
            return Parameters(weights, means, C, factors(self.covariance_type, C))
        P = precisions(self.covariance_type, F)
        C = 1.0 / P if self.covariance_type in ("diag", "spherical") else np.linalg.inv(P)
        return Parameters(weights, means, C, F)

    def _maximise(self, found: Moments) -> Parameters:
        C = covariances_of(self.covariance_type, found, self.reg_covar)
        return Parameters(_shares(found), found.mean, C, factors(self.covariance_type, C))

    def _kept(self) -> Parameters:
        return Parameters(self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)

    def _densities(self, parameters: Parameters) -> Gaussians:
        with np.errstate(divide="ignore"):  # a component without weight
            log_weights = np.log(parameters.weights)
        return gaussians(self.covariance_type, parameters.means, parameters.factors, log_weights)

    def _bound(self, parameters: Parameters, step: Step) -> float:
        return step.log_likelihood / step.weight

    def _record(self, parameters: Parameters) -> None:
        self.weights_, self.means_, self.covariances_, self.precisions_cholesky_ = parameters
        self.precisions_ = precisions(self.covariance_type, self.precisions_cholesky_)

    def _n_parameters(self) -> int:
        """Free numbers of the model."""
        k, d = self.means_.shape
        matrix = d * (d + 1) // 2
        covariances = {"full": k * matrix, "tied": matrix, "diag": k * d, "spherical": k}[self.covariance_type]
        return covariances + k * d + k - 1

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion on the rows: lower is better."""
        X = check_predict(self, X)
        n = as_rows(X).n_rows
        return -2 * self.score(X) * n + self._n_parameters() * math.log(n)

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on the rows: lower is better."""
        X = check_predict(self, X)
        return -2 * self.score(X) * as_rows(X).n_rows + 2 * self._n_parameters()


def _unit(X: Any, k: int) -> np.ndarray:
    """The inverse covariance of all rows, for each of k components."""
    return np.stack([np.linalg.inv(np.cov(np.asarray(X).T))] * k)


def _shares(found: Moments) -> np.ndarray:
    weight = found.weight + _TINY * found.weight.mean()
    return weight / weight.sum()


def checked_array(values: Any, shape: tuple, name: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"The parameter '{name}' holds NaN or infinity; give finite numbers.")
    return array


def _weights_given(values: Any, k: int) -> np.ndarray | None:
    if values is None:
        return None
    weights = checked_array(values, (k,), "weights")
    if (weights < 0).any() or (weights > 1).any():
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got "
            f"max value {weights.min():.5f}, min value {weights.max():.5f}"
        )
    if not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}")
    return weights


def _means_given(values: Any, shape: tuple[int, int]) -> np.ndarray | None:
    return None if values is None else checked_array(values, shape, "means")


def _factors_given(values: Any, kind: str, k: int, d: int) -> np.ndarray | None:
    """The factors of precisions that a user gave, checked to be some."""
    if values is None:
        return None
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    P = checked_array(values, shape, f"{kind} precision")
    checked_precisions(P, kind)
    return np.sqrt(P) if kind in ("diag", "spherical") else factors(kind, np.linalg.inv(P))


def checked_precisions(P: np.ndarray, kind: str) -> None:
    """Refuse what is no precision (or covariance)."""
    if kind in ("diag", "spherical"):
        if not (P > 0).all():
            raise ValueError(f"'{kind} precision' should be positive")
        return
    try:
        if not np.allclose(P, np.swapaxes(P, -1, -2)):
            raise np.linalg.LinAlgError
        np.linalg.cholesky(P)
    except np.linalg.LinAlgError:
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite") from None
