"""Total least squares: errors in X as well as in y."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.engine.arrays import to_numpy
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import ParameterError, check_flag
from learnt.engine.rows import Rows, as_rows
from learnt.engine.rows.blocks import Block
from learnt.engine.schema import Schema, anyof, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit
from learnt.linalg import decompositions
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import LINES, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.least_squares._directions import directions
from learnt.linear_model.least_squares._triangle import centred_triangle

_EPS = float(np.finfo(np.float64).eps)


class TotalLeastSquares(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """The smallest correction of X and Y that makes the equations hold:

        min over E, R, B, c of  ‖[E, R]‖²   such that  (X + E) B + c = Y + R.

    For columns of X that are measured with errors, as y is: ordinary least squares then finds slopes that are too small
    (attenuation). Points move at right angles to the fitted plane, so that x and y have equal rights: regressing x on y
    gives the same line. To predict y from an x with the same errors, `LinearRegression` is still better.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    noise : array-like of shape (n_features + n_targets,) or None, default=None
        Standard deviations of the errors in the columns of X and then Y, up to a common factor; None for equal ones.
        The result depends on it, and on the units of the columns where it is None. With one feature this is Deming
        regression.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    covariance_ : ndarray of shape (n_features, n_features) or (n_targets, n_features, n_features)
        Covariance of the coefficients, for many rows and normal errors; NaN where rows are no more than unknowns.
        Weights are taken as 1 / variance of a row's errors, up to a common factor.
    stderr_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Standard errors of the coefficients.
    sigma_ : float
        Standard deviation of the errors, in units of `noise`.
    singular_ : ndarray of shape (n_features + n_targets,)
        Singular values of the centred [X, Y], in units of `noise`; the squares of the last n_targets add up to the
        squared correction.

    See Also
    --------
    LinearRegression : Least squares with errors in y only.
    Ridge : Shrinks coefficients, where this makes them larger.
    learnt.decomposition.PCA : The directions of largest variance, where no column is the target.

    Notes
    -----
    The solution comes from the singular vectors of the centred [X, Y] with the smallest singular values: with these in
    the columns of [V₁; V₂], B = −V₁V₂⁻¹. Where columns of X are dependent, or rows too few, B is the shortest. The data
    are reduced to a triangular factor block by block, in O(n (d + k)²) time for n rows, d columns and k targets.

    References
    ----------
    .. [1] G. H. Golub and C. F. Van Loan, "An Analysis of the Total Least Squares Problem", SIAM Journal on Numerical
           Analysis 17(6), 1980.

    Examples
    --------
    The slope of y on x times that of x on y is 1:

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([0.0, 2.0, 1.0, 3.0])
    >>> slope = TotalLeastSquares().fit(X, y).coef_
    >>> back = TotalLeastSquares().fit(y[:, None], X[:, 0]).coef_
    >>> slope, slope * back
    (array([1.]), array([1.]))
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state={
            **LINES,
            "covariance_": anyof(real("d", "d", finite=False), real("t", "d", "d", finite=False)),
            "stderr_": anyof(real("d", finite=False), real("t", "d", finite=False)),
            "sigma_": number(finite=False),
            "singular_": real(None, low=0),
        },
        rule=one_intercept_a_target,
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)

    def __init__(self, *, fit_intercept: bool = True, noise: Any = None) -> None:
        self.fit_intercept = fit_intercept
        self.noise = noise

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TotalLeastSquares:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
        check_flag(self, "fit_intercept")
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        rows = as_rows(X, y, w)
        triangle = centred_triangle(rows, self.fit_intercept)
        x_mean, y_mean = triangle.x_mean, triangle.y_mean
        noise = self._noise(len(x_mean), len(y_mean))
        with single_blas():
            factor, rank = np.hstack([triangle.left, triangle.right]), directions(triangle, rows.dtype).rank
            found = solve(factor / noise, len(x_mean), rank, _count(rows) - bool(self.fit_intercept))
        scale_x, scale_y = noise[: len(x_mean)], noise[len(x_mean) :]
        coef = found.coef * scale_y / scale_x[:, None]
        record_coefficients(self, coef, y_mean - x_mean @ coef, rows, is_single(y))
        covariance = found.covariance * (scale_y**2)[:, None, None] / np.outer(scale_x, scale_x)
        stderr = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        self.covariance_, self.stderr_ = (covariance[0], stderr[0]) if is_single(y) else (covariance, stderr)
        self.sigma_, self.singular_ = found.sigma, found.singular
        return self

    def _noise(self, d: int, k: int) -> np.ndarray:
        if self.noise is None:
            return np.ones(d + k)
        try:
            noise = np.asarray(self.noise, dtype=np.float64)
        except (TypeError, ValueError):
            noise = np.empty(0)
        if noise.shape != (d + k,) or not (np.isfinite(noise).all() and (noise > 0).all()):
            raise ParameterError(
                f"The 'noise' parameter of TotalLeastSquares must be None or {d + k} positive numbers, one for each of "
                f"{d} columns of X and {k} of y. Got {self.noise!r} instead."
            )
        return noise


