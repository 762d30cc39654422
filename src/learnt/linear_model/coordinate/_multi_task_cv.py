"""Elastic net and lasso for several targets, with their penalty chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace

from learnt.engine.estimator import Trial, Warm
from learnt.engine.schema import number
from learnt.linear_model._schema import CHOSEN
from learnt.linear_model.coordinate._elastic_net_cv import PathCV
from learnt.linear_model.coordinate._lasso_path import enet_path, lasso_path
from learnt.linear_model.coordinate._multi_task import MultiTaskElasticNet, MultiTaskLasso


class MultiTaskElasticNetCV(PathCV):
    """`MultiTaskElasticNet` with α, and ρ where several are given, chosen by cross-validation.

    Parameters
    ----------
    l1_ratio, eps, alphas, fit_intercept, max_iter, tol, cv, copy_X, verbose, n_jobs, random_state, selection
        As in `ElasticNetCV`.

    Attributes
    ----------
    alpha_, l1_ratio_, coef_, intercept_, n_iter_, dual_gap_, mse_path_, alphas_
        As in `ElasticNetCV`; `coef_` has a row for each target.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> Y = X[:, :1] * np.array([3.0, 4.0]) + rng.normal(size=(60, 2))
    >>> model = MultiTaskElasticNetCV().fit(X, Y)
    >>> np.flatnonzero(np.abs(model.coef_[0]) > 1)
    array([0])
    """

    __learnt_schema__ = replace(PathCV.__learnt_schema__, extra={**CHOSEN, "l1_ratio_": number(0)})
    __learnt_trial__ = Trial(quick={"alphas": 20}, warmup=(Warm("two amounts", {"cv": 3, "alphas": 5}),))

    path = staticmethod(enet_path)
    _together = True

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

    def _model(self, alpha: float, ratio: float) -> MultiTaskElasticNet:
        shared = ("fit_intercept", "max_iter", "tol", "selection", "random_state")
        return MultiTaskElasticNet(alpha, l1_ratio=ratio, **{name: getattr(self, name) for name in shared})


class MultiTaskLassoCV(PathCV):
    """`MultiTaskLasso` with α chosen by cross-validation.

    Parameters
    ----------
    eps, alphas, fit_intercept, max_iter, tol, copy_X, cv, verbose, n_jobs, random_state, selection
        As in `ElasticNetCV`.

    Attributes
    ----------
    alpha_, coef_, intercept_, n_iter_, dual_gap_, mse_path_, alphas_
        As in `ElasticNetCV`; `coef_` has a row for each target.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> Y = X[:, :1] * np.array([3.0, 4.0]) + rng.normal(size=(60, 2))
    >>> np.flatnonzero(np.abs(MultiTaskLassoCV().fit(X, Y).coef_[1]) > 1)
    array([0])
    """

    __learnt_trial__ = Trial(quick={"alphas": 20}, warmup=(Warm("two amounts", {"cv": 3, "alphas": 5}),))

    path = staticmethod(lasso_path)
    _together = True

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=100,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

    def _model(self, alpha: float, ratio: float) -> MultiTaskLasso:
        shared = ("fit_intercept", "max_iter", "tol", "selection", "random_state")
        return MultiTaskLasso(alpha, **{name: getattr(self, name) for name in shared})
