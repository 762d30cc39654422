"""Elastic net and lasso for several targets that share their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from learnt.engine.estimator import Estimator, Takes, Trial, Warm
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

    Parameters
    ----------
    alpha, l1_ratio, fit_intercept, copy_X, max_iter, tol, warm_start, random_state, selection
        As in `ElasticNet`.

    Attributes
    ----------
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
    n_iter_ : int
    dual_gap_ : float
    eps_ : float
        The duality gap at which the fit stops, of the sum over rows.

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
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
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
        """Fit the coefficients; a row of weight 2 counts as two rows, one of weight 0 as none."""
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

    Parameters
    ----------
    alpha, fit_intercept, copy_X, max_iter, tol, warm_start, random_state, selection
        As in `ElasticNet`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, dual_gap_, eps_
        As in `MultiTaskElasticNet`.

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
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
