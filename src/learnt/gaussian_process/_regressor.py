"""Gaussian process regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from learnt.engine.arrays import is_foreign_array, is_numpy, like, namespace, to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import in_numpy, on_host, row_squares
from learnt.engine.mixins import MultiOutputMixin, clone
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.scoring import RowsRegressor
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED
from learnt.gaussian_process._bound import Sparse, bound_and_gradient
from learnt.gaussian_process._draws import draws
from learnt.gaussian_process._inputs import check_gp_kernel, fit_rows, no_factor, predict_rows, prior_kernel
from learnt.gaussian_process._large import METHODS, exact_weights, explained, finer, learn, method_of
from learnt.gaussian_process._likelihood import likelihood_and_gradient, posterior
from learnt.gaussian_process._schema import REGRESSOR
from learnt.gaussian_process._search import best_theta, check_optimizer, warn_at_bounds
from learnt.gaussian_process._variances import few_rows, variances
from learnt.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from learnt.kernels import gram_times, require_room
from learnt.linalg.any_array import solve_lower
from learnt.linalg.gram import gram as row_products
from learnt.linalg.tiles import clear_upper, solve_rows

_MORE_NOISE = "Try gradually increasing the 'alpha' parameter of your GaussianProcessRegressor estimator."


class GaussianProcessRegressor(MultiOutputMixin, RowsRegressor, Estimator):
    """A distribution over functions, given the rows: its mean is kernel ridge, its variance says how sure it is.

        mean(x) = k(x, X) K⁻¹ y        var(x) = k(x, x) − k(x, X) K⁻¹ k(X, x)        K = k(X, X) + alpha

    Take it for small and middling tables, where predictions need error bars or the parameters of the kernel are to be
    learnt without cross-validation; with `method` also for large ones. What is known of the function (smooth, periodic,
    with a trend, noisy) goes into the kernel.

    Parameters
    ----------
    kernel : kernel object or None, default=None
        What says how alike the function is at two rows: one of `learnt.gaussian_process.kernels`, `learnt.kernels` or
        scikit-learn. None means `1.0 * RBF(1.0)`, with `WhiteKernel()` added where `method` needs noise. Its parameters
        are learnt from the data by `fit`, but for those whose bounds are "fixed".
    alpha : float or array-like of shape (n_samples,), default=1e-10
        Variance of the noise of the targets, for all rows or for each: the regularisation strength. Raise it where
        targets are noisy, against overfitting, or where `fit` finds no Cholesky factor; or add a `WhiteKernel` to the
        kernel, which learns it.
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        What maximises the marginal likelihood over the parameters of the kernel. A function is called as
        `optimizer(objective, start, bounds=bounds)` and returns θ and −likelihood. None keeps the kernel as it is.
    n_restarts_optimizer : int, default=0
        Number of random starts besides the kernel's own parameters, uniform in the logarithms within their bounds. The
        likelihood can have several maxima: raise it (5 to 10) where the fitted kernel looks wrong. Time grows with it.
    normalize_y : bool, default=False
        Whether targets are taken about their mean and in units of their spread. Set it where the mean of y is far from
        0 or its scale far from 1, since far from all rows predictions go back to a mean of 0.
    copy_X_train : bool, default=True
        Whether to keep a copy of the training rows and targets; with False they must not be written to after `fit`.
    n_targets : int or None, default=None
        Number of targets. It is needed only to draw or predict from the prior, before `fit`, for more than one.
    random_state : int, RandomState, Generator or None, default=None
        Draws the random starts, and rows for `method` "inducing" and "cg". Pass an integer to get the same result every
        time.
    method : {"exact", "inducing", "cg", "auto"}, default="exact"
        How rows enter. "exact" factors the matrix K, which takes 8n² bytes and time in n³. "inducing" sees the rows
        through a few of them (Titsias' variational bound): time and memory in proportion to n, an approximation. "cg"
        learns the kernel's parameters by that bound and then solves with K itself by conjugate gradients, without ever
        having it whole. "auto" is "exact" up to 10,000 rows and "inducing" beyond. The kernel must have noise
        (`WhiteKernel`) or `alpha` be of its size for all but "exact". An iteration of "cg" computes the n²/2 entries of
        K, and there are the more of them the less noise there is beside what the inducing points cannot tell: take it
        where the mean must be that of K itself. Its variances take such a solution for every row asked; those of
        "inducing" are nearly free.
    n_inducing : int, default=500
        How many rows "inducing" and "cg" take at most; those that the others tell least about are chosen. More come
        nearer to "exact", at a cost in n · n_inducing². For the solution of "cg" these are a 32nd of the rows where
        that is more, at most 2,000.
    cg_tol : float, default=1e-6
        For "cg", how large a residual may be, relative to the right-hand side; errors of variances go with its square.

    Attributes
    ----------
    kernel_ : kernel object
        The kernel, with the parameters that were learnt.
    X_train_ : ndarray of shape (n_samples, n_features) or list of objects
        The training rows, which predictions need.
    y_train_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The training targets, centred and scaled where `normalize_y` is set.
    L_ : ndarray of shape (n_samples, n_samples)
        The lower Cholesky factor of K; where `method_` is not "exact", that of the inducing points' matrix.
    alpha_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        K⁻¹y, the weights of the training rows; of the inducing points where `method_` is "inducing".
    log_marginal_likelihood_value_ : float
        log p(y | X) at the learnt parameters; where `method_` is not "exact", a bound that it does not exceed.
    method_ : str
        The method that was taken: "exact", "inducing" or "cg".
    inducing_points_ : ndarray of shape (n_inducing, n_features)
        The rows that were chosen; only where `method_` is not "exact".
    inducing_factor_ : ndarray of shape (n_inducing, n_inducing)
        The factor of B = I + L⁻¹K_zf D⁻¹K_fz L⁻ᵀ; only where `method_` is not "exact".

    See Also
    --------
    GaussianProcessClassifier : The same for classes.
    learnt.kernel_ridge.KernelRidge : The mean alone, with given kernel parameters.
    learnt.linear_model.BayesianRidge : A linear model with uncertainties, for many rows.

    Notes
    -----
    With "exact", one evaluation of the likelihood and its gradient takes time in n³ and some copies of an n × n matrix;
    L-BFGS takes some tens of them. Predicting a mean costs n kernel values a row, a variance n² operations, or less
    where few training rows tell it accurately. Rows may also be other objects, such as texts, where the kernel takes
    them.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006.
    .. [2] M. K. Titsias, "Variational learning of inducing variables in sparse Gaussian processes", AISTATS, 2009.

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
        kernel: Any = None,
        *,
        alpha: Any = 1e-10,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Any = None,
        method: str = "exact",
        n_inducing: int = 500,
        cg_tol: float = 1e-6,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.method = method
        self.n_inducing = n_inducing
        self.cg_tol = cg_tol

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Learn the kernel's parameters by marginal likelihood, and factor its matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
            The rows to learn from; objects of any kind where the kernel takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The numbers to predict. Several targets share the kernel.
        """
        check_gp_kernel(self)
        check_optimizer(self)
        check_number(self, "n_restarts_optimizer", 0, integer=True)
        check_number(self, "n_targets", 1, integer=True, also=(None,))
        check_flag(self, "normalize_y", "copy_X_train")
        check_choice(self, "method", METHODS)
        check_number(self, "n_inducing", 1, integer=True)
        check_number(self, "cg_tol", 0, open_low=True)
        kernel = ConstantKernel() * RBF() if self.kernel is None else clone(self.kernel)
        X, y = fit_rows(self, X, y, kernel, "numbers")
        method = method_of(self, kernel, X)
        if method != "exact" and self.kernel is None:
            kernel = kernel + WhiteKernel()
        n = len(X)
        noise = self._noise(n)
        seen = 1 if y.ndim == 1 else y.shape[1]
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. Got "
                f"{seen} != {self.n_targets}."
            )
        learns = self.optimizer is not None and kernel.n_dims
        if on_host(X) and method == "exact":
            require_room("GaussianProcessRegressor", n, n, 2 if learns else 1, "method='inducing' or 'cg'")
        y = self._centred(y)
        self.X_train_ = X.copy() if self.copy_X_train and on_host(X) else X
        self.y_train_ = y.copy() if self.copy_X_train and on_host(y) else y
        self.kernel_, self.method_ = kernel, method
        random = random_state_of(self.random_state)
        if method != "exact":
            return self._fit_many(kernel, noise, random)
        for name in ("inducing_points_", "inducing_factor_"):  # of a fit by another method
            if hasattr(self, name):
                delattr(self, name)
        if learns:
            theta, _ = best_theta(self._objective(noise), kernel, self.optimizer, self.n_restarts_optimizer, random)
            self.kernel_ = kernel.clone_with_theta(theta)
            warn_at_bounds(self.kernel_)
        found = posterior(self.kernel_, self.X_train_, self.y_train_, noise)
        if found is None:
            raise no_factor(self.kernel_, self.X_train_, _MORE_NOISE)
        self.L_, self.alpha_, self.log_marginal_likelihood_value_, added = found
        if added:
            warnings.warn(
                f"Rows are repeated or nearly so and there is no noise: {added:.1e} was added to it, which makes the "
                "kernel matrix positive definite; increase alpha, or add WhiteKernel() to the kernel.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if on_host(self.L_):
            clear_upper(self.L_)
        return self

    def _fit_many(self, kernel: Any, noise: Any, random: Any) -> GaussianProcessRegressor:
        """The fit of "inducing" and "cg"."""
        self.kernel_, found = learn(self, kernel, self.X_train_, self.y_train_, noise, random)
        if self.optimizer is not None and kernel.n_dims:
            warn_at_bounds(self.kernel_)
        # Fewer points mean that the approximation is exact already
        if self.method_ == "cg" and len(found.Z) == self.n_inducing:
            found = finer(self.kernel_, self.X_train_, self.y_train_, noise, found, random)
        self.inducing_points_, self.L_, self.inducing_factor_ = found.Z, found.L, found.LB
        self.alpha_, self.log_marginal_likelihood_value_ = found.alpha, found.bound
        if self.method_ == "cg":
            self.alpha_ = exact_weights(self.kernel_, self.X_train_, self.y_train_, noise, found, self.cg_tol)
        return self

    def _sparse(self) -> Sparse:
        """The posterior through inducing points, as far as predictions need it."""
        empty = np.empty((len(self.L_), 0))
        return Sparse(self.inducing_points_, self.L_, self.inducing_factor_, empty, empty, 0.0)

    def _noise(self, n: int) -> Any:
        """The variance of the noise, one number or one a row."""
        alpha = to_numpy(self.alpha)
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
            if self.method_ != "exact":
                value, gradient = bound_and_gradient(kernel, self.X_train_, self.y_train_, noise, self.inducing_points_)
                return (-value, -gradient) if eval_gradient else -value
            if eval_gradient:
                value, gradient = likelihood_and_gradient(kernel, self.X_train_, self.y_train_, noise)
                return -value, -gradient
            found = posterior(kernel, self.X_train_, self.y_train_, noise)
            return np.inf if found is None else -found.likelihood

        return objective

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """log p(y | X, θ) and, where asked, its gradient in θ; of Titsias' bound where `method_` is not "exact".

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,) or None, default=None
            Logarithms of the kernel's parameters. None means those that were learnt, whose value is known already.
        eval_gradient : bool, default=False
            Whether to return the gradient too; theta must be given then.
        clone_kernel : bool, default=True
            Whether `kernel_` stays as it is; False also sets θ as that of `kernel_`.

        Returns
        -------
        log_likelihood : float
            The log marginal likelihood: larger is better.
        gradient : ndarray of shape (n_kernel_params,)
            Its derivatives in θ; only with `eval_gradient`.
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

        Before `fit`, those of the prior. Where many rows are asked of a smooth kernel with noise, the standard
        deviations come through few training rows, each with an error that is known to be below 1 in 100,000.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
            Rows to predict, with the columns of those it was fitted to.
        return_std : bool, default=False
            Whether to return the standard deviation at each row. It is that of the function, without the noise of
            `alpha`.
        return_cov : bool, default=False
            Whether to return the covariance between all rows; not together with `return_std`.

        Returns
        -------
        y_mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The mean of the posterior.
        y_std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Its standard deviation; only with `return_std`.
        y_cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_targets)
            Its covariance; only with `return_cov`.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = predict_rows(self, X)
        if not hasattr(self, "X_train_"):
            return self._prior(X, return_std, return_cov)
        K, mean = self._means(X)
        mean = self._unit(mean, self._y_train_std) + self._beside(self._y_train_mean, X)
        if mean.ndim > 1 and mean.shape[1] == 1:
            mean = mean[:, 0]
        if not (return_std or return_cov):
            return mean
        if return_cov:
            return mean, self._in_units(self.kernel_(X) - self._known(X, K, full=True))
        variance = self._variances(X, K)
        xp = namespace(variance)
        if bool(xp.any(variance < 0)):
            warnings.warn("Predicted variances smaller than 0. Setting those variances to 0.", stacklevel=2)
            variance = xp.where(variance > 0, variance, xp.zeros_like(variance))
        return mean, xp.sqrt(self._in_units(variance))

    def _means(self, X: Any) -> tuple[Any, Any]:
        """k(x, X_train) where that is needed again (None where it is not), and its product with the weights."""
        alpha = self._beside(self.alpha_, X)
        if self.method_ == "exact":
            K = self.kernel_(X, self._beside(self.X_train_, X))
            with single_blas():
                return K, K @ alpha
        rows = self.inducing_points_ if self.method_ == "inducing" else self.X_train_
        return None, gram_times(self.kernel_, X, self._beside(rows, X), alpha)

    def _known(self, X: Any, K: Any, full: bool) -> Any:
        """k(x, X) K⁻¹ k(X, x) of each row, or of each pair of them: what the training rows explain of the prior."""
        if K is None:
            known = explained(self, to_numpy(X), self._sparse(), self._noise(len(self.X_train_)), full)
            return self._beside(known, X)
        L = self._beside(self.L_, X)
        V = solve_rows(L, np.ascontiguousarray(K)) if is_numpy(L) else solve_lower(L, K.T).T
        return _own_products(V) if full else row_squares(V)

    def _variances(self, X: Any, K: Any) -> Any:
        """Of each row, by way of few training rows where these tell it accurately."""
        few = few_rows(self, X) if self.method_ == "exact" else None
        if few is None:
            return self.kernel_.diag(X) - self._known(X, K, full=False)
        found, sure = variances(few, self.kernel_, X)
        if not sure.all():
            rest = np.flatnonzero(~sure)
            found[rest] = self.kernel_.diag(X[rest]) - self._known(X[rest], K[rest], full=False)
        return found

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
        return in_numpy(part)

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

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features) or list of objects
            Where the functions are evaluated.
        n_samples : int, default=1
            How many functions to draw.
        random_state : int, RandomState, Generator or None, default=0
            Where random numbers come from. Pass another integer to get other functions.

        Returns
        -------
        y_samples : ndarray of shape (n_samples_X, n_samples) or (n_samples_X, n_targets, n_samples)
            One function a column; the longer shape is for several targets.
        """
        random = random_state_of(random_state)
        mean, covariance = (to_numpy(part) for part in self.predict(X, return_cov=True))
        if mean.ndim == 1:
            return draws(mean, covariance, n_samples, random)
        return np.stack([draws(m, covariance[..., j], n_samples, random) for j, m in enumerate(mean.T)], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _own_products(V: Any) -> Any:
    return row_products(V) if is_numpy(V) else V @ V.T
