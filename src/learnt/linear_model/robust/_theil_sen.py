"""Theil–Sen regression: the median of the planes through few rows each."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import binom
from sklearn.exceptions import ConvergenceWarning

from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import RegressorMixin
from learnt.engine.params import check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import Schema, count, number
from learnt.engine.threads import for_blocks
from learnt.engine.validation import check_fit
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model._schema import LINE, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.robust._spatial_median import spatial_median

_GRAIN = 512  # subsets a task
_EPS = float(np.finfo(float).eps)
_TRUSTED = 1e8  # condition up to which elimination is as good as the singular values


class TheilSenRegressor(LinearPredictor, RegressorMixin, Estimator):
    """Least squares of every small subset of rows; the spatial median of their coefficients.

    With subsets as small as determine the coefficients, it withstands the largest share of outliers, in X or y: about
    29 % of the rows with one column, fewer with more columns. Take it for one or a few columns.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the intercept c. Choose False only where y is known to be 0 at x = 0, or where X and y are
        centred already.
    max_subpopulation : int, default=10000
        The most subsets. Where there are more, a random sample of so many is taken; more of them vary less and take
        longer.
    n_subsamples : int or None, default=None
        The rows of a subset, at least as many as coefficients; None for just as many, which is the most robust. More
        rows mean less noise and less robustness.
    max_iter : int, default=300
        The most steps to the spatial median.
    tol : float, default=1e-3
        Stop when a step is shorter.
    random_state : int, RandomState or None, default=None
        Where the random subsets come from. Pass an integer to get the same result every time.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients b.
    intercept_ : float
        The intercept c; 0.0 with `fit_intercept=False`.
    breakdown_ : float
        The share of outliers that it withstands, about.
    n_iter_ : int
        Steps to the median.
    n_subpopulation_ : int
        How many subsets there were.

    See Also
    --------
    HuberRegressor : Quicker, for outliers in y and any number of columns.
    RANSACRegressor : Withstands more outliers, with a threshold for what one is.
    QuantileRegressor : Least absolute errors.

    Notes
    -----
    A subset of m rows costs O(m d²) for d columns. The number of subsets is that of ways to choose m rows of n, so that
    all are taken only of small tables. Columns should have like units, since the spatial median is one of distances.

    References
    ----------
    .. [1] P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", Journal of the American
           Statistical Association 63, 1968.
    .. [2] X. Dang, H. Peng, X. Wang and H. Zhang, "Theil-Sen Estimators in a Multiple Linear Regression Model", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2.0 * X[:, 0] + 1.0
    >>> y[3] = 100.0
    >>> model = TheilSenRegressor(random_state=0, tol=1e-9).fit(X, y)
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([2.]), 1.0)
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT,
        state=LINE,
        extra={"breakdown_": number(), "n_iter_": count(), "n_subpopulation_": count(1)},
        rule=one_intercept_a_target,
    )
    # subsets are drawn by number of row
    __learnt_trial__ = Trial(quick={"random_state": 0, "max_subpopulation": 500}, any_order=False)

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_subpopulation: float = 1e4,
        n_subsamples: int | None = None,
        max_iter: int = 300,
        tol: float = 1.0e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_subpopulation = max_subpopulation
        self.n_subsamples = n_subsamples
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> TheilSenRegressor:
        """Fit the subsets and take the median of their coefficients."""
        check_flag(self, "fit_intercept")
        check_number(self, "max_subpopulation", 1)
        check_number(self, "n_subsamples", 1, integer=True, also=(None,))
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "tol", 0)
        random = random_state_of(self.random_state)
        X, y, _ = check_fit(self, X, y, target="number")
        n = len(X)
        size = self._subset_size(*X.shape)
        every = max(1.0, float(np.rint(binom(n, size))))
        self.n_subpopulation_ = int(min(self.max_subpopulation, every))
        # with half of the subsets free of outliers, so many rows may be outliers
        self.breakdown_ = 1.0 - (0.5 ** (1.0 / size) * (n - size + 1) + size - 1) / n
        if every <= self.max_subpopulation:
            subsets = np.array(list(combinations(range(n), size)), dtype=np.int64)
        else:
            subsets = np.array([random.choice(n, size, replace=False) for _ in range(self.n_subpopulation_)])
        A = np.ones((n, X.shape[1] + bool(self.fit_intercept)))
        A[:, bool(self.fit_intercept) :] = X
        targets = y.astype(np.float64)

        def solve(lo: int, hi: int) -> np.ndarray:
            return least_squares_each(A[subsets[lo:hi]], targets[subsets[lo:hi]])

        planes = np.concatenate(for_blocks(solve, len(subsets), grain=_GRAIN, n_jobs=self.n_jobs))
        coef, self.n_iter_, converged = spatial_median(planes, int(self.max_iter), float(self.tol))
        if not converged:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached in spatial median for TheilSen regressor: its "
                f"last step was longer than tol={self.tol:g}; raise max_iter or tol, or scale the columns.",
                ConvergenceWarning,
                stacklevel=2,
            )
        coef = coef.astype(X.dtype)
        self.intercept_ = coef[0] if self.fit_intercept else 0.0
        self.coef_ = coef[1:] if self.fit_intercept else coef
        return self

    def _subset_size(self, n: int, d: int) -> int:
        """How many rows a subset has."""
        unknowns = d + bool(self.fit_intercept)
        size = self.n_subsamples
        if size is None:
            return min(unknowns, n)
        if size > n:
            raise ValueError(f"Invalid parameter since n_subsamples > n_samples ({size} > {n}): lower n_subsamples.")
        if n >= d and unknowns > size:
            plus = "+1" if self.fit_intercept else ""
            raise ValueError(
                f"Invalid parameter since n_features{plus} > n_subsamples ({unknowns} > {size}): raise n_subsamples."
            )
        if n < d and size != n:
            raise ValueError(
                f"Invalid parameter since n_subsamples != n_samples ({size} != {n}) while n_samples < n_features: "
                "leave n_subsamples at None."
            )
        return int(size)


def least_squares_each(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The shortest b that minimises ‖Ab − y‖, for every table A (k, m, p) and y (k, m).

    Square tables are solved by elimination, with the inverse along to know the condition; those that are nearly
    singular, and others, by singular values.

    >>> least_squares_each(np.array([[[1.0, 0.0], [1.0, 1.0]]]), np.array([[1.0, 3.0]]))
    array([[1., 2.]])
    """
    k, m, p = A.shape
    if m != p:
        return _by_singular_values(A, y)
    right = np.concatenate([y[:, :, None], np.broadcast_to(np.eye(m), (k, m, m))], axis=2)
    try:
        found = np.linalg.solve(A, right)
    except np.linalg.LinAlgError:  # one of them is singular
        return _by_singular_values(A, y)
    condition = np.abs(A).sum(axis=2).max(axis=1) * np.abs(found[:, :, 1:]).sum(axis=2).max(axis=1)
    b = found[:, :, 0]
    poor = ~(condition < _TRUSTED)
    if poor.any():
        b[poor] = _by_singular_values(A[poor], y[poor])
    return b


def _by_singular_values(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    U, s, V = np.linalg.svd(A, full_matrices=False)
    along = np.einsum("kmr,km->kr", U, y)
    kept = s > _EPS * s[:, :1]
    return np.einsum("krp,kr->kp", V, np.divide(along, s, out=np.zeros_like(along), where=kept))
