"""The elastic net and the lasso."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import to_numpy
from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.matrices import on_host
from learnt.engine.mixins import MultiOutputMixin, RegressorMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit
from learnt.linear_model._base import LinearPredictor, is_single, record_coefficients
from learnt.linear_model._schema import LINES, SWEEPS, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.coordinate._given import given
from learnt.linear_model.coordinate._lasso_path import enet_path
from learnt.linear_model.coordinate._path import make_problem, solve_directly, solve_path, unpacked
from learnt.linear_model.coordinate._problem import gathered


def sparse_coefficients(model: Any) -> Any:
    """`coef_` as a sparse array, in which zeros take no room."""
    return sparse.csr_array(np.atleast_2d(to_numpy(model.coef_)))


class ElasticNet(MultiOutputMixin, LinearPredictor, RegressorMixin, Estimator):
    """Least squares with few weights:  min over b, c of  1/(2n) ‖y − Xb − c‖² + α (ρ‖b‖₁ + (1 − ρ)/2 ‖b‖²).

    The absolute part of the penalty sets coefficients to exactly 0, the squared part keeps correlated columns together.
    Take it where columns are many, most are useless, and the useful ones come in correlated groups, of which the lasso
    would keep one at random.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and more coefficients of 0,
        smaller ones risk overfitting. It depends on the units of y. Let `ElasticNetCV` choose where it is not known;
        for 0 take `LinearRegression`.
    l1_ratio : float, default=0.5
        ρ, the share of the absolute in the penalty, between 0 and 1: 1 is the lasso, with fewest columns; 0 is ridge
        regression, with all; in between, correlated columns come and go together.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        XᵀX of the centred columns, where it is known already. True and False make no difference: the shape of X decides
        what is computed.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖y − ȳ‖²/n. Smaller values
        give more exact coefficients and take longer.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if they have the same shape: saves time on a path of
        penalties or slowly changing data.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    sparse_coef_ : sparse array of shape (1, n_features) or (n_targets, n_features)
        `coef_` as a sparse array, in which zeros take no room.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        Sweeps over the coefficients, for each target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        The objective is at most this far above its minimum.

    See Also
    --------
    ElasticNetCV : Chooses alpha and l1_ratio by cross-validation.
    Lasso : The same with l1_ratio=1.
    Ridge : The same with l1_ratio=0, with an alpha of n times this one.
    MultiTaskElasticNet : Several targets that use the same columns.
    SGDRegressor : Learns row by row, with `partial_fit`.

    Notes
    -----
    Coordinate descent on the columns that matter, with a duality gap over all columns as the proof. A sweep costs at
    most O(n d) for n rows and d columns, or O(d²) once the inner products of the columns are known. Columns should have
    like units (`StandardScaler`), since the penalty sees their coefficients. Rows may have weights, which then stand in
    the sum of squares and for n. With an L1 penalty of 0 the closed form of ridge regression is used.

    References
    ----------
    .. [1] H. Zou and T. Hastie, "Regularization and Variable Selection via the Elastic Net", Journal of the Royal
           Statistical Society B 67(2), 2005.
    .. [2] J. Friedman, T. Hastie and R. Tibshirani, "Regularization Paths for Generalized Linear Models via Coordinate
           Descent", Journal of Statistical Software 33(1), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> model = ElasticNet(alpha=0.5).fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_, float(model.intercept_)
    (array([1.5, 0. ]), 1.75)
    """

    __learnt_schema__ = Schema(params=WITH_INTERCEPT, state=LINES, extra=SWEEPS, rule=one_intercept_a_target)
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-10}, warmup=(Warm("amount", {"alpha": 0.1}),))

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> ElasticNet:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number to predict for each row, or several.
        """
        check_parameters(self)
        X, y, w = check_fit(self, X, y, sample_weight, target="numbers")
        if not on_host(X):
            return self._fit_rows(as_rows(X, y, w), is_single(y))
        X, Y = unpacked(X), y[:, None] if y.ndim == 1 else y
        with single_blas():
            problem = given(self, X, Y, w) or make_problem(X, Y, w, self.fit_intercept, 1)
            paths = self._solve_all(problem, as_rows(X, Y, w))
        self._record(problem, paths, X.dtype, y.ndim == 1)
        return self

    def _fit_rows(self, rows: Any, single: bool) -> ElasticNet:
        """The same from sums over rows that are not in memory, or on another device."""
        if not isinstance(self.precompute, bool | np.bool_ | str):
            raise ValueError("precompute is a matrix, which needs X as an array in memory; leave it at False.")
        with single_blas():
            problem = gathered(rows, self.fit_intercept)
            coef, intercept = self._note(problem, self._solve_all(problem, rows))
        record_coefficients(self, coef, intercept, rows, single, flat=True)
        return self

    def _solve_all(self, problem: Any, rows: Any) -> list:
        """The solution for each target."""
        if self.alpha * self.l1_ratio == 0 and not self.positive:
            return solve_directly(problem, rows, self.alpha, self.fit_intercept, tasks=False)
        return [self._solve(problem, k) for k in range(problem.q.shape[1])]

    def _solve(self, problem: Any, target: int) -> Any:
        return solve_path(
            problem,
            target,
            np.array([self.alpha]),
            float(self.l1_ratio),
            positive=self.positive,
            start=last_coefficients(self, problem, target),
            tol=self.tol,
            max_iter=self.max_iter,
            name=type(self).__name__,
        )

    def _record(self, problem: Any, paths: list, dtype: Any, single: bool) -> None:
        coef, intercept = self._note(problem, paths)
        self.coef_ = np.ascontiguousarray(coef.T if len(paths) > 1 else coef[:, 0], dtype=dtype)
        if self.fit_intercept:
            self.intercept_ = dtype.type(intercept[0]) if single else intercept.astype(dtype)
        else:
            self.intercept_ = 0.0

    def _note(self, problem: Any, paths: list) -> tuple[np.ndarray, np.ndarray]:
        """How the solutions were found; returns coefficients (p, targets) and intercepts."""
        coef = np.column_stack([path.coefs[:, 0] for path in paths])
        gaps = np.array([path.gaps[0] for path in paths])
        self.n_iter_ = [path.n_iters[0] for path in paths] if len(paths) > 1 else paths[0].n_iters[0]
        self.dual_gap_ = gaps if len(paths) > 1 else gaps[0]
        return coef, problem.y_mean - problem.x_mean @ coef

    sparse_coef_ = property(sparse_coefficients)


