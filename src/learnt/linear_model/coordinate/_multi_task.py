"""Elastic net and lasso for several targets that share their columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
from learnt.engine.mixins import RegressorMixin
from learnt.engine.rows import as_rows
from learnt.engine.schema import Schema, number
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit
from learnt.linear_model._base import LinearPredictor
from learnt.linear_model._schema import LINES, SWEEPS, WITH_INTERCEPT, one_intercept_a_target
from learnt.linear_model.coordinate._elastic_net import check_parameters, last_coefficients, sparse_coefficients
from learnt.linear_model.coordinate._lasso_path import enet_path, lasso_path
from learnt.linear_model.coordinate._path import make_problem, solve_directly, solve_path, unpacked


class MultiTaskElasticNet(LinearPredictor, RegressorMixin, Estimator):
    """Several targets, each column used by all or by none:
    min over B, c of  1/(2n) ‖Y − XB − c‖² + α (ρ Σⱼ‖Bⱼ‖ + (1 − ρ)/2 ‖B‖²),  Bⱼ the weights of column j.

    For targets that depend on the same few columns, each in its own way: they then choose these together, which is more
    stable than choosing for each. The squared part of the penalty keeps correlated columns together.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and more coefficients of 0,
        smaller ones risk overfitting. It depends on the units of y. Let `MultiTaskElasticNetCV` choose where it is not
        known; for 0 take `LinearRegression`.
    l1_ratio : float, default=0.5
        ρ, the share of the norms ‖Bⱼ‖ in the penalty, between 0 and 1: 1 is `MultiTaskLasso`, with fewest columns; 0 is
        ridge regression, with all.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖Y − ȳ‖²/n. Smaller values
        give more exact coefficients and take longer.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if they have the same shape: saves time on a path of
        penalties or slowly changing data.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        The coefficients Bᵀ, a row for each target; a column of zeros for each column of X that is not used.
    intercept_ : ndarray of shape (n_targets,) or float
        The intercepts c; 0.0 with `fit_intercept=False`.
    sparse_coef_ : sparse array of shape (n_targets, n_features)
        `coef_` as a sparse array, in which zeros take no room.
    n_iter_ : int
        Sweeps over the columns.
    dual_gap_ : float
        The objective is at most this far above its minimum.
    eps_ : float
        The duality gap at which the fit stops, of the sum over rows.

    See Also
    --------
    MultiTaskElasticNetCV : Chooses alpha and l1_ratio by cross-validation.
    MultiTaskLasso : The same with l1_ratio=1.
    ElasticNet : One target, or several that choose columns for themselves.

    Notes
    -----
    Coordinate descent on whole columns, with a duality gap over all of them as the proof: O(n d k) a sweep for n rows,
    d columns and k targets at most. Rows may have weights, which then stand in the sum of squares and for n.

    References
    ----------
    .. [1] G. Obozinski, B. Taskar and M. I. Jordan, "Joint Covariate Selection and Joint Subspace Selection for
           Multiple Classification Problems", Statistics and Computing 20(2), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> Y = X[:, :1] * np.array([3.0, 4.0])
    >>> MultiTaskElasticNet(alpha=1.0, l1_ratio=1.0).fit(X, Y).coef_.round(2)
    array([[2.52, 0.  ],
           [3.36, 0.  ]])
    """

    __learnt_schema__ = Schema(
        params=WITH_INTERCEPT, state=LINES, extra={**SWEEPS, "eps_": number(0)}, rule=one_intercept_a_target
    )
    __learnt_takes__ = Takes(sparse=True)
    __learnt_trial__ = Trial(quick={"tol": 1e-10}, warmup=(Warm("two amounts", {"alpha": 0.1}),))

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultiTaskElasticNet:
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none.

        Parameters
        ----------
        y : array-like of shape (n_samples, n_targets)
            The numbers to predict for each row.
        """
        check_parameters(self)
        X, Y, w = check_fit(self, X, y, sample_weight, target="numbers")
        if Y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {type(self).__name__[9:]}: y has one number a row.")
        X = unpacked(X)
        with single_blas():
            problem = make_problem(X, Y, w, self.fit_intercept, 1, tasks=True)
            if self.alpha * self.l1_ratio == 0:
                (path,) = solve_directly(problem, as_rows(X, Y, w), self.alpha, self.fit_intercept, tasks=True)
            else:
                path = solve_path(
                    problem,
                    None,
                    np.array([self.alpha]),
                    float(self.l1_ratio),
                    start=last_coefficients(self, problem, None),
                    tol=self.tol,
                    max_iter=self.max_iter,
                    name=type(self).__name__,
                )
        coef = path.coefs[..., 0]
        self.coef_ = np.asfortranarray(coef.T, dtype=X.dtype)
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = (problem.y_mean - problem.x_mean @ coef).astype(X.dtype)
        self.dual_gap_, self.n_iter_ = path.gaps[0], path.n_iters[0]
        self.eps_ = self.tol * float(problem.squares.sum())
        return self

    sparse_coef_ = property(sparse_coefficients)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class MultiTaskLasso(MultiTaskElasticNet):
    """Several targets, each column used by all or by none:  min over B, c of  1/(2n) ‖Y − XB − c‖² + α Σⱼ‖Bⱼ‖.

    For targets that depend on the same few columns, each in its own way: they then choose these together, which is more
    stable than a `Lasso` for each.

    Parameters
    ----------
    alpha : float, default=1.0
        α, the regularisation strength, at least 0: larger values mean more shrinkage and more coefficients of 0,
        smaller ones risk overfitting. It depends on the units of y. Let `MultiTaskLassoCV` choose where it is not
        known; for 0 take `LinearRegression`.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖Y − ȳ‖²/n. Smaller values
        give more exact coefficients and take longer.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last `fit`, if they have the same shape: saves time on a path of
        penalties or slowly changing data.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        The coefficients Bᵀ, a row for each target; a column of zeros for each column of X that is not used.
    intercept_ : ndarray of shape (n_targets,) or float
        The intercepts c; 0.0 with `fit_intercept=False`.
    sparse_coef_ : sparse array of shape (n_targets, n_features)
        `coef_` as a sparse array, in which zeros take no room.
    n_iter_ : int
        Sweeps over the columns.
    dual_gap_ : float
        The objective is at most this far above its minimum.
    eps_ : float
        The duality gap at which the fit stops, of the sum over rows.

    See Also
    --------
    MultiTaskLassoCV : Chooses alpha by cross-validation.
    MultiTaskElasticNet : Adds a squared penalty, which keeps correlated columns together.
    Lasso : One target, or several that choose columns for themselves.

    Notes
    -----
    Coordinate descent on whole columns, with a duality gap over all of them as the proof: O(n d k) a sweep for n rows,
    d columns and k targets at most. Rows may have weights, which then stand in the sum of squares and for n.

    References
    ----------
    .. [1] G. Obozinski, B. Taskar and M. I. Jordan, "Joint Covariate Selection and Joint Subspace Selection for
           Multiple Classification Problems", Statistics and Computing 20(2), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> Y = X[:, :1] * np.array([3.0, 4.0])
    >>> MultiTaskLasso(alpha=1.0).fit(X, Y).coef_.round(2)
    array([[2.52, 0.  ],
           [3.36, 0.  ]])
    """

    path = staticmethod(lasso_path)

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
