"""Ridge regression whose strength follows from the evidence, for all columns together or for each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import Rows, as_rows
from learnt.engine.schema import Check, Dims, Schema, anyof, count, listof, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.linear_model._base import LinearPredictor, record_coefficients
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.bayesian._evidence import Evidence, inverse, mean_and_deviation
from learnt.linear_model.bayesian._spectrum import ColumnSpectrum, RowSpectrum, spectrum

_EPS = float(np.finfo(np.float64).eps)


# What both keep in a model file.
_EVIDENCE: dict[str, Check] = {"alpha_": number(above=0), "X_offset_": real("d"), "X_scale_": real("d")}
_EVIDENCE_EXTRA: dict[str, Check] = {"scores_": anyof(listof(number()), real(None)), "n_iter_": count()}


def _covariance_of_kept(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The covariance is that of the coefficients that were kept."""
    kept = int(np.count_nonzero(state["lambda_"] < model.threshold_lambda))
    reason = one_intercept_a_target(model, state, dims)
    return reason or (None if kept == dims["k"] else "has a covariance of other columns")


class _EvidenceRegressor(LinearPredictor, RegressorMixin, Estimator):
    """Shared by the two regressors below."""

    __learnt_takes__ = Takes(tensors=True, lazy=True)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the predictive distribution for every row of X and, if asked for, its standard deviation.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of a new y at each row too: of the noise and of what is not known
            of the coefficients. X must then be in memory.

        Returns
        -------
        y_mean : ndarray of shape (n_samples,)
            The predicted means.
        y_std : ndarray of shape (n_samples,)
            With `return_std`: the standard deviations.
        """
        if not return_std:
            return super().predict(X)
        X = check_predict(self, X, lazy=False)
        return mean_and_deviation(self, X, self.X_offset_, self._covariance(), 1.0 / float(self.alpha_))

    def _covariance(self) -> Any:
        return self.sigma_

    def _check_parameters(self) -> None:
        check_number(self, "max_iter", 1, integer=True)
        for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
            check_number(self, name, 0)
        check_flag(self, "compute_score", "fit_intercept", "copy_X")

    def _rows(self, X: Any, y: Any, sample_weight: Any, min_rows: int = 1) -> Rows:
        X, y, w = check_fit(self, X, y, sample_weight, target="number", min_rows=min_rows)
        return as_rows(X, y, w)

    def _record(self, rows: Rows, data: Any, coef: np.ndarray, noise: float, scores: list[float], n_iter: int) -> None:
        dtype = rows.dtype if isinstance(rows.dtype, np.dtype) else np.dtype(np.float64)
        record_coefficients(self, coef[:, None], data.intercept(coef), rows, True)
        self.alpha_ = dtype.type(noise)
        self.X_offset_ = data.x_mean.astype(dtype)
        self.X_scale_ = np.ones(len(coef), dtype=dtype)
        self.n_iter_ = n_iter
        self.scores_: Any = np.array(scores) if self.compute_score else []

    def _warn(self, change: float) -> None:
        warnings.warn(
            f"{type(self).__name__} stopped after {self.max_iter} iterations while its coefficients still changed by "
            f"{change:.1e} in all (tol={self.tol:g}); raise max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )


class BayesianRidge(_EvidenceRegressor):
    """Linear regression with a normal prior, y ~ N(Xb + c, 1/α), b ~ N(0, I/λ), where α and λ maximise the evidence.

    Ridge regression that finds its own regularisation strength, λ/α, without cross-validation, and whose predictions
    come with standard deviations. With weak gamma priors on α and λ.

    Parameters
    ----------
    max_iter : int, default=300
        The most iterations. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-3
        Stop when the coefficients change by less than this in all (the sum of absolute changes).
    alpha_1 : float, default=1e-6
        Shape of the gamma prior on α, the precision of the noise. The small default leaves α to the data.
    alpha_2 : float, default=1e-6
        Rate of the gamma prior on α.
    lambda_1 : float, default=1e-6
        Shape of the gamma prior on λ, the precision of the coefficients. The small default leaves λ to the data.
    lambda_2 : float, default=1e-6
        Rate of the gamma prior on λ.
    alpha_init : float or None, default=None
        α to start from; None for 1/var(y). Try another where the evidence has several maxima.
    lambda_init : float or None, default=None
        λ to start from; None for 1.
    compute_score : bool, default=False
        Whether to keep the log evidence of every iteration in `scores_`.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Mean of the posterior of the coefficients.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    alpha_ : float
        α, the precision of the noise: 1 / its variance.
    lambda_ : float
        λ, the precision of the coefficients.
    sigma_ : ndarray of shape (n_features, n_features)
        Covariance of the posterior of the coefficients.
    scores_ : ndarray of shape (n_iter_ + 1,) or list
        The log evidence at each iteration and at the end; empty without `compute_score`.
    n_iter_ : int
        Iterations.
    X_offset_ : ndarray of shape (n_features,)
        Means of the columns; 0 with `fit_intercept=False`.
    X_scale_ : ndarray of shape (n_features,)
        Ones: columns are not scaled. Kept for scikit-learn's attributes.

    See Also
    --------
    ARDRegression : A precision for each column, which leaves out useless ones.
    BayesianLinearRegression : The exact maximum of the evidence, and priors of your own.
    RidgeCV : Chooses the strength by leave-one-out.

    Notes
    -----
    MacKay's fixed-point updates of α and λ on the eigenvalues of XᵀX, or of XXᵀ where rows are fewer than columns: one
    decomposition, and O(d) for d columns in each iteration beside the coefficients. The evidence usually rises, which
    these updates do not guarantee. A row of weight 2 counts as two rows.

    References
    ----------
    .. [1] D. J. C. MacKay, "Bayesian Interpolation", Neural Computation 4(3), 1992.
    .. [2] M. E. Tipping, "Sparse Bayesian Learning and the Relevance Vector Machine", Journal of Machine Learning
           Research 1, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> model = BayesianRidge().fit(X, [0.0, 1.0, 2.0])
    >>> model.predict(np.array([[1.0, 1.0]]))
    array([1.])

    Where noise is left, a prediction has a standard deviation:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> model = BayesianRidge().fit(X, X[:, 0] + 0.5 * rng.normal(size=200))
    >>> mean, deviation = model.predict(np.zeros((1, 3)), return_std=True)
    >>> deviation.round(1)
    array([0.5])
    """

    __learnt_schema__ = Schema(
        state={**LINE, **_EVIDENCE, "lambda_": number(0), "sigma_": real("d", "d")},
        extra=_EVIDENCE_EXTRA,
        rule=one_intercept_a_target,
    )
    __learnt_trial__ = Trial(weight_unit_free=False)

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1.0e-3,
        alpha_1: float = 1.0e-6,
        alpha_2: float = 1.0e-6,
        lambda_1: float = 1.0e-6,
        lambda_2: float = 1.0e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool | int = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianRidge:
        """Find α and λ, and the posterior they give; a row of weight 2 counts as two rows."""
        self._check_parameters()
        for name in ("alpha_init", "lambda_init"):
            check_number(self, name, 0, also=(None,))
        rows = self._rows(X, y, sample_weight)
        with single_blas():
            change = self._maximise(rows, spectrum(rows, self.fit_intercept))
        if not change < self.tol:
            self._warn(change)
        return self

    def _maximise(self, rows: Rows, data: ColumnSpectrum | RowSpectrum) -> float:
        """Record the maximum; how much the coefficients changed in the last iteration."""
        noise = 1.0 / (data.y_variance + _EPS) if self.alpha_init is None else float(self.alpha_init)
        noise = max(noise, float(np.finfo(float).tiny))  # to divide by
        prior = 1.0 if self.lambda_init is None else float(self.lambda_init)
        scores: list[float] = []
        last, change, n_iter = None, np.inf, 0
        while n_iter < self.max_iter:
            n_iter += 1
            coef = data.mean(prior / noise)
            sse = data.residual(prior / noise, coef)
            if self.compute_score:
                scores.append(self._score(data, noise, prior, coef, sse))
            gamma = float(np.sum(noise * data.values / (prior + noise * data.values)))
            prior = (gamma + 2 * self.lambda_1) / (float(coef @ coef) + 2 * self.lambda_2)
            noise = (data.weight - gamma + 2 * self.alpha_1) / (sse + 2 * self.alpha_2)
            change = np.inf if last is None else float(np.abs(last - coef).sum())
            if change < self.tol:
                break
            last = coef
        coef = data.mean(prior / noise)
        if self.compute_score:
            scores.append(self._score(data, noise, prior, coef, data.residual(prior / noise, coef)))
        self._record(rows, data, coef, noise, scores, n_iter)
        self.lambda_ = type(self.alpha_)(prior)
        self.sigma_ = data.covariance(noise, prior).astype(self.X_offset_.dtype, copy=False)
        return change

    def _score(
        self, data: ColumnSpectrum | RowSpectrum, noise: float, prior: float, coef: np.ndarray, sse: float
    ) -> float:
        """Log of evidence and priors."""
        log = self.lambda_1 * np.log(prior) - self.lambda_2 * prior
        log += self.alpha_1 * np.log(noise) - self.alpha_2 * noise
        # A direction without an eigenvalue of its own has the prior's precision, and its two logarithms cancel.
        log += 0.5 * (len(data.values) * np.log(prior) + data.weight * np.log(noise / (2 * np.pi)))
        log -= 0.5 * (noise * sse + prior * float(coef @ coef) + float(np.log(prior + noise * data.values).sum()))
        return float(log)


class ARDRegression(_EvidenceRegressor):
    """Linear regression in which every column has a prior of its own, b_j ~ N(0, 1/λ_j), all found from the evidence.

    Automatic relevance determination (sparse Bayesian learning): columns that do not help end with a large λ and a
    coefficient of 0. It chooses columns without cross-validation and shrinks the useful ones hardly at all; its
    predictions have standard deviations.

    Parameters
    ----------
    max_iter : int, default=300
        The most iterations. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-3
        Stop when the coefficients change by less than this in all (the sum of absolute changes).
    alpha_1 : float, default=1e-6
        Shape of the gamma prior on α, the precision of the noise. The small default leaves α to the data.
    alpha_2 : float, default=1e-6
        Rate of the gamma prior on α.
    lambda_1 : float, default=1e-6
        Shape of the gamma prior on λ, the precision of the coefficients. The small default leaves λ to the data.
    lambda_2 : float, default=1e-6
        Rate of the gamma prior on λ.
    compute_score : bool, default=False
        Whether to keep the log evidence of every iteration in `scores_`.
    threshold_lambda : float, default=1e4
        A column is dropped once its λ is beyond. Lower it for fewer columns; it depends on the units of X.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Mean of the posterior of the coefficients.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    alpha_ : float
        α, the precision of the noise: 1 / its variance.
    lambda_ : ndarray of shape (n_features,)
        λ_j, the precisions of the coefficients.
    sigma_ : ndarray of shape (n_kept, n_kept)
        Covariance of the coefficients that were kept.
    scores_ : ndarray of shape (n_iter_,) or list
        The log evidence at each iteration; empty without `compute_score`.
    n_iter_ : int
        Iterations.
    X_offset_ : ndarray of shape (n_features,)
        Means of the columns; 0 with `fit_intercept=False`.
    X_scale_ : ndarray of shape (n_features,)
        Ones: columns are not scaled. Kept for scikit-learn's attributes.

    See Also
    --------
    BayesianRidge : One precision for all columns.
    BayesianLinearRegression : A prior of your own, and draws from the posterior.
    LassoCV : Chooses columns by cross-validation.

    Notes
    -----
    MacKay's fixed-point updates on sums over rows: O(n d²) once for n rows and d columns, and O(k³) in each iteration
    with k columns left. The result is a local maximum of the evidence. A row of weight 2 counts as two rows.

    References
    ----------
    .. [1] D. J. C. MacKay, "Bayesian Nonlinear Modeling for the Prediction Competition", ASHRAE Transactions 100, 1994.
    .. [2] M. E. Tipping, "Sparse Bayesian Learning and the Relevance Vector Machine", Journal of Machine Learning
           Research 1, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> model = ARDRegression().fit(X, 3.0 * X[:, 1] + 0.1 * rng.normal(size=100))
    >>> model.coef_.round(1) + 0.0
    array([0., 3., 0., 0.])
    """

    __learnt_schema__ = Schema(
        params={"threshold_lambda": number()},
        state={**LINE, **_EVIDENCE, "lambda_": real("d"), "sigma_": real("k", "k")},
        extra=_EVIDENCE_EXTRA,
        rule=_covariance_of_kept,
    )
    __learnt_trial__ = Trial(quick={"tol": 1e-8}, weight_unit_free=False)

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1.0e-3,
        alpha_1: float = 1.0e-6,
        alpha_2: float = 1.0e-6,
        lambda_1: float = 1.0e-6,
        lambda_2: float = 1.0e-6,
        compute_score: bool = False,
        threshold_lambda: float = 1.0e4,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool | int = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.compute_score = compute_score
        self.threshold_lambda = threshold_lambda
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ARDRegression:
        """Find α and the λ_j, and the posterior they give; a row of weight 2 counts as two rows."""
        self._check_parameters()
        check_number(self, "threshold_lambda", 0)
        rows = self._rows(X, y, sample_weight, min_rows=2)
        data = Evidence(rows, self.fit_intercept)
        d = len(data.cross)
        noise, precision = 1.0 / (data.y_variance + _EPS), np.ones(d)
        kept, coef = np.ones(d, dtype=bool), np.zeros(d)
        scores: list[float] = []
        last, change, n_iter = None, np.inf, 0
        while n_iter < self.max_iter:
            n_iter += 1
            sigma, coef = _posterior(data, noise, precision, kept)
            sse = data.residual(coef)
            gamma = 1.0 - precision[kept] * np.diag(sigma)
            precision[kept] = (gamma + 2 * self.lambda_1) / (coef[kept] ** 2 + 2 * self.lambda_2)
            noise = (data.weight - float(gamma.sum()) + 2 * self.alpha_1) / (sse + 2 * self.alpha_2)
            kept = precision < self.threshold_lambda
            coef[~kept] = 0.0
            if self.compute_score:
                scores.append(self._score(data, noise, precision, coef, sse, sigma))
            change = np.inf if last is None else float(np.abs(last - coef).sum())
            if change < self.tol or not kept.any():
                break
            last = coef
        else:
            self._warn(change)
        sigma, coef = _posterior(data, noise, precision, kept)
        self._record(rows, data, coef, noise, scores, n_iter)
        self.lambda_ = precision.astype(self.X_offset_.dtype)
        self.sigma_ = sigma.astype(self.X_offset_.dtype)
        return self

    def _covariance(self) -> Any:
        kept = np.flatnonzero(self.lambda_ < self.threshold_lambda)
        full = np.zeros((len(self.lambda_), len(self.lambda_)))
        full[np.ix_(kept, kept)] = self.sigma_
        return full

    def _score(
        self, data: Evidence, noise: float, precision: np.ndarray, coef: np.ndarray, sse: float, sigma: np.ndarray
    ) -> float:
        log = float((self.lambda_1 * np.log(precision) - self.lambda_2 * precision).sum())
        log += self.alpha_1 * np.log(noise) - self.alpha_2 * noise
        log += 0.5 * (np.linalg.slogdet(sigma)[1] + data.weight * np.log(noise) + float(np.log(precision).sum()))
        return float(log - 0.5 * (noise * sse + float((precision * coef**2).sum())))


def _posterior(data: Evidence, noise: float, precision: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the kept coefficients, and the mean of all."""
    coef = np.zeros(len(precision))
    if not kept.any():
        return np.empty((0, 0)), coef
    A = noise * data.gram[np.ix_(kept, kept)]
    A[np.diag_indices_from(A)] += precision[kept]
    sigma = inverse(A)
    coef[kept] = noise * (sigma @ data.cross[kept])
    return sigma, coef
