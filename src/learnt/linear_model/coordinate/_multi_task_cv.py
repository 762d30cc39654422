"""Elastic net and lasso for several targets, with their penalty chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from learnt.engine.estimator import Trial, Warm
from learnt.engine.schema import number
from learnt.linear_model._schema import CHOSEN
from learnt.linear_model.coordinate._elastic_net_cv import PathCV
from learnt.linear_model.coordinate._lasso_path import enet_path, lasso_path
from learnt.linear_model.coordinate._multi_task import MultiTaskElasticNet, MultiTaskLasso


class MultiTaskElasticNetCV(PathCV):
    """`MultiTaskElasticNet` with α, and ρ where several are given, chosen by cross-validation.

    For several targets that depend on the same few columns, where the regularisation strength is not known.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        ρ, the share of the norms ‖Bⱼ‖ in the penalty, or several to choose from: 1 is `MultiTaskLasso`, near 0 is like
        ridge regression. 0 itself needs penalties listed in `alphas`.
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
        Lower it where the smallest penalty is chosen.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties to try, spaced evenly in their logarithms, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖Y − ȳ‖²/n, for each
        penalty and fold.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    verbose : int, default=0
        Kept for scikit-learn's signature: nothing is printed.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    l1_ratio_ : float
        The ρ that was chosen with it.
    coef_ : ndarray of shape (n_targets, n_features)
        The coefficients Bᵀ, a row for each target; a column of zeros for each column of X that is not used.
    intercept_ : ndarray of shape (n_targets,) or float
        The intercepts c; 0.0 with `fit_intercept=False`.
    mse_path_ : ndarray of shape (n_l1_ratio, n_alphas, n_folds) or (n_alphas, n_folds)
        The mean squared error on the rows left out, by weight, for each ρ (where several are given), penalty and fold.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratio, n_alphas)
        The penalties that were tried, falling; a row for each ρ where several have grids of their own.
    dual_gap_ : float
        The objective of the last fit is at most this far above its minimum.
    n_iter_ : int
        Sweeps of the last fit, of all rows.

    See Also
    --------
    MultiTaskElasticNet : The same model with alpha and l1_ratio given.
    MultiTaskLassoCV : Chooses the penalty of the lasso of several targets.
    ElasticNetCV : The twin for one target.

    Notes
    -----
    Each fold follows the whole path of penalties, from the largest to the smallest, every solution starting from the
    one before; folds run on several threads. All rows are then fitted with the penalty of the lowest mean error.
    Weights count in the fits and in the errors.

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
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
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

    For several targets that depend on the same few columns, where the regularisation strength is not known.

    Parameters
    ----------
    eps : float, default=1e-3
        The smallest penalty of the grid, as a share of the largest, which is the least that makes all coefficients 0.
        Lower it where the smallest penalty is chosen.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of penalties to try, spaced evenly in their logarithms, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit the intercept c, which is never penalised. Choose False only where y is known to be 0 at x = 0,
        or where X and y are centred already.
    max_iter : int, default=1000
        The most sweeps over the coefficients, for each penalty. Raise it where a ConvergenceWarning says so.
    tol : float, default=1e-4
        Stop when the duality gap, which bounds the error of the objective, is at most tol · ‖Y − ȳ‖²/n, for each
        penalty and fold.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds, a scikit-learn splitter or pairs of (train, test) row numbers; None
        for 5 folds. Take `GroupKFold` or `TimeSeriesSplit` where rows are not independent.
    verbose : bool or int, default=False
        Kept for scikit-learn's signature: nothing is printed.
    n_jobs : int or None, default=None
        The most threads to use, over folds; None or -1 for all that this process may. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Kept for scikit-learn's signature: coefficients are taken in turn, and nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        Kept for scikit-learn's signature: coefficients are taken in turn, whatever it says.

    Attributes
    ----------
    alpha_ : float
        The penalty of the lowest mean squared error on the rows left out.
    coef_ : ndarray of shape (n_targets, n_features)
        The coefficients Bᵀ, a row for each target; a column of zeros for each column of X that is not used.
    intercept_ : ndarray of shape (n_targets,) or float
        The intercepts c; 0.0 with `fit_intercept=False`.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        The mean squared error on the rows left out, by weight, for each penalty and fold.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties that were tried, falling.
    dual_gap_ : float
        The objective of the last fit is at most this far above its minimum.
    n_iter_ : int
        Sweeps of the last fit, of all rows.

    See Also
    --------
    MultiTaskLasso : The same model with alpha given.
    MultiTaskElasticNetCV : Chooses between this and ridge regression too.
    LassoCV : The twin for one target.

    Notes
    -----
    Each fold follows the whole path of penalties, from the largest to the smallest, every solution starting from the
    one before; folds run on several threads. All rows are then fitted with the penalty of the lowest mean error.
    Weights count in the fits and in the errors.

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
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
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
