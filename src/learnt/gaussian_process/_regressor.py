"""Gaussian process regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, clone
from sklearn.exceptions import NotFittedError

from learnt.engine.arrays import is_foreign_array, is_numpy, like, namespace, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.scoring import RowsRegressor
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED
from learnt.gaussian_process._inputs import check_gp_kernel, fit_rows, predict_rows, prior_kernel, require_factor
from learnt.gaussian_process._likelihood import likelihood_and_gradient, posterior
from learnt.gaussian_process._schema import REGRESSOR
from learnt.gaussian_process._search import best_theta, check_optimizer, warn_at_bounds
from learnt.gaussian_process.kernels import RBF, ConstantKernel
from learnt.kernels import require_room
from learnt.linalg.any_array import solve_lower
from learnt.linalg.tiles import solve_rows


class GaussianProcessRegressor(MultiOutputMixin, RowsRegressor, Estimator):
    """A distribution over functions, given the rows: its mean is kernel ridge, its variance says how sure it is.

        mean(x) = k(x, X) K⁻¹ y        var(x) = k(x, x) − k(x, X) K⁻¹ k(X, x)        K = k(X, X) + alpha

    Parameters
    ----------
    kernel : kernel or None
        Of `learnt.gaussian_process.kernels`, `learnt.kernels` or scikit-learn; None: `1.0 * RBF(1.0)`. What is not
        "fixed" in it is learnt.
    alpha : float or array of shape (n_samples,), default=1e-10
        The variance of the noise of the targets, for all rows or for each.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        What maximises the marginal likelihood; `optimizer(objective, start, bounds=bounds)` returns θ and −likelihood.
        None keeps the kernel as it is.
    n_restarts_optimizer : int, default=0
        Random starts besides the kernel's own parameters, uniform in the logarithms within their bounds.
    normalize_y : bool, default=False
        Whether targets are taken about their mean and in units of their spread.
    copy_X_train : bool, default=True
    n_targets : int or None
        Of samples of the prior, before `fit`.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    kernel_ : kernel
        With the parameters that were learnt.
    X_train_, y_train_ : arrays
    L_ : array of shape (n_samples, n_samples)
        The lower Cholesky factor of K.
    alpha_ : array of shape (n_samples,) or (n_samples, n_targets)
        K⁻¹y.
    log_marginal_likelihood_value_ : float

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> model = GaussianProcessRegressor(alpha=1e-6, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 1e-3 and std[0] < 1e-3 < std[1])
    True
    """

    __learnt_schema__ = REGRESSOR
    __learnt_takes__ = Takes(tensors=True)
    __learnt_trial__ = Trial(quick={"optimizer": None, "alpha": 1e-3}, most_rows=600)

    def __init__(
        self,
        kernel=None,
        *,
        alpha=1e-10,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        normalize_y=False,
        copy_X_train=True,
        n_targets=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Learn the kernel's parameters by marginal likelihood, and factor its matrix."""
        check_gp_kernel(self)
        check_optimizer(self)
        check_number(self, "n_restarts_optimizer", 0, integer=True)
        check_number(self, "n_targets", 1, integer=True, also=(None,))
        check_flag(self, "normalize_y", "copy_X_train")
        kernel = ConstantKernel() * RBF() if self.kernel is None else clone(self.kernel)
        X, y = fit_rows(self, X, y, kernel, "numbers")
        n = len(X)
        noise = self._noise(n)
        seen = 1 if y.ndim == 1 else y.shape[1]
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. Got "
                f"{seen} != {self.n_targets}."
            )
        if is_numpy(X):
            require_room("GaussianProcessRegressor", n, n, copies=3)
        y = self._centred(y)
        self.X_train_ = X.copy() if self.copy_X_train and is_numpy(X) else X
        self.y_train_ = y.copy() if self.copy_X_train and is_numpy(y) else y
        self.kernel_ = kernel
        if self.optimizer is not None and kernel.n_dims:
            theta, _ = best_theta(
                self._objective(noise),
                kernel,
                self.optimizer,
                self.n_restarts_optimizer,
                random_state_of(self.random_state),
            )
            self.kernel_ = kernel.clone_with_theta(theta)
            warn_at_bounds(self.kernel_)
        found = posterior(self.kernel_, self.X_train_, self.y_train_, noise)
        require_factor(found, self.kernel_, self.X_train_, "GaussianProcessRegressor")
        self.L_, self.alpha_, self.log_marginal_likelihood_value_ = found  # type: ignore[misc]
        if is_numpy(self.L_):
            self.L_ = np.tril(self.L_)
        return self

    def _noise(self, n: int) -> Any:
        """The variance of the noise, one number or one a row."""
        alpha = np.asarray(to_numpy(self.alpha) if is_foreign_array(self.alpha) else self.alpha)
        if alpha.dtype.kind not in "iuf" or alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ParameterError(
                "The 'alpha' parameter of GaussianProcessRegressor must be a finite number of at least 0, or one for "
                f"each row. Got {self.alpha!r} instead."
            )
        if alpha.ndim and alpha.shape[0] not in (1, n):
            raise ValueError(
                f"alpha must be a scalar or an array with same number of entries as y. ({alpha.shape[0]} != {n})"
            )
        return float(alpha.reshape(-1)[0]) if alpha.size == 1 else alpha.astype(np.float64)

    def _centred(self, y: Any) -> Any:
        """Targets about their mean and in units of their spread, where that is asked for."""
        xp, shape = namespace(y), (y.shape[1],) if y.ndim == 2 else (1,)
        if not self.normalize_y:
            self._y_train_mean, self._y_train_std = np.zeros(shape), np.ones(shape)
            return y
        mean, spread = xp.mean(y, axis=0), xp.std(y, axis=0)
        spread = xp.where(spread > 10 * float(xp.finfo(y.dtype).eps) * xp.abs(mean), spread, xp.ones_like(spread))
        self._y_train_mean = np.atleast_1d(to_numpy(mean)).astype(np.float64)
        self._y_train_std = np.atleast_1d(to_numpy(spread)).astype(np.float64)
        return (y - mean) / spread

    def _objective(self, noise: Any) -> Any:
        def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            kernel = self.kernel_.clone_with_theta(theta)
            if eval_gradient:
                value, gradient = likelihood_and_gradient(kernel, self.X_train_, self.y_train_, noise)
                return -value, -gradient
            found = posterior(kernel, self.X_train_, self.y_train_, noise)
            return np.inf if found is None else -found.likelihood

        return objective

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """log p(y | X, θ) and, where asked, its gradient in θ.

        Parameters
        ----------
        theta : array or None
            Logarithms of the kernel's parameters; None: those that were learnt.
        eval_gradient : bool, default=False
        clone_kernel : bool, default=True
            False also sets θ as that of `kernel_`.
        """
        if not hasattr(self, "X_train_"):
            raise NotFittedError(NOT_FITTED % {"name": type(self).__name__})
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        if not clone_kernel:
            self.kernel_ = self.kernel_.clone_with_theta(theta)
        found = self._objective(self._noise(len(self.X_train_)))(theta, eval_gradient)
        return (np.float64(-found[0]), -found[1]) if eval_gradient else np.float64(-found)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of the function at each row; with it, on request, its standard deviation or covariance.

        Before `fit`, those of the prior.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = predict_rows(self, X)
        if not hasattr(self, "X_train_"):
            return self._prior(X, return_std, return_cov)
        train, alpha, L = (self._beside(part, X) for part in (self.X_train_, self.alpha_, self.L_))
        K = self.kernel_(X, train)
        with single_blas():
            mean = K @ alpha
        mean = self._unit(mean, self._y_train_std) + self._beside(self._y_train_mean, X)
        if mean.ndim > 1 and mean.shape[1] == 1:
            mean = mean[:, 0]
        if not (return_std or return_cov):
            return mean
        V = solve_rows(L, np.ascontiguousarray(K)) if is_numpy(L) else solve_lower(L, K.T).T
        if return_cov:
            with single_blas():
                covariance = self.kernel_(X) - V @ V.T
            return mean, self._in_units(covariance)
        xp = namespace(V)
        variance = self.kernel_.diag(X) - (np.einsum("ij,ij->i", V, V) if xp is np else xp.sum(V * V, axis=1))
        if bool(xp.any(variance < 0)):
            warnings.warn("Predicted variances smaller than 0. Setting those variances to 0.", stacklevel=2)
            variance = xp.where(variance > 0, variance, xp.zeros_like(variance))
        return mean, xp.sqrt(self._in_units(variance))

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        kernel, outputs = prior_kernel(self), self.n_targets or 1
        mean = np.zeros((len(X), outputs)) if outputs > 1 else np.zeros(len(X))
        if not (return_std or return_cov):
            return mean
        spread = np.asarray(kernel(X) if return_cov else np.sqrt(kernel.diag(X)))
        return mean, np.repeat(spread[..., None], outputs, axis=-1) if outputs > 1 else spread

    def _beside(self, part: Any, X: Any) -> Any:
        """Numbers of the model where the rows are."""
        if is_foreign_array(X):
            return part if type(part) is type(X) and part.dtype == X.dtype else like(to_numpy(part), X)
        return to_numpy(part) if is_foreign_array(part) else part

    def _unit(self, values: Any, unit: np.ndarray) -> Any:
        return values * (self._beside(unit, values) if is_foreign_array(values) else unit)

    def _in_units(self, spread: Any) -> Any:
        """Variances in the squared units of each target: one more axis where there are several."""
        unit = self._y_train_std**2
        if unit.size == 1:
            return spread * float(unit[0])
        return self._unit(spread[..., None], unit)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Functions drawn from the posterior (before `fit` from the prior), at these rows.

        Of shape (n_rows, n_samples), or (n_rows, n_targets, n_samples) for several targets.
        """
        random = random_state_of(random_state)
        mean, covariance = (to_numpy(part) for part in self.predict(X, return_cov=True))
        if mean.ndim == 1:
            return random.multivariate_normal(mean, covariance, n_samples).T
        drawn = [random.multivariate_normal(mean[:, j], covariance[..., j], n_samples).T for j in range(mean.shape[1])]
        return np.stack(drawn, axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
