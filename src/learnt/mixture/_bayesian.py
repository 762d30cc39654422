"""Mixtures of Gaussians with priors on everything, by variational inference."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from learnt.engine.estimator import Trial
from learnt.engine.params import check_choice, check_number
from learnt.engine.schema import anyof, choice, listof, number, real
from learnt.mixture._base import BaseMixture, covariances_of, factors, precisions, schema
from learnt.mixture._em import Step
from learnt.mixture._gaussian import checked_array, checked_precisions
from learnt.statistics import Gaussians, Moments, gaussians, log_determinants

_PRIORS = ("dirichlet_process", "dirichlet_distribution")
_TINY = 10 * float(np.finfo(np.float64).eps)


class Priors(NamedTuple):
    """The prior's numbers: concentration of the weights, means and their precision, Wishart's freedom and matrix."""

    concentration: float
    mean_precision: float
    mean: np.ndarray
    freedom: float
    covariance: Any


class Posterior(NamedTuple):
    """The same after the rows, for each component; the covariances are divided by the degrees of freedom."""

    concentration: Any
    mean_precision: np.ndarray
    means: np.ndarray
    freedom: Any
    covariances: Any
    factors: np.ndarray


class BayesianGaussianMixture(BaseMixture):
    """A mixture of Gaussians whose weights, means and covariances have priors, by variational inference.

    Weights have a Dirichlet process (stick breaking) or a Dirichlet distribution as prior, means a Gaussian, precisions
    a Wishart distribution. Components that the rows do not need end with a weight near 0, so that `n_components` is
    only the most there can be.

    Parameters
    ----------
    n_components : int, default=1
        K, the most components there can be. Ask for more than you expect.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        What Σ_k may be: a matrix for each component, one matrix for all, variances of the features for each, or one
        variance for each. The later ones have fewer numbers to estimate, and overfit less.
    tol : float, default=1e-3
        EM stops when the lower bound on the evidence changes by less.
    reg_covar : float, default=1e-6
        Regularisation, added to all variances, so that no component collapses; a warning says where one would have.
        Raise it where components shrink to single rows, and set it by the units of the columns.
    max_iter : int, default=100
        Most iterations of one start; 0 keeps the start itself. Raise it where a warning says that EM did not converge.
    n_init : int, default=1
        How many starts; the one with the highest lower bound is kept. EM ends in local maxima: 5 or 10 find better
        ones.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Where components start: as the rows around the centres of k-means, around its seeds ("k-means++") or around
        random rows ("random_from_data"); or with random shares in all rows ("random").
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}, default="dirichlet_process"
        The prior of the weights: a process by stick breaking, with ever smaller shares, or a distribution in which all
        components are alike.
    weight_concentration_prior : float, default=None
        The concentration γ: the smaller, the fewer components have rows; None is 1 / n_components.
    mean_precision_prior : float, default=None
        How narrow the prior of the means is, in rows: larger values shrink the means towards `mean_prior`. None is 1.
    mean_prior : array-like of shape (n_features,), default=None
        The prior of the means is about this; None is the mean of the rows.
    degrees_of_freedom_prior : float, default=None
        The degrees of freedom of the Wishart distribution, above d − 1; larger values shrink the covariances towards
        `covariance_prior`. None is d.
    covariance_prior : array-like or float, default=None
        The prior of the covariances, by their type; None is the covariance of the rows.
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
        π: the share of each component, of the posterior.
    means_ : ndarray of shape (n_components, n_features)
        μ: the mean of each component, of the posterior.
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
        The lower bound on the evidence, but for constants.
    lower_bounds_ : list of float
        The same of all iterations.
    weight_concentration_ : ndarray of shape (n_components,), or two of them
        The Dirichlet posterior of the weights; for the Dirichlet process the two numbers of each Beta distribution.
    mean_precision_ : ndarray of shape (n_components,)
        The precision of each mean's posterior, in rows.
    degrees_of_freedom_ : ndarray of shape (n_components,), or float
        Those of each precision's Wishart posterior; one number where the covariance is tied.
    weight_concentration_prior_ : float
        γ as it was used.
    mean_precision_prior_ : float
        The precision of the means' prior as it was used.
    mean_prior_ : ndarray of shape (n_features,)
        The centre of the means' prior as it was used.
    degrees_of_freedom_prior_ : float
        Those of the Wishart prior as they were used.
    covariance_prior_ : ndarray or float
        The prior of the covariances as it was used, by their type.

    See Also
    --------
    GaussianMixture : Without priors, by EM, and with `bic` to choose the number of components.
    learnt.cluster.KMeans : Hard borders and round clusters, quicker.

    Notes
    -----
    Every iteration is one sum over rows, as that of `GaussianMixture`: O(n K d²) time for "full" and "tied", O(n K d)
    for the others. Weights of rows count against the prior: 2 is the row twice.

    References
    ----------
    .. [1] Christopher M. Bishop, "Pattern Recognition and Machine Learning", Springer, 2006, chapter 10.
    .. [2] Hagai Attias, "A Variational Bayesian Framework for Graphical Models", Advances in Neural Information
       Processing Systems, 2000.
    .. [3] David M. Blei and Michael I. Jordan, "Variational Inference for Dirichlet Process Mixtures", Bayesian
       Analysis, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.mixture import BayesianGaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [4.0, 2.0], [12.0, 4.0], [10.0, 7.0]])
    >>> model = BayesianGaussianMixture(n_components=2, random_state=42).fit(X)
    >>> bool(model.predict([[0.0, 0.0]])[0] != model.predict([[9.0, 3.0]])[0])
    True
    """

    __learnt_schema__ = schema(
        {"weight_concentration_prior_type": choice(*_PRIORS)},
        {
            "weight_concentration_": anyof(real("k", low=0), listof(real("k", low=0), 2, tuple)),
            "mean_precision_": real("k", above=0),
            "degrees_of_freedom_": anyof(number(above=0), real("k", above=0)),
            "weight_concentration_prior_": number(above=0),
            "mean_precision_prior_": number(above=0),
            "mean_prior_": real("d"),
            "degrees_of_freedom_prior_": number(above=0),
            "covariance_prior_": anyof(number(above=0), real("d", above=0), real("d", "d")),
        },
    )
    __learnt_trial__ = Trial(
        quick={"n_components": 3, "random_state": 0, "tol": 1e-9, "max_iter": 300},
        any_order=False,
        weight_repeats=False,
        weight_unit_free=False,  # weights are counted against the prior
    )
    _needs_entropy = True

    def __init__(
        self,
        *,
        n_components: int = 1,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
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
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    def _check_params(self) -> None:
        super()._check_params()
        check_choice(self, "weight_concentration_prior_type", _PRIORS)
        for name in ("weight_concentration_prior", "mean_precision_prior", "degrees_of_freedom_prior"):
            check_number(self, name, 0, open_low=True, also=(None,))

    def _prepare(self, whole: Moments) -> None:
        d = len(whole.mean)
        concentration, freedom = self.weight_concentration_prior, self.degrees_of_freedom_prior
        if freedom is not None and freedom <= d - 1:
            raise ValueError(
                f"The parameter 'degrees_of_freedom_prior' should be greater than {d - 1}, but got {freedom:.3f}."
            )
        self.weight_concentration_prior_ = 1.0 / self.n_components if concentration is None else concentration
        self.mean_precision_prior_ = 1.0 if self.mean_precision_prior is None else self.mean_precision_prior
        self.mean_prior_ = whole.mean if self.mean_prior is None else checked_array(self.mean_prior, (d,), "means")
        self.degrees_of_freedom_prior_ = d if freedom is None else freedom
        self.covariance_prior_ = self._prior_covariance(whole, d)

    def _prior_covariance(self, whole: Moments, d: int) -> Any:
        kind = self.covariance_type
        if self.covariance_prior is None:
            C = whole.covariance(ddof=1)
            if kind in ("full", "tied"):  # rows without any spread have none to offer
                return C if np.diagonal(C).all() else C + self.reg_covar * np.eye(d)
            C = np.where(C > 0, C, self.reg_covar)
            return float(C.mean()) if kind == "spherical" else C
        if kind == "spherical":
            check_number(self, "covariance_prior", 0, open_low=True)
            return float(self.covariance_prior)
        C = checked_array(self.covariance_prior, (d,) if kind == "diag" else (d, d), f"{kind} covariance_prior")
        checked_precisions(C, kind)
        return C

    @property
    def _priors(self) -> Priors:
        return Priors(
            self.weight_concentration_prior_,
            self.mean_precision_prior_,
            self.mean_prior_,
            self.degrees_of_freedom_prior_,
            self.covariance_prior_,
        )

    def _start(self, found: Any) -> Posterior:
        return self._maximise(found)

    def _maximise(self, found: Moments) -> Posterior:
        prior, kind = self._priors, self.covariance_type
        n = found.weight + _TINY
        C = covariances_of(kind, found, self.reg_covar)
        precision = prior.mean_precision + n
        means = (prior.mean_precision * prior.mean + n[:, None] * found.mean) / precision[:, None]
        freedom = prior.freedom + (n.sum() / len(n) if kind == "tied" else n)
        off, pull = found.mean - prior.mean, n * prior.mean_precision / precision
        if kind == "full":
            S = prior.covariance + n[:, None, None] * C + pull[:, None, None] * (off[:, :, None] * off[:, None, :])
            S /= freedom[:, None, None]
        elif kind == "tied":
            S = (prior.covariance + (C * n.sum() + (pull * off.T) @ off) / len(n)) / freedom
        elif kind == "diag":
            S = (prior.covariance + n[:, None] * C + pull[:, None] * off**2) / freedom[:, None]
        else:
            S = (prior.covariance + n * C + pull * (off**2).mean(axis=1)) / freedom
        return Posterior(self._concentration(n), precision, means, freedom, S, factors(kind, S))

    def _concentration(self, n: np.ndarray) -> Any:
        """Of the weights: sticks broken one after the other, or all at once."""
        prior = self.weight_concentration_prior_
        if self.weight_concentration_prior_type == "dirichlet_distribution":
            return prior + n
        later = np.append(np.cumsum(n[::-1])[-2::-1], 0.0)  # rows of the components that follow
        return 1.0 + n, prior + later

    def _kept(self) -> Posterior:
        return Posterior(
            self.weight_concentration_,
            self.mean_precision_,
            self.means_,
            self.degrees_of_freedom_,
            self.covariances_,
            self.precisions_cholesky_,
        )

    def _densities(self, parameters: Posterior) -> Gaussians:
        """E log π_k + E log N(x; μ_k, Σ_k): a Gaussian at the means, but for a constant."""
        d = parameters.means.shape[1]
        freedom = np.asarray(parameters.freedom)
        halves = 0.5 * (freedom - np.arange(d).reshape(-1, *([1] * freedom.ndim)))
        log_precision = d * math.log(2.0) + digamma(halves).sum(axis=0)  # E log |Λ| of the standard Wishart
        constant = 0.5 * (log_precision - d * np.log(freedom) - d / parameters.mean_precision)
        log_weights = _expected_log_weights(parameters.concentration)
        return gaussians(self.covariance_type, parameters.means, parameters.factors, log_weights + constant)

    def _bound(self, parameters: Posterior, step: Step) -> float:
        d, k = parameters.means.shape[1], len(parameters.means)
        freedom = np.asarray(parameters.freedom)
        half_log = log_determinants(self.covariance_type, parameters.factors, d) - 0.5 * d * np.log(freedom)
        wishart = log_wishart_norm(freedom, half_log, d)
        wishart = k * float(wishart) if self.covariance_type == "tied" else wishart.sum()
        if isinstance(parameters.concentration, tuple):
            weights = -betaln(*parameters.concentration).sum()
        else:
            weights = log_dirichlet_norm(parameters.concentration)
        return float(step.entropy - wishart - weights - 0.5 * d * np.log(parameters.mean_precision).sum())

    def _record(self, parameters: Posterior) -> None:
        self.weight_concentration_, self.mean_precision_, self.means_, freedom, C, F = parameters
        self.degrees_of_freedom_ = float(freedom) if np.ndim(freedom) == 0 else freedom
        self.covariances_, self.precisions_cholesky_ = C, F
        self.precisions_ = precisions(self.covariance_type, F)
        concentration = self.weight_concentration_
        if isinstance(concentration, tuple):
            total = concentration[0] + concentration[1]
            left = np.cumprod(np.append(1.0, (concentration[1] / total)[:-1]))  # of the stick
            concentration = concentration[0] / total * left
        self.weights_ = concentration / concentration.sum()


def _expected_log_weights(concentration: Any) -> np.ndarray:
    if not isinstance(concentration, tuple):
        return digamma(concentration) - digamma(concentration.sum())
    a, b = concentration
    total = digamma(a + b)
    return digamma(a) - total + np.append(0.0, np.cumsum(digamma(b) - total)[:-1])


def log_dirichlet_norm(concentration: np.ndarray) -> float:
    """The logarithm of the Dirichlet distribution's normalisation."""
    return gammaln(np.sum(concentration)) - np.sum(gammaln(concentration))


def log_wishart_norm(freedom: Any, half_log_determinant: Any, d: int) -> Any:
    """The logarithm of the Wishart distribution's normalisation, without its powers of π."""
    halves = 0.5 * (freedom - np.arange(d).reshape(-1, *([1] * np.ndim(freedom))))
    return -(freedom * half_log_determinant + freedom * d * 0.5 * math.log(2.0) + gammaln(halves).sum(axis=0))
