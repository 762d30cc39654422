"""What both mixtures share: EM from several starts, and the methods of a fitted mixture."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.engine.arrays import namespace
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.mixins import DensityMixin
from learnt.engine.params import check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.rows import Rows, as_rows
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.schema import (
    FEATURES,
    Check,
    Schema,
    anyof,
    choice,
    count,
    flag,
    instance,
    listof,
    none,
    number,
    real,
)
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict, check_same_columns, check_weights
from learnt.engine.verbose import tell
from learnt.engine.weights import without_absent
from learnt.mixture._em import SCATTER, Step, expectation, posterior
from learnt.mixture._starts import STARTS, first_moments
from learnt.statistics import COVARIANCES, Gaussians, Moments, inverse_factors, log_densities, log_sum_exp, moments

COLLAPSED = (
    "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance "
    "caused by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale "
    "the input data."
)
_GENERATORS = (np.random.RandomState, np.random.Generator)
_MATRICES = anyof(real("k", "d", "d"), real("d", "d"), real("k", "d"), real("k"))


class BaseMixture(CallbackSupportMixin, DensityMixin, Estimator):
    """EM, whatever is estimated from the moments of the components."""

    __learnt_takes__ = Takes(tensors=True, lazy=True)
    # What a model file of any mixture holds.
    _STATE: ClassVar[dict[str, Check]] = {
        **FEATURES,
        "weights_": real("k", low=0, high=1),
        "means_": real("k", "d"),
        "covariances_": _MATRICES,
        "precisions_": _MATRICES,
        "precisions_cholesky_": _MATRICES,
        "converged_": flag,
        "n_iter_": count(),
        "lower_bound_": number(finite=False),
        "lower_bounds_": listof(number(finite=False)),
    }
    _PARAMS: ClassVar[dict[str, Check]] = {
        "covariance_type": choice(*COVARIANCES),
        # `sample` draws from it
        "random_state": anyof(none, count(0, 2**32 - 1), instance(_GENERATORS, "a seed or a generator")),
    }

    n_components: int
    covariance_type: str
    tol: float
    reg_covar: float
    max_iter: int
    n_init: int
    init_params: str
    random_state: Any
    warm_start: bool
    verbose: Any
    verbose_interval: int
    lower_bound_: Any
    weights_: Any
    means_: Any
    covariances_: Any
    precisions_cholesky_: Any

    # --- what a class adds

    @abstractmethod
    def _prepare(self, whole: Moments) -> None:
        """Check parameters against the rows, whose moments these are."""

    @abstractmethod
    def _start(self, found: Any) -> Any:
        """Parameters to start from; without moments where they were all given (`_start_is_given`)."""

    @abstractmethod
    def _maximise(self, found: Moments) -> Any:
        """Parameters from the moments of the components."""

    @abstractmethod
    def _kept(self) -> Any:
        """The parameters of the last fit."""

    @abstractmethod
    def _densities(self, parameters: Any) -> Gaussians:
        """log p(x, k), or what stands for it, as Gaussians."""

    @abstractmethod
    def _bound(self, parameters: Any, step: Step) -> float:
        """What must not fall, from the parameters and the step before them."""

    @abstractmethod
    def _record(self, parameters: Any) -> None:
        """The fitted attributes."""

    # --- fit

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate the mixture by EM from `n_init` starts; a weight of 2 counts a row twice, 0 not at all."""
        self._check_params()
        again = self.warm_start and hasattr(self, "converged_")
        if again:
            check_same_columns(self, X)
        X, _, w = check_fit(self, X, None, sample_weight, min_rows=2)
        rows = as_rows(X, None, w)
        if rows.n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {rows.n_rows}; ask for fewer components or give more rows."
            )
        with single_blas(), np.errstate(under="ignore"):
            whole = moments(rows, scatter="full" if SCATTER[self.covariance_type] in ("full", "pooled") else "diagonal")
            whole = whole.to_numpy()
            self._prepare(whole)
            self._best_of_starts(X, w, rows, whole, again)
        self._warn()
        return self

    def _best_of_starts(self, X: Any, w: Any, rows: Rows, whole: Moments, again: bool) -> None:
        random_state = random_state_of(self.random_state)
        n_init = 1 if again else self.n_init
        scatter = SCATTER[self.covariance_type]
        best: Any = None
        with fit_loop(self, n_init * max(self.max_iter, 1), X) as loop:
            for start in range(n_init):
                if again:
                    parameters, bound = self._kept(), self.lower_bound_
                else:
                    k, how, found = self.n_components, self.init_params, None
                    if not self._start_is_given:
                        found = first_moments(X, w, rows, k, how, scatter, random_state)
                    parameters, bound = self._start(found), -np.inf
                run = self._run(rows, whole, parameters, bound, start, loop)
                if best is None or run[1] > best[1]:
                    best = run
        parameters, bound, bounds, self.converged_ = best
        self.n_iter_, self.lower_bound_, self.lower_bounds_ = len(bounds), bound, bounds
        self._record(parameters)

    def _run(self, rows: Rows, whole: Moments, parameters: Any, bound: float, start: int, loop: Any) -> tuple:
        """EM from one start: parameters, lower bound, all lower bounds, whether it converged."""
        spread = np.sqrt(whole.covariance() if whole.kind == "diagonal" else np.diagonal(whole.covariance()))
        about, bounds, converged = whole.mean, [], False
        bound = bound if self.max_iter else -np.inf
        for iteration in range(1, self.max_iter + 1):
            step = expectation(rows, self._densities(parameters), spread, about, self._needs_entropy)
            parameters = self._maximise(step.found)
            before, bound = bound, self._bound(parameters, step)
            bounds.append(bound)
            # Points of their own are needed by narrow components, and those stay narrow.
            about = whole.mean if step.about.ndim == 1 else step.found.mean
            if self.verbose and iteration % self.verbose_interval == 0:
                tell("%s start %d, iteration %d: lower bound %.6g", type(self).__name__, start, iteration, bound)
            if loop.step(f"lower bound {bound:.5g}", None) or abs(bound - before) < self.tol:
                converged = abs(bound - before) < self.tol
                break
        return parameters, bound, bounds, converged

    _needs_entropy = False  # of the shares, for the lower bound

    @property
    def _start_is_given(self) -> bool:
        """Whether a user gave all that a start needs."""
        return False

    def _check_params(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_choice(self, "covariance_type", COVARIANCES)
        check_number(self, "tol", 0)
        check_number(self, "reg_covar", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "n_init", 1, integer=True)
        check_choice(self, "init_params", STARTS)
        check_flag(self, "warm_start")
        check_verbose(self)
        check_number(self, "verbose_interval", 1, integer=True)

    def _warn(self) -> None:
        if not self.converged_ and self.max_iter > 0:
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase max_iter, "
                "tol, or check for degenerate data.",
                ConvergenceWarning,
                stacklevel=4,
            )
        narrowest = _narrowest(self.covariance_type, self.covariances_)
        collapsed = int((narrowest <= 1.01 * self.reg_covar).sum())
        if collapsed:
            warnings.warn(
                f"Singular covariances, {collapsed} of {len(narrowest)} (a constant feature, or components of too few "
                f"different rows): reg_covar={self.reg_covar:g} was added to the variances; drop such features, or ask "
                "for fewer components.",
                UserWarning,
                stacklevel=4,
            )

    # --- a fitted mixture

    def _fitted(self, X: Any) -> tuple[Any, Gaussians]:
        X = check_predict(self, X)
        return X, self._densities(self._kept()).to_device_of(X)

    def score_samples(self, X: Any) -> Any:
        """Return log p(x) of each row."""
        X, densities = self._fitted(X)
        return as_rows(X).map(_log_density, densities)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of log p(x) over the rows: higher is better.

        Parameters
        ----------
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        score : float
            The mean log density, by weight.
        """
        X, _, sample_weight, _ = without_absent(X, None, sample_weight)
        X, densities = self._fitted(X)
        weight, total = as_rows(X, None, check_weights(sample_weight, X)).sum(_summed_log_density, densities)
        return float(total) / float(weight)

    def predict(self, X: Any) -> Any:
        """Return the most probable component of each row.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The number of the component, from 0 on.
        """
        X, densities = self._fitted(X)
        return as_rows(X).map(_most_probable, densities)

    def predict_proba(self, X: Any) -> Any:
        """Return p(k | x) of each row and component: the responsibilities.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_components)
            A row adds up to 1.
        """
        X, densities = self._fitted(X)
        return as_rows(X).map(posterior, densities)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the most probable component of each row.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The number of the component, from 0 on.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return rows drawn from the mixture, and their components, in the order of the components.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows to draw.
        random_state : int, RandomState, Generator or None, default=None
            Where random numbers come from; None takes that of the model.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        components : ndarray of shape (n_samples,)
            The component that each was drawn from.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples!r}; ask for a whole number of at least 1.")
        random = random_state_of(self.random_state if random_state is None else random_state)
        counts = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        noise = random.standard_normal((n_samples, self.means_.shape[1]))
        components = np.repeat(np.arange(len(counts)), counts)
        edges = np.cumsum(counts)[:-1]
        parts = [_stretched(self, k, part) for k, part in enumerate(np.split(noise, edges))]
        return np.concatenate(parts) + self.means_[components], components


def _stretched(model: Any, k: int, noise: np.ndarray) -> np.ndarray:
    """Standard normal rows with the covariance of component k."""
    kind, F = model.covariance_type, model.precisions_cholesky_
    if kind in ("diag", "spherical"):
        return noise / F[k]
    return solve_triangular(F[k] if kind == "full" else F, noise.T, trans="T").T


def precisions(kind: str, factor: np.ndarray) -> np.ndarray:
    """The precisions from their factors: F Fᵀ, or squares."""
    if kind in ("diag", "spherical"):
        return factor**2
    return factor @ np.swapaxes(factor, -1, -2)


def factors(kind: str, covariances: np.ndarray) -> np.ndarray:
    """The factors of the covariances; one sentence where a component has collapsed."""
    try:
        return inverse_factors(kind, covariances)
    except np.linalg.LinAlgError:
        raise ValueError(COLLAPSED) from None


def covariances_of(kind: str, found: Moments, reg_covar: float) -> np.ndarray:
    """Covariances of the components by their kind, with `reg_covar` added to the variances."""
    C = found.covariance()
    if kind == "spherical":
        return C.mean(axis=1) + reg_covar
    return C + (reg_covar if kind == "diag" else reg_covar * np.eye(C.shape[-1]))


def invertible(kind: str, covariances: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Covariances to start from: a component of too few rows to have one takes the mean of all components'."""
    if kind == "tied":
        return covariances
    mean = np.average(covariances, axis=0, weights=weight)
    widest = np.max(np.diagonal(mean) if kind == "full" else mean)
    flat = _narrowest(kind, covariances) <= 10 * covariances.shape[-1] * np.finfo(float).eps * widest
    return np.where(flat.reshape(-1, *[1] * mean.ndim), mean, covariances)