class Lasso(ElasticNet):
    """Least squares with few weights:  min over b, c of  1/(2n) ‖y − Xb − c‖² + α‖b‖₁.

    The penalty shrinks all coefficients and sets many to exactly 0: a regression and a choice of columns at once. Take
    it where only a few of many columns matter; where these are strongly correlated, `ElasticNet` chooses more stably.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and more coefficients of 0,
        smaller ones risk overfitting. It depends on the units of y. Let `LassoCV` choose where it is not known; for 0
        take `LinearRegression`.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        XᵀX of the centred columns, where it is known already. True and False make no difference: the shape of X decides
        what is computed.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖y − ȳ‖²/n. Smaller values
        give more exact coefficients and take longer.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if they have the same shape: saves time on a path of
        penalties or slowly changing data.
    positive : bool, default=False
        Keep all coefficients at 0 or more, where a negative effect makes no sense.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients b; a row for each target where y has several columns.
    sparse_coef_ : sparse array of shape (1, n_features) or (n_targets, n_features)
        `coef_` as a sparse array, in which zeros take no room.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept c, or one for each target; 0.0 with `fit_intercept=False`.
    n_iter_ : int or list of int
        Sweeps over the coefficients, for each target.
    dual_gap_ : float or ndarray of shape (n_targets,)
        The objective is at most this far above its minimum.

    See Also
    --------
    LassoCV : Chooses alpha by cross-validation.
    ElasticNet : Adds a squared penalty, which keeps correlated columns together.
    LassoLars : Follows the exact path from bend to bend.
    Ridge : A squared penalty alone, which keeps all columns.
    lasso_path : The coefficients at every penalty of a grid.

    Notes
    -----
    Coordinate descent on the columns that matter, with a duality gap over all columns as the proof. A sweep costs at
    most O(n d) for n rows and d columns, or O(d²) once the inner products of the columns are known. Columns should have
    like units (`StandardScaler`), since the penalty sees their coefficients. Rows may have weights, which then stand in
    the sum of squares and for n. With an L1 penalty of 0 the closed form of ridge regression is used.

    References
    ----------
    .. [1] R. Tibshirani, "Regression Shrinkage and Selection via the Lasso", Journal of the Royal Statistical Society B
           58(1), 1996.
    .. [2] J. Friedman, T. Hastie and R. Tibshirani, "Regularization Paths for Generalized Linear Models via Coordinate
           Descent", Journal of Statistical Software 33(1), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> model = Lasso(alpha=0.5).fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_, float(model.intercept_)
    (array([1.6, 0. ]), 1.6)
    """

    __learnt_trial__ = Trial(
        quick={"tol": 1e-10}, warmup=(Warm("amount", {"alpha": 0.1}), Warm("amount", {"alpha": 0.1}, sparse=True))
    )

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


def check_parameters(estimator: Any) -> None:
    """The parameters that all these models share."""
    check_number(estimator, "alpha", 0, high=np.finfo(float).max)
    check_number(estimator, "l1_ratio", 0, 1)
    check_number(estimator, "tol", 0)
    check_number(estimator, "max_iter", 1, integer=True, also=(None,))
    check_flag(estimator, "fit_intercept", "copy_X", "warm_start")
    check_choice(estimator, "selection", ("cyclic", "random"))
    if hasattr(estimator, "positive"):
        check_flag(estimator, "positive")
    if estimator.alpha == 0:
        warnings.warn(
            "With alpha=0, this algorithm does not converge well. You are advised to use the LinearRegression "
            f"estimator: without a penalty {type(estimator).__name__} is plain least squares.",
            stacklevel=3,
        )


def last_coefficients(estimator: Any, problem: Any, target: int | None) -> np.ndarray | None:
    """Where to start with `warm_start`: (p,) for one target, (p, k) for all; None for 0."""
    coef = getattr(estimator, "coef_", None) if estimator.warm_start else None
    if coef is None or np.atleast_2d(to_numpy(coef)).shape != problem.q.T.shape:
        return None
    coef = np.atleast_2d(to_numpy(coef)).astype(np.float64)
    return coef.T.copy() if target is None else coef[target].copy()