class Solution(NamedTuple):
    coef: np.ndarray  # (d, k)
    covariance: np.ndarray  # (k, d, d)
    sigma: float
    singular: np.ndarray  # (d + k,)


def solve(factor: np.ndarray, d: int, rank: int, n_free: int) -> Solution:
    """Total least squares from a triangular factor of the centred [X, Y], with equal errors in every column.

    X varies in `rank` directions. `n_free` is the number of rows, less one for an intercept.
    """
    k = factor.shape[1] - d
    X, Y = factor[:, :d], factor[:, d:]
    singular = np.zeros(d + k)
    values = decompositions.svd(factor, compute_uv=False)
    singular[: values.size] = values
    # Directions in which X does not vary are left out: they get no coefficient.
    basis = decompositions.svd(X, full_matrices=False)[2][:rank]
    reduced = np.hstack([X @ basis.T, Y])
    _, inner, vectors = decompositions.svd(reduced, full_matrices=True)
    r = len(basis)
    smallest = vectors[r:].T  # (r + k, k): the directions to correct along
    V1, V2 = smallest[:r], smallest[r:]
    closeness = decompositions.svd(V2, compute_uv=False)
    if closeness[-1] <= 1e3 * _EPS:
        raise ValueError(
            "TotalLeastSquares found no finite coefficients: the plane nearest to the points is parallel to y, because "
            "y varies where X does not; use LinearRegression, or say with noise= how exact X is."
        )
    within = -np.linalg.solve(V2.T, V1.T).T
    coef = basis.T @ within
    squares = float((inner[r:] ** 2).sum())  # none are left where rows are few
    dof = k * (n_free - r)
    variance = squares / dof if dof > 0 else np.nan
    return Solution(
        coef, basis.T @ _spread(X @ basis.T, within, squares / k, variance) @ basis, np.sqrt(variance), singular
    )


def _spread(X: np.ndarray, coef: np.ndarray, squares: float, variance: float) -> np.ndarray:
    """σ²(1 + ‖bⱼ‖²) [G⁻¹ + λ² G⁻¹(I + BBᵀ)⁻¹G⁻¹] for every target j, with G = XᵀX − λ²I the scatter of the true x."""
    r = X.shape[1]
    scatter = X.T @ X - squares * np.eye(r)
    try:
        inverse = np.linalg.inv(scatter)
    except np.linalg.LinAlgError:
        inverse = np.full((r, r), np.nan)
    errors = inverse @ np.linalg.solve(np.eye(r) + coef @ coef.T, inverse)
    lengths = 1.0 + (coef**2).sum(axis=0)
    return (variance * lengths)[:, None, None] * (inverse + squares * errors)


def _count(rows: Rows) -> int:
    """Rows of positive weight."""
    return int(rows.sum(_positive)[0])


def _positive(block: Block) -> tuple:
    if block.w is None:
        return (block.X.shape[0],)
    return (int(np.count_nonzero(to_numpy(block.w > 0))),)