def disproved(model: Any, state: dict[str, Any], dims: Any) -> str | None:
    """The rule of model files: arrays of the shapes of the covariance type, with factors that have logarithms."""
    k, d = dims["k"], dims["d"]
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[model.covariance_type]
    if any(state[name].shape != shape for name in ("covariances_", "precisions_", "precisions_cholesky_")):
        return "has covariances of another type"
    F = state["precisions_cholesky_"]
    root = F if model.covariance_type in ("diag", "spherical") else np.diagonal(F, axis1=-2, axis2=-1)
    if not (root > 0).all():
        return "has covariances that are not positive definite"
    return None if abs(state["weights_"].sum() - 1.0) < 1e-6 else "has weights that do not add up to 1"


def schema(params: dict[str, Check], extra: dict[str, Check]) -> Schema:
    """What a model file of a mixture may hold, with what the class adds."""
    return Schema(params={**BaseMixture._PARAMS, **params}, state={**BaseMixture._STATE, **extra}, rule=disproved)


def _narrowest(kind: str, covariances: np.ndarray) -> np.ndarray:
    """The smallest variance in any direction of each covariance."""
    if kind == "spherical":
        return covariances
    return covariances.min(axis=1) if kind == "diag" else np.atleast_1d(np.linalg.eigvalsh(covariances)[..., 0])


def _log_density(block: Block, densities: Gaussians) -> Any:
    return log_sum_exp(log_densities(block, densities))


def _summed_log_density(block: Block, densities: Gaussians) -> tuple:
    scores = _log_density(block, densities)
    xp = namespace(scores)
    if block.w is None:
        return float(scores.shape[0]), xp.sum(scores)
    w = widen(block.w)
    return xp.sum(w), xp.sum(w * scores)


def _most_probable(block: Block, densities: Gaussians) -> Any:
    joint = log_densities(block, densities)
    return namespace(joint).argmax(joint, axis=1)
