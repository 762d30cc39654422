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
    only the most there can be. Every iteration is one sum over rows, as in `GaussianMixture`.

    Parameters
    ----------
    n_components, covariance_type, tol, reg_covar, max_iter, n_init, init_params, random_state, warm_start, verbose, \
verbose_interval
        As in `GaussianMixture`; `tol` is about the lower bound on the evidence.
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}, default="dirichlet_process"
    weight_concentration_prior : float, default=None
        γ: the smaller, the fewer components; None is 1 / n_components.
    mean_precision_prior : float, default=None
        How narrow the prior of the means is; None is 1.
    mean_prior : array of shape (d,), default=None
        The prior of the means is about this; None is the mean of the rows.
    degrees_of_freedom_prior : float, default=None
        Of the Wishart distribution, above d − 1; None is d.
    covariance_prior : array or float, default=None
        The prior of the covariances, by their type; None is the covariance of the rows.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_, converged_, n_iter_, lower_bounds_
        As in `GaussianMixture`; means of the posterior.
    lower_bound_ : float
        The lower bound on the evidence, but for constants.
    weight_concentration_ : array of shape (K,), or two of them for the Dirichlet process
    mean_precision_ : array of shape (K,)
    degrees_of_freedom_ : array of shape (K,), or a number where the covariance is tied
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_, covariance_prior_
        The priors as they were used.

    Examples
    --------
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
        n_components=1,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=None,
        mean_precision_prior=None,
        mean_prior=None,
        degrees_of_freedom_prior=None,
        covariance_prior=None,
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
