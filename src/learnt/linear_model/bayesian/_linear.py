"""Bayesian linear regression with a prior of your own, or one found by the evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from learnt.engine.arrays import to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import ParameterError, check_flag, check_number
from learnt.engine.random import generator
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.linalg import decompositions
from learnt.linalg.spectrum import scatter_spectrum
from learnt.linear_model._base import LinearPredictor, record_coefficients
from learnt.linear_model._schema import LINE, one_intercept_a_target
from learnt.linear_model.bayesian._evidence import Evidence, Marginal, mean_and_deviation

_SPAN, _STEPS = 40.0, 161  # a grid over e^±40 around the natural scale, whose best interval is refined
_LARGEST = 1e200


class BayesianLinearRegression(LinearPredictor, RegressorMixin, Estimator):
    """The whole posterior of linear regression:  y ~ N(Xb + c, σ²),  b ~ N(m, τ²S).

        covariance  V = (XᵀX/σ² + S⁻¹/τ²)⁻¹        mean  V (Xᵀy/σ² + S⁻¹m/τ²)

    For predictions with honest standard deviations, for prior knowledge about coefficients (m, S), and to compare
    models by their evidence. With m = 0 and S = I the mean is the ridge solution with α = σ²/τ², that is λ = σ²/(nτ²)
    where the loss is averaged over n rows. X and y are centred: the intercept is, like variances that are not given,
    chosen by the evidence.

    Parameters
    ----------
    noise_variance : float or None, default=None
        σ², greater than 0; None for the value of the largest evidence.
    prior_variance : float or None, default=None
        τ², greater than 0: smaller values mean more shrinkage towards m. None for the value of the largest evidence.
    prior_mean : array-like of shape (n_features,) or None, default=None
        m, the coefficients expected beforehand; None for zeros.
    prior_shape : array-like of shape (n_features, n_features) or (n_features,), or None, default=None
        S, or its diagonal: which coefficients may be large, and which go together; None for the identity.
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Mean of the posterior of the coefficients.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance of the posterior.
    noise_variance_ : float
        σ², given or found.
    prior_variance_ : float
        τ², given or found.
    log_evidence_ : float
        log p(y | X, σ², τ²), to compare models by: the higher, the better.
    effective_dimension_ : float
        How many directions the data, and not the prior, decide: trace(V XᵀX)/σ².
    offset_ : ndarray of shape (n_features,)
        Means of the columns.

    See Also
    --------
    BayesianRidge : scikit-learn's parameters, with gamma priors on the two precisions.
    ARDRegression : A prior variance for each column, which leaves out useless ones.
    Ridge : The mean of the posterior alone, with the strength given.
    learnt.gaussian_process.GaussianProcessRegressor : The posterior of nonlinear functions.

    Notes
    -----
    Everything follows from sums over rows: O(n d²) for n rows and d columns, and one eigendecomposition of O(d³), which
    serves all variances that are tried. A row of weight 2 counts as two rows.

    References
    ----------
    .. [1] D. J. C. MacKay, "Bayesian Interpolation", Neural Computation 4(3), 1992.
    .. [2] C. M. Bishop, "Pattern Recognition and Machine Learning", chapter 3, Springer, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0])
    >>> model = BayesianLinearRegression(noise_variance=5.0, prior_variance=1.0).fit(X, y)
    >>> model.coef_, model.covariance_
    (array([1.]), array([[0.5]]))
    >>> mean, deviation = model.predict(np.array([[1.5]]), return_std=True)
    >>> mean, deviation.round(3)
    (array([4.]), array([2.236]))
    """

    __learnt_schema__ = Schema(
        state={
            **LINE,
            "covariance_": real("d", "d"),
            "offset_": real("d"),
            "noise_variance_": number(above=0),
            "prior_variance_": number(above=0),
        },
        extra={"log_evidence_": number(), "effective_dimension_": number()},
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(tensors=True, lazy=True)
    __learnt_trial__ = Trial(weight_unit_free=False)

    def __init__(
        self,
        *,
        noise_variance: float | None = None,
        prior_variance: float | None = None,
        prior_mean: Any = None,
        prior_shape: Any = None,
        fit_intercept: bool = True,
    ) -> None:
        self.noise_variance = noise_variance
        self.prior_variance = prior_variance
        self.prior_mean = prior_mean
        self.prior_shape = prior_shape
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianLinearRegression:
        """Find the posterior, and the variances that were not given; a row of weight 2 counts as two rows."""
        check_flag(self, "fit_intercept")
        check_number(self, "noise_variance", 0, open_low=True, also=(None,))
        check_number(self, "prior_variance", 0, open_low=True, also=(None,))
        X, y, w = check_fit(self, X, y, sample_weight, target="number")
        rows = as_rows(X, y, w)
        mean, root = self._prior(rows.n_features)
        data = Evidence(rows, self.fit_intercept)
        _refuse_huge(np.abs(data.gram).max(initial=0.0), np.abs(data.cross).max(initial=0.0))
        # In the prior's own units, u = S^(−1/2)(b − m), the prior is N(0, τ²I).
        with single_blas():
            values, vectors = scatter_spectrum(root.T @ data.gram @ root)
            along = vectors.T @ (root.T @ (data.cross - data.gram @ mean))
            seen = values > 0
            along[~seen] = 0.0  # rounding error, which a noise near 0 would amplify
            shares = along[seen] ** 2 / values[seen]
            half = root @ vectors
            # the part of y outside the column space of X
            rest = data.residual(mean + half[:, seen] @ (along[seen] / values[seen]))
            explained = float(shares.sum())
            _refuse_huge(explained + rest)
            rest = rest if rest > 1e-12 * explained else 0.0  # only rounding error, where the fit is exact
            marginal = Marginal(values[seen], shares, explained + rest, _rows_left(data.weight, int(seen.sum()), self))
            noise, prior = self._variances(marginal)
            spread = 1.0 / (values / noise + 1.0 / prior)
            coef = mean + half @ (spread * along / noise)
            covariance = (half * spread) @ half.T
        record_coefficients(self, coef[:, None], data.intercept(coef), rows, True)
        self.covariance_, self.offset_ = covariance, data.moments.x_mean
        self.noise_variance_, self.prior_variance_ = noise, prior
        self.log_evidence_ = -0.5 * marginal(noise, prior)
        self.effective_dimension_ = float((values * spread).sum() / noise)
        return self

    def _prior(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """The prior mean, and a square root of its shape."""
        mean = np.zeros(d) if self.prior_mean is None else np.asarray(self.prior_mean, dtype=np.float64)
        shape = np.ones(d) if self.prior_shape is None else np.asarray(self.prior_shape, dtype=np.float64)
        if mean.shape != (d,) or not np.isfinite(mean).all():
            raise ParameterError(f"prior_mean needs {d} finite numbers, one a column; its shape is {mean.shape}.")
        if shape.shape == (d,) and (shape > 0).all() and np.isfinite(shape).all():
            return mean, np.diag(np.sqrt(shape))
        if shape.shape == (d, d) and np.allclose(shape, shape.T):
            try:
                return mean, linalg.cholesky(shape, lower=True)
            except (linalg.LinAlgError, ValueError):
                pass
        raise ParameterError(
            f"prior_shape needs {d} numbers above 0, or a symmetric positive definite matrix of {d} × {d}; "
            f"its shape is {shape.shape}."
        )

    def _variances(self, marginal: Marginal) -> tuple[float, float]:
        """σ² and τ²: given, or at the maximum of the evidence, which has one variable left in every case."""
        # Where the fit is exact the best noise is 0: take the least that makes sense in float64.
        floor = max(1e-10 * marginal.squares / marginal.n, 1e-200)
        scale = max(float(marginal.values.mean()), 1e-200) if marginal.values.size else 1.0
        if self.noise_variance is not None and self.prior_variance is not None:
            return float(self.noise_variance), float(self.prior_variance)
        if self.noise_variance is not None:
            noise = float(self.noise_variance)
            return noise, _lowest(lambda v: marginal(noise, v), lambda v: marginal.slopes(noise, v)[1], noise / scale)
        if self.prior_variance is not None:
            prior, start = float(self.prior_variance), max(marginal.squares / marginal.n, floor)
            noise = _lowest(
                lambda v: marginal(max(v, floor), prior), lambda v: marginal.slopes(max(v, floor), prior)[0], start
            )
            return max(noise, floor), prior

        def pair(ratio: float) -> tuple[float, float]:
            noise = max(marginal.best_noise(ratio), floor)
            return noise, noise / ratio

        # At the best noise of a ratio only the prior changes with it. There may be two minima, one of which explains
        # only the columns in the largest units.
        least = max(float(marginal.values.min()), 1e-200) if marginal.values.size else scale
        return min(
            (
                pair(_lowest(lambda v: marginal(*pair(v)), lambda v: -marginal.slopes(*pair(v))[1], start))
                for start in (scale, least)
            ),
            key=lambda found: marginal(*found),
        )

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of y for every row of X and, if asked for, the standard deviation of a new y there.

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
        return mean_and_deviation(self, X, self.offset_, self.covariance_, self.noise_variance_)

    def sample_coefficients(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of b from the posterior, one a row.

        Parameters
        ----------
        n_samples : int, default=1
            The number of draws.

        Returns
        -------
        coefs : ndarray of shape (n_samples, n_features)
            The coefficients drawn.
        """
        check_predict(self, np.zeros((1, getattr(self, "n_features_in_", 1))))
        values, vectors = decompositions.eigh(self.covariance_)
        normal = generator(random_state).standard_normal((n_samples, len(values)))
        return to_numpy(self.coef_).astype(np.float64) + (normal * np.sqrt(np.clip(values, 0, None))) @ vectors.T


def _refuse_huge(*sums: float) -> None:
    if not max(sums) <= _LARGEST:  # also where one is NaN
        raise ValueError(
            f"Sums of squares and products of X and y exceed {_LARGEST:g}, where variances can no longer be told apart "
            "in float64; bring columns and target to ordinary units first."
        )


def _rows_left(weight: float, rank: int, model: Any) -> float:
    """The number of rows in the evidence.

    One less, for the intercept, where the rank of X is that of the centred rows.
    """
    return max(weight - 1.0, 1.0) if model.fit_intercept and rank >= weight - 1.0 else weight


def _lowest(function: Any, slope: Any, scale: float) -> float:
    """The lowest point of a function of a positive number: over a wide grid, then where the slope is 0 next to it."""
    grid = np.linspace(-_SPAN, _SPAN, _STEPS) + np.log(scale)
    at = int(np.argmin([function(float(np.exp(x))) for x in grid]))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, _STEPS - 1)]
    if slope(float(np.exp(low))) < 0 < slope(float(np.exp(high))):
        return float(np.exp(brentq(lambda x: slope(float(np.exp(x))), low, high, xtol=1e-14)))
    return float(np.exp(grid[at]))
