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

    A clustering with soft borders and ellipses for clusters, and a smooth density for drawing rows and for finding
    unusual ones. Compare numbers of components by `bic`, or let `BayesianGaussianMixture` leave some empty.

    Parameters
    ----------
    n_components : int, default=1
        K, the number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        What Σ_k may be: a matrix for each component, one matrix for all, variances of the features for each, or one
        variance for each. The later ones have fewer numbers to estimate, and overfit less.
    tol : float, default=1e-3
        EM stops when the mean log likelihood of a row changes by less.
    reg_covar : float, default=1e-6
        Regularisation, added to all variances, so that no component collapses; a warning says where one would have.
        Raise it where components shrink to single rows, and set it by the units of the columns.
    max_iter : int, default=100
        Most iterations of one start; 0 keeps the start itself. Raise it where a warning says that EM did not converge.
    n_init : int, default=1
        How many starts; the one with the highest likelihood is kept. EM ends in local maxima: 5 or 10 find better ones.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Where components start: as the rows around the centres of k-means, around its seeds ("k-means++") or around
        random rows ("random_from_data"); or with random shares in all rows ("random").
    weights_init : array-like of shape (n_components,), default=None
        Start with these π.
    means_init : array-like of shape (n_components, n_features), default=None
        Start with these μ.
    precisions_init : array-like, default=None
        Start with these Σ⁻¹, in the shape of `precisions_`.
    random_state : int, RandomState, Generator or None, default=None
        Where random starts and the rows of `sample` come from. Pass an integer to get the same result every time.
    warm_start : bool, default=False
        Whether the next `fit` goes on from what the last one learnt, instead of starting afresh.
    verbose : int, default=0
        More than 0 tells of iterations to the logger named "learnt".
    verbose_interval : int, default=10
        After how many iterations it tells.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        π: the share of each component.
    means_ : ndarray of shape (n_components, n_features)
        μ: the mean of each component.
    covariances_ : ndarray
        Σ: (K, d, d) where `covariance_type` is "full", (d, d) "tied", (K, d) "diag", (K,) "spherical".
    precisions_ : ndarray
        Σ⁻¹: the inverses of the covariances, in the same shape.
    precisions_cholesky_ : ndarray
        Upper triangular F with Σ⁻¹ = F Fᵀ, or square roots of precisions, in the same shape.
    converged_ : bool
        Whether the start that was kept converged to `tol` within `max_iter` iterations.
    n_iter_ : int
        Iterations of the start that was kept.
    lower_bound_ : float
        The mean log likelihood of a row, before the last maximisation.
    lower_bounds_ : list of float
        The same of all iterations.

    See Also
    --------
    BayesianGaussianMixture : Priors on everything, so that components that are not needed stay empty.
    learnt.cluster.KMeans : Hard borders and round clusters, quicker.
    learnt.neighbors.KernelDensity : A bell on every row.
    learnt.density.Gaussian : One component.

    Notes
    -----
    Every iteration is one sum over rows: O(n K d²) time for "full" and "tied", O(n K d) for the others. The result does
    not depend on the number of threads. With `reg_covar=0` no iteration lowers the likelihood.

    Where this differs from scikit-learn: `sample_weight`; "k-means++" and "random_from_data" start with the covariances
    of the rows around the centres and not with those of single rows.

    References
    ----------
    .. [1] Arthur P. Dempster, Nan M. Laird and Donald B. Rubin, "Maximum Likelihood from Incomplete Data via the EM
       Algorithm", Journal of the Royal Statistical Society B, 1977.
    .. [2] Christopher M. Bishop, "Pattern Recognition and Machine Learning", Springer, 2006, chapter 9.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.mixture import GaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]])
    >>> model = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    >>> model.means_[model.predict([[0.0, 0.0], [12.0, 3.0]])]
    array([[ 1.,  2.],
           [10.,  2.]])
    >>> bool(model.bic(X) < GaussianMixture(1, covariance_type="spherical").fit(X).bic(X))
    True
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
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
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
        """Return the Bayesian information criterion on the rows: lower is better.

        Returns
        -------
        float
            −2 log likelihood + log n for each free number of the model, which chooses the number of components.
        """
        X = check_predict(self, X)
        n = as_rows(X).n_rows
        return -2 * self.score(X) * n + self._n_parameters() * math.log(n)

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion on the rows: lower is better.

        Returns
        -------
        float
            −2 log likelihood + 2 for each free number of the model; it allows more components than `bic`.
        """
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
